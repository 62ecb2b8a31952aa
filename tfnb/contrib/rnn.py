"""`tf.contrib.rnn`."""
# ruff: noqa: F401, I001
import sys as _sys

from tfnb.rnn.cell_stack import MultiRNNCell
from tfnb.rnn.cell_wrappers import DeviceWrapper, DropoutWrapper, ResidualWrapper
from tfnb.rnn.cells import BasicLSTMCell, BasicRNNCell, GRUCell, LSTMCell, LSTMStateTuple, RNNCell
from tfnb.rnn.contrib_cells import GRUBlockCellV2, LayerNormBasicLSTMCell, LSTMBlockCell, PhasedLSTMCell
from tfnb.rnn.dynamic import transpose_batch_time
from tfnb.rnn.projections import EmbeddingWrapper, InputProjectionWrapper, OutputProjectionWrapper
from tfnb.rnn.static import static_bidirectional_rnn, static_rnn, static_state_saving_rnn
from tfnb.tools.as_tensorflow import find_inside as _find_inside

_find_inside(_sys.modules[__name__], "contrib.rnn")        # contrib.rnn.python and below
