"""Image resizing on NumPy arrays: the interpreter's form, and the reference of the kernels.

Images are (batch, height, width, channels). An Axis says how the places of one axis of the result lie on that of the
image; all of it is float32, step by step as in TensorFlow, so that the same pixels are taken.
"""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np

Sampling = Callable[[np.ndarray], np.ndarray]
TABLE = 1024                                       # cubic weights are rounded to steps of this part of a pixel


@dataclass(frozen=True, slots=True)
class Axis:
    """size: of the image; out: of the result. align: the outer pixels lie on one another; half: pixels have centers."""

    size: int
    out: int
    align: bool = False
    half: bool = False

    @property
    def ratio(self) -> tuple[int, int]:
        """The two integers whose quotient is the distance of two output pixels, in input pixels."""
        return (self.size - 1, self.out - 1) if self.align and self.out > 1 else (self.size, self.out)

    @property
    def scale(self) -> np.float32:
        """The distance of two output pixels, in input pixels."""
        a, b = self.ratio
        return np.float32(a) / np.float32(b)

    def places(self) -> np.ndarray:
        """Return the coordinate of each output pixel, in input pixels."""
        shift = np.float32(0.5 if self.half else 0)
        return (np.arange(self.out, dtype=np.float32) + shift) * self.scale - shift

    def between(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return (the pixel before each coordinate, the one behind it, its distance from the first)."""
        at = self.places()
        below = np.floor(at)
        low, high = np.maximum(below, 0).astype(np.int64), np.ceil(at).astype(np.int64)
        return np.minimum(low, self.size - 1), np.clip(high, 0, self.size - 1), at - below

    def nearest(self) -> np.ndarray:
        """Return the nearest pixel of each output pixel."""
        shift = np.float32(0.5 if self.half else 0)
        at = (np.arange(self.out, dtype=np.float32) + shift) * self.scale
        whole = np.floor(at + np.float32(0.5)) if self.align else np.floor(at)
        return np.asarray(np.clip(whole.astype(np.int64), 0, self.size - 1))

    def cubic(self) -> tuple[np.ndarray, np.ndarray]:
        """Return (the four pixels of each place, their weights), [out, 4]; with centers, 0 for pixels outside."""
        at = self.places()
        first = np.floor(at)
        step = np.rint((at - first) * np.float32(TABLE)).astype(np.int64)
        a = -0.5 if self.half else -0.75
        near, far = _cubic_weights(a)
        pixels = first.astype(np.int64)[:, None] + np.arange(-1, 3)
        weights = np.stack([far[step], near[step], near[TABLE - step], far[TABLE - step]], 1)
        inside = np.clip(pixels, 0, self.size - 1)
        if self.half:
            weights = np.where(inside == pixels, weights, np.float32(0))
            total = weights.sum(1, keepdims=True, dtype=np.float32)
            weights = weights * (np.float32(1) / total)
        return inside, weights

    @property
    def taps(self) -> int:
        """The maximum number of pixels that `area` averages."""
        return int(ceil(self.ratio[0] / self.ratio[1])) + 2

    def area(self) -> tuple[np.ndarray, np.ndarray]:
        """Return (the pixels that each place covers, their weights), [out, taps]."""
        start = np.arange(self.out, dtype=np.float32) * self.scale
        end = np.arange(1, self.out + 1, dtype=np.float32) * self.scale
        pixels = np.floor(start).astype(np.int64)[:, None] + np.arange(self.taps)
        covered = np.minimum(pixels + 1, end[:, None]) - np.maximum(pixels, start[:, None])
        weights = np.maximum(covered, 0).astype(np.float32) / self.scale
        return np.clip(pixels, 0, self.size - 1), weights


def _cubic_weights(a: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the weights of a pixel that is 0 to 1, and 1 to 2 pixels away, in steps of 1 / TABLE."""
    x = np.arange(TABLE + 1) / TABLE
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    x = x + 1
    far = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
    return near.astype(np.float32), far.astype(np.float32)


# Filters of ScaleAndTranslate: (radius, fn of the distance in units of the kernel), float32

def _lanczos(radius: int) -> tuple[int, Sampling]:
    def weight(x: np.ndarray) -> np.ndarray:
        angle = np.float32(np.pi) * np.maximum(x, np.float32(1e-3))
        found = np.float32(radius) * np.sin(angle) * np.sin(angle / np.float32(radius)) / (angle * angle)
        return np.where(x <= 1e-3, np.float32(1), found)
    return radius, weight


def _polynomial(near: list[float], far: list[float]) -> tuple[int, Sampling]:
    """Return the cubic filter with these coefficients, of the highest power first, up to 1 and up to 2."""
    low, high = np.array(near, np.float32), np.array(far, np.float32)
    return 2, lambda x: np.where(x < 1, np.polyval(low, x), np.polyval(high, x))


SAMPLING: dict[str, tuple[float, Sampling]] = {
    "lanczos1": _lanczos(1), "lanczos3": _lanczos(3), "lanczos5": _lanczos(5),
    "gaussian": (1.5, lambda x: np.exp(x * x * np.float32(-2))),                          # sigma 0.5
    "box": (1, lambda x: np.where(x < 0.5, np.float32(1), np.where(x == 0.5, np.float32(0.5), np.float32(0)))),
    "triangle": (1, lambda x: np.float32(1) - x),
    "keyscubic": _polynomial([1.5, -2.5, 0, 1], [-0.5, 2.5, -4, 2]),
    "mitchellcubic": _polynomial([7 / 6, -2, 0, 8 / 9], [-7 / 18, 2, -10 / 3, 16 / 9])}


def sampled(size: int, out: int, scale: np.float32, translation: np.float32, how: tuple[float, Sampling],
            antialias: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return (the pixels that each place of a scaled and shifted axis is made of, their weights), [out, taps].

    antialias: the filter is as wide as the pixels of the result where these are larger than those of the image.
    """
    radius, weight = np.float32(how[0]), how[1]
    step = np.float32(1) / np.float32(scale)
    wide = max(step, np.float32(1)) if antialias else np.float32(1)
    at = (np.arange(out, dtype=np.float32) + np.float32(0.5)) * step - step * np.float32(translation)
    with np.errstate(invalid="ignore"):
        first, last = (np.clip(fn(at + sign * radius * wide - np.float32(0.5)), 0, size - 1).astype(np.int64)
                       for fn, sign in ((np.ceil, -1), (np.floor, 1)))
    pixels = first[:, None] + np.arange(max(int((last - first).max()) + 1, 1))
    apart = np.abs(pixels.astype(np.float32) + np.float32(0.5) - at[:, None]) / wide
    taken = (pixels <= last[:, None]) & (apart < radius) & ((at >= 0) & (at <= size))[:, None]
    weights = np.where(taken, weight(apart), np.float32(0)).astype(np.float32)
    total = weights.sum(1, keepdims=True)
    usable = np.abs(total) >= 1000 * np.finfo(np.float32).tiny
    return np.clip(pixels, 0, size - 1), weights / np.where(usable, total, np.float32(1))


def _float(images: np.ndarray) -> np.ndarray:
    return images.astype(np.float32, copy=False)


def bilinear(images: np.ndarray, y: Axis, x: Axis) -> np.ndarray:
    """Interpolate linearly between four pixels."""
    (top, bottom, down), (left, right, along) = y.between(), x.between()
    down, along = down[:, None, None], along[:, None]
    images = _float(images)
    upper, lower = images[:, top], images[:, bottom]
    upper = upper[:, :, left] + (upper[:, :, right] - upper[:, :, left]) * along
    lower = lower[:, :, left] + (lower[:, :, right] - lower[:, :, left]) * along
    return np.asarray(upper + (lower - upper) * down)


def bilinear_gradient(grads: np.ndarray, y: Axis, x: Axis, dtype: Any) -> np.ndarray:
    """Return the gradient of `bilinear` for images of `dtype`."""
    (top, bottom, down), (left, right, along) = y.between(), x.between()
    one = np.float32(1)
    out = np.zeros((grads.shape[0], y.size, x.size, grads.shape[3]), np.float64 if dtype == np.float64 else np.float32)
    for rows, a in ((top, one - down), (bottom, down)):
        for columns, b in ((left, one - along), (right, along)):
            part = grads * a[:, None, None] * b[:, None]
            _add_at(out, (slice(None), rows[:, None], columns[None, :]), part)
    return out.astype(dtype, copy=False)


def _add_at(out: np.ndarray, where: Any, values: np.ndarray) -> None:
    """Add values at places that may repeat. NumPy's stub of `ufunc.at` knows no tuple of indices."""
    np.add.at(out, where, values)


def nearest(images: np.ndarray, y: Axis, x: Axis) -> np.ndarray:
    """Take the nearest pixel for each place."""
    return np.asarray(images[:, y.nearest()][:, :, x.nearest()])


def nearest_gradient(grads: np.ndarray, y: Axis, x: Axis) -> np.ndarray:
    """Return the gradient of `nearest`: the sum over the places that took each pixel."""
    wide = np.float32 if grads.dtype.itemsize == 2 else grads.dtype
    out = np.zeros((grads.shape[0], y.size, x.size, grads.shape[3]), wide)
    _add_at(out, (slice(None), y.nearest()[:, None], x.nearest()[None, :]), grads.astype(wide, copy=False))
    return out.astype(grads.dtype, copy=False)


def weighted(images: np.ndarray, y: tuple[np.ndarray, np.ndarray], x: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """Return sums of pixels with the weights of `Axis.cubic` or `Axis.area` along both axes, rows first."""
    images = _float(images)
    lines: Any = sum((share(images[:, y[0][:, t]], y[1][:, t, None, None]) for t in range(y[0].shape[1])), 0)
    return np.asarray(sum((share(lines[:, :, x[0][:, t]], x[1][:, t, None]) for t in range(x[0].shape[1])), 0))


def share(pixels: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return pixels times weights; a weight of 0 gives 0, even for an infinite pixel."""
    return np.asarray(np.where(weights == 0, np.float32(0), pixels) * weights)


def weighted_gradient(grads: np.ndarray, shape: tuple[int, ...], y: tuple[np.ndarray, np.ndarray],
                      x: tuple[np.ndarray, np.ndarray], dtype: Any,
                      times: Callable[[np.ndarray, np.ndarray], np.ndarray] = np.multiply) -> np.ndarray:
    """Return the gradient of `weighted` for images of `shape`. times: `share`, if a weight of 0 is to give 0."""
    lines = np.zeros((*grads.shape[:2], *shape[2:]), np.float32)
    for t in range(x[0].shape[1]):
        _add_at(lines, (slice(None), slice(None), x[0][:, t]), times(grads, x[1][:, t, None]))
    out = np.zeros(shape, np.float32)
    for t in range(y[0].shape[1]):
        _add_at(out, (slice(None), y[0][:, t]), times(lines, y[1][:, t, None, None]))
    return out.astype(dtype, copy=False)
