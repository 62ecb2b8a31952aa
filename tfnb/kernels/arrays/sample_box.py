"""Random bounding boxes that cover part of an object, bit for bit TensorFlow's (all of it float32)."""
from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from tfnb.kernels.arrays import philox

Box = tuple[int, int, int, int]                    # top, left, height, width, in pixels
Float = np.float32


@dataclass(frozen=True, slots=True)
class Wanted:
    """covered: of an object, at least; aspect: the range of width / height; area: that of parts of the image."""

    covered: float
    aspect: tuple[float, float]
    area: tuple[float, float]
    attempts: int


def objects(height: int, width: int, boxes: np.ndarray, whole: bool,
            in_pixels: Callable[[np.ndarray, int, int], np.ndarray | None] | None = None) -> np.ndarray:
    """Return boxes [boxes, 4] in [0, 1] in pixels; the image if there are none and `whole`. Raises ValueError else.

    in_pixels: a faster form for float32, which returns None for boxes that are not in [0, 1].
    """
    if height <= 0 or width <= 0:
        raise ValueError(f"Image height and width must be positive, got {height} and {width}")
    if not len(boxes):
        if not whole:
            raise ValueError("No bounding boxes provided as input. One must enable use_image_if_no_bounding_boxes if "
                             "you wish to not provide any bounding boxes.")
        return np.array([[0, 0, height, width]])
    made = in_pixels(boxes, height, width) if in_pixels is not None else None
    if made is not None:
        return made
    bad = boxes[~((boxes >= 0) & (boxes <= 1))]
    if bad.size:
        raise ValueError(f"All bounding box coordinates must be in [0.0, 1.0]: {bad[0]}")
    found = (boxes.astype(Float, copy=False) * np.array([height, width] * 2, Float)).astype(np.int64)
    found[:, 2:] -= found[:, :2]
    return found


def draw(state: np.ndarray, height: int, width: int, found: np.ndarray, wanted: Wanted,
         covers: Callable[[Box, np.ndarray, Float], bool]) -> Box:
    """Draw a part of an image that covers enough of one object; the whole image once the attempts are used up.

    covers: as the function of that name.
    """
    for ends, what in ((wanted.aspect, "aspect_ratio"), (wanted.area, "area")):
        if len(ends) != 2 or min(ends) <= 0:
            raise ValueError(f"{what}_range must be two positive numbers, not {list(ends)}")
    words = philox.words_from(state)
    drawn: Box | None = None
    for _ in range(wanted.attempts):
        low, high = Float(wanted.aspect[0]), Float(wanted.aspect[1])
        part = _part(height, width, _unit(next(words)) * (high - low) + low, wanted.area, words)
        if part is not None and covers(part, found, Float(wanted.covered)):
            drawn = part
            break
    philox.advance(state, wanted.attempts)
    return drawn or (0, 0, height, width)


def _unit(word: int) -> Float:
    """Return a value in [0, 1) of the lower 23 bits."""
    return Float(word & 0x7FFFFF) * Float(2.0**-23)


def _rounded(x: Float) -> int:
    return int(np.rint(x))


def _part(height: int, width: int, aspect: Float, area: tuple[float, float], words: Iterator[int]) -> Box | None:
    """Draw a part of that width / height whose area is in a range of fractions of the image; None if there is none."""
    if area[0] > area[1]:
        return None
    least, most = (Float(a) * Float(width) * Float(height) for a in area)
    lowest, highest = _rounded(np.sqrt(least / aspect)), _rounded(np.sqrt(most / aspect))
    if _rounded(Float(highest) * aspect) > width:
        highest = int((Float(width) + Float(0.5) - Float(1e-7)) / aspect)
        highest -= _rounded(Float(highest) * aspect) > width
    highest = min(highest, height)
    rows = min(lowest, highest)
    if rows < highest:
        rows += philox.below(highest - rows + 1, words)
    columns = _rounded(Float(rows) * aspect)
    for step in (1, -1):                            # rounding may miss the range
        if (Float(columns * rows) < least) if step > 0 else (Float(columns * rows) > most):
            rows += step
            columns = _rounded(Float(rows) * aspect)
    if not least <= Float(columns * rows) <= most or not 0 < columns <= width or not 0 < rows <= height:
        return None
    top = philox.below(height - rows, words) if rows < height else 0
    return top, philox.below(width - columns, words) if columns < width else 0, rows, columns


def covers(part: Box, found: np.ndarray, covered: Float) -> bool:
    """Return whether the part covers the required fraction of at least one object."""
    for top, left, height, width in found.tolist():
        rows = min(part[0] + part[2], top + height) - max(part[0], top)
        columns = min(part[1] + part[3], left + width) - max(part[1], left)
        area = Float(height * width)
        if height > 0 and width > 0 and Float(max(rows, 0) * max(columns, 0)) / area >= covered:
            return True
    return False
