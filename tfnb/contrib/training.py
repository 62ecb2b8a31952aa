"""`tf.contrib.training`, as far as input pipelines need it."""
# ruff: noqa: F401, I001
from tfnb.train.bucket import bucket, bucket_by_sequence_length
