"""Recurrent cells: `tf.nn.rnn_cell`."""
# ruff: noqa: F401, I001
from tfnb.layers.cell_stack import MultiRNNCell
from tfnb.layers.cell_wrappers import DeviceWrapper, DropoutWrapper, ResidualWrapper
from tfnb.layers.cells import (
    BasicLSTMCell, BasicRNNCell, GRUCell, LSTMCell, LSTMStateTuple, RNNCell,
)
from tfnb.layers.linear import linear, linear as _linear      # before 1.0
from tfnb.layers.projections import EmbeddingWrapper, InputProjectionWrapper, OutputProjectionWrapper
