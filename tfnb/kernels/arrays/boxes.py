"""Bounding boxes on NumPy arrays: crop and resize, non-maximum suppression, drawing.

A box is (y1, x1, y2, x2); but for suppression its unit is the height and the width of the image less one pixel.
"""
from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

COLORS = np.array([[1, 1, 0, 1], [0, 0, 1, 1], [1, 0, 0, 1], [0, 1, 0, 1], [.5, 0, .5, 1], [.5, .5, 0, 1],
                   [.5, 0, 0, 1], [0, 0, .5, 1], [0, 1, 1, 1], [1, 0, 1, 1]], np.float32)
Array = np.ndarray


# ---- crops -----------------------------------------------------------------------------------------------------------

def places(first: Array, last: Array, size: int, crop: int) -> Array:
    """Return [boxes, crop]: the source coordinate of each crop pixel along an axis of `size` pixels, float32."""
    end = np.float32(size - 1)
    if crop == 1:
        return np.asarray(np.float32(0.5) * (first + last) * end)[:, None]
    scale = (last - first) * end / np.float32(crop - 1)
    return np.asarray(first[:, None] * end + np.arange(crop, dtype=np.float32) * scale[:, None])


@dataclass(frozen=True, slots=True)
class Taps:
    """Interpolation taps along one axis: the pixel before and behind, the weight of the latter, the indices inside."""

    low: Array
    high: Array
    part: Array
    inside: Array


def taps(at: Array, size: int, nearest: bool = False) -> Taps:
    """Return the taps of coordinates; the nearest pixel alone where `nearest`."""
    inside = (at >= 0) & (at <= size - 1)
    at = np.where(inside, at, np.float32(0))
    if nearest:
        pixel = _pixels(np.floor(at + np.float32(0.5)), size)
        return Taps(pixel, pixel, np.zeros_like(at), inside)
    low = np.floor(at)
    return Taps(_pixels(low, size), _pixels(np.ceil(at), size), at - low, inside)


def _pixels(at: Array, size: int) -> Array:
    """Return coordinates as pixel indices: float32 rounds the last one of more than 2^24 up."""
    return np.minimum(at.astype(np.int64), size - 1)


def _axes(boxes: Array, sizes: tuple[int, int], crop: tuple[int, int], nearest: bool) -> tuple[Taps, Taps]:
    y, x = (places(boxes[:, i], boxes[:, i + 2], sizes[i], crop[i]) for i in (0, 1))
    return taps(y, sizes[0], nearest), taps(x, sizes[1], nearest)


def crops(images: Array, boxes: Array, owner: Array, crop: tuple[int, int], nearest: bool, outside: float) -> Array:
    """Return [boxes, *crop, channels], float32: each box of the image `owner` resized, `outside` beyond the image."""
    out = np.full((len(boxes), *crop, images.shape[3]), outside, np.float32)
    y, x = _axes(boxes, images.shape[1:3], crop, nearest)
    for i, image in enumerate(owner):
        ys, xs = np.flatnonzero(y.inside[i]), np.flatnonzero(x.inside[i])
        down, along = y.part[i, ys, None, None], x.part[i, xs, None]
        corners = _corners(images[image], y, x, i, ys, xs)
        upper, lower = (left + (right - left) * along for left, right in corners)
        out[i][np.ix_(ys, xs)] = upper + (lower - upper) * down
    return out


def _corners(image: Array, y: Taps, x: Taps, i: int, ys: Array, xs: Array) -> list[tuple[Array, Array]]:
    """Return ((top left, top right), (bottom left, bottom right)) of the places inside of box i."""
    lines = [image[rows[i, ys]].astype(np.float32) for rows in (y.low, y.high)]
    return [(line[:, x.low[i, xs]], line[:, x.high[i, xs]]) for line in lines]


def crops_image_gradient(grads: Array, boxes: Array, owner: Array, shape: tuple[int, ...], nearest: bool) -> Array:
    """Return the gradient of `crops` for images of `shape`, float32 or float64 as grads."""
    out = np.zeros(shape, grads.dtype)
    y, x = _axes(boxes, (shape[1], shape[2]), grads.shape[1:3], nearest)
    for i, image in enumerate(owner):
        ys, xs = np.flatnonzero(y.inside[i]), np.flatnonzero(x.inside[i])
        down, along = y.part[i, ys, None, None], x.part[i, xs, None]
        part = grads[i][np.ix_(ys, xs)]
        for rows, a in ((y.low, 1 - down), (y.high, down)):
            for columns, b in ((x.low, 1 - along), (x.high, along)):
                np.add.at(out[image], np.ix_(rows[i, ys], columns[i, xs]), part * a * b)
    return out


def crops_boxes_gradient(grads: Array, images: Array, boxes: Array, owner: Array) -> Array:
    """Return the gradient of `crops` for the boxes."""
    out = np.zeros(boxes.shape, np.float32)
    sizes, crop = images.shape[1:3], grads.shape[1:3]
    y, x = _axes(boxes, sizes, crop, False)
    for i, image in enumerate(owner):
        ys, xs = np.flatnonzero(y.inside[i]), np.flatnonzero(x.inside[i])
        down, along = y.part[i, ys, None, None], x.part[i, xs, None]
        (a, b), (c, d) = _corners(images[image], y, x, i, ys, xs)
        part = grads[i][np.ix_(ys, xs)]
        slopes = (((1 - along) * (c - a) + along * (d - b)) * part).sum((1, 2)), \
            (((1 - down) * (b - a) + down * (d - c)) * part).sum((0, 2))
        for axis, (slope, at) in enumerate(zip(slopes, (ys, xs), strict=True)):
            end = sizes[axis] - 1
            late = at * end / (crop[axis] - 1) if crop[axis] > 1 else np.full(len(at), 0.5 * end)
            out[i, axis], out[i, axis + 2] = (slope * (end - late)).sum(), (slope * late).sum()
    return out


# ---- suppression -----------------------------------------------------------------------------------------------------

def overlap(boxes: Array) -> Callable[[int, int], float]:
    """Return fn(i, j) -> intersection over union of two boxes. Corners may be given in any order."""
    low, high = np.minimum(boxes[:, :2], boxes[:, 2:]), np.maximum(boxes[:, :2], boxes[:, 2:])
    area = (high - low).prod(1)

    def of(i: int, j: int) -> float:
        if area[i] <= 0 or area[j] <= 0:
            return 0.0
        shared = np.maximum(np.minimum(high[i], high[j]) - np.maximum(low[i], low[j]), 0).prod()
        return float(shared / (area[i] + area[j] - shared))
    return of


def suppressed(scores: Array, most: int, threshold: float, least: float, similarity: Callable[[int, int], float],
               sigma: float = 0.0) -> tuple[list[int], list[float]]:
    """Return (indices, scores) of at most `most` boxes kept by non-maximum suppression, best first, all over `least`.

    A box that is more similar than `threshold` to a better one goes; with sigma > 0 its score becomes less instead, by
    a Gaussian of the similarity, and there is no threshold (soft suppression).
    """
    waiting = [(-float(score), i, 0) for i, score in enumerate(scores) if score > least]
    heapq.heapify(waiting)
    kept: list[int] = []
    values: list[float] = []
    while waiting and len(kept) < most:
        before, i, seen = heapq.heappop(waiting)
        score, hard = -before, False
        for j in kept[:seen - 1 if seen else None:-1]:
            same = similarity(i, j)
            hard = not sigma and same > threshold
            score *= float(np.exp(-0.5 / sigma * same * same)) if sigma else 1.0
            if hard or score <= least:
                break
        if hard:
            continue
        if score == -before:
            kept.append(i)
            values.append(score)
        elif score > least:
            heapq.heappush(waiting, (-score, i, len(kept)))
    return kept, values


def pixels(places: Array) -> Array:
    """Return floats as int64: NaN and infinity become -2**63."""
    with np.errstate(invalid="ignore"):
        return places.astype(np.int64)


# ---- drawing ---------------------------------------------------------------------------------------------------------

def drawn(images: Array, boxes: Array, colors: Array) -> Array:
    """Draw edges of boxes [batch, boxes, 4] in colors [colors, 4], in turns, on [batch, height, width, channels]."""
    out = images.copy()
    height, width, depth = images.shape[1:]
    scale = np.array([height - 1, width - 1] * 2, np.float32)
    for image, found in zip(out, pixels(boxes * scale), strict=True):
        for n, (top, left, bottom, right) in enumerate(found.tolist()):
            if top > bottom or left > right or top >= height or left >= width or bottom < 0 or right < 0:
                continue
            color = colors[n % len(colors), :depth]
            rows, columns = slice(max(top, 0), bottom + 1), slice(max(left, 0), right + 1)
            for row in {top, bottom} & set(range(height)):
                image[row, columns] = color
            for column in {left, right} & set(range(width)):
                image[rows, column] = color
    return out


# ---- glimpses --------------------------------------------------------------------------------------------------------

def glimpse_corner(place: Array, whole: int, part: int, centered: bool, normalized: bool) -> Array:
    """Return where the window of ExtractGlimpse with `part` pixels around an offset begins on an axis of `whole`."""
    place = place * np.float32(whole) if normalized else place
    if centered:                                   # half of an offset, also of one in pixels
        place = place / np.float32(2) + np.float32(whole / 2)
    return np.asarray(place - np.float32(part / 2))


def glimpse_corner2(place: Array, whole: int, part: int, centered: bool, normalized: bool) -> Array:
    """Return the same of ExtractGlimpseV2."""
    if normalized and centered:
        return glimpse_corner(place, whole, part, centered, normalized)
    place = place * np.float32(whole) if normalized else place
    return place + np.float32(whole / 2) if centered else place


def copy_windows(images: Array, starts: Array, out: Array) -> None:
    """Fill `out` [batch, rows, columns, channels] from the places `starts` [batch, 2] of the images on, where they
    have pixels."""
    for target, image, start in zip(out, images, starts.tolist(), strict=True):
        (t0, s0), (t1, s1) = (_overlapping(at, n, m)
                              for at, n, m in zip(start, out.shape[1:3], images.shape[1:3], strict=True))
        target[t0, t1] = image[s0, s1]


def _overlapping(start: int, part: int, whole: int) -> tuple[slice, slice]:
    """Return (slice of the part, of the whole) that they share, where the part begins at `start` of the whole."""
    first, last = max(start, 0), max(min(start + part, whole), 0)
    last = max(first, last)
    return slice(first - start, last - start), slice(first, last)
