"""Callbacks: what a program does at certain moments of training."""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from tfnb.core.arguments import KERAS, describe

_PHASES = ("train", "test", "predict")


class Callback:
    """Base of callbacks, whose methods are called at the moments that their names say.

    `self.model` is the model; `self.params` a dict of batch_size, epochs, steps, samples, verbose, metrics. The logs of
    an epoch have the loss and metrics by name, those of validation with "val_".

    >>> class Losses(tf.keras.callbacks.Callback):
    ...     def on_epoch_end(self, epoch, logs=None):
    ...         print(epoch, sorted(logs))
    >>> model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(2,))])
    >>> model.compile("sgd", "mse")
    >>> history = model.fit(np.ones([4, 2]), np.ones([4]), verbose=0, callbacks=[Losses()])
    0 ['loss']
    """

    def __init__(self) -> None:
        self.model: Any = None
        self.params: dict[str, Any] = {}
        self.validation_data: Any = None

    def set_params(self, params: dict[str, Any]) -> None:
        """Take the dict of `params`."""
        self.params = params

    def set_model(self, model: Any) -> None:
        """Take the model."""
        self.model = model

    def on_train_begin(self, logs: Any = None) -> None:
        """Act before training."""

    def on_train_end(self, logs: Any = None) -> None:
        """Act after training."""

    def on_test_begin(self, logs: Any = None) -> None:
        """Act before an evaluation or validation."""

    def on_test_end(self, logs: Any = None) -> None:
        """Act after an evaluation or validation."""

    def on_predict_begin(self, logs: Any = None) -> None:
        """Act before a prediction."""

    def on_predict_end(self, logs: Any = None) -> None:
        """Act after a prediction."""

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        """Act before an epoch of training."""

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Act after an epoch of training."""

    def on_batch_begin(self, batch: int, logs: Any = None) -> None:
        """Act before a batch of training, as `on_train_batch_begin`."""

    def on_batch_end(self, batch: int, logs: Any = None) -> None:
        """Act after a batch of training, as `on_train_batch_end`."""

    def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
        """Act before a batch of training."""
        self.on_batch_begin(batch, logs)

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        """Act after a batch of training."""
        self.on_batch_end(batch, logs)

    def on_test_batch_begin(self, batch: int, logs: Any = None) -> None:
        """Act before a batch of an evaluation or validation."""

    def on_test_batch_end(self, batch: int, logs: Any = None) -> None:
        """Act after a batch of an evaluation or validation."""

    def on_predict_batch_begin(self, batch: int, logs: Any = None) -> None:
        """Act before a batch of a prediction."""

    def on_predict_batch_end(self, batch: int, logs: Any = None) -> None:
        """Act after a batch of a prediction."""


class CallbackList:
    """Callbacks called in turn. callbacks: a list of them.

    >>> history = tf.keras.callbacks.History()
    >>> callbacks = tf.keras.callbacks.CallbackList([history])
    >>> callbacks.call("on_train_begin")
    >>> callbacks.call("on_epoch_end", 0, {"loss": 0.5})
    >>> history.history
    {'loss': [0.5]}
    """

    def __init__(self, callbacks: Iterable[Any] = ()) -> None:
        self.callbacks = list(callbacks or ())

    def append(self, callback: Any) -> None:
        """Add a callback."""
        self.callbacks.append(callback)

    def begin(self, model: Any, params: dict[str, Any]) -> None:
        """Give all of them the model and the params."""
        for callback in self.callbacks:
            callback.set_params(params)
            callback.set_model(model)

    def call(self, moment: str, *args: Any) -> None:
        """Call the method `moment` of all of them."""
        for callback in self.callbacks:
            getattr(callback, moment)(*args)


class BaseLogger(Callback):
    """Means of the logs of the batches of an epoch. stateful_metrics: names of which the last value counts.

    >>> logger = tf.keras.callbacks.BaseLogger()
    >>> logger.set_params({"metrics": ["loss"]})
    >>> logger.on_epoch_begin(0)
    >>> logger.on_batch_end(0, {"size": 1, "loss": 1.0}), logger.on_batch_end(1, {"size": 3, "loss": 3.0})
    (None, None)
    >>> logs = {}
    >>> logger.on_epoch_end(0, logs)
    >>> logs
    {'loss': 2.5}
    """

    def __init__(self, stateful_metrics: Any = None) -> None:
        super().__init__()
        self.stateful_metrics = set(stateful_metrics or ())

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        """Begin anew."""
        self.seen, self.totals = 0, dict[str, Any]()

    def on_batch_end(self, batch: int, logs: Any = None) -> None:
        """Add a batch."""
        size = (logs or {}).get("size", 0)
        self.seen += size
        for name, value in (logs or {}).items():
            if name in self.stateful_metrics:
                self.totals[name] = value
            elif name not in ("batch", "size"):
                self.totals[name] = self.totals.get(name, 0.0) + value * size

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Put the means into the logs."""
        for name in self.params["metrics"]:
            if logs is not None and name in self.totals:
                value = self.totals[name]
                logs[name] = value if name in self.stateful_metrics else value / self.seen


class History(Callback):
    """The logs of all epochs, which `fit` returns: `history`, a dict of lists, and `epoch`, a list of numbers.

    >>> model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(2,))])
    >>> model.compile("sgd", "mse", metrics=["mae"])
    >>> history = model.fit(np.ones([4, 2]), np.ones([4]), epochs=3, verbose=0)
    >>> history.epoch, sorted(history.history), len(history.history["loss"])
    ([0, 1, 2], ['loss', 'mean_absolute_error'], 3)
    """

    def on_train_begin(self, logs: Any = None) -> None:
        """Begin anew."""
        self.epoch: list[int] = []
        self.history: dict[str, list[Any]] = {}

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Add an epoch."""
        self.epoch.append(epoch)
        for name, value in (logs or {}).items():
            self.history.setdefault(name, []).append(value)


class LambdaCallback(Callback):
    """Functions as a callback. Further arguments: any method of Callback, such as on_test_begin.

    on_epoch_begin, on_epoch_end: of (epoch, logs). on_batch_begin, on_batch_end: of (batch, logs). on_train_begin,
    on_train_end: of (logs).

    >>> show = tf.keras.callbacks.LambdaCallback(on_epoch_end=lambda epoch, logs: print("end of", epoch))
    >>> show.on_epoch_end(1, {})
    end of 1
    """

    def __init__(self, on_epoch_begin: Any = None, on_epoch_end: Any = None, on_batch_begin: Any = None,
                 on_batch_end: Any = None, on_train_begin: Any = None, on_train_end: Any = None,
                 **kwargs: Any) -> None:
        super().__init__()
        given: Mapping[str, Any] = {
            "on_epoch_begin": on_epoch_begin, "on_epoch_end": on_epoch_end, "on_batch_begin": on_batch_begin,
            "on_batch_end": on_batch_end, "on_train_begin": on_train_begin, "on_train_end": on_train_end, **kwargs}
        vars(self).update({name: function for name, function in given.items() if function is not None})


class TerminateOnNaN(Callback):
    """Stop training when the loss is NaN or infinite.

    >>> callback = tf.keras.callbacks.TerminateOnNaN()
    >>> callback.set_model(tf.keras.Sequential())
    >>> callback.on_batch_end(3, {"loss": np.nan})
    Batch 3: Invalid loss, terminating training
    >>> callback.model.stop_training
    True
    """

    def on_batch_end(self, batch: int, logs: Any = None) -> None:
        """Look at the loss."""
        loss = (logs or {}).get("loss")
        if loss is not None and not np.isfinite(loss):
            print(f"Batch {batch}: Invalid loss, terminating training")
            self.model.stop_training = True


describe(globals(), KERAS)
