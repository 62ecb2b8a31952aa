"""Progress of training: a bar in a terminal or notebook, a line for each epoch in a file."""
from __future__ import annotations

from typing import Any

from tfnb.core.arguments import KERAS, describe
from tfnb.keras.callbacks.base import Callback
from tfnb.keras.utils.progress import Progbar


class ProgbarLogger(Callback):
    """Progress on standard output. count_mode: "samples" or "steps". stateful_metrics: names of values that are shown
    as they are; of the others the mean is.

    >>> tf.keras.callbacks.ProgbarLogger("batches")
    ValueError: Unknown `count_mode`: expected samples or steps, got 'batches'
    """

    def __init__(self, count_mode: str = "samples", stateful_metrics: Any = None) -> None:
        super().__init__()
        if count_mode not in ("samples", "steps"):
            raise ValueError(f"Unknown `count_mode`: expected samples or steps, got {count_mode!r}")
        self.use_steps, self.stateful_metrics = count_mode == "steps", set(stateful_metrics or ())

    def on_train_begin(self, logs: Any = None) -> None:
        """Take what `fit` says of its epochs."""
        self.epochs = self.params.get("epochs", 1)

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        """Begin the bar of an epoch."""
        if self.params.get("verbose"):
            if self.epochs > 1:
                print(f"Epoch {epoch + 1}/{self.epochs}")
            self._begin()

    def on_test_begin(self, logs: Any = None) -> None:
        """Begin the bar of an evaluation."""
        self._begin()

    on_predict_begin = on_test_begin

    def _begin(self) -> None:
        self.seen = 0
        self.target = self.params.get("steps" if self.use_steps else "samples")
        self.progbar = Progbar(self.target, verbose=self.params.get("verbose", 1), unit_name="step" if self.use_steps
                               else "sample", stateful_metrics=self.stateful_metrics)

    def on_batch_end(self, batch: int, logs: Any = None) -> None:
        """Move the bar."""
        logs = logs or {}
        self.seen += 1 if self.use_steps else logs.get("size", 0)
        values = [(name, logs[name]) for name in self.params.get("metrics", ()) if name in logs]
        if self.params.get("verbose") and (self.target is None or self.seen < self.target):
            self.progbar.update(self.seen, values)
        else:
            self.progbar.add_values(self.seen, values)

    def on_test_batch_end(self, batch: int, logs: Any = None) -> None:
        """Move the bar of an evaluation."""
        self.on_batch_end(batch, logs)

    on_predict_batch_end = on_test_batch_end

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Show the values of the epoch."""
        if self.params.get("verbose"):
            names = self.params.get("metrics", ())
            self._finish([(name, logs[name]) for name in names if name in (logs or {})])

    def on_test_end(self, logs: Any = None) -> None:
        """Show the values of the evaluation."""
        self._finish(list((logs or {}).items()))

    on_predict_end = on_test_end

    def _finish(self, values: Any) -> None:
        self.progbar.target = self.progbar.target or self.seen
        self.progbar.finish(self.seen, values)


describe(globals(), KERAS)
