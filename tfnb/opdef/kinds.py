"""Kinds of op: a class of record for each way in which ops are evaluated. Passes match on the class, never on names.

A body is a scalar definition (kernels.scalar.Scalar): from it follow the NumPy form and the kernels for CPU and GPU.
"""
from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from types import MappingProxyType
from typing import Any

from tfnb.opdef.op import Fn, Op

# What the compiler itself gives a meaning to.


class Pure(Op):
    """An op whose outputs follow from its inputs and attrs alone, unless it is `stateful`."""


class Placeholder(Op):
    """An op whose value is fed."""


class Const(Pure):
    """An op whose value is an attr."""


class Variable(Op):
    """An op whose value lives in the store of the session."""


class Handle(Variable):
    """A variable whose ops take a handle, not a reference; its output is the handle."""


class Control(Op):
    """An op with no value, only an order (NoOp)."""


class ControlTrigger(Control):
    """A control op that runs where its inputs are in branches not taken, too."""


class Flow(Op):
    """Control flow: compile/planning/structure.py recovers branches and loops from these."""


class Switch(Flow):
    """Passes its input on to one of its two outputs."""


class Merge(Flow):
    """Passes on the input that has a value."""


class Enter(Flow):
    """Passes a value into a loop."""


class Exit(Flow):
    """Passes a value out of a loop."""


class NextIteration(Flow):
    """Passes a value on to the next iteration of a loop."""


class LoopCond(Flow):
    """The condition of a loop."""


class Loop(Op):
    """A whole while loop; no graph has one, plans do."""


# What is computed.


class Elementwise(Pure):
    """A scalar definition over broadcast inputs.

    body: the definition, or of an op with a list of inputs fn(number of inputs) -> definition. align: fn(attrs,
    *shapes) -> the shapes that the inputs take before they are broadcast (None: their own). domain: where tests may
    sample the op (tests/domains.py: "positive", "unit", "probability"...; "": everywhere). converts: its output is its
    input in another dtype. of_lists: fn(*lists of tensors) -> one, for inputs of dtype variant.
    """

    body: Any
    align: Fn | None = None
    domain: str = ""
    converts: bool = False
    of_lists: Fn | None = None


class Reduction(Pure):
    """A scalar combination of the elements along some axes.

    body: the combination. identity: the initial accumulator: a number, "lowest" or "highest". axes: fn(attrs, rank) ->
    the axes, of an op that has no input which names them. prepare: definition applied to each element before they are
    combined (L2Loss); finish: that of (accumulator, count) at the end (Mean). accumulators: dtype name -> the
    accumulator's dtype, where it is a wider one (Mean of integers).
    """

    body: Any
    identity: float | str
    axes: Fn | None = None
    prepare: Any = None
    finish: Any = None
    accumulators: Mapping[str, str] = MappingProxyType({})


class Rowwise(Pure):
    """A definition over the last axis, with row reductions in it. rows: the inputs with one element for each row."""

    body: Any
    rows: frozenset[str]


class Movement(Pure):
    """Other strides over the same elements.

    view: fn(view, *values, **attrs) -> kernels.view.View (or several). viewed: index of the input that gets them.
    same: its output is its input, shape and all. fed: its output may be fed, so that it is no constant of the graph.
    """

    view: Fn
    viewed: int = 0
    same: bool = False
    fed: bool = False


class ShapeOf(Pure):
    """An op that is known as soon as the shapes of its inputs are. numpy: fn(*shapes, **attrs) -> value(s)."""

    numpy: Fn


class Kernel(Pure):
    """An op written by hand.

    numpy: fn(ctx, *arrays) -> array(s), the interpreter's form. view: fn(view of the first input, *values of the
    others) -> View where it may be a movement (else it raises NeedsCopy). bounded: (fn(*shapes) -> the shapes that its
    outputs have at most, fn(call) -> launches): its first output has as many rows as only a run decides, which the
    kernel says in one output more, int64. counted: (input, input): each output row follows from the elements that the
    first numbers so, and there are as many as the second says. contraction: kernels.contraction.Contraction, the
    rewrites that the compiler may apply to a matmul. follows: fn(call) -> whether the kernel on a GPU takes the attr
    "epilogue" and a bias as its last input, as a matmul does. joins: fn(call) -> [kernels.library.joining.Part], where
    the inputs that the output is made of lie in it. in_part: fn(op, *parts) -> its output, whose elements are
    elements of its inputs: arrays of objects, None for an element (or a whole input without a shape) that is not known.
    work: fn(call) -> floating-point operations, where these take its time. composition: fn(parts, *values) -> its
    outputs by elementwise definitions and reductions (compile/composing.py); `cpu` and `cuda` are it too. halves:
    how compiled kernels treat 16-bit floats: "widened" to float32, and results rounded; "summed", widened on the CPU,
    and on a GPU read and written as they are; "moved" as 16-bit integers, where the outputs are elements of inputs; ""
    not at all (draws of 16 bits).
    """

    numpy: Fn
    view: Fn | None = None
    bounded: tuple[Fn, Fn] | None = None
    counted: tuple[int, int] | None = None
    contraction: Any = None
    follows: Fn | None = None
    joins: Fn | None = None
    in_part: Fn | None = None
    work: Fn | None = None
    composition: Fn | None = None
    halves: str = "widened"


class Read(Op):
    """The value of the variable behind a handle as it is when the op runs: a snapshot, which later updates leave as it
    is. (A read through a reference is an Identity: an alias of the variable's memory.)"""


class Random(Op):
    """An op written by hand, with a generator state in the store. numpy, halves: as of a Kernel."""

    numpy: Fn
    halves: str = ""


class Writer(Op):
    """An op that writes to the variables behind its Ref inputs, or handles. body: a definition of the new value of
    each, in order."""

    body: Any

    @cached_property
    def targets(self) -> tuple[int, ...]:
        """The indices of the inputs that are written to."""
        return tuple(i for i, arg in enumerate(self.inputs) if arg.is_variable)


class Update(Writer):
    """A writer of whole variables."""


class Scatter(Writer):
    """A writer of the rows that indices pick. form: kernels.scatter.Form, the roles of its inputs."""

    form: Any


class Host(Op):
    """One Python call: strings, summaries, queues. It gets a handle as it is: an object.

    call: fn(*arrays, **attrs) -> array(s). uninitialized: it takes references to variables that have no value yet.
    transient: stateful, but with no effect that outlives the run: a TensorArray, an assertion. together: of a
    "collective" (see Op.role), fn(independent ops of this record) -> [(some of them, record, attrs)]: a plan has one op
    of that record in their place, with all their inputs and outputs. lifts: fn(op) -> whether its results for a first
    input of stacked elements, the others equal, are the stacked results (None: no).
    """

    call: Fn
    uninitialized: bool = False
    transient: bool = False
    together: Fn | None = None
    lifts: Fn | None = None
    handles = frozenset()
