"""Launch records: the kernel source to run and its arguments, as hand-written kernels hand them to the compiler.

The `cpu=` function of an op's declaration takes a Call (its inputs and outputs, with known shapes) and returns a list
of Launches, run in order. An argument block is a row of int64 words: numbers stay as they are, an Address is replaced
by the address of that buffer when the program is built, a Code by that of a kernel. Inputs and outputs are contiguous,
in row-major order, and aligned to their element.
"""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any, Literal

import numpy as np

from tfnb.kernels.symbolic import whole

Kind = Literal["input", "output", "state", "scratch", "status", "epilogue"]


@dataclass(frozen=True, slots=True)
class Address:
    """The address of a buffer of the call, `offset_bytes` in.

    kind: "input" and "output" by index in the call; "scratch" by index in `Call.scratch_sizes`; "state" is the
    generator state of a random op (uint64[4]); "status" the status words of the program (index unused for both);
    "epilogue" the word at `index` in the argument block of the epilogue kernel.
    nbytes: the bytes from there on that the kernel's own arithmetic reaches, which the lowering checks against the
    size of the buffer; None where that is not stated.
    type: of the elements that a kernel function sees there; "" for that of the buffer.
    """

    kind: Kind
    index: int = 0
    offset_bytes: int = 0
    nbytes: int | None = None
    type: str = ""

    def at(self, offset_bytes: int) -> Address:
        """Return the address `offset_bytes` further on."""
        return Address(self.kind, self.index, self.offset_bytes + offset_bytes, None, self.type)

    def reach(self, nbytes: int) -> Address:
        """Return the address with a statement of how many bytes from there on the kernel may read or write."""
        return Address(self.kind, self.index, self.offset_bytes, nbytes, self.type)

    def of(self, type: str) -> Address:
        """Return the address as one of elements of another dtype: the same bytes."""
        return Address(self.kind, self.index, self.offset_bytes, self.nbytes, type)


@dataclass(frozen=True, slots=True)
class Code:
    """The address of another kernel, which the launch calls with `call_kernel`."""

    source: str


Word = int | Address | Code


@dataclass(frozen=True, slots=True)
class Launch:
    """One launch of the kernel that `source` defines: items [0, items), in chunks of `grain` for threads (0: unsplit).

    On a GPU: in `items` blocks of `grain` threads; the kernel gets numbers, and arrays from each address on.
    """

    source: str
    args: tuple[Word, ...]
    items: int
    grain: int = 0
    label: str = ""


@dataclass(frozen=True, slots=True)
class Meta:
    """An input or output: NumPy dtype name, shape, and the value where it is known when the program is built."""

    type: str
    shape: tuple[int, ...]
    value: np.ndarray | None = None

    @property
    def size(self) -> int:
        """The element count."""
        return prod(self.shape)

    @property
    def itemsize(self) -> int:
        """Bytes an element."""
        return np.dtype(self.type).itemsize


@dataclass(slots=True)
class Call:
    """One op to be lowered, for a device. `scratch_sizes` grows by `scratch(...)`: the buffers that the program must
    provide."""

    inputs: tuple[Meta, ...]
    outputs: tuple[Meta, ...]
    attrs: Mapping[str, Any] = field(default_factory=dict)
    scratch_sizes: list[int] = field(default_factory=list)
    device: Literal["cpu", "cuda"] = "cpu"

    def scratch(self, nbytes: int) -> Address:
        """Reserve a buffer for the time of the call, 64-byte aligned, with unspecified contents; return its address."""
        self.scratch_sizes.append(whole(nbytes))
        return Address("scratch", len(self.scratch_sizes) - 1)

    def input(self, index: int) -> Address:
        """Return the address of input `index`."""
        return Address("input", index)

    def output(self, index: int = 0) -> Address:
        """Return the address of output `index`."""
        return Address("output", index)

    def type_of(self, address: Address) -> str:
        """Return the dtype of the elements at an address; of scratch, where it says none, bytes."""
        if address.type or address.kind not in ("input", "output"):
            return address.type or {"state": "uint64", "status": "int64"}.get(address.kind, "uint8")
        return (self.inputs if address.kind == "input" else self.outputs)[address.index].type

    def columns(self, count: int) -> tuple[int, int]:
        """Return (width, blocks) of `count` adjacent columns: those that an item takes, and how often.

        All of them on the CPU, where an item's inner loop is vectorized; one on a GPU, where threads are.
        """
        return (count, 1) if self.device == "cpu" else (1, count)


def known_value(meta: Meta) -> np.ndarray:
    """Return the value of an input. Raises ValueError if it is not known when the kernel is chosen."""
    if meta.value is None:
        raise ValueError("the value of this input must be known when the kernel is chosen")
    return np.asarray(meta.value)


def known_axis(meta: Meta, rank: int) -> int:
    """Return the axis that an input names, of a tensor of this rank."""
    axis = int(known_value(meta))
    return axis + rank if axis < 0 else axis


# What a kernel that fails stores in word 0 of the status, and what the words after it then mean.
FAILURES = {
    9: "slice index {1} of dimension {0} out of bounds.",
    1: "indices[{0}] = {1} is not in [0, {2})",
    3: "segment_ids[{0}] = {1} is out of range [0, {2})",
    2: "Need minval < maxval, got {0} >= {1}",
    4: "the coordinates at position {0} of indices do not index into the shape: {1} is not in [0, {2}) (axis {3})",
    7: "Integer division by zero: the divisor at position {0} is {1}",
    5: "Integers to negative integer powers are not allowed: the exponent at position {0} is {1}",
    6: "Received a label value of {1}, at position {0}, which is outside the valid range of [0, {2})",
    11: "Not enough time for target transition sequence (required: {1}, available: {2}) in batch {0}: with "
        "ignore_longer_outputs_than_inputs=True such examples are left out",
    12: "Saw a non-null label following a null label (index >= {2}) in batch {0}: {1}",
    13: "All labels must be nonnegative integers, batch {0} has {1}",
    14: "sequence_length({0}) <= {2} is required, the number of steps of the inputs, got {1}",
    15: "label SparseTensor is not valid: indices[{0}] = [{1},{2}] is out of order, repeated, or out of bounds",
    16: "Labels length is zero in batch {0}",
    17: "seq_lengths must be in [0, {2}), got {1} at position {0}",
    10: "box_index has values outside [0, batch_size): box_ind[{0}] = {1} is not in [0, {2})",
}
OUT_OF_RANGE = frozenset({10})                     # those that are no InvalidArgumentError, but an OutOfRangeError


def failure_text(status: Sequence[int], shape: Sequence[int] | None = None) -> str | None:
    """Return the error message for the status words of a failed kernel; None for an unknown code.

    shape: of the values, to unravel the position into one index per axis.
    """
    text = FAILURES.get(status[0])
    if text is None:
        return None
    position, *rest = status[1:]
    if shape is None:
        return text.format(position, *rest)
    places = ",".join(str(int(n)) for n in np.unravel_index(position, shape)) if len(shape) else ""
    return text.replace("[{0}]", "[{0}]" if places else "").format(places or 0, *rest)
