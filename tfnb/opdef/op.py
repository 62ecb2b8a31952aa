"""Record of an op: its signature, and what passes ask of any op. `opdef/kinds.py` has a class for each kind."""
from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import FrozenInstanceError
from functools import cached_property
from types import CodeType, MappingProxyType
from typing import Any, ClassVar, Self, dataclass_transform

from tfnb.opdef.signature import Arg, Attr

Fn = Callable[..., Any]


def no_shapes(ctx: Any) -> list[None]:
    """Leave the shapes of all outputs unknown: the default of ops that no graph holds."""
    return [None] * len(ctx.op.outputs)


@dataclass_transform(frozen_default=True, eq_default=False, kw_only_default=True)
class Record:
    """A frozen record, compared by identity: the annotations of its classes are its fields, class attributes defaults.

    Unlike `dataclass`, which compiles methods for each class, it takes no time at `import tfnb` (6 ms for 11 kinds).
    """

    fields: ClassVar[tuple[str, ...]] = ()
    _needed: ClassVar[frozenset[str]] = frozenset()

    def __init_subclass__(cls) -> None:
        own = [name for name in cls.__annotations__ if name not in cls.fields]
        cls.fields += tuple(own)
        cls._needed |= {name for name in own if not hasattr(cls, name)}

    def __init__(self, **given: Any) -> None:
        if not self._needed <= given.keys() <= {*self.fields}:
            raise TypeError(f"{type(self).__name__}: missing fields {sorted(self._needed - given.keys())}, "
                            f"unknown ones {sorted(given.keys() - {*self.fields})}")
        self.__dict__.update(given)

    def replaced(self, **changes: Any) -> Self:
        """Return a record of the same kind with other values of some fields."""
        return type(self)(**{name: getattr(self, name) for name in self.fields} | changes)

    def __setattr__(self, name: str, value: Any) -> None:
        raise FrozenInstanceError(f"cannot assign to field {name!r}")

    def __delattr__(self, name: str) -> None:
        raise FrozenInstanceError(f"cannot delete field {name!r}")


class Op(Record):
    """An op: TensorFlow's official signature (OpDef), documentation, and the aspects that every kind has.

    The class is the kind, its fields are what is special about the op. A node holds the record (`Operation.spec`), so
    nodes that exist keep theirs when a notebook declares an op again. Compared by identity.

    stateful: as the OpDef says. value_inputs: names of the inputs whose *value* (not only shape) decides the shape or
    the strides of the outputs. shape: fn(ctx: ShapeContext) -> [static shape of each output]. ranks: {input: rank, or
    opdef.ranks.AtLeast}; `shape` checks them. validate: fn(ctx) over concrete shapes, raises for relations of shapes,
    attrs and known values that `shape` does not check, or not while the graph is built. checks: fn(ctx) over concrete
    shapes -> [kernels.checks.Check]: values that the op does not take.

    gradient: fn(op, *output_gradients) -> gradients of the inputs (None where there is none). no_gradient: why there
    is none. cpu, cuda: fn(call) -> hand-written kernel launches (None: generated ones, or a host call). indexed:
    (value inputs that these launches can read in the run, fn(op) -> whether this op is so that they can); all others
    of its value inputs must be known before.

    total: a hand-written op that can't fail once its shapes fit (a product), unlike one that checks values (a gather).
    waits: it may have to wait for what another op does (of a queue that is full or empty). calls: a host op that calls
    a Python function of the user, which may wait for anything, without a limit. in_order: a movement whose
    output is always its input under another shape: the same memory, as in TensorFlow. writes: a host op that writes to
    the variables behind its Ref inputs. element: the access of a host op to an element of its first input, a
    TensorArray or stack ("read", "write", "size", "gradient", "push", "pop"): in an iteration of a loop it can be a
    kernel (compile/residents.py). role: its part in training ("optimizer", "initializer", "summary", "merged summary",
    "saver", "queue", "lock", "session handle", "iterator"), for views and for cells that run again; of a "collective",
    which all ranks of a job call, plans keep the order of the graph. nan_hint: the usual
    cause of NaN and infinity in its outputs.
    origin: of an op that a user declared (tf.custom), the code of the function.
    """

    name: str
    inputs: tuple[Arg, ...]
    outputs: tuple[Arg, ...]
    attrs: tuple[Attr, ...]
    doc: str = ""
    stateful: bool = False
    value_inputs: frozenset[str] = frozenset()
    shape: Fn = staticmethod(no_shapes)
    ranks: Mapping[str, Any] = MappingProxyType({})
    validate: Fn | None = None
    checks: Fn | None = None
    gradient: Fn | None = None
    no_gradient: str = ""
    cpu: Fn | None = None
    cuda: Fn | None = None
    indexed: tuple[frozenset[str], Callable[[Any], bool]] | None = None
    total: bool = False
    waits: bool = False
    in_order: bool = False
    writes: bool = False
    element: str = ""
    calls: bool = False
    role: str = ""
    nan_hint: str = ""
    origin: CodeType | None = None

    @cached_property
    def handles(self) -> frozenset[int]:
        """The indices of the inputs that are handles of variables, whose values the op reads or writes itself."""
        return frozenset(i for i, arg in enumerate(self.inputs) if arg.type == "resource")

    def attr(self, name: str) -> Attr:
        """Return the attr called `name`. Raises KeyError if there is none."""
        for attr in self.attrs:
            if attr.name == name:
                return attr
        raise KeyError(name)

    def amend(self, **fields: Any) -> None:
        """Set fields that are stated behind the declaration (`@Op.gradient`, `@Op.finish`...), where alone records
        change. Raises AttributeError for a field that this kind does not have."""
        for name, value in fields.items():
            if name not in self.fields:
                raise AttributeError(f"{self!r} has no field {name!r}", name=name, obj=self)
            self.__dict__[name] = value

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}>"
