"""Penalties on weights and outputs: `tf.keras.regularizers`."""
from __future__ import annotations

from typing import Any

from tfnb.core.arguments import KERAS, describe
from tfnb.keras.backend import ops
from tfnb.keras.functions.lookup import getter
from tfnb.keras.utils.registry import deserialize_keras_object, serialize_keras_object


class Regularizer:
    """Base of regularizers: functions from a tensor to a scalar loss.

    >>> isinstance(tf.keras.regularizers.l2(0.1), tf.keras.regularizers.Regularizer)
    True
    """

    def __call__(self, x: Any) -> Any:
        """Return the penalty of `x`."""
        return 0.0

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Any:
        """Return the regularizer with these arguments."""
        return cls(**config)


class L1L2(Regularizer):
    """l1 * sum(abs(x)) + l2 * sum(x ** 2).

    >>> sess.run(tf.keras.regularizers.L1L2(l1=1.0, l2=0.5)(tf.constant([-1.0, 2.0])))
    5.5
    """

    def __init__(self, l1: float = 0.0, l2: float = 0.0) -> None:
        self.l1, self.l2 = float(l1), float(l2)

    def __call__(self, x: Any) -> Any:
        """Return the penalty of `x`."""
        parts = []
        if self.l1:
            parts.append(ops.reduce_sum(self.l1 * ops.abs(x)))
        if self.l2:
            parts.append(ops.reduce_sum(self.l2 * ops.square(x)))
        return sum(parts[1:], parts[0]) if parts else ops.constant(0.0)

    def get_config(self) -> dict[str, Any]:
        """Return the factors."""
        return {"l1": self.l1, "l2": self.l2}


def l1(l: float = 0.01) -> L1L2:        # noqa: E741
    """Return the regularizer l * sum(abs(x)).

    >>> sess.run(tf.keras.regularizers.l1(0.5)(tf.constant([-1.0, 2.0])))
    1.5
    """
    return L1L2(l1=l)


def l2(l: float = 0.01) -> L1L2:        # noqa: E741
    """Return the regularizer l * sum(x ** 2).

    >>> sess.run(tf.keras.regularizers.l2(0.5)(tf.constant([-1.0, 2.0])))
    2.5
    """
    return L1L2(l2=l)


def l1_l2(l1: float = 0.01, l2: float = 0.01) -> L1L2:
    """Return the regularizer l1 * sum(abs(x)) + l2 * sum(x ** 2).

    >>> sess.run(tf.keras.regularizers.l1_l2(1.0, 0.5)(tf.constant([-1.0, 2.0])))
    5.5
    """
    return L1L2(l1=l1, l2=l2)


_KNOWN: dict[str, Any] = {"Regularizer": Regularizer, "L1L2": L1L2, "l1": L1L2(l1=0.01), "l2": L1L2(l2=0.01),
                          "l1_l2": L1L2(0.01, 0.01)}
_find = getter(_KNOWN, "regularizer")


def serialize(regularizer: Any) -> Any:
    """Return the class name and config of a regularizer.

    >>> tf.keras.regularizers.serialize(tf.keras.regularizers.l1(0.5))
    {'class_name': 'L1L2', 'config': {'l1': 0.5, 'l2': 0.0}}
    """
    return serialize_keras_object(regularizer)


def deserialize(config: Any, custom_objects: Any = None) -> Any:
    """Return the regularizer that `serialize` described. Raises ValueError for an unknown class.

    >>> tf.keras.regularizers.deserialize({"class_name": "L1L2", "config": {"l1": 0.5}}).get_config()
    {'l1': 0.5, 'l2': 0.0}
    """
    return deserialize_keras_object(config, _KNOWN, custom_objects, "regularizer")


def get(identifier: Any) -> Any:
    """Return the regularizer of a name or config, None for None, a callable itself. Raises ValueError otherwise.

    >>> tf.keras.regularizers.get("l2").get_config()
    {'l1': 0.0, 'l2': 0.01}
    """
    return _find(identifier)


describe(globals(), KERAS)
