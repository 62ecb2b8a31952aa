"""Initializers as functions of `tf.contrib.layers`: Glorot's ("Xavier"), and variance scaling."""
from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from tfnb.core import dtypes
from tfnb.core.arguments import INITIALIZERS, describe
from tfnb.core.dtypes import as_dtype
from tfnb.ops.random.random_ops import random_uniform, truncated_normal
from tfnb.variables.initializers import fans, known_sizes


def variance_scaling_initializer(factor: float = 2.0, mode: str = "FAN_IN", uniform: bool = False,
                                 seed: int | None = None, dtype: Any = dtypes.float32) -> Callable[..., Any]:
    """Numbers of variance factor / n, with n the inputs (FAN_IN), outputs (FAN_OUT) or their mean (FAN_AVG).

    uniform: uniform numbers; else truncated normal ones, whose cut 1.3 makes up for. Raises TypeError for a dtype that
    is not floating or an unknown mode.

    >>> w = tf.get_variable("w", [8, 2], initializer=tf.contrib.layers.variance_scaling_initializer())
    >>> sess.run(w.initializer)
    >>> bool(abs(sess.run(w)).max() <= 2 * np.sqrt(1.3 * 2 / 8))
    True
    """
    if not as_dtype(dtype).is_floating:
        raise TypeError("Cannot create initializer for non-floating point type.")
    if mode not in ("FAN_IN", "FAN_OUT", "FAN_AVG"):
        raise TypeError(f"Unknown mode {mode} [FAN_IN, FAN_OUT, FAN_AVG]")

    def initializer(shape: Any, dtype: Any = dtype, partition_info: Any = None) -> Any:
        """Numbers of that variance. Raises TypeError for a dtype that is no float."""
        if not as_dtype(dtype).is_floating:
            raise TypeError("Cannot create initializer for non-floating point type.")
        inputs, outputs = fans(known_sizes(shape))
        count = {"FAN_IN": inputs, "FAN_OUT": outputs, "FAN_AVG": (inputs + outputs) / 2.0}[mode]
        if uniform:
            limit = math.sqrt(3.0 * factor / count)
            return random_uniform(shape, -limit, limit, dtype, seed=seed)
        return truncated_normal(shape, 0.0, math.sqrt(1.3 * factor / count), dtype, seed=seed)
    return initializer


def xavier_initializer(uniform: bool = True, seed: int | None = None,
                       dtype: Any = dtypes.float32) -> Callable[..., Any]:
    """Numbers of variance 2 / (inputs + outputs) (Glorot and Bengio, 2010), uniform or truncated normal.

    >>> w = tf.get_variable("w", [2, 3], initializer=tf.contrib.layers.xavier_initializer())
    >>> sess.run(w.initializer)
    >>> bool(abs(sess.run(w)).max() <= np.sqrt(6 / (2 + 3)))
    True
    """
    return variance_scaling_initializer(1.0, "FAN_AVG", uniform, seed, dtype)


xavier_initializer_conv2d = xavier_initializer


describe(globals(), INITIALIZERS)
