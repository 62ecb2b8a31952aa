"""Ragged tensors as values of type variant, one for all rows or one a row: as datasets pass them on."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tfnb.core.errors import InvalidArgumentError
from tfnb.core.shape import Static
from tfnb.ops.array.ragged import check_nested, splits_of
from tfnb.ops.declaration.declare import host

_SPLITS = "{int32, int64} = DT_INT64"


@dataclass(frozen=True, eq=False)
class RaggedElement:
    """Value of a variant: the row splits of each ragged axis, outermost first, and the flat values."""

    nested: tuple[np.ndarray, ...]
    values: np.ndarray

    def rows(self) -> list[RaggedElement]:
        """Return each row as an element with a ragged axis less."""
        if not self.nested:
            return [RaggedElement((), np.array(row)) for row in self.values]
        return [self._row(i) for i in range(len(self.nested[0]) - 1)]

    def _row(self, i: int) -> RaggedElement:
        start, end, inner = self.nested[0][i], self.nested[0][i + 1], []
        for splits in self.nested[1:]:
            inner.append(splits[start:end + 1] - splits[start])
            start, end = splits[start], splits[end]
        return RaggedElement(tuple(inner), self.values[start:end].copy())

    @property
    def count(self) -> int:
        """The number of rows."""
        return len(self.nested[0]) - 1 if self.nested else len(self.values)


def _encoded_shape(ctx: Any) -> list[Static]:
    if not ctx.attrs["batched_input"]:
        return [()]
    if not ctx.attrs["RAGGED_RANK"]:
        values = ctx.shape(0)
        return [(None,) if not values else values[:1]]
    splits = ctx.shape(0)
    return [(None if not splits or splits[0] is None else splits[0] - 1,)]


@host("rt_nested_splits: RAGGED_RANK * Tsplits, rt_dense_values: Tvalues -> encoded_ragged: variant",
      shape=_encoded_shape, ranks={"rt_nested_splits": 1}, RAGGED_RANK="int >= 0", Tvalues="type", Tsplits=_SPLITS,
      batched_input="bool")
def RaggedTensorToVariant(nested: Sequence[np.ndarray], values: np.ndarray, *, batched_input: bool,
                          **attrs: Any) -> Any:
    """Encode a ragged tensor as a variant; with `batched_input` as a vector with one for each of its rows.

    >>> rows = tf.raw_ops.RaggedTensorToVariant(rt_nested_splits=[tf.constant([0, 2, 3], tf.int64)],
    ...     rt_dense_values=[1.0, 2.0, 3.0], batched_input=True)
    >>> first = tf.raw_ops.RaggedTensorFromVariant(encoded_ragged=rows[0], input_ragged_rank=0, output_ragged_rank=0,
    ...     Tvalues=tf.float32)
    >>> sess.run(first.output_dense_values)
    array([1., 2.], dtype=float32)
    """
    if nested:
        check_nested(nested, len(values) if values.ndim else 0)
    if batched_input and not values.ndim:
        raise ValueError("expected rows for batched_input, got a scalar")
    whole = RaggedElement(tuple(np.array(splits) for splits in nested), np.array(values))
    if not batched_input:
        scalar = np.empty((), object)
        scalar[()] = whole
        return scalar
    rows = whole.rows()
    made = np.empty(len(rows), object)
    made[:] = rows
    return made


def _decoded_shapes(ctx: Any) -> list[Static]:
    rank, lead = ctx.attrs["output_ragged_rank"], ctx.shape(0)
    given = ctx.attrs["input_ragged_rank"]
    if lead is not None and given >= 0 and rank != given + len(lead):
        raise ValueError(f"output_ragged_rank must be equal to input_ragged_rank + encoded_ragged.ndims(); "
                         f"output_ragged_rank: {rank}, input_ragged_rank: {given}, encoded_ragged.ndims(): {len(lead)}")
    if lead is not None and rank < len(lead):
        raise ValueError(f"output_ragged_rank must be at least the rank of encoded_ragged, {len(lead)}, got {rank}")
    return [*[(None,)] * rank, None]


@host("encoded_ragged: variant -> output_nested_splits: output_ragged_rank * Tsplits, output_dense_values: Tvalues",
      shape=_decoded_shapes, validate=_decoded_shapes, input_ragged_rank="int >= -1", output_ragged_rank="int >= 0",
      Tvalues="type", Tsplits=_SPLITS)
def RaggedTensorFromVariant(encoded: np.ndarray, *, output_ragged_rank: int, Tvalues: Any, Tsplits: Any,
                            ctx: Any, **attrs: Any) -> Any:
    """Decode variants into one ragged tensor, whose first axes are those of `encoded_ragged`.

    Raises InvalidArgumentError for variants that hold no ragged tensor of that dtype and rank.
    """
    rank = output_ragged_rank - encoded.ndim
    elements = list(encoded.ravel())
    for each in elements:
        if not isinstance(each, RaggedElement) or len(each.nested) != rank \
                or each.values.dtype != Tvalues.as_numpy_dtype:
            raise InvalidArgumentError(None, ctx.op, f"expected variants of ragged tensors with {rank} ragged axes of "
                                                     f"{Tvalues.name}, got {_shown(each)}")
    kind = Tsplits.as_numpy_dtype
    if not encoded.ndim:
        return [*(splits.astype(kind) for splits in elements[0].nested), elements[0].values]
    made = [splits_of(np.full(int(np.prod(encoded.shape[:axis])), encoded.shape[axis]), kind)
            for axis in range(1, encoded.ndim)]
    made.append(splits_of(np.array([each.count for each in elements], np.int64), kind))
    for level in range(rank):
        lengths = [np.diff(each.nested[level]) for each in elements]
        made.append(splits_of(np.concatenate([*lengths, np.zeros(0, np.int64)]), kind))
    inner = {each.values.shape[1:] for each in elements}
    if len(inner) > 1:
        raise InvalidArgumentError(None, ctx.op, f"expected values of one inner shape, got {sorted(inner)}")
    values = np.concatenate([each.values for each in elements]) if elements else np.zeros(0, Tvalues.as_numpy_dtype)
    return [*made, values]


def _shown(each: Any) -> str:
    if isinstance(each, RaggedElement):
        return f"{len(each.nested)} of {each.values.dtype}"
    return type(each).__name__


for _op in (RaggedTensorToVariant, RaggedTensorFromVariant):
    _op.no_gradient("it makes or reads variants")
