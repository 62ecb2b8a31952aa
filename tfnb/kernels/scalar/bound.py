"""Scalar definitions bound to shapes and dtypes: their NumPy forms without the work that all runs have in common."""
from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from math import prod
from typing import Any

import numpy as np

from tfnb.kernels.scalar.definition import BLOCK, Array, Attrs, Scalar, TypedStep, convert, typed_steps
from tfnb.kernels.scalar.number_types import dtype_of, name_of, wide


def bound(scalar: Scalar, shapes: Sequence[tuple[int, ...]], dtypes: Sequence[np.dtype[Any]], attrs: Attrs, type: str,
          types: Sequence[str]) -> Callable[[Sequence[Array]], Sequence[Array]] | None:
    """Return `reference` for arrays of these shapes and dtypes, with all that follows from them done beforehand.

    None for rowwise definitions, and for those that are computed by blocks. The caller ignores floating-point errors.
    """
    shape = np.broadcast_shapes(*shapes)
    program = scalar.program(attrs)
    if scalar.is_rowwise or (len(program.steps) > 1 and prod(shape) > 2 * BLOCK) or not program.steps \
            or not all(isinstance(ref, int) for ref in program.results):
        return None
    names = [name_of(dtype) for dtype in dtypes]
    steps = typed_steps(program, names, type or names[0])
    made = [*dtypes, *[dtype for _, _, dtype, _ in steps]]
    casts = [(ref, name, made[ref] != dtype_of(name)) for ref, name in zip(program.results, types, strict=True)
             if isinstance(ref, int)]

    reused = _reused(steps, shapes, made, {ref for ref in program.results if isinstance(ref, int)})

    def run(arrays: Sequence[Array]) -> Sequence[Array]:
        values = [*arrays]
        for (form, operands, dtype, name), into in zip(steps, reused, strict=True):
            assert form is not None
            taken = [(wide(convert(values[number], wanted)) if wanted else values[number]) if known is None
                     else known for number, wanted, known in operands]
            result = form(*taken) if into is None else form(*taken, out=values[into])
            array = result if result.__class__ is np.ndarray else np.asarray(result)
            values.append(array if array.dtype == dtype else convert(array, name))
        results = [convert(values[ref], name) if cast else values[ref] for ref, name, cast in casts]
        return [r if r.shape == shape else np.array(np.broadcast_to(r, shape)) for r in results]
    form, operands, dtype, _ = steps[0]
    if len(steps) > 1 or len(casts) > 1 or casts[0][2] or any(wanted for _, wanted, _ in operands) or form is None:
        return run
    order = [number for number, _, _ in operands]
    constant = [known for _, _, known in operands]

    def one(arrays: Sequence[Array]) -> Sequence[Array]:
        result = form(*arrays) if plain else form(*[arrays[number] if known is None else known
                                                    for number, known in zip(order, constant, strict=True)])
        if result.__class__ is np.ndarray and result.dtype == dtype and result.shape == shape:
            return (result,)
        return run(arrays)
    plain = order == [*range(len(shapes))] and all(known is None for known in constant)
    return one


def _reused(steps: Sequence[TypedStep], shapes: Sequence[tuple[int, ...]], made: Sequence[np.dtype[Any]],
            results: Collection[int]) -> list[int | None]:
    """For each step: the value, made by an earlier step and read last by this one, whose memory its result takes.

    Memory that is at hand is in the cache, which a new array is not. Only of NumPy's own functions with results of the
    value's shape and dtype, so that the result is what it is in an array of its own.
    """
    last = {number: i for i, (_, operands, _, _) in enumerate(steps) for number, _, known in operands if known is None}
    sizes, found = [*shapes], list[int | None]()
    for i, (form, operands, dtype, _) in enumerate(steps):
        taken = [number for number, _, known in operands if known is None]
        sizes.append(np.broadcast_shapes(*[sizes[number] for number in taken]))
        own = _is_ufunc(form, len(operands)) and all(made[number] == dtype for number in taken) \
            and not any(wanted for _, wanted, known in operands if known is None)
        fitting = [number for number in taken if own and number >= len(shapes) and number not in results
                   and last[number] == i and sizes[number] == sizes[-1] != ()
                   and _is_ufunc(steps[number - len(shapes)][0])]       # others may return what they are given
        found.append(fitting[0] if fitting else None)
    return found


def _is_ufunc(form: Callable[..., Any] | None, count: int | None = None) -> bool:
    return isinstance(form, np.ufunc) and form.nout == 1 and count in (None, form.nin)
