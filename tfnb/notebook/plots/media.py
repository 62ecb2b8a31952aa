"""Histograms over time and pictures that a training reports, kept for the live boards."""
from __future__ import annotations

import math
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np

from tfnb.core.indexing import bin_counts
from tfnb.core.lazy import lazy_module

_summary = lazy_module("tfnb.proto.summary_pb2")
_histograms = lazy_module("tfnb.proto.histogram_pb2")

ROWS = 64               # histograms of one tag that are kept, and drawn at most SHOWN of them
SHOWN = 24
BINS = 48
PICTURES = 12           # of one tag
BYTES = 1 << 20         # of the largest picture that is kept
LARGEST = 1e300         # value that a histogram shows: the range of larger ones may be no number
PNG = b"\x89PNG\r\n\x1a\n"


@dataclass(frozen=True, slots=True)
class Histogram:
    """counts[i] values lie between edges[i] and edges[i + 1]; edges ascend, and are one more."""

    edges: np.ndarray
    counts: np.ndarray


@dataclass(frozen=True, slots=True)
class Picture:
    """A PNG file, and its size in pixels."""

    data: bytes
    width: int
    height: int


Item = TypeVar("Item")


class Sparse(Generic[Item]):
    """Items of one tag of one run by step, evenly thinned: the whole run stays visible, the newest item too.

    A step that goes back is a new start, as for scalars.
    """

    def __init__(self, tag: str, run: str, most: int) -> None:
        self.tag, self.run = tag, run
        self.count = 0                          # items ever added
        self._most = most
        self._items: list[tuple[float, Item]] = []
        self._newest: tuple[float, Item] | None = None
        self._stride = 1

    def add(self, step: float | None, item: Item) -> None:
        """Keep an item. A step of None, or one that is no finite number, is one more than the step before it."""
        last = self._newest[0] if self._newest is not None else -1.0
        now = last + 1 if step is None or not math.isfinite(step) else float(step)
        if now < last:
            self._items = [pair for pair in self._items if pair[0] < now]
        if self.count % self._stride == 0:
            self._items.append((now, item))
        self._newest = now, item
        self.count += 1
        if len(self._items) >= 2 * self._most:
            self._items, self._stride = self._items[::2], 2 * self._stride

    def items(self, most: int) -> list[tuple[float, Item]]:
        """At most `most` of them, evenly chosen, with the newest at the end."""
        if self._newest is None:
            return []
        kept = self._items if self._items and self._items[-1] is self._newest else [*self._items, self._newest]
        if len(kept) > 1 and kept[-1][0] == kept[-2][0]:
            kept = kept[:-1]
        chosen = np.linspace(len(kept) - 1, 0, min(most, len(kept))).round().astype(int)[::-1]
        return [kept[i] for i in dict.fromkeys(chosen.tolist())]


@dataclass(frozen=True, slots=True)
class Ridge:
    """Histograms over common bins: row i of `table` (float32, 0 to 1 over all rows) is that of steps[i].

    top: the count that 1 is.
    """

    steps: tuple[float, ...]
    low: float
    high: float
    table: np.ndarray
    top: float = 1.0


def ridge(histograms: Sparse[Histogram], rows: int = SHOWN, bins: int = BINS) -> Ridge:
    """The histograms of a tag, brought to common bins; heights are shares of the highest bin of all."""
    items = histograms.items(rows)
    low, high = _range(min(float(item.edges[0]) for _, item in items),
                       max(float(item.edges[-1]) for _, item in items))
    wanted = np.linspace(low, high, bins + 1)
    table = np.stack([_rebin(item, wanted) for _, item in items])
    top = table.max()
    return Ridge(tuple(step for step, _ in items), low, high, (table / top if top > 0 else table).astype(np.float32),
                 float(top))


def _range(low: float, high: float) -> tuple[float, float]:
    """Return the range to draw for values in [low, high]: something around a single one."""
    pad = 0.0 if high > low else abs(low) * 0.05 or 0.5
    return low - pad, high + pad


def _rebin(item: Histogram, wanted: np.ndarray) -> np.ndarray:
    """Counts in other bins: values are taken as evenly spread within each of the old ones."""
    width = wanted[1] - wanted[0]
    edges = np.maximum.accumulate(item.edges + np.arange(len(item.edges)) * (width * 1e-6))    # strictly ascending
    total = np.concatenate([[0.0], np.cumsum(item.counts)])
    return np.diff(np.interp(wanted, edges, total))


def histogram_of(values: np.ndarray) -> Histogram | None:
    """The histogram of the finite values of an array, or None where there are none."""
    numbers = np.asarray(values, np.float64).ravel()
    numbers = np.clip(numbers[np.isfinite(numbers)], -LARGEST, LARGEST)
    if not numbers.size:
        return None
    low, high = _range(float(numbers.min()), float(numbers.max()))
    counts = bin_counts(numbers, low, high, BINS)
    return Histogram(np.linspace(low, high, BINS + 1), counts.astype(np.float64))


def read_rich(data: bytes) -> Iterator[tuple[str, Histogram | Picture]]:
    """(tag, histogram or picture) of those in a serialized Summary. What is damaged or no PNG is passed over."""
    try:
        summary = _summary.Summary.FromString(data)
    except Exception:       # DecodeError, whose class is in protobuf
        return
    for value in summary.value:
        item = _histogram(value.histo) if value.HasField("histo") else \
            _picture(value.image) if value.HasField("image") else None
        if item is not None:
            yield value.tag, item


def rich_value(tag: str, item: Histogram | Picture) -> Any:
    """A histogram or picture as a Summary.Value, which `read_rich` reads."""
    if isinstance(item, Picture):
        image = _summary.Summary.Image(height=item.height, width=item.width, colorspace=3,
                                       encoded_image_string=item.data)
        return _summary.Summary.Value(tag=tag, image=image)
    edges, counts = item.edges, item.counts
    middles = (edges[1:] + edges[:-1]) / 2
    histo = _histograms.HistogramProto(min=edges[0], max=edges[-1], num=counts.sum(), sum=(counts * middles).sum(),
                                    sum_squares=(counts * middles ** 2).sum(), bucket_limit=edges[1:], bucket=counts)
    return _summary.Summary.Value(tag=tag, histo=histo)


def _histogram(proto: Any) -> Histogram | None:
    """TensorFlow's buckets end at their limits; the first begins at the least value, the last ends at the greatest."""
    limits, counts = np.array(proto.bucket_limit, np.float64), np.array(proto.bucket, np.float64)
    if not limits.size or limits.size != counts.size or not np.isfinite([proto.min, proto.max]).all():
        return None
    edges = np.clip(np.concatenate([[proto.min], limits]), *np.clip([proto.min, proto.max], -LARGEST, LARGEST))
    return Histogram(edges, counts) if proto.min <= proto.max and np.isfinite(counts).all() else None


def _picture(proto: Any) -> Picture | None:
    data = bytes(proto.encoded_image_string)
    if not data.startswith(PNG) or len(data) > BYTES or len(data) < 24:
        return None
    width, height = struct.unpack(">II", data[16:24])       # the header chunk stands first
    return Picture(data, width, height)
