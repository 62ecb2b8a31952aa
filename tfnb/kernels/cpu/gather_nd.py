"""GatherNd and ScatterNd kernels: the last axis of the indices holds the coordinates of a slice.

    gather_nd(call)     GatherNd (params, indices)
    scatter_nd(call)    ScatterNd (indices, updates, shape): zeros, with the updates added one after another

Status words on a failure: 4, the position of the vector, the coordinate, the limit, its axis.
"""
from __future__ import annotations

from dataclasses import replace
from math import prod

from tfnb.kernels.cpu.copying import BYTES_PER_CHUNK, by_unit, fill
from tfnb.kernels.cpu.scatter import scatter
from tfnb.kernels.launch import Address, Call, Launch, Word
from tfnb.kernels.scalar import read
from tfnb.kernels.scatter import Form

STATUS = Address("status")
# Item i: the slice that vector i picks. args: params, indices, target, units a slice, status, then the limits.
GATHER_TEXT = """
INDEPENDENT = True

def kernel(args, begin, end):
    size = args[3]
    indices = {index}_array(args[1], 0)
    for i in range(begin, end):
        place = 0
        for k in range({depth}):
            at = int64(indices[{depth} * i + k])
            if at < 0 or at >= args[5 + k]:
                if atomic_add(args[4], 0) == 0:
                    store(args[4] + 8, i)
                    store(args[4] + 16, at)
                    store(args[4] + 24, args[5 + k])
                    store(args[4] + 32, k)
                    store(args[4], 4)
                return
            place = place * args[5 + k] + at
        source = {unit}_array(args[0] + {bytes} * size * place, size)
        target = {unit}_array(args[2] + {bytes} * size * i, size)
        for j in range(size):
            target[j] = source[j]
"""


def _added(ref, update):                           # type: ignore[no-untyped-def]
    return ref + update


_SUM = Form(read(_added), (0,), 1, frozenset({2}), vectors=True)


def gather_nd(call: Call) -> list[Launch]:
    """Return launches of params[indices[..., 0], indices[..., 1], ...]."""
    params, indices = call.inputs
    depth = indices.shape[-1]
    row_bytes, items = prod(params.shape[depth:]) * params.itemsize, prod(indices.shape[:-1])
    if not items * row_bytes:
        return []
    text = GATHER_TEXT.replace("{depth}", str(depth))
    text, size, _ = by_unit(text, row_bytes, index=indices.type)
    limits = params.shape[:depth]
    args: tuple[Word, ...] = (call.input(0).reach(prod(limits) * row_bytes),
                              call.input(1).reach(items * depth * indices.itemsize),
                              call.output().reach(items * row_bytes), size, STATUS, *limits)
    return [Launch(text, args, items, max(1, 2 * BYTES_PER_CHUNK // (row_bytes + 64)), "gather nd")]


def scatter_nd(call: Call) -> list[Launch]:
    """Return launches that fill with zeros, then run the scatter-add on the output."""
    indices, updates = call.inputs[:2]
    out = call.outputs[0]
    inner = Call((out, indices, updates), (out,), call.attrs)
    zero = [fill(0, call.output(), out)] if out.size else []
    return zero + [replace(launch, args=tuple(_outer(call, word) for word in launch.args))
                   for launch in scatter(inner, _SUM, (), out.type)]


def _outer(call: Call, word: Word) -> Word:
    """Map an address of the inner call to the op's: the output is the variable, inputs move by one."""
    if not isinstance(word, Address) or word.kind != "input":
        return word
    return replace(word, kind="output") if word.index == 0 else replace(word, index=word.index - 1)
