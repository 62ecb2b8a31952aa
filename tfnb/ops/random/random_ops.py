"""Random ops: TensorFlow's Philox streams; the same seeds give the same values as TensorFlow on the CPU.

The nodes are those of TensorFlow 1.15, one for one: with only a graph seed the seed of an op is the number of nodes
made before it, so a missing node would change every number that follows.
"""
from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from tfnb.core import dtypes
from tfnb.core.arguments import TENSORS, describe
from tfnb.core.shape import Static
from tfnb.graph.convert import beyond_int32, convert_to_tensor
from tfnb.graph.parts.operation import Tensor
from tfnb.graph.stack import get_default_graph, name_scope
from tfnb.kernels.arrays import philox
from tfnb.kernels.library.checks import Below
from tfnb.kernels.library.random import draws as kernels
from tfnb.ops.declaration import shapes
from tfnb.ops.declaration.declare import random
from tfnb.ops.declaration.raw import raw

if TYPE_CHECKING:
    from tfnb.graph.graph import ShapeContext

LARGEST_SEED = 2**31 - 1
DEFAULT_GRAPH_SEED = 87654321
SEEDS: dict[str, Any] = {"seed": "int = 0", "seed2": "int = 0"}


def get_seed(op_seed: int | None) -> tuple[int | None, int | None]:
    """Return the two seeds of a random op: of the default graph and of the op; (None, None) where neither is set.

    With only a graph seed the op's is the number of ops made so far.

    >>> tf.set_random_seed(7)
    >>> tf.get_seed(3)
    (7, 3)
    """
    graph = get_default_graph()
    if graph.seed is None:
        if op_seed is None:
            return None, None
        pair = DEFAULT_GRAPH_SEED, op_seed % LARGEST_SEED
    else:
        own = graph.next_seed_index() if op_seed is None else op_seed
        pair = graph.seed % LARGEST_SEED, own % LARGEST_SEED
    return (0, LARGEST_SEED) if pair == (0, 0) else pair           # (0, 0) would mean: unpredictable


def set_random_seed(seed: int) -> None:
    """Set the seed of the default graph, from which random ops without a seed of their own derive theirs.

    >>> tf.set_random_seed(7)
    >>> x = tf.random_uniform([3])
    >>> first = sess.run(x)
    >>> with tf.Session() as other:
    ...     again = other.run(x)
    >>> bool((first == again).all())
    True
    """
    get_default_graph().seed = seed


def _drawn(draw: Any) -> Any:
    return lambda ctx, shape: draw(ctx.state, tuple(shape.tolist()), ctx.attrs["dtype"].as_numpy_dtype)


_SHAPED: dict[str, Any] = {"shape": shapes.named_by_first, "ranks": {"shape": 1}, "values": ("shape",)}


@random("shape: T -> output: dtype", **_SHAPED, numpy=_drawn(philox.uniform), launch=kernels.random_uniform,
        halves="widened", **SEEDS, dtype="floattype", T="indextype")
def RandomUniform() -> None:
    """Sample from the uniform distribution on [0, 1)."""


@random("shape: T -> output: dtype", **_SHAPED, numpy=_drawn(philox.normal),
        launch=kernels.random_standard_normal, halves="widened", **SEEDS, dtype="floattype", T="indextype")
def RandomStandardNormal() -> None:
    """Sample from the standard normal distribution."""


@random("shape: T -> output: dtype", **_SHAPED, numpy=_drawn(philox.truncated_normal),
        launch=kernels.truncated_normal, halves="widened", **SEEDS, dtype="floattype", T="indextype")
def TruncatedNormal() -> None:
    """Sample from the standard normal distribution, truncated to (-2, 2) by redrawing."""


def _uniform_int(ctx: Any, shape: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    return philox.uniform_int(ctx.state, tuple(shape.tolist()), int(low), int(high), low.dtype)


@random("shape: T, minval: Tout, maxval: Tout -> output: Tout",
        **{**_SHAPED, "ranks": {"shape": 1, "minval": 0, "maxval": 0}}, numpy=_uniform_int,
        launch=kernels.random_uniform_int, **SEEDS, Tout="indextype", T="indextype")
def RandomUniformInt() -> None:
    """Sample integers uniformly from [`minval`, `maxval`)."""


@RandomUniformInt.checked
def _(ctx: Any) -> list[Below]:
    return [Below(1, 2)] if prod(ctx.value(0).tolist()) else []


@random("value: T -> output: T", shape=shapes.like_first, cpu=kernels.random_shuffle, halves="moved", **SEEDS, T="type",
        numpy=lambda ctx, value: philox.random_shuffle(ctx.state, value))
def RandomShuffle() -> None:
    """Shuffle the rows of a tensor."""


def multinomial_shape(ctx: ShapeContext) -> list[Static]:
    """Return the shape (rows, num_samples) of sampled classes. Raises ValueError for a negative count."""
    count = ctx.value(1)
    if count is not None and int(count) < 0:
        raise ValueError(f"num_samples should be nonnegative, got {int(count)}")
    return [(shapes.of_rank(ctx.shape(0), 2)[0], None if count is None else int(count))]


def has_classes(ctx: Any) -> None:
    """Raise ValueError for rows of logits without a class."""
    rows, classes = ctx.shape(0)
    if rows and not classes:
        raise ValueError(f"num_classes should be positive, got logits of shape {list(ctx.shape(0))}")


def _multinomial(ctx: Any, logits: np.ndarray, num_samples: np.ndarray) -> np.ndarray:
    return philox.multinomial(ctx.state, logits, int(num_samples), ctx.attrs["output_dtype"].as_numpy_dtype)


@random("logits: T, num_samples: int32 -> output: output_dtype", shape=multinomial_shape, numpy=_multinomial,
        launch=kernels.multinomial, ranks={"logits": 2, "num_samples": 0}, validate=has_classes,
        values=("num_samples",), halves="widened", **SEEDS, T="realnumbertype", output_dtype="indextype = DT_INT64")
def Multinomial() -> None:
    """Sample `num_samples` classes for each row from the categorical distribution softmax(`logits`)."""


for _op in (RandomUniform, RandomStandardNormal, TruncatedNormal, RandomUniformInt, RandomShuffle, Multinomial):
    _op.no_gradient("it is drawn, not computed")


# What users call

def shape_tensor(shape: Any) -> Tensor:
    """Return a shape as a tensor called "shape": a list as int32 where that holds it."""
    kind = dtypes.int32 if isinstance(shape, (list, tuple)) and not beyond_int32(shape) else None
    return convert_to_tensor(shape, dtype=kind, name="shape")


def _affine(constructor: Any, default: str, shape: Any, mean: Any, stddev: Any, dtype: Any, seed: int | None,
            name: str | None) -> Tensor:
    kind = dtypes.as_dtype(dtype).base_dtype
    with name_scope(name, default, [shape, mean, stddev]) as scope:
        sizes = shape_tensor(shape)
        mean = convert_to_tensor(mean, dtype=kind, name="mean")
        stddev = convert_to_tensor(stddev, dtype=kind, name="stddev")
        seed1, seed2 = get_seed(seed)
        drawn = constructor(sizes, dtype=kind, seed=seed1, seed2=seed2)
        return raw.AddV2(drawn * stddev, mean, name=scope)


def random_normal(shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = dtypes.float32,
                  seed: int | None = None, name: str | None = None) -> Tensor:
    """Sample from the normal distribution, anew in each run.

    shape: a list or a vector tensor; mean, stddev: numbers, or tensors to broadcast; dtype: a float (else TypeError).
    seed: with it, or with `tf.set_random_seed`, each session draws TensorFlow's numbers.

    >>> x = sess.run(tf.random_normal([1000], mean=5.0, stddev=0.1))
    >>> x.shape, bool(abs(x.mean() - 5) < 0.05)
    ((1000,), True)
    """
    return _affine(RandomStandardNormal, "random_normal", shape, mean, stddev, dtype, seed, name)


def truncated_normal(shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = dtypes.float32,
                     seed: int | None = None, name: str | None = None) -> Tensor:
    """Sample from the normal distribution, redrawing values two standard deviations or more from the mean.

    Arguments as of `random_normal`.

    >>> x = sess.run(tf.truncated_normal([1000], stddev=0.1))
    >>> bool(abs(x).max() <= 0.2)
    True
    """
    return _affine(TruncatedNormal, "truncated_normal", shape, mean, stddev, dtype, seed, name)


def random_uniform(shape: Any, minval: Any = 0, maxval: Any = None, dtype: Any = dtypes.float32,
                   seed: int | None = None, name: str | None = None) -> Tensor:
    """Sample from the uniform distribution on [`minval`, `maxval`), by default [0, 1). Arguments as of `random_normal`.

    dtype: a float, int32 or int64 (else ValueError). Integers need a `maxval` (else ValueError).

    >>> x = sess.run(tf.random_uniform([1000], minval=2.0, maxval=3.0))
    >>> bool(x.min() >= 2), bool(x.max() < 3)
    (True, True)
    """
    kind = dtypes.as_dtype(dtype).base_dtype
    if kind not in (dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64, dtypes.int32, dtypes.int64):
        raise ValueError(f"Invalid dtype {kind!r}: random_uniform makes floats, int32 and int64")
    if maxval is None and kind.is_integer:
        raise ValueError(f"Must specify maxval for integer dtype {kind!r}")
    with name_scope(name, "random_uniform", [shape, minval, maxval]) as scope:
        sizes = shape_tensor(shape)
        low = convert_to_tensor(minval, dtype=kind, name="min")
        high = convert_to_tensor(1 if maxval is None else maxval, dtype=kind, name="max")
        seed1, seed2 = get_seed(seed)
        if kind.is_integer:
            return RandomUniformInt(sizes, low, high, seed=seed1, seed2=seed2, name=scope)
        drawn = RandomUniform(sizes, dtype=kind, seed=seed1, seed2=seed2)
        return raw.AddV2(drawn * (high - low), low, name=scope)


def random_shuffle(value: Any, seed: int | None = None, name: str | None = None) -> Tensor:
    """Shuffle the rows of a tensor.

    >>> sorted(sess.run(tf.random_shuffle([3, 1, 2])))
    [1, 2, 3]
    """
    seed1, seed2 = get_seed(seed)
    return RandomShuffle(value, seed=seed1, seed2=seed2, name=name)


def multinomial(logits: Any, num_samples: Any, seed: int | None = None, name: str | None = None,
                output_dtype: Any = None) -> Tensor:
    """Sample `num_samples` classes for each row from the categorical distribution softmax(`logits`).

    logits: (rows, classes); the result is (rows, num_samples), int64 or `output_dtype`.

    >>> samples = tf.multinomial([[0.0, -100.0, -100.0]], num_samples=4)
    >>> sess.run(samples)
    array([[0, 0, 0, 0]])
    """
    with name_scope(name, "multinomial", [logits]):
        return _drawn_classes(logits, num_samples, seed, output_dtype)


def _drawn_classes(logits: Any, num_samples: Any, seed: int | None, dtype: Any) -> Tensor:
    logits = convert_to_tensor(logits, name="logits")
    seed1, seed2 = get_seed(seed)
    return Multinomial(logits, num_samples, seed=seed1, seed2=seed2, output_dtype=dtype)


def categorical(logits: Any, num_samples: Any, dtype: Any = None, seed: int | None = None,
                name: str | None = None) -> Tensor:
    """Sample `num_samples` classes for each row from softmax(`logits`) (`tf.random.categorical`).

    logits: (rows, classes); the result is (rows, num_samples), int64 or `dtype`.

    >>> sess.run(tf.random.categorical([[0.0, -100.0, -100.0]], num_samples=4))
    array([[0, 0, 0, 0]])
    """
    with name_scope(name, "categorical", [logits]):
        return _drawn_classes(logits, num_samples, seed, dtype)


def random_crop(value: Any, size: Any, seed: int | None = None, name: str | None = None) -> Tensor:
    """Crop `value` to the given size at a random offset.

    size: a number for each axis, at most that of `value`.

    >>> image = tf.reshape(tf.range(12), [3, 4])
    >>> tf.random_crop(image, [2, 2]).shape.as_list()
    [2, 2]
    """
    with name_scope(name, "random_crop", [value, size]) as scope:
        value = convert_to_tensor(value, name="value")
        size = convert_to_tensor(size, dtype=dtypes.int32, name="size")
        room = raw.Shape(value) - size + 1
        place = random_uniform(raw.Shape(room), dtype=size.dtype, maxval=size.dtype.max, seed=seed) % room
        return raw.Slice(value, place, size, name=scope)


describe(globals(), TENSORS)
