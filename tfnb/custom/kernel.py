"""Item kernels that users declare: a function that writes one element of an output."""
from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Sequence
from math import prod
from types import FunctionType, SimpleNamespace
from typing import Any

import numpy as np

from tfnb.core.options import has_compiler
from tfnb.core.shape import Static
from tfnb.custom.by_numba import looped
from tfnb.custom.by_python import each_item
from tfnb.custom.definition import (
    CustomOp,
    Parameters,
    declared,
    error_at,
    official_types,
    op_name,
    parameters,
    plain,
)
from tfnb.custom.flattening import Flattened
from tfnb.kernels.functions.definition import KernelSyntaxError
from tfnb.kernels.functions.kernel import KernelFunction
from tfnb.kernels.functions.played import played
from tfnb.kernels.launch import Call, Launch
from tfnb.kernels.library.copying import fill
from tfnb.opdef import kinds
from tfnb.opdef.op import Op
from tfnb.opdef.signature import read_signature
from tfnb.ops.declaration.declare import fields
from tfnb.ops.declaration.validate import Concrete

NUMBERS = "{float, double, int8, int16, int32, int64, uint8, uint16, uint32, uint64, bool}"
COST = 64                       # of an item, for the share of a thread: 1,024 of them


class CustomKernel(CustomOp):
    """An item kernel that a user declared. `op.python(*arrays, **attrs)` runs it as plain Python, for a debugger."""

    def python(self, *arrays: Any, **attrs: Any) -> Any:
        """Run the function as it is written, for one element after another; return its outputs as arrays."""
        given = [np.ascontiguousarray(a) for a in arrays]
        attrs = self._defaults | attrs
        out = _outputs(SimpleNamespace(spec=self.spec, attrs=attrs), given)
        if _is_empty(given, out):
            return out[0] if len(out) == 1 else out
        wrapped = [_Nearest(a) for a in (*given, *out)]
        fn = plain(inspect.unwrap(self.__wrapped__))
        named = {p.name: attrs[p.name] for p in inspect.signature(fn).parameters.values() if p.kind is p.KEYWORD_ONLY}
        for place in itertools.product(*map(range, out[0].shape)):
            fn(*wrapped, *place, **named)
        return out[0] if len(out) == 1 else out


class _Nearest:
    """An array whose border is repeated: see flattening.py."""

    def __init__(self, array: np.ndarray) -> None:
        self._array, self.shape, self.ndim = array, array.shape, array.ndim

    def __len__(self) -> int:
        return len(self._array)

    def __getitem__(self, place: Any) -> Any:
        several = place if isinstance(place, tuple) else (place,)
        return self._array[tuple(min(max(int(i), 0), n - 1) for i, n in zip(several, self.shape, strict=True))]

    def __setitem__(self, place: Any, value: Any) -> None:
        several = place if isinstance(place, tuple) else (place,)
        if all(0 <= i < n for i, n in zip(several, self.shape, strict=True)):
            self._array[several] = value


def kernel(signature: str, *, shape: str | Callable[..., Any] | None = None, name: str | None = None,
           dtypes: Any = NUMBERS) -> Callable[[Callable[..., Any]], CustomKernel]:
    """Declare an op by a function that computes one element of its output.

    signature: inputs and outputs, as `"image: T -> smooth: T"`; T is one of `dtypes`. The function's positional
    parameters are the inputs, the outputs, and an index for each axis of the first output; keyword-only ones are attrs
    (numbers). It reads elements of inputs, `image[i, j]`, and sizes, `image.shape[0]`, and assigns to elements of
    outputs. What is read outside of an array is its nearest element; what is written outside is dropped. shape: of the
    outputs: the name of an input of that shape (by default the first), or a function of the shapes of the inputs (and
    of the attrs, by name) that returns a shape, or a list of one for each output.

    Allowed are loops over `range`, `while`, `if`, arithmetic, and the functions of numbers that `math`, `np` and `tf`
    have; then one kernel serves CPU (in threads) and GPU. Any other body is compiled by numba, and runs on the CPU:
    there indices outside are an error. A gradient is registered by `@op.gradient`: fn(op, dy). Raises SyntaxError for a
    body that can't be compiled, with the line, and for parameters that don't fit the signature; ValueError for the name
    of an op of TensorFlow.

    >>> @tf.custom.kernel("x: T -> y: T")
    ... def difference(x, y, i, *, step: int = 1):
    ...     y[i] = x[i + step] - x[i]
    >>> sess.run(difference([1.0, 4.0, 9.0, 16.0]))
    array([3., 5., 7., 0.], dtype=float32)
    """
    def declare(fn: Any) -> CustomKernel:
        given, types = parameters(fn), official_types(dtypes)
        specs = {"T": types, **given.specs(fn)}
        inputs, outputs = ([arg.name for arg in side] for side in read_signature(signature, specs)[:2])
        indices = _indices(inspect.unwrap(fn), given, inputs, outputs)
        flat = Flattened(inspect.unwrap(fn), inputs, outputs, indices, list(given.attrs))
        made = KernelFunction(flat, {})
        shaped = _shape_function(inputs, len(outputs), len(indices), shape, list(given.attrs))
        title = op_name(fn, name)
        try:
            _try(made, flat, given)
        except KernelSyntaxError as found:
            call = looped(inspect.unwrap(fn), found, len(indices), len(inputs), len(outputs), list(given.attrs))
            stated = fields(fn, signature, specs, shaped) | {"name": title}
            spec: Op = kinds.Host(**stated, call=_host(call, list(given.attrs)))
        else:
            ranks = {each: flat.ranks[each] for each in inputs if each in flat.ranks}
            stated = fields(fn, signature, specs, shaped, ranks=ranks, validate=_not_empty) | {"name": title}
            launch = _launcher(made, flat)
            spec = kinds.Kernel(**stated, numpy=_interpreted(launch, inspect.unwrap(fn), list(given.attrs)), cpu=launch,
                                cuda=launch)
        made_op: CustomKernel = declared(spec, fn, CustomKernel)
        return made_op
    return declare


def _indices(fn: FunctionType, given: Parameters, inputs: Sequence[str], outputs: Sequence[str]) -> list[str]:
    """Return the parameters that are indices. Raises SyntaxError for parameters that don't fit the signature."""
    arrays = [*inputs, *outputs]
    indices = list(given.operands[len(arrays):])
    if not inputs or not outputs or list(given.operands[:len(arrays)]) != arrays or not indices:
        raise error_at(fn, fn.__code__.co_firstlineno,
                       f"expected the parameters {', '.join(arrays)}, then an index for each axis of "
                       f"{outputs[0] if outputs else 'an output'}; got {', '.join(given.operands)}")
    return indices


def _try(made: KernelFunction, flat: Flattened, given: Parameters) -> None:
    """Specialize the kernel for floats and the defaults of its attrs. Raises KernelSyntaxError."""
    flat.node                                                         # noqa: B018  (finds the ranks)
    arrays = [*flat.inputs, *flat.outputs]
    constants = {name: 1 if value is None else value for name, value in given.attrs.items()}
    constants |= {f"len({name}_shape)": flat.ranks.get(name, 1) for name in arrays}
    made.source("cpu", dict.fromkeys(arrays, "float32"), **constants)


def _shape_function(inputs: Sequence[str], outputs: int, rank: int, shape: Any,
                    attrs: Sequence[str]) -> Callable[[Any], list[Static]]:
    """Return the shape function of an item kernel with that many outputs, the first of `rank` axes."""
    if isinstance(shape, str) and shape not in inputs:
        raise ValueError(f"shape: expected the name of an input ({', '.join(inputs)}) or a function, got {shape!r}")

    def shaped(ctx: Any) -> list[Static]:
        """Return the shape of each output. Raises ValueError for another number of axes than there are indices."""
        found: Any
        if callable(shape):
            known = [ctx.shape(i) for i in range(len(inputs))]
            try:
                found = None if None in known else shape(*known, **{name: ctx.attrs[name] for name in attrs})
            except TypeError:                                         # arithmetic with a size that is not known yet
                if getattr(ctx, "concrete", False) or not any(None in each for each in known):
                    raise
                found = None
            several = found if isinstance(found, list) else [found] * outputs
        else:
            several = [ctx.shape(inputs.index(shape) if shape else 0)] * outputs
        made: list[Static] = [None if each is None else tuple(each) for each in several]
        if made[0] is not None and len(made[0]) != rank:
            raise ValueError(f"expected {rank} axes of the output, one for each index of the kernel, got shape "
                             f"{list(made[0])}")
        return [(None,) * rank if made[0] is None else made[0], *made[1:]]
    return shaped


def _not_empty(ctx: Any) -> None:
    """Raise ValueError for an empty input of outputs that are not: there is no nearest element."""
    shapes = [ctx.shape(i) for i in range(len(ctx.op.inputs))]
    if any(0 in each for each in shapes) and 0 not in ctx.op.spec.shape(ctx)[0]:
        raise ValueError(f"expected inputs with elements, got shapes {[list(each) for each in shapes]}")


def _is_empty(inputs: Sequence[np.ndarray], outputs: Sequence[np.ndarray]) -> bool:
    return not all(a.size for a in inputs) or not outputs[0].size


def _launcher(made: KernelFunction, flat: Flattened) -> Callable[[Call], list[Launch]]:
    """Return the launch function: zeros in outputs that items may leave out, then the kernel."""
    def launch(call: Call) -> list[Launch]:
        metas = [*call.inputs, *call.outputs]
        places = [*(call.input(i) for i in range(len(call.inputs))), *(call.output(i) for i in
                                                                       range(len(call.outputs)))]
        reached = [place.reach(meta.size * meta.itemsize) for place, meta in zip(places, metas, strict=True)]
        launches = [made for i, name in enumerate(flat.outputs) if name not in flat.complete
                    for made in fill(call, None, call.output(i), call.outputs[i])]
        items = prod(call.outputs[0].shape)
        if items:
            statics = {name: call.attrs[name] for name in flat.attrs}
            shapes = [list(meta.shape) for meta in metas]
            launches.append(made.launch(call, items, *reached, *shapes, cost=COST, **statics))
        return launches
    return launch


def _outputs(op: Any, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Return zeros of the shapes of the outputs."""
    shapes = op.spec.shape(Concrete(op, [a.shape for a in arrays], arrays))
    return [np.zeros(shape, arrays[0].dtype) for shape in shapes]


def _interpreted(launch: Callable[[Call], list[Launch]], fn: FunctionType, attrs: Sequence[str]) -> Callable[..., Any]:
    """Return the form of the interpreter: the compiled kernel itself, for plain Python takes a second a picture."""
    def run(ctx: Any, *arrays: np.ndarray) -> tuple[np.ndarray, ...]:
        out = _outputs(ctx.op, arrays)
        if has_compiler():
            played(launch, arrays, out, ctx.op.attrs)
        elif not _is_empty(arrays, out):
            each_item(fn, arrays, out, [ctx.op.attrs[name] for name in attrs])
        return tuple(out)
    return run


def _host(call: Callable[..., Any], attrs: Sequence[str]) -> Callable[..., Any]:
    def host(*arrays: np.ndarray, ctx: Any) -> Any:
        """Run the function that numba compiled over all elements."""
        given = [np.ascontiguousarray(a) for a in arrays]
        out = _outputs(ctx.op, given)
        try:
            call(*given, *out, *(ctx.op.attrs[name] for name in attrs))
        except IndexError as error:
            raise ValueError(f"an index of the kernel is outside of its array: {error}") from None
        return out[0] if len(out) == 1 else tuple(out)
    return host
