"""Values on the edges of a graph: a run in which every tensor is looked at as it is made."""
from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tfnb.core.describe import one_line
from tfnb.core.text import expression
from tfnb.debug.tap import Tap, run_tapped
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.kernels.arrays.png import encode_png
from tfnb.notebook.drawing.tensor_stats import as_reals
from tfnb.notebook.drawing.value_label import Pill, pill_of
from tfnb.notebook.frontend.fetch import in_session
from tfnb.notebook.graph.view import GraphView, graph_view
from tfnb.runtime.fetch import read_fetches
from tfnb.runtime.session import BaseSession

LEAST_SIDE, MOST_SIDE = 8, 64       # pixels of what counts as an image, and of what is shown of it
MOST_IMAGES = 8
MOST_OPENED = 12


@dataclass(frozen=True, slots=True)
class Watched:
    """The last value of a tensor: its pill (None: no numbers), a line of text, and a PNG if it has an image's shape.

    before: the values before it, newest first, as far as they were to be kept (the iterations of a loop).
    """

    pill: Pill | None
    text: str
    png: bytes = b""
    before: tuple[Watched, ...] = ()

    def as_json(self) -> dict[str, str]:
        """Return the state of the panel of a graph."""
        image = "data:image/png;base64," + base64.b64encode(self.png).decode() if self.png else ""
        return {"text": self.text, "image": image}


def watched(array: np.ndarray) -> Watched:
    """The fingerprint of an array."""
    return Watched(pill_of(array), one_line(array), image_of(array))


def image_of(array: np.ndarray) -> bytes:
    """A PNG of up to MOST_IMAGES pictures side by side; b"" for what is not [images, height, width, channels].

    With 1 or 3 channels, and bytes with 4, they are images, else the channels of the first one.
    """
    if array.ndim != 4 or min(array.shape[1:3], default=0) < LEAST_SIDE or not array.size:
        return b""
    step = -(-max(array.shape[1:3]) // MOST_SIDE)
    numbers = as_reals(array[:MOST_IMAGES, ::step, ::step])
    if numbers is None:
        return b""
    if numbers.shape[3] not in ((1, 3, 4) if array.dtype == np.uint8 else (1, 3)):
        numbers = np.moveaxis(numbers[0, :, :, :MOST_IMAGES], 2, 0)[..., None]
    bytes_ = _as_bytes(numbers.astype(np.float64))
    framed = np.pad(bytes_, ((0, 0), (0, 0), (0, 1), (0, 0)), constant_values=255)
    return encode_png(np.ascontiguousarray(np.concatenate(list(framed), axis=1)))


def _as_bytes(numbers: np.ndarray) -> np.ndarray:
    """0 to 255: pictures in [0, 1] or integers to 255 as they are, others from their least to their greatest."""
    good = np.where(np.isfinite(numbers), numbers, 0.0)
    low, high = float(good.min()), float(good.max())
    if low >= 0 and high <= 255 and (high <= 1 or (high > MOST_SIDE and bool((good == good.round()).all()))):
        low, high = 0.0, 1.0 if high <= 1 else 255.0
    with np.errstate(all="ignore"):
        scaled = (good / 2 - low / 2) / ((high / 2 - low / 2) or 1.0) * 255
    return np.clip(scaled, 0, 255).astype(np.uint8)


class Recorder(Tap):
    """Remembers the last values of each tensor whose op's name the expression is found in ("": of all).

    keep: how many of each. Raises ValueError for a wrong expression.
    """

    def __init__(self, pattern: str = "", keep: int = 1) -> None:
        self.values: dict[str, Watched] = {}
        self.keep = keep
        self._pattern = expression(pattern)
        self._wanted: dict[Operation, bool] = {}
        self._made: set[Tensor] = set()

    def before(self, op: Operation, inputs: Sequence[np.ndarray]) -> None:
        """Note what no op makes: feeds, variables, what comes through branches."""
        for tensor, array in zip(op.inputs, inputs, strict=True):
            if tensor not in self._made:
                self._note(tensor, array)

    def after(self, op: Operation, outputs: tuple[np.ndarray, ...]) -> tuple[np.ndarray, ...]:
        """Note what an op makes."""
        for tensor, array in zip(op.outputs, outputs, strict=True):
            self._made.add(tensor)
            self._note(tensor, array)
        return outputs

    def _note(self, tensor: Tensor, array: np.ndarray) -> None:
        op = tensor.op
        if op not in self._wanted:
            self._wanted[op] = bool(self._pattern.search(op.name))
        if self._wanted[op]:
            last = self.values.get(tensor.name) if self.keep > 1 else None
            before = (replace(last, before=()), *last.before)[:self.keep - 1] if last is not None else ()
            self.values[tensor.name] = replace(watched(array), before=before)


def opened(values: Mapping[str, Watched]) -> dict[str, Any]:
    """Options of a drawing in which the ops of a few values can be seen: the scopes around them are open."""
    names = {tensor.rpartition(":")[0] for tensor in values}
    scopes = dict.fromkeys(scope for name in sorted(names) if (scope := name.rpartition("/")[0])
                           and scope not in names)             # not those of variables, which are one node
    return {"expand": [*scopes]} if len(scopes) <= MOST_OPENED else {}


def watch(*fetches: Any, feed: Mapping[Any, Any] | None = None, session: BaseSession | None = None,
          pattern: str = "", last: int = 1, **options: Any) -> GraphView:
    """Run `fetches` op by op, and draw what they need with the values of this run on its edges.

    pattern: a regular expression: ops whose values are shown; last: how many of each, as loops make them. options:
    those of `graph_view`. The run is a real one, and `values` of the view has what was seen, by the names of tensors.

    Raises NoSessionError if it is not clear which session, KeyError for a name that is not there, ValueError for a
    wrong expression, and what `Session.run` raises.
    """
    chosen, wanted, fed = in_session(fetches, feed, session)
    recorder = Recorder(pattern, last)
    run_tapped(chosen, wanted, fed, recorder)
    options.setdefault("level", "ops" if pattern else "layers")
    return graph_view(elements_of(chosen, wanted), values=recorder.values, **options)


def elements_of(session: BaseSession, wanted: Any) -> list[Any]:
    """The tensors and operations that fetches, also nested ones, stand for: variables are their tensors."""
    found = read_fetches(wanted, session.graph)
    return [*found.tensors, *found.targets]
