"""Residual networks of any blocks: `tf.contrib.slim.nets.resnet_utils`."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from tfnb.core.arguments import SLIM, describe
from tfnb.graph.parts.keys import GraphKeys
from tfnb.layers.contrib.arg_scope import add_arg_scope, arg_scope
from tfnb.layers.contrib.initializers import variance_scaling_initializer
from tfnb.layers.contrib.layers import batch_norm, conv2d
from tfnb.layers.contrib.outputs import collect_named_outputs
from tfnb.layers.contrib.pools import max_pool2d
from tfnb.losses.regularizers import l2_regularizer
from tfnb.ops.array.joining import pad
from tfnb.ops.nn.activations import relu
from tfnb.variables.scope import variable_scope


class Block(NamedTuple):
    """Residual units of a scope: unit_fn is called with each dict of `args`, of depth, depth_bottleneck and stride.

    >>> utils, v1 = tf.contrib.slim.nets.resnet_utils, tf.contrib.slim.nets.resnet_v1
    >>> units = [{"depth": 8, "depth_bottleneck": 2, "stride": 1}]
    >>> utils.stack_blocks_dense(tf.zeros([1, 4, 4, 3]), [utils.Block("block1", v1.bottleneck, units)]).shape.as_list()
    [1, 4, 4, 8]
    """

    scope: str
    unit_fn: Callable[..., Any]
    args: Sequence[dict[str, int]]


def subsample(inputs: Any, factor: int, scope: Any = None) -> Any:
    """Return every `factor`-th pixel of `inputs` along both axes.

    >>> image = tf.reshape(tf.range(9.0), [1, 3, 3, 1])
    >>> sess.run(tf.squeeze(tf.contrib.slim.nets.resnet_utils.subsample(image, 2)))
    array([[0., 2.],
           [6., 8.]], dtype=float32)
    """
    return inputs if factor == 1 else max_pool2d(inputs, [1, 1], stride=factor, scope=scope)


def conv2d_same(inputs: Any, num_outputs: int, kernel_size: int, stride: int, rate: int = 1, scope: Any = None) -> Any:
    """Return a convolution that is the one of stride 1, each `stride`-th pixel of it, for all sizes of the image.

    kernel_size: height and width of the window. "SAME" puts no zeros before an image of even size, this one does.

    >>> tf.contrib.slim.nets.resnet_utils.conv2d_same(tf.ones([1, 4, 4, 1]), 2, 3, stride=2).shape.as_list()
    [1, 2, 2, 2]
    """
    if stride == 1:
        return conv2d(inputs, num_outputs, kernel_size, stride=1, rate=rate, padding="SAME", scope=scope)
    zeros = (kernel_size - 1) * rate
    sides = [zeros // 2, zeros - zeros // 2]
    padded = pad(inputs, [[0, 0], sides, sides, [0, 0]])
    return conv2d(padded, num_outputs, kernel_size, stride=stride, rate=rate, padding="VALID", scope=scope)


@add_arg_scope
def stack_blocks_dense(net: Any, blocks: Sequence[Block], output_stride: int | None = None,
                       outputs_collections: Any = None) -> Any:
    """Return the output of `blocks` one after the other, with features as dense as output_stride says.

    net: the input. Raises ValueError if the strides of the units don't give output_stride.

    >>> utils, v1 = tf.contrib.slim.nets.resnet_utils, tf.contrib.slim.nets.resnet_v1
    >>> blocks = [v1.resnet_v1_block("block1", base_depth=2, num_units=2, stride=2)]
    >>> utils.stack_blocks_dense(tf.zeros([1, 8, 8, 3]), blocks).shape.as_list()
    [1, 4, 4, 8]
    """
    stride, rate = 1, 1
    for block in blocks:
        with variable_scope(block.scope, "block", [net]) as sc:
            for number, unit in enumerate(block.args, 1):
                if output_stride is not None and stride > output_stride:
                    raise ValueError(f"expected an output_stride that units reach, got {output_stride} at {stride}")
                with variable_scope(f"unit_{number}", values=[net]):
                    if stride == output_stride:
                        net = block.unit_fn(net, rate=rate, **{**unit, "stride": 1})
                        rate *= unit.get("stride", 1)
                    else:
                        net = block.unit_fn(net, rate=1, **unit)
                        stride *= unit.get("stride", 1)
            net = collect_named_outputs(outputs_collections, sc.name, net)
    if output_stride is not None and stride != output_stride:
        raise ValueError(f"expected an output_stride that the units reach, got {output_stride}: they reach {stride}")
    return net


def resnet_arg_scope(weight_decay: float = 0.0001, batch_norm_decay: float = 0.997, batch_norm_epsilon: float = 1e-5,
                     batch_norm_scale: bool = True) -> Any:
    """Return the defaults of layers for residual networks, for tf.contrib.slim.arg_scope.

    >>> with tf.contrib.slim.arg_scope(tf.contrib.slim.nets.resnet_utils.resnet_arg_scope()):
    ...     y = tf.contrib.slim.conv2d(tf.ones([1, 4, 4, 1]), 2, [3, 3])
    >>> [v.name for v in tf.trainable_variables()]
    ['Conv/weights:0', 'Conv/BatchNorm/gamma:0', 'Conv/BatchNorm/beta:0']
    """
    norm = {"decay": batch_norm_decay, "epsilon": batch_norm_epsilon, "scale": batch_norm_scale,
            "updates_collections": GraphKeys.UPDATE_OPS}
    with arg_scope([conv2d], weights_regularizer=l2_regularizer(weight_decay), activation_fn=relu,
                   weights_initializer=variance_scaling_initializer(), normalizer_fn=batch_norm,
                   normalizer_params=norm), \
            arg_scope([batch_norm], **norm), arg_scope([max_pool2d], padding="SAME") as made:
        return made


describe(globals(), SLIM)
