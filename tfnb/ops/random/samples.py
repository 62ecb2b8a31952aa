"""Gamma and Poisson samples: TensorFlow's values for the same seeds."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tfnb.core import dtypes
from tfnb.core.arguments import TENSORS, describe
from tfnb.core.shape import Static
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.stack import name_scope
from tfnb.kernels.arrays import rejection
from tfnb.kernels.library.random import rejection as kernels
from tfnb.ops.array.reshape import broadcast_dynamic_shape
from tfnb.ops.array.reshape import shape as shape_of
from tfnb.ops.declaration.declare import random
from tfnb.ops.declaration.public import public
from tfnb.ops.declaration.raw import raw
from tfnb.ops.math.arithmetic import maximum
from tfnb.ops.random.random_ops import SEEDS, get_seed, shape_tensor

if TYPE_CHECKING:
    from tfnb.graph.graph import ShapeContext

_RATES = "{half, float, double, int32, int64}"


def _followed_by_parameters(ctx: ShapeContext) -> list[Static]:
    shape, each = ctx.value(0), ctx.shape(1)
    if shape is not None and (shape < 0).any():
        raise ValueError(f"Dimension {int(shape.min())} must be >= 0")
    return [None if shape is None or each is None else (*map(int, shape), *each)]


_SHAPED: dict[str, Any] = {"shape": _followed_by_parameters, "ranks": {"shape": 1}, "values": ("shape",), **SEEDS,
                           "S": "indextype"}


def _gamma(ctx: Any, shape: np.ndarray, alpha: np.ndarray) -> np.ndarray:
    count = int(np.prod(shape, dtype=np.int64))
    return rejection.gamma(ctx.state, count, alpha).reshape(*shape.tolist(), *alpha.shape)


@random("shape: S, alpha: T -> output: T", **_SHAPED, numpy=_gamma, launch=kernels.random_gamma, halves="widened",
        T="{half, float, double}")
def RandomGamma() -> None:
    """Sample from Gamma(`alpha`, 1): `shape` samples for each element of `alpha`."""


@RandomGamma.gradient
def _(op: Operation, dy: Tensor) -> list[Tensor | None]:
    shape, alpha = op.inputs
    sample = op.outputs[0]
    slope = raw.RandomGammaGrad(raw.BroadcastTo(alpha, raw.Shape(sample)), sample)
    axes = raw.Range(0, raw.Size(shape), 1)
    return [None, raw.Sum(dy * slope, axes)]


def _poisson(ctx: Any, shape: np.ndarray, rate: np.ndarray) -> np.ndarray:
    count = int(np.prod(shape, dtype=np.int64))
    found = rejection.poisson(ctx.state, count, rate, np.dtype(ctx.attrs["dtype"].as_numpy_dtype))
    return found.reshape(*shape.tolist(), *rate.shape)


@random("shape: S, rate: R -> output: dtype", **_SHAPED, numpy=_poisson, launch=kernels.random_poisson,
        R=f"{_RATES} = DT_DOUBLE", dtype=f"{_RATES} = DT_INT64")
def RandomPoissonV2() -> None:
    """Sample from the Poisson distributions with these rates: `shape` samples for each element of `rate`."""


@random("shape: S, rate: dtype -> output: dtype", **_SHAPED, numpy=_poisson, launch=kernels.random_poisson,
        dtype="{half, float, double}")
def RandomPoisson() -> None:
    """Sample from the Poisson distributions with these rates, as RandomPoissonV2."""


for _op in (RandomPoissonV2, RandomPoisson):
    _op.no_gradient("it is drawn, not computed")


def scaled_gamma(draw: Any, alpha: Any, beta: Any, dtype: Any) -> Tensor:
    """Return samples of Gamma(alpha, beta), at least the least positive normal float. draw: fn(alpha) -> tensor."""
    alpha = convert_to_tensor(alpha, dtype=dtype, name="alpha")
    beta = convert_to_tensor(1 if beta is None else beta, dtype=dtype, name="beta")
    broadcast = raw.BroadcastTo(alpha, broadcast_dynamic_shape(shape_of(alpha), shape_of(beta)))
    return maximum(np.finfo(dtype.as_numpy_dtype).tiny, draw(broadcast) / beta)


@public("random_gamma", "random.gamma")
def random_gamma(shape: Any, alpha: Any, beta: Any = None, dtype: Any = dtypes.float32, seed: int | None = None,
                 name: str | None = None) -> Tensor:
    """Sample from Gamma(`alpha`, `beta`): a tensor of shape `shape` + that of alpha and beta, broadcast.

    alpha: the shapes (concentrations), positive; beta: the rates (inverse scales), 1 by default; dtype: a float.
    Samples have gradients with respect to both, by implicit reparameterization. seed: of the op; with the graph's it
    decides the values, which are TensorFlow's.

    >>> x = sess.run(tf.random_gamma([5000], alpha=3.0, beta=2.0, seed=1))
    >>> x.shape, bool(abs(x.mean() - 1.5) < 0.1)
    ((5000,), True)
    """
    kind = dtypes.as_dtype(dtype)
    with name_scope(name, "random_gamma", [shape, alpha, beta]):
        sizes = shape_tensor(shape)

        def draw(each: Tensor) -> Tensor:
            """Return samples with scale 1."""
            first, second = get_seed(seed)
            found: Tensor = RandomGamma(sizes, each, seed=first, seed2=second)
            return found
        return scaled_gamma(draw, alpha, beta, kind)


@public("random_poisson", "random.poisson")
def random_poisson(lam: Any, shape: Any, dtype: Any = dtypes.float32, seed: int | None = None,
                   name: str | None = None) -> Tensor:
    """Sample from the Poisson distributions of rates `lam`: a tensor of shape `shape` + that of `lam`.

    dtype: of the result, a float, int32 or int64. seed: of the op; with the graph's it decides the values, which are
    TensorFlow's. A rate that is negative, NaN or infinite gives NaN, or -1 as an integer.

    >>> x = sess.run(tf.random_poisson([0.5, 20.0], [5000], seed=1))
    >>> x.shape, bool(abs(x.mean(0) - [0.5, 20]).max() < 0.3)
    ((5000, 2), True)
    """
    with name_scope(name, "random_poisson", [lam, shape]):
        sizes = shape_tensor(shape)
        first, second = get_seed(seed)
        found: Tensor = RandomPoissonV2(sizes, lam, dtype=dtype, seed=first, seed2=second)
        return found


describe(globals(), TENSORS)
