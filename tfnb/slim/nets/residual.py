"""Residual networks with the first and last layers: what ResNet v1 and v2 have in common."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tfnb.core.arguments import SLIM, completed
from tfnb.graph.convert import convert_to_tensor
from tfnb.layers.contrib.arg_scope import arg_scope
from tfnb.layers.contrib.layers import batch_norm, conv2d
from tfnb.layers.contrib.outputs import convert_collection_to_dict
from tfnb.layers.contrib.pools import max_pool2d
from tfnb.layers.contrib.repeating import softmax
from tfnb.ops.nn.activations import relu
from tfnb.ops.reductions.reduce import reduce_mean
from tfnb.slim.nets.resnet_utils import Block, conv2d_same, stack_blocks_dense
from tfnb.variables.scope import variable_scope

Net = tuple[Any, dict[str, Any]]
# Units of each of the four blocks (He et al., 2015), by the number of layers.
UNITS = {50: (3, 4, 6, 3), 101: (3, 4, 23, 3), 152: (3, 8, 36, 3), 200: (3, 24, 36, 3)}


def bottlenecks(unit: Callable[..., Any], scope: str, base_depth: int, num_units: int, stride: int) -> Block:
    """A block of bottlenecks, the last of which has the stride."""
    sizes = {"depth": 4 * base_depth, "depth_bottleneck": base_depth}
    return Block(scope, unit, [{**sizes, "stride": 1}] * (num_units - 1) + [{**sizes, "stride": stride}])


def residual(inputs: Any, blocks: Sequence[Block], num_classes: int | None, is_training: bool, global_pool: bool,
             output_stride: int | None, include_root_block: bool, reuse: Any, scope: Any, name: str,
             unit: Any, preactivated: bool) -> Net:
    """The network of version 1 or (preactivated) 2; `unit` is the function whose outputs are end points."""
    with variable_scope(scope, name, [inputs], reuse=reuse) as sc:
        points = f"{sc.original_name_scope}_end_points"
        with arg_scope([conv2d, unit, stack_blocks_dense], outputs_collections=points), \
                arg_scope([batch_norm], is_training=is_training):
            net = convert_to_tensor(inputs)
            if include_root_block:
                if output_stride is not None:
                    if output_stride % 4:
                        raise ValueError(f"expected a multiple of 4 as output_stride, got {output_stride}")
                    output_stride //= 4
                bare = {"activation_fn": None, "normalizer_fn": None} if preactivated else {}
                with arg_scope([conv2d], **bare):
                    net = conv2d_same(net, 64, 7, stride=2, scope="conv1")
                net = max_pool2d(net, [3, 3], stride=2, scope="pool1")
            net = stack_blocks_dense(net, blocks, output_stride)
            if preactivated:
                net = batch_norm(net, activation_fn=relu, scope="postnorm")
            if global_pool:
                net = reduce_mean(net, [1, 2], name="pool5", keepdims=True)
            if num_classes is not None:
                net = conv2d(net, num_classes, [1, 1], activation_fn=None, normalizer_fn=None, scope="logits")
            found = convert_collection_to_dict(points)
            if num_classes is not None:
                found["predictions"] = softmax(net, scope="predictions")
            return net, found


def deep(version: int, layers: int, block: Callable[..., Block], network: Callable[..., Net], module: str) -> Any:
    """Return the function of a residual network of 50, 101, 152 or 200 layers."""
    name = f"resnet_v{version}_{layers}"

    def build(inputs: Any, num_classes: int | None = None, is_training: bool = True, global_pool: bool = True,
              output_stride: int | None = None, reuse: Any = None, scope: Any = name) -> Net:
        blocks = [block(f"block{number + 1}", 64 << number, count, 2 if number < 3 else 1)
                  for number, count in enumerate(UNITS[layers])]
        return network(inputs, blocks, num_classes, is_training, global_pool, output_stride, True, reuse, scope)
    build.__name__ = build.__qualname__ = name
    build.__module__ = module
    vars(build)["default_image_size"] = 224
    build.__doc__ = completed(build, f"""Return (output, end points by name) of ResNet v{version} with {layers} layers.

    The output is features [batch, 1, 1, 2048], and with num_classes logits [batch, 1, 1, num_classes]. is_training:
    whether moments are the batch's.

    >>> tf.contrib.slim.nets.resnet_v{version}.{name}.default_image_size
    224
    """, SLIM)
    return build
