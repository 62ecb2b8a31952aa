"""Callbacks that write files or send logs."""
from __future__ import annotations

import csv
import json
import os
import re
import urllib.parse
import urllib.request
from pathlib import Path
from typing import Any

import numpy as np

from tfnb.core.arguments import KERAS, describe
from tfnb.core.program import log
from tfnb.keras.callbacks.base import Callback
from tfnb.keras.callbacks.plateau import Best, monitored


class ModelCheckpoint(Callback):
    """Save the model, or its weights, after each epoch.

    filepath: of the file, with fields for the epoch and logs: "weights.{epoch:02d}-{val_loss:.2f}.h5". monitor: a
    quantity. verbose: 1: say so. save_best_only: only where it has improved. save_weights_only: leave out the
    architecture. mode: "min", "max" or "auto". save_freq: "epoch", or a number of examples after which to save;
    period, its older name, counts epochs. load_weights_on_restart: begin with the newest file.

    >>> model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(2,))])
    >>> model.compile("sgd", "mse")
    >>> keep = tf.keras.callbacks.ModelCheckpoint("weights.{epoch}", save_weights_only=True)
    >>> history = model.fit(np.ones([4, 2]), np.ones([4]), epochs=2, verbose=0, callbacks=[keep])
    >>> model.load_weights("weights.1")
    """

    def __init__(self, filepath: Any, monitor: str = "val_loss", verbose: int = 0, save_best_only: bool = False,
                 save_weights_only: bool = False, mode: str = "auto", save_freq: Any = "epoch", **kwargs: Any) -> None:
        super().__init__()
        self.filepath, self.monitor, self.verbose = os.fspath(filepath), monitor, verbose
        self.save_best_only, self.save_weights_only, self.save_freq = save_best_only, save_weights_only, save_freq
        self.period = kwargs.pop("period", 1)
        self.load_weights_on_restart = kwargs.pop("load_weights_on_restart", False)
        if kwargs:
            raise TypeError(f"Unrecognized arguments: {', '.join(kwargs)}")
        if save_freq != "epoch" and not isinstance(save_freq, int):
            raise ValueError(f"Unrecognized save_freq: expected 'epoch' or an int, got {save_freq!r}")
        self._best, self._epochs, self._examples, self._epoch = Best(monitor, mode), 0, 0, 0

    @property
    def best(self) -> Any:
        """The best value so far."""
        return self._best.value

    def on_train_begin(self, logs: Any = None) -> None:
        """Begin with the newest file, if that is asked for."""
        if self.load_weights_on_restart:
            newest = self._newest()
            if newest is not None:
                self.model.load_weights(newest)

    def _newest(self) -> str | None:
        """Return the newest file, or prefix of a checkpoint, whose name fits."""
        folder, name = os.path.split(self.filepath)
        pattern = re.compile("^" + re.sub(r"\\\{.*?\\\}", ".*", re.escape(name)) + "$")
        found = [each for each in Path(folder or ".").glob("*") if pattern.match(each.name.removesuffix(".index"))
                 and not re.search(r"\.data-\d+-of-\d+$", each.name)]
        newest = max(found, key=lambda each: each.stat().st_mtime, default=None)
        return None if newest is None else str(newest).removesuffix(".index")

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        """Note the epoch."""
        self._epoch = epoch

    def on_batch_end(self, batch: int, logs: Any = None) -> None:
        """Save after `save_freq` examples."""
        if self.save_freq != "epoch":
            self._examples += (logs or {}).get("size", 1)
            if self._examples >= self.save_freq:
                self._examples = 0
                self._save(self._epoch, logs)

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Save after `period` epochs."""
        self._epochs += 1
        if self.save_freq == "epoch" and self._epochs >= self.period:
            self._epochs = 0
            self._save(epoch, logs)

    def _save(self, epoch: int, logs: Any) -> None:
        try:
            path = self.filepath.format(epoch=epoch + 1, **(logs or {}))
        except KeyError as error:
            raise KeyError(f"Failed to format this callback filepath: {self.filepath!r}. No {error} among "
                           f"{sorted(logs or {})}") from None
        if self.save_best_only:
            value = monitored(logs, self.monitor, "Can save best model only; it is")
            if value is None:
                return
            if not self._best.is_better(value):
                if self.verbose > 0:
                    print(f"\nEpoch {epoch + 1:05d}: {self.monitor} did not improve from {self.best:0.5f}")
                return
            if self.verbose > 0:
                print(f"\nEpoch {epoch + 1:05d}: {self.monitor} improved from {self.best:0.5f} to {value:0.5f}, saving "
                      f"model to {path}")
            self._best.value = value
        elif self.verbose > 0:
            print(f"\nEpoch {epoch + 1:05d}: saving model to {path}")
        if self.save_weights_only or not self.model._is_graph_network:
            self.model.save_weights(path, overwrite=True)
        else:
            self.model.save(path, overwrite=True)


class CSVLogger(Callback):
    """Write the logs of each epoch as a row of a CSV file. filename: of it. separator: between columns.

    append: add to a file that is there.

    >>> model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(2,))])
    >>> model.compile("sgd", "mse")
    >>> rows = tf.keras.callbacks.CSVLogger("log.csv")
    >>> history = model.fit(np.zeros([4, 2]), np.zeros([4]), epochs=2, verbose=0, callbacks=[rows])
    >>> tf.io.gfile.GFile("log.csv").read().split()
    ['epoch,loss', '0,0.0', '1,0.0']
    """

    def __init__(self, filename: Any, separator: str = ",", append: bool = False) -> None:
        super().__init__()
        self.filename, self.sep, self.append = os.fspath(filename), separator, append
        self._file: Any = None
        self._keys: list[str] | None = None

    def on_train_begin(self, logs: Any = None) -> None:
        """Open the file."""
        has_head = self.append and os.path.exists(self.filename) and os.path.getsize(self.filename) > 0
        self._file = open(self.filename, "a" if self.append else "w", newline="", encoding="utf-8")
        self._keys, self._has_head = None, has_head

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Write a row; where training stops an epoch without validation has NA."""
        logs = logs or {}
        if self._keys is None:
            self._keys = sorted(logs)
            self._rows = csv.DictWriter(self._file, ["epoch", *self._keys], delimiter=self.sep, lineterminator="\n")
            if not self._has_head:
                self._rows.writeheader()
        self._rows.writerow({"epoch": epoch, **{key: _cell(logs.get(key, "NA")) for key in self._keys}})
        self._file.flush()

    def on_train_end(self, logs: Any = None) -> None:
        """Close the file."""
        self._file.close()


def _cell(value: Any) -> Any:
    return f'"[{", ".join(map(str, value))}]"' if np.ndim(value) else value


class RemoteMonitor(Callback):
    """Send the logs of each epoch to a server by HTTP POST.

    root, path: the address. field: the name of the form's field that has the JSON. headers: of the request.
    send_as_json: send the JSON itself. A server that does not answer is warned of.

    >>> monitor = tf.keras.callbacks.RemoteMonitor("http://localhost:9000")
    >>> monitor.root + monitor.path
    'http://localhost:9000/publish/epoch/end/'
    """

    def __init__(self, root: str = "http://localhost:9000", path: str = "/publish/epoch/end/", field: str = "data",
                 headers: Any = None, send_as_json: bool = False) -> None:
        super().__init__()
        self.root, self.path, self.field, self.headers = root, path, field, headers
        self.send_as_json = send_as_json

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Send the logs."""
        values = {name: np.asarray(value).tolist() for name, value in (logs or {}).items()}
        text = json.dumps({"epoch": epoch, **values})
        body = text if self.send_as_json else urllib.parse.urlencode({self.field: text})
        kind = "application/json" if self.send_as_json else "application/x-www-form-urlencoded"
        if not self.root.startswith(("http://", "https://")):
            raise ValueError(f"Expected an address that begins with http:// or https://, got {self.root!r}")
        request = urllib.request.Request(self.root + self.path, body.encode(), {
            "Content-Type": kind, **(self.headers or {})})
        try:
            urllib.request.urlopen(request, timeout=10).close()
        except OSError:
            log.warning(f"Could not reach RemoteMonitor root server at {self.root}")


describe(globals(), KERAS)
