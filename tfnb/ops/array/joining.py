"""Concatenation, stacking, tiling, padding and broadcasting of tensors; and their inverses."""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tfnb.core import dtypes
from tfnb.core.arguments import TENSORS, describe
from tfnb.core.shape import Static, broadcast, compatible, is_known, merge, shape_str
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.constant_value import constant_value
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.stack import name_scope
from tfnb.kernels.library import joining as kernels
from tfnb.kernels.view import NeedsCopy, View
from tfnb.ops.array.reshape import identity
from tfnb.ops.array.slicing import Slice
from tfnb.ops.declaration.declare import kernel, movement
from tfnb.ops.declaration.dispatch import dispatched
from tfnb.ops.declaration.public import functions
from tfnb.ops.declaration.raw import raw
from tfnb.ops.math.broadcast import shape_node, shape_of

if TYPE_CHECKING:
    from tfnb.graph.graph import ShapeContext


# Concat

def _axis_of(value: Any, rank: int) -> int:
    axis = int(value.item())
    if not -rank <= axis < rank:
        raise ValueError(f"Expected concatenating dimensions in the range [{-rank}, {rank}), but got {axis}")
    return axis % rank


def concat_shape(ctx: ShapeContext, tensors: Sequence[int], axis: int) -> list[Static]:
    """Return the shape of the inputs `tensors` concatenated along what input `axis` says. Raises ValueError for other
    shapes."""
    known = [shape for shape in map(ctx.shape, tensors) if shape is not None]
    if not known:
        return [None]
    rank, value = len(known[0]), ctx.value(axis)
    for i, shape in enumerate(known):
        if len(shape) != rank:
            raise ValueError(f"Shape must be rank {rank} but is rank {len(shape)}: ranks of all input tensors should "
                             f"match: shape[0] = {shape_str(known[0])} vs. shape[{i}] = {shape_str(shape)}")
    if not rank:
        raise ValueError("Can't concatenate scalars (use tf.stack instead)")
    if value is None:
        return [(None,) * rank]
    place = _axis_of(value, rank)
    rest: Static = (None,) * (rank - 1)
    for i, shape in enumerate(known):
        other = shape[:place] + shape[place + 1:]
        if not compatible(rest, other):
            raise ValueError(f"ConcatOp : Dimensions of inputs should match: shape[0] = {shape_str(known[0])} vs. "
                             f"shape[{i}] = {shape_str(shape)}")
        rest = merge(rest, other)
    sizes = [shape[place] for shape in known]
    total = None if None in sizes or len(known) < len(tensors) else sum(sizes)         # type: ignore[arg-type]
    assert rest is not None
    return [(*rest[:place], total, *rest[place:])]


def _join(ctx: Any, arrays: Sequence[np.ndarray], axis: np.ndarray) -> np.ndarray:
    return np.concatenate(arrays, int(axis))


@kernel("values: N * T, axis: Tidx -> output: T", N="int >= 2", T="type", Tidx="indextype = DT_INT32",
        ranks={"axis": 0}, shape=lambda ctx: concat_shape(ctx, range(len(ctx.op.inputs) - 1), len(ctx.op.inputs) - 1),
        numpy=lambda ctx, *given: _join(ctx, given[:-1], given[-1]), launch=kernels.concat, values=("axis",),
        joins=kernels.concat_parts, in_part=lambda op, *given: _join(op, given[:-1], given[-1]), halves="moved")
def ConcatV2() -> None:
    """Concatenate tensors along `axis`."""


@kernel("concat_dim: int32, values: N * T -> output: T", N="int >= 2", T="type", ranks={"concat_dim": 0},
        shape=lambda ctx: concat_shape(ctx, range(1, len(ctx.op.inputs)), 0),
        numpy=lambda ctx, *given: _join(ctx, given[1:], given[0]), launch=kernels.concat,
        joins=kernels.concat_parts, values=("concat_dim",),
        in_part=lambda op, *given: _join(op, given[1:], given[0]), halves="moved")
def Concat() -> None:
    """Concatenate tensors along `concat_dim` (the older op)."""


@ConcatV2.gradient
def _(op: Operation, dz: Tensor) -> list[Tensor | None]:
    return [*_concat_gradient(dz, op.inputs[:-1], op.inputs[-1]), None]


@Concat.gradient
def _(op: Operation, dz: Tensor) -> list[Tensor | None]:
    return [None, *_concat_gradient(dz, op.inputs[1:], op.inputs[0])]


def _concat_gradient(dz: Tensor, values: Sequence[Tensor], axis: Tensor) -> list[Tensor]:
    """Return each input's part of the gradient: a Slice."""
    if len(values) == 1:
        return [dz]
    first = values[0].static
    rank = raw.Rank(values[0]) if first is None else convert_to_tensor(len(first), dtype=dtypes.int32, name="Rank")
    place = axis % rank
    sizes = []
    for value in values:
        sizes.append(shape_node(value))
        if not is_known(value.static):
            sizes = raw.ShapeN(values)
            break
    return [Slice(dz, begin, size) for begin, size in zip(ConcatOffset(place, sizes), sizes, strict=True)]


def _same_rank(ctx: ShapeContext) -> list[Static]:
    rank: Static = None
    for i in range(1, len(ctx.op.inputs)):
        rank = merge(rank, ctx.shape(i))
    axis = ctx.value(0)
    if axis is not None and rank is not None and rank[0] is not None:
        _axis_of(axis, rank[0])
    return [rank] * (len(ctx.op.inputs) - 1)


def _mergeable(ctx: Any) -> None:
    """But for the axis the sizes are the same."""
    place, first = int(ctx.value(0)) % ctx.shape(1)[0], ctx.value(1).tolist()
    for i in range(2, len(ctx.op.inputs)):
        sizes = ctx.value(i).tolist()
        if sizes[:place] + sizes[place + 1:] != first[:place] + first[place + 1:]:
            raise ValueError(f"All dimensions except {place} must match. Input {i - 1} has shape {sizes} and doesn't "
                             f"match input 0 with shape {first}.")


def _offsets(ctx: Any, concat_dim: np.ndarray, *shapes: np.ndarray) -> tuple[np.ndarray, ...]:
    place, start = int(concat_dim) % len(shapes[0]), 0
    found = []
    for shape in shapes:
        offset = np.zeros_like(shape)
        offset[place] = start
        start += int(shape[place])
        found.append(offset)
    return tuple(found)


@kernel("concat_dim: int32, shape: N * shape_type -> offset: N * shape_type", N="int >= 2",
        shape_type="indextype = DT_INT32", numpy=_offsets, values=("concat_dim", "shape"), shape=_same_rank,
        ranks={"concat_dim": 0, "shape": 1}, validate=_mergeable)
def ConcatOffset() -> None:
    """Compute the offset of each of the tensors with these shapes in their Concat."""


ConcatOffset.no_gradient("it is made of indices")


# Pack and Unpack

def _pack_axis(axis: int, rank: int) -> int:
    if not -rank <= axis < rank:
        raise ValueError(f"Invalid axis: {axis}; must be in [{-rank}, {rank})")
    return axis % rank


def _packed(ctx: ShapeContext) -> list[Static]:
    shape: Static = None
    for i in range(len(ctx.op.inputs)):
        other = ctx.shape(i)
        if shape is not None and other is not None and len(shape) != len(other):
            raise ValueError(f"Shapes must be equal rank, but are {len(shape)} and {len(other)}: from merging shape "
                             f"{i} with other shapes.")
        if not compatible(shape, other):
            raise ValueError(f"Shapes of all inputs must match: {shape_str(shape)} != values[{i}].shape = "
                             f"{shape_str(other)}")
        shape = merge(shape, other)
    if shape is None:
        return [None]
    axis = _pack_axis(ctx.attrs["axis"], len(shape) + 1)
    return [(*shape[:axis], len(ctx.op.inputs), *shape[axis:])]


def _packed_in_part(op: Operation, *parts: np.ndarray | None) -> np.ndarray:
    """Stack what is known of the inputs, which have one shape: that of a scalar if none is known."""
    unknown = next((np.full(part.shape, None) for part in parts if part is not None), np.array(None))
    return np.stack([unknown if part is None else part for part in parts], op.attrs["axis"])


@kernel("values: N * T -> output: T", shape=_packed, launch=kernels.pack, joins=kernels.pack_parts,
        numpy=lambda ctx, *arrays: np.stack(arrays, ctx.attrs["axis"]), in_part=_packed_in_part, N="int >= 1",
        T="type", axis="int = 0", halves="moved")
def Pack() -> None:
    """Stack tensors of one shape along a new axis."""


@Pack.gradient
def _(op: Operation, dz: Tensor) -> list[Tensor]:
    return unstack(dz, num=len(op.inputs), axis=op.attrs["axis"])


def _unpacked(ctx: ShapeContext) -> list[Static]:
    shape, count = ctx.shape(0), ctx.attrs["num"]
    if shape is None:
        return [None] * count
    axis = _pack_axis(ctx.attrs["axis"], len(shape))
    if shape[axis] not in (None, count):
        raise ValueError(f"Dimension must be {count} but is {shape[axis]}")
    return [shape[:axis] + shape[axis + 1:]] * count


@movement("value: T -> output: num * T", shape=_unpacked, num="int >= 0", T="type", axis="int = 0")
def Unpack(view: View, *, num: int, axis: int) -> tuple[View, ...]:
    """Unstack a tensor into its slices along an axis, which is dropped."""
    axis = _pack_axis(axis, len(view.shape))
    if view.shape[axis] != num:
        raise ValueError(f"Input shape axis {axis} must equal {num}, got shape {list(view.shape)}")
    return tuple(view.slice(axis, i, 1).drop(axis) for i in range(num))


@Unpack.gradient
def _(op: Operation, *dys: Tensor) -> Tensor:
    return Pack(list(dys), axis=op.attrs["axis"], name="stack")


# Tile and BroadcastTo

def _tiled(ctx: ShapeContext) -> list[Static]:
    shape, times, count = ctx.shape(0), ctx.value(1), ctx.shape(1)
    if shape is not None and count is not None and count[0] not in (None, len(shape)):
        raise ValueError(f"Shape must be rank {len(shape)} but is rank {count[0]}: multiples must have one number for "
                         "each axis of the input")
    if times is not None and (times < 0).any():
        raise ValueError(f"Expected multiples >= 0, but got {times.tolist()}")
    if times is not None:
        sizes: Sequence[int | None] = times.tolist()
    else:
        sizes = ctx.partial(1) or (None,) * (0 if count is None else count[0] or 0)
    if shape is None:
        return [(None,) * len(sizes) if sizes or count == (0,) else None]
    sizes = sizes or (None,) * len(shape)
    return [tuple(None if n is None or m is None else n * m for n, m in zip(shape, sizes, strict=True))]


def _tile_view(view: View, multiples: np.ndarray) -> View:
    times = multiples.tolist()
    if any(m != 1 and n != 1 for m, n in zip(times, view.shape, strict=True)):
        raise NeedsCopy
    return view.broadcast([m * n for m, n in zip(times, view.shape, strict=True)])


@kernel("input: T, multiples: Tmultiples -> output: T", shape=_tiled, launch=kernels.tile,
        numpy=lambda ctx, x, multiples: np.tile(x, multiples.tolist()), view=_tile_view, ranks={"multiples": 1},
        values=("multiples",), T="type", Tmultiples="indextype = DT_INT32", halves="moved")
def Tile() -> None:
    """Repeat a tensor `multiples[i]` times along each axis i.

    >>> sess.run(tf.tile([[1, 2]], [2, 3]))
    array([[1, 2, 1, 2, 1, 2],
           [1, 2, 1, 2, 1, 2]], dtype=int32)
    """


@Tile.gradient
def _(op: Operation, dy: Tensor) -> list[Tensor | None]:
    x, times = op.inputs[0], constant_value(op.inputs[1])
    if times is not None and is_known(x.static):
        split = [int(n) for pair in zip(times, x.static, strict=True) for n in pair]
        return [raw.Sum(raw.Reshape(dy, split), list(range(0, len(split), 2))), None]
    shape = raw.Shape(x, out_type=op.inputs[1].dtype)
    pairs = raw.Reshape(Pack([op.inputs[1], shape], axis=1), [-1])
    axes = raw.Range(0, raw.Size(pairs), 2)
    return [raw.Reshape(raw.Sum(raw.Reshape(dy, pairs), axes), shape), None]


def _broadcast_shape(ctx: ShapeContext) -> list[Static]:
    wanted = ctx.partial(1)
    if wanted is None:
        return [None]
    if ctx.concrete and None in wanted:
        raise ValueError(f"expected sizes that are not negative, got {np.ravel(np.asarray(ctx.value(1))).tolist()}")
    shape = ctx.shape(0)
    if shape is not None and len(shape) > len(wanted):
        raise ValueError(f"Shape must be at least rank {len(shape)} but is rank {len(wanted)}")
    fits = broadcast(shape, tuple(wanted)) if shape is not None else tuple(wanted)
    if is_known(tuple(wanted)) and fits != tuple(wanted) and is_known(shape):
        raise ValueError(f"Shape {shape_str(shape)} can't be broadcast to {shape_str(tuple(wanted))}")
    return [tuple(wanted)]


@movement("input: T, shape: Tidx -> output: T", shape=_broadcast_shape, ranks={"shape": 1}, T="type",
          Tidx="indextype = DT_INT32")
def BroadcastTo(view: View, shape: np.ndarray) -> View:
    """Broadcast a tensor to `shape`: repeat it along new leading axes and axes of size 1.

    >>> sess.run(tf.broadcast_to([1, 2], [2, 2]))
    array([[1, 2],
           [1, 2]], dtype=int32)
    """
    return view.broadcast(shape.tolist())


@BroadcastTo.gradient
def _(op: Operation, dy: Tensor) -> list[Tensor | None]:
    x, y = op.inputs[0], op.outputs[0]
    shape_x, shape_y = raw.Shape(x), raw.Shape(y)
    if is_known(x.static) and is_known(y.static):
        lead = len(y.static or ()) - len(x.static or ())
        axes = [i for i, n in enumerate(y.static or ()) if i < lead or (x.static or ())[i - lead] == 1 != n]
        return [raw.Reshape(raw.Sum(dy, axes), shape_of(x)) if axes else dy, None]
    return [raw.Reshape(raw.Sum(dy, raw.BroadcastGradientArgs(shape_x, shape_y)[0]), shape_x), None]


# Padding

def _known_paddings(paddings: Tensor, count: int) -> list[Sequence[int | None]]:
    """Return the static paddings: two sizes for each axis, None where a run decides."""
    known = constant_value(paddings, partial=True)
    return [(None, None)] * count if known is None or known.shape != (count, 2) else known.tolist()


def _padded_size(size: int | None, padding: Sequence[int | None]) -> int | None:
    before, after = padding
    return None if size is None or before is None or after is None else size + before + after


def _paddings(ctx: ShapeContext) -> np.ndarray | None:
    """Return the paddings, if they are known: a non-negative row of two for each axis. Raises ValueError for others."""
    shape, paddings, given = ctx.shape(0), ctx.value(1), ctx.shape(1)
    if given is not None and (len(given) != 2 or given[1] not in (None, 2)):
        raise ValueError(f"paddings must be a matrix with 2 columns, not of shape {shape_str(given)}")
    if shape is not None and given is not None and given[0] not in (None, len(shape)):
        raise ValueError(f"Shape must be rank {given[0]} but is rank {len(shape)}")
    if paddings is not None and (paddings < 0).any():
        raise ValueError(f"Paddings must be non-negative, not {paddings.tolist()}")
    return paddings


def _padded(ctx: ShapeContext) -> list[Static]:
    shape, paddings, given = ctx.shape(0), _paddings(ctx), ctx.shape(1)
    if shape is None and given is not None and given[0] is not None:
        shape = (None,) * given[0]
    if shape is None:
        return [None]
    if paddings is None:
        return [tuple(map(_padded_size, shape, _known_paddings(ctx.op.inputs[1], len(shape))))]
    return [tuple(None if n is None else n + int(a) + int(b) for n, (a, b) in zip(shape, paddings, strict=True))]


def _pad(ctx: Any, x: np.ndarray, paddings: np.ndarray, value: np.ndarray | None = None) -> np.ndarray:
    fill = value if value is not None else np.zeros((), x.dtype)
    out = np.full([n + a + b for n, (a, b) in zip(x.shape, paddings.tolist(), strict=True)], fill, x.dtype)
    out[tuple(slice(a, a + n) for n, (a, _) in zip(x.shape, paddings.tolist(), strict=True))] = x
    return out


@kernel("input: T, paddings: Tpaddings -> output: T", shape=_padded, numpy=_pad, launch=kernels.pad,
        values=("paddings",), T="type", Tpaddings="indextype = DT_INT32", halves="moved")
def Pad() -> None:
    """Pad a tensor with `paddings[i]` = (before, after) zeros along each axis i."""


@kernel("input: T, paddings: Tpaddings, constant_values: T -> output: T", shape=_padded, numpy=_pad,
        ranks={"constant_values": 0},
        launch=kernels.pad, values=("paddings",), T="type", Tpaddings="indextype = DT_INT32", halves="moved")
def PadV2() -> None:
    """As Pad, with another constant than 0."""


def _unpad(dy: Tensor, x: Tensor, paddings: Tensor) -> Tensor:
    known = constant_value(paddings)
    begin = known[:, 0] if known is not None else \
        raw.Reshape(Slice(paddings, [0, 0], raw.Pack([raw.Rank(x), 1])), [-1])
    size = np.array(x.static, np.int32) if is_known(x.static) else raw.Shape(x)
    if known is not None:
        begin = begin.astype(np.int32)
    elif paddings.dtype.base_dtype != dtypes.int32:
        begin = raw.Cast(begin, DstT=dtypes.int32)
    return Slice(dy, begin, size)


@Pad.gradient
def _(op: Operation, dy: Tensor) -> list[Tensor | None]:
    return [_unpad(dy, op.inputs[0], op.inputs[1]), None]


@PadV2.gradient
def _(op: Operation, dy: Tensor) -> list[Tensor | None]:
    inner = _unpad(dy, op.inputs[0], op.inputs[1])
    return [inner, None, _total(dy) - _total(inner)]


def _total(x: Tensor) -> Tensor:
    axes = list(range(len(x.static))) if x.static is not None else raw.Range(0, raw.Rank(x), 1)
    return raw.Sum(x, axes)


def _enough_to_mirror(ctx: Any) -> None:
    mode = ctx.attrs["mode"].decode()
    for n, (a, b) in zip(ctx.shape(0), ctx.value(1).tolist(), strict=True):
        if max(a, b) > n - (mode == "REFLECT"):
            raise ValueError(f"paddings must be no greater than the dimension size ({mode}): {a}, {b} against {n}")


def _mirror(ctx: Any, x: np.ndarray, paddings: np.ndarray) -> np.ndarray:
    return np.pad(x, paddings.tolist(), mode=ctx.attrs["mode"].decode().lower())


@kernel("input: T, paddings: Tpaddings -> output: T", shape=_padded, numpy=_mirror, validate=_enough_to_mirror,
        values=("paddings",), T="type",
        Tpaddings="indextype = DT_INT32", mode="{'REFLECT', 'SYMMETRIC'}")
def MirrorPad() -> None:
    """Pad a tensor with its own elements, mirrored at its border (which SYMMETRIC repeats)."""


def _unmirrored(ctx: ShapeContext) -> list[Static]:
    shape, paddings = ctx.shape(0), _paddings(ctx)
    if shape is None or paddings is None:
        return [None if shape is None else (None,) * len(shape)]
    for axis, (n, (a, b)) in enumerate(zip(shape, paddings.tolist(), strict=True)):
        if n is not None and not max(a, b) <= n - a - b - (ctx.attrs["mode"] == b"REFLECT"):
            raise ValueError(f"Expected paddings of at most the inner size of axis {axis}, got {a} and {b} of {n}")
    return [tuple(None if n is None else n - int(a) - int(b) for n, (a, b) in zip(shape, paddings, strict=True))]


def _unmirror(ctx: Any, dy: np.ndarray, paddings: np.ndarray) -> np.ndarray:
    inner = [n - a - b for n, (a, b) in zip(dy.shape, paddings.tolist(), strict=True)]
    place = np.pad(np.arange(np.prod(inner, dtype=int)).reshape(inner), paddings.tolist(),
                   mode=ctx.attrs["mode"].decode().lower())
    out = np.zeros(inner, dy.dtype)
    np.add.at(out.reshape(-1), place.reshape(-1), dy.reshape(-1))
    return out


@kernel("input: T, paddings: Tpaddings -> output: T", shape=_unmirrored, numpy=_unmirror, values=("paddings",),
        T="type", Tpaddings="indextype = DT_INT32", mode="{'REFLECT', 'SYMMETRIC'}")
def MirrorPadGrad() -> None:
    """Compute the gradient of MirrorPad: each padded element is added to the one that it mirrors."""


@MirrorPad.gradient
def _(op: Operation, dy: Tensor) -> list[Tensor | None]:
    return [MirrorPadGrad(dy, op.inputs[1], mode=op.attrs["mode"]), None]


@MirrorPadGrad.gradient
def _(op: Operation, dy: Tensor) -> list[Tensor | None]:
    return [MirrorPad(dy, op.inputs[1], mode=op.attrs["mode"]), None]


# What users call

@dispatched
def concat(values: Any = None, axis: Any = None, name: str = "concat", concat_dim: Any = None) -> Tensor:
    """Concatenate tensors along `axis`; r0.x's order `concat(concat_dim, values)` is recognised.

    All have one dtype (else TypeError), and but for that axis one shape (else ValueError).

    >>> sess.run(tf.concat([[[1, 2]], [[3, 4]]], axis=0))
    array([[1, 2],
           [3, 4]], dtype=int32)
    """
    if isinstance(axis, (list, tuple)) and not isinstance(values, (list, tuple)):
        values, axis = axis, values
    axis = concat_dim if axis is None else axis
    if axis is None or values is None:
        raise TypeError("concat() needs values and axis")
    if not isinstance(values, (list, tuple)):
        values = [values]
    if not values:
        raise ValueError("Expected at least one tensor as values of concat, got none")
    if len(values) > 1:
        return ConcatV2(list(values), axis, name=name)
    with name_scope(name):
        if convert_to_tensor(axis, name="concat_dim", dtype=dtypes.int32).static not in ((), None):
            raise ValueError("the axis of concat must be a scalar")
        return identity(values[0], name=name)


@dispatched
def stack(values: Any, axis: int = 0, name: str = "stack") -> Tensor:
    """Stack tensors of one shape along a new axis. Raises ValueError for an axis out of range.

    >>> x, y = tf.constant([1, 2]), tf.constant([3, 4])
    >>> sess.run(tf.stack([x, y]))
    array([[1, 2],
           [3, 4]], dtype=int32)
    >>> sess.run(tf.stack([x, y], axis=1))
    array([[1, 3],
           [2, 4]], dtype=int32)
    """
    if axis == 0:
        try:
            return convert_to_tensor(values, name=name)
        except (TypeError, ValueError):
            pass                                    # of differing shapes: Pack says how
    first = convert_to_tensor(values[0]).static
    if first is not None and not -len(first) - 1 <= axis <= len(first):
        raise ValueError(f"Argument `axis` = {axis} not in range [{-len(first) - 1}, {len(first) + 1})")
    return Pack(list(values), axis=axis, name=name)


def pack(values: Any, axis: int = 0, name: str = "pack") -> Tensor:
    """The r0.x name of `stack` (`pack(values, name)` is recognised).

    >>> sess.run(tf.pack([[1, 2], [3, 4]]))
    array([[1, 2],
           [3, 4]], dtype=int32)
    """
    if isinstance(axis, str):
        axis, name = 0, axis
    return stack(values, axis=axis, name=name)


def unstack(value: Any, num: int | None = None, axis: int = 0, name: str = "unstack") -> list[Tensor]:
    """Split a tensor into its slices along `axis`, which is dropped. Raises ValueError if their count is unknown.

    >>> sess.run(tf.unstack([[1, 2], [3, 4]]))
    [array([1, 2], dtype=int32), array([3, 4], dtype=int32)]
    >>> sess.run(tf.unstack([[1, 2], [3, 4]], axis=1))
    [array([1, 3], dtype=int32), array([2, 4], dtype=int32)]
    """
    if num is None:
        value = convert_to_tensor(value)
        if value.static is not None:
            num = value.static[_pack_axis(axis, len(value.static))]
        if num is None:
            raise ValueError(f"Cannot infer argument `num` from shape {value.shape}")
    return Unpack(value, num=num, axis=axis, name=name)


def unpack(value: Any, num: int | None = None, axis: int = 0, name: str = "unpack") -> list[Tensor]:
    """The r0.x name of `unstack`.

    >>> sess.run(tf.unpack([[1, 2], [3, 4]]))
    [array([1, 2], dtype=int32), array([3, 4], dtype=int32)]
    """
    return unstack(value, num=num, axis=axis, name=name)


tile, broadcast_to = functions(Tile, BroadcastTo)


def pad(tensor: Any, paddings: Any, mode: str = "CONSTANT", name: str | None = None,
        constant_values: Any = 0) -> Tensor:
    """Pad `tensor` with `paddings[i]` = (before, after) elements along each axis i.

    mode: CONSTANT (`constant_values`), REFLECT or SYMMETRIC (mirrored at the border). Raises ValueError for another.

    >>> sess.run(tf.pad([[1, 2], [3, 4]], [[0, 1], [1, 2]]))
    array([[0, 1, 2, 0, 0],
           [0, 3, 4, 0, 0],
           [0, 0, 0, 0, 0]], dtype=int32)
    >>> sess.run(tf.pad([1, 2, 3], [[2, 2]], mode="REFLECT"))
    array([3, 2, 1, 2, 3, 2, 1], dtype=int32)
    """
    mode = mode.upper()
    if mode in ("REFLECT", "SYMMETRIC"):
        return MirrorPad(tensor, paddings, mode=mode, name=name)
    if mode != "CONSTANT":
        raise ValueError(f"Unknown padding mode: {mode}")
    if not isinstance(constant_values, Tensor) and np.ndim(constant_values) == 0 and constant_values == 0:
        return Pad(tensor, paddings, name=name)
    return PadV2(tensor, paddings, constant_values, name=name)


describe(globals(), TENSORS)
