"""Definition of an op: a frozen record, and the kind that supplies all that is usual about it."""
from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from tfnb.opdef.signature import Arg, Attr


class Kind(Enum):
    """The way an op is evaluated. Passes of the compiler look at the kind, never at the name of an op."""

    __hash__ = object.__hash__     # members are singletons; Enum's own hashes their names, in Python

    PLACEHOLDER = "placeholder"    # its value is fed
    CONST = "const"                # its value is an attr
    VARIABLE = "variable"          # its value lives in the store of the session
    CONTROL = "control"            # no value: only an order (NoOp)
    ELEMENTWISE = "elementwise"    # a scalar definition over broadcast inputs
    REDUCTION = "reduction"        # a scalar combination over some axes
    ROWWISE = "rowwise"            # a definition over the last axis, with row reductions in it
    MOVEMENT = "movement"          # other strides over the same numbers
    SHAPEOF = "shapeof"            # known as soon as the shapes of the inputs are
    KERNEL = "kernel"              # hand-written
    RANDOM = "random"              # hand-written, with a generator state in the store
    UPDATE = "update"              # a scalar definition that writes to its Ref inputs
    SCATTER = "scatter"            # the same, to the rows of its Ref inputs that indices pick
    HOST = "host"                  # one Python call (strings, summaries, queues)
    SWITCH = "switch"              # control flow: what these mean together, compile/structure.py finds out
    MERGE = "merge"
    ENTER = "enter"
    EXIT = "exit"
    NEXT_ITERATION = "next iteration"
    LOOP_COND = "loop condition"
    LOOP = "loop"                  # a whole while loop; no graph has one, plans do


FLOW = frozenset({Kind.SWITCH, Kind.MERGE, Kind.ENTER, Kind.EXIT, Kind.NEXT_ITERATION, Kind.LOOP_COND})


@dataclass(frozen=True, slots=True)
class OpSpec:
    """The signature of an op (TensorFlow's official OpDef), its kind and its documentation.

    value_inputs: names of the inputs whose *value* (not only shape) decides the shape or the strides of the outputs.
    total: a hand-written op that can't fail once its shapes fit (a product), unlike one that checks values (a gather).
    waits: it may have to wait for something that another op does (of a queue that is full or empty).
    in_order: a movement op whose output is always its input under another shape: the same memory, as in TensorFlow.
    writes: a host op that writes to the variables behind its Ref inputs.
    """

    name: str
    inputs: tuple[Arg, ...]
    outputs: tuple[Arg, ...]
    attrs: tuple[Attr, ...]
    kind: Kind
    doc: str = ""
    stateful: bool = False
    value_inputs: frozenset[str] = frozenset()
    total: bool = False
    waits: bool = False
    in_order: bool = False
    writes: bool = False

    def attr(self, name: str) -> Attr:
        """The attr called `name`. Raises KeyError if there is none."""
        for attr in self.attrs:
            if attr.name == name:
                return attr
        raise KeyError(name)
