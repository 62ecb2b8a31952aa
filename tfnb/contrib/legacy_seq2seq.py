"""`tf.contrib.legacy_seq2seq`."""
# ruff: noqa: F401, I001
from tfnb.core.absent import explain as _explain
import sys as _sys

from tfnb.seq2seq.legacy import (
    attention_decoder, basic_rnn_seq2seq, embedding_attention_decoder, embedding_attention_seq2seq,
    embedding_rnn_decoder, embedding_rnn_seq2seq, embedding_tied_rnn_seq2seq, model_with_buckets, one2many_rnn_seq2seq,
    rnn_decoder, tied_rnn_seq2seq,
)
from tfnb.losses.sequence import sequence_loss_by_example, sequence_loss_of_lists as sequence_loss
from tfnb.tools.as_tensorflow import find_inside as _find_inside

_find_inside(_sys.modules[__name__], "contrib.legacy_seq2seq")        # contrib.legacy_seq2seq.python and below

_explain(__name__)
