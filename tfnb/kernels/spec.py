"""Kernel records: loops, loads, a straight-line body and stores, with no graph and no addresses in them.

The compiler fills these records from a fused group of ops; the emitters of `kernels/cpu` and `kernels/cuda` turn one
into the source of a kernel and the layout of its argument block. Two groups of the same form share one kernel.
Types are NumPy dtype names ("float32").
"""
from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tfnb.kernels.scalar.definition import Scalar
    from tfnb.kernels.scalar.rowwise import Fragment


@dataclass(frozen=True, slots=True)
class Operand:
    """A buffer that the kernel loads from or stores to.

    steps: how its address moves with each loop dimension, outermost first: "0" (not at all), "1" (to the next
    element) or "s" (by a stride, in elements, from the argument block); on CUDA also "b" (backwards by such a stride,
    from its last place in the dimension on). A store is named as the value it stores.
    private: of a store, that none of the kernel's loads lies in its memory, so that it may hold other values meanwhile.
    streams: of a store of contiguous rows in a RowKernel, how they go past the caches (kernels/llvm/streaming.py): by
    "element", where each row starts at a cache line, or as a whole "row", made in a buffer; "": they don't.
    """

    name: str
    type: str
    steps: tuple[str, ...]
    private: bool = False
    streams: str = ""


@dataclass(frozen=True, slots=True)
class Stmt:
    """`results = scalar(args)`: one node of a fused body.

    type: what the definition's literals are (its "T"); types: of each result, cast to at the assignment;
    attrs: keyword-only parameters of the definition and their values; label: the type of the op, for a comment.
    """

    scalar: Scalar | Fragment
    type: str
    args: tuple[str, ...]
    results: tuple[str, ...]
    types: tuple[str, ...]
    attrs: tuple[tuple[str, object], ...] = ()
    label: str = ""


@dataclass(frozen=True, slots=True)
class Reduce:
    """`result` = `finish`(`combine` of `arg` over the reduced dimensions, their element count).

    identity: a number, "lowest" or "highest"; type: of the accumulator, its literals and the result.
    """

    combine: Scalar | Fragment
    identity: float | str
    type: str
    arg: str
    result: str
    finish: Scalar | None = None
    label: str = ""


@dataclass(frozen=True, slots=True)
class MapKernel:
    """Elementwise kernel. Items: with rank <= 1 the elements, else the rows (all dimensions but the last, flat).

    repeated (with rank = 1, on the CPU): names of loads of one row only, whose elements serve every row. Items are then
    rows, of ("size", 1) elements, and all other loads and stores have them one behind another.
    """

    rank: int
    loads: tuple[Operand, ...]
    body: tuple[Stmt, ...]
    stores: tuple[Operand, ...]
    repeated: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RowKernel:
    """Reductions over the last `inner` dimensions; several, one after another, make several passes over a row.

    Items: the rows (the first `outer` dimensions, flattened). A value is row-level when every operand of it is; a
    store whose inner steps are all "0" takes a row-level value, another is written in the last pass.
    chunk > 0 (with outer = 0 and inner = 1): item c reduces elements [c * chunk, (c + 1) * chunk) of a vector only,
    row-level stores take their element c, and `finish` is left to the kernel that combines the chunks.
    """

    outer: int
    inner: int
    loads: tuple[Operand, ...]
    body: tuple[Stmt | Reduce, ...]
    stores: tuple[Operand, ...]
    chunk: int = 0


@dataclass(frozen=True, slots=True)
class ColumnKernel:
    """Reductions over dimension 0 of two; dimension 1 is kept, contiguous, and what the loops vectorise over.

    Items: the columns. With outer = 1 there is a kept dimension more before these, whose elements are the items: what
    is said of dimensions and steps here holds behind it, and a scratch vector has a part for each item.
    Each Reduce has a scratch vector of as many elements ("scratch" in the layout). What follows the reductions in the
    body is column-level; stores have steps ("0", "1"), or ("s", "1") for full-level values that do not depend on a
    reduction.
    """

    loads: tuple[Operand, ...]
    body: tuple[Stmt | Reduce, ...]
    stores: tuple[Operand, ...]
    outer: int = 0


Kernel = MapKernel | RowKernel | ColumnKernel

# One word of an argument block: ("load", name), ("store", name): an address; ("scratch", name): the address of the
# scratch vector of a Reduce's result; ("size", dimension); ("step", "load" | "store", name, dimension): a stride in
# elements.
Word = tuple[str, ...] | tuple[str, int] | tuple[str, str, str, int]


@dataclass(frozen=True, slots=True)
class Source:
    """The source of a kernel module (it defines `kernel`) and the meaning of each word of its argument block."""

    code: str
    layout: tuple[Word, ...]
