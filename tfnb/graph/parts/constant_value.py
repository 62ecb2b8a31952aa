"""Values known while the graph is built: constants, and what follows from them and from static shapes."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tfnb.core.shape import Static, is_known
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.opdef import kinds

LARGEST = 1024          # elements: shapes, axes, paddings; larger values are not worth computing here
DEPTH = 64              # ops on the way back to the constants: shape arithmetic is short, networks are not
MANY = 8                # outputs: the values of an op with more are kept, as each is asked for on its own

Evaluator = Callable[[Operation, Sequence[np.ndarray]], Sequence[np.ndarray]]
_evaluator: list[Evaluator] = []


def set_evaluator(fn: Evaluator) -> None:
    """Install what computes an op on arrays: fn(op, arrays) -> arrays. The layer that has the definitions does it."""
    _evaluator[:] = [fn]


def constant_value(tensor: Tensor, partial: bool = False) -> np.ndarray | None:
    """The value of `tensor` if it does not depend on anything that a session provides, else None.

    Constants, and small values (1,024 elements) of pure ops of them; shapes where they are fully known. partial is
    accepted as in TensorFlow: elements of a packed tensor that are unknown are None in an array of objects then.
    The array is not to be changed.

    >>> tf.contrib.util.constant_value(tf.constant([1, 2]))
    array([1, 2], dtype=int32)
    >>> tf.contrib.util.constant_value(tf.placeholder(tf.float32))
    """
    found = _value(tensor, {}, DEPTH)
    if found is None and partial and tensor.op.type == "Pack" and tensor.op.inputs:
        parts = [constant_value(t) for t in tensor.op.inputs]
        if all(p is None or p.ndim == 0 for p in parts):
            return np.array([None if p is None else p[()] for p in parts], object)
    return found


def _value(tensor: Tensor, known: dict[Tensor, np.ndarray | None], depth: int) -> np.ndarray | None:
    op = tensor.op
    if isinstance(op.spec, kinds.Const):
        value: np.ndarray = op.attrs["value"]
        return value
    if tensor not in known:
        known[tensor] = None                # a loop in the graph ends here
        if len(op.outputs) > MANY:
            return _of_many(op, known, depth)[tensor.value_index]
        known.update(zip(op.outputs, _outputs(op, known, depth) if depth else (), strict=False))
    return known[tensor]


def _of_many(op: Operation, known: dict[Tensor, np.ndarray | None], depth: int) -> Sequence[np.ndarray | None]:
    """The values of all outputs of an op; they are computed once, unless the graph is edited."""
    kept: tuple[int, Sequence[np.ndarray | None]] | None = op.__dict__.get("_known_outputs")
    if kept is not None and kept[0] == op.graph.mutations:
        return kept[1]
    found = _outputs(op, known, depth) if depth else []
    if len(found) != len(op.outputs):
        return [None] * len(op.outputs)
    op.__dict__["_known_outputs"] = op.graph.mutations, found
    return found


def _outputs(op: Operation, known: dict[Tensor, np.ndarray | None], depth: int) -> Sequence[np.ndarray | None]:
    spec = op.spec
    if not isinstance(spec, kinds.Pure) or spec.stateful \
            or any(t.dtype._is_ref_dtype for t in (*op.inputs, *op.outputs)):
        return []
    if any((t.shape.num_elements() or 0) > LARGEST for t in op.outputs):
        return []
    if isinstance(spec, kinds.ShapeOf):
        return _of_shapes(op, spec.numpy)
    if not _evaluator or not op.inputs:
        return []
    arrays: list[np.ndarray] = []
    for t in op.inputs:
        value = _value(t, known, depth - 1)
        if value is None or value.size > LARGEST:
            return []
        arrays.append(value)
    try:
        return [_frozen(a) for a in _evaluator[0](op, arrays)]
    except Exception:       # noqa: BLE001  a value that raises is not known: the session says why, when it is run
        return []


def _of_shapes(op: Operation, fn: Callable[..., Any]) -> Sequence[np.ndarray | None]:
    """An op of kind SHAPEOF: some need the whole shape, some (Rank) only the number of axes."""
    shapes = [t.static for t in op.inputs]
    if any(shape is None for shape in shapes):
        return []
    if not all(is_known(shape) for shape in shapes) and op.outputs[0].static != ():
        return []
    attrs = {name: value for name, value in op.attrs.items() if not name.startswith("_")}
    try:
        made = fn(*shapes, **_accepted(fn, attrs))
    except TypeError:           # arithmetic on an unknown size
        return []
    outputs = made if isinstance(made, (tuple, list)) else (made,)
    return [_frozen(np.asarray(a)) for a in outputs]


def _accepted(fn: Callable[..., Any], attrs: dict[str, Any]) -> dict[str, Any]:
    code = fn.__code__
    names = code.co_varnames[code.co_argcount:code.co_argcount + code.co_kwonlyargcount]
    return {name: attrs[name] for name in names if name in attrs}


def _frozen(array: Any) -> np.ndarray:
    made = np.asarray(array).view()
    made.flags.writeable = False
    return made


def constant_value_as_shape(tensor: Tensor) -> Static:
    """The shape that a vector of sizes tells, as far as it is known while the graph is built.

    -1 and what depends on a session are None; None altogether if not even the number of sizes is known. Sees through
    packing, concatenation, slices and casts of shapes. Raises ValueError for sizes below -1.
    """
    return _as_shape(tensor, Walk({}, DEPTH))


@dataclass(frozen=True, slots=True)
class Walk:
    """A way back along shape arithmetic: the shapes found so far, and how many more ops it may pass."""

    found: dict[Tensor, Static]
    depth: int

    def back(self) -> Walk:
        """The walk, one op further back."""
        return Walk(self.found, self.depth - 1)


def _as_shape(tensor: Tensor, walk: Walk) -> Static:
    if tensor not in walk.found:                        # without this, a pair packed again and again takes 2 ** depth
        walk.found[tensor] = _find_shape(tensor, walk)
    return walk.found[tensor]


def _find_shape(tensor: Tensor, walk: Walk) -> Static:
    whole = constant_value(tensor)
    if whole is not None:
        if whole.ndim == 0:
            if int(whole) == -1:
                return None
            raise ValueError(f"{tensor.name!r} is the scalar {int(whole)}: a shape is a vector of sizes, or -1")
        return tuple([_size(int(n), tensor) for n in whole.reshape(-1)])
    rule = _PARTIAL.get(tensor.op.type)
    found = rule(tensor.op, walk.back()) if rule and walk.depth else None
    if found is None and tensor.static is not None and len(tensor.static) == 1 and tensor.static[0] is not None:
        return (None,) * tensor.static[0]
    return found


def _size(number: int, tensor: Tensor) -> int | None:
    if number < -1:
        raise ValueError(f"the value of {tensor.name!r} has the size {number}: sizes of a shape are at least -1")
    return None if number == -1 else number


def _pack(op: Operation, walk: Walk) -> Static:
    sizes: list[int | None] = []
    for t in op.inputs:
        value = constant_value(t)
        known = None if value is None or value.ndim else int(value)
        sizes.append(_element(t, walk) if value is None else None if known == -1 else known)
    return tuple(sizes)


def _element(tensor: Tensor, walk: Walk) -> int | None:
    """One size out of a shape that is known in part: `tf.shape(x)[1]`."""
    op = tensor.op
    if op.type in ("Cast", "Identity", "Squeeze", "Reshape"):
        return _element(op.inputs[0], walk.back()) if walk.depth and op.inputs[0].static == () else None
    if op.type == "StridedSlice" and tensor.static == ():
        vector, begin = _as_shape(op.inputs[0], walk), constant_value(op.inputs[1])
        if vector is not None and begin is not None and begin.size == 1 and op.attrs.get("shrink_axis_mask") == 1:
            index = int(begin[0])
            return vector[index] if -len(vector) <= index < len(vector) else None
    return None


def _concat(op: Operation, walk: Walk) -> Static:
    parts = op.inputs[1:] if op.type == "Concat" else op.inputs[:-1]
    found: tuple[int | None, ...] = ()
    for t in parts:
        part = _as_shape(t, walk)
        if part is None:
            return None
        found += part
    return found


def _strided_slice(op: Operation, walk: Walk) -> Static:
    vector = _as_shape(op.inputs[0], walk)
    ends = [constant_value(t) for t in op.inputs[1:4]]
    masks = [op.attrs.get(name, 0) for name in ("ellipsis_mask", "new_axis_mask", "shrink_axis_mask")]
    if vector is None or any(e is None or e.size != 1 for e in ends) or any(masks):
        return None
    begin, end, step = [int(e[0]) for e in ends if e is not None]
    start = None if op.attrs.get("begin_mask", 0) & 1 else begin
    stop = None if op.attrs.get("end_mask", 0) & 1 else end
    return vector[start:stop:step]


def _slice(op: Operation, walk: Walk) -> Static:
    vector = _as_shape(op.inputs[0], walk)
    begin, size = (constant_value(t) for t in op.inputs[1:3])
    if vector is None or begin is None or size is None or begin.size != 1:
        return None
    first, count = int(begin[0]), int(size[0])
    return vector[first:] if count == -1 else vector[first:first + count]


def _shape(op: Operation, walk: Walk) -> Static:
    return op.inputs[0].static


def _same(op: Operation, walk: Walk) -> Static:
    return _as_shape(op.inputs[0], walk)


_PARTIAL: dict[str, Callable[[Operation, Walk], Static]] = {
    "Shape": _shape, "Pack": _pack, "Concat": _concat, "ConcatV2": _concat, "StridedSlice": _strided_slice,
    "Slice": _slice, "Cast": _same, "Identity": _same, "StopGradient": _same,
}
