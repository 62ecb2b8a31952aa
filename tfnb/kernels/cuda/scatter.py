"""The kernel of a scatter op on a GPU, generated from its scalar definition.

    def kernel(a0, a1, o0, indices, count, size, limit0):
        lane = cuda.threadIdx.x
        for i in range(cuda.blockIdx.x, count, cuda.gridDim.x):
            place = int64(indices[i])
            first = place >= 0 and place < limit0
            for e in range(i):
                if int64(indices[e]) == place:
                    first = False
                    break
            if first:
                for j in range(lane, size, 128):
                    for e in range(i, count):
                        if int64(indices[e]) == place:
                            v0 = a0[place * size + j] + a1[e * size + j]
                            o0[place * size + j] = v0

A block for each index; the one of the first index of a place does all of that place, in their order. So nothing depends
on the order of threads, and the numbers are the CPU's. The price is a look at all earlier indices by each block.
"""
from __future__ import annotations

from functools import lru_cache
from math import prod

from tfnb.kernels.block import Block, fill
from tfnb.kernels.cuda.checks import STATUS, indented, tell
from tfnb.kernels.cuda.geometry import block_size, blocks_of
from tfnb.kernels.cuda.texts import has_text, template
from tfnb.kernels.launch import Address, Call, Launch, Word
from tfnb.kernels.printer import Printer
from tfnb.kernels.scalar.definition import Attrs
from tfnb.kernels.scatter import Form, elements

CHECK_TEXT = """def kernel(indices, status, count, {limits}):
    for i in range(cuda.grid(1), count, cuda.gridsize(1)):
{checks}
"""

TEXT = """def kernel({arrays}, indices, count, size, {limits}):
    lane = cuda.threadIdx.x
    for i in range(cuda.blockIdx.x, count, cuda.gridDim.x):
        place = {place_i}
        first = {inside}
        for e in range(i):
            if {place_e} == place:
                first = False
                break
        if first:
            for j in range(lane, size, {threads}):
                for e in range(i, count):
                    if {place_e} == place:
{body}
"""


def scatter(call: Call, form: Form, attrs: Attrs, type: str) -> list[Launch]:
    """Return the launches of a scatter op: a check of all indices, then the writing. attrs, type: of the definition.

    The outputs are the memory of the refs. Status words on a failure: as on the CPU.
    """
    target, indices = call.inputs[form.refs[0]], call.inputs[form.indices]
    depth = form.coordinates(indices.shape)
    count, size = prod(indices.shape[:-1] if form.vectors else indices.shape), prod(target.shape[depth:])
    if not count:
        return []
    limits = target.shape[:depth]
    launches = [Launch(_check_text(depth, form.vectors), (call.input(form.indices), STATUS, count, *(limits or (1,))),
                       blocks_of(count), block_size(), "check indices")]
    if not size:
        return launches
    given = [i for i in range(len(form.scalar.params) + 1) if i != form.indices]
    kinds = tuple("ref" if i in form.refs else "row" if i in form.rows and call.inputs[i].shape != () else "scalar"
                  for i in given)
    text = _text(form, attrs, type, kinds, tuple(call.inputs[i].type for i in given), depth, block_size())
    arrays: list[Address] = [call.input(i) for i in given] + [call.output(i) for i in range(len(form.refs))]
    args: tuple[Word, ...] = (*arrays, call.input(form.indices), count, size, *(limits or (1,)))
    return [*launches, Launch(text, args, count, block_size(), "scatter")]


@lru_cache(maxsize=256)
def _check_text(depth: int, vectors: bool) -> str:
    lines: list[str] = []
    for axis in range(depth):
        at = _index("i", axis, depth)
        lines += [f"if {at} < 0 or {at} >= limit{axis}:",
                  indented(tell(4 if vectors else 1, "i", at, f"limit{axis}", str(axis)), 1)]
    return CHECK_TEXT.format(limits=_limits(depth), checks=indented("\n".join(lines or ["pass"]).splitlines(), 2))


@lru_cache(maxsize=256)
def _text(form: Form, attrs: Attrs, type: str, kinds: tuple[str, ...], types: tuple[str, ...], depth: int,
          threads: int) -> str:
    kernel = elements(form, attrs, type, kinds, types)
    block = Block(has_text)
    values = fill(block, kernel)
    place = {"ref": "place * size + j", "row": "e * size + j", "scalar": "0"}
    texts = {i: f"a{i}[{place[kind]}]" for i, kind in enumerate(kinds)}
    known: dict[int, str] = {}
    roots = [values[store.name] for store in kernel.stores]
    lines = Printer(block, template).lines(roots, known, texts)
    lines += [f"o{i}[{place['ref']}] = {known[root]}" for i, root in enumerate(roots)]
    arrays = [f"a{i}" for i in range(len(kinds))] + [f"o{i}" for i in range(len(kernel.stores))]
    inside = [f"{_index('i', axis, depth)} >= 0 and {_index('i', axis, depth)} < limit{axis}" for axis in range(depth)]
    return TEXT.format(arrays=", ".join(arrays), limits=_limits(depth), place_i=_place("i", depth),
                       place_e=_place("e", depth), inside=" and ".join(inside) or "True", threads=threads,
                       body=indented(lines, 6))


def _limits(depth: int) -> str:
    return ", ".join(f"limit{axis}" for axis in range(max(1, depth)))


def _index(i: str, axis: int, depth: int) -> str:
    return f"int64(indices[{i}])" if depth == 1 else f"int64(indices[{i} * {depth} + {axis}])"


def _place(i: str, depth: int) -> str:
    """Return the row that index i selects; 0 where it selects all."""
    text = _index(i, 0, depth) if depth else "0"
    for axis in range(1, depth):
        text = f"({text}) * limit{axis} + {_index(i, axis, depth)}"
    return text
