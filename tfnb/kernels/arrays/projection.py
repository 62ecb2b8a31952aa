"""Projective transforms of images on NumPy arrays: the interpreter's form, and the reference of the kernel.

Pixel (x, y) of the result is taken from ((a0 x + a1 y + a2) / k, (b0 x + b1 y + b2) / k), k = c0 x + c1 y + 1, of the
image; all of it is float32, step by step as in TensorFlow.
"""
from __future__ import annotations

import numpy as np

Array = np.ndarray
FAR = np.float32(1 << 24)                  # pixels; what is further away is no pixel of an image


def transformed(images: Array, transforms: Array, size: tuple[int, int], bilinear: bool, fill: str) -> Array:
    """Return images [batch, *size, channels]. transforms: [batch or 1, 8]; fill: the name of a `fill_mode`."""
    rows, columns = np.indices(size, np.float32)
    a0, a1, a2, b0, b1, b2, c0, c1 = transforms.T[:, :, None, None]
    with np.errstate(all="ignore"):
        k = c0 * columns + c1 * rows + np.float32(1)
        known = k != 0
        x = _mapped((a0 * columns + a1 * rows + a2) / k, images.shape[2], fill)
        y = _mapped((b0 * columns + b1 * rows + b2) / k, images.shape[1], fill)
    x, y = (np.broadcast_to(_near(v), (images.shape[0], *size)) for v in (x, y))
    found = _interpolated(images, y, x) if bilinear else _at(images, _nearest(y), _nearest(x))
    return np.where(np.broadcast_to(known, (images.shape[0], *size))[..., None], found, 0).astype(images.dtype)


def _near(v: Array) -> Array:
    return np.where(v > -FAR, np.minimum(v, FAR), -FAR)                     # NaN is -FAR


def _nearest(v: Array) -> Array:
    """Return the nearest integers; halves are rounded away from 0."""
    below = np.floor(v)
    part = v - below
    return np.asarray(below + ((part > 0.5) | ((part == 0.5) & (v > 0))))


def _mapped(v: Array, n: int, fill: str) -> Array:
    """Return coordinates moved into an axis of n pixels. CONSTANT: they stay where they are."""
    if fill == "CONSTANT":
        return v
    last = np.float32(n - 1)
    if fill == "REFLECT":
        v = _reflected(v, n)
    elif fill == "WRAP":
        v = _wrapped(v, n)
    return np.asarray(np.clip(v, np.float32(0), last))


def _reflected(v: Array, n: int) -> Array:
    """[abcd] continues as [dcba|abcd|dcba]."""
    if n <= 1:
        return np.zeros_like(v)
    n, twice = np.float32(n), np.float32(2 * n)                             # type: ignore[assignment]
    low = twice * np.trunc(-v / twice) + v
    low = np.where(low < -n, low + twice, -low - 1)
    high = v - twice * np.trunc(v / twice)
    high = np.where(high >= n, twice - high - 1, high)
    return np.where(v < 0, low, np.where(v > n - 1, high, v))


def _wrapped(v: Array, n: int) -> Array:
    """[abcd] continues as [abcd|abcd|abcd]."""
    if n <= 1:
        return np.zeros_like(v)
    n, gap = np.float32(n), np.float32(n - 1)                               # type: ignore[assignment]
    low = v + n * (np.trunc(-v / gap) + 1)
    high = v - n * np.trunc(v / gap)
    return np.where(v < 0, low, np.where(v > gap, high, v))


def _at(images: Array, rows: Array, columns: Array) -> Array:
    """Return the pixels at whole coordinates [batch, *size], 0 outside."""
    height, width = images.shape[1:3]
    inside = (rows >= 0) & (rows < height) & (columns >= 0) & (columns < width)
    y, x = (np.clip(v, 0, n - 1).astype(np.int64) for v, n in ((rows, height), (columns, width)))
    found = images[np.arange(images.shape[0])[:, None, None], y, x]
    return np.where(inside[..., None], found, np.zeros((), images.dtype))


def _interpolated(images: Array, y: Array, x: Array) -> Array:
    top, left = np.floor(y), np.floor(x)
    right, down = x - left, y - top
    wide = images.astype(np.float32)

    def line(row: Array) -> Array:
        return np.asarray((left + 1 - x)[..., None] * _at(wide, row, left)
                           + right[..., None] * _at(wide, row, left + 1))
    return np.asarray((top + 1 - y)[..., None] * line(top) + down[..., None] * line(top + 1))
