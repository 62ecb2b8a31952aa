"""Slicing: slices with and without strides (`x[1:, 0]`), splits."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tfnb.core import dtypes
from tfnb.core.arguments import TENSORS, describe
from tfnb.core.shape import MOST_AXES, Static, compatible, merge, shape_str
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.constant_value import constant_value
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.stack import name_scope
from tfnb.kernels.launch import Call, Launch, known_value
from tfnb.kernels.library import indexed, joining
from tfnb.kernels.sizes import range_of
from tfnb.kernels.view import View, row_major
from tfnb.opdef.ranks import Ranks, Single
from tfnb.ops.declaration.declare import kernel, movement
from tfnb.ops.declaration.public import named
from tfnb.ops.declaration.raw import raw
from tfnb.ops.math.broadcast import shape_node

if TYPE_CHECKING:
    from tfnb.graph.graph import ShapeContext

MASKS = ("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask")


# Slice: begin and size

def _slice_bounds(shape: Sequence[int], begin: Sequence[int], size: Sequence[int]) -> list[tuple[int, int]]:
    """(begin, size) of each axis, sizes of -1 filled in. Raises ValueError where they leave the tensor."""
    found = []
    for axis, (n, start, count) in enumerate(zip(shape, begin, size, strict=True)):
        count = n - start if count == -1 else count
        if not 0 <= start <= n:
            raise ValueError(f"Expected begin[{axis}] in [0, {n}], but got {start}")
        if not 0 <= count <= n - start:
            raise ValueError(f"Expected size[{axis}] in [0, {n - start}], but got {count}")
        found.append((start, count))
    return found


def _sliced(ctx: ShapeContext) -> list[Static]:
    shape, begin, size = ctx.shape(0), ctx.partial(1), ctx.value(2)
    for i in (1, 2):
        given = ctx.shape(i)
        if shape is not None and given is not None and given[0] not in (None, len(shape)):
            raise ValueError(f"Expected begin and size to be vectors of size {len(shape)}, but got shape "
                             f"{shape_str(given)}")
    if size is None:
        known = ctx.partial(2)
        if known is not None:                            # from a tensor: a -1 can't be told from an unknown
            return [tuple(None if n is None or n < 0 else n for n in known)]
        rank = next((s[0] for s in (ctx.shape(1), ctx.shape(2)) if s), len(shape) if shape is not None else None)
        return [None if rank is None else (None,) * rank]
    counts = size.reshape(-1).tolist()
    starts = ctx.value(1)
    if shape is None or begin is None:
        return [tuple(None if n < 0 else n for n in counts)]
    found: list[int | None] = []
    for axis, (n, count) in enumerate(zip(shape, counts, strict=True)):
        start = int(starts.reshape(-1)[axis]) if starts is not None else None
        if n is not None and start is not None:
            count = _slice_bounds([n], [start], [count])[0][1]
        found.append(None if count < 0 else count)
    return [tuple(found)]


@movement("input: T, begin: Index, size: Index -> output: T", shape=_sliced, ranks={"begin": 1, "size": 1}, T="type",
          Index="indextype")
def Slice(view: View, begin: np.ndarray, size: np.ndarray) -> View:
    """Extract `size[i]` elements along axis i, from `begin[i]` on; a size of -1 takes all that follow."""
    for axis, (start, count) in enumerate(_slice_bounds(view.shape, begin.tolist(), size.tolist())):
        view = view.slice(axis, start, count)
    return view


@Slice.gradient
def _(op: Operation, dy: Tensor) -> list[Tensor | None]:
    x, begin = op.inputs[0], op.inputs[1]
    rank = raw.Rank(x) if x.static is None else convert_to_tensor(len(x.static), dtype=dtypes.int32, name="Rank")
    taken = shape_node(op.outputs[0], begin.dtype)
    with name_scope("stack") as scope:
        column = raw.Pack([rank, convert_to_tensor(1, dtype=dtypes.int32, name="1")], name=scope)
    before = raw.Reshape(begin, column)
    after = raw.Reshape(shape_node(x, begin.dtype) - taken - begin, column)
    with name_scope("concat") as scope:
        paddings = raw.ConcatV2([before, after], convert_to_tensor(1, dtype=dtypes.int32, name="axis"), name=scope)
    return [raw.Pad(dy, paddings), None, None]


# StridedSlice: what x[...] makes

@dataclass(frozen=True, slots=True)
class Take:
    """Selection along one axis of the result or of the input. kind: "new" axis, "index" (dropped) or "range"."""

    kind: str
    axis: int = 0
    start: int = 0
    size: int | None = None
    step: int = 1


Bounds = Sequence[int | None]


def read_slices(shape: Sequence[int | None], begin: Bounds, end: Bounds, strides: Bounds,
                masks: Mapping[str, int]) -> list[Take]:
    """Return the selection along each axis. Sizes are None where the shape or a bound is unknown.

    Raises ValueError for too many indices, an index outside of its axis or a step of 0.
    """
    begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_mask = (masks[name] for name in MASKS)
    count = len(strides)
    places = [i for i in range(count) if ellipsis_mask >> i & 1]
    if len(places) > 1:
        raise ValueError("Multiple ellipses in slice spec not allowed")
    dense = [i for i in range(count) if not (ellipsis_mask | new_axis_mask) >> i & 1]
    if len(dense) > len(shape):
        raise ValueError(f"Index out of range using input dim {len(shape)}; input has only {len(shape)} dims")
    taken: list[Take] = []
    axis = 0
    for i in range(count):
        if ellipsis_mask >> i & 1:
            for _ in range(len(shape) - len(dense)):
                taken.append(Take("range", axis, 0, shape[axis]))
                axis += 1
        elif new_axis_mask >> i & 1:
            taken.append(Take("new"))
        elif shrink_mask >> i & 1:
            taken.append(_index(axis, shape[axis], begin[i], strides[i]))
            axis += 1
        else:
            start = None if begin_mask >> i & 1 else begin[i]
            stop = None if end_mask >> i & 1 else end[i]
            unknown = (start is None and not begin_mask >> i & 1) or (stop is None and not end_mask >> i & 1)
            taken.append(_range(axis, shape[axis], start, stop, strides[i], unknown))
            axis += 1
    return taken + [Take("range", rest, 0, shape[rest]) for rest in range(axis, len(shape))]


def _index(axis: int, size: int | None, index: int | None, step: int | None) -> Take:
    if step is not None and step <= 0:
        raise ValueError(f"only stride 1 allowed on non-range indexing, got strides[{axis}] = {step}")
    if index is not None and size is not None:
        if not -size <= index < size:
            raise ValueError(f"slice index {index} of dimension {axis} out of bounds.")
        index %= size
    return Take("index", axis, index or 0, 1)


def _range(axis: int, size: int | None, start: int | None, stop: int | None, step: int | None,
           unknown: bool) -> Take:
    if step == 0:
        raise ValueError(f"strides[{axis}] must be non-zero")
    if unknown or step is None or size is None:
        return Take("range", axis)
    first, count = range_of(start, stop, step, size)
    return Take("range", axis, first, count, step if count > 1 else 1)


def _strided_shape(ctx: ShapeContext) -> list[Static]:
    return [_taken_shape(ctx, ctx.shape(0))]


def bound_count(ctx: ShapeContext) -> Static:
    """Return the shape of inputs 1, 2 and 3 (begin, end, strides). Raises ValueError if those differ."""
    return merge(merge(ctx.shape(1), ctx.shape(2)), merge(ctx.shape(3), (None,)))


def _taken_shape(ctx: ShapeContext, shape: Static) -> Static:
    """Return the shape of what inputs 1, 2 and 3 (begin, end, strides) take of a tensor of that shape."""
    count = bound_count(ctx)
    if shape is None or count is None or count[0] is None:
        return None
    begin, end, steps = (_bounds(ctx, i, count[0]) for i in (1, 2, 3))
    taken = read_slices(shape, begin, end, steps, ctx.attrs)
    return tuple(1 if one.kind == "new" else one.size for one in taken if one.kind != "index")


def _bounds(ctx: ShapeContext, i: int, count: int) -> Bounds:
    value = ctx.value(i)
    if value is not None:
        return list(value.reshape(-1).tolist())
    known = ctx.partial(i)                               # only sizes can be told apart from unknowns there
    return [None] * count if known is None or len(known) != count else list(known)


def take(view: View, taken: Sequence[Take]) -> View:
    """Apply the selections `taken` to a view."""
    dropped = []
    for one in taken:
        if one.kind != "new":
            view = view.slice(one.axis, one.start, one.size or 0, one.step)
            dropped += [one.axis] if one.kind == "index" else []
    for axis in reversed(dropped):
        view = view.drop(axis)
    for place, one in enumerate([one for one in taken if one.kind != "index"]):
        if one.kind == "new":
            view = view.insert(place)
    return view


def _indexed_axes(strides: np.ndarray | None, masks: Mapping[str, int]) -> range | None:
    """Return the axes of which one index is taken, if they are neighbours and of all others all is taken."""
    begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_mask = (masks[name] for name in MASKS)
    if strides is None or ellipsis_mask or new_axis_mask:
        return None
    single = [i for i in range(len(strides)) if shrink_mask >> i & 1]
    others = [i for i in range(len(strides)) if not shrink_mask >> i & 1]
    whole = all(begin_mask & end_mask & 1 << i and strides[i] == 1 for i in others)
    return range(single[0], single[-1] + 1) if whole and single and single[-1] - single[0] < len(single) else None


def _has_indexed_axes(op: Operation) -> bool:
    return _indexed_axes(constant_value(op.inputs[3]), op.attrs) is not None


_BOUNDS: Ranks = {"begin": 1, "end": 1, "strides": 1}


def _take_indexed(call: Call) -> list[Launch]:
    """Return the launch for indices that are not known yet."""
    axes = _indexed_axes(known_value(call.inputs[3]), call.attrs)
    assert axes is not None
    return indexed.take(call, axes.start, len(axes))


@movement("input: T, begin: Index, end: Index, strides: Index -> output: T", shape=_strided_shape,
          ranks=_BOUNDS, cpu=_take_indexed, indexed=_has_indexed_axes, T="type", Index="{int16, int32, int64}",
          begin_mask="int = 0", end_mask="int = 0", ellipsis_mask="int = 0", new_axis_mask="int = 0",
          shrink_axis_mask="int = 0")
def StridedSlice(view: View, begin: np.ndarray, end: np.ndarray, strides: np.ndarray, *, begin_mask: int,
                 end_mask: int, ellipsis_mask: int, new_axis_mask: int, shrink_axis_mask: int) -> View:
    """Extract a strided slice: ranges with strides, indices, new axes, an ellipsis (bit i of a mask: of index i)."""
    masks = dict(zip(MASKS, (begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask), strict=True))
    return take(view, read_slices(view.shape, begin.tolist(), end.tolist(), strides.tolist(), masks))


@StridedSlice.gradient
def _(op: Operation, dy: Tensor) -> list[Tensor | None]:
    x, begin, end, strides = op.inputs
    masks = {name: op.attrs[name] for name in MASKS}
    shape = shape_node(x, begin.dtype)
    given = [t if (known := constant_value(t)) is None else known for t in (shape, begin, end, strides)]
    return [StridedSliceGrad(*given, dy, **masks), None, None, None]


def _shape_from_first(ctx: ShapeContext) -> list[Static]:
    known = ctx.partial(0)
    return [None if known is None else tuple(None if n is None or n < 0 else n for n in known)]


def _fits_slices(ctx: Any) -> None:
    wanted, given = _taken_shape(ctx, tuple(ctx.value(0).tolist())), ctx.shape(4)
    if wanted is None or not compatible(wanted, given):
        raise ValueError(f"Expected dy of the shape of the slice, {shape_str(wanted)}, but got {shape_str(given)}")


def _scatter_slices(ctx: Any, shape: np.ndarray, begin: np.ndarray, end: np.ndarray, strides: np.ndarray,
                    dy: np.ndarray) -> np.ndarray:
    out = np.zeros(tuple(shape.tolist()), dy.dtype)
    taken = read_slices(out.shape, begin.tolist(), end.tolist(), strides.tolist(), ctx.attrs)
    place = take(View.whole(out.shape), taken).of(np.arange(out.size))
    out.reshape(-1)[place.reshape(-1)] = dy.reshape(-1)
    return out


def _place_slices(call: Call) -> list[Launch]:
    """Return the launches: zeros, and dy at the strides that the slice had."""
    if call.inputs[1].value is None or call.inputs[2].value is None:
        axes = _indexed_axes(known_value(call.inputs[3]), call.attrs)
        assert axes is not None
        return indexed.place(call, 4, axes.start, len(axes))
    return joining.place(call, call.input(4), *_slice_places(call))


def _slice_places(call: Call) -> tuple[int, list[tuple[int, int]]]:
    """Return the offset of the first element of a slice of the output, and the size and stride of each of its axes."""
    shape = call.outputs[0].shape
    begin, end, steps = (known_value(call.inputs[i]).tolist() for i in (1, 2, 3))
    taken = [one for one in read_slices(shape, begin, end, steps, call.attrs) if one.kind != "new"]
    strides = row_major(shape)
    axes = [(one.size or 0, one.step * strides[one.axis]) for one in taken if one.kind == "range"]
    return sum(one.start * strides[one.axis] for one in taken), axes


@kernel("shape: Index, begin: Index, end: Index, strides: Index, dy: T -> output: T", shape=_shape_from_first,
        ranks={"shape": 1, **_BOUNDS}, validate=_fits_slices,
        numpy=_scatter_slices, launch=_place_slices, values=("shape", "begin", "end", "strides"),
        indexed=_has_indexed_axes, T="type", Index="indextype", begin_mask="int = 0", end_mask="int = 0",
        ellipsis_mask="int = 0", new_axis_mask="int = 0", shrink_axis_mask="int = 0", halves="moved")
def StridedSliceGrad() -> None:
    """Compute the gradient of StridedSlice: `dy` scattered into zeros of `shape`."""


@StridedSliceGrad.gradient
def _(op: Operation, dz: Tensor) -> list[Tensor | None]:
    masks = {name: op.attrs[name] for name in MASKS}
    return [None, None, None, None, StridedSlice(dz, *op.inputs[1:4], **masks)]


# Splits

def _normal_axis(value: Any, rank: int, what: str = "split_dim") -> int:
    axis = int(np.asarray(value).reshape(()))
    if not -rank <= axis < rank:
        raise ValueError(f"{what} {axis} is not in [{-rank}, {rank})")
    return axis % rank


def _split_shapes(ctx: ShapeContext) -> list[Static]:
    shape, given, count = ctx.shape(1), ctx.value(0), ctx.attrs["num_split"]
    if shape is None or given is None:
        return [None if shape is None else (None,) * len(shape)] * count
    axis = _normal_axis(given, len(shape))
    size = shape[axis]
    if size is not None and size % count:
        raise ValueError(f"Dimension size must be evenly divisible by {count} but is {size}: number of ways to split "
                         "should evenly divide the split dimension")
    return [(*shape[:axis], None if size is None else size // count, *shape[axis + 1:])] * count


def _pieces(view: View, axis: int, sizes: Sequence[int]) -> tuple[View, ...]:
    starts = np.cumsum([0, *sizes]).tolist()
    return tuple(view.slice(axis, start, size) for start, size in zip(starts, sizes, strict=False))


@movement("split_dim: int32, value: T -> output: num_split * T", of=1, shape=_split_shapes, ranks={"split_dim": 0},
          num_split="int >= 1", T="type")
def Split(view: View, split_dim: np.ndarray, *, num_split: int) -> tuple[View, ...]:
    """Split `value` into `num_split` parts of equal size along axis `split_dim`."""
    axis = _normal_axis(split_dim, len(view.shape))
    if view.shape[axis] % num_split:
        raise ValueError("Number of ways to split should evenly divide the split dimension, but got split_dim "
                         f"{axis} (size = {view.shape[axis]}) and num_split {num_split}")
    return _pieces(view, axis, [view.shape[axis] // num_split] * num_split)


@Split.gradient
def _(op: Operation, *dys: Tensor) -> list[Tensor | None]:
    return [None, _joined(list(dys), op.inputs[0])]


def _joined(pieces: list[Tensor], axis: Tensor) -> Tensor:
    return pieces[0] if len(pieces) == 1 else raw.ConcatV2(pieces, axis)


def _split_sizes(sizes: Sequence[int], whole: int) -> list[int]:
    """Return the sizes with their one -1 filled in. Raises ValueError if they don't add up."""
    found = [int(n) for n in sizes]
    if found.count(-1) == 1:
        found[found.index(-1)] = whole - (sum(found) + 1)
    if sum(found) != whole or min(found, default=0) < 0:
        raise ValueError(f"can't split axis of size {whole} into pieces of size {[int(n) for n in sizes]}")
    return found


def _split_v_shapes(ctx: ShapeContext) -> list[Static]:
    shape, sizes, given, count = ctx.shape(0), ctx.value(1), ctx.value(2), ctx.attrs["num_split"]
    if shape is None or given is None:
        return [None if shape is None else (None,) * len(shape)] * count
    axis = _normal_axis(given, len(shape))
    whole = shape[axis]
    if sizes is None:
        known: list[int | None] = [None] * count
    elif whole is None:
        known = [None if n < 0 else int(n) for n in sizes]
    else:
        known = list(_split_sizes(sizes.tolist(), whole))
    return [(*shape[:axis], n, *shape[axis + 1:]) for n in known]


@movement("value: T, size_splits: Tlen, split_dim: int32 -> output: num_split * T", shape=_split_v_shapes,
          ranks={"size_splits": 1, "split_dim": Single(MOST_AXES)}, num_split="int >= 1", T="type",
          Tlen="{int8, int32, int64} = DT_INT64")
def SplitV(view: View, size_splits: np.ndarray, split_dim: np.ndarray) -> tuple[View, ...]:
    """Split `value` into parts of the sizes `size_splits` (one may be -1) along axis `split_dim`."""
    axis = _normal_axis(split_dim, len(view.shape))
    return _pieces(view, axis, _split_sizes(size_splits.tolist(), view.shape[axis]))


@SplitV.gradient
def _(op: Operation, *dys: Tensor) -> list[Tensor | None]:
    return [_joined(list(dys), op.inputs[2]), None, None]


# What users call

@named("slice")
def slice_(input_: Any, begin: Any, size: Any, name: str | None = None) -> Tensor:
    """Return `size[i]` elements along axis i of `input_`, from `begin[i]` on; a size of -1 takes all that follow.

    begin, size: int32 or int64, a number for each axis. Raises ValueError, or InvalidArgumentError in the run, for what
    is outside of `input_`.

    >>> sess.run(tf.slice([[1, 2, 3], [4, 5, 6]], begin=[0, 1], size=[2, -1]))
    array([[2, 3],
           [5, 6]], dtype=int32)
    """
    return Slice(input_, begin, size, name=name)


def strided_slice(input_: Any, begin: Any, end: Any, strides: Any = None, begin_mask: int = 0, end_mask: int = 0,
                  ellipsis_mask: int = 0, new_axis_mask: int = 0, shrink_axis_mask: int = 0, var: Any = None,
                  name: str | None = None) -> Tensor:
    """Return the slice `input_[begin:end:strides]`, an index for each axis; see StridedSlice for the masks.

    var: the variable of which `input_` is the value: then the result has a method `assign`.

    >>> sess.run(tf.strided_slice([0, 1, 2, 3, 4, 5], [1], [6], [2]))
    array([1, 3, 5], dtype=int32)
    """
    if strides is None:
        begin = convert_to_tensor(begin)
        strides = np.ones([n or 0 for n in begin.static or (0,)], begin.dtype.as_numpy_dtype)
    made: Tensor = StridedSlice(input_, begin, end, strides, begin_mask=begin_mask, end_mask=end_mask,
                                ellipsis_mask=ellipsis_mask, new_axis_mask=new_axis_mask,
                                shrink_axis_mask=shrink_axis_mask, name=name)
    return made if var is None else var._sliced(made)


def _old_order(value: Any, axis: Any) -> bool:
    """Return whether the order is r0.x's `split(split_dim, num_split, value)`: a number first, a tensor last."""
    return isinstance(value, (int, np.integer)) and not isinstance(axis, (int, np.integer)) and np.ndim(value) == 0


def split(value: Any = None, num_or_size_splits: Any = None, axis: Any = 0, num: int | None = None,
          name: str = "split", split_dim: Any = None, num_split: Any = None) -> list[Tensor]:
    """Split `value` into equal parts (a number) or parts of given sizes (a list, or a tensor with `num`), along `axis`.

    r0.x's order `split(split_dim, num_split, value)` is recognised, and so are its names. Raises ValueError where the
    number of pieces is not known or does not divide the axis.

    >>> sess.run(tf.split([1, 2, 3, 4, 5, 6], 3))
    [array([1, 2], dtype=int32), array([3, 4], dtype=int32), array([5, 6], dtype=int32)]
    >>> sess.run(tf.split([1, 2, 3, 4, 5, 6], [4, 2]))
    [array([1, 2, 3, 4], dtype=int32), array([5, 6], dtype=int32)]
    """
    if isinstance(num, str):
        num, name = None, num                                         # r0.x: the name came fourth
    if _old_order(value, axis):
        value, axis = axis, value
    axis = axis if split_dim is None else split_dim
    pieces = num_or_size_splits if num_split is None else num_split
    if isinstance(pieces, (int, np.integer)):
        return _list(raw.Split(axis, value, num_split=int(pieces), name=name))
    sizes = convert_to_tensor(pieces)
    if sizes.static == ():
        raise ValueError("Rank-0 tensors are not supported as the num_or_size_splits argument to split.")
    if num is None:
        num = sizes.static[0] if sizes.static else None
        if num is None:
            raise ValueError(f"Cannot infer argument `num` from shape {sizes.shape}")
    return _list(raw.SplitV(value, sizes, axis, num_split=num, name=name))


def _list(outputs: Any) -> list[Tensor]:
    return outputs if isinstance(outputs, list) else [outputs]


describe(globals(), TENSORS)
