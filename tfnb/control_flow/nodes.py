"""TensorFlow's control-flow nodes. An absent value is "dead", and so is every value computed from it.

Switch lets its input out on one of two sides, Merge takes whichever of its inputs is there: a conditional. Enter, Exit
and NextIteration carry values into a loop, out of it and to its next round; LoopCond says whether there is one.
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tfnb.core.shape import Static, merge
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.operation import Tensor
from tfnb.graph.stack import colocate_with, name_scope
from tfnb.opdef import kinds
from tfnb.ops.array.create import range_
from tfnb.ops.composite.indexed_slices import IndexedSlices, convert_to_tensor_or_indexed_slices, with_equal_indices
from tfnb.ops.declaration import shapes
from tfnb.ops.declaration.declare import structural
from tfnb.ops.declaration.raw import raw

if TYPE_CHECKING:
    from tfnb.graph.graph import ShapeContext


def _switched(ctx: ShapeContext) -> list[Static]:
    merge(ctx.shape(1), ())
    return [ctx.shape(0)] * 2


def _merged(ctx: ShapeContext) -> list[Static]:
    """Infer the common shape of all inputs; those from a NextIteration are not known yet."""
    found = [ctx.shape(i) for i in range(len(ctx.op.inputs))]
    return [common_shape(found), ()]


def common_shape(found: Sequence[Static]) -> Static:
    """Return the sizes in which all the shapes agree."""
    if any(shape is None for shape in found) or len({len(shape) for shape in found if shape is not None}) > 1:
        return None
    columns = zip(*(shape for shape in found if shape is not None), strict=True)
    return tuple(sizes[0] if len(set(sizes)) == 1 else None for sizes in columns)


def _entered(ctx: ShapeContext) -> list[Static]:
    """Infer the shape of Enter: constants of the loop keep theirs; a loop variable's may change between iterations."""
    return [ctx.shape(0) if ctx.attrs["is_constant"] else None]


def _true_or_false(ctx: ShapeContext) -> list[Static]:
    return [merge(ctx.shape(0), ())]


@structural("data: T, pred: bool -> output_false: T, output_true: T", kinds.Switch, shape=_switched, T="type")
def Switch() -> None:
    """Forward `data` to the output that `pred` selects; the other one is dead."""


@structural("data: Ref(T), pred: bool -> output_false: Ref(T), output_true: Ref(T)", kinds.Switch, shape=_switched,
            T="type")
def RefSwitch() -> None:
    """Forward the reference to the output that `pred` selects; the other one is dead."""


@structural("inputs: N * T -> output: T, value_index: int32", kinds.Merge, shape=_merged, T="type", N="int >= 1")
def Merge() -> None:
    """Forward the one of `inputs` that is not dead, and its index."""


@structural("inputs: Ref(N * T) -> output: Ref(T), value_index: int32", kinds.Merge, shape=_merged, T="type",
            N="int >= 1")
def RefMerge() -> None:
    """Forward the one of the references that is not dead, and its index."""


@structural("data: T -> output: T", kinds.Enter, shape=_entered, T="type", frame_name="string",
            is_constant="bool = false", parallel_iterations="int = 10")
def Enter() -> None:
    """Make `data` available in the loop `frame_name`: in its first iteration, or (is_constant) in all iterations."""


@structural("data: Ref(T) -> output: Ref(T)", kinds.Enter, shape=_entered, T="type", frame_name="string",
            is_constant="bool = false", parallel_iterations="int = 10")
def RefEnter() -> None:
    """Make the reference available in the loop `frame_name`: in its first iteration, or (is_constant) in all."""


@structural("data: T -> output: T", kinds.Exit, shape=shapes.like_first, T="type")
def Exit() -> None:
    """Forward `data` out of its loop."""


@structural("data: Ref(T) -> output: Ref(T)", kinds.Exit, shape=shapes.like_first, T="type")
def RefExit() -> None:
    """Forward the reference out of its loop."""


@structural("data: T -> output: T", kinds.NextIteration, shape=shapes.like_first, T="type")
def NextIteration() -> None:
    """Forward `data` to the next iteration of its loop."""


@structural("data: Ref(T) -> output: Ref(T)", kinds.NextIteration, shape=shapes.like_first, T="type")
def RefNextIteration() -> None:
    """Forward the reference to the next iteration of its loop."""


@structural("input: bool -> output: bool", kinds.LoopCond, shape=_true_or_false)
def LoopCond() -> None:
    """Forward the condition of a loop: whether it goes on."""


@structural("->", kinds.ControlTrigger, shape=lambda ctx: [])
def ControlTrigger() -> None:
    """Do nothing: a node for control inputs, dead ones too."""


LoopCond.no_gradient("it is a truth value")
ControlTrigger.no_gradient("it has no inputs")


# What the contexts and the gradients build with

def switch(data: Any, pred: Any, name: str | None = None) -> tuple[Any, Any]:
    """Return (`data` if `pred` is false, `data` if it is true): of a tensor or IndexedSlices; the other one is dead."""
    with name_scope(name, "Switch", [data, pred]) as scope:
        data = convert_to_tensor_or_indexed_slices(data, name="data", as_ref=True)
        pred = convert_to_tensor(pred, name="pred")
        if isinstance(data, Tensor):
            op = raw.RefSwitch if data.dtype._is_ref_dtype else raw.Switch
            return op(data, pred, name=scope)
        values = raw.Switch(data.values, pred, name=scope)
        indices = raw.Switch(data.indices, pred, name="indices")
        dense = (None, None) if data.dense_shape is None else raw.Switch(data.dense_shape, pred, name="dense_shape")
        off, on = (IndexedSlices(values[i], indices[i], dense[i]) for i in (0, 1))
        return off, on


def switch_beside(data: Any, pred: Tensor, name: str = "Switch") -> tuple[Any, Any]:
    """As `switch`, on the device of `data`."""
    data = convert_to_tensor_or_indexed_slices(data, name="data", as_ref=True)
    with colocate_with(data.op, ignore_existing=True):
        return switch(data, pred, name)


def merge_values(inputs: Sequence[Any], name: str | None = None) -> tuple[Any, Tensor]:
    """Return (the one of `inputs` that is not dead, its index): tensors, or IndexedSlices."""
    if any(value is None for value in inputs):
        raise ValueError(f"At least one of the merge inputs is None: {list(inputs)}")
    with name_scope(name, "Merge", inputs) as scope:
        values = [convert_to_tensor_or_indexed_slices(value, as_ref=True) for value in inputs]
        if all(isinstance(value, Tensor) for value in values):
            op = raw.RefMerge if all(value.dtype._is_ref_dtype for value in values) else raw.Merge
            return op(values, name=scope)
        values = as_slices(values)
        rows, chosen = raw.Merge([value.values for value in values])
        indices, _ = raw.Merge([value.indices for value in values])
        dense = None
        if all(value.dense_shape is not None for value in values):
            dense, _ = raw.Merge([value.dense_shape for value in values])
        return IndexedSlices(rows, indices, dense), chosen


def as_slices(values: Sequence[Any]) -> list[IndexedSlices]:
    """Convert tensors to IndexedSlices of all their rows, beside others; indices of one dtype."""
    made = []
    for value in values:
        if isinstance(value, Tensor):
            sizes = raw.Shape(value)
            value = IndexedSlices(value, range_(0, sizes[0]), sizes)
        made.append(value)
    return with_equal_indices(made)


def enter(data: Any, frame_name: str, is_constant: bool = False, parallel_iterations: int = 10,
          use_input_shape: bool = True, name: str | None = None) -> Any:
    """Return `data` (tensor or IndexedSlices) inside of a loop."""
    data = convert_to_tensor_or_indexed_slices(data, as_ref=True)
    options: dict[str, Any] = {"is_constant": is_constant, "parallel_iterations": parallel_iterations}
    if isinstance(data, IndexedSlices):
        parts = [enter(part, frame_name, use_input_shape=use_input_shape, name=name if i == 0 else "indices", **options)
                 for i, part in enumerate(data.parts)]
        return IndexedSlices(*parts)
    made = (raw.RefEnter if data.dtype._is_ref_dtype else raw.Enter)(data, frame_name, name=name, **options)
    if use_input_shape:
        made.set_shape(data.shape)
    return made


def exit_(data: Any, name: str | None = None) -> Any:
    """Return `data` (tensor or IndexedSlices) outside of its loop."""
    data = convert_to_tensor_or_indexed_slices(data, as_ref=True)
    if isinstance(data, IndexedSlices):
        return IndexedSlices(*(exit_(part, name if i == 0 else "indices") for i, part in enumerate(data.parts)))
    return (raw.RefExit if data.dtype._is_ref_dtype else raw.Exit)(data, name=name)


def next_iteration(data: Any, name: str | None = None) -> Any:
    """Return `data` (tensor or IndexedSlices) in the next iteration of its loop."""
    data = convert_to_tensor_or_indexed_slices(data, as_ref=True)
    if isinstance(data, IndexedSlices):
        names = [name, "indices", "dense_shape"]
        return IndexedSlices(*(next_iteration(part, n) for part, n in zip(data.parts, names, strict=False)))
    return (raw.RefNextIteration if data.dtype._is_ref_dtype else raw.NextIteration)(data, name=name)
