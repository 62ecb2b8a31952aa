"""Kernels that read and write single elements of TensorArrays and stacks, which lie in one buffer (resources/rows.py).

    read(call)      (index, head) -> the element, in rows at `place`; zeros for an unwritten one of known shape
    write(call)     (index, value, head); `add`: to a place that has an element, it is added
    push(call)      (value, head)
    pop(call)       (head) -> the element
    size(call)      (head) -> the element count
    pointed(...)    (head, table) -> nothing: the words that the table lists become the address of a stack's element
    written(...)    (head, table, index) -> nothing: so for an element of a TensorArray that is written
    counted()       (head) -> nothing: a stack has one element more

Inputs and outputs in that order; `number` is that of the buffer in its program. An invalid access changes nothing and
stops the program: the status words are STOPPED, the index, the number.
"""
from __future__ import annotations

from typing import Any

from tfnb.kernels.functions.kernel import KernelFunction, kernel_function
from tfnb.kernels.functions.language import Array, MaybeOne, Static, Type, array_at, fail, int32, int64, uint8
from tfnb.kernels.launch import Address, Call, Launch, Meta
from tfnb.kernels.library.copying import merged, units
from tfnb.kernels.view import NeedsCopy, View
from tfnb.resources.rows import (
    CAPACITY,
    CLEARS,
    COUNT,
    DATA,
    DYNAMIC,
    FLAGS,
    GONE,
    HEAD_WORDS,
    KNOWN,
    LENT,
    PRESENT,
    SAME,
    STATES,
    ZEROS,
)

STOPPED = 8


@kernel_function(independent=True)
def read_element(head: Array, index: Array, target: Array, rows: MaybeOne, hop: int, width: int, number: int, T: Type,
                 item: int) -> None:
    """Copy the element at an index: its rows, which are `width` long, to places that are `hop` apart."""
    place = int(index[0])
    if place < 0 or place >= head[COUNT]:
        fail(STOPPED, place, number)
        return
    states = array_at(head[STATES], uint8)
    data = array_at(head[DATA], T)
    state, flags = int(states[place]), head[FLAGS]
    if state & PRESENT != 0:
        for i in range(rows):
            source = data[(place * rows + i) * width:]
            written = target[i * hop:]
            for j in range(width):
                written[j] = source[j]
        if flags & CLEARS != 0:
            states[place] = uint8(KNOWN | GONE)
    elif state & GONE == 0 and (state & KNOWN != 0 or flags & ZEROS != 0):
        for i in range(rows):
            written = target[i * hop:]
            for j in range(width):
                written[j] = T(0)
    else:
        fail(STOPPED, place, number)


@kernel_function(independent=True)
def write_element(head: Array, index: Array, source: Array, size: int, number: int, T: Type, adds: Static,
                  item: int) -> None:
    """Copy an element to an index, or add it to the one that is there."""
    place, count, flags = int(index[0]), head[COUNT], head[FLAGS]
    if place < 0 or place >= count and (flags & DYNAMIC == 0 or place >= head[CAPACITY]):
        fail(STOPPED, place, number)
        return
    states = array_at(head[STATES], uint8)
    data = array_at(head[DATA], T)
    target = data[place * size:]
    state = int(states[place])
    if adds and state & PRESENT != 0 and flags & LENT == 0:
        for j in range(size):
            target[j] = T(target[j] + source[j])
        return
    if state & (PRESENT | GONE) != 0:
        fail(STOPPED, place, number)
        return
    for j in range(size):
        target[j] = source[j]
    states[place] = uint8(PRESENT | KNOWN)
    if place >= count:
        head[COUNT] = place + 1
    if flags & SAME != 0:
        head[FLAGS] = flags | ZEROS


@kernel_function(independent=True)
def push_element(head: Array, source: Array, size: int, number: int, T: Type, item: int) -> None:
    """Copy an element to the top of a stack."""
    count = head[COUNT]
    if count >= head[CAPACITY]:
        fail(STOPPED, count, number)
        return
    data = array_at(head[DATA], T)
    target = data[count * size:]
    for j in range(size):
        target[j] = source[j]
    head[COUNT] = count + 1


@kernel_function(independent=True)
def pop_element(head: Array, target: Array, size: int, number: int, T: Type, item: int) -> None:
    """Copy the top element of a stack, which loses it."""
    count = head[COUNT] - 1
    if count < 0:
        fail(STOPPED, count, number)
        return
    data = array_at(head[DATA], T)
    source = data[count * size:]
    for j in range(size):
        target[j] = source[j]
    head[COUNT] = count


@kernel_function(independent=True)
def point_at_element(head: Array, table: Array, nbytes: int, number: int, pops: Static, item: int) -> None:
    """Store the address of the element that is pushed next, or popped, in the words of a table.

    Table: their count, then the address of each and the bytes from the element on.
    """
    place = head[COUNT]
    if pops:
        place -= 1
        if place < 0:
            fail(STOPPED, place, number)
            return
        head[COUNT] = place
    elif place >= head[CAPACITY]:
        fail(STOPPED, place, number)
        return
    begin = head[DATA] + place * nbytes
    for i in range(table[0]):
        word = array_at(table[2 * i + 1], int64)
        word[0] = begin + table[2 * i + 2]


@kernel_function(independent=True)
def point_at_place(head: Array, index: Array, table: Array, nbytes: int, number: int, item: int) -> None:
    """Store the address of an element that is about to be written in the words of a table; see `point_at_element`."""
    place, count, flags = int(index[0]), head[COUNT], head[FLAGS]
    if place < 0 or place >= count and (flags & DYNAMIC == 0 or place >= head[CAPACITY]):
        fail(STOPPED, place, number)
        return
    states = array_at(head[STATES], uint8)
    if int(states[place]) & (PRESENT | GONE) != 0:
        fail(STOPPED, place, number)
        return
    states[place] = uint8(PRESENT | KNOWN)
    if place >= count:
        head[COUNT] = place + 1
    if flags & SAME != 0:
        head[FLAGS] = flags | ZEROS
    begin = head[DATA] + place * nbytes
    for i in range(table[0]):
        word = array_at(table[2 * i + 1], int64)
        word[0] = begin + table[2 * i + 2]


@kernel_function(independent=True)
def count_pushed(head: Array, item: int) -> None:
    """Add an element to a stack, which has room."""
    head[COUNT] = head[COUNT] + 1


@kernel_function
def count_elements(head: Array, target: Array, item: int) -> None:
    """Store the element count."""
    target[0] = int32(head[COUNT])


def _head(call: Call) -> Address:
    return call.input(len(call.inputs) - 1).reach(8 * HEAD_WORDS).of("int64")


def _launch(call: Call, kernel: KernelFunction, element: Address, of: Meta, number: int, *index: Address,
            unit: tuple[str, int] | None = None, **constants: Any) -> list[Launch]:
    """Return a launch of one item: elements of loops are small, and an iteration has several.

    unit: the dtype that is copied, and its bytes; by default the widest that divides an element.
    """
    whole = of.size * of.itemsize
    type, nbytes = unit or units(call, of.type, whole)
    return [kernel.launch(call, 1, _head(call), *index, element.reach(whole).of(type), whole // nbytes, number,
                          **constants, T=type, grain=0)]


def read(call: Call, number: int, place: View | None = None) -> list[Launch]:
    """Return the launches that read the element at an index. place: that of its elements, where they aren't contiguous.

    Raises NeedsCopy for one that is not rows at equal distances.
    """
    of = call.outputs[0]
    rows, width, hop = rows_of(place) if place is not None else (1, of.size, of.size)
    reach = ((rows - 1) * hop + width) * of.itemsize
    type, unit = units(call, of.type, width * of.itemsize, hop * of.itemsize)
    return [read_element.launch(call, 1, _head(call), call.input(0).reach(4), call.output().reach(reach).of(type), rows,
                                hop * of.itemsize // unit, width * of.itemsize // unit, number, T=type, grain=0)]


def rows_of(place: View) -> tuple[int, int, int]:
    """Return the number of rows of a view, their length, and the distance from one to the next.

    Raises NeedsCopy where it is not rows at equal distances.
    """
    axes = merged([(n, step, step) for n, step in zip(place.shape, place.strides, strict=True)])
    if len(axes) > 2 or axes[-1][1] != 1:
        raise NeedsCopy
    (width, _, _), (rows, hop, _) = axes[-1], axes[0] if len(axes) > 1 else (1, axes[-1][0], 0)
    return rows, width, hop


def write(call: Call, number: int, add: bool = False) -> list[Launch]:
    """Return the launches that write the element at an index; add: that add to it."""
    value = call.inputs[1]
    return _launch(call, write_element, call.input(1), value, number, call.input(0).reach(4), adds=add,
                   unit=(value.type, value.itemsize) if add else None)


def push(call: Call, number: int) -> list[Launch]:
    """Return the launches that push a value on a stack."""
    return _launch(call, push_element, call.input(0), call.inputs[0], number)


def pop(call: Call, number: int) -> list[Launch]:
    """Return the launches that pop the top value of a stack."""
    return _launch(call, pop_element, call.output(), call.outputs[0], number)


def size(call: Call, number: int) -> list[Launch]:
    """Return the launches that count the elements."""
    return [count_elements.launch(call, 1, _head(call), call.output().reach(4), grain=0)]


_STACK = Call((Meta("int64", (HEAD_WORDS,)), Meta("int64", (1,)), Meta("int32", ())), ())


def pointed(nbytes: int, number: int, pops: bool) -> Launch:
    """Return the launch that points words at an element of a stack: inputs are its head and their table."""
    return point_at_element.launch(_STACK, 1, _STACK.input(0), _STACK.input(1), nbytes, number, pops=pops, grain=0)


def written(nbytes: int, number: int) -> Launch:
    """Return the launch that points words at an element that is written: its inputs are head, table and index."""
    return point_at_place.launch(_STACK, 1, _STACK.input(0), _STACK.input(2), _STACK.input(1), nbytes, number, grain=0)


def counted() -> Launch:
    """Return the launch that counts an element which has been pushed in place: its input is the head."""
    return count_pushed.launch(_STACK, 1, _STACK.input(0), grain=0)
