"""Distribution: the base class of probability distributions, and which samples have gradients.

A subclass defines hooks: `_sample_n(n, seed)`, `_log_prob(value)` or `_prob(value)`, `_log_cdf` or `_cdf`,
`_quantile`, `_entropy`, `_mean`, `_variance` or `_stddev`, `_covariance`, `_mode`, `_event_shape`, ... and gives the
parameters whose shapes broadcast to its batch shape. Others are derived from these where they can be.
"""
from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from tfnb.core import dtypes
from tfnb.core.shape import TensorShape
from tfnb.distributions import kullback_leibler
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.constant_value import constant_value
from tfnb.graph.parts.operation import Tensor
from tfnb.graph.stack import name_scope
from tfnb.ops.array.joining import concat
from tfnb.ops.array.reshape import broadcast_dynamic_shape, broadcast_static_shape
from tfnb.ops.array.reshape import shape as shape_of
from tfnb.ops.declaration.raw import raw


class ReparameterizationType:
    """Property of a distribution: whether its samples have gradients with respect to its parameters.

    rep_type: its name, "FULLY_REPARAMETERIZED" or "NOT_REPARAMETERIZED". Two are equal only if they are one object.

    >>> tf.distributions.Normal(0.0, 1.0).reparameterization_type == tf.distributions.FULLY_REPARAMETERIZED
    True
    """

    def __init__(self, rep_type: str) -> None:
        self._rep_type = rep_type

    def __repr__(self) -> str:
        return f"<Reparameterization Type: {self._rep_type}>"


FULLY_REPARAMETERIZED = ReparameterizationType("FULLY_REPARAMETERIZED")
NOT_REPARAMETERIZED = ReparameterizationType("NOT_REPARAMETERIZED")

# method -> (hook that it follows from, function of its value)
_DERIVED: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "log_prob": ("_prob", lambda p: raw.Log(p)), "prob": ("_log_prob", lambda p: raw.Exp(p)),
    "log_cdf": ("_cdf", lambda p: raw.Log(p)), "cdf": ("_log_cdf", lambda p: raw.Exp(p)),
    "survival_function": ("_cdf", lambda p: 1 - p),
    "log_survival_function": ("_cdf", lambda p: raw.Log1p(-p)),
    "variance": ("_stddev", lambda s: raw.Square(s)), "stddev": ("_variance", lambda v: raw.Sqrt(v)),
}


class Distribution:
    """Probability distribution over tensors, and the base class of yours: define hooks such as `_log_prob`.

    dtype: of its samples; reparameterization_type: FULLY_REPARAMETERIZED or NOT_REPARAMETERIZED; validate_args: whether
    runs check parameters and values; allow_nan_stats: whether an undefined statistic is NaN, or an error of the run;
    parameters: the arguments of the constructor, for `copy`; graph_parents: the tensors that it depends on, of which
    those in `batch` (by default all) broadcast to the batch shape.

    >>> class Half(tf.distributions.Distribution):
    ...     def __init__(self):
    ...         super().__init__(tf.float32, tf.distributions.NOT_REPARAMETERIZED, False, True)
    ...     def _prob(self, value):
    ...         return 0.5 * tf.ones_like(value)
    >>> sess.run(Half().log_prob([0.0, 1.0]))
    array([-0.6931, -0.6931], dtype=float32)
    """

    _event: tuple[int, ...] = ()

    def __init__(self, dtype: Any, reparameterization_type: ReparameterizationType, validate_args: bool,
                 allow_nan_stats: bool, parameters: Mapping[str, Any] | None = None,
                 graph_parents: Sequence[Tensor] | None = None, name: str | None = None,
                 batch: Sequence[Any] | None = None) -> None:
        if not name or not name.endswith("/"):
            with name_scope(name or type(self).__name__) as name:
                pass
        self._name = name
        self._dtype = dtypes.as_dtype(dtype)
        self._reparameterization_type = reparameterization_type
        self._validate_args, self._allow_nan_stats = validate_args, allow_nan_stats
        self._parameters = {key: value for key, value in (parameters or {}).items() if key not in ("self", "__class__")}
        self._graph_parents = list(graph_parents or ())
        self._batch = list(self._graph_parents if batch is None else batch)

    # --- what it is ---

    @property
    def name(self) -> str:
        """The name scope of its ops."""
        return self._name or ""

    @property
    def dtype(self) -> dtypes.DType:
        """The dtype of its samples."""
        return self._dtype

    @property
    def parameters(self) -> dict[str, Any]:
        """The arguments that it was made with."""
        return dict(self._parameters)

    @property
    def reparameterization_type(self) -> ReparameterizationType:
        """Whether samples have gradients with respect to the parameters."""
        return self._reparameterization_type

    @property
    def allow_nan_stats(self) -> bool:
        """Whether undefined statistics are NaN, in place of errors."""
        return self._allow_nan_stats

    @property
    def validate_args(self) -> bool:
        """Whether runs check parameters and values."""
        return self._validate_args

    @property
    def batch_shape(self) -> TensorShape:
        """The static shape of its parameters, broadcast: of the distributions that it holds."""
        return TensorShape(self._batch_shape())

    @property
    def event_shape(self) -> TensorShape:
        """The static shape of a single sample of a single distribution."""
        return TensorShape(self._event_shape())

    def _batch_shape(self) -> Any:
        found = TensorShape([])
        for each in self._batch:
            found = broadcast_static_shape(found, each.shape)
        return found

    def _batch_shape_tensor(self) -> Tensor:
        found = convert_to_tensor(np.zeros(0, np.int32))
        for each in self._batch:
            found = broadcast_dynamic_shape(found, shape_of(each))
        return found

    def _event_shape(self) -> Any:
        return self._event

    def _event_shape_tensor(self) -> Tensor:
        return convert_to_tensor(np.array(self._event, np.int32))

    def batch_shape_tensor(self, name: str = "batch_shape_tensor") -> Tensor:
        """Return the batch shape as an int32 vector."""
        with self._name_scope(name):
            return self._constant_or(self.batch_shape, self._batch_shape_tensor, "batch_shape")

    def event_shape_tensor(self, name: str = "event_shape_tensor") -> Tensor:
        """Return the event shape as an int32 vector."""
        with self._name_scope(name):
            return self._constant_or(self.event_shape, self._event_shape_tensor, "event_shape")

    @staticmethod
    def _constant_or(static: TensorShape, otherwise: Callable[[], Tensor], name: str) -> Tensor:
        if static.is_fully_defined():
            return convert_to_tensor(np.array(static.as_list(), np.int32), name=name)
        return otherwise()

    def is_scalar_event(self, name: str = "is_scalar_event") -> Tensor:
        """Return whether a single sample is a scalar, as a bool tensor."""
        with self._name_scope(name):
            return convert_to_tensor(self.event_shape.ndims == 0, name="is_scalar_event")

    def is_scalar_batch(self, name: str = "is_scalar_batch") -> Tensor:
        """Return whether it is a single distribution, as a bool tensor."""
        with self._name_scope(name):
            if self.batch_shape.ndims is not None:
                return convert_to_tensor(self.batch_shape.ndims == 0, name="is_scalar_batch")
            found: Tensor = raw.Equal(raw.Size(self.batch_shape_tensor()), 0)
            return found

    def copy(self, **override_parameters_kwargs: Any) -> Any:
        """Return a distribution of the same class and parameters but for those that are given."""
        return type(self)(**{**self._parameters, **override_parameters_kwargs})

    @classmethod
    def param_shapes(cls, sample_shape: Any, name: str = "DistributionParamShapes") -> dict[str, Tensor]:
        """Return parameter -> the shape (tensor) that it needs for `sample()` to have the shape `sample_shape`."""
        with name_scope(name, values=[sample_shape]):
            found: dict[str, Tensor] = cls._param_shapes(sample_shape)
            return found

    @classmethod
    def param_static_shapes(cls, sample_shape: Any) -> dict[str, TensorShape]:
        """Return parameter -> the TensorShape that it needs for `sample()` to have the static shape `sample_shape`."""
        shapes = cls.param_shapes(sample_shape)
        return {name: TensorShape(known_value(shape)) for name, shape in shapes.items()}

    @classmethod
    def _param_shapes(cls, sample_shape: Any) -> Any:
        raise NotImplementedError(f"_param_shapes not implemented: {cls.__name__}")

    # --- what it computes ---

    def sample(self, sample_shape: Any = (), seed: int | None = None, name: str = "sample") -> Tensor:
        """Draw samples: a tensor of shape `sample_shape` + batch shape + event shape."""
        return self._drawn(sample_shape, seed, name)

    def _drawn(self, sample_shape: Any, seed: int | None, name: str, **condition: Any) -> Tensor:
        with self._name_scope(name, [sample_shape]):
            given = convert_to_tensor(np.array(sample_shape, np.int32) if isinstance(sample_shape, (list, tuple))
                                      else sample_shape, dtype=dtypes.int32, name="sample_shape")
            count = raw.Prod(given, raw.Range(0, raw.Rank(given), 1))
            vector = given if given.shape.ndims == 1 else raw.Reshape(given, [-1])
            known = constant_value(given)
            n = count if known is None else convert_to_tensor(np.int32(np.prod(known)))
            drawn = self._hook("sample_n")(n, seed, **condition)
            made: Tensor = raw.Reshape(drawn, concat([vector, shape_of(drawn)[1:]], 0))
            if known is not None:
                made.set_shape(TensorShape(known.reshape(-1).tolist()).concatenate(self.batch_shape)
                               .concatenate(self.event_shape))
            return made

    def log_prob(self, value: Any, name: str = "log_prob") -> Tensor:
        """Return the logarithm of the density, or of the probability mass, at `value`."""
        return self._computed("log_prob", name, value)

    def prob(self, value: Any, name: str = "prob") -> Tensor:
        """Return the density, or the probability mass, at `value`."""
        return self._computed("prob", name, value)

    def log_cdf(self, value: Any, name: str = "log_cdf") -> Tensor:
        """Return the logarithm of the cumulative distribution function at `value`."""
        return self._computed("log_cdf", name, value)

    def cdf(self, value: Any, name: str = "cdf") -> Tensor:
        """Return the cumulative distribution function, P[X <= value]."""
        return self._computed("cdf", name, value)

    def log_survival_function(self, value: Any, name: str = "log_survival_function") -> Tensor:
        """Return the logarithm of P[X > value]."""
        return self._computed("log_survival_function", name, value)

    def survival_function(self, value: Any, name: str = "survival_function") -> Tensor:
        """Return P[X > value]."""
        return self._computed("survival_function", name, value)

    def quantile(self, value: Any, name: str = "quantile") -> Tensor:
        """Return x with P[X <= x] = `value`."""
        return self._computed("quantile", name, value)

    def entropy(self, name: str = "entropy") -> Tensor:
        """Return Shannon's entropy in nats."""
        return self._computed("entropy", name)

    def mean(self, name: str = "mean") -> Tensor:
        """Return the mean."""
        return self._computed("mean", name)

    def variance(self, name: str = "variance") -> Tensor:
        """Return the variance of each element of a sample."""
        return self._computed("variance", name)

    def stddev(self, name: str = "stddev") -> Tensor:
        """Return the standard deviation of each element of a sample."""
        return self._computed("stddev", name)

    def covariance(self, name: str = "covariance") -> Tensor:
        """Return the covariance matrix of the elements of a sample vector."""
        return self._computed("covariance", name)

    def mode(self, name: str = "mode") -> Tensor:
        """Return the mode."""
        return self._computed("mode", name)

    def cross_entropy(self, other: Any, name: str = "cross_entropy") -> Tensor:
        """Return the cross entropy H(self, other) = entropy + KL divergence, in nats."""
        with self._name_scope(name):
            return kullback_leibler.cross_entropy(self, other, allow_nan_stats=self.allow_nan_stats)

    def kl_divergence(self, other: Any, name: str = "kl_divergence") -> Tensor:
        """Return the Kullback-Leibler divergence KL(self || other), in nats. Raises NotImplementedError for a pair of
        classes without a registered formula."""
        with self._name_scope(name):
            return kullback_leibler.kl_divergence(self, other, allow_nan_stats=self.allow_nan_stats)

    # --- how ---

    @contextmanager
    def _name_scope(self, name: str | None = None, values: Sequence[Any] = ()) -> Iterator[str]:
        with name_scope(self._name), name_scope(name, values=[*values, *self._graph_parents]) as scope:
            yield scope

    def _hook(self, name: str) -> Callable[..., Any]:
        found = getattr(self, f"_{name}", None)
        if found is not None:
            hook: Callable[..., Any] = found
            return hook
        source, function = _DERIVED.get(name, ("", None))
        other = getattr(self, source, None) if source else None
        if other is None or function is None:
            raise NotImplementedError(f"{name} is not implemented: {type(self).__name__}")
        return lambda *values, **condition: function(other(*values, **condition))

    def _computed(self, method: str, name: str, *values: Any, **condition: Any) -> Tensor:
        with self._name_scope(name, values):
            hook = self._hook(method)
            found: Tensor = hook(*(convert_to_tensor(v, name="value", preferred_dtype=self.dtype) for v in values),
                                 **condition)
            return found

    def _drawn_shape(self, n: Any) -> Tensor:
        """Return the shape of n samples."""
        return concat([raw.Reshape(n, [1]), self.batch_shape_tensor(), self.event_shape_tensor()], 0)

    def _text(self) -> list[str]:
        return [f"batch_shape={_short(self.batch_shape)}", f"event_shape={_short(self.event_shape)}",
                f"dtype={self.dtype.name}"]

    def __str__(self) -> str:
        return f'tfp.distributions.{type(self).__name__}("{self.name}", {", ".join(self._text())})'

    def __repr__(self) -> str:
        return f"<tfp.distributions.{type(self).__name__} '{self.name}' {' '.join(self._text())}>"


def _short(shape: TensorShape) -> str:
    """Return a shape as `(2, ?)`; `<unknown>` of unknown rank."""
    if shape.ndims is None:
        return "<unknown>"
    sizes = ["?" if size is None else str(size) for size in shape.as_list()]
    return f"({', '.join(sizes)}{',' if len(sizes) == 1 else ''})"


def known_value(tensor: Any) -> Any:
    """Return the constant value of a tensor. Raises ValueError where it is none."""
    found = constant_value(tensor)
    if found is None:
        raise ValueError(f"expected a constant, got {tensor}")
    return found.tolist()
