"""Kernels for images with channels last, used for images with channels first: transposed before and after."""
from __future__ import annotations

import numpy as np

from tfnb.kernels.launch import Address, Call, Launch, Meta

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
    """Each of `matrices` (rows x columns) transposed; flip: the last one first."""
    size = np.dtype(type_).itemsize
    grain = max(1, GRAIN_BYTES // max(1, rows * columns * size))
    text = TRANSPOSE_TEXT.format(type=type_ if type_ != "bool" else "uint8", bytes=size)
    return Launch(text, (source, target, rows, columns, matrices - 1 if flip else -1), matrices, grain, "transpose")


def channels_last(call: Call, source: Address, meta: Meta) -> tuple[Address, list[Launch]]:
    """The address of the NHWC form of an NCHW image, and the launch that makes it."""
    n, c, h, w = meta.shape
    target = call.scratch(meta.size * meta.itemsize)
    return target, [transpose(source, target, meta.type, n, c, h * w)] if meta.size else []


def channels_back(call: Call, target: Address, meta: Meta) -> tuple[Address, list[Launch]]:
    """Where to write the NHWC form of an NCHW output, and the launch that then makes the output of it."""
    n, c, h, w = meta.shape
    source = call.scratch(meta.size * meta.itemsize)
    return source, [transpose(source, target, meta.type, n, h * w, c)] if meta.size else []
