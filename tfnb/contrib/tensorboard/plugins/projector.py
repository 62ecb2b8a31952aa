"""`tf.contrib.tensorboard.plugins.projector`."""
from tfnb.proto.projector_config_pb2 import EmbeddingInfo, ProjectorConfig, SpriteMetadata
from tfnb.summary.projector import visualize_embeddings

__all__ = ["EmbeddingInfo", "ProjectorConfig", "SpriteMetadata", "visualize_embeddings"]
