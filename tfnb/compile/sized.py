"""Constant folding over symbolic sizes: arrays that follow from the sizes of a stage's inputs.

In the trace of a template (compile/programs/template.py) a shape holds Sizes, and so do the arrays that shapes are
computed by. Such an array is known by its elements (integers that follow from sizes), by the one value that fills it,
or else by the op that computes it anew for other sizes.
"""
from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import prod
from typing import Any

import numpy as np

from tfnb.core.shape import Static
from tfnb.graph.parts.operation import Operation
from tfnb.kernels.symbolic import Pinned, Size, is_size, plain
from tfnb.kernels.view import NeedsCopy, View
from tfnb.opdef import kinds
from tfnb.ops.declaration.evaluate import (
    Context,
    constants,
    movement_views,
    reduced_axes,
    shape_values,
    viewed_and_values,
)

Shape = tuple[int, ...]
Values = Callable[[Any], int]              # a Size -> its value in a run

_ELEMENTWISE: dict[str, Callable[..., Any]] = {
    "Add": lambda a, b: a + b, "AddV2": lambda a, b: a + b, "Sub": lambda a, b: a - b, "Mul": lambda a, b: a * b,
    "FloorDiv": lambda a, b: a // b, "FloorMod": lambda a, b: a % b, "Maximum": max, "Minimum": min,
    "Neg": lambda a: -a, "Abs": abs, "Equal": lambda a, b: bool(a == b), "NotEqual": lambda a, b: bool(a != b),
    "Less": lambda a, b: bool(a < b), "LessEqual": lambda a, b: bool(a <= b), "Greater": lambda a, b: bool(a > b),
    "GreaterEqual": lambda a, b: bool(a >= b), "Cast": lambda a: a}
_EXACT = {"float32": 1 << 24, "float64": 1 << 53}        # floats that are integers: each up to this one
_REDUCTIONS: dict[str, Any] = {"Prod": np.multiply, "Sum": np.add, "Max": np.maximum, "Min": np.minimum}


class SizedArray:
    """An array that follows from sizes, by one of: elements (an array of integers and Sizes); filler (its only value,
    a scalar, which may follow from sizes, too); op (output `index` of it, for these inputs)."""

    def __init__(self, dtype: np.dtype, shape: Shape, elements: np.ndarray | None = None,
                 filler: Any = None, op: Operation | None = None, inputs: Sequence[Any] = (),
                 shapes: Sequence[Static] = (), index: int = 0) -> None:
        self.dtype, self.shape, self.elements, self.filler = dtype, shape, elements, filler
        self.op, self.inputs, self.shapes, self.index = op, inputs, shapes, index

    @property
    def size(self) -> int:
        """The element count."""
        return prod(self.shape)

    def sizes(self) -> Iterable[Any]:
        """Yield the integers that `array` asks for."""
        yield from self.shape
        if self.elements is not None:
            yield from self.elements.reshape(-1).tolist()
        for shape in self.shapes:
            yield from shape or ()
        for array in (*self.inputs, self.filler):
            if isinstance(array, SizedArray):
                yield from array.sizes()

    def array(self, value: Values, made: dict[int, Any]) -> np.ndarray:
        """Return the array in a run. made: those of the run that are there already, by the `id` of their SizedArray.

        Raises what the op raises for these inputs.
        """
        if id(self) not in made:
            made[id(self)] = np.ascontiguousarray(self._array(value, made)).reshape([value(n) for n in self.shape])
        found: np.ndarray = made[id(self)]
        return found

    def _array(self, value: Values, made: dict[int, Any]) -> np.ndarray:
        if self.elements is not None:
            return np.array([value(n) for n in self.elements.reshape(-1).tolist()], self.dtype)
        if self.filler is not None:
            filler = self.filler.array(value, made) if isinstance(self.filler, SizedArray) else self.filler
            return np.full([value(n) for n in self.shape], filler, self.dtype)
        assert self.op is not None
        inputs = [a.array(value, made) if isinstance(a, SizedArray) else a for a in self.inputs]
        shapes = [shape and tuple(None if n is None else value(n) for n in shape) for shape in self.shapes]
        return constants(self.op, inputs, shapes)[self.index]

    def one(self) -> Any:
        """Return its only value, a scalar; None where it has several. Raises Pinned where only these sizes decide."""
        if self.filler is None and dependent([self], is_even):
            raise Pinned
        return self.filler

    def reshape(self, shape: Sequence[int]) -> SizedArray:
        """Return the same elements in another shape."""
        elements = None if self.elements is None else self.elements.reshape(shape)
        return SizedArray(self.dtype, tuple(shape), elements, self.filler, self.op, self.inputs, self.shapes,
                          self.index)

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise Pinned


def is_even(array: np.ndarray) -> bool:
    """Return whether all elements of an array have the same bits: -0.0 is not 0.0, and a NaN is itself."""
    bits = array.reshape(-1).view(f"u{array.itemsize}")
    return not (bits != bits[:1]).any()


def dependent(arrays: Sequence[Any], fn: Callable[..., Any]) -> Any:
    """Return `fn` of arrays: what the passes decide by values.

    For SizedArrays, of those at hand, and that it is the same for other sizes becomes a condition of the template.
    """
    symbols = [n.symbols for a in arrays if isinstance(a, SizedArray) for n in a.sizes() if isinstance(n, Size)]
    found = fn(*(a.array(plain, {}) if isinstance(a, SizedArray) else a for a in arrays))
    if symbols:
        symbols[0].conditions.append((arrays, fn, found))
    return found


def values_of(array: Any) -> Any:
    """Return an array as shape functions read it: of integers and Sizes, where it follows from sizes."""
    return array.elements if isinstance(array, SizedArray) and array.elements is not None else array


def is_sized(arrays: Iterable[Any], shapes: Iterable[Static]) -> bool:
    """Return whether a constant of these inputs and shapes follows from sizes."""
    return any(isinstance(a, SizedArray) for a in arrays) or any(is_size(n) for s in shapes for n in s or ())


def sized(dtype: Any, elements: np.ndarray) -> Any:
    """Return an array of integers and Sizes as a SizedArray; without Sizes, as a plain one of a dtype.

    Raises Pinned where a size may not be one of the dtype.
    """
    dtype = np.dtype(dtype)
    found = [n for n in elements.reshape(-1).tolist() if isinstance(n, Size)]
    if not found:
        return elements.astype(dtype)
    most = _EXACT.get(dtype.name) or np.iinfo(dtype).max
    if not all((0 if dtype.kind == "u" else -most) <= n <= most for n in found):
        raise Pinned
    return SizedArray(dtype, elements.shape, elements)


def sized_fold(op: Operation, arrays: Sequence[Any], shapes: Sequence[Static]) -> list[Any]:
    """Fold a pure op whose inputs or output shapes follow from sizes: arrays, some of them SizedArrays."""
    dtypes = [np.dtype(t.dtype.base_dtype.as_numpy_dtype) for t in op.outputs]
    for form in (_moved, _by_elements, _filled, _reduced):
        made = form(op, arrays, shapes, dtypes)
        if made is not None:
            return list(made)
    return _by_op(op, arrays, shapes, dtypes)


def _moved(op: Operation, arrays: Sequence[Any], shapes: Sequence[Static], dtypes: Sequence[Any]) -> Any:
    """Fold a movement op, as a view of its input's elements or filler."""
    if isinstance(op.spec, kinds.Movement):
        x, others = viewed_and_values(op, arrays)
    elif isinstance(op.spec, kinds.Kernel) and op.spec.view is not None:
        x, *others = arrays
    else:
        return None
    if _one(x) is None and isinstance(x, SizedArray) and x.elements is None:
        return None
    try:
        views = movement_views(op, View.whole(x.shape), [values_of(a) for a in others])
    except NeedsCopy:
        return None
    filler = _one(x)
    if filler is not None:
        return [_full(x.dtype, view.shape, filler) for view in views]
    if any(isinstance(n, Size) for view in views for n in (*view.shape, *view.strides, view.offset)):
        return None
    flat = values_of(x).reshape(-1)
    return [sized(x.dtype, np.asarray(flat[view.of(np.arange(flat.size))], object)) for view in views]


def _one(array: Any) -> Any:
    """Return the only value of an array, as a scalar, where it is known to have only one; else None."""
    if isinstance(array, SizedArray) and array.filler is not None:
        return array.filler
    return array.reshape(()) if not is_sized((), [array.shape]) and array.size == 1 else None


def _full(dtype: np.dtype, shape: Shape, filler: Any) -> Any:
    """Return an array with one value."""
    if is_sized((), [shape]):
        return SizedArray(dtype, shape, filler=filler)
    if isinstance(filler, SizedArray):
        return filler.reshape(shape) if prod(shape) == 1 else SizedArray(dtype, shape, filler=filler)
    return np.full(shape, filler, dtype)


def _by_elements(op: Operation, arrays: Sequence[Any], shapes: Sequence[Static], dtypes: Sequence[Any]) -> Any:
    """Fold an op over integers, element by element or by its NumPy form."""
    if any(isinstance(a, SizedArray) and a.elements is None or a.dtype.kind not in "iub" for a in arrays) \
            or any(dtype.kind not in "iub" for dtype in dtypes if op.type != "Cast" or dtype.name not in _EXACT):
        return None
    whole = [values_of(a).astype(object) for a in arrays]
    if isinstance(op.spec, kinds.Elementwise) and op.type in _ELEMENTWISE:
        fn = np.frompyfunc(_ELEMENTWISE[op.type], len(whole), 1)
        return [sized(dtypes[0], np.asarray(fn(*whole), object))]
    if isinstance(op.spec, kinds.Reduction) and op.type in _REDUCTIONS:
        axes = tuple(reduced_axes(op, len(arrays[0].shape), None if len(arrays) < 2 else np.asarray(arrays[1])))
        made = _REDUCTIONS[op.type].reduce(whole[0], axes, keepdims=bool(op.attrs.get("keep_dims")))
        return [sized(dtypes[0], np.asarray(made, object))]
    if type(op.spec) is kinds.Kernel and op.spec.view is None:
        try:
            found = op.spec.numpy(Context(op), *map(values_of, arrays))
        except Pinned:
            return None                            # as arange: it is computed for each size
        found = found if isinstance(found, (tuple, list)) else [found]
        return [sized(dtype, np.asarray(each, object)) for dtype, each in zip(dtypes, found, strict=True)]
    return None


def _filled(op: Operation, arrays: Sequence[Any], shapes: Sequence[Static], dtypes: Sequence[Any]) -> Any:
    """Fold an elementwise op of arrays that have one value each."""
    if not isinstance(op.spec, kinds.Elementwise) or op.spec.align is not None:
        return None
    each = [_one(a) for a in arrays]
    if any(a is None for a in each):
        return None
    scalars: list[Static] = [()] * len(shapes)
    made: Sequence[Any] = _by_op(op, each, scalars, dtypes) if is_sized(each, ()) else constants(op, each, scalars)
    return [_full(dtype, shape, a)  # type: ignore[arg-type]
            for dtype, shape, a in zip(dtypes, shapes, made, strict=True)]


def _reduced(op: Operation, arrays: Sequence[Any], shapes: Sequence[Static], dtypes: Sequence[Any]) -> Any:
    """Fold a reduction of an array that has one value: all results are that of one row."""
    filler = _one(arrays[0])
    if not isinstance(op.spec, kinds.Reduction) or filler is None:
        return None
    x, *axes = arrays
    gone = reduced_axes(op, len(x.shape), axes[0] if axes else None)
    row = _full(x.dtype, tuple(n if i in gone else 1 for i, n in enumerate(x.shape)), filler)
    made = _by_op(op, [row, *axes], [(1,) * len(shapes[0] or ())], dtypes)[0]
    return [_full(dtypes[0], shapes[0], made.reshape(()))]  # type: ignore[arg-type]


def _by_op(op: Operation, arrays: Sequence[Any], shapes: Sequence[Static], dtypes: Sequence[Any]) -> list[Any]:
    """Return the outputs of an op that is computed for each size."""
    if any(s is None or None in s for s in shapes):
        raise Pinned
    return [SizedArray(dtype, shape, op=op, inputs=arrays, shapes=shapes, index=i)  # type: ignore[arg-type]
            for i, (dtype, shape) in enumerate(zip(dtypes, shapes, strict=True))]


def one_number(number: Any, type: str) -> Any:
    """Return the array of one integer or Size, of any dtype of numbers."""
    dtype = np.dtype(type)
    if isinstance(number, Size):
        return SizedArray(dtype, (1,), np.array([number], object))
    return np.array([number], dtype)


class _Objects:
    """In place of a dtype: that of integers and Sizes in NumPy."""

    as_numpy_dtype = object


def known_shapes(op: Operation, shapes: Sequence[Shape]) -> Sequence[Any]:
    """Return the outputs of an op that needs only the shapes of its inputs, as arrays or SizedArrays."""
    if not is_sized((), shapes):
        return shape_values(op, shapes)
    assert isinstance(op.spec, kinds.ShapeOf)
    made = op.spec.numpy(*shapes, **({"out_type": _Objects} if "out_type" in op.attrs else {}))
    made = made if isinstance(made, tuple) else [made]
    return [sized(t.dtype.as_numpy_dtype, np.asarray(each, object))
            for t, each in zip(op.outputs, made, strict=True)]
