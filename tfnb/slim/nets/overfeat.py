"""OverFeat (Sermanet et al., 2014), its fast model."""
from __future__ import annotations

from typing import Any

from tfnb.core.arguments import SLIM, describe
from tfnb.slim.nets.plain import NORMAL, conv, net_arg_scope, network, pool
from tfnb.variables.initializers import zeros_initializer

overfeat = network(
    "overfeat", "OverFeat (Sermanet et al., 2014)", 231,
    {"conv1": conv(64, 11, 4, "VALID"), "pool1": pool(2), "conv2": conv(256, 5, padding="VALID"), "pool2": pool(2),
     "conv3": conv(512, 3), "conv4": conv(1024, 3), "conv5": conv(1024, 3), "pool5": pool(2)}, 6, 3072, **NORMAL)
overfeat.__module__ = __name__


def overfeat_arg_scope(weight_decay: float = 0.0005) -> Any:
    """Return the defaults of layers for OverFeat, for tf.contrib.slim.arg_scope.

    >>> with tf.contrib.slim.arg_scope(tf.contrib.slim.nets.overfeat.overfeat_arg_scope()):
    ...     y = tf.contrib.slim.conv2d(tf.ones([1, 4, 4, 1]), 2, [3, 3])
    >>> len(tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES))
    1
    """
    return net_arg_scope(weight_decay, zeros_initializer(), True)


describe(globals(), SLIM)
