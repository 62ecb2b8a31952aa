"""New tensors of given shapes: zeros, ones, fill, range, linspace, eye."""
from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from tfnb.core import dtypes
from tfnb.core.arguments import TENSORS, describe
from tfnb.core.shape import Static, TensorShape, is_known, merge, shape_str
from tfnb.graph.constant import make_constant
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.stack import name_scope
from tfnb.kernels.library.rows import diagonals, halves, vectors
from tfnb.kernels.sizes import count_of
from tfnb.kernels.view import View
from tfnb.opdef.ranks import AtLeast, Single
from tfnb.ops.array.reshape import shape as shape_tensor
from tfnb.ops.composite.sparse_tensor import SparseTensor
from tfnb.ops.declaration.declare import elementwise, kernel, movement
from tfnb.ops.declaration.dispatch import dispatched
from tfnb.ops.declaration.public import functions, named
from tfnb.ops.declaration.raw import raw
from tfnb.ops.declaration.shapes import named_by_first
from tfnb.ops.math.casting import cast
from tfnb.resources.lists import TensorList

if TYPE_CHECKING:
    from tfnb.graph.graph import ShapeContext

LONG = 4096                                   # elements: NumPy is as quick for fewer
SMALL = 1000                                  # a tensor with fewer elements is written into the graph as a constant


@movement("dims: index_type, value: T -> output: T", of=1, shape=named_by_first, ranks={"dims": 1, "value": Single()},
          T="type", index_type="indextype = DT_INT32")
def Fill(view: View, dims: np.ndarray) -> View:
    """Create a tensor of shape `dims` filled with `value`."""
    return view.reshape(()).broadcast(dims.tolist())


@Fill.gradient
def _(op: Operation, dy: Tensor) -> list[Tensor | None]:
    y = op.outputs[0]
    axes = list(range(len(y.static))) if y.static is not None else raw.Range(0, raw.Rank(y), 1)
    return [None, raw.Sum(dy, axes)]


def _empty(ctx: Any, shape: np.ndarray) -> np.ndarray:
    made: np.ndarray = np.zeros(shape, ctx.op.outputs[0].dtype.as_numpy_dtype)
    if made.dtype == object:
        made.fill(b"")
    return made


@kernel("shape: int32 -> output: dtype", shape=named_by_first, numpy=_empty, ranks={"shape": 1}, values=("shape",),
        stateful=True, dtype="type", init="bool = false")
def Empty() -> None:
    """Create a tensor of `shape`; its elements are 0, as with `init` in TensorFlow, where else they are arbitrary."""


Empty.no_gradient("it has no number to differentiate by")


def _of_numbers(ctx: ShapeContext) -> list[Static]:
    if ctx.attrs["T"] == dtypes.string:
        raise ValueError("ZerosLike is for numbers: use tf.fill for strings")
    return [ctx.shape(0)]


@elementwise("x: T -> y: T", shape=_of_numbers, of_lists=TensorList.zeros, T="type")
def ZerosLike(x):
    """Create zeros (False) in the shape of `x`."""
    return 0


@elementwise("x: T -> y: T", T="{bfloat16, half, float, double, int8, uint8, int16, uint16, int32, uint32, int64,"
                               " uint64, complex64, complex128, bool}")
def OnesLike(x):
    """Create ones in the shape of `x`."""
    return 1


@ZerosLike.gradient
@OnesLike.gradient
def _(op: Operation, dy: Tensor) -> None:
    return None


def _range_size(start: float, limit: float, delta: float) -> int:
    if delta == 0:
        raise ValueError("Requires delta != 0")
    if (limit - start) * delta < 0 and start != limit:
        relation = "<=" if delta > 0 else ">="
        raise ValueError(f"Requires start {relation} limit when delta {'>' if delta > 0 else '<'} 0: {start}, {limit}")
    if not any(isinstance(n, float) for n in (start, limit, delta)):
        return count_of(start, limit, delta)
    count = np.ceil(abs((limit - start) / delta))
    if not count < 1 << 63:                             # NaN too
        raise ValueError(f"Requires ((limit - start) / delta) <= 2**63 - 1: {start}, {limit}, {delta}")
    return int(count)


def _range_shape(ctx: ShapeContext) -> list[Static]:
    start, limit, delta = (ctx.value(i) for i in range(3))
    if start is None or limit is None or delta is None:
        return [(None,)]
    return [(_range_size(start.item(), limit.item(), delta.item()),)]


def _range(ctx: Any, start: np.ndarray, limit: np.ndarray, delta: np.ndarray) -> np.ndarray:
    count = _range_size(start.item(), limit.item(), delta.item())
    return _sequence(start.reshape(1), delta.reshape(1), count)


def _sequence(start: np.ndarray, delta: np.ndarray, count: int) -> np.ndarray:
    """Return start + i * delta for `count` values of i, in their dtype."""
    if count >= LONG and start.dtype == np.float16:
        return halves.sequence(start, delta, count)
    if count >= LONG:
        found = vectors.sequence(start, delta, count)
        if found is not None:
            return found
    return (start + np.arange(count, dtype=start.dtype) * delta).astype(start.dtype)


@kernel("start: Tidx, limit: Tidx, delta: Tidx -> output: Tidx", shape=_range_shape, numpy=_range,
        values=("start", "limit", "delta"), ranks={"start": Single(), "limit": Single(), "delta": Single()},
        Tidx="{bfloat16, half, float, double, int8, int16, int32, int64, uint16, uint32, uint64} = DT_INT32")
def Range() -> None:
    """Create the arithmetic sequence `start`, `start + delta`, ... before `limit`."""


Range.no_gradient("its length depends on its inputs")


def _linspace_shape(ctx: ShapeContext) -> list[Static]:
    count = ctx.value(2)
    if count is not None and int(count) <= 0:
        raise ValueError(f"Requires num > 0: {int(count)}")
    return [(None if count is None else int(count),)]


def _linspace(ctx: Any, start: np.ndarray, stop: np.ndarray, num: np.ndarray) -> np.ndarray:
    count = int(num)
    step = (stop - start) / start.dtype.type(max(count - 1, 1))
    out = _sequence(start.reshape(1), np.asarray(step, start.dtype).reshape(1), count)
    if count > 1:
        out[-1] = stop
    return out


@kernel("start: T, stop: T, num: Tidx -> output: T", shape=_linspace_shape, numpy=_linspace, values=("num",),
        ranks={"start": 0, "stop": 0, "num": 0},
        T="{bfloat16, half, float, double}", Tidx="indextype = DT_INT32")
def LinSpace() -> None:
    """Create `num` evenly spaced values from `start` to `stop`, both included."""


LinSpace.no_gradient("TensorFlow defines none")


# Diagonals

@kernel("diagonal: T -> output: T", T="{bfloat16, half, float, double, int32, int64, complex64, complex128}",
        shape=lambda ctx: [None if ctx.shape(0) is None else ctx.shape(0) * 2], ranks={"diagonal": AtLeast(1)},
        numpy=lambda ctx, x: np.diag(x.reshape(-1)).reshape(x.shape * 2))
def Diag() -> None:
    """Create a diagonal tensor of twice the rank of `diagonal`, with zeros elsewhere.

    >>> sess.run(tf.diag([1, 2]))
    array([[1, 0],
           [0, 2]], dtype=int32)
    """


def _diag_part_shape(ctx: ShapeContext) -> list[Static]:
    shape = ctx.shape(0)
    if shape is None:
        return [None]
    half = len(shape) // 2
    if len(shape) % 2:
        raise ValueError(f"Input must have even rank, but got shape {shape_str(shape)}")
    return [merge(shape[:half], shape[half:])]


@kernel("input: T -> diagonal: T", T="{bfloat16, half, float, double, int32, int64, complex64, complex128}",
        shape=_diag_part_shape, ranks={"input": AtLeast(1)}, numpy=lambda ctx, x: _diag_part(x))
def DiagPart() -> None:
    """Extract the diagonal of a tensor of even rank (the inverse of Diag).

    >>> sess.run(tf.diag_part([[1, 2], [3, 4]]))
    array([1, 4], dtype=int32)
    """


def _diag_part(x: np.ndarray) -> np.ndarray:
    half = x.shape[:x.ndim // 2]
    size = int(np.prod(half, dtype=int))
    return np.ascontiguousarray(np.diagonal(x.reshape(size, size))).reshape(half)


@Diag.gradient
def _(op: Operation, dy: Tensor) -> Tensor:
    return DiagPart(dy)


@DiagPart.gradient
def _(op: Operation, dy: Tensor) -> Tensor:
    return Diag(dy)


def _matrix_diag(ctx: Any, x: np.ndarray) -> np.ndarray:
    n = x.shape[-1]
    made = np.full((*x.shape[:-1], n * n), b"", x.dtype) if x.dtype == object else (
        np.zeros((*x.shape[:-1], n * n), x.dtype))                                       # x * eye: inf * 0 is NaN
    made[..., ::n + 1] = x
    return made.reshape(*x.shape, n)


@kernel("diagonal: T -> output: T", numpy=_matrix_diag, T="type", ranks={"diagonal": AtLeast(1)},
        launch=diagonals.made, halves="moved",
        shape=lambda ctx: [None if ctx.shape(0) is None else (*ctx.shape(0), ctx.shape(0)[-1])])
def MatrixDiag() -> None:
    """Create diagonal matrices from the vectors along the last axis."""


def _matrix_diag_part_shape(ctx: ShapeContext) -> list[Static]:
    shape = ctx.shape(0)
    if shape is None:
        return [None]
    rows, columns = shape[-2:]
    return [(*shape[:-2], None if rows is None or columns is None else min(rows, columns))]


@kernel("input: T -> diagonal: T", shape=_matrix_diag_part_shape, T="type", ranks={"input": AtLeast(2)},
        launch=diagonals.part, halves="moved",
        numpy=lambda ctx, x: np.ascontiguousarray(np.diagonal(x, axis1=-2, axis2=-1)))
def MatrixDiagPart() -> None:
    """Extract the diagonals of the matrices in the last two axes."""


@MatrixDiag.gradient
def _(op: Operation, dy: Tensor) -> Tensor:
    return MatrixDiagPart(dy)


@MatrixDiagPart.gradient
def _(op: Operation, dy: Tensor) -> Tensor:
    x = op.inputs[0]
    square = MatrixDiag(dy)
    if x.static is not None and x.static[-1] is not None and x.static[-1] == x.static[-2]:
        return square
    return _grown(square, raw.Sub(raw.Shape(x), raw.Shape(square)))


def _grown(x: Tensor, more: Any) -> Any:
    """`x` with zeros after it: `more[i]` along each axis i."""
    return raw.Pad(x, raw.Pack([raw.ZerosLike(more), more], axis=1))


# What users call

diag, diag_part = functions(Diag, DiagPart)


def _zero_of(dtype: dtypes.DType) -> Any:
    return "" if dtype == dtypes.string else False if dtype == dtypes.bool else 0


def _static_sizes(shape: Any) -> list[int] | None:
    """Return the sizes that a list or TensorShape says; None if some are tensors, or unknown."""
    try:
        static = TensorShape(shape).static
    except (TypeError, ValueError):
        return None
    return list(static) if is_known(static) else None


def _filled(shape: Any, value: Any, dtype: dtypes.DType, scope: str) -> Tensor:
    """Return a constant where the shape is known and small, else a Fill."""
    if not isinstance(shape, Tensor):
        sizes = _static_sizes(shape)
        if sizes is None:
            shape = convert_to_tensor(shape, dtype=dtypes.int32)
        elif prod(sizes) < SMALL:
            return make_constant(value, dtype=dtype, shape=sizes, name=scope)
        else:
            wide = dtypes.int64 if max(sizes) >= 2**31 else dtypes.int32
            shape = convert_to_tensor(sizes, dtype=wide, name="shape_as_tensor")
    if shape.static == ():
        shape = raw.Reshape(shape, [-1])
    return Fill(shape, make_constant(value, dtype=dtype), name=scope)


def zeros(shape: Any, dtype: Any = dtypes.float32, name: str | None = None) -> Tensor:
    """Return zeros (empty strings, False) of a shape: a list, a TensorShape or a vector tensor. dtype: any.

    >>> sess.run(tf.zeros([2, 3]))
    array([[0., 0., 0.],
           [0., 0., 0.]], dtype=float32)
    """
    kind = dtypes.as_dtype(dtype).base_dtype
    with name_scope(name, "zeros", [shape]) as scope:
        return _filled(shape, _zero_of(kind), kind, scope)


def ones(shape: Any, dtype: Any = dtypes.float32, name: str | None = None) -> Tensor:
    """Return ones of a shape: a list, a TensorShape or a vector tensor. dtype: of numbers, or bool.

    >>> sess.run(tf.ones([2, 2], tf.int32))
    array([[1, 1],
           [1, 1]], dtype=int32)
    """
    kind = dtypes.as_dtype(dtype).base_dtype
    with name_scope(name, "ones", [shape]) as scope:
        return _filled(shape, True if kind == dtypes.bool else 1, kind, scope)


@dispatched
def zeros_like(tensor: Any, dtype: Any = None, name: str | None = None, optimize: bool = True) -> Tensor:
    """Return zeros in the shape of `tensor`: a constant where the shape is known (unless not `optimize`).

    Of a SparseTensor, in the shape of its dense form.

    dtype: of the result, by default that of `tensor`.

    >>> sess.run(tf.zeros_like([[5, 6], [7, 8]]))
    array([[0, 0],
           [0, 0]], dtype=int32)
    """
    with name_scope(name, "zeros_like", [tensor]) as scope:
        if isinstance(tensor, SparseTensor):
            return zeros(shape_tensor(tensor), dtype=tensor.dtype if dtype is None else dtype, name=scope)
        x = convert_to_tensor(tensor, name="tensor")
        kind = x.dtype.base_dtype if dtype is None else dtypes.as_dtype(dtype).base_dtype
        if optimize and is_known(x.static) and kind != dtypes.variant:
            return zeros(x.shape, dtype=kind, name=scope)
        if kind != x.dtype.base_dtype or kind == dtypes.string:
            return zeros(shape_tensor(x), dtype=kind, name=scope)
        return ZerosLike(x, name=scope)


@dispatched
def ones_like(tensor: Any, dtype: Any = None, name: str | None = None, optimize: bool = True) -> Tensor:
    """Return ones in the shape of `tensor`. dtype: of the result, by default that of `tensor`.

    >>> sess.run(tf.ones_like([[5, 6], [7, 8]]))
    array([[1, 1],
           [1, 1]], dtype=int32)
    """
    with name_scope(name, "ones_like", [tensor]) as scope:
        x = convert_to_tensor(tensor, name="tensor")
        kind = x.dtype.base_dtype if dtype is None else dtypes.as_dtype(dtype).base_dtype
        if optimize and is_known(x.static):
            shape = convert_to_tensor(list(x.static or ()), dtype=dtypes.int32, name="Shape/shape_as_tensor")
        else:
            shape = raw.Shape(x)
        return Fill(shape, make_constant(True if kind == dtypes.bool else 1, dtype=kind), name=scope)


def fill(dims: Any, value: Any, name: str | None = None) -> Tensor:
    """Return a tensor of shape `dims` (a list or a vector tensor) filled with the scalar `value`, of its dtype.

    >>> sess.run(tf.fill([2, 3], 9))
    array([[9, 9, 9],
           [9, 9, 9]], dtype=int32)
    """
    return Fill(dims, value, name=name)


_ORDER = [dtypes.int32, dtypes.int64, dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64]


@named("range")
def range_(start: Any, limit: Any = None, delta: Any = 1, dtype: Any = None, name: str = "range") -> Tensor:
    """Return the arithmetic sequence `start`, `start + delta`, ... before `limit`; `range(n)` counts from 0.

    The dtype is the widest of the arguments', or `dtype`. Raises ValueError for a delta of 0.

    >>> sess.run(tf.range(4)), sess.run(tf.range(3, 18, 5))
    (array([0, 1, 2, 3], dtype=int32), array([ 3,  8, 13], dtype=int32))
    """
    if limit is None:
        start, limit = 0, start
    with name_scope(name, "Range", [start, limit, delta]) as scope:
        given = [x if isinstance(x, Tensor) else convert_to_tensor(x, dtype=dtype, name=what)
                 for x, what in ((start, "start"), (limit, "limit"), (delta, "delta"))]
        kind = dtypes.as_dtype(dtype) if dtype is not None else \
            max((x.dtype.base_dtype for x in given), key=_ORDER.index)
        return Range(*(cast(x, kind) for x in given), name=scope)


def linspace(start: Any, stop: Any, num: Any, name: str | None = None) -> Tensor:
    """Return `num` evenly spaced values from `start` to `stop`, both included.

    start, stop: floats of one dtype (else TypeError), which the result has.

    >>> sess.run(tf.linspace(0.0, 1.0, 5))
    array([0.  , 0.25, 0.5 , 0.75, 1.  ], dtype=float32)
    """
    return LinSpace(start, stop, num, name=name)


lin_space = linspace


def eye(num_rows: Any, num_columns: Any = None, batch_shape: Any = None, dtype: Any = dtypes.float32,
        name: str | None = None) -> Tensor:
    """Return the identity matrix, or with `batch_shape` a batch of them; zeros fill where it is not square.

    num_rows, num_columns: integers or integer scalars; batch_shape: a list of these, or an integer vector.

    >>> sess.run(tf.eye(2))
    array([[1., 0.],
           [0., 1.]], dtype=float32)
    """
    with name_scope(name, "eye", [num_rows, num_columns, batch_shape]) as scope:
        num_rows, lead = _size(num_rows), _sizes(batch_shape)
        columns = num_rows if num_columns is None else _size(num_columns)
        side = num_rows if columns is num_rows else raw.Minimum(num_rows, columns) \
            if isinstance(num_rows, Tensor) or isinstance(columns, Tensor) else min(num_rows, columns)
        diagonal = raw.ConcatV2([lead, [side]], 0) if isinstance(lead, Tensor) else [*lead, side]
        square = MatrixDiag(ones(diagonal, dtype=dtype), name=scope if columns is num_rows else "diag")
        if columns is num_rows:
            return square
        rest: Any = [[0, num_rows - side], [0, columns - side]]
        if isinstance(lead, Tensor):
            rest = raw.ConcatV2([zeros(raw.Pack([raw.Size(lead), 2]), dtypes.int32), rest], 0)
        else:
            rest = [[0, 0]] * len(lead) + rest
        return raw.Pad(square, rest, name=scope)


def _size(n: Any) -> Any:
    """Return an integer scalar as int32, an integer as it is."""
    return cast(n, dtypes.int32) if isinstance(n, Tensor) else int(n)


def _sizes(batch_shape: Any) -> Any:
    """Return a vector of sizes as an int32 tensor, or as a list of integers and int32 scalars."""
    if isinstance(batch_shape, Tensor):
        return cast(batch_shape, dtypes.int32)
    return [] if batch_shape is None else [_size(n) for n in batch_shape]


describe(globals(), TENSORS)
