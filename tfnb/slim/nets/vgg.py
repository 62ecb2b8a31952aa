"""The networks of Simonyan and Zisserman (2014): VGG 11 (A), 16 (D) and 19 (E)."""
from __future__ import annotations

from typing import Any

from tfnb.core.arguments import SLIM, describe
from tfnb.slim.nets.plain import convs, net_arg_scope, network, pool
from tfnb.variables.initializers import zeros_initializer

_DEPTHS = (64, 128, 256, 512, 512)


def _vgg(name: str, layers: int, counts: tuple[int, ...]) -> Any:
    rows = {}
    for number, (count, depth) in enumerate(zip(counts, _DEPTHS, strict=True), 1):
        rows.update({f"conv{number}": convs(count, depth), f"pool{number}": pool(2)})
    made = network(name, f"VGG with {layers} layers", 224, rows, 7, 4096)
    made.__module__ = __name__
    return made


vgg_a = _vgg("vgg_a", 11, (1, 1, 2, 2, 2))
vgg_16 = _vgg("vgg_16", 16, (2, 2, 3, 3, 3))
vgg_19 = _vgg("vgg_19", 19, (2, 2, 4, 4, 4))


def vgg_arg_scope(weight_decay: float = 0.0005) -> Any:
    """Return the defaults of layers for VGG, for tf.contrib.slim.arg_scope.

    >>> with tf.contrib.slim.arg_scope(tf.contrib.slim.nets.vgg.vgg_arg_scope()):
    ...     y = tf.contrib.slim.conv2d(tf.ones([1, 4, 4, 1]), 2, [3, 3])
    >>> len(tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES))
    1
    """
    return net_arg_scope(weight_decay, zeros_initializer(), False)


describe(globals(), SLIM)
