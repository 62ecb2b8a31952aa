"""`tf.contrib.rnn`."""
# ruff: noqa: F401, I001
import sys as _sys

from tfnb.layers.cell_stack import MultiRNNCell
from tfnb.layers.cell_wrappers import DeviceWrapper, DropoutWrapper, ResidualWrapper
from tfnb.layers.cells import BasicLSTMCell, BasicRNNCell, GRUCell, LSTMCell, LSTMStateTuple, RNNCell
from tfnb.layers.contrib_cells import GRUBlockCellV2, LayerNormBasicLSTMCell, LSTMBlockCell, PhasedLSTMCell
from tfnb.layers.projections import EmbeddingWrapper, InputProjectionWrapper, OutputProjectionWrapper
from tfnb.layers.static_rnn import static_bidirectional_rnn, static_rnn, static_state_saving_rnn
from tfnb.tools.as_tensorflow import find_inside as _find_inside

_find_inside(_sys.modules[__name__], "contrib.rnn")        # contrib.rnn.python and below
