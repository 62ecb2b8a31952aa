"""Statistics of samples: moving moments, autocorrelation, percentiles; conjugate posteriors, seeds."""
from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from tfnb.control_flow.assertions import assert_greater_equal, assert_less_equal
from tfnb.core.arguments import DISTRIBUTIONS, describe
from tfnb.distributions.continuous import Normal
from tfnb.distributions.parameters import checked, number
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.operation import Tensor
from tfnb.graph.stack import control_dependencies, name_scope
from tfnb.ops.array.joining import concat
from tfnb.ops.array.reshape import identity, reshape, transpose
from tfnb.ops.array.reshape import shape as shape_of
from tfnb.ops.array.searching import sort
from tfnb.ops.declaration.raw import raw
from tfnb.ops.math.casting import cast
from tfnb.ops.reductions.reduce import reduce_max, reduce_mean, reduce_sum
from tfnb.ops.state import assign as state
from tfnb.variables.initializers import zeros_initializer
from tfnb.variables.scope import get_variable, variable_scope


def assign_moving_mean_variance(mean_var: Any, variance_var: Any, value: Any, decay: Any,
                                name: str | None = None) -> tuple[Tensor, Tensor]:
    """Update exponential moving averages of the mean and of the variance, and return both.

    mean_var, variance_var: variables; value: of their shape; decay: how much of the averages stays, below 1. Raises
    TypeError for dtypes that differ.

    >>> mean, variance = tf.Variable(0.0), tf.Variable(0.0)
    >>> step = tf.contrib.distributions.assign_moving_mean_variance(mean, variance, 2.0, decay=0.5)
    >>> sess.run(tf.global_variables_initializer())
    >>> sess.run(step)
    (1.0, 1.0)
    """
    with name_scope(name, "assign_moving_mean_variance", values=[variance_var, mean_var, value, decay]):
        dtype = mean_var.dtype.base_dtype
        if not dtype.is_floating:
            raise TypeError(f"mean_var.base_dtype({dtype.name}) does not have float type `dtype`.")
        if variance_var.dtype.base_dtype != dtype:
            raise TypeError(f"mean_var.dtype({dtype.name}) != variance_var.dtype"
                            f"({variance_var.dtype.base_dtype.name})")
        value = convert_to_tensor(value, dtype=dtype, name="value")
        decay = convert_to_tensor(decay, dtype=dtype, name="decay")
        delta = value - mean_var.value()
        with control_dependencies([delta]):
            mean = state.assign_add(mean_var, (1 - decay) * delta)
            variance = state.assign_sub(variance_var, (1 - decay) * (variance_var.value() - decay * raw.Square(delta)))
        return mean, variance


def assign_log_moving_mean_exp(log_mean_exp_var: Any, log_value: Any, decay: Any, name: str | None = None) -> Tensor:
    """Update log of the exponential moving average of exp(log_value), and return it.

    log_mean_exp_var: a variable; log_value: of its shape; decay: how much of the average stays, below 1.

    >>> average = tf.Variable(tf.log(1.0))
    >>> step = tf.contrib.distributions.assign_log_moving_mean_exp(average, tf.log(3.0), decay=0.5)
    >>> sess.run(tf.global_variables_initializer())
    >>> sess.run(tf.exp(step))
    2.0
    """
    with name_scope(name, "assign_log_moving_mean_exp", values=[log_mean_exp_var, log_value, decay]):
        dtype = log_mean_exp_var.dtype.base_dtype
        log_value = convert_to_tensor(log_value, dtype=dtype, name="log_value")
        decay = convert_to_tensor(decay, dtype=dtype, name="decay")
        before, after = raw.Log(decay) + log_mean_exp_var.value(), raw.Log1p(-decay) + log_value
        most = raw.StopGradient(raw.Maximum(before, after))
        return state.assign(log_mean_exp_var, most + raw.Log(raw.Exp(before - most) + raw.Exp(after - most)))


def moving_mean_variance(value: Any, decay: Any, collections: Any = None, name: str | None = None) -> Any:
    """Return exponential moving averages of the mean and of the variance, in variables "mean" and "variance".

    value: of a known shape; decay: how much of the averages stays, below 1; collections: of the variables, by default
    GLOBAL_VARIABLES. Returns (mean, variance), tensors that update them.

    >>> mean, variance = tf.contrib.distributions.moving_mean_variance(2.0, decay=0.5)
    >>> sess.run(tf.global_variables_initializer())
    >>> sess.run([mean, variance])
    [1.0, 1.0]
    """
    with variable_scope(name, "moving_mean_variance", [value, decay]):
        value = convert_to_tensor(value, name="value")
        dtype = value.dtype.base_dtype
        made = [get_variable(each, value.shape, dtype, zeros_initializer(), trainable=False, collections=collections)
                for each in ("mean", "variance")]
        return assign_moving_mean_variance(made[0], made[1], value, decay)


def auto_correlation(x: Any, axis: int = -1, max_lags: Any = None, center: bool = True, normalize: bool = True,
                     name: str = "auto_correlation") -> Tensor:
    """Return the autocorrelation of sequences, for lags from 0 on, by Fourier transforms.

    x: float32, float64 or complex; axis: of time; max_lags: the largest lag, by default all; center: whether to take
    away the mean; normalize: whether to divide by the value at lag 0.

    >>> sess.run(tf.contrib.distributions.auto_correlation([1.0, -1.0, 1.0, -1.0], max_lags=2))
    array([ 1., -1.,  1.], dtype=float32)
    """
    with name_scope(name, values=[x]):
        x = convert_to_tensor(x, name="x")
        if x.shape.ndims is None:
            raise ValueError("expected a tensor of known rank")
        order = np.roll(np.arange(x.shape.ndims), x.shape.ndims - 1 - axis % x.shape.ndims)
        x = transpose(x, order)
        kind = x.dtype if x.dtype.is_complex else "complex128" if x.dtype.name == "float64" else "complex64"
        if center:
            x = x - reduce_mean(x, -1, keepdims=True)
        size = shape_of(x)[-1]
        padded = concat([cast(x, kind), cast(raw.ZerosLike(x), kind)], -1)
        spectrum = raw.FFT(padded)
        products = raw.IFFT(spectrum * raw.Conj(spectrum))
        lags = size if max_lags is None else raw.Minimum(size, raw.Cast(max_lags, DstT="int32") + 1)
        kept = products[..., :lags]
        found = kept if x.dtype.is_complex else raw.Real(kept, Tout=x.dtype)
        counts = raw.Cast(size - raw.Range(0, lags, 1), DstT="float64" if kind == "complex128" else "float32")
        found = found / cast(counts, found.dtype)
        if normalize:
            found = found / found[..., :1]
        result: Tensor = transpose(found, np.argsort(order))
        if max_lags is None:
            result.set_shape(transpose(x, np.argsort(order)).shape)
        return result


def percentile(x: Any, q: Any, axis: Any = None, interpolation: str | None = None, keep_dims: bool = False,
               validate_args: bool = False, name: str | None = None) -> Tensor:
    """Return the `q`-th percentile of `x`: an element of it.

    q: a number from 0 to 100; axis: an axis or a list of them, by default all; interpolation: "nearest" (default),
    "lower" or "higher" for a place between two elements (else ValueError); keep_dims: whether axes stay with size 1.

    >>> sess.run(tf.contrib.distributions.percentile([1.0, 2.0, 3.0, 4.0], q=30.0))
    2.0
    """
    allowed = ("lower", "higher", "nearest")
    interpolation = interpolation or "nearest"
    if interpolation not in allowed:
        raise ValueError(f"Argument `interpolation` must be in {allowed}. Found {interpolation}")
    with name_scope(name, "percentile", values=[x, q]):
        x = convert_to_tensor(x, name="x")
        q = raw.Cast(convert_to_tensor(q, name="q"), DstT="float64")
        if q.shape.ndims not in (None, 0):
            raise ValueError(f"expected a scalar q, got the shape {q.shape}")
        if validate_args:
            q = checked(q, [assert_greater_equal(q, number(0, q)), assert_less_equal(q, number(100, q))])
        rank = x.shape.ndims
        if rank is None:
            raise ValueError("expected a tensor of known rank")
        axes = list(range(rank)) if axis is None else sorted({int(a) % rank for a in np.atleast_1d(axis)})
        rest = [i for i in range(rank) if i not in axes]
        flat = transpose(x, rest + axes)
        lead = shape_of(flat)[:len(rest)]
        flat = sort(reshape(flat, concat([lead, [-1]], 0)), axis=-1)
        last = raw.Cast(shape_of(flat)[-1] - 1, DstT="float64")
        place = last * q / 100.0
        rounded = {"lower": raw.Floor, "higher": raw.Ceil, "nearest": raw.Round}[interpolation](place)
        found: Any = flat[..., raw.Cast(rounded, DstT="int32")]
        if keep_dims:
            ones = [1 if i in axes else None for i in range(rank)]
            sizes = [shape_of(x)[i] if one is None else convert_to_tensor(1) for i, one in enumerate(ones)]
            found = reshape(found, raw.Pack(sizes) if sizes else np.zeros(0, np.int32))
        result: Tensor = found
        return result


def reduce_weighted_logsumexp(logx: Any, w: Any = None, axis: Any = None, keep_dims: bool = False,
                              return_sign: bool = False, name: str | None = None) -> Any:
    """Return log |sum(w * exp(logx))| over `axis`, without overflow.

    w: weights of any sign, 1 by default; keep_dims: whether axes stay with size 1; return_sign: whether to return the
    sign of the sum, too.

    >>> sess.run(tf.contrib.distributions.reduce_weighted_logsumexp([0.0, 0.0], w=[-3.0, 1.0], return_sign=True))
    (0.6931, -1.0)
    """
    with name_scope(name, "reduce_weighted_logsumexp", values=[logx, w]):
        logx = convert_to_tensor(logx, name="logx")
        if w is None:
            w = raw.OnesLike(logx)
        w = convert_to_tensor(w, dtype=logx.dtype, name="w")
        logs = logx + raw.Log(raw.Abs(w))
        most = reduce_max(logs, axis, keepdims=True)
        most = raw.StopGradient(raw.SelectV2(raw.IsFinite(most), most, number(0, most)))
        total = reduce_sum(raw.Sign(w) * raw.Exp(logs - most), axis, keepdims=True)
        sign = raw.Sign(total)
        found = most + raw.Log(sign * total)
        if not keep_dims:
            found, sign = (reduce_sum(each, axis) for each in (found, sign))
        return (found, sign) if return_sign else found


def normal_conjugates_known_scale_posterior(prior: Any, scale: Any, s: Any, n: Any) -> Normal:
    """Return the posterior Normal of a mean, of observations with a known standard deviation.

    prior: the Normal before; scale: the standard deviation; s: the sum of the observations; n: their number.

    >>> tfd = tf.contrib.distributions
    >>> after = tfd.normal_conjugates_known_scale_posterior(tfd.Normal(0.0, 1.0), scale=1.0, s=3.0, n=2)
    >>> sess.run([after.loc, after.scale])
    [1.0, 0.5774]
    """
    if not isinstance(prior, Normal):
        raise TypeError("Expected prior to be an instance of type Normal")
    if s.dtype != prior.dtype if isinstance(s, Tensor) else False:
        raise TypeError(f"Observation sum s.dtype does not match prior dtype: {s.dtype.name} vs. {prior.dtype.name}")
    count = cast(convert_to_tensor(n), prior.dtype)
    before, noise = raw.Square(prior.scale), raw.Square(convert_to_tensor(scale, dtype=prior.dtype))
    total = convert_to_tensor(s, dtype=prior.dtype)
    spread = 1 / (1 / before + count / noise)
    return Normal((prior.loc / before + total / noise) * spread, raw.Sqrt(spread))


def normal_conjugates_known_scale_predictive(prior: Any, scale: Any, s: Any, n: Any) -> Normal:
    """Return the Normal of the next observation: the posterior of the mean, and the noise.

    prior, scale, s, n: as of `normal_conjugates_known_scale_posterior`.

    >>> tfd = tf.contrib.distributions
    >>> after = tfd.normal_conjugates_known_scale_predictive(tfd.Normal(0.0, 1.0), scale=1.0, s=3.0, n=2)
    >>> sess.run([after.loc, after.scale])
    [1.0, 1.1547]
    """
    mean = normal_conjugates_known_scale_posterior(prior, scale, s, n)
    noise = convert_to_tensor(scale, dtype=mean.dtype)
    return Normal(identity(mean.loc), raw.Sqrt(raw.Square(mean.scale) + raw.Square(noise)))


class SeedStream:
    """A stream of seeds that follow from one and a word: each call returns the next.

    seed: an integer, or None, which each call returns; salt: the word, other for each use of one seed.

    >>> first, again = (tf.contrib.distributions.SeedStream(1, salt="model") for _ in range(2))
    >>> first() == again() != first()
    True
    """

    def __init__(self, seed: int | None, salt: str) -> None:
        self._seed = seed.original_seed if isinstance(seed, SeedStream) else seed
        self._salt, self._count = salt, 0

    @property
    def original_seed(self) -> int | None:
        """The seed that it was made with."""
        return self._seed

    @property
    def salt(self) -> str:
        """The word."""
        return self._salt

    def __call__(self) -> int | None:
        """Return the next seed."""
        self._count += 1
        if self._seed is None:
            return None
        text = f"{self._seed}{self._count}{self._salt}".encode()
        return int(hashlib.sha512(text).hexdigest()[:15], 16)


describe(globals(), DISTRIBUTIONS)
