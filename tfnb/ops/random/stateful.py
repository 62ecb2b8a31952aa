"""Random ops over a generator state that is a variable: int64[3], two words of the counter and the key of Philox.

The values are TensorFlow's; host calls over the NumPy form of the generator.
"""
from __future__ import annotations

import os
from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from tfnb.core.errors import InvalidArgumentError, UnimplementedError
from tfnb.core.shape import Static
from tfnb.kernels.arrays import philox, rejection
from tfnb.ops.declaration import shapes
from tfnb.ops.declaration.declare import host
from tfnb.ops.declaration.validate import check_handle

PHILOX, THREEFRY = 1, 2
_RANKS: dict[str, Any] = {"algorithm": 0, "shape": 1}
_STATEFUL: dict[str, Any] = {"stateful": True, "writes": True}
_DRAWN: dict[str, Any] = {"shape": shapes.named_by(2), "ranks": _RANKS, **_STATEFUL}
_DTYPES: dict[str, Any] = {"shape_dtype": "type = DT_INT64"}
_MOST_TRIES = 100
_FEW = 4096                                        # bytes that the system draws at once, 2 ns each
_INTEGERS = {"int32", "int64", "uint32", "uint64"}


def _generator(ctx: Any, resource: Any, algorithm: Any) -> tuple[Any, np.ndarray, np.ndarray]:
    """Return the variable, its value and the state of Philox that it holds. Raises an OpError for another state."""
    variable = resource.item()
    check_handle(ctx.op, variable, None)
    value = ctx.store.value(variable, ctx.op)
    if int(algorithm) == THREEFRY:
        raise UnimplementedError(None, ctx.op, "ThreeFry is not implemented on CPUs, in TensorFlow either: use Philox")
    if int(algorithm) != PHILOX:
        raise InvalidArgumentError(None, ctx.op, f"Unsupported algorithm id: expected {PHILOX} (Philox), got "
                                   f"{int(algorithm)}")
    if value.dtype != np.int64:
        raise InvalidArgumentError(None, ctx.op, f"dtype of RNG state variable must be int64, not {value.dtype.name}")
    if value.ndim != 1 or value.size < 3:
        raise InvalidArgumentError(None, ctx.op, "RNG state must be a vector of at least 3 elements (for Philox), got "
                                   f"the shape {list(value.shape)}")
    low, high, key = value.view(np.uint64)[:3].tolist()
    return variable, value, np.array([key, 0, low, high], np.uint64)


def _store(ctx: Any, variable: Any, value: np.ndarray, state: np.ndarray) -> None:
    made = value.copy()
    made.view(np.uint64)[:2] = state[2:]
    ctx.store.assign(variable, made)


def _draw(ctx: Any, resource: Any, algorithm: Any, draw: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """Return draw(state), with the state of the variable, which is advanced by that."""
    with ctx.store.updating:
        variable, value, state = _generator(ctx, resource, algorithm)
        made = draw(state)
        _store(ctx, variable, value, state)
    return made


def _sizes(shape: np.ndarray) -> tuple[int, ...]:
    """Return the sizes of what is drawn. Raises ValueError for a negative one."""
    if (shape < 0).any():
        raise ValueError(f"shape must have sizes that are at least 0, got {shape.tolist()}")
    return tuple(shape.tolist())


def _floats(name: str, draw: Callable[..., np.ndarray]) -> Callable[..., Any]:
    def call(resource: Any, algorithm: Any, shape: Any, *, dtype: Any, ctx: Any) -> Any:
        """Return values drawn by the state of the variable."""
        if not dtype.is_floating:
            raise InvalidArgumentError(None, ctx.op, f"{name} makes floats, not {dtype.name}")
        return _draw(ctx, resource, algorithm, lambda state: draw(state, _sizes(shape), dtype.as_numpy_dtype))
    return call


def _declare(name: str, draw: Callable[..., np.ndarray], doc: str) -> Any:
    call = _floats(name, draw)
    call.__name__ = call.__qualname__ = name
    call.__doc__ = doc
    return host("resource: resource, algorithm: int64, shape: shape_dtype -> output: dtype", **_DRAWN,
                dtype="type = DT_FLOAT", **_DTYPES)(call)


StatefulUniform = _declare("StatefulUniform", philox.uniform, "Sample from the uniform distribution on [0, 1).")
StatefulStandardNormalV2 = _declare("StatefulStandardNormalV2", philox.normal,
                                    "Sample from the standard normal distribution.")
StatefulTruncatedNormal = _declare("StatefulTruncatedNormal", philox.truncated_normal,
                                   "Sample from the standard normal distribution, truncated to (-2, 2) by redrawing.")


def _integers(ctx: Any, dtype: Any) -> np.dtype:
    if dtype.name not in _INTEGERS:
        raise InvalidArgumentError(None, ctx.op, f"{ctx.op.type} makes integers of 32 and 64 bits, not {dtype.name}")
    return np.dtype(dtype.as_numpy_dtype)


@host("resource: resource, algorithm: int64, shape: shape_dtype, minval: dtype, maxval: dtype -> output: dtype",
      **{**_DRAWN, "ranks": {**_RANKS, "minval": 0, "maxval": 0}}, dtype="type = DT_INT64", **_DTYPES)
def StatefulUniformInt(resource: Any, algorithm: Any, shape: Any, minval: Any, maxval: Any, *, dtype: Any,
                       ctx: Any) -> Any:
    """Sample integers uniformly from [`minval`, `maxval`)."""
    kind, low, high = _integers(ctx, dtype), int(minval), int(maxval)
    if low >= high:
        raise ValueError(f"Need minval < maxval, got {low} >= {high}")
    return _draw(ctx, resource, algorithm,
                 lambda state: philox.uniform_int(state, _sizes(shape), low, high, kind))


@host("resource: resource, algorithm: int64, shape: shape_dtype -> output: dtype", **_DRAWN, dtype="type = DT_UINT64",
      **_DTYPES)
def StatefulUniformFullInt(resource: Any, algorithm: Any, shape: Any, *, dtype: Any, ctx: Any) -> Any:
    """Sample integers uniformly from all that the dtype has."""
    kind = _integers(ctx, dtype)
    return _draw(ctx, resource, algorithm, lambda state: philox.full_int(state, _sizes(shape), kind))


@host("resource: resource, algorithm: int64, shape: S, counts: T, probs: T -> output: dtype", **_DRAWN,
      S="indextype", T="{half, float, double, int32, int64} = DT_DOUBLE",
      dtype="{half, float, double, int32, int64} = DT_INT64")
def StatefulRandomBinomial(resource: Any, algorithm: Any, shape: Any, counts: Any, probs: Any, *, dtype: Any,
                           ctx: Any) -> Any:
    """Sample from binomial distributions: numbers of successes in `counts` trials."""
    def draw(state: np.ndarray) -> np.ndarray:
        """Return samples; the state is advanced as TensorFlow does where it does not lose that (before 2nd runs)."""
        made: np.ndarray = binomial_samples(state, shape, counts, probs, dtype)
        batches = np.broadcast(counts, probs).size
        samples = made.size // max(batches, 1)
        philox.advance(state, batches * 2 * _MOST_TRIES * (samples + 3) // 4 * philox.BLOCKS_PER_ELEMENT)
        return made
    return _draw(ctx, resource, algorithm, draw)


def binomial_samples(state: np.ndarray, shape: np.ndarray, counts: np.ndarray, probs: np.ndarray, dtype: Any) -> Any:
    """Return samples of `shape`, which ends with that of the parameters, broadcast (else ValueError)."""
    counts, probs = np.broadcast_arrays(counts, probs)
    sizes = _sizes(shape)
    if sizes[len(sizes) - counts.ndim:] != counts.shape or len(sizes) < counts.ndim:
        raise ValueError(f"Shape passed in must end with broadcasted shape: got {list(sizes)} for parameters of shape "
                         f"{list(counts.shape)}")
    found = rejection.binomial(state, rejection.samples_of(shape, counts), counts, probs).reshape(sizes)
    return (np.nan_to_num(found) if dtype.is_integer else found).astype(dtype.as_numpy_dtype)


def _nothing(ctx: Any) -> list[Static]:
    return []


@host("resource: resource, algorithm: int64, delta: int64", shape=_nothing, ranks={"algorithm": 0, "delta": 0},
      **_STATEFUL)
def RngSkip(resource: Any, algorithm: Any, delta: Any, *, ctx: Any) -> Any:
    """Advance the state as if `delta` elements had been drawn."""
    with ctx.store.updating:
        variable, value, state = _generator(ctx, resource, algorithm)
        philox.advance(state, int(delta) * philox.BLOCKS_PER_ELEMENT)
        _store(ctx, variable, value, state)
    return ()


@host("shape: shape_dtype -> output: dtype", shape=shapes.named_by_first, ranks={"shape": 1}, stateful=True,
      dtype="type = DT_INT64", **_DTYPES)
def NonDeterministicInts(shape: Any, *, dtype: Any, ctx: Any) -> Any:
    """Draw integers from the entropy of the system."""
    sizes, kind = _sizes(shape), np.dtype(_integers(ctx, dtype))
    if prod(sizes) * kind.itemsize <= _FEW:
        return np.frombuffer(bytearray(os.urandom(prod(sizes) * kind.itemsize)), kind).reshape(sizes)
    state = np.array([philox.entropy() for _ in range(4)], np.uint64)
    return philox.full_int(state, sizes, kind)


for _op in (StatefulUniform, StatefulStandardNormalV2, StatefulTruncatedNormal, StatefulUniformInt,
            StatefulUniformFullInt, StatefulRandomBinomial, NonDeterministicInts):
    _op.no_gradient("it is drawn, not computed")
RngSkip.no_gradient("it has no outputs")
