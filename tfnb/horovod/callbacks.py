"""Callbacks of Keras for ranks that train together: equal starts, averaged metrics, learning rates that warm up."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfnb.core.program import log
from tfnb.horovod.collectives import value_of
from tfnb.horovod.optimizer import broadcast_global_variables
from tfnb.horovod.world import size
from tfnb.keras.backend.session import get_session
from tfnb.keras.backend.values import get_value, set_value
from tfnb.keras.callbacks.base import Callback


class BroadcastGlobalVariablesCallback(Callback):
    """Give all variables, the optimizer's too, the values of rank `root_rank` after the first batch.

    device: has no effect.

    >>> hvd.init()
    >>> callback = hvd.keras.callbacks.BroadcastGlobalVariablesCallback(0)
    >>> callback.root_rank
    0
    """

    def __init__(self, root_rank: int, device: str = "") -> None:
        super().__init__()
        self.root_rank, self.device = root_rank, device
        self._done = False

    def on_batch_end(self, batch: int, logs: Any = None) -> None:
        """Broadcast, once."""
        if not self._done:
            self._done = True
            session = get_session()
            with session.graph.as_default():
                session.run(broadcast_global_variables(self.root_rank))


class MetricAverageCallback(Callback):
    """Average the metrics over all ranks at the end of each epoch: put it before callbacks that read them.

    device: has no effect.

    >>> hvd.init()
    >>> logs = {"loss": 0.5}
    >>> hvd.keras.callbacks.MetricAverageCallback().on_epoch_end(0, logs)
    >>> logs
    {'loss': 0.5}
    """

    def __init__(self, device: str = "") -> None:
        super().__init__()
        self.device = device

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Replace each metric by its average."""
        for name in sorted(logs or {}):
            logs[name] = float(value_of(float(logs[name]), name=f"metric {name}"))


class LearningRateScheduleCallback(Callback):
    """Multiply the initial learning rate by a factor in some epochs.

    initial_lr: the learning rate to multiply; None: the optimizer's when training begins. multiplier: a factor, or
    fn(epoch). start_epoch, end_epoch: the first epoch, and the one behind the last (None: all). staircase: change it at
    the beginning of epochs only; else `multiplier` gets fractions of epochs. momentum_correction: scale the momentum
    with the learning rate while it changes. steps_per_epoch: how many batches an epoch has, if the model does not say.

    >>> hvd.init()
    >>> callback = hvd.keras.callbacks.LearningRateScheduleCallback(multiplier=0.1, start_epoch=30, initial_lr=0.5)
    >>> callback.initial_lr
    0.5
    """

    def __init__(self, initial_lr: float | None = None, multiplier: Any = 1.0, start_epoch: int = 0,
                 end_epoch: int | None = None, staircase: bool = True, momentum_correction: bool = True,
                 steps_per_epoch: int | None = None) -> None:
        super().__init__()
        self.initial_lr, self.start_epoch, self.end_epoch = initial_lr, start_epoch, end_epoch
        self.staircase = staircase if callable(multiplier) else True
        self.multiplier: Callable[[float], Any] = multiplier if callable(multiplier) else lambda epoch: multiplier
        self.momentum_correction, self.steps_per_epoch = momentum_correction, steps_per_epoch
        self._epoch = 0
        self._momentum: float | None = None

    def on_train_begin(self, logs: Any = None) -> None:
        """Note the learning rate. Raises ValueError where the number of batches is needed and not known."""
        if self.initial_lr is None:
            self.initial_lr = float(get_value(self.model.optimizer.lr))
        if not self.staircase and not self.steps_per_epoch:
            self.steps_per_epoch = self._steps()

    def _steps(self) -> int:
        samples, batch = self.params.get("samples"), self.params.get("batch_size")
        steps = self.params.get("steps") or (-(-samples // batch) if samples and batch else None)
        if not steps:
            raise ValueError("expected steps_per_epoch as an argument of the callback: the number of batches of an "
                             "epoch is not known when training begins")
        return int(steps)

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        """Note the epoch."""
        self._epoch = epoch

    def on_batch_begin(self, batch: int, logs: Any = None) -> None:
        """Set the learning rate of the batch."""
        epoch = self._epoch
        if epoch < self.start_epoch or (self.end_epoch is not None and epoch >= self.end_epoch):
            return
        if self.staircase and batch == 0:
            self._set(epoch)
        elif not self.staircase:
            self._set(epoch + batch / (self.steps_per_epoch or 1))

    def _set(self, epoch: float) -> None:
        optimizer = self.model.optimizer
        before, after = float(get_value(optimizer.lr)), self.initial_lr * self.multiplier(epoch)
        set_value(optimizer.lr, after)
        if self.momentum_correction and hasattr(optimizer, "momentum") and before and after != before:
            self._momentum = float(get_value(optimizer.momentum))
            set_value(optimizer.momentum, self._momentum * after / before)

    def on_batch_end(self, batch: int, logs: Any = None) -> None:
        """Restore the momentum."""
        if self._momentum is not None:
            set_value(self.model.optimizer.momentum, self._momentum)
            self._momentum = None

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Add the learning rate to the logs."""
        if logs is not None:
            logs["lr"] = float(get_value(self.model.optimizer.lr))


class LearningRateWarmupCallback(LearningRateScheduleCallback):
    """Raise the learning rate from initial_lr / size to initial_lr during the first epochs.

    Goyal et al. 2017, "Accurate, Large Minibatch SGD": lr = initial_lr / size * (1 + epoch * (size - 1) / warmup).
    initial_lr: that of all ranks together, usually size times that of one; None: the optimizer's when training begins.
    warmup_epochs: how many epochs. verbose: 1 says when it is done. momentum_correction, steps_per_epoch: see
    LearningRateScheduleCallback.

    >>> hvd.init()
    >>> callback = hvd.keras.callbacks.LearningRateWarmupCallback(initial_lr=0.1, warmup_epochs=3)
    >>> callback.multiplier(0), callback.end_epoch
    (1.0, 3)
    """

    def __init__(self, initial_lr: float | None = None, warmup_epochs: int = 5, momentum_correction: bool = True,
                 steps_per_epoch: int | None = None, verbose: int = 0) -> None:
        def factor(epoch: float) -> float:
            passed = epoch + 1.0 / (self.steps_per_epoch or 1)         # it reaches its end with the last batch
            return (1 + passed * (size() - 1) / warmup_epochs) / size()
        super().__init__(initial_lr, factor, 0, warmup_epochs, False, momentum_correction, steps_per_epoch)
        self.verbose = verbose

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Add the learning rate to the logs, and say that the warm-up is done."""
        super().on_epoch_end(epoch, logs)
        if self.verbose and self.end_epoch is not None and epoch == self.end_epoch - 1:
            log.info("Epoch %d: finished gradual learning rate warmup to %g.", epoch + 1,
                     get_value(self.model.optimizer.lr))
