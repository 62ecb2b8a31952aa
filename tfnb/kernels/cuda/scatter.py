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
from textwrap import indent

from tfnb.kernels.block import Block, fill
from tfnb.kernels.cuda.geometry import block_size
from tfnb.kernels.cuda.sources import cast, has_source, template
from tfnb.kernels.launch import Address, Call, Launch, Word
from tfnb.kernels.printer import Printer
from tfnb.kernels.scalar.definition import Attrs
from tfnb.kernels.scatter import Form, Rows, elements

SOURCE = """def kernel({arrays}, indices, count, size, {limits}):
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


def write(call: Call, form: Form, attrs: Attrs, type: str, rows: Rows) -> Launch:
    """Return the launch that writes the rows of a scatter op."""
    text = _source(form, attrs, type, rows.kinds, rows.types, rows.depth, block_size())
    arrays: list[Address] = [*map(call.input, rows.given), *map(call.output, range(len(form.refs)))]
    limits = call.inputs[form.refs[0]].shape[:rows.depth]
    args: tuple[Word, ...] = (*arrays, call.input(form.indices), rows.count, rows.size, *(limits or (1,)))
    return Launch(text, args, rows.count, block_size(), "scatter")


@lru_cache(maxsize=256)
def _source(form: Form, attrs: Attrs, type: str, kinds: tuple[str, ...], types: tuple[str, ...], depth: int,
          threads: int) -> str:
    kernel = elements(form, attrs, type, kinds, types)
    block = Block(has_source)
    values = fill(block, kernel)
    place = {"ref": "place * size + j", "row": "e * size + j", "scalar": "0"}
    texts = {i: f"a{i}[{place[kind]}]" for i, kind in enumerate(kinds)}
    known: dict[int, str] = {}
    roots = [values[store.name] for store in kernel.stores]
    lines = Printer(block, template, cast).lines(roots, known, texts)
    lines += [f"o{i}[{place['ref']}] = {known[root]}" for i, root in enumerate(roots)]
    arrays = [f"a{i}" for i in range(len(kinds))] + [f"o{i}" for i in range(len(kernel.stores))]
    inside = [f"{_index('i', axis, depth)} >= 0 and {_index('i', axis, depth)} < limit{axis}" for axis in range(depth)]
    return SOURCE.format(arrays=", ".join(arrays), limits=_limits(depth), place_i=_place("i", depth),
                       place_e=_place("e", depth), inside=" and ".join(inside) or "True", threads=threads,
                       body=indent("\n".join(lines), " " * 24))


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
