"""Op declarations: each op once, in its family's file; its kind supplies all that is usual.

A decorator takes the op's official signature, registers it in the tables of `opdef/tables.py` and returns
a `Constructor`: calling it adds a node to a graph, as TensorFlow's generated op functions do. The decorated function
is the definition (a scalar body, a view, a NumPy function) and its docstring the op's documentation.
"""
from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any

from tfnb.kernels import scalar
from tfnb.kernels.scatter import Form
from tfnb.opdef import tables
from tfnb.opdef.ranks import Ranks, with_ranks
from tfnb.opdef.signature import read_signature
from tfnb.opdef.spec import Kind, OpSpec
from tfnb.ops import shapes
from tfnb.ops.construct import Constructor

Fn = Callable[..., Any]


def _enter(fn: Fn, text: str, kind: Kind, attrs: dict[str, str], *, stateful: bool = False,
           values: Iterable[str] = (), total: bool = False, waits: bool = False, in_order: bool = False,
           writes: bool = False) -> OpSpec:
    """Read the signature (an attr called as a parameter of the decorator, `shape`, is given as `shape_`)."""
    attrs = {name.rstrip("_"): attr for name, attr in attrs.items()}  # shape_: the attr, not the keyword
    inputs, outputs, read = read_signature(text, {name.rstrip("_"): spec for name, spec in attrs.items()})
    doc = (fn.__doc__ or "").strip()
    spec = OpSpec(fn.__name__, inputs, outputs, read, kind, doc, stateful, frozenset(values), total, waits,
                  in_order, writes)
    tables.add_op(spec)
    return spec


def _check(spec: OpSpec, shape: Fn, ranks: Ranks | None = None, validate: Fn | None = None) -> None:
    """Enter the shape function of an op, and what is checked beside it (see `kernel`)."""
    tables.SHAPES[spec.name] = with_ranks(spec, shape, ranks) if ranks else shape
    if validate is not None:
        tables.VALIDATE[spec.name] = validate


def elementwise(text: str, *, shape: Fn = shapes.broadcast_inputs, ranks: Ranks | None = None, domain: str = "",
                align: Fn | None = None, variadic: Fn | None = None, **attrs: str) -> Callable[[Fn], Constructor]:
    """Declare an op whose outputs have, at each element, a scalar definition of its (broadcast) inputs there.

    domain: where the definition may be sampled by tests, e.g. "positive", "unit" (-1 to 1), "nonzero". align:
    fn(attrs, *shapes) -> the shapes that the inputs take before they are broadcast. variadic: of an op with a list of
    inputs, fn(their number) -> the definition as a function. ranks: see `kernel`.
    """
    def declare(fn: Fn) -> Constructor:
        """Register the op that `fn` defines: its name, its docstring, its body."""
        spec = _enter(fn, text, Kind.ELEMENTWISE, attrs)
        tables.SCALARS[spec.name] = lru_cache(lambda n: scalar.read(variadic(n))) if variadic else scalar.read(fn)
        _check(spec, shape, ranks)
        if align:
            tables.ALIGN[spec.name] = align
        if domain:
            tables.DOMAINS[spec.name] = domain
        return Constructor(spec)
    return declare


def reduction(text: str, *, identity: float | str, axes: Fn | None = None, ranks: Ranks | None = None,
              **attrs: str) -> Callable[[Fn], Constructor]:
    """Declare an op that reduces the axes that its second input names, or `axes`: fn(attrs, rank) -> axes.

    The definition is `(acc, x) -> acc`; `identity` is what the accumulator starts from: a number, "lowest" or
    "highest" of the dtype. Attr `keep_dims` keeps the reduced axes with size 1. ranks: see `kernel`.
    """
    def declare(fn: Fn) -> Constructor:
        """Register the op that `fn` defines: its name, its docstring, its body."""
        named = () if axes else (read_signature(text, attrs)[0][1].name,)
        spec = _enter(fn, text, Kind.REDUCTION, attrs, values=named)
        tables.SCALARS[spec.name] = scalar.read(fn)
        tables.IDENTITY[spec.name] = identity
        if axes:
            tables.AXES[spec.name] = axes
        _check(spec, shapes.reduced, ranks)
        return Constructor(spec)
    return declare


def rowwise(text: str, *, rows: Iterable[str] = (), shape: Fn = shapes.rowwise,
            **attrs: str) -> Callable[[Fn], Constructor]:
    """Declare an op over the last axis: its definition may use the row reductions rowsum, rowmax, rowmin and column().

    rows: the inputs that have one number for each row (one axis less).
    """
    def declare(fn: Fn) -> Constructor:
        """Register the op that `fn` defines: its name, its docstring, its body."""
        spec = _enter(fn, text, Kind.ROWWISE, attrs)
        tables.SCALARS[spec.name] = scalar.read(fn)
        tables.ROWS[spec.name] = frozenset(rows)
        tables.SHAPES[spec.name] = shape
        return Constructor(spec)
    return declare


_BOUNDS = frozenset({"begin", "end"})


def movement(text: str, *, shape: Fn, ranks: Ranks | None = None, validate: Fn | None = None, of: int = 0,
             cpu: Fn | None = None, indexed: Fn | None = None, in_order: bool = False,
             **attrs: str) -> Callable[[Fn], Constructor]:
    """Declare an op that gives other strides to one input (index `of`); its other inputs decide which.

    The definition takes the view of that input and the values of the others, in order, and returns a view, or a tuple
    of them for several outputs. indexed: fn(op) -> whether the kernel `cpu` can copy what it takes where inputs called
    begin and end are not known before. in_order: see OpSpec. ranks, validate: see `kernel`.
    """
    def declare(fn: Fn) -> Constructor:
        """Register the op that `fn` defines: its name, its docstring, its body."""
        inputs = read_signature(text, attrs)[0]
        spec = _enter(fn, text, Kind.MOVEMENT, attrs, values=[arg.name for i, arg in enumerate(inputs) if i != of],
                      in_order=in_order)
        if of:
            tables.VIEWED[spec.name] = of
        tables.VIEWS[spec.name] = fn
        _check(spec, shape, ranks, validate)
        _add_indexed(spec, indexed)
        if cpu is not None:
            tables.CPU[spec.name] = cpu
        return Constructor(spec)
    return declare


def _add_indexed(spec: OpSpec, fits: Fn | None) -> None:
    if fits is not None:
        tables.INDEXED[spec.name] = _BOUNDS, fits


def kernel(text: str, *, shape: Fn, numpy: Fn, ranks: Ranks | None = None, validate: Fn | None = None,
           launch: Fn | None = None, cpu: Fn | None = None, cuda: Fn | None = None, values: Iterable[str] = (),
           total: bool = False, view: Fn | None = None, indexed: Fn | None = None,
           **attrs: str) -> Callable[[Fn], Constructor]:
    """Declare an op with hand-written kernels. numpy: fn(ctx, *arrays) -> array(s); launch: fn(call) -> [Launch], of
    kernel functions (kernels/functions.py), on CPU and GPU; cpu, cuda: the same for one of them.

    ranks: {input: its rank, or AtLeast(rank)}, checked when the op is added to a graph and when it runs. validate:
    fn(ctx) over concrete shapes raises ValueError, or an OpError, for relations of shapes, attrs and known values that
    `shape` leaves to the run. An op with kernels checks nothing in `numpy` itself: see ops/validate.py.

    view: where it may be a movement: fn(view of the first input, *values of the others) -> View, or raises NeedsCopy.

    values: the inputs whose value, not only shape, decides the shape of the outputs. Without a launch the op is a host
    call of `numpy` wherever it runs. total: it can't fail once its shapes fit. indexed: see `movement`.
    """
    def declare(fn: Fn) -> Constructor:
        """Register the op that `fn` defines: its name, its docstring, its body."""
        spec = _enter(fn, text, Kind.KERNEL, attrs, values=values, total=total)
        if view is not None:
            tables.VIEWS[spec.name] = view
        _add_indexed(spec, indexed)
        _check(spec, shape, ranks, validate)
        _hand_written(spec, numpy, cpu or launch, cuda or launch)
        return Constructor(spec)
    return declare


def random(text: str, *, shape: Fn, numpy: Fn, ranks: Ranks | None = None, validate: Fn | None = None,
           launch: Fn | None = None, cpu: Fn | None = None, cuda: Fn | None = None, values: Iterable[str] = (),
           **attrs: str) -> Callable[[Fn], Constructor]:
    """As `kernel`, with a generator state (`ctx.state`, `call.state`) that each op has in each session."""
    def declare(fn: Fn) -> Constructor:
        """Register the op that `fn` defines: its name, its docstring, its body."""
        spec = _enter(fn, text, Kind.RANDOM, attrs, stateful=True, values=values)
        _check(spec, shape, ranks, validate)
        _hand_written(spec, numpy, cpu or launch, cuda or launch)
        return Constructor(spec)
    return declare


def _hand_written(spec: OpSpec, numpy: Fn, cpu: Fn | None, cuda: Fn | None) -> None:
    tables.NUMPY[spec.name] = numpy
    if cpu is not None:
        tables.CPU[spec.name] = cpu
    if cuda is not None:
        tables.CUDA[spec.name] = cuda


def shapeof(text: str, *, shape: Fn, **attrs: str) -> Callable[[Fn], Constructor]:
    """Declare an op that depends on the shapes of its inputs only: fn(*shapes, **attrs) -> NumPy value(s)."""
    def declare(fn: Fn) -> Constructor:
        """Register the op that `fn` defines: its name, its docstring, its body."""
        spec = _enter(fn, text, Kind.SHAPEOF, attrs)
        tables.SHAPES[spec.name] = shape
        tables.NUMPY[spec.name] = fn
        return Constructor(spec)
    return declare


def update(text: str, *, shape: Fn = shapes.like_first, ranks: Ranks | None = None, validate: Fn | None = None,
           **attrs: str) -> Callable[[Fn], Constructor]:
    """Declare an op that writes to its Ref inputs: the definition returns the new value of each Ref input, in order.

    ranks, validate: see `kernel`.
    """
    def declare(fn: Fn) -> Constructor:
        """Register the op that `fn` defines: its name, its docstring, its body."""
        spec = _enter(fn, text, Kind.UPDATE, attrs)
        tables.SCALARS[spec.name] = scalar.read(fn)
        _check(spec, shape, ranks, validate)
        tables.NO_GRADIENT[spec.name] = "it writes to a variable"
        return Constructor(spec)
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
        spec = _enter(fn, text, Kind.SCATTER, attrs)
        names = [arg.name for arg in spec.inputs]
        definition = scalar.read(fn) if of is None else tables.SCALARS[of.spec.name]
        form = Form(definition, tuple(i for i, arg in enumerate(spec.inputs) if arg.is_ref),
                    names.index("indices"), frozenset(names.index(name) for name in rows), vectors)
        tables.SCATTERS[spec.name], tables.SCALARS[spec.name] = form, form.scalar
        _check(spec, shape, ranks, validate)
        tables.NO_GRADIENT[spec.name] = "it writes to a variable"
        return Constructor(spec)
    return declare


def host(text: str, *, shape: Fn, ranks: Ranks | None = None, validate: Fn | None = None, stateful: bool = False,
         waits: bool = False, element: str | None = None, writes: bool = False,
         **attrs: str) -> Callable[[Fn], Constructor]:
    """Declare an op that is one Python call: fn(*arrays, **attrs) -> array or tuple (strings: object arrays of bytes).

    A definition with a keyword-only parameter `ctx` gets the run context (the op, the store of the session). waits:
    it may wait, for at most `ctx.timeout`, for what another op does. element: what it does with an element of its
    first input (tables.RESIDENT). writes: it writes to the variables behind its Ref inputs. ranks, validate:
    see `kernel`.
    """
    def declare(fn: Fn) -> Constructor:
        """Register the op that `fn` defines: its name, its docstring, its body."""
        spec = _enter(fn, text, Kind.HOST, attrs, stateful=stateful, waits=waits, writes=writes)
        _check(spec, shape, ranks, validate)
        tables.NUMPY[spec.name] = fn
        if element is not None:
            tables.RESIDENT[spec.name] = element
        return Constructor(spec)
    return declare


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


def structural(text: str, kind: Kind, *, shape: Fn, stateful: bool = False,
               **attrs: str) -> Callable[[Fn], Constructor]:
    """Declare an op to which the compiler itself gives a meaning: placeholders, constants, variables, NoOp."""
    def declare(fn: Fn) -> Constructor:
        """Register the op that `fn` defines: its name, its docstring, its body."""
        spec = _enter(fn, text, kind, attrs, stateful=stateful)
        tables.SHAPES[spec.name] = shape
        return Constructor(spec)
    return declare
