"""Multivariate normal distributions, and categorical ones over one-hot vectors, relaxed ones among them."""
from __future__ import annotations

from math import log, pi
from typing import Any

import numpy as np

from tfnb.core import dtypes
from tfnb.core.arguments import DISTRIBUTIONS, describe
from tfnb.distributions.discrete import Categorical
from tfnb.distributions.distribution import FULLY_REPARAMETERIZED, Distribution
from tfnb.distributions.families import OfLogits, OfVectors
from tfnb.distributions.kullback_leibler import RegisterKL
from tfnb.distributions.linear import Scale
from tfnb.distributions.parameters import logits_and_probs, number
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.operation import Tensor
from tfnb.graph.stack import name_scope
from tfnb.linalg.matrices import cholesky
from tfnb.ops.array.gather import one_hot
from tfnb.ops.array.joining import concat
from tfnb.ops.array.reshape import expand_dims
from tfnb.ops.array.reshape import shape as shape_of
from tfnb.ops.declaration.raw import raw
from tfnb.ops.nn.cross_entropy import log_softmax
from tfnb.ops.random.random_ops import random_normal, random_uniform


class _MultivariateNormal(OfVectors):
    """Normal distribution of vectors: loc + scale @ z."""

    _scale_of: Scale

    def _begin(self, loc: Any, scale: Scale, options: tuple[bool, bool], name: str, parameters: dict[str, Any]) -> None:
        self._scale_of = scale
        zeros = raw.ZerosLike(scale.diag)
        given = 0.0 if loc is None else loc
        self._vector = convert_to_tensor(given, name="loc", preferred_dtype=zeros.dtype) + zeros
        Distribution.__init__(self, self._vector.dtype, FULLY_REPARAMETERIZED, *options, parameters,
                              [self._vector], name)

    @property
    def loc(self) -> Tensor:
        """The mean."""
        return self._vector

    @property
    def scale(self) -> Scale:
        """The matrices that standard normal vectors are multiplied by."""
        return self._scale_of

    def _size(self) -> Any:
        return raw.Cast(self.event_shape_tensor()[0], DstT=self.dtype)

    def _sample_n(self, n: Any, seed: int | None) -> Any:
        drawn = random_normal(self._drawn_shape(n), dtype=self.dtype, seed=seed)
        return self._scale_of.multiply(drawn) + self._vector

    def _log_prob(self, x: Tensor) -> Any:
        z = self._scale_of.solve(x - self._vector)
        return -0.5 * (raw.Sum(raw.Square(z), [-1]) + self._size() * log(2 * pi)) - self._scale_of.log_abs_det()

    def _entropy(self) -> Any:
        return 0.5 * self._size() * (1 + log(2 * pi)) + self._scale_of.log_abs_det() \
            + raw.ZerosLike(raw.Sum(self._vector, [-1]))

    def _mean(self) -> Any:
        return raw.Identity(self._vector)

    _mode = _mean

    def _variance(self) -> Any:
        return self._scale_of.variance() + raw.ZerosLike(self._vector)

    def _covariance(self) -> Any:
        return self._scale_of.covariance() + raw.ZerosLike(expand_dims(self._vector, -1))


@RegisterKL(_MultivariateNormal, _MultivariateNormal)
def _kl_multivariate_normal(a: Any, b: Any, name: str | None = None) -> Any:
    with name_scope(name, "kl_mvn"):
        shift = b.scale.solve(b.loc - a.loc)
        if a.scale.tril is None and b.scale.tril is None:
            squares = raw.Sum(raw.Square(a.scale.diag / b.scale.diag), [-1])
        else:
            right = a.scale.to_dense()
            left = b.scale.to_dense()
            zeros = raw.ZerosLike(right) + raw.ZerosLike(left)
            ratio = raw.MatrixTriangularSolve(left + zeros, right + zeros, lower=True)
            squares = raw.Sum(raw.Square(ratio), np.array([-2, -1], np.int32))
        return b.scale.log_abs_det() - a.scale.log_abs_det() \
            + 0.5 * (squares + raw.Sum(raw.Square(shift), [-1]) - a._size())


class MultivariateNormalDiag(_MultivariateNormal):
    """Normal distribution of vectors with independent elements; samples have gradients.

    loc: the mean, (..., k), 0 by default; scale_diag: standard deviations, (..., k), 1 by default;
    scale_identity_multiplier: added to all of them, (...).

    >>> d = tf.contrib.distributions.MultivariateNormalDiag(loc=[1.0, -1.0], scale_diag=[1.0, 2.0])
    >>> sess.run([d.log_prob([1.0, 0.0]), d.covariance()])
    [-2.656,
     array([[1., 0.],
            [0., 4.]], dtype=float32)]
    """

    def __init__(self, loc: Any = None, scale_diag: Any = None, scale_identity_multiplier: Any = None,
                 validate_args: bool = False, allow_nan_stats: bool = True,
                 name: str = "MultivariateNormalDiag") -> None:
        parameters = dict(locals())
        if loc is None and scale_diag is None:
            raise ValueError("MultivariateNormalDiag needs loc or scale_diag, from which the size follows")
        with name_scope(name, values=[loc, scale_diag, scale_identity_multiplier]) as scope:
            diag = None if scale_diag is None else convert_to_tensor(scale_diag, name="scale_diag")
            if scale_identity_multiplier is not None:
                multiple = convert_to_tensor(scale_identity_multiplier, name="scale_identity_multiplier")[..., None]
                diag = multiple if diag is None else diag + multiple
            if scale_diag is None:
                ones = raw.OnesLike(convert_to_tensor(loc, name="loc"))
                diag = ones if diag is None else diag * ones
            self._begin(loc, Scale(diag), (validate_args, allow_nan_stats), scope, parameters)


class MultivariateNormalDiagWithSoftplusScale(MultivariateNormalDiag):
    """MultivariateNormalDiag with the standard deviations softplus(`scale_diag`).

    loc, scale_diag: as there.

    >>> d = tf.contrib.distributions.MultivariateNormalDiagWithSoftplusScale([0.0], [0.0])
    >>> sess.run(d.stddev())
    array([0.6931], dtype=float32)
    """

    def __init__(self, loc: Any, scale_diag: Any, validate_args: bool = False, allow_nan_stats: bool = True,
                 name: str = "MultivariateNormalDiagWithSoftplusScale") -> None:
        parameters = dict(locals())
        super().__init__(loc, raw.Softplus(convert_to_tensor(scale_diag)), None, validate_args, allow_nan_stats, name)
        self._parameters = {key: value for key, value in parameters.items() if key not in ("self", "__class__")}


class MultivariateNormalTriL(_MultivariateNormal):
    """Normal distribution of vectors of covariance scale_tril @ scale_tril^T; samples have gradients.

    loc: the mean, (..., k), 0 by default; scale_tril: lower triangular matrices, (..., k, k), the identity by default.

    >>> d = tf.contrib.distributions.MultivariateNormalTriL([1.0, -1.0], [[1.0, 0.0], [0.5, 2.0]])
    >>> sess.run([d.log_prob([1.0, 0.0]), d.covariance()])
    [-2.656,
     array([[1.  , 0.5 ],
            [0.5 , 4.25]], dtype=float32)]
    """

    def __init__(self, loc: Any = None, scale_tril: Any = None, validate_args: bool = False,
                 allow_nan_stats: bool = True, name: str = "MultivariateNormalTriL") -> None:
        parameters = dict(locals())
        if loc is None and scale_tril is None:
            raise ValueError("Must specify one or both of `loc`, `scale_tril`.")
        with name_scope(name, values=[loc, scale_tril]) as scope:
            if scale_tril is None:
                scale = Scale(raw.OnesLike(convert_to_tensor(loc, name="loc")))
            else:
                scale = Scale(tril=raw.MatrixBandPart(convert_to_tensor(scale_tril, name="scale_tril"), -1, 0))
            self._begin(loc, scale, (validate_args, allow_nan_stats), scope, parameters)


class MultivariateNormalFullCovariance(_MultivariateNormal):
    """Normal distribution of vectors with a covariance matrix; samples have gradients.

    loc: the mean, (..., k), 0 by default; covariance_matrix: symmetric and positive definite, (..., k, k).

    >>> d = tf.contrib.distributions.MultivariateNormalFullCovariance([0.0, 0.0], [[2.0, 1.0], [1.0, 2.0]])
    >>> sess.run([d.log_prob([1.0, 0.0]), d.variance()])
    [-2.7205, array([2., 2.], dtype=float32)]
    """

    def __init__(self, loc: Any = None, covariance_matrix: Any = None, validate_args: bool = False,
                 allow_nan_stats: bool = True, name: str = "MultivariateNormalFullCovariance") -> None:
        parameters = dict(locals())
        if loc is None and covariance_matrix is None:
            raise ValueError("Must specify one or both of `loc`, `covariance_matrix`.")
        with name_scope(name, values=[loc, covariance_matrix]) as scope:
            if covariance_matrix is None:
                scale = Scale(raw.OnesLike(convert_to_tensor(loc, name="loc")))
            else:
                scale = Scale(tril=cholesky(convert_to_tensor(covariance_matrix, name="covariance_matrix")))
            self._begin(loc, scale, (validate_args, allow_nan_stats), scope, parameters)


class OneHotCategorical(Categorical):
    """Categorical distribution over one-hot vectors.

    dtype: of the samples, int32 by default.

    >>> d = tf.contrib.distributions.OneHotCategorical(probs=[0.1, 0.2, 0.7])
    >>> sess.run([d.prob([0.0, 0.0, 1.0]), d.mode(), d.mean()])
    [0.7, array([0, 0, 1], dtype=int32), array([0.1, 0.2, 0.7], dtype=float32)]
    """

    def __init__(self, logits: Any = None, probs: Any = None, dtype: Any = dtypes.int32, validate_args: bool = False,
                 allow_nan_stats: bool = True, name: str = "OneHotCategorical") -> None:
        super().__init__(logits, probs, dtype, validate_args, allow_nan_stats, name)

    def _event_shape(self) -> Any:
        return self._logits.shape[-1:]

    def _event_shape_tensor(self) -> Any:
        return self._sizes[-1:]

    def _sample_n(self, n: Any, seed: int | None) -> Any:
        return one_hot(super()._sample_n(n, seed), self._classes, dtype=self.dtype)

    def _log_prob(self, x: Tensor) -> Any:
        return raw.Sum(log_softmax(self._logits) * raw.Cast(x, DstT=self._logits.dtype), [-1])

    def _mode(self) -> Any:
        return one_hot(super()._mode(), self._classes, dtype=self.dtype)

    def _mean(self) -> Any:
        return raw.Identity(self._probs)

    def _variance(self) -> Any:
        return self._probs * (1 - self._probs)


class _Relaxed(OfLogits):
    """Base of continuous relaxations of distributions of classes."""

    _temperature: Tensor

    @property
    def temperature(self) -> Tensor:
        """The temperature."""
        return self._temperature


class ExpRelaxedOneHotCategorical(_Relaxed, OfVectors):
    """The logarithm of RelaxedOneHotCategorical, which is numerically more stable.

    temperature: positive; logits, probs: as there.

    >>> d = tf.contrib.distributions.ExpRelaxedOneHotCategorical(0.5, logits=[0.0, 1.0])
    >>> sess.run(tf.reduce_sum(tf.exp(d.sample(seed=1))))
    1.0
    """

    def __init__(self, temperature: Any, logits: Any = None, probs: Any = None, dtype: Any = None,
                 validate_args: bool = False, allow_nan_stats: bool = True,
                 name: str = "ExpRelaxedOneHotCategorical") -> None:
        parameters = dict(locals())
        with name_scope(name, values=[logits, probs, temperature]) as scope:
            self._logits, self._probs = logits_and_probs(logits, probs, True, validate_args, dtype=dtype)
            self._vector = self._logits
            self._temperature = convert_to_tensor(temperature, name="temperature", dtype=self._logits.dtype)
        super().__init__(self._logits.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, parameters,
                         [self._logits, self._probs, self._temperature], scope)

    def _sample_n(self, n: Any, seed: int | None) -> Any:
        shape = concat([raw.Reshape(n, [1]), shape_of(self._logits)], 0)
        tiny = np.finfo(self.dtype.as_numpy_dtype).tiny
        gumbel = -raw.Log(-raw.Log(random_uniform(shape, tiny, 1.0, self.dtype, seed=seed)))
        return log_softmax((gumbel + self._logits) / self._temperature)

    def _log_prob(self, x: Tensor) -> Any:
        k = raw.Cast(self.event_shape_tensor()[0], DstT=self.dtype)
        normalizer = raw.Lgamma(k) + (k - 1) * raw.Log(self._temperature)
        inner = log_softmax(self._logits - x * self._temperature)
        return raw.Sum(inner, [-1]) + normalizer


class RelaxedOneHotCategorical(ExpRelaxedOneHotCategorical):
    """Continuous relaxation of OneHotCategorical (Gumbel-softmax, Concrete), whose samples have gradients.

    temperature: positive; near 0 samples are nearly one-hot, large ones are nearly uniform.

    >>> d = tf.contrib.distributions.RelaxedOneHotCategorical(0.5, probs=[0.1, 0.9])
    >>> sess.run(tf.reduce_sum(d.sample(seed=1)))
    1.0
    """

    def __init__(self, temperature: Any, logits: Any = None, probs: Any = None, dtype: Any = None,
                 validate_args: bool = False, allow_nan_stats: bool = True,
                 name: str = "RelaxedOneHotCategorical") -> None:
        super().__init__(temperature, logits, probs, dtype, validate_args, allow_nan_stats, name)

    def _sample_n(self, n: Any, seed: int | None) -> Any:
        return raw.Exp(super()._sample_n(n, seed))

    def _log_prob(self, x: Tensor) -> Any:
        return super()._log_prob(raw.Log(x)) - raw.Sum(raw.Log(x), [-1])


class RelaxedBernoulli(_Relaxed):
    """Continuous relaxation of Bernoulli on (0, 1) (Concrete), whose samples have gradients.

    temperature: positive; near 0 samples are nearly 0 or 1.

    >>> d = tf.contrib.distributions.RelaxedBernoulli(0.1, logits=[-20.0, 20.0])
    >>> sess.run(tf.round(d.sample(seed=1)))
    array([0., 1.], dtype=float32)
    """

    def __init__(self, temperature: Any, logits: Any = None, probs: Any = None, validate_args: bool = False,
                 allow_nan_stats: bool = True, name: str = "RelaxedBernoulli") -> None:
        parameters = dict(locals())
        with name_scope(name, values=[logits, probs, temperature]) as scope:
            self._logits, self._probs = logits_and_probs(logits, probs, validate=validate_args)
            self._temperature = convert_to_tensor(temperature, name="temperature", dtype=self._logits.dtype)
        super().__init__(self._logits.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, parameters,
                         [self._logits, self._temperature], scope)

    def _sample_n(self, n: Any, seed: int | None) -> Any:
        tiny = np.finfo(self.dtype.as_numpy_dtype).tiny
        u = random_uniform(self._drawn_shape(n), tiny, 1.0, self.dtype, seed=seed)
        return raw.Sigmoid((raw.Log(u) - raw.Log1p(-u) + self._logits) / self._temperature)

    def _log_prob(self, y: Tensor) -> Any:
        t = self._temperature
        z = raw.Log(y) - raw.Log1p(-y)
        shifted = z * t - self._logits
        return raw.Log(t) - shifted - 2 * raw.Softplus(-shifted) - raw.Log(y) - raw.Log1p(-y)

    def _cdf(self, y: Tensor) -> Any:
        z = raw.Log(y) - raw.Log1p(-y)
        return raw.Sigmoid(z * self._temperature - self._logits) * number(1, y)


describe(globals(), DISTRIBUTIONS)
