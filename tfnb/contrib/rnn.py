"""`tf.contrib.rnn`."""
# ruff: noqa: F401, I001
from tfnb.core.absent import explain as _explain
import sys as _sys

from tfnb.rnn.cell_stack import MultiRNNCell
from tfnb.rnn.cell_wrappers import DeviceWrapper, DropoutWrapper, ResidualWrapper
from tfnb.rnn.cells import BasicLSTMCell, BasicRNNCell, GRUCell, LayerRNNCell, LSTMCell, LSTMStateTuple, RNNCell
from tfnb.rnn.contrib_cells import (
    GRUBlockCell, GRUBlockCellV2, LayerNormBasicLSTMCell, LSTMBlockCell, PhasedLSTMCell,
)
from tfnb.rnn.contrib_wrappers import AttentionCellWrapper, CompiledWrapper, HighwayWrapper
from tfnb.rnn.conv_cells import Conv1DLSTMCell, Conv2DLSTMCell, Conv3DLSTMCell, ConvLSTMCell
from tfnb.rnn.dynamic import transpose_batch_time
from tfnb.rnn.fused import (
    FusedRNNCell, FusedRNNCellAdaptor, LSTMBlockFusedCell, TimeReversedFusedRNN, stack_bidirectional_dynamic_rnn,
    stack_bidirectional_rnn,
)
from tfnb.rnn.gated_cells import (
    CoupledInputForgetGateLSTMCell, IndRNNCell, IndyLSTMCell, IntersectionRNNCell, NASCell, SRUCell, UGRNNCell,
)
from tfnb.rnn.grid_cells import BidirectionalGridLSTMCell, GridLSTMCell, TimeFreqLSTMCell
from tfnb.rnn.more_cells import (
    CFNCell, GLSTMCell, IndyGRUCell, LayerNormLSTMCell, MinimalRNNCell, WeightNormLSTMCell,
)
from tfnb.rnn.ntm_cell import NTMCell
from tfnb.rnn.projections import EmbeddingWrapper, InputProjectionWrapper, OutputProjectionWrapper
from tfnb.rnn.static import static_bidirectional_rnn, static_rnn, static_state_saving_rnn
from tfnb.tools.as_tensorflow import find_inside as _find_inside

_find_inside(_sys.modules[__name__], "contrib.rnn")        # contrib.rnn.python and below

_explain(__name__)
