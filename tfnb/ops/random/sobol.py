"""Sobol sequences: points that fill the unit cube evenly."""
from __future__ import annotations

from typing import Any

import numpy as np

from tfnb.core.dtypes import float32
from tfnb.core.lazy import lazy_module
from tfnb.core.shape import Static
from tfnb.graph.parts.operation import Tensor
from tfnb.ops.declaration.declare import kernel
from tfnb.ops.declaration.public import public

qmc = lazy_module("scipy.stats.qmc", extra="scipy")
_MOST_DIMENSIONS, _BITS = 21200, 32


def _size(value: Any) -> int | None:
    return None if value is None else int(value)


def _shape(ctx: Any) -> list[Static]:
    sizes = _size(ctx.value(1)), _size(ctx.value(0))
    return [None if min(size or 0 for size in sizes) < 0 else sizes]


def _in_range(ctx: Any) -> None:
    dim, count, skip = (_size(ctx.value(i)) for i in range(3))
    if dim is not None and not 1 <= dim <= _MOST_DIMENSIONS:
        raise ValueError(f"dim must be at least one and at most {_MOST_DIMENSIONS}, got {dim}")
    if count is not None and count < 1:
        raise ValueError(f"num_results must be at least one, got {count}")
    if skip is not None and skip < 0:
        raise ValueError(f"skip must be non-negative, got {skip}")
    if None not in (count, skip) and count + skip >= 2**31 - 1:     # type: ignore[operator]
        raise ValueError(f"num_results + skip must be below {2**31 - 1}, got {count} + {skip}")


def _points(ctx: Any, dim: np.ndarray, num_results: np.ndarray, skip: np.ndarray) -> np.ndarray:
    engine = qmc.Sobol(int(dim), scramble=False, bits=_BITS)
    engine.fast_forward(int(skip) + 1)              # the point 0 is no part of TensorFlow's sequence
    found: np.ndarray = engine.random(int(num_results))
    return found.astype(ctx.attrs["dtype"].as_numpy_dtype)


@kernel("dim: int32, num_results: int32, skip: int32 -> samples: dtype", shape=_shape, numpy=_points,
        validate=_in_range, ranks={"dim": 0, "num_results": 0, "skip": 0}, values=("dim", "num_results", "skip"),
        dtype="{float, double} = DT_FLOAT")
def SobolSample() -> None:
    """Compute points of the Sobol sequence."""


SobolSample.no_gradient("it has no input that is differentiable")


@public("math.sobol_sample")
def sobol_sample(dim: Any, num_results: Any, skip: Any = 0, dtype: Any = float32, name: str | None = None) -> Tensor:
    """Compute points of the Sobol sequence (Joe and Kuo's direction numbers), [num_results, dim], in the unit cube.

    dim: the number of dimensions, 1 to 21200. num_results: the number of points. skip: the number of points to leave
    out at the beginning. dtype: float32 or float64. Raises ValueError (in a run InvalidArgumentError) for others.

    >>> sess.run(tf.math.sobol_sample(2, 3))
    array([[0.5 , 0.5 ],
           [0.75, 0.25],
           [0.25, 0.75]], dtype=float32)
    """
    made: Tensor = SobolSample(dim, num_results, skip, dtype=dtype, name=name)
    return made
