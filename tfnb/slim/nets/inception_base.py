"""Inception networks from tables: rows of convolutions and pools, and modules of parallel branches.

A table has a row for each end point, `name: steps`. Branches are parted by "|", steps of a branch by ",", and steps
from the same input whose outputs are joined by "+". A step is a scope ("0a_1x1" is Conv2d_0a_1x1), its depth unless it
is a pool, and perhaps "s2" (stride 2), VALID or SAME, a window other than that of the name, a standard deviation.
"""
from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from tfnb.layers.contrib.arg_scope import arg_scope
from tfnb.layers.contrib.initializers import variance_scaling_initializer
from tfnb.layers.contrib.layers import batch_norm, conv2d, dropout, fully_connected, separable_convolution2d
from tfnb.layers.contrib.pools import avg_pool2d, max_pool2d
from tfnb.losses.regularizers import l2_regularizer
from tfnb.ops.array.joining import concat
from tfnb.ops.array.reshape import squeeze
from tfnb.ops.nn.activations import relu
from tfnb.variables.initializers import truncated_normal_initializer
from tfnb.variables.scope import variable_scope

Depth = Callable[[int], int]


def normal(deviation: float) -> Any:
    """Return the initializer of truncated normal numbers."""
    return truncated_normal_initializer(0.0, deviation)


def depths(depth_multiplier: float, min_depth: int) -> Depth:
    """Return the function from a depth of the table to that of the network. Raises ValueError for a factor <= 0."""
    if depth_multiplier <= 0:
        raise ValueError(f"expected a depth_multiplier greater than zero, got {depth_multiplier}")
    return lambda depth: max(int(depth * depth_multiplier), min_depth)


def _step(net: Any, text: str, depth: Depth) -> Any:
    scope, *words = text.split()
    scope = f"Conv2d_{scope}" if scope[0].isdigit() else scope
    window = next((word for word in words if re.fullmatch(r"\d+x\d+", word)), scope.rpartition("_")[2])
    options: dict[str, Any] = {"kernel_size": [int(size) for size in window.split("x")], "scope": scope}
    options.update({"stride": 2} if "s2" in words else {})
    options.update([("padding", word) for word in words if word in ("SAME", "VALID")])
    if scope.startswith(("MaxPool", "AvgPool")):
        return (max_pool2d if scope.startswith("Max") else avg_pool2d)(net, **options)
    options.update([("weights_initializer", normal(float(word))) for word in words if "." in word])
    channels = depth(int(words[0]))
    if "separable" in words:
        return separable_convolution2d(net, channels, depth_multiplier=min(channels // 3, 8), **options)
    return conv2d(net, channels, **options)


def _branch(net: Any, text: str, depth: Depth) -> Any:
    for step in text.split(","):
        parts = [_step(net, part, depth) for part in step.split("+")]
        net = parts[0] if len(parts) == 1 else concat(parts, 3)
    return net


def module(net: Any, text: str, depth: Depth) -> Any:
    """Return the joined outputs of the branches of a row, in scopes Branch_0, Branch_1..."""
    branches = []
    for number, branch in enumerate(text.split("|")):
        with variable_scope(f"Branch_{number}"):
            branches.append(_branch(net, branch, depth))
    return concat(branches, 3)


def rows(net: Any, table: str, depth: Depth, final_endpoint: str, stem_padding: str) -> tuple[Any, dict[str, Any]]:
    """Return (the output of the row `final_endpoint`, end points by name). Raises ValueError for another name."""
    points: dict[str, Any] = {}
    for line in table.strip().splitlines():
        name, _, text = line.strip().partition(": ")
        mixed = "|" in text
        with arg_scope([conv2d, max_pool2d, avg_pool2d], stride=1, padding="SAME" if mixed else stem_padding):
            if mixed:
                with variable_scope(name):
                    net = module(net, text, depth)
            else:
                net = _step(net, f"{name} {text}", depth)
        points[name] = net
        if name == final_endpoint:
            return net, points
    raise ValueError(f"expected one of {', '.join(points)} as final_endpoint, got {final_endpoint!r}")


def window(net: Any, sizes: tuple[int, int]) -> list[int]:
    """Return the sizes of a window, no larger than the image where that is known."""
    height, width = net.shape.as_list()[1:3]
    return list(sizes) if height is None or width is None else [min(height, sizes[0]), min(width, sizes[1])]


def classified(net: Any, points: dict[str, Any], num_classes: int, keep_prob: float, squeezed: bool,
               prediction_fn: Any, pool: str, drop: str, last: str, pre_logits: bool = False,
               inside: bool = False) -> Any:
    """Return the logits of features; they and the predictions join the end points.

    pool, drop, last: the scopes of the pool of the whole image, of dropout and of the last layer. inside: whether the
    predictions belong to the scope of the logits.
    """
    with variable_scope("Logits"):
        sizes = window(net, (8, 8) if pre_logits else (7, 7))
        net = avg_pool2d(net, sizes, stride=1, padding="VALID", scope=pool.format(*sizes))
        net = dropout(net, keep_prob, scope=drop)
        if pre_logits:
            points["PreLogits"] = net
        logits = conv2d(net, num_classes, [1, 1], activation_fn=None, normalizer_fn=None, scope=last)
        if squeezed:
            logits = squeeze(logits, [1, 2], name="SpatialSqueeze")
        points["Logits"] = logits
        if inside:
            points["Predictions"] = prediction_fn(logits, scope="Predictions")
    if not inside:
        points["Predictions"] = prediction_fn(logits, scope="Predictions")
    return logits


def defaults(weight_decay: float, collection: str, decay: float, epsilon: float, updates: Any,
             use_batch_norm: bool = True) -> Any:
    """Return the defaults of layers: an L2 loss, relu, variance scaling, normalization (not of separable ones)."""
    norm = {"normalizer_fn": batch_norm, "normalizer_params": {
        "decay": decay, "epsilon": epsilon, "updates_collections": updates,
        "variables_collections": {"moving_mean": [collection], "moving_variance": [collection]}}}
    with arg_scope([conv2d, fully_connected], weights_regularizer=l2_regularizer(weight_decay)), \
            arg_scope([conv2d], activation_fn=relu, weights_initializer=variance_scaling_initializer(),
                      **(norm if use_batch_norm else {})) as made:
        return made
