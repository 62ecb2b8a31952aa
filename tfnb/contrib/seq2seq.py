"""`tf.contrib.seq2seq`: its loss."""
# ruff: noqa: F401
import sys as _sys

from tfnb.losses.sequence import sequence_loss
from tfnb.tools.as_tensorflow import find_inside as _find_inside

_find_inside(_sys.modules[__name__], "contrib.seq2seq")        # contrib.seq2seq.python and below
