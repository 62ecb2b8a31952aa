"""Parts that the architectures share: inputs, heads, weights from files, preprocessing and names of classes."""
from __future__ import annotations

import inspect
import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tfnb.graph.parts.operation import Tensor
from tfnb.keras.backend.config import image_data_format
from tfnb.keras.backend.variables import is_keras_tensor
from tfnb.keras.engine.input_layer import Input
from tfnb.keras.layers import core, normalization, pooling
from tfnb.keras.training.model import Model
from tfnb.keras.utils.files import get_file

ORIGIN = "https://storage.googleapis.com/tensorflow/keras-applications/"
_CLASSES = "https://storage.googleapis.com/download.tensorflow.org/data/imagenet_class_index.json"


@dataclass(frozen=True)
class Net:
    """An architecture: name of the model, size of its images, least size without top, place of its weights.

    dense: the name of the last layer. files: fn(include_top) -> path of the weights below ORIGIN.
    """

    name: str
    size: int
    least: int
    files: Callable[[bool], str]
    dense: str = "predictions"


def kernels(folder: str, stem: str) -> Callable[[bool], str]:
    """Return the paths of weights by the usual scheme of names."""
    return lambda top: f"{folder}/{stem}_weights_tf_dim_ordering_tf_kernels{'' if top else '_notop'}.h5"


def channel_axis() -> int:
    """Return the axis of the channels in the default data format."""
    return 1 if image_data_format() == "channels_first" else 3


def begin(net: Net, include_top: bool, weights: Any, input_tensor: Any, input_shape: Any, classes: int) -> Any:
    """Return the input tensor. Raises ValueError for arguments that exclude each other and too small images."""
    if not (weights in ("imagenet", None) or os.path.exists(weights)):
        raise ValueError("The `weights` argument should be either `None` (random initialization), `imagenet` "
                         f"(pre-training on ImageNet), or the path to the weights file to be loaded, got {weights!r}")
    if weights == "imagenet" and include_top and classes != 1000:
        raise ValueError('If using `weights` as `"imagenet"` with `include_top` as true, `classes` should be 1000, got '
                         f"{classes}")
    first = channel_axis() == 1
    default = (3, net.size, net.size) if first else (net.size, net.size, 3)
    if input_shape is not None and (include_top or weights == "imagenet") and input_shape[0 if first else -1] not in (
            1, 3):
        raise ValueError(f"The input must have 1 or 3 channels; got `input_shape={input_shape}`")
    if weights == "imagenet" and include_top and input_shape is not None and tuple(input_shape) != default:
        raise ValueError(f"When setting `include_top=True` and loading `imagenet` weights, `input_shape` should be "
                         f"{default}, got {input_shape}")
    shape = tuple(input_shape) if input_shape is not None else default if include_top else \
        ((3, None, None) if first else (None, None, 3))
    for size in shape[1:] if first else shape[:-1]:
        if size is not None and size < net.least:
            raise ValueError(f"Input size must be at least {net.least}x{net.least}; got `input_shape={input_shape}`")
    if input_tensor is None:
        return Input(shape=shape)
    if isinstance(input_tensor, Tensor) and not is_keras_tensor(input_tensor):
        return Input(tensor=input_tensor, shape=shape)
    return input_tensor


def finish(net: Net, inputs: Any, x: Any, include_top: bool, weights: Any, pooling_: Any, classes: int,
           pooled: bool = False) -> Any:
    """Return the model, with its head or pooled, and its weights. pooled: whether `x` is what the last layer takes."""
    if include_top:
        if not pooled:
            x = pooling.GlobalAveragePooling2D(name="avg_pool")(x)
        x = core.Dense(classes, activation="softmax", name=net.dense)(x)
    elif pooling_ == "avg":
        x = pooling.GlobalAveragePooling2D()(x)
    elif pooling_ == "max":
        x = pooling.GlobalMaxPooling2D()(x)
    return loaded(net, Model(_source(inputs), x, name=net.name), include_top, weights)


def _source(inputs: Any) -> Any:
    history = inputs._keras_history[0]
    return inputs if not history.inbound_nodes or not getattr(history.inbound_nodes[0], "inbound_layers", None) \
        else history.get_input_at(0)


def loaded(net: Net, model: Any, include_top: bool, weights: Any) -> Any:
    """Return the model with its weights, from a file of ImageNet's or the user's own."""
    if weights == "imagenet":
        place = net.files(include_top)
        model.load_weights(get_file(os.path.basename(place), ORIGIN + place, cache_subdir="models"))
    elif weights is not None:
        model.load_weights(weights)
    return model


def norm(name: str | None = None, **options: Any) -> Any:
    """Return a batch normalization of the channels."""
    return normalization.BatchNormalization(axis=channel_axis(), name=name, **options)


_MEANS = {"caffe": (103.939, 116.779, 123.68), "torch": (0.485, 0.456, 0.406)}
_DEVIATIONS = (0.229, 0.224, 0.225)


def preprocess_input(x: Any, data_format: str | None = None, mode: str = "caffe") -> Any:
    """Return images as models of ImageNet take them.

    x: an array or tensor of RGB images, 0 to 255. data_format: "channels_last" or "channels_first"; None: the default.
    mode: "caffe" (BGR channels, less the means of ImageNet), "tf" (values from -1 to 1) or "torch" (values from 0 to 1,
    normalized by means and deviations). Raises ValueError for another mode or data_format.

    >>> tf.keras.applications.imagenet_utils.preprocess_input(np.full([1, 2, 2, 3], 255.0), mode="tf").max()
    1.0
    """
    data_format = image_data_format() if data_format is None else data_format
    if mode not in ("caffe", "tf", "torch") or data_format not in ("channels_first", "channels_last"):
        raise ValueError("expected a mode caffe, tf or torch and a data_format channels_first or channels_last, got "
                         f"{mode!r} and {data_format!r}")
    first = data_format == "channels_first"
    if isinstance(x, np.ndarray):
        x = x.astype("float32", copy=True) if not np.issubdtype(x.dtype, np.floating) else x
    if mode == "tf":
        return x / 127.5 - 1.0
    rank = len(x.shape)
    wide = [-1 if axis == (rank - 3 if first else rank - 1) else 1 for axis in range(rank)]
    means = np.reshape(np.array(_MEANS[mode], "float32"), wide)
    if mode == "torch":
        return (x / 255.0 - means) / np.reshape(np.array(_DEVIATIONS, "float32"), wide)
    if first:
        return (x[..., ::-1, :, :] if rank == 3 else x[:, ::-1]) - means
    return x[..., ::-1] - means


def preprocessor(mode: str) -> Callable[..., Any]:
    """Return the function that makes inputs of images: "caffe", "tf" or "torch"."""
    what = {"caffe": "BGR channels, less the means of ImageNet", "tf": "values from -1 to 1",
            "torch": "values from 0 to 1, normalized by the means and deviations of ImageNet"}[mode]

    def preprocessed(x: Any, data_format: str | None = None) -> Any:
        return preprocess_input(x, data_format, mode)
    example = {"caffe": ("vgg16", "151.061"), "tf": ("mobilenet", "1.0"), "torch": ("densenet", "2.64")}[mode]
    preprocessed.__name__ = preprocessed.__qualname__ = "preprocess_input"
    preprocessed.__doc__ = f"""Return images as the model takes them: {what}.

    x: an array or tensor of RGB images, 0 to 255. data_format: "channels_last" or "channels_first"; None: the default.

    >>> images = np.full([1, 2, 2, 3], 255.0)
    >>> tf.keras.applications.{example[0]}.preprocess_input(images).max()
    {example[1]}
    """
    return preprocessed


caffe_input, tf_input, torch_input = preprocessor("caffe"), preprocessor("tf"), preprocessor("torch")


def decode_predictions(preds: Any, top: int = 5) -> list[list[tuple[str, str, float]]]:
    """Return the likeliest classes of ImageNet: lists of (WordNet id, name, probability).

    preds: probabilities, (batch, 1000), else ValueError. top: number of classes. The names are read from
    ~/.keras/models/imagenet_class_index.json. Raises OSError where there is neither that file nor a network.

    >>> tf.keras.applications.vgg16.decode_predictions(np.zeros([1, 10]))
    ValueError: `decode_predictions` expects a batch of predictions (samples, 1000). Found shape: (1, 10)
    """
    if len(preds.shape) != 2 or preds.shape[1] != 1000:
        raise ValueError("`decode_predictions` expects a batch of predictions (samples, 1000). Found shape: "
                         f"{tuple(preds.shape)}")
    with open(get_file("imagenet_class_index.json", _CLASSES, cache_subdir="models"), encoding="utf-8") as file:
        names = json.load(file)
    return [[(*names[str(i)], float(row[i])) for i in np.argsort(row)[::-1][:top]] for row in preds]


PLAIN = inspect.cleandoc("""
    include_top: whether the last layers, which classify, are there. weights: "imagenet" (from a file in
    ~/.keras/models), None for random ones, or a file. input_tensor: a tensor for the images. input_shape: their shape.
    pooling: "avg", "max" or None, without the last layers. classes: number of classes. Raises ValueError for arguments
    that exclude each other, OSError where the weights can't be found.
""")


def described(fn: Any) -> Any:
    """Complete the docstring of an architecture by what its arguments are (a decorator)."""
    head, mark, example = inspect.cleandoc(fn.__doc__ or "").partition(">>> ")
    fn.__doc__ = f"{head.rstrip()}\n\n{PLAIN}\n\n{mark}{example}"
    return fn
