"""NASNet-A (Zoph et al., 2018): cells that a search found, of separable convolutions and poolings."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfnb.graph.stack import name_scope
from tfnb.keras.applications.nets.parts import Net, begin, channel_axis, described, finish, norm
from tfnb.keras.layers.convolutional import Conv2D, SeparableConv2D
from tfnb.keras.layers.core import Activation
from tfnb.keras.layers.merge import add, concatenate
from tfnb.keras.layers.pooling import AveragePooling2D, GlobalAveragePooling2D, MaxPooling2D
from tfnb.keras.layers.resizing import Cropping2D, ZeroPadding2D

Parts = Callable[[Any, Any, int, str], list[Any]]
Cell = Callable[[Any, Any, int, str], tuple[Any, Any]]
_START: dict[str, Any] = {"use_bias": False, "kernel_initializer": "he_normal"}


def _norm(name: str) -> Any:
    return norm(name, momentum=0.9997, epsilon=1e-3)


def _rows(x: Any) -> Any:
    return x.shape.as_list()[2 if channel_axis() == 1 else 1]


def _padding(x: Any, size: int) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return the padding with which a valid convolution of stride 2 has the outputs of one of padding "same"."""
    sizes = x.shape.as_list()[2:] if channel_axis() == 1 else x.shape.as_list()[1:3]
    first, second = ((size // 2 - (1 if n is None else 1 - n % 2), size // 2) for n in sizes)
    return first, second


def _separable(x: Any, filters: int, size: int, name: str, stride: int = 1) -> Any:
    """Apply a separable convolution twice, the stride in the first one."""
    with name_scope(f"separable_conv_block_{name}"):
        x = Activation("relu")(x)
        if stride > 1:
            x = ZeroPadding2D(_padding(x, size), name=f"separable_conv_1_pad_{name}")(x)
        x = SeparableConv2D(filters, size, strides=stride, padding="valid" if stride > 1 else "same",
                            name=f"separable_conv_1_{name}", **_START)(x)
        x = Activation("relu")(_norm(f"separable_conv_1_bn_{name}")(x))
        x = SeparableConv2D(filters, size, padding="same", name=f"separable_conv_2_{name}", **_START)(x)
        return _norm(f"separable_conv_2_bn_{name}")(x)


def _adjusted(before: Any, x: Any, filters: int, name: str) -> Any:
    """Return the output of the cell before the last one, in the size of the last one's and with `filters` channels."""
    if before is None:
        return x
    with name_scope("adjust_block"):
        if _rows(before) != _rows(x):
            with name_scope(f"adjust_reduction_block_{name}"):
                before = Activation("relu", name=f"adjust_relu_1_{name}")(before)
                moved = Cropping2D(((1, 0), (1, 0)))(ZeroPadding2D(((0, 1), (0, 1)))(before))
                halves = [Conv2D(filters // 2, 1, padding="same", name=f"adjust_conv_{i}_{name}", **_START)(
                    AveragePooling2D(1, strides=2, name=f"adjust_avg_pool_{i}_{name}")(each))
                    for i, each in enumerate((before, moved), 1)]
                return _norm(f"adjust_bn_{name}")(concatenate(halves, axis=channel_axis()))
        if before.shape.as_list()[channel_axis()] != filters:
            with name_scope(f"adjust_projection_block_{name}"):
                x = Conv2D(filters, 1, padding="same", name=f"adjust_conv_projection_{name}", **_START)(
                    Activation("relu")(before))
                return _norm(f"adjust_bn_{name}")(x)
    return before


def _cell(kind: str) -> Callable[[Parts], Cell]:
    """Make a cell of a function from (h, p, filters, name) to what is joined, where h and p are the cell's inputs.

    The cell returns its output and its input, which the cell after the next takes.
    """
    def decorated(parts: Parts) -> Cell:
        def cell(x: Any, before: Any, filters: int, name: str) -> tuple[Any, Any]:
            with name_scope(f"{kind}_A_block_{name}"):
                p = _adjusted(before, x, filters, name)
                h = Conv2D(filters, 1, padding="same", name=f"{kind}_conv_1_{name}", **_START)(Activation("relu")(x))
                h = _norm(f"{kind}_bn_1_{name}")(h)
                made = parts(h, p, filters, name)
                return concatenate(made, axis=channel_axis(), name=f"{kind}_concat_{name}"), x
        return cell
    return decorated


def _pooled(kind: Any, x: Any, name: str, stride: int = 1) -> Any:
    return kind(3, strides=stride, padding="same" if stride == 1 else "valid", name=name)(x)


@_cell("normal")
def _normal(h: Any, p: Any, filters: int, name: str) -> list[Any]:
    """Return the parts of a cell that keeps the size."""
    with name_scope("block_1"):
        one = add([_separable(h, filters, 5, f"normal_left1_{name}"),
                   _separable(p, filters, 3, f"normal_right1_{name}")], name=f"normal_add_1_{name}")
    with name_scope("block_2"):
        two = add([_separable(p, filters, 5, f"normal_left2_{name}"),
                   _separable(p, filters, 3, f"normal_right2_{name}")], name=f"normal_add_2_{name}")
    with name_scope("block_3"):
        three = add([_pooled(AveragePooling2D, h, f"normal_left3_{name}"), p], name=f"normal_add_3_{name}")
    with name_scope("block_4"):
        four = add([_pooled(AveragePooling2D, p, f"normal_{side}4_{name}") for side in ("left", "right")],
                   name=f"normal_add_4_{name}")
    with name_scope("block_5"):
        five = add([_separable(h, filters, 3, f"normal_left5_{name}"), h], name=f"normal_add_5_{name}")
    return [p, one, two, three, four, five]


@_cell("reduction")
def _reduction(h: Any, p: Any, filters: int, name: str) -> list[Any]:
    """Return the parts of a cell that halves the size."""
    padded = ZeroPadding2D(_padding(h, 3), name=f"reduction_pad_1_{name}")(h)
    with name_scope("block_1"):
        one = add([_separable(h, filters, 5, f"reduction_left1_{name}", 2),
                   _separable(p, filters, 7, f"reduction_right1_{name}", 2)], name=f"reduction_add_1_{name}")
    with name_scope("block_2"):
        two = add([_pooled(MaxPooling2D, padded, f"reduction_left2_{name}", 2),
                   _separable(p, filters, 7, f"reduction_right2_{name}", 2)], name=f"reduction_add_2_{name}")
    with name_scope("block_3"):
        three = add([_pooled(AveragePooling2D, padded, f"reduction_left3_{name}", 2),
                     _separable(p, filters, 5, f"reduction_right3_{name}", 2)], name=f"reduction_add3_{name}")
    with name_scope("block_4"):
        four = add([two, _pooled(AveragePooling2D, one, f"reduction_left4_{name}")])
    with name_scope("block_5"):
        five = add([_separable(one, filters, 3, f"reduction_left4_{name}"),
                    _pooled(MaxPooling2D, padded, f"reduction_right5_{name}", 2)], name=f"reduction_add4_{name}")
    return [two, three, four, five]


def _nasnet(net: Net, filters: int, blocks: int, stem: int, is_skipping: bool, *given: Any) -> Any:
    """Return a NASNet-A of 3 times `blocks` normal cells.

    filters: of the first ones. stem: channels of the first convolution. is_skipping: whether the cell behind a
    reduction sees what the reduction saw before it. given: input_shape, include_top and the others of the functions.
    """
    input_shape, include_top, weights, input_tensor, pooling, classes = given
    inputs = begin(net, include_top, weights, input_tensor, input_shape, classes)
    x = Conv2D(stem, 3, strides=2, name="stem_conv1", **_START)(inputs)
    x, p = _reduction(_norm("stem_bn1")(x), None, filters // 4, "stem_1")
    x, p = _reduction(x, p, filters // 2, "stem_2")
    for level in range(3):
        if level:
            x, behind = _reduction(x, p, filters * 2 ** level, f"reduce_{level * blocks}")
            p = p if is_skipping else behind
        for i in range(blocks):
            x, p = _normal(x, p, filters * 2 ** level, str(level * blocks + i + (level > 0)))
    x = Activation("relu")(x)
    if include_top:
        x = GlobalAveragePooling2D()(x)
    return finish(net, inputs, x, include_top, weights, pooling, classes, pooled=True)


@described
def NASNetMobile(input_shape: Any = None, include_top: bool = True, weights: Any = "imagenet",
                 input_tensor: Any = None, pooling: Any = None, classes: int = 1000) -> Any:
    """Return a model NASNet-A (4 @ 1056), for images of 224 x 224.

    >>> tf.keras.applications.NASNetMobile(classes=10)
    ValueError: If using `weights` as `"imagenet"` with `include_top` as true, `classes` should be 1000, got 10
    """
    net = Net("NASNet", 224, 32, lambda top: f"nasnet/NASNet-mobile{'' if top else '-no-top'}.h5")
    return _nasnet(net, 44, 4, 32, False, input_shape, include_top, weights, input_tensor, pooling, classes)


@described
def NASNetLarge(input_shape: Any = None, include_top: bool = True, weights: Any = "imagenet",
                input_tensor: Any = None, pooling: Any = None, classes: int = 1000) -> Any:
    """Return a model NASNet-A (6 @ 4032), for images of 331 x 331.

    >>> tf.keras.applications.NASNetLarge((16, 16, 3), include_top=False, weights=None)
    ValueError: Input size must be at least 32x32; got `input_shape=(16, 16, 3)`
    """
    net = Net("NASNet", 331, 32, lambda top: f"nasnet/NASNet-large{'' if top else '-no-top'}.h5")
    return _nasnet(net, 168, 6, 96, True, input_shape, include_top, weights, input_tensor, pooling, classes)
