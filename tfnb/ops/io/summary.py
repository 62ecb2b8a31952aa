"""Summary ops: values of a graph as serialized Summary messages, for event files and live plots.

Two generations of functions: `tf.summary.scalar(name, x)`, whose tag is the name with its scopes, and r0.x's
`tf.scalar_summary(tags, x)`, with tags of their own. Both enter the op in GraphKeys.SUMMARIES.
"""
from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from math import isfinite
from typing import Any

import numpy as np

from tfnb.core import dtypes
from tfnb.core.arguments import SUMMARIES, describe
from tfnb.core.errors import InvalidArgumentError
from tfnb.core.lazy import lazy_module
from tfnb.core.options import options
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.keys import GraphKeys
from tfnb.graph.parts.operation import Tensor
from tfnb.graph.stack import get_default_graph, name_scope
from tfnb.kernels.arrays import histogram as interpreted
from tfnb.kernels.arrays.histogram import Histogram
from tfnb.kernels.arrays.png import encode_png
from tfnb.kernels.arrays.wav import encode_wav
from tfnb.kernels.library import histogram as compiled
from tfnb.ops.declaration import shapes
from tfnb.ops.declaration.declare import host, scalars

_summary = lazy_module("tfnb.proto.summary_pb2")
_histogram = lazy_module("tfnb.proto.histogram_pb2")

REAL = "realnumbertype"
_SEEN: set[str] = set()                            # the types of ops that have made a histogram in this process
IMAGE_ZERO = 1e-6                                  # an image whose largest number is below this is taken as all zero


def _message(summary: Any) -> np.ndarray:
    return np.array(summary.SerializeToString(), object)


def _text(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def _invalid(ctx: Any, message: str) -> InvalidArgumentError:
    return InvalidArgumentError(None, ctx.op, message)


def _dims(array: np.ndarray) -> str:
    return str(list(array.shape)).replace(" ", "")


@host("tags: string, values: T -> summary: string", role="summary", shape=shapes.scalar, T=REAL)
def ScalarSummary(tags: np.ndarray, values: np.ndarray, *, ctx: Any) -> np.ndarray:
    """Serialize a Summary with one value for each tag; `tags` and `values` have the same shape."""
    if tags.shape != values.shape:
        one = f" (tag '{_text(tags[()])}')" if tags.ndim == 0 else ""
        raise _invalid(ctx, f"tags and values are not the same shape: {_dims(tags)} != {_dims(values)}{one}")
    with np.errstate(over="ignore"):
        numbers = values.astype("<f4").tobytes()
    pieces = [_scalar_head(_text(tag)) + numbers[4 * i:4 * i + 4] for i, tag in enumerate(tags.ravel().tolist())]
    return np.array(b"".join(pieces), object)


@lru_cache(maxsize=4096)
def _scalar_head(tag: str) -> bytes:
    """Return a Summary with one number under `tag`, as bytes, up to the four of the number (which come last)."""
    value = _summary.Summary.Value(tag=tag, simple_value=0.0)
    made: bytes = _summary.Summary(value=[value]).SerializeToString()
    return made[:-4]


@host("tag: string, values: T -> summary: string", role="summary", shape=shapes.scalar, validate=scalars("tag"),
      T="realnumbertype = DT_FLOAT")
def HistogramSummary(tag: np.ndarray, values: np.ndarray, *, ctx: Any) -> np.ndarray:
    """Serialize a Summary with a histogram of all elements of `values`, which must be finite."""
    found = _measured(values, ctx)
    if not isfinite(found.total):                  # else every number is finite
        numbers = values.astype(np.float64)
        if np.isnan(numbers).any():
            raise _invalid(ctx, f"Nan in summary histogram for: {ctx.op.name}")
        if np.isinf(numbers).any():
            raise _invalid(ctx, f"Infinity in Histogram for: {ctx.op.name}")
    value = _summary.Summary.Value(tag=_text(tag[()]), histo=histogram_proto(found))
    return _message(_summary.Summary(value=[value]))


def _measured(values: np.ndarray, ctx: Any) -> Histogram:
    """Return the histogram of an op's values: as with plans, a first one does not wait for a compiler."""
    again = ctx.op.spec.name in _SEEN or options.compile == "always"
    _SEEN.add(ctx.op.spec.name)
    if not again or options.compile == "never" or values.size < compiled.LEAST \
            or values.dtype.name not in compiled.TYPES or not values.flags.c_contiguous:
        return interpreted.histogram(values)
    return compiled.histogram(values)


def histogram_proto(found: Histogram) -> Any:
    """Return a histogram as a HistogramProto."""
    limits, counts = found.buckets()
    return _histogram.HistogramProto(
        min=found.low, max=found.high, num=found.number, sum=found.total, sum_squares=found.squares,
        bucket_limit=limits.tolist(), bucket=counts.astype(np.float64).tolist())      # ints take protobuf 0.1 us each


@host("tag: string, tensor: T -> summary: string", role="summary", shape=shapes.scalar, validate=scalars("tag"),
      max_images="int >= 1 = 3",
      T="{uint8, float, half, double} = DT_FLOAT", bad_color="tensor = DT_UINT8 [255, 0, 0, 255]")
def ImageSummary(tag: np.ndarray, tensor: np.ndarray, *, max_images: int, bad_color: np.ndarray,
                 ctx: Any) -> np.ndarray:
    """Serialize a Summary of up to `max_images` images [batch, height, width, channels], 1, 3 or 4 channels.

    Numbers that are not uint8 are scaled, image by image, to 0...255, or to 128 +- 127 where some are negative;
    pixels that are not finite get `bad_color`.
    """
    if tensor.ndim != 4 or tensor.shape[3] not in (1, 3, 4):
        raise _invalid(ctx, f"Tensor must be 4-D with last dim 1, 3, or 4, not {_dims(tensor)}")
    if not tensor[0:1].size and tensor.shape[0]:
        raise _invalid(ctx, f"input tensor must have non-zero dims. Found: {_dims(tensor)}")
    count, (height, width, depth) = min(max_images, tensor.shape[0]), tensor.shape[1:]
    if len(bad_color) < depth:
        raise _invalid(ctx, f"expected depth <= bad_color.size, got depth = {depth}, bad_color.size = {len(bad_color)}")
    base = f"{_text(tag[()])}/image"
    summary = _summary.Summary()
    for i in range(count):
        value = summary.value.add(tag=f"{base}/{i}" if max_images > 1 else base)
        pixels = tensor[i] if tensor.dtype == np.uint8 else normalized_image(tensor[i], bad_color[:depth])
        value.image.height, value.image.width, value.image.colorspace = height, width, depth
        value.image.encoded_image_string = encode_png(pixels)
    return _message(summary)


def normalized_image(image: np.ndarray, bad_color: np.ndarray) -> np.ndarray:
    """Floating-point pixels [height, width, depth] as uint8, in their own dtype's arithmetic (see ImageSummary)."""
    finite = np.isfinite(image).all(-1)
    good = image[finite]
    low, high = good.min(initial=np.inf), good.max(initial=-np.inf)
    kind = image.dtype.type
    negative = low < 0
    largest = max(abs(low), abs(high)) if negative else high
    scale = kind(0) if largest < IMAGE_ZERO else kind(127 if negative else 255) / kind(largest)
    pixels = np.empty(image.shape, np.uint8)
    pixels[...] = bad_color
    pixels[finite] = (good * scale + kind(128 if negative else 0)).astype(np.uint8)
    return pixels


@host("tag: string, tensor: float, sample_rate: float -> summary: string", role="summary", shape=shapes.scalar,
      validate=scalars("tag", "sample_rate"), max_outputs="int >= 1 = 3")
def AudioSummaryV2(tag: np.ndarray, tensor: np.ndarray, sample_rate: np.ndarray, *, max_outputs: int,
                   ctx: Any) -> np.ndarray:
    """Serialize a Summary of up to `max_outputs` sounds of `tensor` [batch, frames, channels] or [batch, frames]."""
    return _audio(ctx, tag, tensor, float(sample_rate), max_outputs)


@host("tag: string, tensor: float -> summary: string", role="summary", shape=shapes.scalar, validate=scalars("tag"),
      sample_rate="float",
      max_outputs="int >= 1 = 3")
def AudioSummary(tag: np.ndarray, tensor: np.ndarray, *, sample_rate: float, max_outputs: int, ctx: Any) -> np.ndarray:
    """As AudioSummaryV2, with the sample rate as an attr."""
    return _audio(ctx, tag, tensor, sample_rate, max_outputs)


def _audio(ctx: Any, tag: np.ndarray, tensor: np.ndarray, sample_rate: float, max_outputs: int) -> np.ndarray:
    if tensor.ndim not in (2, 3):
        raise _invalid(ctx, f"Tensor must be 3-D or 2-D, got: {_dims(tensor)}")
    sounds = tensor if tensor.ndim == 3 else tensor[:, :, None]
    if not 0 < sample_rate < 2**32:
        raise _invalid(ctx, f"sample_rate must be in (0, 2^32), got: {sample_rate}")
    rate = int(sample_rate + 0.5)
    base = f"{_text(tag[()])}/audio"
    summary = _summary.Summary()
    for i, sound in enumerate(sounds[:max_outputs]):
        audio = summary.value.add(tag=f"{base}/{i}" if max_outputs > 1 else base).audio
        audio.sample_rate = sample_rate
        audio.length_frames, audio.num_channels = sound.shape
        audio.content_type, audio.encoded_audio_string = "audio/wav", encode_wav(sound, rate)
    return _message(summary)


@host("inputs: N * string -> summary: string", role="merged summary", shape=shapes.scalar, N="int >= 1")
def MergeSummary(inputs: Any, *, ctx: Any) -> np.ndarray:
    """Merge the values of all `inputs` into one Summary; a tag may occur once only."""
    tags: set[str] = set()
    pieces = [item for array in inputs for item in array.ravel().tolist()]
    for piece in pieces:
        for value in parsed(ctx, _summary.Summary(), piece, "one of the summary inputs").value:
            if value.tag in tags:
                raise _invalid(ctx, f"Duplicate tag {value.tag} found in summary inputs")
            tags.add(value.tag)
    return np.array(b"".join(pieces), object)      # a message of one repeated field: its parts side by side


@host("tag: string, tensor: T, serialized_summary_metadata: string -> summary: string", role="summary",
      shape=shapes.scalar,
      T="type",
      validate=scalars("tag", "serialized_summary_metadata"))
def TensorSummaryV2(tag: np.ndarray, tensor: np.ndarray, serialized_summary_metadata: Any, *,
                    ctx: Any) -> np.ndarray:
    """Serialize a Summary of a whole tensor, with metadata that names its viewer."""
    value = _summary.Summary.Value(tag=_text(tag[()]))
    value.metadata.SetInParent()
    parsed(ctx, value.metadata, serialized_summary_metadata[()], "a SummaryMetadata")
    store_tensor(value, ctx.op.inputs[1], tensor)
    return _message(_summary.Summary(value=[value]))


@host("tensor: T -> summary: string", role="summary", shape=shapes.scalar, T="type", description="string = ''",
      labels="list(string) = []", display_name="string = ''")
def TensorSummary(tensor: np.ndarray, *, ctx: Any) -> np.ndarray:
    """Serialize a Summary of a whole tensor, under the name of the op (the older op; its attrs are not kept).

    >>> summary = tf.Summary.FromString(sess.run(tf.raw_ops.TensorSummary(tensor=[1.0, 2.0])))
    >>> summary.value[0].node_name
    'TensorSummary'
    """
    value = _summary.Summary.Value(node_name=ctx.op.name)
    store_tensor(value, ctx.op.inputs[0], tensor)
    return _message(_summary.Summary(value=[value]))


def store_tensor(value: Any, given: Tensor, tensor: np.ndarray) -> None:
    """Write an array, the value of `given`, to a value of a Summary."""
    value.tensor.dtype = given.dtype.base_dtype.as_datatype_enum
    value.tensor.tensor_shape.SetInParent()
    for size in tensor.shape:
        value.tensor.tensor_shape.dim.add(size=size)
    if tensor.dtype == object:
        value.tensor.string_val.extend(tensor.ravel())
    else:
        value.tensor.tensor_content = np.ascontiguousarray(tensor).tobytes()


def parsed(ctx: Any, message: Any, data: bytes, what: str) -> Any:
    """Merge serialized `data` into `message` and return it. Raises InvalidArgumentError for what is not of its kind."""
    try:
        message.MergeFromString(data)
    except Exception as error:                     # the protobuf runtime's own class, not worth an import
        raise _invalid(ctx, f"Could not parse {what}: {error}") from None
    return message


for _op in (ScalarSummary, HistogramSummary, ImageSummary, AudioSummary, AudioSummaryV2, MergeSummary,
            TensorSummary, TensorSummaryV2):
    _op.no_gradient("it makes a string")


# ---- tf.summary ------------------------------------------------------------------------------------------------------

def clean_tag(name: str | None) -> str | None:
    """`name` with what no node may be called by made "_", and without slashes before it."""
    return None if name is None else re.sub(r"[^-/\w.]", "_", name).lstrip("/")


@contextmanager
def summary_scope(name: str, family: str | None, values: Sequence[Any]) -> Iterator[tuple[str, str]]:
    """The tag and the name of a summary op, inside its own name scope; the family comes first in both."""
    tidy, family = clean_tag(name), clean_tag(family)
    with name_scope(f"{family}/{tidy}" if family else tidy, values=values) as scope:
        tag = scope.rstrip("/")
        yield f"{family}/{tag}" if family else tag, scope


def _collect(summary: Tensor, collections: Sequence[str] | None, default: Sequence[str]) -> Tensor:
    for key in default if collections is None else collections:
        get_default_graph().add_to_collection(key, summary)
    return summary


_DEFAULT = (GraphKeys.SUMMARIES,)


def scalar(name: str, tensor: Any, collections: Sequence[str] | None = None, family: str | None = None) -> Tensor:
    """Return a summary of one number (`tf.summary.scalar`): a string tensor, in `collections` (GraphKeys.SUMMARIES).

    name: of the node, and with the name scopes around it the tag; family: goes before the tag, to group plots.

    >>> summary = tf.Summary.FromString(sess.run(tf.summary.scalar("loss", 0.5)))
    >>> summary.value[0].tag, summary.value[0].simple_value
    ('loss', 0.5)
    """
    with summary_scope(name, family, [tensor]) as (tag, scope):
        return _collect(ScalarSummary(tag, tensor, name=scope), collections, _DEFAULT)


def histogram(name: str, values: Any, collections: Sequence[str] | None = None, family: str | None = None) -> Tensor:
    """Return a summary of the distribution of `values` of any shape (`tf.summary.histogram`); see `scalar`.

    >>> summary = tf.Summary.FromString(sess.run(tf.summary.histogram("weights", [1.0, 2.0, 3.0])))
    >>> summary.value[0].histo.num, summary.value[0].histo.sum
    (3.0, 6.0)
    """
    with summary_scope(name, family, [values]) as (tag, scope):
        return _collect(HistogramSummary(tag, values, name=scope), collections, _DEFAULT)


def image(name: str, tensor: Any, max_outputs: int = 3, collections: Sequence[str] | None = None,
          family: str | None = None) -> Tensor:
    """Return a summary of images [batch, height, width, channels] (`tf.summary.image`); see `scalar` and ImageSummary.

    The tags are "name/image/0", "name/image/1"..., or "name/image" if `max_outputs` is 1.

    >>> summary = tf.Summary.FromString(sess.run(tf.summary.image("digit", tf.zeros([1, 28, 28, 1]))))
    >>> summary.value[0].tag, summary.value[0].image.height
    ('digit/image/0', 28)
    """
    with summary_scope(name, family, [tensor]) as (tag, scope):
        return _collect(ImageSummary(tag, tensor, max_images=max_outputs, name=scope), collections, _DEFAULT)


def audio(name: str, tensor: Any, sample_rate: Any, max_outputs: int = 3, collections: Sequence[str] | None = None,
          family: str | None = None) -> Tensor:
    """Return a summary of sounds [batch, frames(, channels)] in [-1, 1] (`tf.summary.audio`); see `scalar`.

    sample_rate: in Hertz, also a tensor. The tags are "name/audio/0"..., or "name/audio" if `max_outputs` is 1.

    >>> summary = tf.Summary.FromString(sess.run(tf.summary.audio("tone", tf.zeros([1, 100]), sample_rate=8000)))
    >>> summary.value[0].audio.length_frames
    100
    """
    with summary_scope(name, family, [tensor]) as (tag, scope):
        rate = convert_to_tensor(sample_rate, dtype=dtypes.float32, name="sample_rate")
        made = AudioSummaryV2(tag, tensor, rate, max_outputs=max_outputs, name=scope)
        return _collect(made, collections, _DEFAULT)


def tensor_summary(name: str, tensor: Any, summary_description: str | None = None,
                   collections: Sequence[str] | None = None, summary_metadata: Any = None, family: str | None = None,
                   display_name: str | None = None) -> Tensor:
    """Return a summary of a whole tensor (`tf.summary.tensor_summary`), with a SummaryMetadata for its viewer.

    >>> summary = tf.Summary.FromString(sess.run(tf.summary.tensor_summary("w", tf.constant([1.0, 2.0]))))
    >>> tf.make_ndarray(summary.value[0].tensor)
    array([1., 2.], dtype=float32)
    """
    metadata = _summary.SummaryMetadata()
    if summary_metadata is not None:
        metadata.CopyFrom(summary_metadata)
    metadata.summary_description = summary_description or metadata.summary_description
    metadata.display_name = display_name or metadata.display_name
    with summary_scope(name, family, [tensor]) as (tag, scope):
        made = TensorSummaryV2(tag, tensor, metadata.SerializeToString(), name=scope)
        return _collect(made, collections, _DEFAULT)


def text(name: str, tensor: Any, collections: Sequence[str] | None = None) -> Tensor:
    """Return a summary of strings (`tf.summary.text`). Raises ValueError for a tensor of another dtype.

    >>> summary = tf.Summary.FromString(sess.run(tf.summary.text("note", tf.constant("text"))))
    >>> summary.value[0].tensor.string_val[0]
    b'text'
    """
    tensor = convert_to_tensor(tensor)
    if tensor.dtype.base_dtype != dtypes.string:
        raise ValueError(f"Expected tensor {tensor.name} to have dtype string, got {tensor.dtype}")
    plugin = _summary.SummaryMetadata.PluginData(plugin_name="text")
    return tensor_summary(name, tensor, collections=collections,
                          summary_metadata=_summary.SummaryMetadata(plugin_data=plugin))


def merge(inputs: Sequence[Any], collections: Sequence[str] | None = None, name: str | None = None) -> Tensor:
    """Merge the values of all `inputs` into one summary (`tf.summary.merge`), in no collection by default.

    >>> merged = tf.summary.merge([tf.summary.scalar("loss", 0.5), tf.summary.scalar("rate", 0.1)])
    >>> [value.tag for value in tf.Summary.FromString(sess.run(merged)).value]
    ['loss', 'rate']
    """
    name = clean_tag(name)
    with name_scope(name, "Merge", inputs):
        return _collect(MergeSummary(list(inputs), name=name), collections, ())


def merge_all(key: str = GraphKeys.SUMMARIES, scope: str | None = None, name: str | None = None) -> Tensor | Any:
    """One summary of all in the collection `key` whose names begin with `scope`; None if there is none.

    >>> loss, rate = tf.summary.scalar("loss", 0.5), tf.summary.scalar("rate", 0.1)
    >>> [value.tag for value in tf.Summary.FromString(sess.run(tf.summary.merge_all())).value]
    ['loss', 'rate']
    """
    found = get_default_graph().get_collection(key, scope)
    return merge(found, name=name) if found else None


# ---- r0.x ------------------------------------------------------------------------------------------------------------

def scalar_summary(tags: Any, values: Any, collections: Sequence[str] | None = None,
                   name: str | None = None) -> Tensor:
    """Return a summary of numbers with tags of the same shape (`tf.scalar_summary`, until r0.12).

    >>> summary = tf.Summary.FromString(sess.run(tf.scalar_summary("loss", 0.5)))
    >>> summary.value[0].tag, summary.value[0].simple_value
    ('loss', 0.5)
    """
    with name_scope(name, "ScalarSummary", [tags, values]) as scope:
        return _collect(ScalarSummary(tags, values, name=scope), collections, _DEFAULT)


def histogram_summary(tag: Any, values: Any, collections: Sequence[str] | None = None,
                      name: str | None = None) -> Tensor:
    """Return a summary of the distribution of `values` (`tf.histogram_summary`, until r0.12).

    >>> summary = tf.Summary.FromString(sess.run(tf.histogram_summary("weights", [1.0, 2.0, 3.0])))
    >>> summary.value[0].histo.max
    3.0
    """
    with name_scope(name, "HistogramSummary", [tag, values]) as scope:
        return _collect(HistogramSummary(tag, values, name=scope), collections, _DEFAULT)


def image_summary(tag: Any, tensor: Any, max_images: int = 3, collections: Sequence[str] | None = None,
                  name: str | None = None) -> Tensor:
    """Return a summary of images [batch, height, width, channels] (`tf.image_summary`, until r0.12).

    >>> summary = tf.Summary.FromString(sess.run(tf.image_summary("digit", tf.zeros([1, 28, 28, 1]))))
    >>> summary.value[0].image.width
    28
    """
    with name_scope(name, "ImageSummary", [tag, tensor]) as scope:
        return _collect(ImageSummary(tag, tensor, max_images=max_images, name=scope), collections, _DEFAULT)


def merge_summary(inputs: Sequence[Any], collections: Sequence[str] | None = None, name: str | None = None) -> Tensor:
    """One summary with the values of all `inputs` (`tf.merge_summary`, until r0.12).

    >>> merged = tf.merge_summary([tf.scalar_summary("loss", 0.5), tf.scalar_summary("rate", 0.1)])
    >>> len(tf.Summary.FromString(sess.run(merged)).value)
    2
    """
    with name_scope(name, "MergeSummary", inputs):
        return _collect(MergeSummary(list(inputs), name=name), collections, ())


def merge_all_summaries(key: str = GraphKeys.SUMMARIES) -> Tensor | Any:
    """One summary of all in the collection `key` (`tf.merge_all_summaries`, until r0.12); None if there is none.

    >>> loss = tf.scalar_summary("loss", 0.5)
    >>> len(tf.Summary.FromString(sess.run(tf.merge_all_summaries())).value)
    1
    """
    found = get_default_graph().get_collection(key)
    return merge_summary(found) if found else None


def audio_summary(tag: Any, tensor: Any, sample_rate: Any, max_outputs: int = 3,
                  collections: Sequence[str] | None = None, name: str | None = None) -> Tensor:
    """Return a summary of sounds (`tf.audio_summary`, until r0.12); see `audio`.

    >>> summary = tf.Summary.FromString(sess.run(tf.audio_summary("tone", tf.zeros([1, 100]), sample_rate=8000)))
    >>> summary.value[0].audio.sample_rate
    8000.0
    """
    with name_scope(name, "AudioSummary", [tag, tensor]) as scope:
        rate = convert_to_tensor(sample_rate, dtype=dtypes.float32, name="sample_rate")
        return _collect(AudioSummaryV2(tag, tensor, rate, max_outputs=max_outputs, name=scope), collections, _DEFAULT)


describe(globals(), SUMMARIES)
