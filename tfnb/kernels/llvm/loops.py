"""Loop metadata for LLVM: marks the innermost loops of a kernel whose iterations are independent.

A kernel gets opaque addresses: LLVM must assume that a store may touch what a later iteration
loads. For a few operands it tests that at run time and takes a scalar loop when they overlap (so an update in place
would always be scalar, 3 to 4 times slower); for more operands it gives up. A source that says `INDEPENDENT = True`
promises that no iteration of an innermost loop stores what another one loads or stores; here this is written into the
IR, as `llvm.access.group` on loads and stores and `llvm.loop.parallel_accesses` on the loop.
"""
from __future__ import annotations

import re

_LABEL = re.compile(r'^("[^"]+"|[\w.$-]+):')
_TARGET = re.compile(r'label %("[^"]+"|[\w.$-]+)')
_ACCESS = re.compile(r"^\s+(%\S+ = load|store) ")
_NUMBER = re.compile(r"^!(\d+) = ", re.MULTILINE)
_LOOP = re.compile(r", !llvm\.loop !\d+")


def mark_independent(ir: str) -> str:
    """Return the source of an LLVM module whose innermost loops are marked as free of loop-carried dependences."""
    lines = ir.splitlines()
    group = max((int(number) for number in _NUMBER.findall(ir)), default=-1) + 1
    notes = [f"!{group} = distinct !{{}}", f'!{group + 1} = !{{!"llvm.loop.parallel_accesses", !{group}}}']
    for first, last in _functions(lines):
        blocks = _blocks(lines, first, last)
        for body, latches in innermost_loops(_edges(lines, blocks)):
            loop = group + len(notes)
            notes.append(f"!{loop} = distinct !{{!{loop}, !{group + 1}}}")
            for name in body:
                for i in blocks[name]:
                    if _ACCESS.match(lines[i]):
                        lines[i] += f", !llvm.access.group !{group}"
            for name in latches:
                end = blocks[name][-1]
                lines[end] = _LOOP.sub("", lines[end]) + f", !llvm.loop !{loop}"
    return "\n".join([*lines, *notes, ""])


def innermost_loops(edges: dict[str, list[str]]) -> list[tuple[set[str], list[str]]]:
    """Return (blocks, those that jump back) of each innermost loop; `edges`: block -> successors, entry first."""
    back: dict[str, list[str]] = {}
    for source, header in _back_edges(edges):
        back.setdefault(header, []).append(source)
    before: dict[str, list[str]] = {name: [] for name in edges}
    for name, targets in edges.items():
        for target in targets:
            before[target].append(name)
    loops = []
    for header, latches in back.items():
        body, todo = {header}, list(latches)
        while todo:
            name = todo.pop()
            if name not in body:
                body.add(name)
                todo += before[name]
        if not any(other in body for other in back if other != header):
            loops.append((body, latches))
    return loops


def _back_edges(edges: dict[str, list[str]]) -> list[tuple[str, str]]:
    """Return edges to a block that is still being visited, in a depth-first walk from the entry."""
    found, open_, seen = [], set(), set()
    stack: list[tuple[str, bool]] = [(next(iter(edges)), False)]
    while stack:
        name, leaving = stack.pop()
        if leaving:
            open_.discard(name)
            continue
        if name in seen:
            continue
        seen.add(name)
        open_.add(name)
        stack.append((name, True))
        for target in edges[name]:
            if target in open_:
                found.append((name, target))
            elif target not in seen:
                stack.append((target, False))
    return found


def _functions(lines: list[str]) -> list[tuple[int, int]]:
    """Return the lines [first, last) of each function's body, as LLVM and as llvmlite print it."""
    starts = [i for i, line in enumerate(lines) if line.startswith("define ")]
    return [(i + 1 if lines[i].endswith("{") else i + 2, lines.index("}", i)) for i in starts]


def _blocks(lines: list[str], first: int, last: int) -> dict[str, range]:
    """Return block name -> its lines, the last of which is (the end of) its terminator."""
    starts = [(match[1].strip('"'), i + 1) for i in range(first, last) if (match := _LABEL.match(lines[i]))]
    if not starts or starts[0][1] != first + 1:
        starts.insert(0, ("(entry)", first))
    ends = [start - 1 for _, start in starts[1:]] + [last]
    blocks = {}
    for (name, start), end in zip(starts, ends, strict=True):
        while end > start and not lines[end - 1].strip():
            end -= 1
        blocks[name] = range(start, end)
    return blocks


def _edges(lines: list[str], blocks: dict[str, range]) -> dict[str, list[str]]:
    return {name: [target.strip('"') for i in body for target in _TARGET.findall(lines[i])]
            for name, body in blocks.items()}
