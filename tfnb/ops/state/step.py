"""Steps of optimizers: an op on whole variables, the same on rows of them, and both by handles, from one definition.

The definition takes numbers: of the variable, of its slots, the hyperparameters and the gradient, in the order of the
op's inputs, and returns the new ones of the variable and of each slot. Its annotations are the types of the inputs.
"""
from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from tfnb.core.shape import Static, merge
from tfnb.kernels.scalar import definition as scalar
from tfnb.kernels.scatter import Form
from tfnb.opdef import kinds
from tfnb.opdef.op import Op
from tfnb.opdef.signature import Arg, read_signature
from tfnb.ops.declaration.construct import Constructor
from tfnb.ops.declaration.declare import declared, fields
from tfnb.ops.state.resource_variables import by_handle

Ref = Any           # annotations of a definition: the variable or a slot of it
T = Any             # a number of the variable's dtype
Int64 = Any
cast: Any = None    # a primitive that definitions alone have: a number of the variable's dtype
_TYPES = {"Ref": "Ref(T)", "T": "T", "Int64": "int64"}
GRADIENTS = ("grad", "delta")


def step(*, rows: bool = True, references: bool = True) -> Callable[[Callable[..., Any]], Constructor]:
    """Declare ApplyX by the scalar definition `ApplyX(var: Ref, slot: Ref, lr: T, grad: T, *, flag: bool = False)`.

    ResourceApplyX follows from it and, unless `rows` is False (TensorFlow has none), SparseApplyX and
    ResourceSparseApplyX: they update the rows at `indices` and leave the others as they are. references: whether
    TensorFlow has the step by references; else there are those by handles only.
    """
    def declare(fn: Callable[..., Any]) -> Constructor:
        """Register the ops that `fn` defines."""
        whole = whole_step(fn, ", ".join(_inputs(fn)), {"T": "numbertype", **_attrs(fn)}, scalar.read(fn))
        for spec in [whole, rows_step(whole)] if rows else [whole]:
            for made in [spec, by_handle(spec)] if references else [by_handle(spec)]:
                declared(made)
        return Constructor(whole)
    return declare


def whole_step(fn: Callable[..., Any], inputs: str, attrs: dict[str, str], body: Any, **stated: Any) -> kinds.Update:
    """Return the record of the step on whole variables, with the name of `fn` or a `name=`."""
    given = fields(fn, f"{inputs} -> out: Ref(T)", attrs, _whole_shape, validate=_computes_type)
    return kinds.Update(**given | stated, body=body, role="optimizer", no_gradient="it writes to a variable")


def rows_step(whole: kinds.Update) -> kinds.Scatter:
    """Return the record of the same step on the rows that an input `indices`, behind the gradient, picks."""
    inputs = [arg for given in whole.inputs for arg in _with_indices(given)]
    names = [arg.name for arg in inputs]
    form = Form(whole.body, tuple(i for i, arg in enumerate(inputs) if arg.is_ref), names.index("indices"),
                frozenset({names.index("grad")}))
    kept = {name: getattr(whole, name) for name in whole.fields}
    first, *others = whole.attrs
    return kinds.Scatter(**kept | {
        "name": f"Sparse{whole.name}", "doc": f"Apply {whole.name} to the rows at `indices`.", "inputs": tuple(inputs),
        "attrs": (first, *read_signature("", {"Tindices": "indextype"})[2], *others), "shape": _rows_shape}, form=form)


def _with_indices(arg: Arg) -> list[Arg]:
    if arg.name not in GRADIENTS:
        return [arg]
    return [replace(arg, name="grad"), *read_signature("indices: Tindices", {"Tindices": "indextype"})[0]]


def _inputs(fn: Callable[..., Any]) -> Iterator[str]:
    for p in inspect.signature(fn).parameters.values():
        if p.kind is not p.KEYWORD_ONLY:
            yield f"{p.name}: {_TYPES[p.annotation]}"


def _attrs(fn: Callable[..., Any]) -> dict[str, str]:
    flags = {p.name: f"bool = {str(p.default).lower()}" for p in inspect.signature(fn).parameters.values()
             if p.kind is p.KEYWORD_ONLY}
    return {"use_locking": "bool = false", **flags}


def _of_variable(spec: Op, ctx: Any) -> Static:
    """Return the shape that the variable and its slots have in common. Raises ValueError for a vector of rates."""
    common: Static = None
    for i, arg in enumerate(spec.inputs):
        if arg.is_variable:
            common = merge(common, ctx.shape(i))
        elif arg.name not in (*GRADIENTS, "indices"):
            merge(ctx.shape(i), ())
    return common


def _at(spec: Op, *names: str) -> int:
    return next(i for i, arg in enumerate(spec.inputs) if arg.name in names)


def _whole_shape(ctx: Any) -> list[Static]:
    """Infer the shapes: variable, slots and gradient have one; other inputs are scalars."""
    spec = ctx.op.spec
    return [merge(_of_variable(spec, ctx), ctx.shape(_at(spec, *GRADIENTS)))]


def _rows_shape(ctx: Any) -> list[Static]:
    """Infer the shapes: as those of the step on whole variables, but the gradient has a row for each index."""
    spec = ctx.op.spec
    variable = _of_variable(spec, ctx)
    indices = merge(ctx.shape(_at(spec, "indices")), (None,))
    assert indices is not None
    if variable is not None:
        if not variable:
            raise ValueError("Shape must be at least rank 1 but is rank 0")
        merge(ctx.shape(_at(spec, "grad")), indices + variable[1:])
    return [variable]


def _computes_type(ctx: Any) -> None:
    """Raise ValueError for integers, which the steps of optimizers are not defined for, as in TensorFlow."""
    dtype = ctx.attrs["T"]
    if not (dtype.is_floating or dtype.is_complex):
        raise ValueError(f"No OpKernel was registered to support Op {ctx.op.type!r} with T={dtype.name}: expected a "
                         "floating-point or complex dtype")
