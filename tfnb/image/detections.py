"""Detections of many classes: non-maximum suppression of each class, and the best of all classes."""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tfnb.core.arguments import IMAGES, describe
from tfnb.core.options import has_compiler
from tfnb.core.shape import Static, merge
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.operation import Tensor
from tfnb.graph.stack import name_scope
from tfnb.kernels.library.image.suppression import of_classes, suppressed
from tfnb.ops.declaration.declare import kernel
from tfnb.ops.declaration.shapes import of_rank
from tfnb.ops.nn.conv import rank4

if TYPE_CHECKING:
    from tfnb.graph.graph import ShapeContext


def _shapes(ctx: ShapeContext) -> list[Static]:
    boxes, scores = rank4(ctx.shape(0)), of_rank(ctx.shape(1), 3)
    batch, _ = merge(boxes[:2], scores[:2]) or (None, None)
    if boxes[3] not in (4, None):
        raise ValueError(f"Dimension must be 4 but is {boxes[3]}")
    if boxes[2] not in (1, scores[2]) and None not in (boxes[2], scores[2]):
        raise ValueError("third dimension of boxes must be either 1 or equal to the third dimension of scores, got "
                         f"{boxes[2]} and {scores[2]}")
    count = _count(ctx, scores[2])
    return [(batch, count, 4), (batch, count), (batch, count), (batch,)]


def _count(ctx: ShapeContext, classes: int | None) -> int | None:
    """Return the number of detections of an image. Raises ValueError for sizes that are not positive."""
    each, most = (None if ctx.value(i) is None else int(ctx.value(i)) for i in (2, 3))      # type: ignore[arg-type]
    if most is not None and most <= 0:
        raise ValueError(f"max_total_size should be > 0, got {most}")
    if each is not None and each < 0:
        raise ValueError(f"max_output_size_per_class must be non-negative but is {each}")
    if most is None or not ctx.attrs["pad_per_class"]:
        return most
    return None if each is None or classes is None else min(each * classes, most)


def _validate(ctx: Any) -> None:
    each, threshold = ctx.value(2), ctx.value(4)
    if each is not None and each <= 0:
        raise ValueError(f"max_output_size_per_class must be positive, got {int(each)}")
    if threshold is not None and not 0 <= threshold <= 1:
        raise ValueError(f"iou_threshold must be in [0, 1], got {float(threshold)}")


def _detect(ctx: Any, boxes: np.ndarray, scores: np.ndarray, each: np.ndarray, most: np.ndarray, threshold: np.ndarray,
            least: np.ndarray) -> tuple[np.ndarray, ...]:
    classes = scores.shape[2]
    count = min(int(each) * classes, int(most)) if ctx.attrs["pad_per_class"] else int(most)
    found_boxes = np.zeros((len(boxes), count, 4), np.float32)
    found_scores, found_classes = np.zeros((2, len(boxes), count), np.float32)
    valid = np.zeros(len(boxes), np.int32)
    if has_compiler() and scores.size:
        return _detected(boxes, scores, int(each), count, float(threshold), float(least), ctx.attrs["clip_boxes"])
    for n in range(len(boxes)):
        found = [d for c in range(classes) for d in _of_class(boxes[n], scores[n], c, int(each), threshold, least)]
        kept = sorted(found, key=lambda d: -d[0])[:count]
        valid[n] = len(kept)
        for i, (score, c, box) in enumerate(kept):
            found_boxes[n, i], found_scores[n, i], found_classes[n, i] = box, score, c
    if ctx.attrs["clip_boxes"]:
        found_boxes = np.clip(found_boxes, 0, 1)
    return found_boxes, found_scores, found_classes, valid


def _detected(boxes: np.ndarray, scores: np.ndarray, each: int, count: int, threshold: float, least: float,
              clips: bool) -> tuple[np.ndarray, ...]:
    """Return what `_detect` does, all images at once."""
    images, size, classes = scores.shape
    kept, totals = of_classes(boxes, scores, min(each, size), threshold, least)
    image, label = np.arange(images)[:, None, None], np.arange(classes)[:, None]
    held = np.where(np.arange(kept.shape[2]) < totals[:, :, None], scores[image, kept, label], -np.inf)
    held = held.reshape(images, -1)
    best = np.argsort(-held, axis=1, kind="stable")[:, :count]              # those of a class before it come first
    valid, image = np.minimum(totals.sum(1), count).astype(np.int32), np.arange(images)[:, None]
    places, labels = kept.reshape(images, -1)[image, best], best // kept.shape[2]
    there = np.arange(best.shape[1]) < valid[:, None]
    chosen = boxes[image, places, np.minimum(labels, boxes.shape[2] - 1)]
    parts = (np.clip(chosen, 0, 1) if clips else chosen, held[image, best], labels)
    made = [np.zeros((images, count, *part.shape[2:]), np.float32) for part in parts]
    for whole, part in zip(made, parts, strict=True):
        whole[:, :best.shape[1]][there] = part[there]
    return *made, valid


def _of_class(boxes: np.ndarray, scores: np.ndarray, c: int, each: int, threshold: Any,
              least: Any) -> Sequence[tuple[float, int, np.ndarray]]:
    """Return (score, class, box) of the detections of class c in an image."""
    own = boxes[:, min(c, boxes.shape[1] - 1)]
    kept, values = suppressed(own, scores[:, c], each, float(threshold), float(least))
    return [(value, c, own[i]) for i, value in zip(kept, values, strict=True)]


@kernel("boxes: float, scores: float, max_output_size_per_class: int32, max_total_size: int32, iou_threshold: float, "
        "score_threshold: float -> nmsed_boxes: float, nmsed_scores: float, nmsed_classes: float, "
        "valid_detections: int32", shape=_shapes, numpy=_detect, validate=_validate,
        values=("max_output_size_per_class", "max_total_size"), pad_per_class="bool = false", clip_boxes="bool = true",
        ranks={"max_output_size_per_class": 0, "max_total_size": 0, "iou_threshold": 0, "score_threshold": 0})
def CombinedNonMaxSuppression() -> None:
    """Compute non-maximum suppression of each class of each image, and return the best detections of all classes."""


CombinedNonMaxSuppression.no_gradient("it chooses")


def combined_non_max_suppression(boxes: Any, scores: Any, max_output_size_per_class: Any, max_total_size: Any,
                                 iou_threshold: float = 0.5, score_threshold: float = float("-inf"),
                                 pad_per_class: bool = False, clip_boxes: bool = True,
                                 name: str | None = None) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Compute non-maximum suppression of each class of a batch: (boxes, scores, classes, number of detections).

    boxes: [batch, boxes, classes or 1, 4], (y1, x1, y2, x2), the corners in any order. scores: [batch, boxes, classes].
    max_output_size_per_class: detections of a class, at most. max_total_size: of an image; fewer are filled up with
    zeros. iou_threshold: of two boxes of a class that overlap more, the one with the lower score goes. pad_per_class:
    return max_output_size_per_class * classes of them, if that is less. clip_boxes: to [0, 1].

    >>> boxes = tf.reshape([[0.0, 0.0, 1.0, 1.0], [0.0, 0.0, 1.0, 0.9], [0.5, 0.5, 0.6, 0.6]], [1, 3, 1, 4])
    >>> scores = tf.reshape([0.9, 0.8, 0.3], [1, 3, 1])
    >>> found = tf.image.combined_non_max_suppression(boxes, scores, max_output_size_per_class=3, max_total_size=3)
    >>> sess.run([found.nmsed_scores, found.valid_detections])
    [array([[0.9, 0.3, 0. ]], dtype=float32), array([2], dtype=int32)]
    """
    with name_scope(name, "combined_non_max_suppression"):
        overlap = convert_to_tensor(iou_threshold, dtype="float32", name="iou_threshold")
        least = convert_to_tensor(score_threshold, dtype="float32", name="score_threshold")
        made: tuple[Tensor, Tensor, Tensor, Tensor] = CombinedNonMaxSuppression(
            boxes, scores, max_output_size_per_class, max_total_size, overlap, least, pad_per_class=pad_per_class,
            clip_boxes=clip_boxes)
        return made


describe(globals(), IMAGES)
