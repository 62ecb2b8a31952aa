"""An activation, large: its channels as pictures of numbers, with sliders over batch, channel and kept runs.

In the state of a graph, `enlarged` is what heat maps show (drawing/heat_map.py), with {room: pixels of a picture,
facts, sliders: [{name, label, value, most, words, options (of a menu), play (it may run by itself)}]}; the front end
says
    {type: "enlarge", name: of a tensor}, "": none     {type: "slide", name: of a slider, value}
    {type: "zoom", panel, row, column}                  {type: "whole"}
"""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tfnb.core.text import counted
from tfnb.notebook.drawing.heat_map import Picture, Window, common_side, panel_json, picture, zoomed
from tfnb.notebook.drawing.svg import short
from tfnb.notebook.drawing.tensor_stats import as_reals, stats
from tfnb.notebook.drawing.value_label import pill_of

LEAST_SIDE = 5          # pixels of what counts as images
MOST_PANELS = 64        # channels that are drawn together
ROOMS = ((1, 440), (3, 300), (36, 120), (MOST_PANELS, 84))      # most pictures -> pixels of each

Frame = tuple[str, np.ndarray]      # the run that it is of, and the value


@dataclass(frozen=True, slots=True)
class Slider:
    """A choice between 0 and `most`. words: the value as it is told; options: words of a menu instead."""

    name: str
    label: str
    value: int
    most: int
    words: str = ""
    options: tuple[str, ...] = ()
    play: bool = False

    def as_json(self) -> dict[str, Any]:
        """Return the state for the browser."""
        return {"name": self.name, "label": self.label, "value": self.value, "most": self.most, "words": self.words,
                "options": list(self.options), "play": self.play}


class Enlargement:
    """The values of a tensor, of which a part is drawn.

    frames: at least one. place: the example of the batch; channel: 0 for all, else one more than its number; frame: the
    run; beside: 0 for none, else one more than the number of the run to compare with. All pictures of values have one
    scale, that of the whole tensor in these runs.
    """

    def __init__(self, name: str, frames: Sequence[Frame]) -> None:
        self.name, self.frames = name, list(frames)
        self.frame, self.place, self.channel, self.beside = len(frames) - 1, 0, 0, 0
        self.window: Window | None = None
        self._scales: dict[int, tuple[float, int]] = {}       # frame -> its largest magnitude, and its side

    @property
    def array(self) -> np.ndarray:
        """The value that is looked at."""
        return self.frames[self.frame][1]

    @property
    def images(self) -> bool:
        """Whether it is a batch of images: [examples, height, width, channels], none of them very small."""
        return self.array.ndim == 4 and min(self.array.shape[1:3]) >= LEAST_SIDE and self.array.size > 0

    def follow(self, frames: Sequence[Frame]) -> None:
        """Take newer frames; the newest is shown if the newest was."""
        last = self.frame == len(self.frames) - 1
        self.frames = list(frames)
        self._scales.clear()
        self.frame = len(frames) - 1 if last else min(self.frame, len(frames) - 1)
        self._stay()

    def slide(self, name: str, value: int) -> None:
        """Move a slider. Raises ValueError for one that is not there, or a place that it has not."""
        slider = next((each for each in self.sliders() if each.name == name), None)
        if slider is None or not 0 <= value <= slider.most:
            raise ValueError(f"{self.name} has no slider {name!r} with {value}")
        setattr(self, name, value)
        self._stay()

    def hear(self, message: Mapping[str, Any]) -> None:
        """Do what the front end asks: slide, zoom, whole. Raises ValueError for a place that is not there."""
        numbers = [message.get(name, 0) for name in ("value", "panel", "row", "column")]
        value, panel, row, column = (each if isinstance(each, int) else -1 for each in numbers)
        if message.get("type") == "slide":
            self.slide(str(message.get("name", "")), value)
        elif message.get("type") == "zoom" and min(panel, row, column) >= 0:
            self.zoom(panel, row, column)
        elif message.get("type") == "whole":
            self.whole()

    def _stay(self) -> None:
        """Keep the places within arrays of other shapes; what was looked at closely is whole again."""
        limits = {slider.name: slider.most for slider in self.sliders()}
        for name in ("place", "channel", "beside"):
            setattr(self, name, min(getattr(self, name), limits.get(name, 0)))
        if self.beside and self.images:         # one channel of both
            self.channel = max(1, self.channel)
        self.window = None

    def sliders(self) -> list[Slider]:
        """The sliders that there are for arrays of this shape, and for the runs."""
        shape, found = self.array.shape, []
        if len(self.frames) > 1:
            labels = [label for label, _ in self.frames]
            found.append(Slider("frame", "run", self.frame, len(labels) - 1, labels[self.frame], play=True))
            found.append(Slider("beside", "beside it", self.beside, len(labels), "", ("nothing", *labels)))
        if self._examples > 1:
            found.append(Slider("place", "example", self.place, self._examples - 1, f"{self.place} of {shape[0]}",
                                play=True))
        if self.images and shape[-1] > 1:
            told = f"{self.channel - 1} of {shape[-1]}" if self.channel else f"all {shape[-1]}"
            found.append(Slider("channel", "channel", self.channel, shape[-1], told))
        return found

    @property
    def _examples(self) -> int:
        return self.array.shape[0] if self.images or self.array.ndim == 3 and self.array.size else 0

    def _shown(self) -> list[tuple[str, np.ndarray]]:
        """(title, matrix or vector) of each picture."""
        label, array = self.frames[self.frame]
        runs = [(label, array)]
        if self.beside:
            runs.append(self.frames[self.beside - 1])
        parts = [(label, one[self.place] if self._examples and self.place < len(one) else one) for label, one in runs]
        if self.images and not self.channel and not self.beside:
            whole = parts[0][1]
            return [(f"channel {c}", whole[..., c]) for c in range(min(whole.shape[-1], MOST_PANELS))]
        if self.images:
            channel = max(0, self.channel - 1)
            parts = [(label, one[..., channel] if one.ndim == 3 and channel < one.shape[-1] else one)
                     for label, one in parts]
        if len(parts) == 2 and parts[0][1].shape == parts[1][1].shape:
            numbers = [as_reals(one) for _, one in parts]
            if numbers[0] is not None and numbers[1] is not None:
                with np.errstate(all="ignore"):
                    parts.append((f"{parts[0][0]} − {parts[1][0]}", numbers[0].astype(np.float64) - numbers[1]))
        titled = f", channel {max(0, self.channel - 1)}" if self.images and self.array.shape[-1] > 1 else ""
        return [((label + titled).removeprefix(", "), one) for label, one in parts]

    def panels(self) -> list[tuple[str, Picture]]:
        """The pictures. Raises ValueError for a tensor that has no numbers."""
        scales = [*map(self._scale, [self.frame, *([self.beside - 1] if self.beside else [])])]
        limit, side = max(limit for limit, _ in scales), common_side(side for _, side in scales)
        drawn = []
        for title, part in self._shown():
            one = picture(part, window=self.window if part.ndim > 1 else None)
            drawn.append((title, replace(one, limit=limit, side=side) if "−" not in title else one))
        return drawn

    def _scale(self, frame: int) -> tuple[float, int]:
        if frame not in self._scales:
            drawn = picture(self.frames[frame][1])
            self._scales[frame] = drawn.limit, drawn.side
        return self._scales[frame]

    def zoom(self, panel: int, row: int, column: int) -> None:
        """A cell was clicked: look closer, or see its channel alone."""
        if self.images and not self.channel and not self.beside:
            self.channel = panel + 1
            return
        drawn = self.panels()
        if panel < len(drawn):
            self.window = zoomed(drawn[panel][1], row, column) or self.window

    def whole(self) -> None:
        """See all of it again."""
        if self.window is None and not self.beside:
            self.channel = 0
        self.window = None

    def facts(self) -> str:
        """The figures of what is drawn."""
        parts = [part for title, part in self._shown() if "−" not in title]
        found = stats(np.stack(parts)) if len({part.shape for part in parts}) == 1 else stats(parts[0])
        pill = pill_of(self.array)
        if found is None or pill is None:
            return ""
        bad = f" · {found.bad:.2%} NaN or inf" if found.bad else ""
        kind = f"{pill.dtype}[{', '.join(map(str, pill.shape))}]"
        figures = f"mean {short(found.mean)}, sd {short(found.std)}, norm {short(found.norm)}"
        return f"{kind} · drawn: {short(found.low)} to {short(found.high)}, {figures}{bad} · {self._zeros(parts)}"

    @staticmethod
    def _zeros(parts: Sequence[np.ndarray]) -> str:
        zeros, size = sum(int(np.count_nonzero(part == 0)) for part in parts), sum(part.size for part in parts)
        return f"{zeros / max(1, size):.0%} zero"

    def as_json(self) -> dict[str, Any]:
        """Return the state for the browser. Raises ValueError for a tensor that has no numbers."""
        drawn = self.panels()
        room = next(pixels for most, pixels in ROOMS if len(drawn) <= most)
        hidden = self.array.shape[-1] - MOST_PANELS if self.images and len(drawn) == MOST_PANELS else 0
        more = f" · {counted(hidden, 'channel')} more: by the slider" if hidden > 0 else ""
        return {"title": self.name, "panels": [panel_json(*one) for one in drawn], "first": False, "room": room,
                "zoomed": self.window is not None or bool(self.channel and self.images and not self.beside),
                "sliders": [slider.as_json() for slider in self.sliders()], "facts": self.facts() + more}
