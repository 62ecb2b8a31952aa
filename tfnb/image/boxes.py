"""Bounding boxes in images: crop and resize, non-maximum suppression, random boxes, drawing, glimpses."""
from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from tfnb.core import dtypes
from tfnb.core.arguments import IMAGES, describe
from tfnb.core.options import has_compiler
from tfnb.core.shape import Static, compatible, is_known, merge
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.stack import name_scope
from tfnb.image.resize import size_pair
from tfnb.kernels.arrays import boxes as arrays
from tfnb.kernels.arrays import sample_box
from tfnb.kernels.arrays.philox import entropy
from tfnb.kernels.library.checks import BAD_BOX, Check
from tfnb.kernels.library.image import crops as kernels
from tfnb.kernels.library.image import windows
from tfnb.kernels.library.image.suppression import suppressed
from tfnb.ops.array.reshape import shape
from tfnb.ops.declaration.arguments import renamed
from tfnb.ops.declaration.construct import Constructor
from tfnb.ops.declaration.declare import kernel, random
from tfnb.ops.declaration.shapes import of_rank
from tfnb.ops.nn.conv import rank4
from tfnb.ops.random.random_ops import SEEDS

if TYPE_CHECKING:
    from tfnb.graph.graph import ShapeContext

MANY_OBJECTS = 8                              # of which a loop of Python takes 5 us
PIXELS = "{uint8, uint16, int8, int16, int32, int64, half, float, double}"
SCORED = {"T": "{half, float} = DT_FLOAT", "T_threshold": "{half, float} = DT_FLOAT"}


# Crops

def _boxes(ctx: ShapeContext, i: int) -> int | None:
    """Return the number of boxes by inputs i (boxes) and i + 1 (their images). Raises ValueError where they differ."""
    count, four = of_rank(ctx.shape(i), 2)
    merge((count,), of_rank(ctx.shape(i + 1), 1))
    if four not in (4, None):
        raise ValueError(f"Dimension must be 4 but is {four}")
    return count if count is not None else of_rank(ctx.shape(i + 1), 1)[0]


def _cropped(ctx: ShapeContext) -> list[Static]:
    channels = rank4(ctx.shape(0))[3]
    return [(_boxes(ctx, 1), *size_pair(ctx, 3), channels)]


def _image_shape(ctx: ShapeContext) -> list[Static]:
    rank4(ctx.shape(0))
    _boxes(ctx, 1)
    of_rank(ctx.shape(3), 1)
    return [rank4(ctx.partial(3))]


def _boxes_shape(ctx: ShapeContext) -> list[Static]:
    rank4(ctx.shape(0))
    rank4(ctx.shape(1))
    _boxes(ctx, 2)
    return [ctx.shape(2)]


def _is_nearest(ctx: Any) -> bool:
    return bool(ctx.attrs["method"] == b"nearest")


def _positive(what: str, sizes: Any) -> None:
    """Raise ValueError for crops or images without pixels."""
    if min(sizes) <= 0:
        raise ValueError(f"{what} dimensions must be positive, got {[int(n) for n in sizes]}")


def _validate_crop(ctx: Any) -> None:
    _positive("crop", ctx.value(3))
    _positive("image", ctx.shape(0)[1:3])


def _validate_gradient(ctx: Any) -> None:
    """Raise ValueError for grads that are not those of the crops of such images."""
    grads, into_image = ctx.shape(0), ctx.op.spec.inputs[1].name == "boxes"
    image = ctx.value(3).tolist() if into_image else ctx.shape(1)
    count = ctx.shape(1 if into_image else 2)[0]
    if image[3] != grads[3]:
        raise ValueError(f"{'image_size' if into_image else 'image'} and grads are incompatible: {image[3]} and "
                         f"{grads[3]} channels")
    if count != grads[0]:
        raise ValueError(f"boxes and grads have incompatible shape: {count} and {grads[0]} crops")
    if min(image) < 0:
        raise ValueError(f"image_size must not be negative, got {image}")
    _positive("image", image[1:3])
    _positive("grads", grads[1:3])


def _crop(ctx: Any, image: np.ndarray, boxes: np.ndarray, owner: np.ndarray, size: np.ndarray) -> np.ndarray:
    return arrays.crops(image, boxes, owner, tuple(size.tolist()), _is_nearest(ctx), ctx.attrs["extrapolation_value"])


def _crop_image(ctx: Any, grads: np.ndarray, boxes: np.ndarray, owner: np.ndarray, size: np.ndarray) -> np.ndarray:
    dtype = ctx.attrs["T"].as_numpy_dtype
    wide = grads.astype(np.float64 if dtype == np.float64 else np.float32)
    return arrays.crops_image_gradient(wide, boxes, owner, tuple(size.tolist()), _is_nearest(ctx)).astype(dtype)


@kernel("image: T, boxes: float, box_ind: int32, crop_size: int32 -> crops: float", shape=_cropped, numpy=_crop,
        launch=kernels.crop, validate=_validate_crop, values=("crop_size",), T=PIXELS,
        method="{'bilinear', 'nearest'} = 'bilinear'",
        extrapolation_value="float = 0")
def CropAndResize() -> None:
    """Crop boxes of images and resize each to `crop_size`."""


@kernel("grads: float, boxes: float, box_ind: int32, image_size: int32 -> output: T", shape=_image_shape,
        numpy=_crop_image, launch=kernels.image_gradient, validate=_validate_gradient,
        values=("image_size",), T="{float, half, double}",
        method="{'bilinear', 'nearest'} = 'bilinear'")
def CropAndResizeGradImage() -> None:
    """Compute the gradient of CropAndResize for images of `image_size`."""


@kernel("grads: float, image: T, boxes: float, box_ind: int32 -> output: float", shape=_boxes_shape,
        numpy=lambda ctx, *given: arrays.crops_boxes_gradient(*given), launch=kernels.boxes_gradient, T=PIXELS,
        validate=_validate_gradient,
        method="{'bilinear'} = 'bilinear'")
def CropAndResizeGradBoxes() -> None:
    """Compute the gradient of CropAndResize for the boxes."""


@CropAndResize.checked
def _(ctx: Any) -> list[Check]:
    return [Check(2, BAD_BOX, ctx.shape(0)[0])]


@CropAndResizeGradImage.checked
def _(ctx: Any) -> list[Check]:
    return [Check(2, BAD_BOX, int(ctx.value(3)[0]))]


@CropAndResizeGradBoxes.checked
def _(ctx: Any) -> list[Check]:
    return [Check(3, BAD_BOX, ctx.shape(1)[0])]


@CropAndResize.gradient
def _(op: Operation, dy: Tensor) -> list[Tensor | None]:
    image, boxes, owner = op.inputs[:3]
    size = list(image.static or ()) if is_known(image.static) else shape(image)
    into = None
    if image.dtype in (dtypes.float16, dtypes.float32, dtypes.float64):
        into = CropAndResizeGradImage(dy, boxes, owner, size, T=image.dtype, method=op.attrs["method"])
    return [into, CropAndResizeGradBoxes(dy, image, boxes, owner), None, None]


for _op in (CropAndResizeGradImage, CropAndResizeGradBoxes):
    _op.no_gradient("as in TensorFlow, there is one order only")


# Suppression

def _kept(ctx: ShapeContext) -> list[Static]:
    boxes, scores = of_rank(ctx.shape(0), 2), of_rank(ctx.shape(1), 1)
    if boxes[0] is not None and scores[0] is not None and boxes[0] != scores[0]:
        raise ValueError(f"Dimensions must be equal, but are {boxes[0]} and {scores[0]}")
    if ctx.op.spec.inputs[0].name == "overlaps":
        if None not in boxes and boxes[0] != boxes[1]:
            raise ValueError(f"Dimensions must be equal, but are {boxes[0]} and {boxes[1]}")
    elif boxes[1] not in (4, None):
        raise ValueError(f"Dimension must be 4 but is {boxes[1]}")
    for i in range(2, len(ctx.op.inputs)):
        of_rank(ctx.shape(i), 0)
    most = ctx.value(2) if ctx.attrs.get("pad_to_max_output_size") else None
    vector = (None if most is None else int(most),)
    return [() if arg.name == "valid_outputs" else vector for arg in ctx.op.spec.outputs]


def _suppress(ctx: Any, boxes: np.ndarray, scores: np.ndarray, most: np.ndarray, threshold: Any = None,
              least: Any = -np.inf, sigma: Any = 0.0) -> tuple[np.ndarray, ...]:
    threshold = ctx.attrs["iou_threshold"] if threshold is None else threshold
    overlaps = ctx.op.spec.inputs[0].name == "overlaps"
    if not overlaps and not 0 <= threshold <= 1:
        raise ValueError("iou_threshold must be in [0, 1]")
    if most < 0:
        raise ValueError("max_output_size must be non-negative")
    kept, values = suppressed(boxes.astype(np.float32), scores, int(most), float(threshold), float(least), float(sigma),
                              overlaps)
    pad = int(most) - len(kept) if ctx.attrs.get("pad_to_max_output_size") else 0
    indices, found = np.array(kept + [0] * pad, np.int32), np.array(values + [0.0] * pad, scores.dtype)
    by_name = {"selected_indices": indices, "selected_scores": found, "valid_outputs": np.array(len(kept), np.int32)}
    return tuple(by_name[arg.name] for arg in ctx.op.spec.outputs)


def _suppression(signature: str, **attrs: Any) -> Callable[[Callable[..., Any]], Constructor]:
    return kernel(signature, shape=_kept, numpy=_suppress, values=("max_output_size",), **attrs)


@_suppression("boxes: float, scores: float, max_output_size: int32 -> selected_indices: int32",
              iou_threshold="float = 0.5")
def NonMaxSuppression() -> None:
    """Return the indices of boxes kept by greedy non-maximum suppression, highest score first."""


@_suppression("boxes: T, scores: T, max_output_size: int32, iou_threshold: T_threshold -> selected_indices: int32",
              **SCORED)
def NonMaxSuppressionV2() -> None:
    """As NonMaxSuppression, with the overlap threshold as an input."""


@_suppression("boxes: T, scores: T, max_output_size: int32, iou_threshold: T_threshold, "
              "score_threshold: T_threshold -> selected_indices: int32", **SCORED)
def NonMaxSuppressionV3() -> None:
    """As NonMaxSuppressionV2, of boxes with scores over a threshold."""


@_suppression("boxes: T, scores: T, max_output_size: int32, iou_threshold: T_threshold, "
              "score_threshold: T_threshold -> selected_indices: int32, valid_outputs: int32", **SCORED,
              pad_to_max_output_size="bool = false")
def NonMaxSuppressionV4() -> None:
    """As NonMaxSuppressionV3, padded with zeros on demand, and the number of valid indices."""


@_suppression("boxes: T, scores: T, max_output_size: int32, iou_threshold: T, score_threshold: T, soft_nms_sigma: T -> "
              "selected_indices: int32, selected_scores: T, valid_outputs: int32", T=SCORED["T"],
              pad_to_max_output_size="bool = false")
def NonMaxSuppressionV5() -> None:
    """As NonMaxSuppressionV4, also soft: the scores of overlapping boxes decay."""


@_suppression("overlaps: float, scores: float, max_output_size: int32, overlap_threshold: float, "
              "score_threshold: float -> selected_indices: int32")
def NonMaxSuppressionWithOverlaps() -> None:
    """As NonMaxSuppressionV3, with a matrix of overlaps."""


for _op in (NonMaxSuppression, NonMaxSuppressionV2, NonMaxSuppressionV3, NonMaxSuppressionV4, NonMaxSuppressionV5,
            NonMaxSuppressionWithOverlaps):
    _op.no_gradient("it chooses")


# Random boxes

def _sampled(ctx: ShapeContext) -> list[Static]:
    if not compatible(ctx.shape(0), (3,)):
        raise ValueError(f"Dimension must be 3 but is {of_rank(ctx.shape(0), 1)[0]}")
    if of_rank(ctx.shape(1), 3)[2] not in (4, None):
        raise ValueError("bounding_boxes must have shape [batch, N, 4]")
    if len(ctx.op.inputs) > 2:
        of_rank(ctx.shape(2), 0)
    return [(3,), (3,), (1, 1, 4)]


def _sample(ctx: Any, size: np.ndarray, boxes: np.ndarray, covered: Any = None) -> tuple[np.ndarray, ...]:
    attrs = ctx.attrs
    wanted = sample_box.Wanted(float(attrs["min_object_covered"] if covered is None else covered),
                               tuple(attrs["aspect_ratio_range"]), tuple(attrs["area_range"]), attrs["max_attempts"])
    height, width, _ = size.tolist()
    boxes = boxes.reshape(-1, 4)
    by_kernel = has_compiler() and len(boxes) >= MANY_OBJECTS
    found = sample_box.objects(height, width, boxes, attrs["use_image_if_no_bounding_boxes"],
                               windows.in_pixels if by_kernel else None)
    y, x, rows, columns = sample_box.draw(ctx.state, height, width, found, wanted,
                                          windows.covers if by_kernel else sample_box.covers)
    box = np.array([y / height, x / width, (y + rows) / height, (x + columns) / width], np.float32)
    begin, extent = (np.array(numbers).astype(size.dtype) for numbers in ([y, x, 0], [rows, columns, -1]))
    return begin, extent, box.reshape(1, 1, 4)


_RANGES: dict[str, Any] = {**SEEDS, "min_object_covered": "float = 0.1",
                           "aspect_ratio_range": "list(float) = [0.75, 1.3300000429153442]",
                           "area_range": "list(float) = [0.05000000074505806, 1.0]", "max_attempts": "int = 100",
                           "use_image_if_no_bounding_boxes": "bool = false"}
_SIZES = "{uint8, int8, int16, int32, int64}"


@random("image_size: T, bounding_boxes: float -> begin: T, size: T, bboxes: float", shape=_sampled, numpy=_sample,
        T=_SIZES, **_RANGES)
def SampleDistortedBoundingBox() -> None:
    """Sample a random box of an image that covers enough of one of the given boxes: begin, size, and the box."""


@random("image_size: T, bounding_boxes: float, min_object_covered: float -> begin: T, size: T, bboxes: float",
        shape=_sampled, numpy=_sample, T=_SIZES, **{k: v for k, v in _RANGES.items() if k != "min_object_covered"})
def SampleDistortedBoundingBoxV2() -> None:
    """As SampleDistortedBoundingBox, with the minimum covered fraction as an input."""


for _op in (SampleDistortedBoundingBox, SampleDistortedBoundingBoxV2):
    _op.no_gradient("it is drawn, not computed")


# Drawing and glimpses

def _drawn_shape(ctx: ShapeContext) -> list[Static]:
    if rank4(ctx.shape(0))[3] not in (1, 3, 4, None):
        raise ValueError("Channel depth should be either 1 (GRY), 3 (RGB), or 4 (RGBA)")
    if of_rank(ctx.shape(1), 3)[2] not in (4, None):
        raise ValueError("boxes must have shape [batch, N, 4]")
    return [ctx.shape(0)]


def _draw(ctx: Any, images: np.ndarray, boxes: np.ndarray, colors: Any = None) -> np.ndarray:
    if len(boxes) != len(images):
        raise ValueError(f"The batch sizes should be the same, got {len(images)} images and boxes of {len(boxes)}")
    if colors is None or not colors.size:
        colors = arrays.COLORS if images.shape[3] > 1 else np.ones_like(arrays.COLORS)
    return windows.drawn(images, boxes, colors)


@kernel("images: T, boxes: float -> output: T", shape=_drawn_shape, numpy=_draw, T=SCORED["T"])
def DrawBoundingBoxes() -> None:
    """Draw the edges of boxes on images."""


@kernel("images: T, boxes: float, colors: float -> output: T", shape=_drawn_shape, numpy=_draw, T=SCORED["T"])
def DrawBoundingBoxesV2() -> None:
    """As DrawBoundingBoxes, in given colors."""


def _glimpsed(ctx: ShapeContext) -> list[Static]:
    batch, _, _, channels = rank4(ctx.shape(0))
    given = of_rank(ctx.shape(2), 2)
    if given[1] not in (2, None):
        raise ValueError(f"Dimension must be 2 but is {given[1]}")
    found = merge((batch,), (given[0],)) or (None,)
    return [(found[0], *size_pair(ctx, 1), channels)]


def _glimpse(ctx: Any, images: np.ndarray, size: np.ndarray, offsets: np.ndarray,
             corner: Callable[..., np.ndarray] = arrays.glimpse_corner) -> np.ndarray:
    def fill(sizes: tuple[int, ...]) -> np.ndarray:
        if ctx.attrs["uniform_noise"]:
            return np.random.default_rng(entropy()).uniform(images.min(), images.max(), sizes)
        if ctx.attrs["noise"] == b"gaussian":
            return np.random.default_rng(entropy()).standard_normal(sizes, np.float32)
        return np.zeros(sizes, np.float32)
    sizes, whole = size.tolist(), images.shape[1:3]
    starts = arrays.pixels(np.stack([corner(offsets[:, i].astype(np.float32), whole[i], sizes[i], ctx.attrs["centered"],
                                            ctx.attrs["normalized"]) for i in (0, 1)], 1))
    made = (images.shape[0], *sizes, images.shape[3])
    inside = not starts.size or (starts.min() >= 0 and (starts + size <= whole).all())
    out = np.empty(made, images.dtype) if inside else fill(made).astype(images.dtype, copy=False)
    (windows if has_compiler() else arrays).copy_windows(images, starts, out)
    return out


_GLIMPSE: dict[str, Any] = {"shape": _glimpsed, "values": ("size",), "centered": "bool = true",
                            "normalized": "bool = true", "uniform_noise": "bool = true", "noise": "string = 'uniform'"}


@kernel("input: float, size: int32, offsets: float -> glimpse: float", numpy=_glimpse, **_GLIMPSE)
def ExtractGlimpse() -> None:
    """Extract a window of `size` around an offset of each image; noise outside of the image."""


@kernel("input: float, size: int32, offsets: float -> glimpse: float", **_GLIMPSE,
        numpy=partial(_glimpse, corner=arrays.glimpse_corner2))
def ExtractGlimpseV2() -> None:
    """As ExtractGlimpse; an offset is that of the window's middle only if normalized and centered, else of its corner.

    >>> image = tf.reshape(tf.range(16.0), [1, 4, 4, 1])
    >>> corner = tf.raw_ops.ExtractGlimpseV2(input=image, size=[2, 2], offsets=[[0.0, 1.0]], centered=False,
    ...                                      normalized=False)
    >>> sess.run(tf.squeeze(corner))
    array([[1., 2.],
           [5., 6.]], dtype=float32)
    """


for _op in (DrawBoundingBoxes, DrawBoundingBoxesV2, ExtractGlimpse, ExtractGlimpseV2):
    _op.no_gradient("as in TensorFlow")


# What users call

def crop_and_resize(image: Any, boxes: Any, box_ind: Any = None, crop_size: Any = None, method: str = "bilinear",
                    extrapolation_value: float = 0, name: str | None = None, box_indices: Any = None) -> Tensor:
    """Crop boxes of images [batch, height, width, channels] and resize each: [boxes, *crop_size, channels].

    boxes: [boxes, 4], (y1, x1, y2, x2) in [0, 1]; with y1 > y2 a crop is upside down. box_ind (or box_indices): the
    image of each. method: "bilinear" or "nearest". extrapolation_value: what is where there is no image.

    >>> image = tf.reshape(tf.range(16.0), [1, 4, 4, 1])
    >>> crops = tf.image.crop_and_resize(image, boxes=[[0.0, 0.0, 1.0, 1.0]], box_ind=[0], crop_size=[2, 2])
    >>> sess.run(tf.squeeze(crops))
    array([[ 0.,  3.],
           [12., 15.]], dtype=float32)
    """
    owner = renamed("box_indices", box_indices, "box_ind", box_ind)
    tensor: Tensor = CropAndResize(image, boxes, owner, crop_size, method=method,
                                   extrapolation_value=extrapolation_value, name=name)
    return tensor


def _limits(**values: Any) -> list[Tensor]:
    return [convert_to_tensor(value, name=name) for name, value in values.items()]


def non_max_suppression(boxes: Any, scores: Any, max_output_size: Any, iou_threshold: Any = 0.5,
                        score_threshold: Any = float("-inf"), name: str | None = None) -> Tensor:
    """Return indices of at most `max_output_size` boxes kept by greedy non-maximum suppression, highest score first.

    boxes: [boxes, 4], corners in any order; scores: [boxes]. iou_threshold: how much two may share of what they cover.

    >>> boxes = [[0.0, 0.0, 1.0, 1.0], [0.0, 0.1, 1.0, 1.0], [0.0, 2.0, 1.0, 3.0]]
    >>> sess.run(tf.image.non_max_suppression(boxes, [0.8, 0.9, 0.5], max_output_size=3))
    array([1, 2], dtype=int32)
    """
    with name_scope(name, "non_max_suppression"):
        limits = _limits(iou_threshold=iou_threshold, score_threshold=score_threshold)
        tensor: Tensor = NonMaxSuppressionV3(boxes, scores, max_output_size, *limits)
        return tensor


def non_max_suppression_padded(boxes: Any, scores: Any, max_output_size: Any, iou_threshold: Any = 0.5,
                               score_threshold: Any = float("-inf"), pad_to_max_output_size: bool = False,
                               name: str | None = None) -> tuple[Tensor, Tensor]:
    """As `non_max_suppression`, padded with zeros to `max_output_size`, and the number of valid indices.

    >>> boxes = [[0.0, 0.0, 1.0, 1.0], [0.0, 0.1, 1.0, 1.0], [0.0, 2.0, 1.0, 3.0]]
    >>> indices, count = tf.image.non_max_suppression_padded(boxes, [0.8, 0.9, 0.5], 4, pad_to_max_output_size=True)
    >>> sess.run([indices, count])
    [array([1, 2, 0, 0], dtype=int32), 2]
    """
    with name_scope(name, "non_max_suppression_padded"):
        limits = _limits(iou_threshold=iou_threshold, score_threshold=score_threshold)
        indices, valid = NonMaxSuppressionV4(boxes, scores, max_output_size, *limits,
                                             pad_to_max_output_size=pad_to_max_output_size)
        return indices, valid


def non_max_suppression_with_scores(boxes: Any, scores: Any, max_output_size: Any, iou_threshold: Any = 0.5,
                                    score_threshold: Any = float("-inf"), soft_nms_sigma: Any = 0.0,
                                    name: str | None = None) -> tuple[Tensor, Tensor]:
    """As `non_max_suppression`, with the scores; soft_nms_sigma > 0: scores of overlapping boxes decay instead.

    >>> boxes = [[0.0, 0.0, 1.0, 1.0], [0.0, 0.1, 1.0, 1.0], [0.0, 2.0, 1.0, 3.0]]
    >>> indices, scores = tf.image.non_max_suppression_with_scores(boxes, [0.8, 0.9, 0.5], max_output_size=3)
    >>> sess.run([indices, scores])
    [array([1, 2], dtype=int32), array([0.9, 0.5], dtype=float32)]
    """
    with name_scope(name, "non_max_suppression_with_scores"):
        limits = _limits(iou_threshold=iou_threshold, score_threshold=score_threshold, soft_nms_sigma=soft_nms_sigma)
        indices, found, _ = NonMaxSuppressionV5(boxes, scores, max_output_size, *limits)
        return indices, found


def non_max_suppression_overlaps(overlaps: Any, scores: Any, max_output_size: Any, overlap_threshold: Any = 0.5,
                                 score_threshold: Any = float("-inf"), name: str | None = None) -> Tensor:
    """As `non_max_suppression`, with a matrix of the overlap of each pair of boxes.

    >>> overlaps = [[1.0, 0.9, 0.0], [0.9, 1.0, 0.0], [0.0, 0.0, 1.0]]
    >>> sess.run(tf.image.non_max_suppression_overlaps(overlaps, [0.8, 0.9, 0.5], max_output_size=3))
    array([1, 2], dtype=int32)
    """
    with name_scope(name, "non_max_suppression_overlaps"):
        limit = _limits(overlap_threshold=overlap_threshold)
        tensor: Tensor = NonMaxSuppressionWithOverlaps(overlaps, scores, max_output_size, *limit, score_threshold)
        return tensor


Sampled = namedtuple("SampleDistortedBoundingBoxV2", ["begin", "size", "bboxes"])   # type: ignore[name-match]


def sample_distorted_bounding_box(image_size: Any, bounding_boxes: Any, seed: int | None = None,
                                  seed2: int | None = None, min_object_covered: Any = 0.1,
                                  aspect_ratio_range: Any = None, area_range: Any = None,
                                  max_attempts: int | None = None, use_image_if_no_bounding_boxes: bool | None = None,
                                  name: str | None = None) -> Sampled:
    """Return (begin, size, bboxes) of a random part of an image, for tf.slice and for `draw_bounding_boxes`.

    image_size: [height, width, channels]. bounding_boxes: [batch, boxes, 4] in [0, 1], of which the part covers at
    least `min_object_covered` of one. aspect_ratio_range: of width / height; area_range: of the image. After
    max_attempts (100) it is the whole image. seed and seed2 are those of the op: that of the graph does not count.

    >>> whole = [[[0.0, 0.0, 1.0, 1.0]]]
    >>> begin, size, box = tf.image.sample_distorted_bounding_box([20, 20, 3], whole, min_object_covered=0.5)
    >>> crop = tf.slice(tf.zeros([20, 20, 3]), begin, size)
    >>> sess.run(crop).ndim
    3
    """
    with name_scope(name, "sample_distorted_bounding_box"):
        return Sampled(*SampleDistortedBoundingBoxV2(
            image_size, bounding_boxes, min_object_covered, seed=seed, seed2=seed2,
            aspect_ratio_range=aspect_ratio_range, area_range=area_range, max_attempts=max_attempts,
            use_image_if_no_bounding_boxes=use_image_if_no_bounding_boxes, name=name))


def draw_bounding_boxes(images: Any, boxes: Any, name: str | None = None, colors: Any = None) -> Tensor:
    """Draw boxes [batch, boxes, 4], (y1, x1, y2, x2) in [0, 1], on images [batch, height, width, channels].

    colors: [colors, 4], RGBA, for the boxes in turns; None for ten of its own.

    >>> image = tf.image.draw_bounding_boxes(tf.zeros([1, 3, 4, 1]), [[[0.0, 0.0, 1.0, 1.0]]])
    >>> sess.run(tf.squeeze(image))
    array([[1., 1., 1., 1.],
           [1., 0., 0., 1.],
           [1., 1., 1., 1.]], dtype=float32)
    """
    tensor: Tensor = DrawBoundingBoxes(images, boxes, name=name) if colors is None else \
        DrawBoundingBoxesV2(images, boxes, colors, name=name)
    return tensor


def extract_glimpse(input: Any, size: Any, offsets: Any, centered: bool = True, normalized: bool = True,
                    uniform_noise: bool = True, name: str | None = None) -> Tensor:
    """Extract a window (height, width) of each image [batch, height, width, channels], around offsets [batch, 2].

    offsets: of the middle of the part, in parts of the image if `normalized`, else in pixels; with `centered` half of
    them counts, from the middle of the image. Where there is no image is noise in the range of the images.

    >>> image = tf.reshape(tf.range(16.0), [1, 4, 4, 1])
    >>> sess.run(tf.squeeze(tf.image.extract_glimpse(image, [2, 2], offsets=[[0.0, 0.0]])))
    array([[ 5.,  6.],
           [ 9., 10.]], dtype=float32)
    """
    tensor: Tensor = ExtractGlimpse(input, size, offsets, centered=centered, normalized=normalized,
                                    uniform_noise=uniform_noise, name=name)
    return tensor


describe(globals(), IMAGES)
