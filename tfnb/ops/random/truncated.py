"""Normal samples between bounds: TensorFlow's values where it draws them in one thread (some 100 of them), up to the
rounding of exponential functions."""
from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from math import prod
from typing import Any

import numpy as np

from tfnb.core import dtypes
from tfnb.core.arguments import TENSORS, describe
from tfnb.core.options import has_compiler
from tfnb.core.shape import Static, broadcast
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.operation import Tensor
from tfnb.graph.stack import name_scope
from tfnb.kernels.arrays import philox, rejection
from tfnb.kernels.arrays.truncated import MOST_TRIES, truncated
from tfnb.kernels.library.random import truncated as kernels
from tfnb.ops.declaration import shapes
from tfnb.ops.declaration.declare import kernel, random
from tfnb.ops.declaration.public import public
from tfnb.ops.random.random_ops import SEEDS, get_seed, shape_tensor
from tfnb.ops.random.stateless import ends_in, with_seed

_PARAMETERS = "means: dtype, stdevs: dtype, minvals: dtype, maxvals: dtype -> output: dtype"
_AT_ONCE = 100                                     # samples of a row, where all have the same parameters


def _check_rows(ctx: Any) -> None:
    rows = ctx.value(0)
    if rows is not None and not len(rows):
        raise ValueError("Shape tensor must not be empty")
    for i in range(1, 5):
        shape = ctx.shape(i)
        if len(shape) > 1 or rows is not None and shape and shape[0] not in (1, rows[0]):
            raise ValueError(f"{ctx.op.spec.inputs[i].name} must be a scalar or a vector of length 1 or shape[0], got "
                             f"{list(shape)}")


def _by_rows(ctx: Any, shape: np.ndarray, *parameters: np.ndarray) -> np.ndarray:
    sizes = tuple(shape.tolist())
    rows, count = sizes[0], prod(sizes[1:])
    if all(p.size == 1 for p in parameters[:2]) and not parameters[2].ndim and not parameters[3].ndim:
        total = rows * count
        drawn = _drawn(ctx.state, [p.reshape(-1)[:1] for p in parameters], 1 if total else 0, total)
        rows, count = -(-total // _AT_ONCE), _AT_ONCE
    else:
        drawn = _drawn(ctx.state, [p.reshape(-1) for p in parameters], rows if count else 0, count)
    philox.advance(ctx.state, rows * 2 * MOST_TRIES * (count + 3) // 4)
    return drawn.reshape(sizes)


def _drawn(state: np.ndarray, parameters: Sequence[np.ndarray], rows: int, count: int) -> np.ndarray:
    """Return `count` samples for each row of parameters (vectors of one element, or of one for each row)."""
    dtype, each = parameters[0].dtype, np.empty((rows, 4), parameters[0].dtype)
    for i, values in enumerate(parameters):
        each[:, i] = values if values.size == 1 else values[:rows]
    if has_compiler() and dtype in (np.float32, np.float64):
        return kernels.drawn(state, each, count)
    return truncated(state, [tuple(row) for row in each], count, dtype)


@random(f"shape: T, {_PARAMETERS}", shape=shapes.named_by_first, ranks={"shape": 1}, numpy=_by_rows,
        validate=_check_rows, values=("shape",), **SEEDS, dtype="{half, bfloat16, float, double}", T="indextype")
def ParameterizedTruncatedNormal() -> None:
    """Sample from normal distributions between bounds: parameters are scalars, or have one for each row."""


def _ends_in_all(ctx: Any) -> list[Static]:
    each: Static = reduce(broadcast, [ctx.shape(i) for i in range(2, 6)])
    return ends_in(ctx, each)


def _by_elements(ctx: Any, shape: np.ndarray, seed: np.ndarray, *parameters: np.ndarray) -> np.ndarray:
    wide = parameters if all(p.shape == parameters[0].shape for p in parameters) else np.broadcast_arrays(*parameters)
    count = rejection.samples_of(shape, wide[0])
    drawn = _drawn(rejection.scrambled(seed), [p.reshape(-1) for p in wide], wide[0].size if count else 0, count)
    return drawn.T.reshape(shape.tolist())


@kernel(f"shape: S, seed: Tseed, {_PARAMETERS.replace('stdevs', 'stddevs')}", shape=with_seed(_ends_in_all),
        ranks={"shape": 1, "seed": 1}, values=("shape",), numpy=_by_elements, S="indextype",
        Tseed="indextype = DT_INT64", dtype="{half, float, double}")
def StatelessParameterizedTruncatedNormal() -> None:
    """Sample from normal distributions between bounds, by two seeds. shape: ends with that of the parameters."""


for _op in (ParameterizedTruncatedNormal, StatelessParameterizedTruncatedNormal):
    _op.no_gradient("it is drawn, not computed")


def parameterized_truncated_normal(shape: Any, means: Any = 0.0, stddevs: Any = 1.0, minvals: Any = -2.0,
                                   maxvals: Any = 2.0, dtype: Any = dtypes.float32, seed: int | None = None,
                                   name: str | None = None) -> Tensor:
    """Sample from normal distributions between bounds, of TensorFlow's module `random_ops`.

    shape: of the result; means, stddevs, minvals, maxvals: scalars, or vectors with one for each row; dtype: a float.
    seed: of the op; with the graph's it decides the values.

    >>> from tfnb.python.ops.random_ops import parameterized_truncated_normal
    >>> x = sess.run(parameterized_truncated_normal([2, 500], [0.0, 5.0], minvals=[-1.0, 4.0], maxvals=[1.0, 9.0]))
    >>> bool(x[0].max() <= 1), bool(x[1].min() >= 4)
    (True, True)
    """
    with name_scope(name, "parameterized_truncated_normal", [shape, means, stddevs, minvals, maxvals]):
        parts = [convert_to_tensor(value, dtype=dtype) for value in (means, stddevs, minvals, maxvals)]
        first, second = get_seed(seed)
        found: Tensor = ParameterizedTruncatedNormal(shape_tensor(shape), *parts, seed=first, seed2=second)
        return found


@public("random.stateless_parameterized_truncated_normal")
def stateless_parameterized_truncated_normal(shape: Any, seed: Any, means: Any = 0.0, stddevs: Any = 1.0,
                                             minvals: Any = -2.0, maxvals: Any = 2.0,
                                             name: str | None = None) -> Tensor:
    """Sample from normal distributions between bounds, by two seeds.

    shape: of the result; it ends with that of the parameters, broadcast (else ValueError); seed: as of
    `tf.random.stateless_normal`. means, stddevs, minvals, maxvals: of one float dtype; running it raises
    InvalidArgumentError where stddevs are not positive, bounds not in order or both infinite.

    >>> drawn = tf.random.stateless_parameterized_truncated_normal([500, 2], [1, 2], means=[0.0, 7.0], maxvals=1.5)
    >>> x = sess.run(drawn)
    >>> bool(x.max() <= 1.5), bool(x.min() >= -2)
    (True, True)
    """
    with name_scope(name, "parameterized_truncated_normal", [shape, means, stddevs, minvals, maxvals]):
        parts = [convert_to_tensor(value) for value in (means, stddevs, minvals, maxvals)]
        found: Tensor = StatelessParameterizedTruncatedNormal(shape_tensor(shape), seed, *parts)
        return found


describe(globals(), TENSORS)
