"""Connectionist temporal classification of `tf.keras.backend`: batches come first, labels are padded arrays."""
from __future__ import annotations

from typing import Any

from tfnb.core.arguments import KERAS, describe
from tfnb.keras.backend import ops
from tfnb.keras.backend.config import epsilon
from tfnb.ops.composite.sparse_tensor import SparseTensor
from tfnb.ops.nn.ctc import ctc_beam_search_decoder, ctc_greedy_decoder, ctc_loss
from tfnb.ops.sparse.conversion import sparse_to_dense


def ctc_label_dense_to_sparse(labels: Any, label_lengths: Any) -> SparseTensor:
    """Return padded `labels` (batch, labels) as a SparseTensor. label_lengths: how many count in each row.

    >>> made = tf.keras.backend.ctc_label_dense_to_sparse(tf.constant([[3, 4], [5, 0]]), tf.constant([2, 1]))
    >>> sess.run(made.values)
    array([3, 4, 5], dtype=int32)
    """
    labels = ops.convert_to_tensor(labels)
    sizes: Any = ops.shape(labels)
    kept = ops.sequence_mask(ops.cast(label_lengths, "int32"), sizes[1])
    indices = ops.where(kept)
    return SparseTensor(ops.cast(indices, "int64"), ops.gather_nd(labels, indices), ops.cast(sizes, "int64"))


def ctc_batch_cost(y_true: Any, y_pred: Any, input_length: Any, label_length: Any) -> Any:
    """Return the CTC loss of each example, (batch, 1).

    y_true: padded labels (batch, labels). y_pred: probabilities (batch, steps, classes), the last class the blank.
    input_length, label_length: (batch, 1), how many steps and labels count.

    >>> y_pred = tf.constant([[[0.5, 0.5], [0.5, 0.5]]])
    >>> sess.run(tf.keras.backend.ctc_batch_cost(tf.constant([[0]]), y_pred, [[2]], [[1]]))
    array([[0.2877]], dtype=float32)
    """
    lengths = ops.cast(ops.squeeze(label_length, [-1]), "int32")
    steps = ops.cast(ops.squeeze(input_length, [-1]), "int32")
    sparse = ctc_label_dense_to_sparse(ops.cast(y_true, "int32"), lengths)
    logits = ops.log(ops.transpose(y_pred, [1, 0, 2]) + epsilon())
    return ops.expand_dims(ctc_loss(sparse, logits, steps), 1)


def ctc_decode(y_pred: Any, input_length: Any, greedy: bool = True, beam_width: int = 100,
               top_paths: int = 1) -> tuple[list[Any], Any]:
    """Return (likeliest labels, padded by -1, one array for each path; log probabilities (batch, paths)).

    y_pred: probabilities (batch, steps, classes), the last class the blank. input_length: (batch,), how many steps
    count. greedy: whether each step gets its likeliest class; else a beam search with beam_width and top_paths.

    >>> y_pred = tf.constant([[[0.9, 0.0, 0.1], [0.1, 0.0, 0.9], [0.1, 0.8, 0.1]]])
    >>> sess.run(tf.keras.backend.ctc_decode(y_pred, [3])[0])
    [array([[0, 1]])]
    """
    logits = ops.log(ops.transpose(y_pred, [1, 0, 2]) + epsilon())
    steps = ops.cast(input_length, "int32")
    decoded, scores = ctc_greedy_decoder(logits, steps) if greedy else ctc_beam_search_decoder(
        logits, steps, beam_width=beam_width, top_paths=top_paths, merge_repeated=False)
    return [sparse_to_dense(each.indices, each.dense_shape, each.values, default_value=-1) for each in decoded], scores


describe(globals(), KERAS)
