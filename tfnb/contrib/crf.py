"""`tf.contrib.crf`: linear-chain conditional random fields."""
# ruff: noqa: F401, I001
from tfnb.core.absent import explain as _explain
import sys as _sys

from tfnb.seq2seq.crf import (
    CrfDecodeBackwardRnnCell, CrfDecodeForwardRnnCell, CrfForwardRnnCell, crf_binary_score, crf_decode, crf_forward,
    crf_log_likelihood, crf_log_norm, crf_multitag_sequence_score, crf_sequence_score, crf_unary_score, viterbi_decode,
)
from tfnb.tools.as_tensorflow import find_inside as _find_inside

_find_inside(_sys.modules[__name__], "contrib.crf")        # contrib.crf.python and below

_explain(__name__)
