"""Callbacks that watch a quantity, or that set the learning rate."""
from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from tfnb.core.arguments import KERAS, describe
from tfnb.core.program import log
from tfnb.keras.backend.values import get_value, set_value
from tfnb.keras.callbacks.base import Callback


class Best:
    """The best value so far of a quantity. monitor: its name; mode: "min", "max", or "auto": by the name.

    min_delta: a change below it is no improvement.
    """

    def __init__(self, monitor: str, mode: str, min_delta: float = 0.0) -> None:
        if mode not in ("auto", "min", "max"):
            log.warning(f"Unknown mode {mode!r} for {monitor}: expected auto, min or max; taking auto")
            mode = "auto"
        self.rises = mode == "max" or (mode == "auto" and (
            "acc" in monitor or monitor.startswith("fmeasure") or "auc" in monitor.lower()))
        self.min_delta = abs(min_delta)
        self.value = -np.inf if self.rises else np.inf

    def is_better(self, value: Any) -> bool:
        """Return whether a value is an improvement."""
        return bool(value - self.min_delta > self.value if self.rises else value + self.min_delta < self.value)


def monitored(logs: Any, monitor: str, who: str) -> Any:
    """Return the value of a quantity, or None with a warning that names what there is."""
    value = (logs or {}).get(monitor)
    if value is None:
        log.warning(f"{who} conditioned on metric `{monitor}` which is not available. Available metrics are: "
                    f"{','.join(sorted(logs or {}))}")
    return value


class EarlyStopping(Callback):
    """Stop training when a quantity has not improved for `patience` epochs.

    monitor: its name. min_delta: a smaller change is none. verbose: 1: say so. mode: "min", "max" or "auto". baseline:
    a value that it must reach. restore_best_weights: leave the weights of the best epoch in the model.

    >>> model = tf.keras.Sequential([tf.keras.layers.Dense(1, kernel_initializer="ones", input_shape=(1,))])
    >>> model.compile(tf.keras.optimizers.SGD(0.0), "mse")
    >>> stop = tf.keras.callbacks.EarlyStopping("loss", patience=2)
    >>> history = model.fit(np.ones([4, 1]), np.zeros([4]), epochs=10, verbose=0, callbacks=[stop])
    >>> len(history.epoch), stop.stopped_epoch
    (3, 2)
    """

    def __init__(self, monitor: str = "val_loss", min_delta: float = 0, patience: int = 0, verbose: int = 0,
                 mode: str = "auto", baseline: float | None = None, restore_best_weights: bool = False) -> None:
        super().__init__()
        self.monitor, self.min_delta, self.patience, self.verbose = monitor, min_delta, patience, verbose
        self.mode, self.baseline, self.restore_best_weights = mode, baseline, restore_best_weights
        self.wait = self.stopped_epoch = 0
        self.best_weights: Any = None

    def on_train_begin(self, logs: Any = None) -> None:
        """Begin anew."""
        self.wait = self.stopped_epoch = 0
        self._best, self.best_weights = Best(self.monitor, self.mode, self.min_delta), None
        if self.baseline is not None:
            self._best.value = self.baseline

    @property
    def best(self) -> Any:
        """The best value so far."""
        return self._best.value

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Compare the quantity with its best value."""
        value = monitored(logs, self.monitor, "Early stopping")
        if value is None:
            return
        if self._best.is_better(value):
            self._best.value, self.wait = value, 0
            if self.restore_best_weights:
                self.best_weights = self.model.get_weights()
            return
        self.wait += 1
        if self.wait >= self.patience:
            self.stopped_epoch, self.model.stop_training = epoch, True
            if self.best_weights is not None:
                if self.verbose > 0:
                    print("Restoring model weights from the end of the best epoch.")
                self.model.set_weights(self.best_weights)

    def on_train_end(self, logs: Any = None) -> None:
        """Say where training stopped."""
        if self.stopped_epoch > 0 and self.verbose > 0:
            print(f"Epoch {self.stopped_epoch + 1:05d}: early stopping")


def _rate(model: Any) -> Any:
    """Return the variable of the learning rate. Raises ValueError for an optimizer that has none."""
    rate = getattr(model.optimizer, "lr", None)
    if rate is None or callable(rate):
        raise ValueError("Optimizer must have a \"lr\" attribute that is a number: a callback can't change a schedule "
                         "or an optimizer of tf.train")
    return rate


class LearningRateScheduler(Callback):
    """Set the learning rate before each epoch.

    schedule: a function of the epoch, or of (epoch, rate so far), that returns a float. verbose: 1: say so.

    >>> model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(1,))])
    >>> model.compile("sgd", "mse")
    >>> rates = tf.keras.callbacks.LearningRateScheduler(lambda epoch: 0.5 / 2 ** epoch)
    >>> history = model.fit(np.ones([4, 1]), np.zeros([4]), epochs=3, verbose=0, callbacks=[rates])
    >>> history.history["lr"]
    [0.5, 0.25, 0.125]
    """

    def __init__(self, schedule: Any, verbose: int = 0) -> None:
        super().__init__()
        self.schedule, self.verbose = schedule, verbose

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        """Set the learning rate. Raises ValueError if the schedule returns no float."""
        variable = _rate(self.model)
        takes_rate = len(inspect.signature(self.schedule).parameters) > 1
        rate = self.schedule(epoch, float(get_value(variable))) if takes_rate else self.schedule(epoch)
        if not isinstance(rate, (float, np.floating)):
            raise ValueError(f'The output of the "schedule" function should be float, got {rate!r}')
        set_value(variable, rate)
        if self.verbose > 0:
            print(f"\nEpoch {epoch + 1:05d}: LearningRateScheduler setting learning rate to {rate}.")

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Put the learning rate into the logs."""
        if logs is not None:
            logs["lr"] = get_value(_rate(self.model))


class ReduceLROnPlateau(Callback):
    """Multiply the learning rate by `factor` when a quantity has not improved for `patience` epochs.

    monitor: its name. verbose: 1: say so. mode: "min", "max" or "auto". min_delta: a smaller change is none. cooldown:
    epochs after a reduction that don't count. min_lr: the least learning rate. Raises ValueError unless factor < 1.

    >>> model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(1,))])
    >>> model.compile(tf.keras.optimizers.SGD(1e-9), "mse")
    >>> reduce = tf.keras.callbacks.ReduceLROnPlateau("loss", factor=0.5, patience=1, min_lr=0.0)
    >>> history = model.fit(np.ones([4, 1]), np.zeros([4]), epochs=3, verbose=0, callbacks=[reduce])
    >>> bool(history.history["lr"][-1] < 1e-9)
    True
    """

    def __init__(self, monitor: str = "val_loss", factor: float = 0.1, patience: int = 10, verbose: int = 0,
                 mode: str = "auto", min_delta: float = 1e-4, cooldown: int = 0, min_lr: float = 0,
                 **kwargs: Any) -> None:
        super().__init__()
        if factor >= 1.0:
            raise ValueError("ReduceLROnPlateau does not support a factor >= 1.0.")
        min_delta = kwargs.pop("epsilon", min_delta)
        self.monitor, self.factor, self.patience, self.verbose, self.mode = monitor, factor, patience, verbose, mode
        self.min_delta, self.cooldown, self.min_lr = min_delta, cooldown, min_lr

    def on_train_begin(self, logs: Any = None) -> None:
        """Begin anew."""
        self._best, self.wait, self.cooldown_counter = Best(self.monitor, self.mode, self.min_delta), 0, 0

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Compare the quantity with its best value."""
        variable = _rate(self.model)
        rate = get_value(variable)
        if logs is not None:
            logs["lr"] = rate
        value = monitored(logs, self.monitor, "Reduce LR on plateau")
        if value is None:
            return
        if self.cooldown_counter > 0:
            self.cooldown_counter, self.wait = self.cooldown_counter - 1, 0
        if self._best.is_better(value):
            self._best.value, self.wait = value, 0
        elif self.cooldown_counter <= 0:
            self.wait += 1
            if self.wait >= self.patience and rate > self.min_lr:
                set_value(variable, max(float(rate) * self.factor, self.min_lr))
                if self.verbose > 0:
                    print(f"\nEpoch {epoch + 1:05d}: ReduceLROnPlateau reducing learning rate to "
                          f"{max(float(rate) * self.factor, self.min_lr)}.")
                self.cooldown_counter, self.wait = self.cooldown, 0


describe(globals(), KERAS)
