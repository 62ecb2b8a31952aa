"""RGB and HSV conversion, hue, saturation and contrast on NumPy arrays [..., 3]. Half precision is computed in float32.

A hue is in [0, 1): the part of a circle from red over green and blue back to red.
"""
from __future__ import annotations

import numpy as np


def to_hsv(rgb: np.ndarray) -> np.ndarray:
    """Convert RGB to (hue, saturation, value)."""
    r, g, b = np.moveaxis(rgb, -1, 0)
    value, low = _extremes(r, g, b)
    hue, span = hue_of(r, g, b, value, low), value - low
    with np.errstate(all="ignore"):
        saturation = np.where(value > 0, span / value, 0)
    return np.stack([hue, saturation, value], -1)


def _extremes(r: np.ndarray, g: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the largest and the smallest value of each color; for NaN, the result of the kernels' comparisons."""
    high, low = np.where(r > g, r, g), np.where(r < g, r, g)
    return np.where(b > high, b, high), np.where(b < low, b, low)


def hue_of(r: np.ndarray, g: np.ndarray, b: np.ndarray, high: np.ndarray, low: np.ndarray) -> np.ndarray:
    """Return the hue of colors whose largest and smallest values are `high` and `low`; 0 for gray."""
    span, T = high - low, high.dtype.type
    with np.errstate(all="ignore"):
        unit = T(1) / (T(6) * span)
        hue = np.where(r == high, unit * (g - b),
                       np.where(g == high, unit * (b - r) + T(2 / 6), unit * (r - g) + T(4 / 6)))
    hue = np.where(span > 0, hue, T(0))
    return np.asarray(np.where(hue < 0, hue + T(1), hue))


def shares(hue: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the red, green and blue components of a hue, each in [0, 1]."""
    T = hue.dtype.type
    turn = hue * T(6)
    return (np.clip(np.abs(turn - T(3)) - T(1), 0, 1), np.clip(T(2) - np.abs(turn - T(2)), 0, 1),
            np.clip(T(2) - np.abs(turn - T(4)), 0, 1))


def to_rgb(pixels: np.ndarray) -> np.ndarray:
    """Convert (hue, saturation, value) to RGB."""
    hue, saturation, value = np.moveaxis(pixels, -1, 0)
    rest = hue.dtype.type(1) - saturation
    return np.stack([(rest + saturation * share) * value for share in shares(hue)], -1)


def turned(rgb: np.ndarray, delta: float) -> np.ndarray:
    """Add `delta` to each hue; the largest and smallest value of each pixel stay."""
    r, g, b = np.moveaxis(rgb, -1, 0)
    high, low = _extremes(r, g, b)
    hue = hue_of(r, g, b, high, low) + rgb.dtype.type(delta)
    hue = hue - np.floor(hue)
    return np.stack([low + (high - low) * share for share in shares(hue)], -1)


def saturated(pixels: np.ndarray, scale: float) -> np.ndarray:
    """Multiply each saturation by `scale`, clipped to [0, 1]."""
    hsv = to_hsv(pixels)
    hsv[..., 1] = np.clip(hsv[..., 1] * hsv.dtype.type(scale), 0, 1)
    return to_rgb(hsv)


def contrasted(images: np.ndarray, factor: float) -> np.ndarray:
    """Scale the distance of each value from the mean of its channel by `factor`; [..., height, width, channels]."""
    if not images.size:
        return images
    mean = images.mean((-3, -2), keepdims=True, dtype=images.dtype)
    return np.asarray((images - mean) * images.dtype.type(factor) + mean)
