"""Shape ops: the shape, size and rank of tensors, and reshape, transpose, expand_dims, squeeze, reverse...

Identity and its kin stand here too.
"""
from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from tfnb.core import dtypes, errors
from tfnb.core.arguments import TENSORS, describe
from tfnb.core.dtypes import DType
from tfnb.core.shape import Static, TensorShape, broadcast, is_known, merge, shape_str
from tfnb.graph.constant import make_constant
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.stack import name_scope
from tfnb.kernels.library.rows import vectors
from tfnb.kernels.view import View
from tfnb.ops.composite.sparse_tensor import SparseTensor, SparseTensorValue
from tfnb.ops.declaration import shapes
from tfnb.ops.declaration.arguments import renamed
from tfnb.ops.declaration.declare import kernel, movement, shapeof
from tfnb.ops.declaration.dispatch import dispatched
from tfnb.ops.declaration.public import functions
from tfnb.ops.declaration.raw import raw
from tfnb.ops.math.broadcast import shape_node
from tfnb.ops.math.casting import cast

if TYPE_CHECKING:
    from tfnb.graph.graph import ShapeContext

INDEX = "indextype = DT_INT32"


# Shapes as tensors

def _rank_vectors(ctx: ShapeContext) -> list[Static]:
    found = [ctx.shape(i) for i in range(len(ctx.op.inputs))]
    return [(None if shape is None else len(shape),) for shape in found]


@shapeof("input: T -> output: out_type", shape=_rank_vectors, T="type", out_type=INDEX)
def Shape(shape: Sequence[int], *, out_type: DType) -> np.ndarray:
    """Return the shape of a tensor, as a vector."""
    return np.array(shape, out_type.as_numpy_dtype)


@shapeof("input: N * T -> output: N * out_type", shape=_rank_vectors, N="int >= 1", T="type", out_type=INDEX)
def ShapeN(*shapes: Sequence[int], out_type: DType) -> tuple[np.ndarray, ...]:
    """Return the shape of each tensor, as vectors."""
    return tuple(np.array(shape, out_type.as_numpy_dtype) for shape in shapes)


@shapeof("input: T -> output: out_type", shape=shapes.scalar, T="type", out_type=INDEX)
def Size(shape: Sequence[int], *, out_type: DType) -> np.ndarray:
    """Return the number of elements of a tensor."""
    return np.array(prod(shape), out_type.as_numpy_dtype)


@shapeof("input: T -> output: int32", shape=shapes.scalar, T="type")
def Rank(shape: Sequence[int]) -> np.ndarray:
    """Return the rank (number of axes) of a tensor."""
    return np.array(len(shape), np.int32)


for _op in (Shape, ShapeN, Size, Rank):
    _op.no_gradient("a shape does not change with the numbers")


# Another shape

def reshaped(ctx: ShapeContext) -> list[Static]:
    """Infer the shape of Reshape; a single unknown size follows from the number of elements."""
    given, sizes = ctx.partial(1), ctx.shape(1)
    if sizes is not None and len(sizes) > 1:
        raise ValueError(f"sizes input must be 1-D, not {shape_str(sizes)}")
    if given is None:
        return [None]
    wanted = [None if n is None or n < 0 else n for n in given]
    source = ctx.shape(0)
    if not is_known(source):
        return [tuple(wanted)]
    size = prod(source)
    known = prod(n for n in wanted if n is not None)
    if None not in wanted:
        if size != known:
            raise ValueError(f"Cannot reshape a tensor with {size} elements to shape {wanted} ({known} elements)")
        return [tuple(wanted)]
    if wanted.count(None) > 1 or not known:
        return [tuple(wanted)]
    if size % known:
        raise ValueError(f"Dimension size must be evenly divisible by {known} but is {size}")
    return [tuple(size // known if n is None else n for n in wanted)]


@movement("tensor: T, shape: Tshape -> output: T", shape=reshaped, in_order=True, T="type", Tshape=INDEX)
def Reshape(view: View, shape: np.ndarray) -> View:
    """Reshape a tensor: its elements in row-major order under another shape; a size of -1 is inferred.

    >>> sess.run(tf.reshape([1, 2, 3, 4, 5, 6], [2, -1]))
    array([[1, 2, 3],
           [4, 5, 6]], dtype=int32)
    """
    return view.reshape(shape.reshape(-1).tolist())


def _back(op: Operation, dy: Tensor) -> Tensor:
    """`dy` in the shape of the input."""
    found: Tensor = Reshape(convert_to_tensor(dy), shape_node(op.inputs[0]))
    return found


@Reshape.gradient
def _(op: Operation, dy: Tensor) -> list[Tensor | None]:
    static = op.inputs[0].static
    if static is not None and static.count(None) == 1 and 0 not in static:
        return [Reshape(dy, [-1 if n is None else n for n in static]), None]
    return [_back(op, dy), None]


def _one_axis(value: Any, low: int, high: int, what: str = "dim") -> int:
    if value.size != 1:
        raise ValueError(f"Expected one number as {what}, but got {value.tolist()}")
    axis = int(value.item())
    if not low <= axis <= high:
        raise ValueError(f"{what} {axis} not in the interval [{low}, {high}].")
    return axis


def _expanded(ctx: ShapeContext) -> list[Static]:
    shape, value = ctx.shape(0), ctx.value(1)
    if shape is None:
        return [None]
    if value is None:
        return [(None,) * (len(shape) + 1)]
    axis = _one_axis(value, -len(shape) - 1, len(shape)) % (len(shape) + 1)
    return [(*shape[:axis], 1, *shape[axis:])]


@movement("input: T, dim: Tdim -> output: T", shape=_expanded, in_order=True, T="type", Tdim=INDEX)
def ExpandDims(view: View, dim: np.ndarray) -> View:
    """Insert an axis of size 1 before axis `dim` (negative: counted from the end)."""
    rank = len(view.shape)
    return view.insert(_one_axis(dim, -rank - 1, rank) % (rank + 1))


@ExpandDims.gradient
def _(op: Operation, dy: Tensor) -> list[Tensor | None]:
    return [_back(op, dy), None]


def _squeezed_axes(shape: Sequence[int | None], dims: Sequence[int]) -> list[int]:
    for dim in dims:
        if not -len(shape) <= dim < len(shape):
            raise ValueError(f"squeeze_dims[0] not in [{-len(shape)},{len(shape)}).")
    axes = [dim % len(shape) for dim in dims] or [i for i, n in enumerate(shape) if n == 1]
    for axis in axes:
        if shape[axis] not in (1, None):
            raise ValueError(f"Can not squeeze dim[{axis}], expected a dimension of 1, got {shape[axis]}")
    return sorted(set(axes))


def _squeezed(ctx: ShapeContext) -> list[Static]:
    shape, dims = ctx.shape(0), ctx.attrs["squeeze_dims"]
    if shape is None or (not dims and None in shape):
        return [None]
    gone = _squeezed_axes(shape, dims)
    return [tuple(n for i, n in enumerate(shape) if i not in gone)]


@movement("input: T -> output: T", shape=_squeezed, in_order=True, T="type", squeeze_dims="list(int) >= 0 = []")
def Squeeze(view: View, *, squeeze_dims: Sequence[int]) -> View:
    """Remove the axes `squeeze_dims` of size 1 (all axes of size 1, if none are named)."""
    for axis in reversed(_squeezed_axes(view.shape, squeeze_dims)):
        view = view.drop(axis)
    return view


@Squeeze.gradient
def _(op: Operation, dy: Tensor) -> Tensor:
    return _back(op, dy)


def _permuted(ctx: ShapeContext) -> list[Static]:
    shape, perm = ctx.shape(0), ctx.value(1)
    count = ctx.shape(1)
    if shape is not None and count is not None and count[0] is not None and count[0] != len(shape):
        raise ValueError(f"Dimension must be {len(shape)} but is {count[0]}")
    if perm is None or shape is None:
        known = len(shape) if shape is not None else count[0] if count is not None else None
        return [None if known is None else (None,) * known]
    return [tuple(shape[axis] for axis in _permutation(perm))]


def _permutation(perm: Any) -> list[int]:
    axes = [int(axis) for axis in np.asarray(perm).reshape(-1)]
    rank = len(axes)
    normal = [axis + rank if axis < 0 else axis for axis in axes]
    if sorted(normal) != list(range(rank)):
        raise ValueError(f"perm {axes} is not a permutation of the axes 0 to {rank - 1}")
    return normal


@movement("x: T, perm: Tperm -> y: T", shape=_permuted, ranks={"perm": 1}, T="type", Tperm=INDEX)
def Transpose(view: View, perm: np.ndarray) -> View:
    """Permute the axes: axis i of the result is axis `perm[i]` of `x`."""
    return view.transpose(_permutation(perm))


@kernel("x: T, perm: Tperm -> y: T", shape=_permuted, ranks={"perm": 1}, values=("perm",), T="type", Tperm=INDEX,
        numpy=lambda ctx, x, perm: np.ascontiguousarray(np.conj(np.transpose(x, _permutation(perm)))))
def ConjugateTranspose() -> None:
    """Permute the axes as Transpose and conjugate the elements."""


@Transpose.gradient
def _(op: Operation, dy: Tensor) -> list[Tensor | None]:
    return [transpose(dy, InvertPermutation(op.inputs[1])), None]


@ConjugateTranspose.gradient
def _(op: Operation, dy: Tensor) -> list[Tensor | None]:
    return [ConjugateTranspose(dy, InvertPermutation(op.inputs[1])), None]


def _inverse(ctx: Any, x: np.ndarray) -> np.ndarray:
    found = vectors.inverse(x)
    if found is not None:
        return found
    inverse = np.full(len(x), -1, x.dtype)
    if len(x) and 0 <= x.min() <= x.max() < len(x):
        inverse[x] = np.arange(len(x), dtype=x.dtype)
        if inverse.min() >= 0:                     # as many places as numbers
            return inverse
        inverse[:] = -1
    for i, place in enumerate(x.tolist()):
        if not 0 <= place < len(x):
            raise errors.InvalidArgumentError(None, ctx.op, f"{place} is not between 0 and {len(x)}")
        if inverse[place] != -1:
            raise errors.InvalidArgumentError(None, ctx.op, f"{place} is duplicated in the input.")
        inverse[place] = i
    return inverse


@kernel("x: T -> y: T", shape=shapes.like_first, numpy=_inverse, ranks={"x": 1}, values=("x",), T=INDEX)
def InvertPermutation() -> None:
    """Compute the inverse permutation of `x`: `y[x[i]] == i`.

    >>> sess.run(tf.invert_permutation([2, 0, 1]))
    array([1, 2, 0], dtype=int32)
    """


InvertPermutation.no_gradient("it is made of indices")


_REVERSIBLE = ("{uint8, int8, uint16, int16, int32, uint32, int64, uint64, bool, bfloat16, half, float, double,"
               " complex64, complex128, string}")
MOST_REVERSED = 8                      # axes of a tensor that Reverse takes in TensorFlow


def _reversed_axes(axes: Any, rank: int) -> list[int]:
    found = [int(axis) for axis in np.asarray(axes).reshape(-1)]
    for axis in found:
        if not -rank <= axis < rank:
            raise ValueError(f"axis {axis} is out of the valid range [{-rank}, {rank - 1}]")
    normal = [axis % rank for axis in found]
    if len(set(normal)) < len(normal):
        raise ValueError(f"an axis is specified more than once in {found}")
    return normal


def _reversed(ctx: ShapeContext) -> list[Static]:
    shape, axes = ctx.shape(0), ctx.value(1)
    if shape is not None and axes is not None:
        _reversed_axes(axes, len(shape))
    return [shape]


@movement("tensor: T, axis: Tidx -> output: T", shape=_reversed, ranks={"axis": 1}, Tidx=INDEX,
          T=_REVERSIBLE)
def ReverseV2(view: View, axis: np.ndarray) -> View:
    """Reverse the order of the elements along the named axes."""
    return _turned(view, _reversed_axes(axis, len(view.shape)))


def _turned(view: View, axes: Iterable[int]) -> View:
    for axis in axes:
        view = view.slice(axis, view.shape[axis] - 1, view.shape[axis], -1)
    return view


@ReverseV2.gradient
def _(op: Operation, dy: Tensor) -> list[Tensor | None]:
    return [ReverseV2(dy, op.inputs[1]), None]


def _reversed_by_flags(ctx: ShapeContext) -> list[Static]:
    (count,) = shapes.of_rank(ctx.shape(1), 1)
    found = ctx.shape(0) if count is None else shapes.of_rank(ctx.shape(0), count)
    if found is not None and len(found) > MOST_REVERSED:
        raise ValueError(f"reverse does not work on tensors with more than 8 dimensions, got {len(found)}")
    return [found]


@movement("tensor: T, dims: bool -> output: T", shape=_reversed_by_flags, T=_REVERSIBLE)
def Reverse(view: View, dims: np.ndarray) -> View:
    """Reverse the order of the elements along the axes for which `dims` is True (the older op).

    >>> sess.run(tf.raw_ops.Reverse(tensor=[[1.0, 2.0], [3.0, 4.0]], dims=[False, True]))
    array([[2., 1.],
           [4., 3.]], dtype=float32)
    """
    return _turned(view, np.flatnonzero(dims).tolist())


@Reverse.gradient
def _(op: Operation, dy: Tensor) -> list[Tensor | None]:
    return [Reverse(dy, op.inputs[1]), None]


# The same tensor

@movement("input: T -> output: T", shape=shapes.like_first, in_order=True, same=True, T="type")
def Identity(view: View) -> View:
    """Return `input` itself."""
    return view


@movement("input: Ref(T) -> output: Ref(T)", shape=shapes.like_first, in_order=True, same=True, T="type")
def RefIdentity(view: View) -> View:
    """Return the reference `input` itself."""
    return view


@Identity.gradient
@RefIdentity.gradient
def _(op: Operation, dy: Tensor) -> Tensor:
    return dy


@movement("input: T -> output: T", shape=shapes.like_first, in_order=True, same=True, T="type")
def StopGradient(view: View) -> View:
    """Return `input` itself, as a constant for gradients."""
    return view


StopGradient.no_gradient("that is what it is for")


@movement("input: T -> output: T", shape=shapes.like_first, in_order=True, same=True, T="type",
          message="string = ''")
def PreventGradient(view: View) -> View:
    """Return `input` itself; asking for its gradient is an error."""
    return view


@PreventGradient.gradient
def _(op: Operation, dy: Tensor) -> Tensor:
    raise LookupError(f"Gradient explicitly disabled. Reason: {op.attrs['message'].decode()}")


def _all_shapes(ctx: ShapeContext) -> list[Static]:
    return [ctx.shape(i) for i in range(len(ctx.op.inputs))]


@kernel("input: T -> output: T", shape=_all_shapes, numpy=lambda ctx, *arrays: arrays, T="list(type) >= 1")
def IdentityN() -> None:
    """Return the tensors of the list `input` themselves.

    >>> sess.run(tf.identity_n([tf.constant(1), tf.constant("a")]))
    [1, b'a']
    """


@IdentityN.gradient
def _(op: Operation, *dys: Tensor) -> list[Tensor]:
    return list(dys)


def _ensured(ctx: ShapeContext) -> list[Static]:
    return [merge(ctx.shape(0), ctx.attrs["shape"])]


def _ensure(ctx: Any, x: np.ndarray) -> np.ndarray:
    wanted = ctx.attrs["shape"]
    if wanted is not None and (x.ndim != len(wanted) or any(n not in (None, m) for n, m in
                                                           zip(wanted, x.shape, strict=True))):
        raise errors.InvalidArgumentError(None, ctx.op, f"{ctx.op.name}: the shape {list(x.shape)} is not "
                                                        f"compatible with the expected {TensorShape(wanted)}")
    return x


@kernel("input: T -> output: T", shape=_ensured, numpy=_ensure, shape_="shape", T="type")
def EnsureShape() -> None:
    """Return `input` itself, if its shape is compatible with the given one."""


@EnsureShape.gradient
def _(op: Operation, dy: Tensor) -> Tensor:
    return dy


# What users call

def shape(input: Any, name: str | None = None, out_type: Any = dtypes.int32) -> Tensor:
    """Return the shape of a tensor or SparseTensor, a vector of int32 or `out_type` (int64): a constant where known.

    >>> x = tf.placeholder(tf.float32, [None, 3])
    >>> sess.run(tf.shape(x), {x: np.zeros([5, 3])})
    array([5, 3], dtype=int32)
    """
    with name_scope(name, "Shape", [input]) as scope:
        if isinstance(input, (SparseTensor, SparseTensorValue)):
            return cast(input.dense_shape, out_type)
        x = convert_to_tensor(input)
        if x.static is not None and is_known(x.static):
            return make_constant(list(x.static), dtype=out_type, shape=(len(x.static),), name=scope)
        return Shape(x, out_type=out_type, name=scope)


def shape_n(input: Sequence[Any], out_type: Any = dtypes.int32, name: str | None = None) -> list[Tensor]:
    """Return the shape of each tensor, as vectors.

    >>> sess.run(tf.shape_n([[1, 2, 3], [[1], [2]]]))
    [array([3], dtype=int32), array([2, 1], dtype=int32)]
    """
    return ShapeN(input, out_type=out_type, name=name)


@dispatched
def size(input: Any, name: str | None = None, out_type: Any = dtypes.int32) -> Tensor:
    """Return the number of elements of a tensor, an int32 or `out_type` (int64) scalar: a constant where it is known.

    Of a SparseTensor, as many as its dense form has.

    >>> sess.run(tf.size([[1, 2, 3], [4, 5, 6]]))
    6
    """
    with name_scope(name, "Size", [input]) as scope:
        if isinstance(input, (SparseTensor, SparseTensorValue)):
            return raw.Prod(cast(input.dense_shape, out_type), 0, name=scope)
        x = convert_to_tensor(input)
        if is_known(x.static):
            return make_constant(prod(x.static), dtype=out_type, name=scope)
        return Size(x, out_type=out_type, name=scope)


@dispatched
def rank(input: Any, name: str | None = None) -> Tensor:
    """Return the rank (number of axes) of a tensor or SparseTensor: a constant where it is known.

    >>> sess.run(tf.rank([[1, 2], [3, 4]]))
    2
    """
    with name_scope(name, "Rank", [input]) as scope:
        if isinstance(input, (SparseTensor, SparseTensorValue)):
            return size(input.dense_shape, name=scope)
        x = convert_to_tensor(input)
        if x.static is not None:
            return make_constant(len(x.static), dtype=dtypes.int32, name=scope)
        return Rank(x, name=scope)


reshape, identity_n, invert_permutation = functions(Reshape, IdentityN, InvertPermutation)


@dispatched
def identity(input: Any, name: str | None = None) -> Any:
    """Return a tensor of the same value; of a SparseTensor, of the same parts.

    >>> sess.run(tf.identity([1, 2]))
    array([1, 2], dtype=int32)
    """
    return _parts_too(Identity, input, name)


@dispatched
def stop_gradient(input: Any, name: str | None = None) -> Any:
    """Return the same value (of a SparseTensor, the same parts), as a constant for gradients.

    >>> x = tf.constant(3.0)
    >>> sess.run(tf.gradients(x * tf.stop_gradient(x), [x]))
    [3.0]
    """
    return _parts_too(StopGradient, input, name)


def _parts_too(op: Any, input: Any, name: str | None) -> Any:
    if isinstance(input, SparseTensor):
        return SparseTensor(*(op(part, name=name) for part in input.parts))
    return op(input, name=name)


def ensure_shape(x: Any, shape: Any, name: str | None = None) -> Tensor:
    """Return `x` itself; running it raises InvalidArgumentError where its shape is not `shape` (None: any size).

    >>> x = tf.placeholder(tf.float32)
    >>> y = tf.ensure_shape(x, [None, 2])
    >>> sess.run(y, {x: [[1.0, 2.0]]})
    array([[1., 2.]], dtype=float32)
    >>> sess.run(y, {x: [1.0, 2.0, 3.0]})
    Traceback (most recent call last):
        ...
    InvalidArgumentError: Shapes (3,) and (?, 2) are not compatible (op 'EnsureShape' of type ...
    """
    return EnsureShape(x, shape=TensorShape(shape), name=name)


@dispatched
def expand_dims(input: Any, axis: Any = None, name: str | None = None, dim: Any = None) -> Tensor:
    """Insert an axis of size 1 before axis `axis` (negative: counted from the end) of `input`.

    Raises ValueError for an axis out of range.

    >>> x = tf.zeros([2, 3])
    >>> tf.expand_dims(x, 0).shape.as_list(), tf.expand_dims(x, -1).shape.as_list()
    ([1, 2, 3], [2, 3, 1])
    """
    axis = renamed("axis", axis, "dim", dim)
    if axis is None:
        raise ValueError("Must specify an axis argument to tf.expand_dims()")
    return ExpandDims(input, axis, name=name)


@dispatched
def squeeze(input: Any, axis: Any = None, name: str | None = None, squeeze_dims: Any = None) -> Tensor:
    """Remove from `input` its axes of size 1, or those that `axis` names.

    Raises ValueError if one of these has another size.

    >>> x = tf.zeros([1, 3, 1])
    >>> tf.squeeze(x).shape.as_list(), tf.squeeze(x, [0]).shape.as_list()
    ([3], [3, 1])
    """
    axis = renamed("axis", axis, "squeeze_dims", squeeze_dims)
    if axis is not None and np.ndim(axis) == 0:
        axis = [axis]
    return Squeeze(input, squeeze_dims=axis, name=name)


def transpose(a: Any, perm: Any = None, name: str = "transpose", conjugate: bool = False) -> Tensor:
    """Permute the axes of `a` into the order `perm`, by default reversed.

    conjugate: of complex numbers the conjugates, too. Raises ValueError if `perm` does not name each axis once.

    >>> sess.run(tf.transpose([[1, 2, 3], [4, 5, 6]]))
    array([[1, 4],
           [2, 5],
           [3, 6]], dtype=int32)
    """
    with name_scope(name, "transpose", [a]) as scope:
        a = convert_to_tensor(a, name="a")
        constructor = ConjugateTranspose if conjugate and a.dtype.is_complex else Transpose
        if perm is None and a.static is not None:
            perm = np.arange(len(a.static) - 1, -1, -1, dtype=np.int32)
        elif perm is None:
            perm = raw.Range(Rank(a) - 1, -1, -1)
        return constructor(a, perm, name=scope)


def matrix_transpose(a: Any, name: str = "matrix_transpose", conjugate: bool = False) -> Tensor:
    """Transpose the last two axes of `a`. Raises ValueError for fewer than two axes.

    >>> sess.run(tf.matrix_transpose([[[1, 2, 3], [4, 5, 6]]])).shape
    (1, 3, 2)
    """
    with name_scope(name, "matrix_transpose", [a]) as scope:
        a = convert_to_tensor(a, name="a")
        if a.static is None:
            count = Rank(a)
            perm: Any = raw.ConcatV2([raw.Range(0, count - 2, 1), raw.Pack([count - 1, count - 2])], 0)
        else:
            if len(a.static) < 2:
                raise ValueError(f"Argument `a` should be a (batch) matrix with at least 2 axes. Received shape "
                                 f"{a.shape}.")
            perm = [*range(len(a.static) - 2), len(a.static) - 1, len(a.static) - 2]
        return transpose(a, perm, name=scope, conjugate=conjugate)


@dispatched
def reverse(tensor: Any, axis: Any = None, name: str | None = None, dims: Any = None) -> Tensor:
    """Reverse `tensor` along the axes `axis`, or, as in r0.x, along those where a list of bools is True.

    >>> sess.run(tf.reverse([[1, 2, 3], [4, 5, 6]], axis=[1]))
    array([[3, 2, 1],
           [6, 5, 4]], dtype=int32)
    """
    axis = renamed("axis", axis, "dims", dims)
    if isinstance(axis, (list, tuple)) and axis and all(isinstance(flag, (bool, np.bool_)) for flag in axis):
        axis = np.array([i for i, flag in enumerate(axis) if flag], np.int32)
    return ReverseV2(tensor, axis, name=name)


reverse_v2 = reverse


def broadcast_static_shape(shape_x: Any, shape_y: Any) -> TensorShape:
    """Return the TensorShape that two shapes broadcast to. Raises ValueError if they are incompatible.

    >>> tf.broadcast_static_shape(tf.TensorShape([2, 1]), tf.TensorShape([1, 3])).as_list()
    [2, 3]
    """
    return TensorShape.of(broadcast(TensorShape(shape_x).static, TensorShape(shape_y).static))


def broadcast_dynamic_shape(shape_x: Any, shape_y: Any) -> Tensor:
    """Return the shape vector that two shape vectors broadcast to.

    >>> sess.run(tf.broadcast_dynamic_shape(tf.constant([2, 1]), tf.constant([3])))
    array([2, 3], dtype=int32)
    """
    return raw.BroadcastArgs(shape_x, shape_y)


describe(globals(), TENSORS)
