"""The layers of `tf.contrib.layers` (and slim): those of `tf.layers` with other names, defaults and collections.

What all have: activation_fn (relu where there are weights), normalizer_fn with normalizer_params, which takes the place
of the bias; reuse and scope; variables_collections: a list, or a dict from "weights", "biases"... to lists;
outputs_collections: where the output goes. Variables go to MODEL_VARIABLES too.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfnb.core.arguments import CONTRIB_LAYERS, describe
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.keys import GraphKeys
from tfnb.graph.stack import add_to_collections, control_dependencies, name_scope
from tfnb.layers.contrib.arg_scope import add_arg_scope, preset
from tfnb.layers.contrib.initializers import xavier_initializer
from tfnb.layers.contrib.outputs import collect_named_outputs
from tfnb.layers.contrib.pools import layout, pair
from tfnb.layers.contrib.variables import model_variable
from tfnb.layers.convolutional import Conv1D, Conv2D, Conv3D
from tfnb.layers.core import Dense, Dropout
from tfnb.layers.core import flatten as _flatten
from tfnb.layers.normalization import BatchNormalization
from tfnb.layers.separable import SeparableConv2D
from tfnb.layers.transposed import Conv2DTranspose
from tfnb.ops.array.reshape import identity, reshape, shape
from tfnb.ops.nn.activations import bias_add as _bias_add
from tfnb.ops.nn.activations import elu as _elu
from tfnb.ops.nn.activations import relu as _relu
from tfnb.ops.nn.activations import relu6 as _relu6
from tfnb.ops.nn.conv_functions import depthwise_conv2d
from tfnb.variables.embedding import embedding_lookup
from tfnb.variables.initializers import zeros_initializer
from tfnb.variables.scope import variable_scope

_ZEROS, _GLOROT = zeros_initializer(), xavier_initializer()


def _getter(renamed: dict[str, str] | None = None) -> Callable[..., Any]:
    """A custom getter that makes model variables, under the names of contrib."""
    def getter(getter: Any, name: str, *args: Any, **kwargs: Any) -> Any:
        head, slash, last = name.rpartition("/")
        full = head + slash + (renamed or {}).get(last, last)
        keys = [*(kwargs.pop("collections", None) or []), GraphKeys.GLOBAL_VARIABLES, GraphKeys.MODEL_VARIABLES]
        return getter(full, *args, collections=list(dict.fromkeys(keys)), **kwargs)
    return getter


def _collect_variable(variable: Any, collections: Any, kind: str) -> None:
    keys = collections.get(kind, []) if isinstance(collections, dict) else collections or []
    if variable is not None:
        for part in list(variable) if isinstance(variable, (list, tuple)) else [variable]:
            add_to_collections([keys] if isinstance(keys, str) else keys, part)


def _run(layer: Any, inputs: Any, collections: Any, *weights: str) -> Any:
    """Apply the layer to `inputs`; its variables go to the collections. weights: their attributes, `kernel`."""
    outputs = layer(inputs)
    for name in weights or ("kernel",):
        _collect_variable(getattr(layer, name), collections, "weights")
    _collect_variable(layer.bias, collections, "biases")
    return outputs


def _finished(outputs: Any, normalizer_fn: Any, normalizer_params: Any, activation_fn: Any) -> Any:
    if normalizer_fn is not None:
        outputs = normalizer_fn(outputs, **(normalizer_params or {}))
    return outputs if activation_fn is None else activation_fn(outputs)


@add_arg_scope
def fully_connected(inputs: Any, num_outputs: int, activation_fn: Any = _relu, normalizer_fn: Any = None,
                    normalizer_params: Any = None, weights_initializer: Any = _GLOROT, weights_regularizer: Any = None,
                    biases_initializer: Any = _ZEROS, biases_regularizer: Any = None, reuse: Any = None,
                    variables_collections: Any = None, outputs_collections: Any = None, trainable: bool = True,
                    scope: Any = None) -> Any:
    """A dense layer. Variables: weights (inputs, num_outputs), biases (unless biases_initializer is None).

    >>> y = tf.contrib.layers.fully_connected(tf.ones([4, 3]), num_outputs=2, scope="hidden")
    >>> y.shape.as_list(), [v.name for v in tf.trainable_variables()]
    ([4, 2], ['hidden/weights:0', 'hidden/biases:0'])
    """
    if not isinstance(num_outputs, int) and not hasattr(num_outputs, "__index__"):
        raise ValueError(f"num_outputs type should be one of (int, long, np.int32...), got {num_outputs!r}.")
    with variable_scope(scope, "fully_connected", [inputs], reuse=reuse,
                        custom_getter=_getter({"bias": "biases", "kernel": "weights"})) as sc:
        inputs = convert_to_tensor(inputs)
        layer = Dense(int(num_outputs), use_bias=not normalizer_fn and bool(biases_initializer),
                      kernel_initializer=weights_initializer, bias_initializer=biases_initializer,
                      kernel_regularizer=weights_regularizer, bias_regularizer=biases_regularizer,
                      trainable=trainable, name=sc.name, dtype=inputs.dtype.base_dtype, _scope=sc, _reuse=reuse)
        outputs = _run(layer, inputs, variables_collections)
        outputs = _finished(outputs, normalizer_fn, normalizer_params, activation_fn)
        return collect_named_outputs(outputs_collections, sc.name, outputs)


@add_arg_scope
def convolution(inputs: Any, num_outputs: int, kernel_size: Any, stride: Any = 1, padding: str = "SAME",
                data_format: str | None = None, rate: Any = 1, activation_fn: Any = _relu, normalizer_fn: Any = None,
                normalizer_params: Any = None, weights_initializer: Any = _GLOROT, weights_regularizer: Any = None,
                biases_initializer: Any = _ZEROS, biases_regularizer: Any = None, reuse: Any = None,
                variables_collections: Any = None, outputs_collections: Any = None, trainable: bool = True,
                scope: Any = None, conv_dims: int | None = None) -> Any:
    """A convolution over as many axes as the inputs have (`conv_dims`, if given: else ValueError).

    Variables: weights (window..., inputs, num_outputs), biases. stride, rate (dilation): one number, or one per axis.

    >>> tf.contrib.layers.convolution(tf.ones([4, 10, 3]), 8, [5]).shape.as_list()
    [4, 10, 8]
    """
    with variable_scope(scope, "Conv", [inputs], reuse=reuse,
                        custom_getter=_getter({"bias": "biases", "kernel": "weights"})) as sc:
        inputs = convert_to_tensor(inputs)
        rank = inputs.shape.ndims
        if conv_dims is not None and conv_dims + 2 != rank:
            raise ValueError(f"Convolution expects input with rank {conv_dims + 2}, got {rank}")
        if rank not in (3, 4, 5):
            raise ValueError(f"Convolution not supported for input with rank {rank}")
        layer = {3: Conv1D, 4: Conv2D, 5: Conv3D}[rank](
            num_outputs, _each(kernel_size, rank - 2), _each(stride, rank - 2), padding, layout(data_format),
            _each(rate, rank - 2), use_bias=not normalizer_fn and bool(biases_initializer),
            kernel_initializer=weights_initializer, bias_initializer=biases_initializer,
            kernel_regularizer=weights_regularizer, bias_regularizer=biases_regularizer, trainable=trainable,
            name=sc.name, dtype=inputs.dtype.base_dtype, _scope=sc, _reuse=reuse)
        outputs = _run(layer, inputs, variables_collections)
        outputs = _finished(outputs, normalizer_fn, normalizer_params, activation_fn)
        return collect_named_outputs(outputs_collections, sc.name, outputs)


def _each(sizes: Any, count: int) -> Any:
    return tuple(sizes) * count if isinstance(sizes, (list, tuple)) and len(sizes) == 1 else sizes


@add_arg_scope
def convolution2d(inputs: Any, num_outputs: int, kernel_size: Any, stride: Any = 1, padding: str = "SAME",
                  data_format: str | None = None, rate: Any = 1, activation_fn: Any = _relu, normalizer_fn: Any = None,
                  normalizer_params: Any = None, weights_initializer: Any = _GLOROT, weights_regularizer: Any = None,
                  biases_initializer: Any = _ZEROS, biases_regularizer: Any = None, reuse: Any = None,
                  variables_collections: Any = None, outputs_collections: Any = None, trainable: bool = True,
                  scope: Any = None) -> Any:
    """`convolution` of images.

    >>> y = tf.contrib.slim.conv2d(tf.ones([4, 28, 28, 1]), 8, [3, 3], scope="first")
    >>> y.shape.as_list(), [v.name for v in tf.trainable_variables()]
    ([4, 28, 28, 8], ['first/weights:0', 'first/biases:0'])
    """
    return convolution(inputs, num_outputs, kernel_size, stride, padding, data_format, rate, activation_fn,
                       normalizer_fn, normalizer_params, weights_initializer, weights_regularizer, biases_initializer,
                       biases_regularizer, reuse, variables_collections, outputs_collections, trainable, scope,
                       conv_dims=2)


@add_arg_scope
@preset(convolution, conv_dims=1)
def convolution1d() -> None:
    """`convolution` of sequences [batch, steps, inputs].

    >>> tf.contrib.layers.conv1d(tf.ones([4, 10, 3]), 8, 5).shape.as_list()
    [4, 10, 8]
    """


@add_arg_scope
@preset(convolution, conv_dims=3)
def convolution3d() -> None:
    """`convolution` of volumes [batch, depth, height, width, inputs].

    >>> tf.contrib.layers.conv3d(tf.ones([1, 4, 4, 4, 2]), 3, [2, 2, 2], padding="VALID").shape.as_list()
    [1, 3, 3, 3, 3]
    """


conv1d, conv2d, conv3d = convolution1d, convolution2d, convolution3d


@add_arg_scope
def convolution2d_transpose(inputs: Any, num_outputs: int, kernel_size: Any, stride: Any = 1, padding: str = "SAME",
                            data_format: str = "NHWC", activation_fn: Any = _relu, normalizer_fn: Any = None,
                            normalizer_params: Any = None, weights_initializer: Any = _GLOROT,
                            weights_regularizer: Any = None, biases_initializer: Any = _ZEROS,
                            biases_regularizer: Any = None, reuse: Any = None, variables_collections: Any = None,
                            outputs_collections: Any = None, trainable: bool = True, scope: Any = None) -> Any:
    """The transpose of a convolution of images. Variables: weights (height, width, num_outputs, inputs), biases.

    >>> tf.contrib.layers.conv2d_transpose(tf.ones([4, 7, 7, 8]), 3, [3, 3], stride=2).shape.as_list()
    [4, 14, 14, 3]
    """
    with variable_scope(scope, "Conv2d_transpose", [inputs], reuse=reuse,
                        custom_getter=_getter({"bias": "biases", "kernel": "weights"})) as sc:
        inputs = convert_to_tensor(inputs)
        layer = Conv2DTranspose(
            num_outputs, _each(kernel_size, 2), _each(stride, 2), padding, layout(data_format),
            use_bias=not normalizer_fn and bool(biases_initializer), kernel_initializer=weights_initializer,
            bias_initializer=biases_initializer, kernel_regularizer=weights_regularizer,
            bias_regularizer=biases_regularizer, trainable=trainable, name=sc.name, dtype=inputs.dtype.base_dtype,
            _scope=sc, _reuse=reuse)
        outputs = _run(layer, inputs, variables_collections)
        outputs = _finished(outputs, normalizer_fn, normalizer_params, activation_fn)
        return collect_named_outputs(outputs_collections, sc.name, outputs)


conv2d_transpose = convolution2d_transpose


@add_arg_scope
def separable_convolution2d(inputs: Any, num_outputs: int | None, kernel_size: Any, depth_multiplier: int = 1,
                            stride: Any = 1, padding: str = "SAME", data_format: str = "NHWC", rate: Any = 1,
                            activation_fn: Any = _relu, normalizer_fn: Any = None, normalizer_params: Any = None,
                            weights_initializer: Any = _GLOROT, pointwise_initializer: Any = None,
                            weights_regularizer: Any = None, biases_initializer: Any = _ZEROS,
                            biases_regularizer: Any = None, reuse: Any = None, variables_collections: Any = None,
                            outputs_collections: Any = None, trainable: bool = True, scope: Any = None) -> Any:
    """A separable convolution of images; num_outputs None: only the convolution of each channel on its own.

    Variables: depthwise_weights, pointwise_weights (unless num_outputs is None), biases.

    >>> tf.contrib.layers.separable_conv2d(tf.ones([4, 9, 9, 3]), 8, [3, 3], depth_multiplier=1).shape.as_list()
    [4, 9, 9, 8]
    """
    renamed = {"bias": "biases", "depthwise_kernel": "depthwise_weights", "pointwise_kernel": "pointwise_weights"}
    with variable_scope(scope, "SeparableConv2d", [inputs], reuse=reuse, custom_getter=_getter(renamed)) as sc:
        inputs = convert_to_tensor(inputs)
        use_bias = not normalizer_fn and bool(biases_initializer)
        if num_outputs is None:
            outputs = _depthwise(inputs, pair(kernel_size), depth_multiplier, pair(stride), padding, data_format,
                                 pair(rate), weights_initializer, weights_regularizer, trainable,
                                 variables_collections, use_bias, biases_initializer, biases_regularizer)
        else:
            layer = SeparableConv2D(
                num_outputs, pair(kernel_size), pair(stride), padding, layout(data_format), pair(rate),
                depth_multiplier, use_bias=use_bias, depthwise_initializer=weights_initializer,
                pointwise_initializer=pointwise_initializer or weights_initializer,
                bias_initializer=biases_initializer, depthwise_regularizer=weights_regularizer,
                pointwise_regularizer=weights_regularizer, bias_regularizer=biases_regularizer, trainable=trainable,
                name=sc.name, dtype=inputs.dtype.base_dtype, _scope=sc, _reuse=reuse)
            outputs = _run(layer, inputs, variables_collections, "depthwise_kernel", "pointwise_kernel")
        outputs = _finished(outputs, normalizer_fn, normalizer_params, activation_fn)
        return collect_named_outputs(outputs_collections, sc.name, outputs)


separable_conv2d = separable_convolution2d


def _depthwise(inputs: Any, window: tuple[int, int], multiplier: int, stride: tuple[int, int], padding: str,
               data_format: str, rate: tuple[int, int], start: Any, regularizer: Any, trainable: bool,
               collections: Any, use_bias: bool, bias_start: Any, bias_regularizer: Any) -> Any:
    first = data_format.startswith("NC")
    channels = inputs.shape.as_list()[1 if first else 3]
    options: dict[str, Any] = {"dtype": inputs.dtype.base_dtype, "trainable": trainable}
    weights = model_variable("depthwise_weights", [*window, channels, multiplier], initializer=start,
                             regularizer=regularizer, **options)
    _collect_variable(weights, collections, "weights")
    steps = [1, 1, *stride] if first else [1, *stride, 1]
    outputs = depthwise_conv2d(inputs, weights, steps, padding, rate=rate, data_format=data_format)
    if use_bias:
        biases = model_variable("biases", [channels * multiplier], initializer=bias_start,
                                regularizer=bias_regularizer, **options)
        _collect_variable(biases, collections, "biases")
        outputs = _bias_add(outputs, biases, data_format=data_format)
    return outputs


@add_arg_scope
def flatten(inputs: Any, outputs_collections: Any = None, scope: Any = None) -> Any:
    """(batch, ...) -> (batch, numbers).

    >>> tf.contrib.layers.flatten(tf.zeros([4, 5, 6])).shape.as_list()
    [4, 30]
    """
    with name_scope(scope, "Flatten", [inputs]) as sc:
        return collect_named_outputs(outputs_collections, sc, _flatten(convert_to_tensor(inputs)))


@add_arg_scope
def dropout(inputs: Any, keep_prob: Any = 0.5, noise_shape: Any = None, is_training: Any = True,
            outputs_collections: Any = None, scope: Any = None, seed: int | None = None) -> Any:
    """Set elements to 0 with probability 1 - `keep_prob` and divide the rest by it, while `is_training`.

    >>> np.unique(sess.run(tf.contrib.layers.dropout(tf.ones([1000]), keep_prob=0.8)))
    array([0.  , 1.25], dtype=float32)
    """
    with variable_scope(scope, "Dropout", [inputs], custom_getter=_getter()) as sc:
        inputs = convert_to_tensor(inputs)
        layer = Dropout(1 - keep_prob, noise_shape, seed, sc.name, _scope=sc)
        return collect_named_outputs(outputs_collections, sc.name, layer(inputs, training=is_training))


@add_arg_scope
def batch_norm(inputs: Any, decay: float = 0.999, center: bool = True, scale: bool = False, epsilon: float = 0.001,
               activation_fn: Any = None, param_initializers: Any = None, param_regularizers: Any = None,
               updates_collections: Any = GraphKeys.UPDATE_OPS, is_training: Any = True, reuse: Any = None,
               variables_collections: Any = None, outputs_collections: Any = None, trainable: bool = True,
               batch_weights: Any = None, fused: bool | None = None, data_format: str = "NHWC",
               zero_debias_moving_mean: bool = False, scope: Any = None, renorm: bool = False,
               renorm_clipping: Any = None, renorm_decay: float = 0.99, adjustment: Any = None) -> Any:
    """Batch normalization. updates_collections: where the updates of the averages go; None: they run with the output.

    param_initializers, param_regularizers: dicts from "beta", "gamma", "moving_mean", "moving_variance". fused: None is
    True for inputs of rank 2 and 4, whose moving variance is that of a sample, n / (n - 1) times the batch's. Raises
    ValueError for batch_weights and zero_debias_moving_mean, which are not there.

    >>> y = tf.contrib.layers.batch_norm(tf.constant([[1.0], [3.0]]), is_training=True)
    >>> sess.run(tf.global_variables_initializer())
    >>> sess.run(y)
    array([[-0.9995],
           [ 0.9995]], dtype=float32)
    """
    if batch_weights is not None or zero_debias_moving_mean:
        raise ValueError("batch_weights and zero_debias_moving_mean are not there in tfnb")
    starts, losses = param_initializers or {}, param_regularizers or {}
    options = {f"{name}_initializer": start for name, start in starts.items()}
    options.update({f"{name}_regularizer": loss for name, loss in losses.items()})
    with variable_scope(scope, "BatchNorm", [inputs], reuse=reuse, custom_getter=_getter()) as sc:
        inputs = convert_to_tensor(inputs)
        flat = None
        if inputs.shape.ndims == 2 and fused is not False and not renorm and adjustment is None:
            flat, fused, data_format = inputs, True, "NHWC"
            inputs = reshape(inputs, [-1, 1, 1, inputs.shape.as_list()[1]])
        layer = BatchNormalization(
            1 if data_format.startswith("NC") else -1, decay, epsilon, center, scale, trainable=trainable,
            renorm=renorm, renorm_clipping=renorm_clipping, renorm_momentum=renorm_decay, adjustment=adjustment,
            name=sc.name, _scope=sc, _reuse=reuse, fused=fused, **options)
        layer.updates_collection = updates_collections
        outputs = layer(inputs, training=is_training)
        if flat is not None:
            outputs = reshape(outputs, shape(flat))
            outputs.set_shape(flat.shape)
        for name in ("moving_mean", "moving_variance", "beta", "gamma"):
            _collect_variable(getattr(layer, name), variables_collections, name)
        if updates_collections is None and layer.updates:
            with control_dependencies(layer.updates):
                outputs = identity(outputs)
        outputs = outputs if activation_fn is None else activation_fn(outputs)
        return collect_named_outputs(outputs_collections, sc.name, outputs)


@add_arg_scope
def bias_add(inputs: Any, activation_fn: Any = None, initializer: Any = _ZEROS, regularizer: Any = None,
             reuse: Any = None, variables_collections: Any = None, outputs_collections: Any = None,
             trainable: bool = True, data_format: str = "NHWC", scope: Any = None) -> Any:
    """`inputs` plus a variable "biases" for each channel.

    >>> y = tf.contrib.layers.bias_add(tf.ones([4, 3]))
    >>> y.shape.as_list(), [v.name for v in tf.trainable_variables()]
    ([4, 3], ['BiasAdd/biases:0'])
    """
    with variable_scope(scope, "BiasAdd", [inputs], reuse=reuse) as sc:
        inputs = convert_to_tensor(inputs)
        channels = inputs.shape.as_list()[1 if data_format.startswith("NC") else -1]
        biases = model_variable("biases", [channels], dtype=inputs.dtype.base_dtype, initializer=initializer,
                                regularizer=regularizer, trainable=trainable)
        _collect_variable(biases, variables_collections, "biases")
        outputs = _bias_add(inputs, biases, data_format=data_format)
        outputs = outputs if activation_fn is None else activation_fn(outputs)
        return collect_named_outputs(outputs_collections, sc.name, outputs)


@add_arg_scope
def embed_sequence(ids: Any, vocab_size: int | None = None, embed_dim: int | None = None, unique: bool = False,
                   initializer: Any = None, regularizer: Any = None, trainable: bool = True, scope: Any = None,
                   reuse: Any = None) -> Any:
    """Rows of a variable "embeddings" (vocab_size, embed_dim), (batch, length) -> (batch, length, embed_dim).

    Raises ValueError if one of the sizes is missing where the variable is not shared.

    >>> words = tf.constant([[1, 2, 3]])
    >>> tf.contrib.layers.embed_sequence(words, vocab_size=10, embed_dim=4).shape.as_list()
    [1, 3, 4]
    """
    if not (reuse or (vocab_size and embed_dim)):
        raise ValueError(f"Must specify vocab size and embedding dimension when not reusing. Got vocab_size="
                         f"{vocab_size} and embed_dim={embed_dim}")
    with variable_scope(scope, "EmbedSequence", [ids], reuse=reuse):
        shape = [vocab_size, embed_dim] if vocab_size and embed_dim else None
        table = model_variable("embeddings", shape, initializer=initializer, regularizer=regularizer,
                               trainable=trainable)
        return embedding_lookup(table, ids)


@preset(fully_connected, activation_fn=_relu)
def relu() -> None:
    """`fully_connected`, with the activation `tf.nn.relu`.

    >>> y = tf.contrib.layers.relu([[1.0, -2.0]], 2, weights_initializer=tf.initializers.identity())
    >>> sess.run(tf.global_variables_initializer())
    >>> sess.run(y)
    array([[1., 0.]], dtype=float32)
    """


@preset(fully_connected, activation_fn=_relu6)
def relu6() -> None:
    """`fully_connected`, with the activation `tf.nn.relu6`.

    >>> y = tf.contrib.layers.relu6([[5.0, 8.0]], 2, weights_initializer=tf.initializers.identity())
    >>> sess.run(tf.global_variables_initializer())
    >>> sess.run(y)
    array([[5., 6.]], dtype=float32)
    """


@preset(fully_connected, activation_fn=_elu)
def elu() -> None:
    """`fully_connected`, with the activation `tf.nn.elu`.

    >>> y = tf.contrib.layers.elu([[5.0, 8.0]], 2, weights_initializer=tf.initializers.identity())
    >>> sess.run(tf.global_variables_initializer())
    >>> sess.run(y)
    array([[5., 8.]], dtype=float32)
    """


@preset(fully_connected, activation_fn=None)
def linear() -> None:
    """`fully_connected`, without an activation.

    >>> y = tf.contrib.layers.linear([[5.0, -8.0]], 1, weights_initializer=tf.ones_initializer())
    >>> sess.run(tf.global_variables_initializer())
    >>> sess.run(y)
    array([[-3.]], dtype=float32)
    """


describe(globals(), CONTRIB_LAYERS)
