"""Scalar definitions bound to shapes and dtypes: their NumPy forms without the work that all runs have in common."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

from tfnb.kernels.scalar.definition import BLOCK, Array, Attrs, Scalar, convert, typed_steps
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

    def run(arrays: Sequence[Array]) -> Sequence[Array]:
        values = [*arrays]
        for form, operands, dtype, name in steps:
            assert form is not None
            result = form(*[(wide(convert(values[number], wanted)) if wanted else values[number]) if known is None
                            else known for number, wanted, known in operands])
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
