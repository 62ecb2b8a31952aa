"""Op declarations: each op once, in its family's file; its kind supplies all that is usual.

A decorator takes the op's official signature, registers a record of its kind (`opdef/kinds.py`) and returns a
`Constructor`: calling it adds a node to a graph, as TensorFlow's generated op functions do. The decorated function
is the definition (a scalar body, a view, a NumPy function) and its docstring the op's documentation.
"""
from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

from tfnb.kernels.contraction import Contraction
from tfnb.kernels.scalar import definition as scalar
from tfnb.kernels.scatter import Form
from tfnb.opdef import kinds, registry
from tfnb.opdef.op import Op
from tfnb.opdef.ranks import Ranks, with_ranks
from tfnb.opdef.signature import read_signature
from tfnb.ops.declaration import shapes
from tfnb.ops.declaration.construct import Constructor

Fn = Callable[..., Any]


def fields(fn: Fn, text: str, attrs: dict[str, str], shape: Fn, ranks: Ranks | None = None,
            validate: Fn | None = None, values: Iterable[str] = ()) -> dict[str, Any]:
    """Return the fields that an op of any kind has (an attr called as a parameter of the decorator, `shape`, is given
    as `shape_`). Raises ValueError for ranks of what is no input."""
    inputs, outputs, read = read_signature(text, {name.rstrip("_"): attr for name, attr in attrs.items()})
    unknown = set(ranks or ()) - {arg.name for arg in inputs}
    if unknown:
        raise ValueError(f"op {fn.__name__}: ranks names {sorted(unknown)}, which are not inputs")
    return {"name": fn.__name__, "inputs": inputs, "outputs": outputs, "attrs": read, "doc": (fn.__doc__ or "").strip(),
            "value_inputs": frozenset(values), "shape": with_ranks(inputs, ranks, shape) if ranks else shape,
            "ranks": dict(ranks or {}), "validate": validate}


def declared(op: Op) -> Constructor:
    """Register an op and return its constructor."""
    registry.add(op)
    return Constructor(op)


def behind_handle(of: Constructor, name: str) -> Constructor:
    """Declare the op `name` that does behind a resource handle what `of` does behind a string reference."""
    spec = of.spec
    inputs, outputs = ([replace(arg, type="resource", is_ref=False) if arg.is_ref else arg for arg in args]
                       for args in (spec.inputs, spec.outputs))
    return declared(spec.replaced(name=name, inputs=tuple(inputs), outputs=tuple(outputs), stateful=True))


def behind_reference(of: Constructor, without: Iterable[str] = ()) -> Constructor:
    """Declare the older form of an op named "...V2": behind a string reference it does what `of` does behind a handle.

    Graphs of early releases have it. without: the attrs that it lacks.
    """
    spec = of.spec
    inputs, outputs = ([replace(arg, type="string", is_ref=True) if arg.type == "resource" else arg for arg in args]
                       for args in (spec.inputs, spec.outputs))
    old = declared(spec.replaced(
        name=spec.name[:-2], inputs=tuple(inputs), outputs=tuple(outputs),
        attrs=tuple(attr for attr in spec.attrs if attr.name not in without),
        stateful=not any(arg.is_ref for arg in inputs)))
    old.no_gradient("it deals with a queue, a reader or a stack, behind a reference")
    return old


def elementwise(text: str, *, shape: Fn = shapes.broadcast_inputs, ranks: Ranks | None = None,
                validate: Fn | None = None, domain: str = "", align: Fn | None = None, variadic: Fn | None = None,
                converts: bool = False, of_lists: Fn | None = None, **attrs: str) -> Callable[[Fn], Constructor]:
    """Declare an op whose outputs have, at each element, a scalar definition of its (broadcast) inputs there.

    domain: where tests may sample the definition: "positive", "unit" (-1 to 1), "nonzero"... (tests/domains.py). align:
    fn(attrs, *shapes) -> the shapes that the inputs take before they are broadcast. variadic: of an op with a list of
    inputs, fn(their number) -> the definition as a function. converts, of_lists: see `kinds.Elementwise`, ranks and
    validate: `kernel`.
    """
    def declare(fn: Fn) -> Constructor:
        """Register the op that `fn` defines: its name, its docstring, its body."""
        body = lru_cache(lambda n: scalar.read(variadic(n))) if variadic else scalar.read(fn)
        return declared(kinds.Elementwise(**fields(fn, text, attrs, shape, ranks, validate), body=body, align=align,
                                          domain=domain, converts=converts, of_lists=of_lists))
    return declare


def reduction(text: str, *, identity: float | str, axes: Fn | None = None, shape: Fn = shapes.reduced,
              accumulators: Mapping[str, str] | None = None, ranks: Ranks | None = None,
              **attrs: str) -> Callable[[Fn], Constructor]:
    """Declare an op that reduces the axes that its second input names, or `axes`: fn(attrs, rank) -> axes.

    The definition is `(acc, x) -> acc`; `identity` is what the accumulator starts from: a number, "lowest" or
    "highest" of the dtype. Attr `keep_dims` keeps the reduced axes with size 1. accumulators: dtype -> the dtype of
    its accumulator, where that is a wider one. ranks: see `kernel`.
    """
    def declare(fn: Fn) -> Constructor:
        """Register the op that `fn` defines: its name, its docstring, its body."""
        named = () if axes else (read_signature(text, attrs)[0][1].name,)
        return declared(kinds.Reduction(**fields(fn, text, attrs, shape, ranks, values=named), body=scalar.read(fn),
                                        identity=identity, axes=axes, accumulators=accumulators or {}))
    return declare


def rowwise(text: str, *, rows: Iterable[str] = (), shape: Fn = shapes.rowwise,
            **attrs: str) -> Callable[[Fn], Constructor]:
    """Declare an op over the last axis: its definition may use the row reductions rowsum, rowmax, rowmin and column().

    rows: the inputs that have one number for each row (one axis less).
    """
    def declare(fn: Fn) -> Constructor:
        """Register the op that `fn` defines: its name, its docstring, its body."""
        return declared(kinds.Rowwise(**fields(fn, text, attrs, shape), body=scalar.read(fn), rows=frozenset(rows)))
    return declare


_BOUNDS = frozenset({"begin", "end"})


def movement(text: str, *, shape: Fn, ranks: Ranks | None = None, validate: Fn | None = None, of: int = 0,
             cpu: Fn | None = None, indexed: Fn | None = None, in_order: bool = False,
             same: bool = False, fed: bool = False, **attrs: str) -> Callable[[Fn], Constructor]:
    """Declare an op that gives other strides to one input (index `of`); its other inputs decide which.

    The definition takes the view of that input and the values of the others, in order, and returns a view, or a tuple
    of them for several outputs. indexed: fn(op) -> whether the kernel `cpu` can copy what it takes where inputs called
    begin and end are not known before. in_order: see Op, same, fed: `kinds.Movement`. ranks, validate: see `kernel`.
    """
    def declare(fn: Fn) -> Constructor:
        """Register the op that `fn` defines: its name, its docstring, its body."""
        others = [arg.name for i, arg in enumerate(read_signature(text, attrs)[0]) if i != of]
        return declared(kinds.Movement(**fields(fn, text, attrs, shape, ranks, validate, others), view=fn, viewed=of,
                                       in_order=in_order, same=same, fed=fed, indexed=indexed and (_BOUNDS, indexed),
                                       cpu=cpu))
    return declare


def kernel(text: str, *, shape: Fn, numpy: Fn, ranks: Ranks | None = None, validate: Fn | None = None,
           launch: Fn | None = None, cpu: Fn | None = None, cuda: Fn | None = None, values: Iterable[str] = (),
           total: bool = False, view: Fn | None = None, indexed: Fn | None = None,
           bounded: tuple[Fn, Fn] | None = None, counted: tuple[int, int] | None = None,
           contraction: Contraction | None = None, follows: Fn | None = None, joins: Fn | None = None,
           in_part: Fn | None = None, work: Fn | None = None, composition: Fn | None = None, halves: str = "widened",
           stateful: bool = False, **attrs: str) -> Callable[[Fn], Constructor]:
    """Declare an op with hand-written kernels. numpy: fn(ctx, *arrays) -> array(s); launch: fn(call) -> [Launch], of
    kernel functions (kernels/functions/kernel.py), on CPU and GPU; cpu, cuda: the same for one of them.

    ranks: {input: its rank, or AtLeast(rank)}, checked when the op is added to a graph and when it runs. validate:
    fn(ctx) over concrete shapes raises ValueError, or an OpError, for relations of shapes, attrs and known values that
    `shape` leaves to the run. An op with kernels checks nothing in `numpy` itself: see ops/declaration/validate.py.

    view: where it may be a movement: fn(view of the first input, *values of the others) -> View, or raises NeedsCopy.

    values: the inputs whose value, not only shape, decides the shape of the outputs. Without a launch the op is a host
    call of `numpy` wherever it runs. total: it can't fail once its shapes fit. indexed: see `movement`. bounded,
    counted, contraction, follows, joins, in_part, work, composition, halves: see `kinds.Kernel`.
    """
    def declare(fn: Fn) -> Constructor:
        """Register the op that `fn` defines: its name, its docstring, its body."""
        return declared(kinds.Kernel(**fields(fn, text, attrs, shape, ranks, validate, values), numpy=numpy,
                                     cpu=cpu or launch or composition, cuda=cuda or launch or composition,
                                     total=total, stateful=stateful, view=view, composition=composition,
                                     indexed=indexed and (_BOUNDS, indexed), bounded=bounded, counted=counted,
                                     contraction=contraction, follows=follows, joins=joins, in_part=in_part,
                                     work=work, halves=halves))
    return declare


def random(text: str, *, shape: Fn, numpy: Fn, ranks: Ranks | None = None, validate: Fn | None = None,
           launch: Fn | None = None, cpu: Fn | None = None, cuda: Fn | None = None, values: Iterable[str] = (),
           stateful: bool = True, halves: str = "", **attrs: str) -> Callable[[Fn], Constructor]:
    """As `kernel`, with a generator state (`ctx.state`, `call.state`) that each op has in each session.

    stateful: as TensorFlow declares it. halves: see `kinds.Kernel`.
    """
    def declare(fn: Fn) -> Constructor:
        """Register the op that `fn` defines: its name, its docstring, its body."""
        return declared(kinds.Random(**fields(fn, text, attrs, shape, ranks, validate, values), stateful=stateful,
                                     numpy=numpy, cpu=cpu or launch, cuda=cuda or launch, halves=halves))
    return declare


def shapeof(text: str, *, shape: Fn, **attrs: str) -> Callable[[Fn], Constructor]:
    """Declare an op that depends on the shapes of its inputs only: fn(*shapes, **attrs) -> NumPy value(s)."""
    def declare(fn: Fn) -> Constructor:
        """Register the op that `fn` defines: its name, its docstring, its body."""
        return declared(kinds.ShapeOf(**fields(fn, text, attrs, shape), numpy=fn))
    return declare


def update(text: str, *, shape: Fn = shapes.like_first, ranks: Ranks | None = None, validate: Fn | None = None,
           role: str = "optimizer", **attrs: str) -> Callable[[Fn], Constructor]:
    """Declare an op that writes to its Ref inputs: the definition returns the new value of each Ref input, in order.

    ranks, validate: see `kernel`; role: see Op.
    """
    def declare(fn: Fn) -> Constructor:
        """Register the op that `fn` defines: its name, its docstring, its body."""
        return declared(kinds.Update(**fields(fn, text, attrs, shape, ranks, validate), body=scalar.read(fn),
                                     role=role, no_gradient="it writes to a variable"))
    return declare


def scatter(text: str, *, shape: Fn, ranks: Ranks | None = None, validate: Fn | None = None,
            rows: Iterable[str] = ("updates",), vectors: bool = False, of: Constructor | None = None,
            **attrs: str) -> Callable[[Fn], Constructor]:
    """As `update`, but to the rows of the Ref inputs that the input `indices` picks.

    The definition gets the numbers of all inputs but the indices, in order. rows: the inputs with a row for each
    index (or a scalar); other inputs are scalars. vectors: the last axis of the indices holds the coordinates of one
    slice each. An index that comes twice is applied twice. of: the update whose definition it applies to rows; then
    the decorated function has only a name and documentation. ranks, validate: see `kernel`.
    """
    def declare(fn: Fn) -> Constructor:
        """Register the op that `fn` defines: its name, its docstring, its body."""
        stated = fields(fn, text, attrs, shape, ranks, validate)
        names = [arg.name for arg in stated["inputs"]]
        body = of.spec.body if of is not None and isinstance(of.spec, kinds.Update) else scalar.read(fn)
        form = Form(body, tuple(i for i, arg in enumerate(stated["inputs"]) if arg.is_ref), names.index("indices"),
                    frozenset(names.index(name) for name in rows), vectors)
        return declared(kinds.Scatter(**stated, body=body, form=form, role="optimizer",
                                      no_gradient="it writes to a variable"))
    return declare


def host(text: str, *, shape: Fn, ranks: Ranks | None = None, validate: Fn | None = None, stateful: bool = False,
         waits: bool = False, element: str = "", writes: bool = False, calls: bool = False, role: str = "",
         uninitialized: bool = False, transient: bool = False, together: Fn | None = None,
         lifts: Fn | None = None, **attrs: str) -> Callable[[Fn], Constructor]:
    """Declare an op that is one Python call: fn(*arrays, **attrs) -> array or tuple (strings: object arrays of bytes).

    A definition with a keyword-only parameter `ctx` gets the run context (the op, the store of the session). waits:
    it may wait, for at most `ctx.timeout`, for what another op does. element: what it does with an element of its
    first input (see Op). writes: it writes to the variables behind its Ref inputs. calls: it calls a function of the
    user. role: see Op, uninitialized, transient, together, lifts: `kinds.Host`, ranks, validate: `kernel`.
    """
    def declare(fn: Fn) -> Constructor:
        """Register the op that `fn` defines: its name, its docstring, its body."""
        return declared(kinds.Host(**fields(fn, text, attrs, shape, ranks, validate), call=fn,
                                   stateful=stateful or transient, waits=waits, element=element, writes=writes,
                                   calls=calls, role=role, uninitialized=uninitialized, transient=transient,
                                   together=together, lifts=lifts))
    return declare


def one_by_one(_: Any) -> bool:
    """Say of a host op (`lifts`) that it takes the elements of its first input one by one, whatever its shape."""
    return True


def scalars(*names: str) -> Fn:
    """Return a validation (see `kernel`) that raises ValueError unless these inputs are scalars.

    For ops of which TensorFlow checks that only when they run; else `ranks` says it.
    """
    def validate(ctx: Any) -> None:
        """Raise ValueError for an input that is no scalar."""
        for i, arg in enumerate(ctx.op.spec.inputs):
            if arg.name in names and ctx.shape(i):
                raise ValueError(f"{arg.name} must be scalar, got shape {list(ctx.shape(i))}")
    return validate


def structural(text: str, kind: type[Op], *, shape: Fn, stateful: bool = False,
               **attrs: str) -> Callable[[Fn], Constructor]:
    """Declare an op to which the compiler itself gives a meaning: placeholders, constants, variables, NoOp."""
    def declare(fn: Fn) -> Constructor:
        """Register the op that `fn` defines: its name, its docstring, its body."""
        return declared(kind(**fields(fn, text, attrs, shape), stateful=stateful))
    return declare
