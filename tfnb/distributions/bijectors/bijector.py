"""Bijector: the base class of invertible transforms, with the log-determinants of their Jacobians.

A subclass defines `_forward(x)`, `_inverse(y)` and one of `_forward_log_det_jacobian(x)`,
`_inverse_log_det_jacobian(y)`, each over the last `forward_min_event_ndims` axes.
"""
from __future__ import annotations

from collections.abc import Callable
from contextlib import contextmanager
from typing import Any

import numpy as np

from tfnb.core.arguments import DISTRIBUTIONS, describe
from tfnb.core.shape import TensorShape
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.operation import Tensor
from tfnb.graph.stack import name_scope
from tfnb.ops.declaration.raw import raw


class Bijector:
    """Invertible, differentiable function y = g(x), and the base class of yours.

    graph_parents: the tensors that it depends on; is_constant_jacobian: whether the Jacobian does not depend on x;
    dtype: of its values, None for any; forward_min_event_ndims, inverse_min_event_ndims: how many of the last axes of x
    and y the function joins, 0 for one that is applied element by element.

    >>> class Double(tf.contrib.distributions.bijectors.Bijector):
    ...     def __init__(self):
    ...         super().__init__(forward_min_event_ndims=0, is_constant_jacobian=True)
    ...     def _forward(self, x):
    ...         return 2.0 * x
    ...     def _inverse(self, y):
    ...         return y / 2.0
    ...     def _forward_log_det_jacobian(self, x):
    ...         return tf.log(2.0)
    >>> sess.run(Double().inverse_log_det_jacobian([1.0, 3.0], event_ndims=1))
    -1.3863
    """

    _is_injective = True                                     # False: `_inverse` returns a tuple of all x with g(x) = y

    def __init__(self, graph_parents: Any = None, is_constant_jacobian: bool = False, validate_args: bool = False,
                 dtype: Any = None, forward_min_event_ndims: int | None = None,
                 inverse_min_event_ndims: int | None = None, name: str | None = None) -> None:
        if forward_min_event_ndims is None and inverse_min_event_ndims is None:
            raise ValueError("Must specify at least one of `forward_min_event_ndims` and `inverse_min_event_ndims`.")
        first = inverse_min_event_ndims if forward_min_event_ndims is None else forward_min_event_ndims
        self._forward_ndims: int = first or 0
        self._inverse_ndims: int = self._forward_ndims if inverse_min_event_ndims is None else inverse_min_event_ndims
        self._graph_parents = list(graph_parents or ())
        self._is_constant_jacobian, self._validate_args, self._dtype = is_constant_jacobian, validate_args, dtype
        self._name = name or type(self).__name__.lower()
        self._inverses: dict[Tensor, Tensor] = {}         # y -> x of `forward`: what needs a loop to invert is known

    @property
    def name(self) -> str:
        """The name of its scope."""
        return self._name

    @property
    def dtype(self) -> Any:
        """The dtype of its values, or None."""
        return self._dtype

    @property
    def validate_args(self) -> bool:
        """Whether runs check parameters and values."""
        return self._validate_args

    @property
    def graph_parents(self) -> list[Any]:
        """The tensors that it depends on."""
        return self._graph_parents

    @property
    def is_constant_jacobian(self) -> bool:
        """Whether the Jacobian does not depend on x."""
        return self._is_constant_jacobian

    @property
    def forward_min_event_ndims(self) -> int:
        """The number of last axes of x that the function joins."""
        return self._forward_ndims

    @property
    def inverse_min_event_ndims(self) -> int:
        """The number of last axes of y that the inverse joins."""
        return self._inverse_ndims

    @contextmanager
    def _name_scope(self, name: str, value: Any) -> Any:
        with name_scope(self._name), name_scope(name, values=[value]):
            yield

    def forward(self, x: Any, name: str = "forward") -> Any:
        """Return y = g(x)."""
        return self._run_forward(x, name, {})

    def inverse(self, y: Any, name: str = "inverse") -> Any:
        """Return x with g(x) = y; of a function that is not injective a tuple of them."""
        return self._run_inverse(y, name, {})

    def forward_log_det_jacobian(self, x: Any, event_ndims: int, name: str = "forward_log_det_jacobian") -> Any:
        """Return log |det dg/dx|, summed over the last `event_ndims` axes of x.

        Raises NotImplementedError for a function that is not injective.
        """
        return self._run_forward_log_det_jacobian(x, event_ndims, name, {})

    def inverse_log_det_jacobian(self, y: Any, event_ndims: int, name: str = "inverse_log_det_jacobian") -> Any:
        """Return log |det d(inverse of g)/dy|, summed over the last `event_ndims` axes of y; a tuple, as `inverse`."""
        return self._run_inverse_log_det_jacobian(y, event_ndims, name, {})

    def _run_forward(self, x: Any, name: str, condition: dict[str, Any]) -> Any:
        with self._name_scope(name, x):
            x = convert_to_tensor(x, name="x", preferred_dtype=self._dtype)
            y = self._hook("_forward")(x, **condition)
            if not condition and self._is_injective:
                self._inverses[y] = x
            return y

    def _run_inverse(self, y: Any, name: str, condition: dict[str, Any]) -> Any:
        with self._name_scope(name, y):
            y = convert_to_tensor(y, name="y", preferred_dtype=self._dtype)
            known = None if condition else self._inverses.get(y)
            return self._hook("_inverse")(y, **condition) if known is None else known

    def _run_forward_log_det_jacobian(self, x: Any, event_ndims: int, name: str, condition: dict[str, Any]) -> Any:
        if not self._is_injective:
            raise NotImplementedError("forward_log_det_jacobian cannot be implemented for non-injective transforms.")
        with self._name_scope(name, x):
            x = convert_to_tensor(x, name="x", preferred_dtype=self._dtype)
            if hasattr(self, "_forward_log_det_jacobian"):
                return self._summed(self._forward_log_det_jacobian(x, **condition), x, event_ndims, self._forward_ndims)
            y = self._hook("_forward")(x, **condition)
            inner = self._hook("_inverse_log_det_jacobian")(y, **condition)
            return -self._summed(inner, x, event_ndims, self._forward_ndims)

    def _run_inverse_log_det_jacobian(self, y: Any, event_ndims: int, name: str, condition: dict[str, Any]) -> Any:
        with self._name_scope(name, y):
            y = convert_to_tensor(y, name="y", preferred_dtype=self._dtype)
            if hasattr(self, "_inverse_log_det_jacobian"):
                found = self._inverse_log_det_jacobian(y, **condition)
                if isinstance(found, tuple):
                    return tuple(self._summed(each, y, event_ndims, self._inverse_ndims) for each in found)
                return self._summed(found, y, event_ndims, self._inverse_ndims)
            x = None if condition else self._inverses.get(y)
            x = self._hook("_inverse")(y, **condition) if x is None else x
            inner = self._hook("_forward_log_det_jacobian")(x, **condition)
            return -self._summed(inner, y, event_ndims, self._inverse_ndims)

    def _hook(self, name: str) -> Callable[..., Any]:
        found = getattr(self, name, None)
        if found is None:
            raise NotImplementedError(f"{name.lstrip('_')} is not implemented: {type(self).__name__}")
        hook: Callable[..., Any] = found
        return hook

    def _summed(self, inner: Any, value: Tensor, event_ndims: int, joined: int) -> Any:
        """Return the log-determinant over `event_ndims` axes of one over the last `joined` ones."""
        if event_ndims < joined:
            raise ValueError(f"event_ndims must be at least {joined}, got {event_ndims}")
        inner = convert_to_tensor(inner, dtype=value.dtype)
        if event_ndims == joined:
            return inner
        lead = raw.ZerosLike(value if joined == 0 else raw.Sum(value, np.arange(-joined, 0, dtype=np.int32)))
        return raw.Sum(inner + lead, np.arange(joined - event_ndims, 0, dtype=np.int32))

    def forward_event_shape(self, input_shape: Any) -> TensorShape:
        """Return the static shape of g(x) of an x with the event shape `input_shape`."""
        return TensorShape(self._forward_event_shape(TensorShape(input_shape)))

    def inverse_event_shape(self, output_shape: Any) -> TensorShape:
        """Return the static shape of the inverse of a y with the event shape `output_shape`."""
        return TensorShape(self._inverse_event_shape(TensorShape(output_shape)))

    def forward_event_shape_tensor(self, input_shape: Any, name: str = "forward_event_shape_tensor") -> Tensor:
        """Return the shape of g(x) as an int32 vector. input_shape: that of x."""
        with self._name_scope(name, input_shape):
            return self._forward_event_shape_tensor(convert_to_tensor(input_shape, dtype="int32"))

    def inverse_event_shape_tensor(self, output_shape: Any, name: str = "inverse_event_shape_tensor") -> Tensor:
        """Return the shape of the inverse as an int32 vector. output_shape: that of y."""
        with self._name_scope(name, output_shape):
            return self._inverse_event_shape_tensor(convert_to_tensor(output_shape, dtype="int32"))

    def _forward_event_shape(self, shape: TensorShape) -> Any:
        return shape

    def _inverse_event_shape(self, shape: TensorShape) -> Any:
        return shape

    def _forward_event_shape_tensor(self, shape: Tensor) -> Tensor:
        return shape

    def _inverse_event_shape_tensor(self, shape: Tensor) -> Tensor:
        return shape


class ConditionalBijector(Bijector):
    """Bijector whose methods take further named arguments, which they pass to the hooks.

    graph_parents, is_constant_jacobian, dtype, forward_min_event_ndims, inverse_min_event_ndims: as of `Bijector`.

    >>> class Times(tf.contrib.distributions.bijectors.ConditionalBijector):
    ...     def __init__(self):
    ...         super().__init__(forward_min_event_ndims=0)
    ...     def _forward(self, x, factor):
    ...         return x * factor
    >>> sess.run(Times().forward([1.0, 2.0], factor=3.0))
    array([3., 6.], dtype=float32)
    """

    def forward(self, x: Any, name: str = "forward", **condition_kwargs: Any) -> Any:
        """Return y = g(x)."""
        return self._run_forward(x, name, condition_kwargs)

    def inverse(self, y: Any, name: str = "inverse", **condition_kwargs: Any) -> Any:
        """Return x with g(x) = y."""
        return self._run_inverse(y, name, condition_kwargs)

    def forward_log_det_jacobian(self, x: Any, event_ndims: int, name: str = "forward_log_det_jacobian",
                                 **condition_kwargs: Any) -> Any:
        """Return log |det dg/dx|, summed over the last `event_ndims` axes of x."""
        return self._run_forward_log_det_jacobian(x, event_ndims, name, condition_kwargs)

    def inverse_log_det_jacobian(self, y: Any, event_ndims: int, name: str = "inverse_log_det_jacobian",
                                 **condition_kwargs: Any) -> Any:
        """Return log |det d(inverse of g)/dy|, summed over the last `event_ndims` axes of y."""
        return self._run_inverse_log_det_jacobian(y, event_ndims, name, condition_kwargs)


describe(globals(), DISTRIBUTIONS)
