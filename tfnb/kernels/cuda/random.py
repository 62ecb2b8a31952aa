"""Kernels of the random ops on a GPU: the same Philox streams as on the CPU (kernels/cpu/random.py).

    random_uniform(call), random_uniform_int(call), random_standard_normal(call), truncated_normal(call) -> launches

A thread makes a group of numbers: 4, or 2 of 64 bits. Uniform numbers and integers are the CPU's bit for bit; normal
ones agree as far as the logarithm, sine and cosine of the two do. The last launch moves the counter on.
"""
from __future__ import annotations

from tfnb.kernels.arrays.philox import BLOCKS_PER_ELEMENT
from tfnb.kernels.cuda.checks import STATUS, indented, tell
from tfnb.kernels.cuda.geometry import over
from tfnb.kernels.launch import Address, Call, Launch

STATE = Address("state")

# Every number has its type: uint64 with a bare literal would be float64.
START = """half, mask, one, none = uint64(32), uint64(0xFFFFFFFF), uint64(1), uint64(0)
base_low, base_high = state[2], state[3]"""
BLOCK = """low = base_low + block
high = base_high + (one if low < base_low else none)
c0, c1, c2, c3 = low & mask, low >> half, high & mask, high >> half
k0, k1 = state[0] & mask, state[0] >> half
for _ in range(10):
    p, q = uint64(0xD2511F53) * c0, uint64(0xCD9E8D57) * c2
    c0, c1, c2, c3 = (q >> half) ^ c1 ^ k0, q & mask, (p >> half) ^ c3 ^ k1, p & mask
    k0, k1 = (k0 + uint64(0x9E3779B9)) & mask, (k1 + uint64(0xBB67AE85)) & mask"""


def _unit32(word: str) -> str:
    return f"float32(int32({word} & uint64(0x7FFFFF))) * float32({2.0 ** -23!r})"


def _unit64(high: str, low: str) -> str:
    return f"float64(int64(({high} & uint64(0xFFFFF)) << half | {low})) * float64({2.0 ** -52!r})"


def _pair(type: str, first: str, angle: str, made: tuple[str, str]) -> str:
    return f"""u = {first}
u = u if u > {type}(1e-7) else {type}(1e-7)
v = {angle}
r = {type}(math.sqrt({type}(-2) * {type}(math.log(u))))
{made[0]} = {type}(math.sin(v)) * r
{made[1]} = {type}(math.cos(v)) * r"""


def _pair32(first: str, second: str, *made: str) -> str:
    return _pair("float32", _unit32(first), f"float32(float64(6.283185307179586) * float64({_unit32(second)}))",
                 (made[0], made[1]))


SIZE = {"float32": 4, "float64": 2, "int32": 4, "int64": 2}
UNIFORM = {"float32": "\n".join(f"r{i} = {_unit32(f'c{i}')}" for i in range(4)),
           "float64": f"r0 = {_unit64('c0', 'c1')}\nr1 = {_unit64('c2', 'c3')}"}
NORMAL = {"float32": _pair32("c0", "c1", "r0", "r1") + "\n" + _pair32("c2", "c3", "r2", "r3"),
          "float64": _pair("float64", _unit64("c0", "c1"), f"float64(6.283185307179586) * {_unit64('c2', 'c3')}",
                           ("r0", "r1"))}
INTEGERS = {"int32": "\n".join(f"r{i} = int32(lowest + int64(c{i} % span))" for i in range(4)),
            "int64": "r0 = lowest + int64((c0 | c1 << half) % span)\nr1 = lowest + int64((c2 | c3 << half) % span)"}

FILL_TEXT = """def kernel(state, target, {more}count, n):
{start}
    for i in range(cuda.grid(1), n, cuda.gridsize(1)):
        block = uint64(i)
{body}
"""

TRUNCATED_TEXT = """def kernel(state, target, count, n):
{start}
    for i in range(cuda.grid(1), n, cuda.gridsize(1)):
        block = uint64(i) * uint64({spread})
        have = 0
        while have < {size}:
{block}
{offers}
            block = block + one
"""

BOUNDS = """lowest, highest = int64(low_value[0]), int64(high_value[0])
if lowest >= highest:
{tell}
    return
span = uint64(highest) - uint64(lowest)"""

ADVANCE_TEXT = """def kernel(state, blocks, n):
    for i in range(cuda.grid(1), n, cuda.gridsize(1)):
        low = state[2]
        moved = low + uint64(blocks)
        state[2] = moved
        if moved < low:
            state[3] = state[3] + uint64(1)
"""


def random_uniform(call: Call) -> list[Launch]:
    """Return launches of RandomUniform: [0, 1)."""
    return _filled(call, UNIFORM)


def random_standard_normal(call: Call) -> list[Launch]:
    """Return launches of RandomStandardNormal: mean 0, deviation 1."""
    return _filled(call, NORMAL)


def random_uniform_int(call: Call) -> list[Launch]:
    """Return launches of RandomUniformInt (shape, minval, maxval). Status code 2: minval >= maxval (words 1, 2)."""
    bounds = BOUNDS.format(tell=indented(tell(2, "lowest", "highest"), 1))
    return _filled(call, INTEGERS, bounds, "low_value, high_value, status, ", (call.input(1), call.input(2), STATUS))


def truncated_normal(call: Call) -> list[Launch]:
    """Return launches of TruncatedNormal: as RandomStandardNormal, values from 2 on drawn again."""
    type = call.outputs[0].type
    size = SIZE[type]
    offers = "\n".join(f"if have < {size} and abs(r{j}) < {type}(2):\n    if {size} * i + have < count:\n"
                       f"        target[{size} * i + have] = r{j}\n    have += 1" for j in range(size))
    text = TRUNCATED_TEXT.format(start=_in(START, 1), spread=64 * size, size=size,
                                 block=_in(f"{BLOCK}\n{NORMAL[type]}", 3), offers=_in(offers, 3))
    return _launches(call, text)


def _filled(call: Call, makers: dict[str, str], setup: str = "", more: str = "",
            args: tuple[Address, ...] = ()) -> list[Launch]:
    type = call.outputs[0].type
    size = SIZE[type]
    stores = "\n".join(f"if {size} * i + {j} < count:\n    target[{size} * i + {j}] = r{j}" for j in range(size))
    text = FILL_TEXT.format(more=more, start=_in(f"{START}\n{setup}".rstrip(), 1),
                            body=_in(f"{BLOCK}\n{makers[type]}\n{stores}", 2))
    return _launches(call, text, args)


def _launches(call: Call, text: str, args: tuple[Address, ...] = ()) -> list[Launch]:
    out = call.outputs[0]
    if not out.size:
        return []
    return [over(text, (STATE, call.output(), *args, out.size), -(-out.size // SIZE[out.type]), "random"),
            over(ADVANCE_TEXT, (STATE, out.size * BLOCKS_PER_ELEMENT), 1, "advance")]


def _in(text: str, levels: int) -> str:
    return indented(text.splitlines(), levels)
