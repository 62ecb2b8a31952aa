"""Concat, pad and tile kernels.

    concat(call)    ConcatV2 (values..., axis), Concat (axis, values...)
    pad(call)       Pad, PadV2 (input, paddings[, constant])
    tile(call)      Tile (input, multiples)

The value of axis, paddings and multiples must be known (Meta.value). NumPy has one-liners for all of these.
"""
from __future__ import annotations

from collections.abc import Sequence
from math import prod

from tfnb.kernels.cpu.copying import BYTES_PER_CHUNK, STRIDED_TEXT, UNITS, by_unit, fill
from tfnb.kernels.launch import Address, Call, Launch, Meta, Word, known_axis, known_value


def concat(call: Call) -> list[Launch]:
    """Copy each input to its place in every row of the output. The axis is the input that is known to be a scalar."""
    first = 1 if not call.inputs[0].shape and len(call.outputs[0].shape) else 0
    meta = call.inputs[0] if first else call.inputs[-1]
    parts = range(first, len(call.inputs) - (not first))
    shape = call.outputs[0].shape
    axis = known_axis(meta, len(shape))
    wide = prod(shape[axis:]) * call.outputs[0].itemsize
    launches, place = [], 0
    for i in parts:
        row = prod(call.inputs[i].shape[axis:]) * call.inputs[i].itemsize
        launches += _strided(call.input(i), call.output().at(place), prod(shape[:axis]), row, wide)
        place += row
    return launches


def pad(call: Call) -> list[Launch]:
    """Fill with the constant (0 without one), then copy the input's rows to their positions."""
    source, out = call.inputs[0], call.outputs[0]
    before = [int(pair[0]) for pair in known_value(call.inputs[1]).reshape(-1, 2)]
    if not out.size:
        return []
    launches = [fill(call.input(2) if len(call.inputs) > 2 else 0, call.output(), out)]
    return launches + _box(call, source, out, before)


def tile(call: Call) -> list[Launch]:
    """Copy the input side by side, as many times in each dimension as `multiples` says."""
    source, out = call.inputs[0], call.outputs[0]
    if not out.size:
        return []
    shape, size = source.shape, source.itemsize
    rank = len(shape)
    text = TILE_TEXT.format(unit=UNITS.get(size, "uint64"), bytes=min(size, 8), rank=rank,
                            steps="".join(_tile_step(i) for i in reversed(range(rank - 1))))
    last, out_last, factor = (shape[-1] if rank else 1), (out.shape[-1] if rank else 1), max(1, size // 8)
    rows = out.size // out_last
    args: tuple[Word, ...] = (call.input(0).reach(prod(shape[:-1]) * last * size),
                              call.output().reach(rows * out_last * size), last * factor, out_last * factor,
                              *_pairs(shape[:-1], out.shape[:-1]))
    return [Launch(text, args, rows, max(1, BYTES_PER_CHUNK // (out_last * size)), "tile")]


# Item i: one row (last dimension) of the output; args: source, target, source and target units a row, then for each
# other dimension the source's and the target's size.
TILE_TEXT = """
INDEPENDENT = True

def kernel(args, begin, end):
    size, wide = args[2], args[3]
    for i in range(begin, end):
        rest, place, step = i, 0, 1
{steps}
        source = {unit}_array(args[0] + {bytes} * size * place, size)
        for k in range(wide // size):
            target = {unit}_array(args[1] + {bytes} * (wide * i + size * k), size)
            for j in range(size):
                target[j] = source[j]
"""


def _tile_step(dimension: int) -> str:
    source, target = 4 + 2 * dimension, 5 + 2 * dimension
    return (f"        place += rest % args[{target}] % args[{source}] * step\n"
            f"        rest, step = rest // args[{target}], step * args[{source}]\n")


def _box(call: Call, source: Meta, out: Meta, before: Sequence[int]) -> list[Launch]:
    """Copy the input into the box of the output that starts at `before`, by runs that are contiguous in both."""
    if not source.size:
        return []
    rank, size = len(source.shape), source.itemsize
    inner = max(rank - 1, 0)                            # dimensions after this one are whole
    while inner and source.shape[inner] == out.shape[inner]:
        inner -= 1
    run = prod(source.shape[inner:]) * size
    strides = [prod(out.shape[i + 1:]) * size for i in range(rank)]
    start = sum(b * stride for b, stride in zip(before, strides, strict=True))
    text, _, unit = by_unit(BOX_TEXT.replace("{steps}", "".join(_box_step(i) for i in reversed(range(inner)))),
                             run, start, *strides[:inner])
    words = [w for i in range(inner) for w in (source.shape[i], strides[i] // unit)]
    items = source.size * size // run
    far = sum((n - 1) * stride for n, stride in zip(source.shape[:inner], strides[:inner], strict=True))
    args: tuple[Word, ...] = (call.input(0).reach(items * run), call.output().at(start).reach(far + run), run // unit,
                              *words)
    return [Launch(text, args, items, max(1, BYTES_PER_CHUNK // run), "copy box")]


# Item i: one run of the source; args: source, target, units a run, then for each dimension before it the source's size
# and the target's stride.
BOX_TEXT = """
INDEPENDENT = True

def kernel(args, begin, end):
    size = args[2]
    for i in range(begin, end):
        rest, place = i, 0
{steps}
        source = {unit}_array(args[0] + {bytes} * size * i, size)
        target = {unit}_array(args[1] + {bytes} * place, size)
        for j in range(size):
            target[j] = source[j]
"""


def _box_step(dimension: int) -> str:
    return (f"        place += rest % args[{3 + 2 * dimension}] * args[{4 + 2 * dimension}]\n"
            f"        rest = rest // args[{3 + 2 * dimension}]\n")


def _strided(source: Address, target: Address, rows: int, row_bytes: int, wide_bytes: int) -> list[Launch]:
    """Copy rows that follow one another to rows that begin `wide_bytes` apart."""
    if not rows * row_bytes:
        return []
    text, _, unit = by_unit(STRIDED_TEXT, row_bytes, wide_bytes, target.offset_bytes, source.offset_bytes)
    args = (source.reach(rows * row_bytes), target.reach((rows - 1) * wide_bytes + row_bytes), row_bytes // unit,
            wide_bytes // unit)
    return [Launch(text, args, rows, max(1, BYTES_PER_CHUNK // row_bytes), "copy")]


def _pairs(source: tuple[int, ...], target: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(size for pair in zip(source, target, strict=True) for size in pair)


