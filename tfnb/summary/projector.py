"""Embeddings for TensorBoard's projector: which variables of the checkpoints in a log directory it shows."""
from __future__ import annotations

import os
from typing import Any

from tfnb.core.files.gfile import GFile
from tfnb.core.lazy import lazy_module

text_format = lazy_module("google.protobuf.text_format")


def visualize_embeddings(summary_writer: Any, config: Any) -> None:
    """Write `config`, a ProjectorConfig, to where TensorBoard looks for it: projector_config.pbtxt.

    summary_writer: a FileWriter, or the log directory itself. Raises ValueError if there is no directory, TypeError
    for what is no ProjectorConfig.

    >>> projector = tf.contrib.tensorboard.plugins.projector
    >>> config = projector.ProjectorConfig()
    >>> config.embeddings.add().tensor_name = "words"
    >>> with tf.summary.FileWriter("logs") as writer:
    ...     projector.visualize_embeddings(writer, config)
    >>> with tf.gfile.Open("logs/projector_config.pbtxt") as file:
    ...     file.read()
    'embeddings {\\n  tensor_name: "words"\\n}\\n'
    """
    told = getattr(summary_writer, "get_logdir", None)
    directory = summary_writer if told is None else told()
    if directory is None:
        raise ValueError("Expected logdir to be a path, but got None")
    if type(config).__name__ != "ProjectorConfig":
        raise TypeError(f"config must be a ProjectorConfig, but is {config!r}")
    with GFile(os.path.join(os.fsdecode(directory), "projector_config.pbtxt"), "w") as file:
        file.write(text_format.MessageToString(config))
