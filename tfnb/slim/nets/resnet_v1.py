"""Residual networks of He et al. (2015), version 1: `tf.contrib.slim.nets.resnet_v1`."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfnb.core.arguments import SLIM, describe
from tfnb.layers.contrib.arg_scope import add_arg_scope
from tfnb.layers.contrib.layers import conv2d
from tfnb.layers.contrib.outputs import collect_named_outputs
from tfnb.ops.nn.activations import relu
from tfnb.slim.nets.residual import Net, bottlenecks, deep, residual
from tfnb.slim.nets.resnet_utils import Block, conv2d_same, subsample
from tfnb.slim.nets.resnet_utils import resnet_arg_scope as resnet_arg_scope
from tfnb.variables.scope import variable_scope


@add_arg_scope
def bottleneck(inputs: Any, depth: int, depth_bottleneck: int, stride: int, rate: int = 1,
               outputs_collections: Any = None, scope: Any = None) -> Any:
    """Return the output of a residual unit: convolutions 1x1, 3x3 and 1x1 beside a shortcut.

    depth: channels of the output; depth_bottleneck: of the first two convolutions.

    >>> tf.contrib.slim.nets.resnet_v1.bottleneck(tf.ones([1, 8, 8, 3]), 16, 4, stride=2).shape.as_list()
    [1, 4, 4, 16]
    """
    with variable_scope(scope, "bottleneck_v1", [inputs]) as sc:
        if inputs.shape.as_list()[-1] == depth:
            shortcut = subsample(inputs, stride, "shortcut")
        else:
            shortcut = conv2d(inputs, depth, [1, 1], stride=stride, activation_fn=None, scope="shortcut")
        net = conv2d(inputs, depth_bottleneck, [1, 1], stride=1, scope="conv1")
        net = conv2d_same(net, depth_bottleneck, 3, stride, rate, scope="conv2")
        net = conv2d(net, depth, [1, 1], stride=1, activation_fn=None, scope="conv3")
        return collect_named_outputs(outputs_collections, sc.name, relu(shortcut + net))


def resnet_v1_block(scope: str, base_depth: int, num_units: int, stride: int) -> Block:
    """Return a Block of num_units units of depth 4 * base_depth, the last of which has the stride.

    >>> tf.contrib.slim.nets.resnet_v1.resnet_v1_block("block1", base_depth=2, num_units=2, stride=2).args[-1]
    {'depth': 8, 'depth_bottleneck': 2, 'stride': 2}
    """
    return bottlenecks(bottleneck, scope, base_depth, num_units, stride)


def resnet_v1(inputs: Any, blocks: Sequence[Block], num_classes: int | None = None, is_training: bool = True,
              global_pool: bool = True, output_stride: int | None = None, include_root_block: bool = True,
              reuse: Any = None, scope: Any = None) -> Net:
    """Return (output, end points by name) of a residual network of `blocks`.

    num_classes: None: the output is features, else logits [batch, 1, 1, num_classes]. include_root_block: whether a
    convolution 7x7 and a pool, each of stride 2, come first. is_training: whether moments are the batch's.
    Raises ValueError for an output_stride that the blocks don't reach.

    >>> resnet = tf.contrib.slim.nets.resnet_v1
    >>> blocks = [resnet.resnet_v1_block("block1", base_depth=2, num_units=2, stride=2)]
    >>> logits, points = resnet.resnet_v1(tf.zeros([1, 32, 32, 3]), blocks, num_classes=10, scope="small")
    >>> logits.shape.as_list(), points["small/block1"].shape.as_list()
    ([1, 1, 1, 10], [1, 4, 4, 8])
    """
    return residual(inputs, blocks, num_classes, is_training, global_pool, output_stride, include_root_block, reuse,
                    scope, "resnet_v1", bottleneck, preactivated=False)


resnet_v1_50, resnet_v1_101, resnet_v1_152, resnet_v1_200 = (
    deep(1, layers, resnet_v1_block, resnet_v1, __name__) for layers in (50, 101, 152, 200))
describe(globals(), SLIM)
