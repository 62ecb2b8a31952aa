"""The curves, histograms and pictures of a live board as a figure of matplotlib, for papers."""
from __future__ import annotations

import functools
import io
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tfnb.core.lazy import lazy_module
from tfnb.notebook.drawing.palette import SERIES
from tfnb.notebook.plots.media import Picture, Ridge
from tfnb.notebook.plots.panels import ACROSS, Curve, unit
from tfnb.notebook.plots.series import smooth

_figures = lazy_module("matplotlib.figure")
_images = lazy_module("matplotlib.image")

SIZE = (4.2, 2.8)       # inches of a panel
OVERLAP = 2.5           # rows of a ridge that the highest bin covers


@functools.cache
def figure_class() -> type[Any]:
    """matplotlib's Figure, shown in notebooks without pyplot, which would show it twice."""
    def png(figure: Any) -> bytes:
        file = io.BytesIO()
        figure.savefig(file, format="png", dpi=120)
        return file.getvalue()

    return type("Figure", (_figures.Figure,), {"_repr_png_": png, "__doc__": "A figure that shows itself."})


def draw(groups: Mapping[str, Sequence[Curve]], ridges: Sequence[tuple[str, Ridge]],
         pictures: Sequence[tuple[str, float, Picture]], smoothing: float, columns: int = ACROSS,
         x: str = "step") -> Any:
    """A figure with a panel for each group of curves, each ridge and each picture, `columns` side by side.

    x: "step" or "time".
    """
    count = max(1, len(groups) + len(ridges) + len(pictures))
    across = min(columns, count)
    down = -(-count // across)
    figure = figure_class()(figsize=(SIZE[0] * across, SIZE[1] * down), layout="constrained")
    axes = list(figure.subplots(down, across, squeeze=False).flat)
    for axis in axes[count:]:
        axis.remove()
    free = iter(axes)
    first: dict[str, Any] = {}
    measure = unit([curve for curves in groups.values() for curve in curves], x)
    for group, curves in groups.items():
        axis = next(free)
        _curves(axis, group, curves, smoothing, x, measure)
        other = first.setdefault(curves[0].share, axis) if curves[0].share else axis
        if other is not axis:
            axis.sharex(other)
            axis.sharey(other)
    for name, ridge in ridges:
        _ridge(next(free), name, ridge)
    for name, step, picture in pictures:
        axis = next(free)
        axis.imshow(_images.imread(io.BytesIO(picture.data)), cmap="gray", interpolation="nearest")
        axis.set_title(f"{name}, step {step:g}")
        axis.set_axis_off()
    return figure


def _curves(axis: Any, group: str, curves: Sequence[Curve], smoothing: float, x: str,
            measure: tuple[str, float]) -> None:
    for curve in curves:
        color = SERIES[curve.color % len(SERIES)][0]
        steps, values = curve.along(x) / measure[1], curve.points[:, 1]
        label = curve.name or curve.tag.removeprefix(f"{group}/")
        if smoothing:
            axis.plot(steps, values, color=color, alpha=0.25, linewidth=0.8)
            values = smooth(values, smoothing)
        axis.plot(steps, values, color=color, linewidth=1.5, label=label)
    axis.set_title(group)
    axis.set_xlabel(measure[0])
    axis.grid(alpha=0.25)
    if len(curves) > 1 or curves and curves[0].name:
        axis.legend(frameon=False)


def _ridge(axis: Any, name: str, ridge: Ridge) -> None:
    edges = np.linspace(ridge.low, ridge.high, ridge.table.shape[1] + 1)
    middles = (edges[1:] + edges[:-1]) / 2
    last = len(ridge.steps) - 1
    for row, heights in enumerate(ridge.table):
        top = last - row + OVERLAP * heights
        axis.fill_between(middles, last - row, top, color="white", alpha=0.85, zorder=row)
        axis.plot(middles, top, color=SERIES[0][0], alpha=0.35 + 0.65 * row / max(1, last), linewidth=1, zorder=row)
    rows = sorted({0, last // 2, last})
    axis.set_yticks([last - row for row in rows], [f"{ridge.steps[row]:g}" for row in rows])
    axis.set_title(name)
    axis.set_ylabel("step")
