"""Placement: decides which ops are compiled to kernels and which run as host calls."""
from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from tfnb.compile.planning.host_side import keep_on_host
from tfnb.compile.planning.padded import is_bounded, padded
from tfnb.compile.planning.plan import Stage
from tfnb.core.shape import is_known
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.parts.references import element_dtype, handle_shape, is_identity, ref_variable, refers
from tfnb.kernels.llvm.microkernel import converts_halves
from tfnb.kernels.scalar.number_types import HALVES
from tfnb.kernels.scalar.primitives import ON_CPU
from tfnb.opdef import kinds
from tfnb.opdef.ranks import input_names
from tfnb.ops.declaration.evaluate import definition_of, reads_operand

# What a kernel can compute with; most know 16-bit floats too. Complex numbers are computed by the
# interpreter's NumPy forms.
COMPILED = frozenset("float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64 bool".split())

_ALWAYS = (kinds.Const, kinds.Variable, kinds.Control, kinds.Placeholder)
_GENERATED = (kinds.Elementwise, kinds.Reduction, kinds.Rowwise, kinds.Movement, kinds.Read, kinds.Writer)


def is_pure(op: Operation) -> bool:
    """Return whether the op is pure: deterministic and without side effects."""
    return isinstance(op.spec, kinds.Pure) and not op.spec.stateful and not _has_ref(op)


def _elements_compile(op: Operation) -> bool:
    """Return whether kernels support the dtypes of all inputs and outputs of an op but handles."""
    return all(t.dtype.base_dtype.name in {*COMPILED, "resource"} for t in (*op.inputs, *op.outputs))


def _has_ref(op: Operation) -> bool:
    for t in (*op.inputs, *op.outputs):                    # (`any` takes twice as long, and this is asked of each op)
        if refers(t):
            return True
    return False


def types_compile(op: Operation, folded: bool = False) -> bool:
    """Return whether kernels support the dtypes of all inputs and outputs of the op, and of variables by handles.

    folded: it is computed when a program is built, and kernels see its value at most.
    """
    spec = op.spec
    if isinstance(spec, kinds.Variable):
        return _compiles(op, op.attrs["dtype"].name)
    handles = spec.handles
    for i, t in enumerate(op.inputs):
        name = t.dtype.base_dtype.name
        if name not in COMPILED and not _compiles(op, name, folded) and not (i in handles and _is_known(op, i)):
            return False
    for t in op.outputs:
        name = t.dtype.base_dtype.name
        if name not in COMPILED and not _compiles(op, name, folded):
            return False
    return True


def _compiles(op: Operation, name: str, folded: bool = False) -> bool:
    """Return whether kernels of an op support a dtype: some know no 16-bit floats."""
    if name in COMPILED:
        return True
    spec = op.spec
    by_hand = isinstance(spec, kinds.Random) and bool(spec.halves) or isinstance(spec, kinds.Kernel) \
        and spec.bounded is None and bool(spec.halves)
    return name in HALVES and converts_halves() and (folded or by_hand or isinstance(spec, (*_ALWAYS, *_GENERATED)))


def _is_known(op: Operation, index: int) -> bool:
    """Return whether an input is the handle of a variable that the graph names, of a dtype that kernels support."""
    dtype = element_dtype(op, index)
    return _compiles(op, dtype.name) and refers(op.inputs[index]) \
        and ref_variable(op.inputs[index]).attrs["dtype"] is dtype


def _is_handle(tensor: Tensor) -> bool:
    return not tensor.dtype._is_ref_dtype and refers(tensor)


def _may_reshape(op: Operation) -> bool:
    """Return whether the op may give its variable another shape, and so another place in memory."""
    if not isinstance(op.spec, kinds.Update) or reads_operand(op, op.spec.body, 0):
        return False
    if 0 in op.spec.handles:
        return not is_known(handle_shape(op.inputs[0]))
    return not op.attrs.get("validate_shape", True)


def has_gpu_kernel(op: Operation) -> bool:
    """Return whether the op can be placed on a GPU. Ops that compute integers from shapes can, though they run on the
    host, as in TensorFlow. (If a tensor's values turn out to decide a shape, the op runs on the CPU after all.)"""
    spec = op.spec
    if isinstance(spec, (kinds.Flow, kinds.Control)):
        return True
    if not types_compile(op) or _may_reshape(op):
        return False
    if isinstance(spec, kinds.Elementwise) and not definition_of(op, 2).primitives.isdisjoint(ON_CPU):
        return False                    # of a list of inputs any two tell what it computes with
    if spec.cuda is not None or isinstance(spec, (*_ALWAYS, *_GENERATED, kinds.ShapeOf)):
        return True
    return isinstance(spec, kinds.Kernel) and is_pure(op) and all(t.dtype.is_integer for t in op.outputs)


def for_gpu(ops: Sequence[Operation], feeds: Collection[Tensor], device: Collection[Operation],
            wanted: Callable[[Operation], bool]) -> set[Operation]:
    """Return the ops of device stages that GPU kernels compute, of those that are `wanted` there.

    ops: in topological order.
    """
    known, through = foldable(ops, feeds)
    found: set[Operation] = set()
    for op in ops:
        if op not in device or not wanted(op):
            continue
        folded = is_pure(op) and bool(op.outputs) and op.outputs[0] in known
        kernel = not isinstance(op.spec, kinds.Kernel) or op.spec.cuda is not None
        if folded or (kernel and all(t in known or t in through for t in deciding(op))):
            found.add(op)
    return found


def foldable(ops: Sequence[Operation], feeds: Collection[Tensor],
             varying: Collection[Tensor] = (),
             popped: bool = False) -> tuple[set[Tensor], dict[Tensor, set[Tensor]]]:
    """Compute the tensors that constant folding can evaluate: from constants and the shapes of everything else.

    Second result: for tensors that follow from these and from the *values* of small fed integers too, which feeds.
    popped: or of those in fed stacks, which may hold the same shape many times. ops: in topological order.
    """
    known: set[Tensor] = set()
    through: dict[Tensor, set[Tensor]] = {t: {t} for t in feeds if _may_be_shape(t) and t not in varying}
    for op in ops:
        if isinstance(op.spec, kinds.ShapeOf):
            known.update(op.outputs)
        elif popped and op.spec.element == "pop" and op.inputs[0] in feeds \
                and _may_be_shape(op.outputs[0]):
            through.update((t, {op.inputs[0]}) for t in (op.inputs[0], op.outputs[0]))
        elif is_pure(op):
            if all(t in known for t in op.inputs):
                known.update(t for t in op.outputs if t not in feeds)
            elif all(t in known or t in through for t in op.inputs):
                used = set().union(*(through.get(t, set()) for t in op.inputs))
                through.update((t, used) for t in op.outputs if t not in feeds)
    return known, through


def not_folded(stage: Stage, resident: bool) -> list[Operation]:
    """Return the ops of a device stage that were to fold, since they have no kernel, but get an input from another
    stage: what follows from constants alone may be computed in another one, under another guard. resident: see `place`.
    """
    without = [op for op in stage.ops if isinstance(op.spec, kinds.Kernel) and op.spec.view is None
               and (op.spec.cuda if stage.gpu else op.spec.cpu) is None and op.spec.bounded is None]
    if not without or not stage.on_device:
        return []
    known, through = foldable(stage.ops, stage.inputs, [t for t in stage.inputs if t not in stage.by_value],
                              resident)
    return [op for op in without if not all(t in known or t in through for t in op.inputs)]


def _may_be_shape(tensor: Tensor) -> bool:
    return tensor.dtype.name in ("int32", "int64", "bool") and (tensor.static is None or len(tensor.static) <= 1)


def place(ops: Sequence[Operation], feeds: Collection[Tensor], fetches: Collection[Tensor] | None = None,
          varying: Collection[Tensor] = (), resident: bool = False) -> tuple[set[Operation], set[Tensor], set[Tensor]]:
    """Return the ops that are compiled into device stages, and the feeds whose values their shapes depend on.

    Third result: the padded tensors (compile/planning/padded.py), which may not leave their stage. ops: in topological
    order. fetches: None if there may be no padded tensors. varying: feeds whose values change too often to compile a
    program for each. resident: kernels may access TensorArrays and stacks.
    """
    known, through = foldable(ops, feeds, varying)
    popped = foldable(ops, feeds, varying, True)[1] if resident else through
    before, maybe = {*known, *through}, {*known, *popped}
    device: set[Operation] = set()
    by_value: set[Tensor] = set()
    roomy: set[Operation] = set()
    hidden: set[Tensor] = set()
    if fetches is not None and any(is_bounded(op) for op in ops):
        own = {op for op in ops if types_compile(op) and not any(t in feeds for t in op.outputs)}
        roomy, hidden = padded(ops, known, {*feeds, *fetches}, own)
    for op in ops:
        spec = op.spec
        if isinstance(spec, (kinds.Flow, kinds.Loop)):
            continue
        wanted = deciding(op)
        # What follows from constants costs nothing there; but its value may have to leave the stage, by a kernel.
        folded = is_pure(op) and op.outputs and op.outputs[0] in known and types_compile(op, True)
        if folded or isinstance(spec, (*_ALWAYS, kinds.ShapeOf)) or is_identity(op) and _is_handle(op.outputs[0]):
            device.add(op)
            _add_values(wanted, known, feeds, by_value)
            continue
        if resident and spec.element and _elements_compile(op):
            device.add(op)
            continue
        if _may_reshape(op):
            continue
        generated = isinstance(spec, _GENERATED) or op in roomy \
            or spec.cpu is not None and isinstance(spec, (kinds.Kernel, kinds.Random))
        if resident and isinstance(spec, kinds.Kernel) and not generated and types_compile(op) and is_pure(op) \
                and all(t in maybe for t in op.inputs):
            device.add(op)
            _add_values(op.inputs, maybe, feeds, by_value)
        if not generated or not types_compile(op):
            continue
        if all(t in before for t in wanted) or _is_indexed(op, before):
            device.add(op)
            _add_values([t for t in wanted if t in before], before, feeds, by_value)
        elif resident and all(t in maybe for t in wanted):
            device.add(op)
            _add_values(wanted, maybe, feeds, by_value)
    keep_on_host(ops, feeds, device)
    return device, by_value, hidden


def deciding(op: Operation) -> list[Tensor]:
    """Return the inputs whose values decide the shape or the strides of an output."""
    if not op.spec.value_inputs:
        return []
    return [t for name, t in zip(input_names(op), op.inputs, strict=True) if name in op.spec.value_inputs]


def _is_indexed(op: Operation, before: Collection[Tensor]) -> bool:
    """Return whether its kernel reads those of its value inputs that are unknown at compile time."""
    if op.spec.indexed is None:
        return False
    others = [op.inputs[i] for i in unread_values(op)]
    return all(t in before for t in others) and op.spec.indexed[1](op)


def unread_values(op: Operation) -> list[int]:
    """Return the indices of the inputs that must be known at compile time, since no kernel reads their values."""
    if not op.spec.value_inputs:
        return []
    free = op.spec.indexed[0] if op.spec.indexed is not None else ()
    return [i for i, name in enumerate(input_names(op)) if name in op.spec.value_inputs and name not in free]


def _add_values(wanted: Sequence[Tensor], known: Collection[Tensor], feeds: Collection[Tensor],
                by_value: set[Tensor]) -> None:
    """Add the wanted tensors and all that they depend on: a host stage may come between any of these."""
    todo = [t for t in wanted if t not in by_value]
    while todo:
        tensor = todo.pop()
        by_value.add(tensor)
        if not isinstance(tensor.op.spec, kinds.ShapeOf) and tensor not in feeds:
            todo += [t for t in tensor.op.inputs if t in known and t not in by_value]
