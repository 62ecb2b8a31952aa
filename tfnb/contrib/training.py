"""`tf.contrib.training`: hyperparameters, and what input pipelines need."""
# ruff: noqa: F401, I001
from tfnb.core.hparams import HParams
from tfnb.train.bucket import bucket, bucket_by_sequence_length
