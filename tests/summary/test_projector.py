"""The configuration of TensorBoard's embedding projector."""
from __future__ import annotations

from pathlib import Path

import pytest
from google.protobuf import text_format

import tfnb as tf
from tfnb.contrib.tensorboard.plugins import projector


def test_configuration_is_written_where_tensorboard_reads_it(tmp_path: Path) -> None:
    config = projector.ProjectorConfig()
    embedding = config.embeddings.add()
    embedding.tensor_name, embedding.metadata_path = "words:0", "words.tsv"
    embedding.sprite.image_path = "sprite.png"
    embedding.sprite.single_image_dim.extend([28, 28])
    writer = tf.summary.FileWriter(str(tmp_path))
    projector.visualize_embeddings(writer, config)
    writer.close()
    text = (tmp_path / "projector_config.pbtxt").read_text()
    assert text_format.Parse(text, projector.ProjectorConfig()) == config
    theirs = pytest.importorskip("tensorboard.plugins.projector.projector_config_pb2").ProjectorConfig
    read = text_format.Parse(text, theirs())
    assert read.SerializeToString() == config.SerializeToString()
    assert read.embeddings[0].sprite.single_image_dim == [28, 28]
    projector.visualize_embeddings(str(tmp_path), read)      # TensorBoard's own message serves as well
    assert (tmp_path / "projector_config.pbtxt").read_text() == text


def test_wrong_arguments(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="Expected logdir to be a path"):
        projector.visualize_embeddings(None, projector.ProjectorConfig())
    with pytest.raises(TypeError, match="must be a ProjectorConfig"):
        projector.visualize_embeddings(str(tmp_path), projector.EmbeddingInfo())
    assert tf.contrib.tensorboard.plugins.projector.ProjectorConfig is projector.ProjectorConfig
