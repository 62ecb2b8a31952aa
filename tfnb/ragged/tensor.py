"""Ragged tensors: rows of different lengths, as flat values and the places between rows."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tfnb.core import dtypes, nest
from tfnb.core.dtypes import DType, as_dtype
from tfnb.core.shape import TensorShape
from tfnb.core.text import shown
from tfnb.graph.convert import convert_to_tensor, register_tensor_conversion_function
from tfnb.graph.parts.constant_value import constant_value
from tfnb.graph.parts.context import session_for
from tfnb.graph.parts.operation import Tensor
from tfnb.graph.stack import name_scope
from tfnb.ops.array.joining import concat, stack
from tfnb.ops.array.ragged import RaggedTensorToSparse, RaggedTensorToTensor
from tfnb.ops.composite.sparse_tensor import SparseTensor
from tfnb.ops.declaration.public import public
from tfnb.ops.math.casting import cast
from tfnb.ragged import conversion, partition
from tfnb.ragged.parts import RaggedParts
from tfnb.ragged.value import RaggedTensorValue

MAKERS = "from_row_splits, from_row_lengths, from_value_rowids, from_row_starts, from_row_limits, from_tensor"


@public("RaggedTensor")
class RaggedTensor(RaggedParts):
    """A tensor with axes whose rows have different lengths; made by its class methods (`from_row_splits`...).

    values: the concatenated rows, a Tensor or a RaggedTensor for the next ragged axis. row_splits: [rows + 1], row i
    is `values[row_splits[i]:row_splits[i + 1]]`. internal: whether a class method calls. Raises ValueError otherwise.

    >>> x = tf.RaggedTensor.from_row_splits(values=[3, 1, 4, 1, 5], row_splits=[0, 2, 2, 5])
    >>> sess.run(x).to_list()
    [[3, 1], [], [4, 1, 5]]
    >>> sess.run(tf.reduce_sum(x, axis=1))
    array([ 4,  0, 10], dtype=int32)
    """

    __array_priority__ = 100            # NumPy leaves `array + ragged` to this class

    def __init__(self, values: Any, row_splits: Any, internal: bool = False) -> None:
        if not internal:
            raise ValueError(f"RaggedTensor() is private: use one of RaggedTensor.{MAKERS}, or tf.ragged.constant")
        self._values, self._row_splits = values, row_splits
        self._known = {}

    # Construction

    @classmethod
    def from_row_splits(cls, values: Any, row_splits: Any, name: str | None = None,
                        validate: bool = True) -> RaggedTensor:
        """Return a RaggedTensor of concatenated rows and the places between them.

        values: a Tensor or RaggedTensor, [n, ...]. row_splits: int32 or int64 [rows + 1], ascending from 0 to n.
        validate: whether a run checks that (InvalidArgumentError). Raises ValueError for shapes that don't fit.
        """
        if isinstance(row_splits, (list, tuple)) and not row_splits:
            raise ValueError("row_splits tensor may not be empty.")
        with name_scope(name, "RaggedFromRowSplits", [values, row_splits]):
            return _checked(cls, values, row_splits, "row_splits", validate, partition.splits_checks, lambda s: (s, {}))

    @classmethod
    def from_row_lengths(cls, values: Any, row_lengths: Any, name: str | None = None,
                         validate: bool = True) -> RaggedTensor:
        """Return a RaggedTensor of concatenated rows and the length of each.

        row_lengths: int32 or int64 [rows], whose sum is the number of values. The rest is as of from_row_splits.
        """
        with name_scope(name, "RaggedFromRowLengths", [values, row_lengths]):
            return _checked(cls, values, row_lengths, "row_lengths", validate, partition.lengths_checks,
                            lambda lengths: (partition.splits_of_lengths(lengths), {"lengths": lengths}))

    @classmethod
    def from_value_rowids(cls, values: Any, value_rowids: Any, nrows: Any = None, name: str | None = None,
                          validate: bool = True) -> RaggedTensor:
        """Return a RaggedTensor of values and the row of each.

        value_rowids: int32 or int64 [n], ascending. nrows: the number of rows, by default up to that of the last
        value. The rest is as of from_row_splits.
        """
        if isinstance(nrows, int) and nrows < 0:
            raise ValueError(f"Expected nrows >= 0; got {nrows}")
        with name_scope(name, "RaggedFromValueRowIds", [values, value_rowids, nrows]):
            rows: Any = partition.as_partition(value_rowids, "value_rowids")
            count = partition.last_row(rows) if nrows is None \
                else cast(partition.as_partition(nrows, "nrows"), rows.dtype)
            count.shape.assert_has_rank(0)
            last = constant_value(rows[-1:])
            if isinstance(nrows, int) and last is not None and last.size and last[0] >= nrows:
                raise ValueError(f"Expected nrows >= value_rowids[-1] + 1; got nrows={nrows}, value_rowids[-1]="
                                 f"{last[0]}")

            def checks(given: Tensor, of: Any, message: str) -> partition.Checks:
                return partition.rows_checks(given, count, message)
            made = _checked(cls, values, rows, "value_rowids", validate, checks,
                            lambda r: (partition.splits_of_rows(r, count), {"rows": r, "nrows": count}))
            made.values.shape[:1].assert_is_compatible_with(rows.shape)
            return made

    @classmethod
    def from_row_starts(cls, values: Any, row_starts: Any, name: str | None = None,
                        validate: bool = True) -> RaggedTensor:
        """Return a RaggedTensor of concatenated rows and the place where each begins.

        row_starts: int32 or int64 [rows], ascending from 0. The rest is as of from_row_splits.
        """
        with name_scope(name, "RaggedFromRowStarts", [values, row_starts]):
            values = _values(values)
            return _checked(cls, values, row_starts, "row_starts", validate, partition.starts_checks, lambda starts: (
                concat([starts, stack([partition.size_of(values, starts.dtype)])], 0), {}))

    @classmethod
    def from_row_limits(cls, values: Any, row_limits: Any, name: str | None = None,
                        validate: bool = True) -> RaggedTensor:
        """Return a RaggedTensor of concatenated rows and the place behind the end of each.

        row_limits: int32 or int64 [rows], ascending to n. The rest is as of from_row_splits.
        """
        with name_scope(name, "RaggedFromRowLimits", [values, row_limits]):
            return _checked(cls, values, row_limits, "row_limits", validate, partition.limits_checks, lambda limits: (
                concat([convert_to_tensor([0], dtype=limits.dtype), limits], 0), {}))

    @classmethod
    def from_nested_row_splits(cls, flat_values: Any, nested_row_splits: Sequence[Any], name: str | None = None,
                               validate: bool = True) -> Any:
        """Return a RaggedTensor of innermost values and the row splits of each ragged axis, outermost first.

        Without row splits the values are returned. Raises TypeError if nested_row_splits is a tensor.
        """
        with name_scope(name, "RaggedFromNestedRowSplits", [flat_values, *_listed(nested_row_splits, "row_splits")]):
            return _nested(cls.from_row_splits, flat_values, nested_row_splits, validate)

    @classmethod
    def from_nested_row_lengths(cls, flat_values: Any, nested_row_lengths: Sequence[Any], name: str | None = None,
                                validate: bool = True) -> Any:
        """Return a RaggedTensor of innermost values and the row lengths of each ragged axis, outermost first."""
        with name_scope(name, "RaggedFromNestedRowLengths", [flat_values, *_listed(nested_row_lengths, "row_lengths")]):
            return _nested(cls.from_row_lengths, flat_values, nested_row_lengths, validate)

    @classmethod
    def from_nested_value_rowids(cls, flat_values: Any, nested_value_rowids: Sequence[Any],
                                 nested_nrows: Sequence[Any] | None = None, name: str | None = None,
                                 validate: bool = True) -> Any:
        """Return a RaggedTensor of innermost values and the row indices of each ragged axis, outermost first.

        nested_nrows: the number of rows of each axis, or None for up to the last row index of each.
        """
        rows = _listed(nested_value_rowids, "value_rowids")
        counts = [None] * len(rows) if nested_nrows is None else _listed(nested_nrows, "nrows")
        if len(counts) != len(rows):
            raise ValueError(f"nested_nrows must have the same length as nested_value_rowids, got {len(counts)} and "
                             f"{len(rows)}")
        with name_scope(name, "RaggedFromNestedValueRowIds", [flat_values, *rows]):
            made = flat_values
            for each, count in zip(reversed(rows), reversed(counts), strict=True):
                made = cls.from_value_rowids(made, each, count, validate=validate)
            return made

    @classmethod
    def from_tensor(cls, tensor: Any, lengths: Any = None, padding: Any = None, ragged_rank: int = 1,
                    name: str | None = None, row_splits_dtype: Any = dtypes.int64) -> RaggedTensor:
        """Return a RaggedTensor of the rows of a Tensor, without what is behind the end of each.

        lengths: of the rows, [rows]; or a tuple of these for each ragged axis. padding: the value that rows end with,
        of the inner shape, instead of lengths. ragged_rank: the number of ragged axes. row_splits_dtype: int32 or
        int64. Raises ValueError for lengths and padding together, and for a rank that is no larger than ragged_rank.
        """
        with name_scope(name, "RaggedFromTensor", [tensor, lengths, padding]):
            made: RaggedTensor = conversion.from_dense(cls, convert_to_tensor(tensor, name="tensor"), lengths, padding,
                                                       ragged_rank, as_dtype(row_splits_dtype))
            return made

    @classmethod
    def from_sparse(cls, st_input: Any, name: str | None = None, row_splits_dtype: Any = dtypes.int64) -> RaggedTensor:
        """Return a RaggedTensor of the rows of a SparseTensor of rank 2, which have no gaps.

        row_splits_dtype: int32 or int64. A run raises InvalidArgumentError for rows with gaps.
        """
        with name_scope(name, "RaggedFromSparse", [st_input]):
            made: RaggedTensor = conversion.from_sparse(cls, st_input, as_dtype(row_splits_dtype))
            return made

    # Other values in the same rows

    def with_values(self, new_values: Any) -> RaggedTensor:
        """Return a RaggedTensor with these rows and other values, as many. Raises ValueError if they don't fit."""
        made = _values(new_values)
        made.shape.with_rank_at_least(1)
        self._values.shape[:1].assert_is_compatible_with(made.shape[:1])
        if isinstance(made, RaggedTensor):
            partition.same_dtype([self._row_splits, made.row_splits])
        return self._with(made)

    def with_flat_values(self, new_values: Any) -> RaggedTensor:
        """Return a RaggedTensor with these rows on all axes and other innermost values."""
        inner = self._values
        return self.with_values(inner.with_flat_values(new_values) if isinstance(inner, RaggedTensor) else new_values)

    def with_row_splits_dtype(self, dtype: Any) -> RaggedTensor:
        """Return the RaggedTensor with row splits of int32 or int64. Raises ValueError for another dtype."""
        wanted = as_dtype(dtype)
        if wanted not in partition.SPLITS_DTYPES:
            raise ValueError(f"Argument `row_splits` dtype must be int32 or int64, got {wanted.name}")
        if wanted == self._row_splits.dtype:
            return self
        inner = self._values
        inner = inner.with_row_splits_dtype(wanted) if isinstance(inner, RaggedTensor) else inner
        return RaggedTensor._of(inner, cast(self._row_splits, wanted))

    # Other forms

    def to_tensor(self, default_value: Any = None, name: str | None = None, shape: Any = None) -> Tensor:
        """Return a Tensor whose rows are padded to the longest.

        default_value: what to pad with, broadcast to the inner shape of the values; by default 0, "" or False. shape:
        sizes to cut or pad to, None for the largest.
        """
        with name_scope(name, "RaggedToTensor", [self, default_value]):
            flat, splits = self.flat_values, self.nested_row_splits
            default = convert_to_tensor(_empty(flat.dtype) if default_value is None else default_value,
                                        dtype=flat.dtype, name="default_value")
            if (default.shape.ndims or 0) >= (flat.shape.ndims or 99):
                raise ValueError(f"default_value must have a smaller rank than flat_values, got shape {default.shape} "
                                 f"and {flat.shape}")
            sizes = _wanted(shape)
            made: Tensor = RaggedTensorToTensor(sizes, flat, default, list(splits),
                                                row_partition_types=["ROW_SPLITS"] * len(splits))
            if shape is None and self.shape.ndims is not None:
                made.set_shape(self.shape)
            return made

    def to_sparse(self, name: str | None = None) -> SparseTensor:
        """Return a SparseTensor of the values, as wide as the longest row."""
        with name_scope(name, "RaggedToSparse", [self]):
            return SparseTensor(*RaggedTensorToSparse(list(self.nested_row_splits), self.flat_values))

    def to_list(self) -> list[Any]:
        """Raise ValueError: only values have lists. Use `sess.run(x).to_list()`."""
        raise ValueError("to_list can only be used in eager mode; here: session.run(x).to_list()")

    def numpy(self) -> Any:
        """Raise ValueError: only values have arrays. Use `sess.run(x)`."""
        raise ValueError("RaggedTensor.numpy() is only supported in eager mode; here: session.run(x)")

    def eval(self, feed_dict: Any = None, session: Any = None) -> RaggedTensorValue:
        """Return the value in a session, by default the default one."""
        found: RaggedTensorValue = session_for(session, self.graph, "evaluate RaggedTensor").run(self, feed_dict)
        return found

    @staticmethod
    def _override(operator: str, fn: Callable[..., Any]) -> None:
        """Give all ragged tensors the operator (`"__mul__"`)."""
        setattr(RaggedTensor, operator, fn)

    def __repr__(self) -> str:
        return f"tf.RaggedTensor(values={self._values}, row_splits={self._row_splits})"


def _listed(parts: Any, what: str) -> Sequence[Any]:
    if isinstance(parts, Tensor):
        raise TypeError(f"nested_{what} must be a list of Tensors, got {parts!r}")
    return list(parts)


def _nested(make: Callable[..., Any], flat_values: Any, parts: Sequence[Any], validate: bool) -> Any:
    made = flat_values
    for part in reversed(list(parts)):
        made = make(made, part, validate=validate)
    return made


def _empty(dtype: DType) -> Any:
    return "" if dtype == dtypes.string else False if dtype == dtypes.bool else 0


def _wanted(shape: Any) -> Any:
    """Return the sizes that RaggedTensorToTensor takes: -1 for unknown ones."""
    if isinstance(shape, Tensor):
        return shape
    sizes = TensorShape(shape).static
    return convert_to_tensor(-1 if sizes is None else [-1 if size is None else size for size in sizes],
                             dtype=dtypes.int64)


def _values(values: Any) -> Any:
    """Return values as a Tensor or RaggedTensor."""
    if isinstance(values, RaggedTensorValue):
        return from_value(values)
    return values if isinstance(values, RaggedTensor) else convert_to_tensor(values, name="values")


def from_value(value: RaggedTensorValue) -> RaggedTensor:
    """Return constants of the parts of a value."""
    made: Any = convert_to_tensor(value.flat_values, name="flat_values")
    for splits in reversed(value.nested_row_splits):
        made = RaggedTensor._of(made, convert_to_tensor(splits, name="row_splits"))
    return made  # type: ignore[no-any-return]


def _checked(cls: Any, values: Any, given: Any, what: str, validate: bool, checks: Callable[..., partition.Checks],
             make: Callable[[Tensor], Any]) -> RaggedTensor:
    """Return a RaggedTensor of values and a part, which a run checks if `validate`; make: part -> row splits, known."""
    values, part = _values(values), partition.as_partition(given, what)
    part.shape.assert_has_rank(1)
    values.shape.with_rank_at_least(1)
    if isinstance(values, RaggedTensor):
        partition.same_dtype([part, values.row_splits])
    if validate:
        part = partition.guarded(part, checks(part, values, f"Arguments to from_{what} do not form a valid "
                                                           "RaggedTensor"))
    splits, known = make(part)
    return cls._of(values, splits, **known)  # type: ignore[no-any-return]


def is_ragged(value: Any) -> bool:
    """Return whether a value is a RaggedTensor or the value of one."""
    return isinstance(value, (RaggedTensor, RaggedTensorValue))


def as_tensor(value: Any, dtype: Any = None, name: str | None = None) -> Any:
    """Convert to a Tensor, or a RaggedTensor if it is one or its value. Raises ValueError for another dtype."""
    if not is_ragged(value):
        return convert_to_tensor(value, dtype=dtype, name=name)
    made = _values(value)
    if dtype is not None and not as_dtype(dtype).is_compatible_with(made.dtype):
        raise ValueError(f"Tensor conversion requested dtype {as_dtype(dtype).name} for RaggedTensor with dtype "
                         f"{made.dtype.name}: {made!r}")
    return made


def _join(ragged: RaggedTensor, parts: Sequence[Any]) -> RaggedTensor:
    *splits, made = parts
    for each in reversed(splits):
        made = RaggedTensor._of(made, each)
    return made  # type: ignore[no-any-return]


def _value(ragged: RaggedTensor, parts: Sequence[Any]) -> RaggedTensorValue:
    *splits, made = parts
    for each in reversed(splits):
        made = RaggedTensorValue(made, each)
    return made  # type: ignore[no-any-return]


def _refuse(value: Any, dtype: Any = None, name: str | None = None, as_ref: bool = False) -> Tensor:
    raise TypeError(f"Failed to convert {value!r} to Tensor: expected a dense tensor. Pad it by its method "
                    "to_tensor(), or take its flat_values")


def parts_of_value(value: Any) -> Sequence[Any]:
    """Return the parts of what is fed for a RaggedTensor. Raises TypeError if it is no value of one."""
    if not isinstance(value, RaggedTensorValue):
        raise TypeError(f"expected a tf.ragged.RaggedTensorValue to feed for a RaggedTensor, got {shown(value)}")
    return [*value.nested_row_splits, value.flat_values]


def _part_shapes(ragged: RaggedTensor, shape: TensorShape | None) -> list[TensorShape]:
    """Return the shapes of the parts in a loop: the number of rows stays, those of values may change."""
    splits = ragged.nested_row_splits
    inner = ragged.flat_values.shape
    return [splits[0].shape, *[TensorShape([None])] * (len(splits) - 1),
            TensorShape([None]).concatenate(inner[1:]) if inner.ndims is not None else inner]


register_tensor_conversion_function((RaggedTensor, RaggedTensorValue), _refuse)
nest.register_composite(RaggedTensor, lambda ragged: ragged.parts, _join, _part_shapes, _value, parts_of_value)
