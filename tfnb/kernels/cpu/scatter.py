"""The kernel of a scatter op on the CPU, generated from its scalar definition.

    for i in range(count):
        place = int64(indices[i])
        a0 = float32_array(args[0] + 4 * (place * size + begin), n)
        a1 = float32_array(args[1] + 4 * (i * size + begin), n)
        o0 = float32_array(args[2] + 4 * (place * size + begin), n)
        for j in range(n):
            o0[j] = a0[j] + a1[j]

Items are the columns of a row: every thread walks over all indices in their order, so no two write to the same place.
Another kernel looks at all indices before. Status words on a failure: BAD_INDEX (rows) or BAD_COORDINATE (vectors of
coordinates), the position, the index, the limit, its axis.
"""
from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import Any

from tfnb.kernels.block import Block, fill
from tfnb.kernels.cpu.fused.operands import Arguments, Place, places
from tfnb.kernels.cpu.fused.rows import indented, source_text
from tfnb.kernels.cpu.fused.sources import has_source, template
from tfnb.kernels.launch import Address, Call, Launch
from tfnb.kernels.printer import Printer
from tfnb.kernels.scalar.definition import Attrs
from tfnb.kernels.scatter import Form, Rows, elements
from tfnb.kernels.spec import Source

GRAIN = 32768                                           # elements that one thread takes at a time


def write(call: Call, form: Form, attrs: Attrs, type: str, rows: Rows) -> Launch:
    """Return the launch that writes the rows of a scatter op."""
    target, indices = call.inputs[form.refs[0]], call.inputs[form.indices]
    source = _source(form, attrs, type, rows.kinds, rows.types, indices.type, rows.depth, rows.counted is not None)
    elements = {"ref": prod(target.shape), "row": rows.count * rows.size, "scalar": 1}

    def word(meaning: Any) -> int | Address:
        """Return a word of the kernel's argument block: an integer, or the address of an array."""
        match meaning:
            case ("load", str(name)):
                at = int(name[1:])
                return call.input(rows.given[at]).reach(elements[rows.kinds[at]] * call.inputs[rows.given[at]].itemsize)
            case ("store", str(name)):
                at = int(name[1:])
                return call.output(at).reach(elements["ref"] * call.outputs[at].itemsize)
            case ("indices",):
                return call.input(form.indices).reach(rows.count * rows.depth * indices.itemsize)
            case ("limit", int(axis)):
                return target.shape[axis]
            case ("count",):
                return rows.counted or rows.count
        return rows.size

    return Launch(source.code, tuple(map(word, source.layout)), rows.size, max(64, GRAIN // rows.count), "scatter")


@lru_cache(maxsize=256)
def _source(form: Form, attrs: Attrs, type: str, kinds: tuple[str, ...], types: tuple[str, ...], index: str,
            depth: int, counted: bool) -> Source:
    """Return the source; its layout names the words of `scatter`."""
    kernel = elements(form, attrs, type, kinds, types)
    block, args = Block(has_source), Arguments()
    values = fill(block, kernel)
    taken, put = places(kernel.loads, kernel.stores, args)
    printer = Printer(block, template)
    texts = {i: place.load("j", 1) for i, place in enumerate(taken)}
    count = args.text("count")
    lines = ["n = end - begin", f"size = {args.text('size')}", f"count = {f'load({count})' if counted else count}",
             f"indices = {index}_array({args.text('indices')}, count)"]
    lines += [place.at(args, "", "1") for place, kind in zip(taken, kinds, strict=True) if kind == "scalar"]
    roots = [values[store.name] for store in kernel.stores]
    known: dict[int, str] = {}
    lines += printer.lines(_outside(block, taken, roots), known, texts)
    inner = printer.lines(roots, known, texts)
    inner += [place.store("j", 1, known[root]) for place, root in zip(put, roots, strict=True)]
    used = {block.values[v].data for v in block.needed(roots) if block.values[v].primitive == "load"}
    views = [_view(place, args, "i" if kind == "row" else "place") for i, (place, kind) in
             enumerate(zip(taken, kinds, strict=True)) if kind != "scalar" and i in used]
    views += [_view(place, args, "place") for place in put]
    lines += ["for i in range(count):",
              *indented([*_place(args, depth), *views, "for j in range(n):", *indented(inner)])]
    return Source(source_text(lines), tuple(args.layout))


def _view(place: Place, args: Arguments, row: str) -> str:
    return place.at(args, f"{row} * size + begin", "n")


def _outside(block: Block, taken: list[Place], roots: list[int]) -> list[int]:
    """Return the loop-invariant values (the same for all rows) that others use."""
    moving: list[bool] = []
    for value in block.values:
        own = value.primitive == "load" and taken[value.data].operand.steps[0] != "0"
        moving.append(own or any(moving[arg] for arg in value.args))
    wanted = block.needed(roots)
    used = {arg for v in wanted if moving[v] for arg in block.values[v].args} | set(roots)
    return [v for v in wanted if not moving[v] and v in used]


def _index(axis: int, depth: int) -> str:
    return "indices[i]" if depth == 1 else f"indices[i * {depth} + {axis}]"


def _place(args: Arguments, depth: int) -> list[str]:
    """Return the lines that make `place`: the row that index i selects."""
    lines = [f"place = int64({_index(0, depth)})" if depth else "place = 0"]
    return lines + [f"place = place * {args.text('limit', axis)} + int64({_index(axis, depth)})"
                    for axis in range(1, depth)]
