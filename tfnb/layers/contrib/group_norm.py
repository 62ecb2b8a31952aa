"""Group and instance normalization, maxout and spatial softmax of `tf.contrib.layers`."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfnb.core.arguments import CONTRIB_LAYERS, describe
from tfnb.core.dtypes import float32
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.stack import add_to_collections, name_scope
from tfnb.layers.contrib.arg_scope import add_arg_scope
from tfnb.layers.contrib.outputs import collect_named_outputs
from tfnb.layers.contrib.variables import model_variable
from tfnb.ops.array.create import linspace
from tfnb.ops.array.joining import concat
from tfnb.ops.array.reshape import reshape, shape, transpose
from tfnb.ops.nn.activations import batch_normalization, moments
from tfnb.ops.nn.cross_entropy import softmax
from tfnb.ops.reductions.reduce import reduce_max, reduce_sum
from tfnb.variables.initializers import constant_initializer, ones_initializer, zeros_initializer
from tfnb.variables.scope import variable_scope


def _parameter(name: str, wanted: bool, channels: int, place: list[int], dtype: Any, starts: Any, trainable: bool,
               collections: Any) -> Any:
    """Return the variable beta or gamma, shaped as `place`; None if it is not wanted."""
    if not wanted:
        return None
    start = (starts or {}).get(name) or (zeros_initializer() if name == "beta" else ones_initializer())
    made = model_variable(name, [channels], dtype=dtype.base_dtype, initializer=start, trainable=trainable)
    keys = collections.get(name) if isinstance(collections, dict) else collections
    if keys:
        add_to_collections(keys, made)
    return reshape(made, place)


@add_arg_scope
def group_norm(inputs: Any, groups: int = 32, channels_axis: int = -1, reduction_axes: Sequence[int] = (-3, -2),
               center: bool = True, scale: bool = True, epsilon: float = 1e-6, activation_fn: Any = None,
               param_initializers: Any = None, reuse: Any = None, variables_collections: Any = None,
               outputs_collections: Any = None, trainable: bool = True, scope: Any = None,
               mean_close_to_zero: bool = False) -> Any:
    """Return `inputs` with mean 0 and variance 1 in each group of channels (Wu and He, 2018).

    groups: their number, which divides that of the channels, on channels_axis. reduction_axes: the axes, beside the
    channels of a group, that moments are taken over. center, scale: then add the variable "beta" and multiply by
    "gamma", of one value a channel. param_initializers: a dict from these names. mean_close_to_zero: accepted, the
    moments are exact. Raises ValueError for an unknown rank or number of channels, or one that groups don't divide.

    >>> y = tf.contrib.layers.group_norm(tf.constant([[[[1.0, 3.0, 10.0, 30.0]]]]), groups=2)
    >>> sess.run(tf.global_variables_initializer())
    >>> sess.run(y)
    array([[[[-1.,  1., -1.,  1.]]]], dtype=float32)
    """
    with variable_scope(scope, "GroupNorm", [inputs], reuse=reuse) as sc:
        inputs = convert_to_tensor(inputs)
        rank = inputs.shape.ndims
        if rank is None:
            raise ValueError(f"Inputs {inputs.name} has undefined rank.")
        axis = channels_axis % rank
        channels = inputs.shape.as_list()[axis]
        if channels is None:
            raise ValueError(f"Inputs {inputs.name} has undefined channel dimension: {inputs.shape}")
        if groups > channels or channels % groups:
            raise ValueError(f"{channels} channels is not commensurate with {groups} groups.")
        reduced = [a % rank for a in reduction_axes]
        if axis in reduced:
            raise ValueError(f"reduction_axes must not have the channels' axis {channels_axis}: {reduction_axes}")
        place = [1] * axis + [groups, channels // groups] + [1] * (rank - axis - 1)
        beta, gamma = (_parameter(name, wanted, channels, place, inputs.dtype, param_initializers, trainable,
                                  variables_collections) for name, wanted in (("beta", center), ("gamma", scale)))
        sizes = shape(inputs)
        split = reshape(inputs, concat([sizes[:axis], [groups, channels // groups], sizes[axis + 1:]], 0))
        mean, variance = moments(split, sorted([axis + 1, *(a + (a > axis) for a in reduced)]), keep_dims=True)
        outputs = reshape(batch_normalization(split, mean, variance, beta, gamma, epsilon), sizes)
        outputs.set_shape(inputs.shape)
        outputs = outputs if activation_fn is None else activation_fn(outputs)
        return collect_named_outputs(outputs_collections, sc.name, outputs)


@add_arg_scope
def instance_norm(inputs: Any, center: bool = True, scale: bool = True, epsilon: float = 1e-6,
                  activation_fn: Any = None, param_initializers: Any = None, reuse: Any = None,
                  variables_collections: Any = None, outputs_collections: Any = None, trainable: bool = True,
                  data_format: str = "NHWC", scope: Any = None) -> Any:
    """Return `inputs` with mean 0 and variance 1 in each channel of each example (Ulyanov et al., 2016).

    center, scale: then add the variable "beta" and multiply by "gamma", of one value a channel. param_initializers: a
    dict from these names. data_format: "NHWC" or "NCHW", for any number of axes between. Raises ValueError for an
    unknown rank or number of channels, or another data_format.

    >>> y = tf.contrib.layers.instance_norm(tf.constant([[[[1.0], [3.0]]]]))
    >>> sess.run(tf.global_variables_initializer())
    >>> sess.run(y)
    array([[[[-1.],
             [ 1.]]]], dtype=float32)
    """
    if data_format not in ("NHWC", "NCHW"):
        raise ValueError(f"data_format has to be either NCHW or NHWC, got {data_format!r}")
    with variable_scope(scope, "InstanceNorm", [inputs], reuse=reuse) as sc:
        inputs = convert_to_tensor(inputs)
        rank = inputs.shape.ndims
        if rank is None:
            raise ValueError(f"Inputs {inputs.name} has undefined rank.")
        axis = 1 if data_format == "NCHW" else rank - 1
        channels = inputs.shape.as_list()[axis]
        if channels is None:
            raise ValueError(f"Inputs {inputs.name} has undefined channel dimension: {inputs.shape}")
        place = [channels if a == axis else 1 for a in range(rank)]
        beta, gamma = (_parameter(name, wanted, channels, place, inputs.dtype, param_initializers, trainable,
                                  variables_collections) for name, wanted in (("beta", center), ("gamma", scale)))
        mean, variance = moments(inputs, [a for a in range(1, rank) if a != axis], keep_dims=True)
        outputs = batch_normalization(inputs, mean, variance, beta, gamma, epsilon, name="instancenorm")
        outputs.set_shape(inputs.shape)
        outputs = outputs if activation_fn is None else activation_fn(outputs)
        return collect_named_outputs(outputs_collections, sc.name, outputs)


@add_arg_scope
def maxout(inputs: Any, num_units: int, axis: int = -1, scope: Any = None) -> Any:
    """Return the largest of each group of size / num_units elements (Goodfellow et al., 2013).

    The size along `axis` becomes num_units. Groups are adjacent in memory, as TensorFlow's: along the last axis, by
    default, element i of unit k is at k * size / num_units + i. Raises ValueError where the size is unknown, or
    num_units does not divide it.

    >>> sess.run(tf.contrib.layers.maxout(tf.constant([[1.0, 5.0, 7.0, 2.0]]), 2))
    array([[5., 7.]], dtype=float32)
    """
    with variable_scope(scope, "MaxOut", [inputs]):
        inputs = convert_to_tensor(inputs)
        rank = inputs.shape.ndims
        size = None if rank is None else inputs.shape.as_list()[axis]
        if rank is None or size is None or size % num_units:
            raise ValueError(f"number of features ({size}) is not a multiple of num_units ({num_units})")
        at, sizes = axis % rank, shape(inputs)
        split = concat([sizes[:at], [num_units], sizes[at + 1:], [size // num_units]], 0)
        outputs = reduce_max(reshape(inputs, split), -1)
        outputs.set_shape([num_units if a == at else n for a, n in enumerate(inputs.shape.as_list())])
        return outputs


@add_arg_scope
def spatial_softmax(features: Any, temperature: Any = None, name: str | None = None,
                    variables_collections: Any = None, trainable: bool = True, data_format: str = "NHWC") -> Any:
    """Return the mean place of each channel of images, weighed by the softmax over its pixels (Finn et al., 2016).

    The result has the shape [batch, 2 * channels]: for each channel the place along the height, then along the width,
    from -1 to 1. temperature: the initial value of the variable "temperature", by which features are divided (None: 1).
    Raises ValueError for unknown sizes, or another data_format than "NHWC" and "NCHW".

    >>> places = tf.contrib.layers.spatial_softmax(tf.constant([[[[0.0], [99.0]], [[0.0], [0.0]]]]))
    >>> sess.run(tf.global_variables_initializer())
    >>> sess.run(places)
    array([[-1.,  1.]], dtype=float32)
    """
    if data_format not in ("NHWC", "NCHW"):
        raise ValueError(f"data_format has to be either NCHW or NHWC, got {data_format!r}")
    with variable_scope(name, "spatial_softmax"):
        features = convert_to_tensor(features)
        sizes = features.shape.with_rank(4).as_list()
        channels, height, width = sizes[1:] if data_format == "NCHW" else (sizes[3], *sizes[1:3])
        if None in (channels, height, width):
            raise ValueError(f"features must have known sizes but for the batch, got {features.shape}")
        start = ones_initializer() if temperature is None else constant_initializer(temperature)
        divisor = model_variable("temperature", [], dtype=float32, initializer=start, trainable=trainable,
                                 collections=variables_collections)
        with name_scope("spatial_softmax_op"):
            if data_format == "NHWC":
                features = transpose(features, [0, 3, 1, 2])
            attention = reshape(softmax(reshape(features, [-1, height * width]) / divisor), [-1, height, width])
            along = [reduce_sum(reduce_sum(attention, 3 - axis) * linspace(-1.0, 1.0, size), 1, keepdims=True)
                     for axis, size in ((1, height), (2, width))]
            places = reshape(concat(along, 1), [-1, 2 * channels])
        places.set_shape([sizes[0], 2 * channels])
        return places


describe(globals(), CONTRIB_LAYERS)
