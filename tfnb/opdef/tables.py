"""The tables of aspects, by op name. Every pass reads one of them; users add to the same ones.

OPS        name -> OpSpec
SHAPES     name -> fn(ctx: ShapeContext) -> [static shape of each output]
GRADIENTS  name -> fn(op, *output_gradients) -> gradients of the inputs (None where there is none)
NO_GRADIENT name -> why there is none
SCALARS    name -> kernels.scalar.Scalar (elementwise, update, rowwise; the combination of a reduction), or, for an op
           with a list of inputs, fn(number of inputs) -> Scalar
RANKS      name -> {input: rank, or opdef.ranks.AtLeast}; its shape function checks them
VALIDATE   name -> fn(ctx) over concrete shapes: raises for relations of shapes, attrs and known values that its shape
           function does not check, or not while the graph is built
CHECKS     name -> fn(ctx) over concrete shapes -> [kernels.checks.Check]: values that the op does not take (absent: it
           takes all)
ALIGN      name -> fn(attrs, *shapes) -> the shapes that the inputs of an elementwise op take before they are broadcast
           (absent: their own)
AXES       name -> fn(attrs, rank) -> the axes of a reduction that has no input which names them
PREPARE    name -> kernels.scalar.Scalar of an element, for reductions of something made of it (L2Loss)
FINISH     name -> kernels.scalar.Scalar of (accumulator, count), for reductions that end with one (Mean)
ACCUMULATORS name -> dtype name -> the accumulator's dtype, for reductions with a wider one (Mean of integers)
IDENTITY   name -> what a reduction starts from: a number, "lowest" or "highest"
ROWS       name -> the inputs of a rowwise op that have one number for each row
DOMAINS    name -> where tests may sample the op ("positive", "unit", "nonzero"); absent: everywhere
VIEWS      name -> fn(view, *values, **attrs) -> View (or several), for movement ops and kernels that may be one
VIEWED     name -> which input of a movement op is the one that gets other strides (absent: the first)
INDEXED    name -> (value inputs that its kernel can read in the run, fn(op) -> whether this op is so that it can): for
           all others of its value inputs, and where it can't, values must be known before
SCATTERS   name -> kernels.scatter.Form: how the inputs of a scatter op take part
BOUNDED    name -> (fn(*shapes) -> the shapes its outputs have at most, fn(call) -> launches): its first output has as
           many rows as only a run tells; the kernel has one output more, int64, that says it
COUNTED    name -> (input, input): each output row follows from the elements that the first numbers so, and there are as
           many as the second says
RESIDENT   name -> what a host op does with an element of its first input, a TensorArray or stack ("read", "write",
           "size", "gradient", "push", "pop"): in an iteration of a loop it can be a kernel (compile/residents.py)
PRODUCTS   name -> kernels.contraction.Contraction: the rewrites that the compiler may apply to a matmul
WORK       name -> fn(call) -> how many floating-point operations a hand-written kernel does, where these take its time
NUMPY      name -> fn(ctx, *arrays) -> tuple of arrays: the interpreter
CPU, CUDA  name -> fn(call) -> the hand-written kernel launches (absent: a host call of NUMPY)
"""
from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from tfnb.core.interrupts import held_back
from tfnb.opdef.index import MODULE_OF
from tfnb.opdef.spec import OpSpec

Table = dict[str, Callable[..., Any]]

OPS: dict[str, OpSpec] = {}
SHAPES: Table = {}
GRADIENTS: Table = {}
NO_GRADIENT: dict[str, str] = {}
SCALARS: dict[str, Any] = {}
RANKS: dict[str, dict[str, Any]] = {}
VALIDATE: Table = {}
CHECKS: Table = {}
ALIGN: Table = {}
AXES: Table = {}
PREPARE: dict[str, Any] = {}
FINISH: dict[str, Any] = {}
ACCUMULATORS: dict[str, dict[str, str]] = {}
IDENTITY: dict[str, Any] = {}
ROWS: dict[str, frozenset[str]] = {}
DOMAINS: dict[str, str] = {}
VIEWS: Table = {}
VIEWED: dict[str, int] = {}
SCATTERS: dict[str, Any] = {}
BOUNDED: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {}
COUNTED: dict[str, tuple[int, int]] = {}
INDEXED: dict[str, tuple[frozenset[str], Callable[..., bool]]] = {}
RESIDENT: dict[str, str] = {}
PRODUCTS: dict[str, Any] = {}
WORK: dict[str, Callable[..., int]] = {}
NUMPY: Table = {}
CPU: Table = {}
CUDA: Table = {}


def find_op(name: str) -> OpSpec | None:
    """Return the op of that name, or None. Imports the module that declares it, if nothing else did so far.

    Every look-up by a name that comes from outside (a NodeDef, a user) goes through here; the tables hold all aspects
    of an op as soon as this returned it.
    """
    if name not in OPS and name in MODULE_OF:
        with held_back():
            importlib.import_module(MODULE_OF[name])
    return OPS.get(name)


def op_names() -> frozenset[str]:
    """Return the names of all ops, imported or not."""
    return frozenset(OPS) | MODULE_OF.keys()


def add_op(spec: OpSpec) -> None:
    """Enter an op. Raises ValueError if the name is taken: an op is written once."""
    if spec.name in OPS:
        raise ValueError(f"op {spec.name!r} is declared twice")
    OPS[spec.name] = spec
