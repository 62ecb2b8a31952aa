"""`tf.contrib.seq2seq`: decoders, helpers, attention, beam search, and the loss of sequences."""
# ruff: noqa: F401, I001
from tfnb.core.absent import explain as _explain
import sys as _sys

from tfnb.losses.sequence import sequence_loss
from tfnb.seq2seq.attention import (
    AttentionMechanism, BahdanauAttention, BahdanauMonotonicAttention, LuongAttention, LuongMonotonicAttention, hardmax,
    monotonic_attention, safe_cumprod,
)
from tfnb.seq2seq.attention_wrapper import AttentionWrapper, AttentionWrapperState
from tfnb.seq2seq.beam_search import (
    BeamSearchDecoder, BeamSearchDecoderOutput, BeamSearchDecoderState, FinalBeamSearchDecoderOutput,
    gather_tree_from_array, tile_batch,
)
from tfnb.seq2seq.decoder import BasicDecoder, BasicDecoderOutput, Decoder, dynamic_decode
from tfnb.seq2seq.helper import (
    CustomHelper, GreedyEmbeddingHelper, Helper, InferenceHelper, SampleEmbeddingHelper,
)
from tfnb.seq2seq.training_helpers import (
    ScheduledEmbeddingTrainingHelper, ScheduledOutputTrainingHelper, TrainingHelper,
)
from tfnb.ops.nn.beams import gather_tree
from tfnb.tools.as_tensorflow import find_inside as _find_inside

_find_inside(_sys.modules[__name__], "contrib.seq2seq")        # contrib.seq2seq.python and below

_explain(__name__)
