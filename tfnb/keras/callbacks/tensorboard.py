"""Event files of training for TensorBoard."""
from __future__ import annotations

import os
from typing import Any

from tfnb.core.arguments import KERAS, describe
from tfnb.core.lazy import lazy_module
from tfnb.core.program import log
from tfnb.graph.stack import name_scope
from tfnb.keras.backend.session import get_session
from tfnb.keras.callbacks.base import Callback
from tfnb.ops.io.summary import histogram, image, merge
from tfnb.summary.writer import FileWriter

_proto = lazy_module("tfnb.proto.summary_pb2")


class TensorBoard(Callback):
    """Write loss and metrics of each epoch, the graph, and histograms of weights into an event file.

    log_dir: its folder. histogram_freq: epochs between histograms of weights, 0: none. write_graph: whether the graph
    is in it. update_freq: "epoch", "batch", or a number of examples between two entries. write_images: show weights as
    images. batch_size, write_grads, embeddings_freq, embeddings_layer_names, embeddings_metadata, embeddings_data,
    profile_batch: accepted; gradients, embeddings and profiles are not written.

    >>> model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(2,))])
    >>> model.compile("sgd", "mse")
    >>> board = tf.keras.callbacks.TensorBoard("logs", histogram_freq=1)
    >>> history = model.fit(np.ones([4, 2]), np.ones([4]), verbose=0, callbacks=[board])
    >>> len(tf.gfile.ListDirectory("logs"))
    1
    """

    def __init__(self, log_dir: str = "./logs", histogram_freq: int = 0, batch_size: int = 32, write_graph: bool = True,
                 write_grads: bool = False, write_images: bool = False, embeddings_freq: int = 0,
                 embeddings_layer_names: Any = None, embeddings_metadata: Any = None, embeddings_data: Any = None,
                 update_freq: Any = "epoch", profile_batch: int = 2) -> None:
        super().__init__()
        self.log_dir, self.histogram_freq, self.write_graph = os.fspath(log_dir), histogram_freq, write_graph
        self.write_images, self.update_freq = write_images, 1 if update_freq == "batch" else update_freq
        for name, value in (("write_grads", write_grads), ("embeddings_freq", embeddings_freq)):
            if value:
                log.warning(f"TensorBoard: {name} has no effect: neither gradients nor embeddings are written")
        self._writer: Any = None
        self._merged: Any = None

    def on_train_begin(self, logs: Any = None) -> None:
        """Open the file."""
        graph = get_session().graph
        self._writer = FileWriter(self.log_dir, graph if self.write_graph else None)
        self._seen = self._written = self._batches = 0
        if self.histogram_freq and self._merged is None:
            self._merged = self._summaries()

    def _summaries(self) -> Any:
        made = []
        with name_scope(None):
            for layer in self.model.layers:
                for weight in layer.weights:
                    name = weight.name.replace(":", "_")
                    made.append(histogram(name, weight, collections=[]))
                    if self.write_images and weight.shape.ndims == 2:
                        made.append(image(name, weight.value()[None, :, :, None], collections=[]))
        return merge(made, collections=[]) if made else None

    def on_batch_end(self, batch: int, logs: Any = None) -> None:
        """Write the values of a batch, where they are wanted."""
        logs = logs or {}
        self._seen += logs.get("size", 1)
        self._batches += 1
        if self.update_freq != "epoch" and self._seen - self._written >= self.update_freq:
            self._written = self._seen
            self._write({f"batch_{name}": value for name, value in logs.items() if name not in ("batch", "size")},
                        self._batches)

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Write the values of an epoch, and histograms."""
        self._write({f"epoch_{name}": value for name, value in (logs or {}).items()}, epoch)
        if self._merged is not None and epoch % self.histogram_freq == 0:
            self._writer.add_summary(get_session().run(self._merged), epoch)
        self._writer.flush()

    def _write(self, values: dict[str, Any], step: int) -> None:
        summary = _proto.Summary()
        for name, value in values.items():
            summary.value.add(tag=name, simple_value=float(value))
        self._writer.add_summary(summary, step)

    def on_train_end(self, logs: Any = None) -> None:
        """Close the file."""
        self._writer.close()


describe(globals(), KERAS)
