"""`tf.contrib.seq2seq`: its loss."""
# ruff: noqa: F401
from tfnb.layers.sequence_loss import sequence_loss
