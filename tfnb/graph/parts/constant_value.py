"""Values known while the graph is built: constants, and what follows from them and from static shapes."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from tfnb.core.shape import Static, is_known
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.opdef import kinds

LARGEST = 1024          # elements: shapes, axes, paddings; larger values are not worth computing here
DEPTH = 64              # ops on the way back to the constants: shape arithmetic is short, networks are not
UNKNOWN = np.array(None)
MANY = 8                # outputs: the values of an op with more are kept, as each is asked for on its own

Evaluator = Callable[[Operation, Sequence[np.ndarray]], Sequence[np.ndarray]]
_evaluator: list[Evaluator] = []


def set_evaluator(fn: Evaluator) -> None:
    """Install what computes an op on arrays: fn(op, arrays) -> arrays. The layer that has the definitions does it."""
    _evaluator[:] = [fn]


def constant_value(tensor: Tensor, partial: bool = False) -> np.ndarray | None:
    """The value of `tensor` if it does not depend on anything that a session provides, else None.

    Constants, and small values (1,024 elements) of pure ops of them; shapes where they are fully known. partial: where
    some elements are known, return an array of objects, in which the others are None. The array is not to be changed.

    >>> tf.contrib.util.constant_value(tf.constant([1, 2]))
    array([1, 2], dtype=int32)
    >>> tf.contrib.util.constant_value(tf.placeholder(tf.float32))
    """
    found = _value(tensor, {}, DEPTH)
    if found is None and partial:
        part = _elements(tensor, Walk({}, {}, DEPTH))
        return None if part is None or all(n is None for n in part.flat) else part
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
    if not _follows(spec) or any(t.dtype._is_ref_dtype for t in (*op.inputs, *op.outputs)):
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


def _follows(spec: Any) -> bool:
    """Return whether the outputs follow from the inputs: not from state, and not what runs may feed in their place."""
    return isinstance(spec, kinds.Pure) and not spec.stateful and not (isinstance(spec, kinds.Movement) and spec.fed)


def _of_shapes(op: Operation, fn: Callable[..., Any]) -> Sequence[np.ndarray | None]:
    """An op of kind SHAPEOF: some need the whole shape, some (Rank) only the number of axes."""
    shapes = [t.static for t in op.inputs]
    if any(shape is None for shape in shapes):
        return []
    if not all(is_known(shape) for shape in shapes) and op.outputs[0].static != ():
        return []
    try:
        return _of_sizes(op, fn, shapes)
    except TypeError:           # arithmetic on an unknown size
        return []


def _of_sizes(op: Operation, fn: Callable[..., Any], shapes: Sequence[Any]) -> Sequence[np.ndarray]:
    attrs = {name: value for name, value in op.attrs.items() if not name.startswith("_")}
    made = fn(*shapes, **_accepted(fn, attrs))
    return [_frozen(np.asarray(a)) for a in (made if isinstance(made, (tuple, list)) else (made,))]


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
    ops that move elements (packing, concatenation, slices) and elementwise ones. Raises ValueError for sizes below -1.
    """
    part = _elements(tensor, Walk({}, {}, DEPTH))
    if part is None:
        return None
    if all(n is not None for n in part.flat):
        if part.ndim == 0 and part.item() != -1:
            raise ValueError(f"{tensor.name!r} is the scalar {part.item()}: a shape is a vector of sizes, or -1")
        return tuple([_size(int(n), tensor) for n in part.flat]) if part.ndim else None
    return tuple([None if n is None or n < 0 else int(n) for n in part]) if part.ndim == 1 else None


def _size(number: int, tensor: Tensor) -> int | None:
    if number < -1:
        raise ValueError(f"the value of {tensor.name!r} has the size {number}: sizes of a shape are at least -1")
    return None if number == -1 else number


# Elements of a value of which some depend on a session: arrays of objects, in which those are None.

@dataclass(frozen=True, slots=True)
class Walk:
    """A way back along shape arithmetic: values and elements found so far, and how many more ops it may pass."""

    values: dict[Tensor, np.ndarray | None]
    found: dict[Tensor, np.ndarray | None]
    depth: int

    def back(self) -> Walk:
        """The walk, one op further back."""
        return Walk(self.values, self.found, self.depth - 1)


def _elements(tensor: Tensor, walk: Walk) -> np.ndarray | None:
    """The elements of a value, as far as they are known; None if not even its shape is."""
    if tensor not in walk.found:                        # without this, a pair packed again and again takes 2 ** depth
        whole = _value(tensor, walk.values, walk.depth)
        walk.found[tensor] = _part(tensor, walk) if whole is None else whole.astype(object)
    return walk.found[tensor]


def _part(tensor: Tensor, walk: Walk) -> np.ndarray | None:
    shape: Any = tensor.static
    if shape is not None and (None in shape or prod(shape) > LARGEST):
        return None
    unknown = None if shape is None else np.full(shape, None)
    walk.found[tensor] = unknown                                            # a loop in the graph ends here
    made = _outputs_in_part(tensor.op, walk.back()) if walk.depth else ()
    return made[tensor.value_index] if made and shape in (None, made[tensor.value_index].shape) else unknown


def _outputs_in_part(op: Operation, walk: Walk) -> Sequence[np.ndarray]:
    """The outputs of an op whose elements are sizes, elements of its inputs, or follow one by one from these."""
    spec = op.spec
    if not _follows(spec) or any(t.dtype._is_ref_dtype for t in op.inputs):
        return ()
    try:
        if isinstance(spec, kinds.ShapeOf):
            return _sizes(op, spec.numpy)
        if isinstance(spec, kinds.Elementwise):
            return _one_by_one(op, spec, walk)
        if isinstance(spec, kinds.Movement):
            return _evaluator[0](op, [_known_shape(t, walk) if i == spec.viewed else _whole(t, walk)
                                      for i, t in enumerate(op.inputs)])
        if isinstance(spec, kinds.Kernel) and spec.in_part is not None:
            return [spec.in_part(op, *[_elements(t, walk) for t in op.inputs])]
    except Exception:       # noqa: BLE001  what raises is not known: the session says why, when it is run
        pass
    return ()


def _sizes(op: Operation, fn: Callable[..., Any]) -> Sequence[np.ndarray]:
    """The output of a ShapeOf: what unknown sizes don't change is known. As in TensorFlow not of ShapeN:
    nodes that functions make from static shapes would be others."""
    shapes = [t.static for t in op.inputs]
    if len(op.outputs) > 1 or any(shape is None for shape in shapes):
        return ()
    probes = [_of_sizes(op, fn, [[size if n is None else n for n in shape or ()] for shape in shapes])
              for size in (-1, -2)]
    return [np.where(a == b, a.astype(object), UNKNOWN) for a, b in zip(*probes, strict=True)]


def _one_by_one(op: Operation, spec: kinds.Elementwise, walk: Walk) -> Sequence[np.ndarray]:
    """The outputs of an elementwise op of known elements; as in TensorFlow only a cast has some of others."""
    if not spec.converts:
        return _evaluator[0](op, [_whole(t, walk) for t in op.inputs])
    (part,), kind = [_known_shape(t, walk) for t in op.inputs], op.inputs[0].dtype.np_dtype
    mask = part != UNKNOWN
    (made,) = _evaluator[0](op, [np.where(mask, part, 1).astype(kind)])
    return [np.where(mask, made.astype(object), UNKNOWN)]


def _known_shape(tensor: Tensor, walk: Walk) -> np.ndarray:
    """The elements of a value. Raises ValueError if its shape is not known."""
    found = _elements(tensor, walk)
    if found is None:
        raise ValueError(f"the shape of {tensor.name!r} is not known")
    return found


def _whole(tensor: Tensor, walk: Walk) -> np.ndarray:
    """The value of a tensor. Raises ValueError if its shape or an element is not known."""
    part = _known_shape(tensor, walk)
    if any(n is None for n in part.flat):                       # NumPy casts None to NaN
        raise ValueError(f"{tensor.name!r} has elements that are not known")
    return part.astype(tensor.dtype.np_dtype)
