"""Projections that an optimizer leaves in weights after each step: `tf.keras.constraints`."""
from __future__ import annotations

from typing import Any

from tfnb.core.arguments import KERAS, describe
from tfnb.core.shape import TensorShape
from tfnb.graph.convert import convert_to_tensor
from tfnb.keras.backend import ops
from tfnb.keras.backend.config import epsilon
from tfnb.keras.functions.lookup import getter
from tfnb.keras.utils.registry import deserialize_keras_object, serialize_keras_object


def _norms(w: Any, axis: Any) -> Any:
    return ops.sqrt(ops.reduce_sum(ops.square(w), axis=axis, keepdims=True))


class Constraint:
    """Base of constraints: functions from the weights to the weights that are allowed.

    >>> isinstance(tf.keras.constraints.NonNeg(), tf.keras.constraints.Constraint)
    True
    """

    def __call__(self, w: Any) -> Any:
        """Return the allowed weights for `w`."""
        return w

    def get_config(self) -> dict[str, Any]:
        """Return the arguments of the constructor."""
        return dict(vars(self))


class MaxNorm(Constraint):
    """Scale vectors along `axis` whose norm exceeds max_value back to that.

    >>> sess.run(tf.keras.constraints.MaxNorm(1.0)(tf.constant([[3.0, 0.1], [4.0, 0.2]])))
    array([[0.6, 0.1],
           [0.8, 0.2]], dtype=float32)
    """

    def __init__(self, max_value: float = 2, axis: Any = 0) -> None:
        self.max_value, self.axis = max_value, axis

    def __call__(self, w: Any) -> Any:
        """Return the allowed weights for `w`."""
        norms = _norms(w, self.axis)
        return w * (ops.clip_by_value(norms, 0.0, float(self.max_value)) / (epsilon() + norms))


class NonNeg(Constraint):
    """Set negative weights to 0.

    >>> sess.run(tf.keras.constraints.NonNeg()(tf.constant([-1.0, 2.0])))
    array([0., 2.], dtype=float32)
    """

    def __call__(self, w: Any) -> Any:
        """Return the allowed weights for `w`."""
        w = convert_to_tensor(w)
        return w * ops.cast(w >= 0.0, w.dtype.base_dtype)


class UnitNorm(Constraint):
    """Scale vectors along `axis` to norm 1.

    >>> sess.run(tf.keras.constraints.UnitNorm()(tf.constant([[3.0], [4.0]])))
    array([[0.6],
           [0.8]], dtype=float32)
    """

    def __init__(self, axis: Any = 0) -> None:
        self.axis = axis

    def __call__(self, w: Any) -> Any:
        """Return the allowed weights for `w`."""
        return w / (epsilon() + _norms(w, self.axis))


class MinMaxNorm(Constraint):
    """Scale vectors along `axis` whose norm is outside of [min_value, max_value] back to that.

    rate: the share of the way to the allowed norm that one step goes, 1: all.

    >>> sess.run(tf.keras.constraints.MinMaxNorm(0.0, 1.0)(tf.constant([[3.0], [4.0]])))
    array([[0.6],
           [0.8]], dtype=float32)
    """

    def __init__(self, min_value: float = 0.0, max_value: float = 1.0, rate: float = 1.0, axis: Any = 0) -> None:
        self.min_value, self.max_value, self.rate, self.axis = min_value, max_value, rate, axis

    def __call__(self, w: Any) -> Any:
        """Return the allowed weights for `w`."""
        norms = _norms(w, self.axis)
        wanted = self.rate * ops.clip_by_value(norms, self.min_value, self.max_value) + (1 - self.rate) * norms
        return w * (wanted / (epsilon() + norms))


class RadialConstraint(Constraint):
    """Make square kernels (size, size, channels, filters) symmetric about their center, ring by ring.

    >>> w = tf.reshape(tf.range(9.0), [3, 3, 1, 1])
    >>> sess.run(tf.keras.constraints.RadialConstraint()(w))[:, :, 0, 0]
    array([[3., 3., 3.],
           [3., 4., 3.],
           [3., 3., 3.]], dtype=float32)
    """

    def __call__(self, w: Any) -> Any:
        """Return the symmetric kernel: each ring has the element right of its middle row's left end."""
        sizes = TensorShape(w.shape).as_list()
        if len(sizes) != 4 or sizes[0] != sizes[1]:
            raise ValueError(f"RadialConstraint takes kernels of shape (size, size, channels, filters), got {w.shape}")
        size, start = sizes[0], sizes[0] // 2
        rows = []
        for row in range(size):
            rings = [max(abs(row - start + (size % 2 == 0 and row < start)),
                         abs(column - start + (size % 2 == 0 and column < start))) for column in range(size)]
            rows.append(ops.stack([w[start, start - ring - (size % 2 == 0)] if ring or size % 2 == 0
                                   else w[start, start] for ring in rings]))
        return ops.stack(rows)


max_norm, non_neg, unit_norm, min_max_norm = MaxNorm, NonNeg, UnitNorm, MinMaxNorm
radial_constraint = RadialConstraint
_KNOWN: dict[str, Any] = {
    **{cls.__name__: cls for cls in (Constraint, MaxNorm, NonNeg, UnitNorm, MinMaxNorm, RadialConstraint)},
    "max_norm": MaxNorm, "non_neg": NonNeg, "unit_norm": UnitNorm, "min_max_norm": MinMaxNorm,
    "radial_constraint": RadialConstraint}
_find = getter(_KNOWN, "constraint")


def serialize(constraint: Any) -> Any:
    """Return the class name and config of a constraint.

    >>> tf.keras.constraints.serialize(tf.keras.constraints.MaxNorm(3))
    {'class_name': 'MaxNorm', 'config': {'max_value': 3, 'axis': 0}}
    """
    return serialize_keras_object(constraint)


def deserialize(config: Any, custom_objects: Any = None) -> Any:
    """Return the constraint that `serialize` described. Raises ValueError for an unknown class.

    >>> tf.keras.constraints.deserialize({"class_name": "UnitNorm", "config": {"axis": 1}}).axis
    1
    """
    return deserialize_keras_object(config, _KNOWN, custom_objects, "constraint")


def get(identifier: Any) -> Any:
    """Return the constraint of a name or config, None for None, a callable itself. Raises ValueError otherwise.

    >>> tf.keras.constraints.get("max_norm").max_value
    2
    """
    return _find(identifier)


describe(globals(), KERAS)
