"""The health of a tensor in a small picture: a histogram over a bar of the kinds of numbers.

The kinds are those of TensorFlow's debugger: NaN, -inf, negative, zero, positive, +inf.
"""
from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tfnb.core.indexing import bin_counts
from tfnb.notebook.drawing.palette import INKS
from tfnb.notebook.drawing.svg import element, short
from tfnb.notebook.drawing.tensor_stats import as_reals, spread_sample

BINS = 14
MOST = 1 << 14                      # elements that the histogram, mean and spread are of, evenly spaced
KINDS = ("NaN", "-inf", "negative", "zero", "positive", "+inf")
TONES = ("#b3261e", "#d55e00", "#56b4e9", "#c3cad1", "#0072b2", "#e69f00")
WIDTH, HEIGHT = 64, 22


@dataclass(frozen=True, slots=True)
class Pill:
    """A tensor in a few numbers. shares: of each of KINDS; mean, std, low, high: of the finite elements, NaN if there
    are none; counts: their histogram over BINS equal bins from low to high."""

    dtype: str
    shape: tuple[int, ...]
    shares: tuple[float, ...]
    mean: float
    std: float
    low: float
    high: float
    counts: tuple[int, ...]

    @property
    def bad(self) -> float:
        """The share of what is NaN or infinite."""
        return self.shares[0] + self.shares[1] + self.shares[5]

    @property
    def words(self) -> str:
        """Mean and spread, and what is wrong, in few letters."""
        if not sum(self.counts):
            return "nothing finite"
        wrong = f" {100 * self.bad:.2g}% bad" if self.bad else ""
        spread = f" ± {short(self.std, 2)}" if self.low < self.high else ""
        return f"{short(self.mean, 3)}{spread}{wrong}"

    @property
    def tip(self) -> str:
        """One line with all of it."""
        kinds = ", ".join(f"{100 * share:.3g}% {kind}" for kind, share in zip(KINDS, self.shares, strict=True) if share)
        found = f"{self.dtype}[{', '.join(map(str, self.shape))}]"
        if not sum(self.counts):
            return f"{found}: {kinds or 'empty'}"
        return (f"{found} in [{short(self.low)}, {short(self.high)}], mean {short(self.mean)}, "
                f"spread {short(self.std)}: {kinds}")


def pill_of(array: np.ndarray) -> Pill | None:
    """The pill of an array; None for one that holds no numbers."""
    numbers = as_reals(spread_sample(array, MOST))
    if numbers is None:
        return None
    wide = numbers.astype(np.float64)
    good = wide[np.isfinite(wide)]
    shares = _shares(array, wide, good)
    if not good.size:
        return Pill(array.dtype.name, array.shape, shares, math.nan, math.nan, math.nan, math.nan, (0,) * BINS)
    low, high = float(good.min()), float(good.max())
    with np.errstate(all="ignore"):
        mean, std = float(good.mean()), float(good.std())
    counts = tuple(bin_counts(good, low, high, BINS).tolist())
    return Pill(array.dtype.name, array.shape, shares, mean, std, low, high, counts)


def _shares(array: np.ndarray, sample: np.ndarray, good: np.ndarray) -> tuple[float, ...]:
    """Of each of KINDS. A single NaN among millions counts: only the finite ones are judged by the sample."""
    every = as_reals(array) if sample.size < array.size else sample
    assert every is not None
    nan, low, high = (np.count_nonzero(kind(every)) / max(1, every.size) if not np.isfinite(every).all() else 0.0
                      for kind in (np.isnan, np.isneginf, np.isposinf))
    finite = (1 - nan - low - high) / max(1, good.size)
    signs = (float(np.count_nonzero(mask)) * finite for mask in (good < 0, good == 0, good > 0))
    return tuple(map(float, (nan, low, *signs, high)))


def pill_marks(pill: Pill, x: float, y: float, width: float = WIDTH, height: float = HEIGHT) -> str:
    """The picture as SVG elements, its upper left corner at (x, y)."""
    bar, most, bin_width = 4.0, max(pill.counts) or 1, width / BINS
    room = height - bar - 1
    back = element("rect", class_="s pill", fill=INKS["bg"][0], height=height, stroke=INKS["frame"][0], width=width,
                   x=x, y=y)
    bars = [element("rect", fill=INKS["line"][0], height=max(1.0, room * count / most), width=max(0.5, bin_width - 0.6),
                    x=x + i * bin_width, y=y + room - max(1.0, room * count / most))
            for i, count in enumerate(pill.counts) if count]
    kinds, at = [], x
    for share, tone in zip(pill.shares, TONES, strict=True):
        if share:
            wide = max(1.5, share * width)
            wide_here = min(wide, x + width - at)
            kinds.append(element("rect", fill=tone, height=bar, width=wide_here, x=at, y=y + height - bar))
            at = min(at + wide, x + width - 1.5)
    return back + "".join([*bars, *kinds])


def pill_svg(pill: Pill) -> str:
    """The picture by itself."""
    width, height = WIDTH + 2, HEIGHT + 2
    return element("svg", pill_marks(pill, 1, 1), aria_label=pill.tip, height=height, role="img",
                   style=f"vertical-align:middle;min-width:{width}px", viewBox=f"0 0 {width} {height}", width=width,
                   xmlns="http://www.w3.org/2000/svg")
