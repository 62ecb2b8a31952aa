"""Kernels that read and write single elements of TensorArrays and stacks, which lie in one buffer (resources/rows.py).

    read(call)      (index, head) -> the element; zeros for an unwritten one, where the shape is known
    write(call)     (index, value, head); `add`: to a place that has an element, it is added
    push(call)      (value, head)
    pop(call)       (head) -> the element
    size(call)      (head) -> the element count

Inputs and outputs in that order; `number` is that of the buffer in its program. An invalid access changes nothing and
stops the program: the status words are STOPPED, the index, the number.
"""
from __future__ import annotations

from tfnb.kernels.launch import Address, Call, Launch
from tfnb.kernels.library.copying import UNITS
from tfnb.resources import rows

STOPPED = 8
_STATUS = Address("status")

_STOP = """
def stop(args, index):
    store(args[3] + 8, index)
    store(args[3] + 16, args[4])
    store(args[3], {stopped})
"""
_STOP = _STOP.format(stopped=STOPPED)

_READ = """
def kernel(args, begin, end):
    head, size = args[0], args[2]
    index = int64(int32_array(args[5], 1)[0])
    if index < 0 or index >= load(head + {count}):
        stop(args, index)
        return
    states = uint8_array(load(head + {states}), index + 1)
    state, flags = int64(states[index]), load(head + {flags})
    target = {{unit}}_array(args[1], size)
    if state & {present} != 0:
        source = {{unit}}_array(load(head + {data}) + {{bytes}} * size * index, size)
        for j in range(size):
            target[j] = source[j]
        if flags & {clears} != 0:
            states[index] = uint8({known} | {gone})
    elif state & {gone} == 0 and (state & {known} != 0 or flags & {zeros} != 0):
        for j in range(size):
            target[j] = {{unit}}(0)
    else:
        stop(args, index)
"""

_WRITE = """
def kernel(args, begin, end):
    head, size = args[0], args[2]
    index, count, flags = int64(int32_array(args[5], 1)[0]), load(head + {count}), load(head + {flags})
    if index < 0 or index >= count and (flags & {dynamic} == 0 or index >= load(head + {capacity})):
        stop(args, index)
        return
    states = uint8_array(load(head + {states}), index + 1)
    state = int64(states[index])
    source = {{unit}}_array(args[1], size)
    target = {{unit}}_array(load(head + {data}) + {{bytes}} * size * index, size)
{{more}}
    if state & ({present} | {gone}) != 0:
        stop(args, index)
        return
    for j in range(size):
        target[j] = source[j]
    states[index] = uint8({present} | {known})
    if index >= count:
        store(head + {count}, index + 1)
    if flags & {same} != 0:
        store(head + {flags}, flags | {zeros})
"""

_ADD = """
    if state & {present} != 0:
        for j in range(size):
            target[j] = {{unit}}(target[j] + source[j])
        return
"""

_PUSH = """
def kernel(args, begin, end):
    head, size = args[0], args[2]
    count = load(head + {count})
    if count >= load(head + {capacity}):
        stop(args, count)
        return
    source = {{unit}}_array(args[1], size)
    target = {{unit}}_array(load(head + {data}) + {{bytes}} * size * count, size)
    for j in range(size):
        target[j] = source[j]
    store(head + {count}, count + 1)
"""

_POP = """
def kernel(args, begin, end):
    head, size = args[0], args[2]
    count = load(head + {count}) - 1
    if count < 0:
        stop(args, count)
        return
    source = {{unit}}_array(load(head + {data}) + {{bytes}} * size * count, size)
    target = {{unit}}_array(args[1], size)
    for j in range(size):
        target[j] = source[j]
    store(head + {count}, count)
"""

_SIZE = """
def kernel(args, begin, end):
    int32_array(args[1], 1)[0] = int32(load(args[0] + {count}))
"""

_NAMES = {"data": 8 * rows.DATA, "count": 8 * rows.COUNT, "capacity": 8 * rows.CAPACITY, "states": 8 * rows.STATES,
          "flags": 8 * rows.FLAGS, "clears": rows.CLEARS, "dynamic": rows.DYNAMIC, "same": rows.SAME,
          "zeros": rows.ZEROS, "present": rows.PRESENT, "known": rows.KNOWN, "gone": rows.GONE}


def _text(form: str) -> str:
    return "INDEPENDENT = True\n\n@device" + _STOP + form.format(**_NAMES)


def _launch(text: str, call: Call, element: Address, size: int, number: int, label: str, *more: Address) -> Launch:
    """Return a launch of one item: elements of loops are small, and an iteration has several."""
    head = call.input(len(call.inputs) - 1).reach(8 * rows.HEAD_WORDS)
    return Launch(text, (head, element, size, _STATUS, number, *more), 1, 0, label)


def by_unit(text: str, nbytes: int) -> tuple[str, int, int]:
    """Return `text` for the widest unit that divides an element, the units per element, the bytes per unit."""
    unit = next(u for u in (8, 4, 2, 1) if nbytes % u == 0)
    return text.format(unit=UNITS[unit], bytes=unit), nbytes // unit, unit


def read(call: Call, number: int) -> list[Launch]:
    """Return the launches that read the element at an index."""
    out = call.outputs[0]
    text, size, _ = by_unit(_text(_READ), out.size * out.itemsize)
    element = call.output().reach(out.size * out.itemsize)
    return [_launch(text, call, element, size, number, "read element", call.input(0).reach(4))]


def write(call: Call, number: int, add: bool = False) -> list[Launch]:
    """Return the launches that write the element at an index; add: that add to it."""
    value = call.inputs[1]
    form = _text(_WRITE).replace("{more}", _ADD.format(**_NAMES) if add else "")
    if add:
        text, size = form.format(unit=value.type, bytes=value.itemsize), value.size
    else:
        text, size, _ = by_unit(form, value.size * value.itemsize)
    element = call.input(1).reach(value.size * value.itemsize)
    return [_launch(text, call, element, size, number, "write element", call.input(0).reach(4))]


def push(call: Call, number: int) -> list[Launch]:
    """Return the launches that push a value on a stack."""
    value = call.inputs[0]
    text, size, _ = by_unit(_text(_PUSH), value.size * value.itemsize)
    return [_launch(text, call, call.input(0).reach(value.size * value.itemsize), size, number, "push")]


def pop(call: Call, number: int) -> list[Launch]:
    """Return the launches that pop the top value of a stack."""
    out = call.outputs[0]
    text, size, _ = by_unit(_text(_POP), out.size * out.itemsize)
    return [_launch(text, call, call.output().reach(out.size * out.itemsize), size, number, "pop")]


def size(call: Call, number: int) -> list[Launch]:
    """Return the launches that count the elements."""
    return [_launch(_SIZE.format(**_NAMES), call, call.output().reach(4), 1, number, "size")]
