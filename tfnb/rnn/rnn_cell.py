"""Recurrent cells: `tf.nn.rnn_cell`."""
# ruff: noqa: F401, I001
from tfnb.rnn.cell_stack import MultiRNNCell
from tfnb.rnn.cell_wrappers import DeviceWrapper, DropoutWrapper, ResidualWrapper
from tfnb.rnn.cells import (
    BasicLSTMCell, BasicRNNCell, GRUCell, LSTMCell, LSTMStateTuple, RNNCell,
)
from tfnb.rnn.linear import linear, linear as _linear      # before 1.0
from tfnb.rnn.projections import EmbeddingWrapper, InputProjectionWrapper, OutputProjectionWrapper
