"""Shape-specialized tracing of a stage to nodes, with constant folding and common subexpression elimination (CSE).

Constants and shape arithmetic are folded, equal pure nodes are made once, movement ops become strides, row-wise
definitions are decomposed into elementwise nodes and reductions over the last axis.
"""
from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import prod
from typing import Any

import numpy as np

from tfnb.compile.composing import by_hand, called_as, elementwise, sizes
from tfnb.compile.copies import COPY, by_tiles, copy_node, mapped
from tfnb.compile.planning.placement import is_pure, unread_values
from tfnb.compile.planning.plan import Stage
from tfnb.compile.residents import Element, Resident, Residents
from tfnb.compile.sized import SizedArray, is_sized, known_shapes, sized_fold, values_of
from tfnb.compile.target import CPU, Target
from tfnb.compile.values import Buffer, Call, Elementwise, Node, Reduction, Value, known, temp, uniform
from tfnb.compile.variable_views import VariableViews
from tfnb.core.shape import Static, broadcast_shapes, is_known
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.parts.references import ref_variable
from tfnb.kernels.scalar import definition as scalars
from tfnb.kernels.scalar.definition import Scalar, Step
from tfnb.kernels.scalar.number_types import HALVES, computed_as
from tfnb.kernels.scalar.rowwise import COMBINE, Fragment, fragment, result_type
from tfnb.kernels.view import NeedsCopy, View
from tfnb.opdef import kinds
from tfnb.opdef.op import Fn, Op
from tfnb.ops.declaration.evaluate import (
    aligned_shapes,
    constants,
    folded,
    movement_views,
    numpy_name,
    reduced_axes,
    scalar_attrs,
    scalar_type,
    viewed_and_values,
)
from tfnb.ops.declaration.validate import misused, require, require_shapes, unfed, validate, value_checks

FOLD_LIMIT = 1 << 22     # elements: larger results are not folded, but computed in the arena at each run


@dataclass(frozen=True, slots=True)
class Meta:
    """The abstract value of a stage input: NumPy dtype name, shape, and its value where the program is specialized to
    it.

    element: the same for the elements, where it is a TensorArray or stack.
    """

    type: str
    shape: tuple[int, ...]
    value: np.ndarray | None = None
    element: Element | None = None


@dataclass(slots=True)
class Traced:
    """The trace of a stage: its nodes in order, the value of each output, and buffers to write though nobody reads
    them.

    residents: the TensorArrays and stacks that they use.
    """

    nodes: list[Node] = field(default_factory=list)
    outputs: list[Value] = field(default_factory=list)
    kept: set[Buffer] = field(default_factory=set)
    residents: list[Resident] = field(default_factory=list)


def trace(stage: Stage, inputs: Sequence[Meta], variables: Mapping[Operation, tuple[int, ...]],
          target: Target = CPU) -> Traced:
    """Trace a device stage to nodes for a target. variables: the shape of each variable it uses.

    Raises InvalidArgumentError, naming the op, for shapes that don't fit.
    """
    tracer = _Tracer(variables, target)
    for i, (tensor, meta) in enumerate(zip(stage.inputs, inputs, strict=True)):
        if meta.element is not None:
            tracer.values[tensor] = tracer.residents.enter(i, meta.element)
            continue
        buffer = Buffer("input", meta.type, prod(meta.shape), index=i)
        tracer.values[tensor] = Value(buffer, View.whole(meta.shape), meta.value)
    tracer.last_use = {t: i for i, op in enumerate(stage.ops) for t in op.inputs}
    tracer.last_use.update((t, len(stage.ops)) for t in stage.outputs)
    for tracer.position, op in enumerate(stage.ops):
        tracer.add(op)
    for i, tensor in enumerate(stage.outputs):
        tracer.traced.outputs.append(tracer.output(i, tensor, stage))
    tracer.traced.residents = tracer.residents.found
    tracer.traced.kept = {tracer.values[t].buffer for op in stage.targets for t in op.outputs}
    return tracer.traced


class _Tracer:
    def __init__(self, variables: Mapping[Operation, tuple[int, ...]], target: Target) -> None:
        self.variables, self.target = variables, target
        self.values: dict[Tensor, Value] = {}
        self.traced = Traced()
        self.residents = Residents(self.traced.nodes)
        self.seen: dict[tuple[Any, ...], list[Value]] = {}
        self.versions: dict[Buffer, int] = {}
        self.memory: dict[tuple[Any, Any], Buffer] = {}      # of variables: two ops may share one
        self.views = VariableViews(self.values)
        self.position, self.last_use = 0, dict[Tensor, int]()
        self.shapes: Sequence[Static] = ()                   # of the outputs of the op that is traced

    def add(self, op: Operation) -> None:
        """Add an op, unless all of it is fed. Raises InvalidArgumentError for shapes that don't fit."""
        if any(t in self.values for t in op.outputs) and all(t in self.values for t in op.outputs):
            return                                 # all of it is fed
        try:
            values = self._values_of(op)
        except (ValueError, TypeError, IndexError, ArithmeticError, MemoryError) as error:
            raise misused(op, error, [self.value(t).shape for t in op.inputs]) from error
        for tensor, value in zip(op.outputs, values, strict=True):
            if self.values.setdefault(tensor, value) is value:
                self.views.note(tensor, value)

    def value(self, tensor: Tensor) -> Value:
        """Return the value of a tensor; of a reference that an earlier stage made, the variable."""
        found = self.values.get(tensor)
        return self.values[ref_variable(tensor).outputs[0]] if found is None else found

    def _values_of(self, op: Operation) -> Sequence[Value]:
        spec = op.spec
        if isinstance(spec, (kinds.Control, kinds.Const)):
            return [known(op.attrs["value"])] if isinstance(spec, kinds.Const) else ()
        if isinstance(spec, kinds.Variable):
            shape = self.variables[op]
            buffer = Buffer("variable", numpy_name(op.attrs["dtype"]), prod(shape), owner=op)
            place = op.attrs.get("container"), (op.attrs.get("shared_name") or b"").decode() or op.name
            return [Value(self.memory.setdefault(place, buffer), View.whole(shape))]
        ins = [self.value(t) for t in op.inputs]
        if isinstance(spec, kinds.ShapeOf):
            return [known(a) for a in known_shapes(op, [v.shape for v in ins])]
        if isinstance(spec, kinds.Placeholder):
            raise unfed(op)
        if self.residents.found and any(ins[i].known is None for i in unread_values(op)):
            raise ValueError("a value that its shape depends on is not loop-invariant")
        shapes = validate(op, [v.shape for v in ins], [values_of(v.known) for v in ins])
        if not is_pure(op):
            self._check_values(op, ins)
            return self._traced(op, ins, shapes)
        folded = self._fold(op, ins, shapes)
        if folded is not None:
            return folded
        key = self._key(op, ins)
        if key not in self.seen:
            self._check_values(op, ins)
            self.seen[key] = list(self._traced(op, ins, shapes))
        return self.seen[key]

    def _traced(self, op: Operation, ins: list[Value], shapes: Sequence[Static]) -> Sequence[Value]:
        """Trace an op and return its outputs. shapes: those that it is validated to have."""
        if isinstance(op.spec, kinds.Kernel) and op.spec.bounded is not None:
            return self.bounded(op, ins, *op.spec.bounded)     # larger than they should be
        self.shapes = shapes
        made = _TRACE[type(op.spec)](self, op, ins)
        if not isinstance(op.spec, kinds.Host):
            require_shapes(op, made, shapes)
        return made

    def _check_values(self, op: Operation, ins: Sequence[Value]) -> None:
        """Append kernels that stop the program at invalid input values, for checks that the op's own kernel omits."""
        known = [values_of(v.known) for v in ins]
        for check in value_checks(op, [v.shape for v in ins], known):
            if check.by_kernel:
                continue
            value = ins[check.input]
            if value.known is not None:
                require(op, check, known)
            else:
                row = value if value.view.is_row_major() else self.row_major(op, value)
                self.traced.nodes.append(Call(op, [row], [], launches=check.launches))

    def _fold(self, op: Operation, ins: Sequence[Value], shapes: Sequence[Static]) -> list[Value] | None:
        """Fold a pure op: return its outputs as constants if all inputs are known and no output is huge, else None."""
        if any(v.known is None for v in ins) or isinstance(op.spec, kinds.Kernel) and self.target.launches(op.spec) \
                and any(prod(shape) > FOLD_LIMIT for shape in shapes if is_known(shape)):
            return None
        arrays = [v.known for v in ins]
        if not is_sized(arrays, shapes):
            return [known(a) for a in constants(op, arrays, shapes)]
        return self.seen.setdefault(self._key(op, ins), [known(a) for a in sized_fold(op, arrays, shapes)])

    def _key(self, op: Operation, ins: Sequence[Value]) -> tuple[Any, ...]:
        attrs = tuple((k, repr(v)) for k, v in sorted(op.attrs.items()) if not k.startswith("_"))
        return op.type, attrs, tuple(self._identity(v) for v in ins)

    def _identity(self, value: Value) -> tuple[Any, ...]:
        if isinstance(value.known, SizedArray):
            return id(value.known), value.shape
        if value.known is not None and value.known.size <= 16:
            return value.type, value.shape, value.known.tobytes()
        return id(value.buffer), self.versions.get(value.buffer, 0), value.view

    # one method for each kind of op

    def elementwise(self, op: Operation, ins: list[Value]) -> list[Value]:
        """Trace an elementwise op; its outputs have the shape that the inputs broadcast to."""
        assert isinstance(op.spec, kinds.Elementwise)
        if op.spec.align is not None:
            shapes = aligned_shapes(op, [v.shape for v in ins])
            ins = [Value(v.buffer, v.view.reshape(s), None if v.known is None else v.known.reshape(s))
                   for v, s in zip(ins, shapes, strict=True)]
        ins = [uniform(self.straight(op, v)) for v in ins]
        shape = broadcast_shapes([v.shape for v in ins])

        def node(body: Scalar, part: list[Value]) -> list[Value]:
            outs = [temp(numpy_name(t.dtype.base_dtype), shape) for t in op.outputs]
            self.traced.nodes.append(elementwise(op, body, part, outs))
            return outs
        return folded(op, ins, node)

    def reduction(self, op: Operation, ins: list[Value]) -> list[Value]:
        """Trace a reduction; its output lacks the reduced axes, or has them as 1 with `keep_dims`."""
        x, spec = ins[0], op.spec
        assert isinstance(spec, kinds.Reduction)
        kind = spec.accumulators.get(x.type, computed_as(x.type))
        gone = frozenset(reduced_axes(op, len(x.shape), ins[1].known if len(ins) > 1 else None))
        if kind != x.type:
            x = mapped(self.traced.nodes, op, COPY, x, kind)        # first: the square of an integer may overflow
        if spec.prepare is not None:
            x = mapped(self.traced.nodes, op, spec.prepare, x, kind)
        shape = [1 if i in gone else n for i, n in enumerate(x.shape) if op.attrs.get("keep_dims") or i not in gone]
        if spec.finish is None and x.buffer.role == "temp" and x.is_plain() and prod(x.shape[i] for i in gone) == 1:
            return [Value(x.buffer, View.whole(shape))]        # of one element each: a gradient that broadcast nothing
        out = self.reduce(op, spec.body, spec.identity, x, gone, spec.finish)
        out = out if kind == ins[0].type else mapped(self.traced.nodes, op, COPY, out, ins[0].type)
        return [Value(out.buffer, View.whole(shape))]

    def reduce(self, op: Operation, combine: Scalar | Fragment, identity: float | str, x: Value, axes: frozenset[int],
               finish: Scalar | None = None) -> Value:
        """Append a reduction node; its output keeps the reduced axes as 1."""
        if x.type in HALVES:
            wide = mapped(self.traced.nodes, op, COPY, x, computed_as(x.type))
            return mapped(self.traced.nodes, op, COPY, self.reduce(op, combine, identity, wide, axes, finish), x.type)
        kept = tuple(1 if i in axes else n for i, n in enumerate(x.shape))
        out = temp(x.type, kept)
        self.traced.nodes.append(Reduction(op, combine, identity, x.type, axes, [x], [out], finish))
        return out

    def rowwise(self, op: Operation, ins: list[Value]) -> list[Value]:
        """Decompose a row-wise definition into elementwise nodes and reductions of the last axis."""
        assert isinstance(op.spec, kinds.Rowwise)
        definition, rows = op.spec.body, op.spec.rows
        kind = scalar_type(op)
        values = [Value(v.buffer, v.view.insert(len(v.shape)) if arg.name in rows else v.view)
                  for arg, v in zip(op.spec.inputs, ins, strict=True)]
        full = broadcast_shapes([v.shape for v in values])
        attrs = scalar_attrs(op, definition)
        for step in definition.program(attrs).steps:
            values.append(self._row_step(op, step, values, kind, full))
        results = [values[ref] if isinstance(ref, int) else known(np.array(ref.value, kind))
                   for ref in definition.program(attrs).results]
        return [Value(v.buffer, v.view.drop(len(full) - 1)) if row else v for v, row in
                zip(results, scalars.row_level_results(definition, op.spec, rows), strict=True)]

    def _row_step(self, op: Operation, step: Step, values: Sequence[Value], kind: str, full: tuple[int, ...]) -> Value:
        """Trace one step of a row-wise definition and return its value."""
        if step.primitive == "column":
            return known(np.arange(full[-1], dtype=np.int32))
        part, operands = fragment(step)
        args = [values[i] for i in operands]
        if step.primitive in COMBINE:
            wide = Value(args[0].buffer, args[0].view.broadcast(full))
            return self.reduce(op, *COMBINE[step.primitive], wide, frozenset({len(full) - 1}))
        out = temp(result_type(step, [v.type for v in values], kind), broadcast_shapes([v.shape for v in args]))
        self.traced.nodes.append(Elementwise(op, part, kind, args, [out]))
        return out

    def movement(self, op: Operation, ins: list[Value]) -> list[Value]:
        """Return views of the input, or of a row-major copy where strides can't express them."""
        x, others = viewed_and_values(op, ins)
        if any(v.known is None for v in others):
            return self.call(op, ins)                  # the offsets are known at run time only
        values = [values_of(v.known) for v in others]
        try:
            views = movement_views(op, x.view, values)
        except NeedsCopy:
            x = self.row_major(op, x)
            views = movement_views(op, x.view, values)
        return [Value(x.buffer, view) for view in views]

    def call(self, op: Operation, ins: list[Value]) -> list[Value]:
        """Append a call of the hand-written kernel, on row-major inputs. Raises ValueError if the op has none."""
        if self.target.launches(op.spec) is None:
            raise ValueError("it has no kernel, and its inputs are not known before the run")
        ins = [v if v.view.is_row_major() else self.row_major(op, v) for v in ins]
        types = [called_as(op, numpy_name(t.dtype.base_dtype), self.target.device) for t in op.outputs]
        outs = [temp(t, s) for t, s in zip(types, sizes(self.shapes), strict=True)]
        state = Buffer("state", "uint64", 4, owner=op) if isinstance(op.spec, kinds.Random) else None
        self.traced.nodes.append(Call(op, ins, outs, state, op.attrs))
        return outs

    def bounded(self, op: Operation, ins: list[Value], shapes: Fn, launches: Fn) -> list[Value]:
        """Append a call with one output more: the number of valid rows of the first one, which is padded."""
        ins = [v if v.view.is_row_major() else self.row_major(op, v) for v in ins]
        found = shapes(*(v.shape for v in ins))
        outs = [temp(numpy_name(t.dtype.base_dtype), s) for t, s in zip(op.outputs, found, strict=True)]
        outs[0].count = temp("int64", (1,))
        self.traced.nodes.append(Call(op, ins, [*outs, outs[0].count], attrs=op.attrs, launches=launches))
        return outs

    def resident(self, op: Operation, ins: list[Value]) -> list[Value]:
        """Trace an op on the TensorArray or stack that is its first input."""
        return self.residents.access(op, [v if v.view.is_row_major() else self.row_major(op, v) for v in ins])

    def update(self, op: Operation, ins: list[Value]) -> list[Value]:
        """Trace an in-place update of variables; readers of the old values get a copy first."""
        assert isinstance(op.spec, kinds.Update)
        definition = op.spec.body
        refs = [ins[i] for i in op.spec.targets]
        self.check_refs(refs)
        written = {v.buffer: v.view for v in refs}
        self.will_change(op, written)
        ins = [v if written.get(v.buffer, v.view) == v.view else self.row_major(op, v) for v in ins]
        self.traced.nodes.append(elementwise(op, definition, ins, refs))
        return refs[:len(op.outputs)]

    def scatter(self, op: Operation, ins: list[Value]) -> list[Value]:
        """Append a call with the variables as inputs and outputs; its other operands never alias their memory."""
        assert isinstance(op.spec, kinds.Scatter)
        form = op.spec.form
        refs = [ins[i] for i in form.refs]
        self.check_refs(refs)
        memory = {v.buffer for v in refs}
        self.will_change(op, memory)
        given = [v if i in form.refs or v.view.is_row_major() and v.buffer not in memory else self.row_major(op, v)
                 for i, v in enumerate(ins)]
        count = ins[form.indices].count
        if count is not None:
            given.append(count)
        node = elementwise(op, form.scalar, [v for i, v in enumerate(ins) if i != form.indices], refs)
        form = replace(form, scalar=node.scalar)
        launches = partial(self.target.scatter, form=form, attrs=node.attrs, type=node.type)
        self.traced.nodes.append(Call(op, given, refs, attrs=op.attrs, launches=launches))
        return refs[:len(op.outputs)]

    def will_change(self, op: Operation, written: Iterable[Buffer]) -> None:
        """Copy views that are still to be read of memory that `op` writes to."""
        self.views.keep(written, lambda t: self.last_use.get(t, -1) > self.position, partial(self.row_major, op))
        for buffer in written:
            self.versions[buffer] = self.versions.get(buffer, 0) + 1

    def check_refs(self, refs: Sequence[Value]) -> None:
        """Raise ValueError if an operand to be written to is no variable."""
        if any(v.buffer.role != "variable" for v in refs):
            raise ValueError("it writes to a variable, but a value was fed in its place")

    def row_major(self, op: Operation, value: Value) -> Value:
        """Copy a strided value to row-major order."""
        if value.known is not None:
            return known(value.known)
        out = temp(value.type, value.shape)
        self.traced.nodes.append(copy_node(op, value, out, self.target.blocked))
        return out

    def straight(self, op: Operation, value: Value) -> Value:
        """Return the value, or a copy of it if an elementwise loop would read it across its rows."""
        return self.row_major(op, value) if self.target.blocked and by_tiles(value) else value

    def output(self, index: int, tensor: Tensor, stage: Stage) -> Value:
        """Return the value of an output in a buffer of its own, unless it is known."""
        value = self.value(tensor)
        if value.known is not None:
            return value
        if value.buffer.role == "temp" and value.is_plain():
            value.buffer.role, value.buffer.index = "output", index
            return value
        op = tensor.op if tensor.op in stage.ops else stage.ops[-1] if stage.ops else tensor.op
        out = Value(Buffer("output", value.type, value.view.size, index), View.whole(value.shape))
        self.traced.nodes.append(copy_node(op, value, out, self.target.blocked))
        return out


_TRACE: dict[type[Op], Callable[[_Tracer, Operation, list[Value]], list[Value]]] = {
    kinds.Elementwise: _Tracer.elementwise,
    kinds.Reduction: _Tracer.reduction,
    kinds.Rowwise: _Tracer.rowwise,
    kinds.Movement: _Tracer.movement,
    kinds.Kernel: by_hand,
    kinds.Random: by_hand,
    kinds.Read: lambda tracer, op, ins: [tracer.views.read(ins[0])],
    kinds.Update: _Tracer.update,
    kinds.Scatter: _Tracer.scatter,
    kinds.Host: _Tracer.resident,
}
