"""Values of a run in which every tensor is looked at as it is made: in a few numbers, as a picture, as an array."""
from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tfnb.core.describe import one_line
from tfnb.core.text import did_you_mean, expression
from tfnb.debug.tap import Tap
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.kernels.arrays.png import encode_png
from tfnb.notebook.drawing.geometry import shorten
from tfnb.notebook.drawing.tensor_stats import as_reals
from tfnb.notebook.drawing.value_label import Pill, pill_of

LEAST_SIDE, MOST_SIDE = 8, 64       # pixels of what counts as an image, and of what is shown of it
MOST_IMAGES = 8
MOST_OPENED = 12
ROOM = 256 << 20        # bytes of the arrays that a run leaves
LISTED, LETTERS = 40, 44            # lines of printed values, and letters of a name in them


@dataclass(frozen=True, slots=True, eq=False)
class Watched:
    """The last value of a tensor: its pill (None: no numbers), a line of text, and a PNG if it has an image's shape.

    array: the value, None where there was no room to keep it; NumPy takes a Watched for its array. before: the values
    before it, newest first, as far as they were to be kept (the iterations of a loop).
    """

    pill: Pill | None
    text: str
    png: bytes = b""
    before: tuple[Watched, ...] = ()
    array: np.ndarray | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the value."""
        return self.array.shape if self.array is not None else self.pill.shape if self.pill is not None else ()

    @property
    def dtype(self) -> Any:
        """The NumPy dtype of the value; its name where it was not kept."""
        return self.array.dtype if self.array is not None else self.pill.dtype if self.pill is not None else "object"

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if self.array is None:
            raise ValueError(f"this value was not kept ({self.text}): more than {ROOM >> 20} MB were seen; watch fewer "
                             "ops, by `pattern`")
        return np.array(self.array, dtype, copy=True) if dtype is not None or copy else self.array

    def __getitem__(self, place: Any) -> Any:
        return np.asarray(self)[place]

    def __repr__(self) -> str:
        more = f", and {len(self.before)} before it" if self.before else ""
        lost = ", not kept" if self.array is None else ""
        return f"<{self.text}{more}{lost}>"

    def as_json(self) -> dict[str, str]:
        """Return the state of the panel of a graph."""
        image = "data:image/png;base64," + base64.b64encode(self.png).decode() if self.png else ""
        return {"text": self.text, "image": image}


class Values(dict[str, Watched]):
    """Tensor name -> what was seen of it. `values["conv/Relu"]` is the first output of that op.

    Printed, a line each. Raises KeyError with the nearest name for one that was not seen.
    """

    def __missing__(self, name: str) -> Watched:
        if f"{name}:0" in self:
            return self[f"{name}:0"]
        known = [key.removesuffix(":0") for key in self]
        raise KeyError(f"no value of {name!r} was seen{did_you_mean(str(name), known)}")

    def __repr__(self) -> str:
        wide = min(LETTERS, max(map(len, self), default=0))
        lines = [f"{shorten(name, LETTERS):{wide}}  {seen.text}" for name, seen in list(self.items())[:LISTED]]
        more = [f"... and {len(self) - LISTED:,} more"] if len(self) > LISTED else []
        return "\n".join([*lines, *more]) or "no values"


def watched(array: np.ndarray, keep: bool = True) -> Watched:
    """The fingerprint of an array, and a copy of it if that is to be kept."""
    return Watched(pill_of(array), one_line(array), image_of(array), array=array.copy() if keep else None)


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

    keep: how many of each. Of at most ROOM bytes the arrays are kept. Raises ValueError for a wrong expression.
    """

    def __init__(self, pattern: str = "", keep: int = 1) -> None:
        self.values = Values()
        self.keep, self.nbytes = keep, 0
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
            last = self.values.get(tensor.name)
            chain = (replace(last, before=()), *last.before) if last is not None else ()
            self.nbytes -= sum(gone.array.nbytes for gone in chain[self.keep - 1:] if gone.array is not None)
            room = self.nbytes + array.nbytes <= ROOM
            self.nbytes += array.nbytes * room
            self.values[tensor.name] = replace(watched(array, room), before=chain[:self.keep - 1])


def opened(values: Mapping[str, Watched]) -> dict[str, Any]:
    """Options of a drawing in which the ops of a few values can be seen: the scopes around them are open."""
    names = {tensor.rpartition(":")[0] for tensor in values}
    scopes = dict.fromkeys(scope for name in sorted(names) if (scope := name.rpartition("/")[0])
                           and scope not in names)             # not those of variables, which are one node
    return {"expand": [*scopes]} if len(scopes) <= MOST_OPENED else {}
