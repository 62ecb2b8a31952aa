"""Networks that are one row of layers, from a table: AlexNet, OverFeat, VGG."""
from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from tfnb.core.arguments import SLIM, completed
from tfnb.layers.contrib.arg_scope import arg_scope
from tfnb.layers.contrib.layers import conv2d, dropout, fully_connected
from tfnb.layers.contrib.outputs import convert_collection_to_dict
from tfnb.layers.contrib.pools import max_pool2d
from tfnb.layers.contrib.repeating import repeat
from tfnb.losses.regularizers import l2_regularizer
from tfnb.ops.array.reshape import squeeze
from tfnb.ops.nn.activations import relu
from tfnb.variables.initializers import constant_initializer, truncated_normal_initializer, zeros_initializer
from tfnb.variables.scope import variable_scope

# Rows of a network: (function, its arguments), the name of the scope is the key.
Rows = dict[str, Callable[..., Any]]


def conv(depth: int, window: int, stride: int = 1, padding: str = "SAME", **options: Any) -> Callable[..., Any]:
    """Return a convolution without inputs and scope."""
    return partial(conv2d, num_outputs=depth, kernel_size=[window, window], stride=stride, padding=padding, **options)


def pool(window: int) -> Callable[..., Any]:
    """Return a max pool of stride 2 without inputs and scope."""
    return partial(max_pool2d, kernel_size=[window, window], stride=2)


def convs(count: int, depth: int) -> Callable[..., Any]:
    """Return `count` convolutions 3x3 of the same depth without inputs and scope."""
    return lambda inputs, scope: repeat(inputs, count, conv2d, depth, [3, 3], scope=scope)


def network(name: str, reference: str, image: int, features: Rows, window: int, depth: int,
            **dense: Any) -> Callable[..., Any]:
    """Return the function of a network: features, two dense layers as convolutions (fc6, fc7), logits (fc8).

    window, depth: of fc6. dense: initializers of the last layers. image: height and width it was made for.
    """
    def build(inputs: Any, num_classes: int = 1000, is_training: bool = True, dropout_keep_prob: float = 0.5,
              spatial_squeeze: bool = True, scope: str = name) -> tuple[Any, dict[str, Any]]:
        with variable_scope(scope, name, [inputs]) as sc:
            points = f"{sc.name if name == 'overfeat' else sc.original_name_scope}_end_points"
            with arg_scope([conv2d, fully_connected, max_pool2d], outputs_collections=points):
                net = inputs
                for key, row in features.items():
                    net = row(net, scope=key)
                with arg_scope([conv2d], **dense):
                    net = conv2d(net, depth, [window, window], padding="VALID", scope="fc6")
                    net = dropout(net, dropout_keep_prob, is_training=is_training, scope="dropout6")
                    net = conv2d(net, 4096, [1, 1], scope="fc7")
                    net = dropout(net, dropout_keep_prob, is_training=is_training, scope="dropout7")
                    last = {"biases_initializer": zeros_initializer()} if dense else {}
                    net = conv2d(net, num_classes, [1, 1], activation_fn=None, normalizer_fn=None, scope="fc8", **last)
            found = convert_collection_to_dict(points)
            if spatial_squeeze:
                net = squeeze(net, [1, 2], name="fc8/squeezed")
                found[f"{sc.name}/fc8"] = net
            return net, found
    family = name.partition("_")[0]
    build.__name__ = build.__qualname__ = name
    vars(build)["default_image_size"] = image
    build.__doc__ = completed(build, f"""Return (logits, end points by name) of {reference}, for {image} pixels.

    is_training: whether dropout drops.

    >>> logits, points = tf.contrib.slim.nets.{family}.{name}(tf.zeros([1, {image}, {image}, 3]))
    >>> logits.shape.as_list(), tf.model_variables()[0].name
    ([1, 1000], '{name}/conv1/{'conv1_1/' if family == 'vgg' else ''}weights:0')
    """, SLIM)
    return build


def net_arg_scope(weight_decay: float, biases: Any, valid_pools: bool) -> Any:
    """Return the defaults of layers: relu, an L2 loss of weights, the first biases."""
    with arg_scope([conv2d, fully_connected], activation_fn=relu, biases_initializer=biases,
                   weights_regularizer=l2_regularizer(weight_decay)), \
            arg_scope([conv2d], padding="SAME"), \
            arg_scope([max_pool2d], **({"padding": "VALID"} if valid_pools else {})) as made:
        return made


NORMAL = {"weights_initializer": truncated_normal_initializer(0.0, 0.005),
          "biases_initializer": constant_initializer(0.1)}
