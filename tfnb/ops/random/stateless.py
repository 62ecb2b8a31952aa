"""Stateless random ops: values that two seeds given as a tensor decide, the same in every run; TensorFlow's values."""
from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from tfnb.core import dtypes
from tfnb.core.arguments import TENSORS, describe
from tfnb.core.shape import Static, broadcast
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.stack import name_scope
from tfnb.kernels.arrays import philox, rejection
from tfnb.kernels.library.checks import Below
from tfnb.kernels.library.random import draws
from tfnb.kernels.library.random import rejection as rejections
from tfnb.ops.declaration import shapes
from tfnb.ops.declaration.declare import kernel
from tfnb.ops.declaration.public import public
from tfnb.ops.declaration.raw import raw
from tfnb.ops.random.random_ops import has_classes, multinomial_shape, shape_tensor
from tfnb.ops.random.samples import scaled_gamma
from tfnb.ops.random.stateful import binomial_samples

if TYPE_CHECKING:
    from tfnb.graph.graph import ShapeContext

_T = "indextype = DT_INT32"
_SEED: dict[str, Any] = {"Tseed": "indextype = DT_INT64"}
_FLOATS: dict[str, Any] = {"dtype": "{half, bfloat16, float, double} = DT_FLOAT", "T": _T, **_SEED}
_FULL = "{int32, int64, uint32, uint64} = DT_UINT64"


def with_seed(shape: Any, index: int = 1) -> Any:
    """Return a shape function that wants two seeds as input `index`."""
    def checked(ctx: ShapeContext) -> list[Static]:
        """Return the shape. Raises ValueError for another number of seeds than two."""
        seed = ctx.shape(index)
        if seed is not None and seed != (2,) and seed != (None,):
            raise ValueError(f"seed must have shape [2], not {list(seed)}")
        found: list[Static] = shape(ctx)
        return found
    return checked


_SHAPED: dict[str, Any] = {"shape": with_seed(shapes.named_by_first), "ranks": {"shape": 1, "seed": 1},
                           "values": ("shape",), "halves": ""}


def _drawn(draw: Callable[..., np.ndarray]) -> Any:
    def numpy(ctx: Any, shape: np.ndarray, seed: np.ndarray) -> np.ndarray:
        """Return values drawn from the state that the seeds make."""
        return draw(rejection.scrambled(seed), tuple(shape.tolist()), ctx.attrs["dtype"].as_numpy_dtype)
    return numpy


def _launch(draw: Any) -> Any:
    return lambda call: draws.stateless(call, draw)


@kernel("shape: T, seed: Tseed -> output: dtype", **_SHAPED, numpy=_drawn(philox.uniform),
        launch=_launch(draws.random_uniform), **_FLOATS)
def StatelessRandomUniform() -> None:
    """Sample from the uniform distribution on [0, 1)."""


@kernel("shape: T, seed: Tseed -> output: dtype", **_SHAPED, numpy=_drawn(philox.normal),
        launch=_launch(draws.random_standard_normal), **_FLOATS)
def StatelessRandomNormal() -> None:
    """Sample from the standard normal distribution."""


@kernel("shape: T, seed: Tseed -> output: dtype", **_SHAPED, numpy=_drawn(philox.truncated_normal),
        launch=_launch(draws.truncated_normal), **_FLOATS)
def StatelessTruncatedNormal() -> None:
    """Sample from the standard normal distribution, truncated to (-2, 2) by redrawing."""


def _uniform_int(ctx: Any, shape: np.ndarray, seed: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    return philox.uniform_int(rejection.scrambled(seed), tuple(shape.tolist()), int(low), int(high), low.dtype)


@kernel("shape: T, seed: Tseed, minval: dtype, maxval: dtype -> output: dtype",
        **{**_SHAPED, "ranks": {"shape": 1, "seed": 1, "minval": 0, "maxval": 0}}, numpy=_uniform_int,
        launch=_launch(draws.random_uniform_int), dtype="indextype", T="indextype", **_SEED)
def StatelessRandomUniformInt() -> None:
    """Sample integers uniformly from [`minval`, `maxval`)."""


@StatelessRandomUniformInt.checked
def _(ctx: Any) -> list[Below]:
    return [Below(2, 3)] if np.prod(ctx.value(0), dtype=np.int64) else []


@kernel("shape: T, seed: Tseed -> output: dtype", **_SHAPED, numpy=_drawn(philox.full_int), dtype=_FULL,
        T=_T, Tseed="{int32, int64, uint32, uint64} = DT_INT64")
def StatelessRandomUniformFullInt() -> None:
    """Sample integers uniformly from all that the dtype has."""


def _multinomial(ctx: Any, logits: np.ndarray, num_samples: np.ndarray, seed: np.ndarray) -> np.ndarray:
    return philox.multinomial(rejection.scrambled(seed), logits, int(num_samples),
                              ctx.attrs["output_dtype"].as_numpy_dtype)


def _launch_multinomial(call: Any) -> Any:
    state, first = draws.seeded(call, 2)
    return [*first, *draws.multinomial(call, state=state)]


@kernel("logits: T, num_samples: int32, seed: Tseed -> output: output_dtype", shape=with_seed(multinomial_shape, 2),
        numpy=_multinomial, launch=_launch_multinomial, ranks={"logits": 2, "num_samples": 0, "seed": 1},
        validate=has_classes, values=("num_samples",), halves="", T="realnumbertype", **_SEED,
        output_dtype="indextype = DT_INT64")
def StatelessMultinomial() -> None:
    """Sample `num_samples` classes for each row from the categorical distribution softmax(`logits`)."""


def _ends_in_parameters(ctx: ShapeContext) -> list[Static]:
    return ends_in(ctx, ctx.shape(2))


def ends_in(ctx: ShapeContext, each: Static) -> list[Static]:
    shape = ctx.value(0)
    if shape is None:
        return [None]
    found = tuple(map(int, shape))
    if each is not None and (len(each) > len(found) or any(
            n not in (None, m) for n, m in zip(reversed(each), reversed(found), strict=False))):
        raise ValueError(f"Shape passed in must end with broadcasted shape: got {list(found)} for parameters of shape "
                         f"{list(each)}")
    return [found]


_PARAMETERS: dict[str, Any] = {**_SHAPED, "shape": with_seed(_ends_in_parameters)}


def _gamma(ctx: Any, shape: np.ndarray, seed: np.ndarray, alpha: np.ndarray) -> np.ndarray:
    state = rejection.scrambled(seed)
    return rejection.gamma(state, rejection.samples_of(shape, alpha), alpha).reshape(shape.tolist())


@kernel("shape: T, seed: Tseed, alpha: dtype -> output: dtype", **_PARAMETERS, numpy=_gamma,
        launch=_launch(rejections.random_gamma), dtype="{half, float, double}", T="indextype", **_SEED)
def StatelessRandomGammaV2() -> None:
    """Sample from Gamma(`alpha`, 1). shape: of the result; it ends with that of `alpha`."""


@StatelessRandomGammaV2.gradient
def _(op: Operation, dy: Tensor) -> list[Tensor | None]:
    alpha, sample = op.inputs[2], op.outputs[0]
    slope = raw.RandomGammaGrad(raw.BroadcastTo(alpha, raw.Shape(sample)), sample)
    axes = raw.Range(0, raw.Rank(sample) - raw.Rank(alpha), 1)
    return [None, None, raw.Sum(dy * slope, axes)]


def _poisson(ctx: Any, shape: np.ndarray, seed: np.ndarray, lam: np.ndarray) -> np.ndarray:
    found = rejection.poisson(rejection.scrambled(seed), rejection.samples_of(shape, lam), lam,
                              np.dtype(ctx.attrs["dtype"].as_numpy_dtype))
    return found.reshape(shape.tolist())


@kernel("shape: T, seed: Tseed, lam: Rtype -> output: dtype", **_PARAMETERS, numpy=_poisson,
        launch=_launch(rejections.random_poisson), Rtype="{half, float, double, int32, int64}",
        dtype="{half, float, double, int32, int64}", T="indextype", **_SEED)
def StatelessRandomPoisson() -> None:
    """Sample from the Poisson distributions of rates `lam`. shape: of the result; it ends with that of `lam`."""


def _binomial(ctx: Any, shape: np.ndarray, seed: np.ndarray, counts: np.ndarray, probs: np.ndarray) -> np.ndarray:
    made: np.ndarray = binomial_samples(rejection.scrambled(seed), shape, counts, probs, ctx.attrs["dtype"])
    return made


def _ends_in_both(ctx: ShapeContext) -> None:
    ends_in(ctx, broadcast(ctx.shape(2), ctx.shape(3)))


@kernel("shape: S, seed: Tseed, counts: T, probs: T -> output: dtype",
        **_SHAPED, validate=_ends_in_both, numpy=_binomial, S="indextype", **_SEED,
        T="{half, float, double, int32, int64} = DT_DOUBLE", dtype="{half, float, double, int32, int64} = DT_INT64")
def StatelessRandomBinomial() -> None:
    """Sample numbers of successes in `counts` trials. shape: of the result; it ends with that of the parameters."""


for _op in (StatelessRandomBinomial, StatelessRandomUniform,
            StatelessRandomNormal, StatelessTruncatedNormal, StatelessRandomUniformInt,
            StatelessRandomUniformFullInt, StatelessMultinomial, StatelessRandomPoisson):
    _op.no_gradient("it is drawn, not computed")


# What users call

def _affine(constructor: Any, default: str, shape: Any, seed: Any, mean: Any, stddev: Any, dtype: Any,
            name: str | None) -> Tensor:
    kind = dtypes.as_dtype(dtype).base_dtype
    with name_scope(name, default, [shape, seed, mean, stddev]) as scope:
        sizes = shape_tensor(shape)
        mean = convert_to_tensor(mean, dtype=kind, name="mean")
        stddev = convert_to_tensor(stddev, dtype=kind, name="stddev")
        return raw.AddV2(constructor(sizes, seed, dtype=kind) * stddev, mean, name=scope)


@public("random.stateless_normal", "contrib.stateless.stateless_random_normal")
def stateless_random_normal(shape: Any, seed: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = dtypes.float32,
                            name: str | None = None) -> Tensor:
    """Sample from the normal distribution: equal seeds give equal values, in each run and on each device.

    shape: a list or a vector tensor; seed: two integers (a list, or a tensor of shape [2]); mean, stddev: numbers, or
    tensors to broadcast; dtype: a float.

    >>> sess.run(tf.random.stateless_normal([3], seed=[1, 2]))
    array([0.5441, 0.2074, 0.0736], dtype=float32)
    """
    return _affine(StatelessRandomNormal, "stateless_random_normal", shape, seed, mean, stddev, dtype, name)


@public("random.stateless_truncated_normal", "contrib.stateless.stateless_truncated_normal")
def stateless_truncated_normal(shape: Any, seed: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = dtypes.float32,
                               name: str | None = None) -> Tensor:
    """Sample from the normal distribution without values two standard deviations or more from the mean.

    Arguments as of `tf.random.stateless_normal`.

    >>> bool(abs(sess.run(tf.random.stateless_truncated_normal([1000], seed=[1, 2]))).max() < 2)
    True
    """
    return _affine(StatelessTruncatedNormal, "stateless_truncated_normal", shape, seed, mean, stddev, dtype, name)


@public("random.stateless_uniform", "contrib.stateless.stateless_random_uniform")
def stateless_random_uniform(shape: Any, seed: Any, minval: Any = 0, maxval: Any = None, dtype: Any = dtypes.float32,
                             name: str | None = None) -> Tensor:
    """Sample from the uniform distribution on [`minval`, `maxval`), by default [0, 1).

    dtype: a float, int32, int64, uint32 or uint64 (else ValueError). Integers need both bounds, or minval=None and
    maxval=None for all that the dtype has (else ValueError). shape, seed: as of `tf.random.stateless_normal`.

    >>> sess.run(tf.random.stateless_uniform([4], seed=[1, 2], minval=0, maxval=100, dtype=tf.int32))
    array([40, 49, 94, 79], dtype=int32)
    """
    kind = dtypes.as_dtype(dtype).base_dtype
    if kind.name not in ("float16", "bfloat16", "float32", "float64", "int32", "int64", "uint32", "uint64"):
        raise ValueError(f"Invalid dtype {kind!r}: stateless_uniform makes floats and integers of 32 and 64 bits")
    if kind.is_integer and (minval is None) != (maxval is None):
        raise ValueError(f"For integer dtype {kind!r}, minval and maxval must be both None or both given; got "
                         f"minval={minval}, maxval={maxval}")
    if kind.is_unsigned and minval is not None:
        raise ValueError(f"Invalid dtype {kind!r} with bounds: integers between bounds are int32 or int64")
    with name_scope(name, "stateless_random_uniform", [shape, seed, minval, maxval]) as scope:
        sizes = shape_tensor(shape)
        if kind.is_integer and minval is None:
            return StatelessRandomUniformFullInt(sizes, seed, dtype=kind, name=scope)
        low = convert_to_tensor(minval, dtype=kind, name="min")
        high = convert_to_tensor(1 if maxval is None else maxval, dtype=kind, name="max")
        if kind.is_integer:
            return StatelessRandomUniformInt(sizes, seed, low, high, name=scope)
        return raw.AddV2(StatelessRandomUniform(sizes, seed, dtype=kind) * (high - low), low, name=scope)


def _classes(default: str, logits: Any, num_samples: Any, seed: Any, dtype: Any, name: str | None) -> Tensor:
    with name_scope(name, default, [logits, seed]):
        logits = convert_to_tensor(logits, name="logits")
        found: Tensor = StatelessMultinomial(logits, num_samples, seed, output_dtype=dtype)
        return found


@public("random.stateless_categorical")
def stateless_categorical(logits: Any, num_samples: Any, seed: Any, dtype: Any = dtypes.int64,
                          name: str | None = None) -> Tensor:
    """Sample `num_samples` classes for each row from softmax(`logits`), by two seeds.

    logits: (rows, classes); the result is (rows, num_samples), int64 or `dtype`. seed: as of
    `tf.random.stateless_normal`.

    >>> sess.run(tf.random.stateless_categorical([[0.0, 0.0]], 8, seed=[1, 2]))
    array([[1, 1, 0, 1, 1, 1, 1, 0]])
    """
    return _classes("stateless_categorical", logits, num_samples, seed, dtype, name)


@public("random.stateless_multinomial", "contrib.stateless.stateless_multinomial")
def stateless_multinomial(logits: Any, num_samples: Any, seed: Any, output_dtype: Any = dtypes.int64,
                          name: str | None = None) -> Tensor:
    """Sample classes as `tf.random.stateless_categorical`, its earlier name. output_dtype: its `dtype`.

    logits, num_samples, seed: as there.

    >>> sess.run(tf.random.stateless_multinomial([[0.0, 0.0]], 8, seed=[1, 2]))
    array([[1, 1, 0, 1, 1, 1, 1, 0]])
    """
    return _classes("stateless_multinomial", logits, num_samples, seed, output_dtype, name)


@public("random.stateless_gamma")
def stateless_gamma(shape: Any, seed: Any, alpha: Any, beta: Any = None, dtype: Any = dtypes.float32,
                    name: str | None = None) -> Tensor:
    """Sample from Gamma(`alpha`, `beta`), by two seeds.

    shape: of the result; it ends with that of alpha and beta, broadcast (else ValueError); seed: as of
    `tf.random.stateless_normal`; alpha, beta, dtype: as of `tf.random.gamma`.

    >>> sess.run(tf.random.stateless_gamma([3, 2], seed=[1, 2], alpha=[0.5, 10.0])).shape
    (3, 2)
    """
    kind = dtypes.as_dtype(dtype)
    with name_scope(name, "stateless_random_gamma", [shape, seed, alpha, beta]):
        sizes = shape_tensor(shape)
        return scaled_gamma(partial(StatelessRandomGammaV2, sizes, seed), alpha, beta, kind)


@public("random.stateless_poisson")
def stateless_poisson(shape: Any, seed: Any, lam: Any, dtype: Any = dtypes.int32,
                      name: str | None = None) -> Tensor:
    """Sample from the Poisson distributions of rates `lam`, by two seeds.

    shape: of the result; it ends with that of `lam` (else ValueError); seed: as of `tf.random.stateless_normal`; dtype:
    of the result.

    >>> sess.run(tf.random.stateless_poisson([3, 2], seed=[1, 2], lam=[0.5, 100.0])).shape
    (3, 2)
    """
    with name_scope(name, "stateless_random_poisson", [shape, seed, lam]):
        sizes = shape_tensor(shape)
        found: Tensor = StatelessRandomPoisson(sizes, seed, lam, dtype=dtype)
        return found


@public("random.stateless_binomial")
def stateless_binomial(shape: Any, seed: Any, counts: Any, probs: Any, output_dtype: Any = dtypes.int32,
                       name: str | None = None) -> Tensor:
    """Sample numbers of successes from binomial distributions, by two seeds.

    shape: of the result; it ends with that of counts and probs, broadcast (else ValueError). seed: as of
    `tf.random.stateless_normal`. counts: numbers of trials. probs: probabilities of success. output_dtype: of the
    result.

    >>> sess.run(tf.random.stateless_binomial([3, 2], seed=[1, 2], counts=[10.0, 100.0], probs=[0.3, 0.6])).shape
    (3, 2)
    """
    with name_scope(name, "stateless_random_binomial", [shape, seed, counts, probs]):
        sizes = shape_tensor(shape)
        probs = convert_to_tensor(probs, name="probs")
        counts = convert_to_tensor(counts, dtype=probs.dtype, name="counts")
        found: Tensor = StatelessRandomBinomial(sizes, seed, counts, probs, dtype=output_dtype)
        return found


describe(globals(), TENSORS)
