"""GPU kernels of argmax, argmin, cumsum and cumprod: a thread for each row.

The value of the axis must be known. Of equal elements the first one wins; NaN never does.
ValueError: argmax or argmin of an empty axis.
"""
from __future__ import annotations

from functools import partial
from math import prod

from tfnb.kernels.cuda.copying import over
from tfnb.kernels.launch import Call, Launch, known_axis

EXTREME_TEXT = """def kernel(x, target, count, inner, n):
    for i in range(cuda.grid(1), n, cuda.gridsize(1)):
        start = i // inner * count * inner + i % inner
        best, place = x[start], 0
        for k in range(1, count):
            value = x[start + k * inner]
            if value {sign} best or (best != best and value == value):
                best, place = value, k
        target[i] = place
"""

SCAN_TEXT = """def kernel(x, target, count, inner, first, move, n):
    for i in range(cuda.grid(1), n, cuda.gridsize(1)):
        start = i // inner * count * inner + i % inner
        total = {type}({begin})
        for k in range(count):
            at = start + (first + k * move) * inner
            value = x[at]
{step}
"""


def _extreme(call: Call, sign: str) -> list[Launch]:
    x, out = call.inputs[0], call.outputs[0]
    axis = known_axis(call.inputs[1], len(x.shape))
    if not out.size:
        return []
    if not x.shape[axis]:
        raise ValueError(f"Reduction axis {axis} is empty in shape {list(x.shape)}")
    args = (call.input(0), call.output(), x.shape[axis], prod(x.shape[axis + 1:]))
    return [over(EXTREME_TEXT.format(sign=sign), args, out.size, "argmax")]


def _scan(call: Call, sign: str, start: int) -> list[Launch]:
    x = call.inputs[0]
    axis = known_axis(call.inputs[1], len(x.shape))
    if not x.size:
        return []
    count = x.shape[axis]
    steps = [f"            total = {x.type}(total {sign} value)", "            target[at] = total"]
    text = SCAN_TEXT.format(type=x.type, begin=start,
                            step="\n".join(steps[::-1] if call.attrs.get("exclusive") else steps))
    first, move = (count - 1, -1) if call.attrs.get("reverse") else (0, 1)
    args = (call.input(0), call.output(), count, prod(x.shape[axis + 1:]), first, move)
    return [over(text, args, x.size // count, "cumulative")]


argmax, argmin = partial(_extreme, sign=">"), partial(_extreme, sign="<")
cumsum, cumprod = partial(_scan, sign="+", start=0), partial(_scan, sign="*", start=1)
