"""`tf.contrib.learn.ops`."""
# ruff: noqa: F401
from tfnb.core.absent import explain as _explain
from tfnb.estimator.learn.old import categorical_variable, conv2d, dnn, one_hot_matrix
from tfnb.estimator.learn.sequences import rnn_decoder, rnn_seq2seq, seq2seq_inputs, sequence_classifier

_explain(__name__)
