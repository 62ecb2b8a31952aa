"""AlexNet, in the version of Krizhevsky's "One weird trick" (2014)."""
from __future__ import annotations

from typing import Any

from tfnb.core.arguments import SLIM, describe
from tfnb.slim.nets.plain import NORMAL, conv, net_arg_scope, network, pool
from tfnb.variables.initializers import constant_initializer

alexnet_v2 = network(
    "alexnet_v2", "AlexNet (Krizhevsky, 2014)", 224,
    {"conv1": conv(64, 11, 4, "VALID"), "pool1": pool(3), "conv2": conv(192, 5), "pool2": pool(3),
     "conv3": conv(384, 3), "conv4": conv(384, 3), "conv5": conv(256, 3), "pool5": pool(3)}, 5, 4096, **NORMAL)
alexnet_v2.__module__ = __name__


def alexnet_v2_arg_scope(weight_decay: float = 0.0005) -> Any:
    """Return the defaults of layers for AlexNet, for tf.contrib.slim.arg_scope.

    >>> with tf.contrib.slim.arg_scope(tf.contrib.slim.nets.alexnet.alexnet_v2_arg_scope()):
    ...     y = tf.contrib.slim.conv2d(tf.ones([1, 4, 4, 1]), 2, [3, 3])
    >>> len(tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES))
    1
    """
    return net_arg_scope(weight_decay, constant_initializer(0.1), True)


describe(globals(), SLIM)
