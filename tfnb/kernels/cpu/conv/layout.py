"""NCHW by NHWC: kernels for images with channels last, transposed before and after for channels first."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

import numpy as np

from tfnb.kernels.arrays.window import channels_first
from tfnb.kernels.launch import Address, Call, Launch, Meta
from tfnb.kernels.library.copying import fill

GRAIN_BYTES = 1 << 17

# Item i: matrix i of rows x columns, transposed, in tiles that fit the first cache; (flip: matrix items - 1 - i.)
TRANSPOSE_TEXT = """
INDEPENDENT = True

def kernel(args, begin, end):
    rows, columns, flip = args[2], args[3], args[4]
    for i in range(begin, end):
        source = {type}_array(args[0] + {bytes} * rows * columns * (flip - i if flip >= 0 else i), 0)
        target = {type}_array(args[1] + {bytes} * rows * columns * i, 0)
        for r0 in range(0, rows, 32):
            r1 = min(r0 + 32, rows)
            for c in range(columns):
                for r in range(r0, r1):
                    target[c * rows + r] = source[r * columns + c]
"""


def transpose(source: Address, target: Address, type_: str, matrices: int, rows: int, columns: int,
              flip: bool = False) -> Launch:
    """Transpose each of `matrices` (rows x columns); flip: the last one first."""
    size = np.dtype(type_).itemsize
    grain = max(1, GRAIN_BYTES // max(1, rows * columns * size))
    text = TRANSPOSE_TEXT.format(type=type_ if type_ != "bool" else "uint8", bytes=size)
    whole = matrices * rows * columns * size
    args = (source.reach(whole), target.reach(whole), rows, columns, matrices - 1 if flip else -1)
    return Launch(text, args, matrices, grain, "transpose")


def around(call: Call, images: Sequence[int], made: Callable[[list[Address], Address], list[Launch]],
           turn_output: bool = True, zero: bool = True) -> list[Launch]:
    """Return launches made(addresses of the inputs `images`, address of the output), where all have channels last.

    With channels first they are transposed, the output where `turn_output`. zero: without input the output is 0.
    """
    sources, target, out = [call.input(i) for i in images], call.output(), call.outputs[0]
    before: list[Launch] = []
    after: list[Launch] = []
    if not out.size:
        return []
    if zero and not all(call.inputs[i].size for i in images):
        return fill(call, None, target, out)
    if channels_first(call.attrs):
        for place, i in enumerate(images):
            sources[place], launches = _channels_last(call, sources[place], call.inputs[i])
            before += launches
        if turn_output:
            target, after = _channels_back(call, target, out)
    return [*before, *made(sources, target), *after]


def _channels_last(call: Call, source: Address, meta: Meta) -> tuple[Address, list[Launch]]:
    """Return the address of the NHWC (NDHWC) form of an NCHW (NCDHW) image, and the launch that makes it."""
    n, c, *sizes = meta.shape
    target = call.scratch(meta.size * meta.itemsize)
    return target, [transpose(source, target, meta.type, n, c, prod(sizes))] if meta.size else []


def _channels_back(call: Call, target: Address, meta: Meta) -> tuple[Address, list[Launch]]:
    """Return the address for an output with channels last, and the launch that then transposes it to the output."""
    n, c, *sizes = meta.shape
    source = call.scratch(meta.size * meta.itemsize)
    return source, [transpose(source, target, meta.type, n, prod(sizes), c)]
