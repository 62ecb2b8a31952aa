"""Connectionist temporal classification: `tf.nn.ctc_loss` and decoders (Graves et al., 2006)."""
from __future__ import annotations

from typing import Any

import numpy as np

from tfnb.core import dtypes, errors
from tfnb.core.arguments import CTC, describe
from tfnb.core.options import has_compiler
from tfnb.core.program.deprecation import deprecated_argument_lookup
from tfnb.core.shape import Static, merge
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.stack import name_scope
from tfnb.kernels.arrays import ctc
from tfnb.kernels.library.sequences.ctc import Layout, greedy
from tfnb.kernels.library.sequences.ctc import loss as launch_loss
from tfnb.ops.array.counting import batch_gather
from tfnb.ops.array.create import fill, ones_like, range_
from tfnb.ops.array.gather import Where, gather_nd, sequence_mask
from tfnb.ops.array.joining import concat, stack
from tfnb.ops.array.reshape import PreventGradient, expand_dims, reshape, shape, transpose
from tfnb.ops.array.scatter_nd import ScatterNd
from tfnb.ops.composite.sparse_tensor import SparseTensor
from tfnb.ops.declaration.declare import host, kernel
from tfnb.ops.declaration.public import public
from tfnb.ops.declaration.shapes import of_rank
from tfnb.ops.math.casting import cast
from tfnb.ops.math.compare import equal, greater, logical_and, not_equal, where
from tfnb.ops.reductions.reduce import argmax, cumsum, reduce_max, reduce_sum

_LOSS: dict[str, Any] = {"preprocess_collapse_repeated": "bool = false", "ctc_merge_repeated": "bool = true",
                         "ignore_longer_outputs_than_inputs": "bool = false"}
_RANKS = {"inputs": 3, "labels_indices": 2, "labels_values": 1, "sequence_length": 1}


# The loss

def _loss_shape(ctx: Any) -> list[Static]:
    inputs = of_rank(ctx.shape(0), 3)
    merge(of_rank(ctx.shape(1), 2), (of_rank(ctx.shape(2), 1)[0], 2))
    batch = merge(of_rank(ctx.shape(3), 1), inputs[1:2])
    assert batch is not None
    return [batch, (inputs[0], batch[0], inputs[2])]


def _something(ctx: Any) -> None:
    steps, batch, classes = ctx.shape(0)
    for what, size in (("Max time or first dimension of input", steps), ("batch_size", batch), ("classes", classes)):
        if size == 0:
            raise ValueError(f"{what} must not be 0")


def _layout(ctx: Any, blank_first: bool) -> Layout:
    steps, _, classes = ctx.shape(0)
    return Layout(steps, classes, classes if blank_first else classes - 1,
                  bool(ctx.attrs["preprocess_collapse_repeated"]), bool(ctx.attrs["ignore_longer_outputs_than_inputs"]))


def _loss(blank_first: bool) -> Any:
    def numpy(ctx: Any, x: np.ndarray, indices: np.ndarray, values: np.ndarray,
              lengths: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the losses and their gradient."""
        attrs = ctx.attrs
        layout = Layout(x.shape[0], x.shape[2], x.shape[2] - (not blank_first),
                        bool(attrs["preprocess_collapse_repeated"]), bool(attrs["ignore_longer_outputs_than_inputs"]))
        return ctc.loss(x, layout.rows(indices, values, lengths), lengths, 0 if blank_first else x.shape[2] - 1,
                        bool(attrs["ctc_merge_repeated"]))
    return numpy


@kernel("inputs: T, labels_indices: int64, labels_values: int32, sequence_length: int32 -> loss: T, gradient: T",
        shape=_loss_shape, validate=_something, numpy=_loss(False), launch=launch_loss(False), ranks=_RANKS, **_LOSS,
        T="{float, double} = DT_FLOAT")
def CTCLoss() -> None:
    """Compute minus the log probability of the labels of each example, and its gradient by the inputs.

    `inputs` are logits [steps, batch, classes], of which the last class is the blank. Raises InvalidArgumentError for
    labels that are no sequences, and for examples that have more of them than steps.
    """


@kernel("inputs: float, labels_indices: int64, labels_values: int32, sequence_length: int32 -> loss: float, "
        "gradient: float", shape=_loss_shape, validate=_something, numpy=_loss(True), launch=launch_loss(True),
        ranks=_RANKS, **_LOSS)
def CTCLossV2() -> None:
    """Compute the loss and the gradient as CTCLoss does, where class 0 is the blank."""


@CTCLoss.checked
def _(ctx: Any) -> list[Layout]:
    return [_layout(ctx, False)]


@CTCLossV2.checked
def _(ctx: Any) -> list[Layout]:
    return [_layout(ctx, True)]


def _loss_gradient(op: Operation, dloss: Tensor, _: Tensor | None) -> list[Tensor | None]:
    gradient = PreventGradient(op.outputs[1], message="Currently there is no way to take the second derivative of "
                                                      "ctc_loss due to the fused implementation's interaction with "
                                                      "tf.gradients()")
    return [reshape(dloss, [1, -1, 1]) * gradient, None, None, None]


CTCLoss.gradient(_loss_gradient)
CTCLossV2.gradient(_loss_gradient)


@public("nn.ctc_loss")
def ctc_loss(labels: Any, inputs: Any = None, sequence_length: Any = None, preprocess_collapse_repeated: bool = False,
             ctc_merge_repeated: bool = True, ignore_longer_outputs_than_inputs: bool = False, time_major: bool = True,
             logits: Any = None) -> Tensor:
    """Compute the CTC loss: minus the log probability of labels, whatever the steps at which they stand; [batch].

    labels: an int32 SparseTensor [batch, labels], each from 0 to classes - 2; inputs, or logits: float [steps, batch,
    classes], or with time_major=False [batch, steps, classes], of which the last class is the blank; softmax is done
    here; sequence_length: int32 [batch], number of steps of each example. preprocess_collapse_repeated: equal
    neighbours among the labels become one; ctc_merge_repeated: equal neighbours among the outputs do;
    ignore_longer_outputs_than_inputs: examples with more labels than steps have loss and gradient 0.

    Raises TypeError for labels that are not sparse; in the run InvalidArgumentError for labels that are negative,
    missing, or more than steps. The loss is infinite where blanks between equal labels don't fit.

    >>> labels = tf.SparseTensor(indices=[[0, 0]], values=[1], dense_shape=[1, 1])
    >>> loss = tf.nn.ctc_loss(labels, tf.zeros([2, 1, 3]), sequence_length=[2])
    >>> sess.run(tf.exp(-loss))                        # label 1 by 11, 1- and -1, of 9 paths
    array([0.3333], dtype=float32)
    """
    if not isinstance(labels, SparseTensor):
        raise TypeError("Expected labels (first argument) to be a SparseTensor")
    x = convert_to_tensor(deprecated_argument_lookup("logits", logits, "inputs", inputs), name="inputs")
    if not time_major:
        x = transpose(x, [1, 0, 2])
    losses, _ = CTCLoss(x, labels.indices, labels.values, sequence_length,
                        preprocess_collapse_repeated=preprocess_collapse_repeated,
                        ctc_merge_repeated=ctc_merge_repeated,
                        ignore_longer_outputs_than_inputs=ignore_longer_outputs_than_inputs)
    return losses


@public("nn.ctc_loss_v2")
def ctc_loss_v2(labels: Any, logits: Any, label_length: Any, logit_length: Any, logits_time_major: bool = True,
                unique: Any = None, blank_index: int | None = None, name: str | None = None) -> Tensor:
    """Compute the CTC loss of dense or sparse labels, [batch].

    labels: int32 [batch, labels], or a SparseTensor; logits: float [steps, batch, classes], or with
    logits_time_major=False [batch, steps, classes]; label_length, logit_length: int32 [batch], number of labels (of
    dense ones) and steps of each example; unique: accepted, without effect; blank_index: the class that is the blank, 0
    by default for dense labels, negative from the end. Raises ValueError for sparse labels without a blank_index.

    The loss of examples that have more labels than steps is infinite; TensorFlow's has a large number there, or with
    sparse labels an InvalidArgumentError, which comes here too.

    >>> logits = tf.zeros([2, 1, 3])
    >>> loss = tf.nn.ctc_loss_v2([[2, 0]], logits, label_length=[1], logit_length=[2])
    >>> sess.run(tf.exp(-loss))
    array([0.3333], dtype=float32)
    """
    with name_scope(name, "ctc_loss", [logits, label_length, logit_length]):
        sparse = isinstance(labels, SparseTensor)
        if sparse and blank_index is None:
            raise ValueError("blank_index must be given when using SparseTensor labels.")
        x = convert_to_tensor(logits, name="logits")
        x = x if logits_time_major else transpose(x, [1, 0, 2])
        classes = of_rank(x.static, 3)[2]
        if classes is None:
            raise ValueError(f"logits must have a known number of classes, got shape {x.shape}")
        blank = blank_index or 0
        blank = blank + classes if blank < 0 else blank
        if not 0 <= blank < classes:
            raise ValueError(f"blank_index must be in [-{classes}, {classes}), got {blank_index}")
        x = concat([x[:, :, :blank], x[:, :, blank + 1:], x[:, :, blank:blank + 1]], 2)
        if sparse:
            return _sparse_loss(labels, x, logit_length, blank, False)
        counts, steps = (cast(each, dtypes.int32) for each in (label_length, logit_length))
        losses = _sparse_loss(_ended(labels, counts, classes + 1), x, steps, blank, True)
        return where(greater(counts, steps), fill(shape(losses), cast(np.inf, x.dtype)), losses)


def _sparse_loss(labels: SparseTensor, x: Tensor, lengths: Any, blank: int, ignore: bool) -> Tensor:
    """Return the loss of labels that count the blank, for inputs of which it is the last class."""
    values = where(labels.values < blank, labels.values, labels.values - 1)
    return ctc_loss(SparseTensor(labels.indices, values, labels.dense_shape), x, lengths,
                    ignore_longer_outputs_than_inputs=ignore)


def _ended(labels: Any, counts: Tensor, null: int) -> SparseTensor:
    """Return dense labels as sparse ones, each row ended by a label that is none: no row is empty."""
    labels = cast(convert_to_tensor(labels, name="labels"), dtypes.int32)
    sizes: Any = shape(labels)
    wider = concat([labels, fill([sizes[0], 1], null)], 1)
    wider = where(sequence_mask(counts, maxlen=sizes[1] + 1), wider, fill(shape(wider), null))
    places = Where(sequence_mask(counts + 1, maxlen=sizes[1] + 1))
    return SparseTensor(places, gather_nd(wider, places), cast(shape(wider), dtypes.int64))


# Decoders

def _decoded_shape(ctx: Any) -> list[Static]:
    inputs = of_rank(ctx.shape(0), 3)
    batch = merge(of_rank(ctx.shape(1), 1), inputs[1:2])
    assert batch is not None
    paths = ctx.attrs.get("top_paths", 1)
    return [(None, 2)] * paths + [(None,)] * paths + [(2,)] * paths + [(batch[0], paths)]


def _lengths_fit(x: np.ndarray, lengths: np.ndarray) -> None:
    if x.shape[1] != len(lengths):
        raise ValueError(f"expected a sequence_length for each of {x.shape[1]} examples, got {len(lengths)}")
    for example, length in enumerate(lengths.tolist()):
        if length > len(x):
            raise errors.FailedPreconditionError(
                None, None, f"sequence_length({example}) <= {len(x)} is required, the number of steps, got {length}")


def _sparse(rows: list[list[int]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    indices = [(example, place) for example, row in enumerate(rows) for place in range(len(row))]
    return (np.array(indices, np.int64).reshape(-1, 2), np.array([label for row in rows for label in row], np.int64),
            np.array([len(rows), max(map(len, rows), default=0)], np.int64))


@host("inputs: T, sequence_length: int32 -> decoded_indices: int64, decoded_values: int64, decoded_shape: int64, "
      "log_probability: T", shape=_decoded_shape, ranks={"inputs": 3, "sequence_length": 1},
      merge_repeated="bool = false", blank_index="int = -1", T="{float, double} = DT_FLOAT")
def CTCGreedyDecoder(inputs: np.ndarray, sequence_length: np.ndarray, *, merge_repeated: bool,
                     blank_index: int) -> tuple[np.ndarray, ...]:
    """Decode the labels of the largest input of each step; `merge_repeated`: equal neighbours become one."""
    _lengths_fit(inputs, sequence_length)
    classes = inputs.shape[2]
    blank = blank_index + classes if blank_index < 0 else blank_index
    if not 0 <= blank < classes:
        raise ValueError(f"blank_index must be in [-{classes}, {classes}), got {blank_index}")
    if has_compiler() and classes:
        return greedy(inputs, sequence_length, merge_repeated, blank)
    rows, sums = ctc.greedy(inputs, sequence_length, merge_repeated, blank)
    return (*_sparse(rows), sums)


@host("inputs: T, sequence_length: int32 -> decoded_indices: top_paths * int64, decoded_values: top_paths * int64, "
      "decoded_shape: top_paths * int64, log_probability: T", shape=_decoded_shape,
      ranks={"inputs": 3, "sequence_length": 1}, beam_width="int >= 1", top_paths="int >= 1",
      merge_repeated="bool = true", T="{float, double} = DT_FLOAT")
def CTCBeamSearchDecoder(inputs: np.ndarray, sequence_length: np.ndarray, *, beam_width: int, top_paths: int,
                         merge_repeated: bool) -> tuple[np.ndarray, ...]:
    """Decode the likeliest labels by beam search over prefixes; `merge_repeated`: equal neighbours become one."""
    if top_paths > beam_width:
        raise ValueError(f"requested more paths than the beam width: {top_paths} > {beam_width}")
    _lengths_fit(inputs, sequence_length)
    found = [ctc.beams(inputs[:, example], length, beam_width, top_paths, merge_repeated)
             for example, length in enumerate(sequence_length.tolist())]
    parts = [_sparse([rows[path] for rows, _ in found]) for path in range(top_paths)]
    values = np.array([value for _, value in found], inputs.dtype).reshape(-1, top_paths)
    return (*(part[0] for part in parts), *(part[1] for part in parts), *(part[2] for part in parts), values)


for _op in (CTCGreedyDecoder, CTCBeamSearchDecoder):
    _op.no_gradient("it is made of classes")


@public("nn.ctc_greedy_decoder")
def ctc_greedy_decoder(inputs: Any, sequence_length: Any, merge_repeated: bool = True,
                       blank_index: int | None = None) -> tuple[list[SparseTensor], Tensor]:
    """Decode the likeliest class of each step: ([SparseTensor [batch, labels]], minus the sums of logits [batch, 1]).

    merge_repeated: equal neighbours become one label, unless a blank is between; blank_index: the class that is the
    blank, by default the last, negative from the end.

    >>> logits = tf.constant([[[9.0, 0.0, 0.0]], [[9.0, 0.0, 0.0]], [[0.0, 0.0, 9.0]], [[9.0, 0.0, 0.0]]])
    >>> (labels,), _ = tf.nn.ctc_greedy_decoder(logits, sequence_length=[4])
    >>> sess.run(labels.values)
    array([0, 0])
    """
    indices, values, sizes, sums = CTCGreedyDecoder(inputs, sequence_length, merge_repeated=merge_repeated,
                                                    blank_index=-1 if blank_index is None else blank_index)
    return [SparseTensor(indices, values, sizes)], sums


@public("nn.ctc_beam_search_decoder")
def ctc_beam_search_decoder(inputs: Any, sequence_length: Any, beam_width: int = 100, top_paths: int = 1,
                            merge_repeated: bool = True) -> tuple[list[SparseTensor], Tensor]:
    """Decode the likeliest labels: (top_paths SparseTensors [batch, labels], log probabilities [batch, top_paths]).

    beam_width: number of rows of labels that are kept at each step; top_paths: number of those returned;
    merge_repeated: equal neighbours of the result become one, even those with a blank between (as in TensorFlow 1).
    Raises InvalidArgumentError in the run for more paths than the beam has.

    >>> logits = tf.constant([[[9.0, 0.0, 0.0]], [[0.0, 0.0, 9.0]], [[9.0, 0.0, 0.0]]])
    >>> (labels,), _ = tf.nn.ctc_beam_search_decoder(logits, sequence_length=[3], merge_repeated=False)
    >>> sess.run(labels.values)
    array([0, 0])
    """
    indices, values, sizes, found = CTCBeamSearchDecoder(inputs, sequence_length, beam_width=beam_width,
                                                         top_paths=top_paths, merge_repeated=merge_repeated)
    return [SparseTensor(*parts) for parts in zip(indices, values, sizes, strict=True)], found


@public("nn.ctc_beam_search_decoder_v2")
def ctc_beam_search_decoder_v2(inputs: Any, sequence_length: Any, beam_width: int = 100,
                               top_paths: int = 1) -> tuple[list[SparseTensor], Tensor]:
    """Decode the likeliest labels, as `ctc_beam_search_decoder` with merge_repeated=False.

    beam_width, top_paths: as there.

    >>> logits = tf.constant([[[9.0, 0.0, 0.0]], [[0.0, 0.0, 9.0]], [[9.0, 0.0, 0.0]]])
    >>> (labels,), log_probability = tf.nn.ctc_beam_search_decoder_v2(logits, sequence_length=[3])
    >>> sess.run(tf.sparse.to_dense(labels))
    array([[0, 0]])
    """
    return ctc_beam_search_decoder(inputs, sequence_length, beam_width, top_paths, False)


# Labels

def _compacted(labels: Tensor, kept: Tensor, width: Any) -> Tensor:
    """Return the labels [batch, width] that are kept, moved to the left, and zeros behind them."""
    places = Where(kept)
    columns = gather_nd(cumsum(cast(kept, dtypes.int64), 1) - 1, places)
    sizes: Any = shape(labels, out_type=dtypes.int64)
    return ScatterNd(stack([places[:, 0], columns], 1), gather_nd(labels, places),
                     stack([sizes[0], cast(width, dtypes.int64)]))


@public("nn.collapse_repeated")
def collapse_repeated(labels: Any, seq_length: Any, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Make equal neighbours among labels one: (labels [batch, longest], int32 lengths [batch]).

    labels: integers [batch, labels]; seq_length: number of labels of each example, those behind don't count.

    >>> labels, lengths = tf.nn.collapse_repeated([[3, 3, 4, 3]], seq_length=[4])
    >>> sess.run([labels, lengths])
    [array([[3, 4, 3]], dtype=int32), array([3], dtype=int32)]
    """
    with name_scope(name, "collapse_repeated_labels", [labels, seq_length]):
        labels = convert_to_tensor(labels, name="labels")
        new = concat([ones_like(labels[:, :1], dtypes.bool), not_equal(labels[:, 1:], labels[:, :-1])], 1)
        width: Any = shape(labels)
        kept = logical_and(new, sequence_mask(convert_to_tensor(seq_length), maxlen=width[1]))
        lengths = reduce_sum(cast(kept, dtypes.int32), 1)
        return _compacted(labels, kept, reduce_max(lengths)), lengths


@public("nn.ctc_unique_labels")
def ctc_unique_labels(labels: Any, name: str | None = None) -> list[Tensor]:
    """Find the different labels of each example, in order: [int64 [batch, labels], padded by 0; their int32 places].

    labels: integers [batch, labels].

    >>> sess.run(tf.nn.ctc_unique_labels([[3, 4, 4, 3]]))
    [array([[3, 4, 0, 0]]), array([[0, 1, 1, 0]], dtype=int32)]
    """
    with name_scope(name, "ctc_unique_labels", [labels]):
        labels = cast(convert_to_tensor(labels, name="labels"), dtypes.int64)
        width: Any = shape(labels)
        same = equal(expand_dims(labels, 2), expand_dims(labels, 1))
        first = argmax(cast(same, dtypes.int32), 2, output_type=dtypes.int32)
        new = equal(first, expand_dims(range_(width[1]), 0))
        numbers = cumsum(cast(new, dtypes.int32), 1) - 1
        return [_compacted(labels, new, width[1]), batch_gather(numbers, first)]


describe(globals(), CTC)
