"""Switches between the behavior of TensorFlow 1 and 2, fixed to 1."""
from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date


def executing_eagerly() -> bool:
    """Return False: ops build a graph, which a session runs.

    >>> tf.executing_eagerly()
    False
    """
    return False


def disable_v2_behavior() -> None:
    """Do nothing, as the switches of single features: tfnb is TensorFlow 1.

    >>> tf.disable_v2_behavior()
    >>> tf.executing_eagerly()
    False
    """


disable_eager_execution = disable_v2_tensorshape = disable_control_flow_v2 = disable_tensor_equality = \
    disable_v2_behavior


def enable_eager_execution(config: object = None, device_policy: object = None, execution_mode: object = None) -> None:
    """Raise NotImplementedError: tfnb has graphs and sessions, no eager execution.

    config, device_policy, execution_mode: not looked at.

    >>> tf.enable_eager_execution()
    Traceback (most recent call last):
        ...
    NotImplementedError: tfnb has TensorFlow 1's graphs and sessions, and no eager execution. A ...
    """
    raise NotImplementedError("tfnb has TensorFlow 1's graphs and sessions, and no eager execution. A notebook gives "
                              "values at once by %fetch, or by tf.InteractiveSession() and tensor.eval()")


def enable_v2_behavior() -> None:
    """Raise NotImplementedError: tfnb is TensorFlow 1.

    >>> tf.enable_v2_behavior()
    Traceback (most recent call last):
        ...
    NotImplementedError: tfnb is TensorFlow 1: eager execution and the other behaviour of TensorFlow 2 ...
    """
    raise NotImplementedError("tfnb is TensorFlow 1: eager execution and the other behaviour of TensorFlow 2 can't be "
                              "enabled")


def forward_compatible(year: int, month: int, day: int) -> bool:
    """Return whether ops that came to TensorFlow at a date are there: True for dates before release 1.15.

    year, month, day: integers.

    >>> tf.compat.forward_compatible(2019, 8, 1), tf.compat.forward_compatible(2020, 1, 1)
    (True, False)
    """
    return date(year, month, day) < _HORIZON[-1]


@contextmanager
def forward_compatibility_horizon(year: int, month: int, day: int) -> Iterator[None]:
    """In it, `forward_compatible` is True for the dates before this one.

    year, month, day: integers.

    >>> with tf.compat.forward_compatibility_horizon(2021, 1, 1):
    ...     tf.compat.forward_compatible(2020, 1, 1)
    True
    """
    _HORIZON.append(date(year, month, day))
    try:
        yield
    finally:
        _HORIZON.pop()


_HORIZON = [date(2019, 10, 14)]       # when 1.15 came out
