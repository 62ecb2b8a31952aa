"""Gather, one-hot and segment-sum kernels.

    gather(call)                Gather, GatherV2 (params, indices[, axis]; attr batch_dims); failure 1: bad index
    one_hot(call)               OneHot (indices, depth, on_value, off_value; attr axis)
    unsorted_segment_sum(call)  UnsortedSegmentSum (data, segment_ids, num_segments); ids < 0 are dropped; failure 3
    gather_rows, one_hot_rows, segment_sum_rows     their NumPy forms

Status words on a failure: 1 or 3, the position of the index, the index, the limit.
The value of `axis` must be known (Meta.value).
"""
from __future__ import annotations

from math import prod

import numpy as np

from tfnb.kernels.cpu.copying import BYTES_PER_CHUNK, UNITS, by_unit, fill
from tfnb.kernels.launch import Address, Call, Launch, Meta, known_axis

STATUS = Address("status")
# Item i = (batch, outer, index position): one row of `size` units.
GATHER_TEXT = """
INDEPENDENT = True

def kernel(args, begin, end):
    count, limit, size, outer = args[3], args[4], args[5], args[7]
    indices = {index}_array(args[1], 0)
    for i in range(begin, end):
        row, position = i // count, i % count
        position += row // outer * count
        place = int64(indices[position])
        if place < 0 or place >= limit:
            if atomic_add(args[6], 0) == 0:
                store(args[6] + 8, position)
                store(args[6] + 16, place)
                store(args[6] + 24, limit)
                store(args[6], 1)
            return
        source = {unit}_array(args[0] + {bytes} * size * (row * limit + place), size)
        target = {unit}_array(args[2] + {bytes} * size * i, size)
        for j in range(size):
            target[j] = source[j]
"""

# Item i: one index; its column of `depth` places is `after` units apart.
ONE_HOT_TEXT = """
def kernel(args, begin, end):
    depth, after = args[3], args[4]
    indices = {index}_array(args[0], 0)
    target = {unit}_array(args[2], 0)
    value = {unit}_array(args[1], 1)[0]
    for i in range(begin, end):
        place = int64(indices[i])
        if place >= 0 and place < depth:
            target[(i // after * depth + place) * after + i % after] = value
"""

# Item i: a range of columns; every column walks over all rows, so that no two threads add to the same place.
SEGMENT_TEXT = """
INDEPENDENT = True

def kernel(args, begin, end):
    rows, limit, size = args[3], args[4], args[5]
    ids = {index}_array(args[1], rows)
{start}
    for i in range(rows):
        place = int64(ids[i])
        if place >= limit:
            if begin == 0:
                store(args[6] + 8, i)
                store(args[6] + 16, place)
                store(args[6] + 24, limit)
                store(args[6], 3)
            return
        if place >= 0:
            source = {type}_array(args[0] + {bytes} * (size * i + begin), end - begin)
            target = {type}_array(args[2] + {bytes} * (size * place + begin), end - begin)
{add}
{finish}
"""
ADD = """
            for j in range(end - begin):
                target[j] = {type}(target[j] + source[j])
"""
# Where places are not many more than rows: the first row of a place is copied, places without a row become 0 last.
SEEN = """
    seen = uint8_array(args[7] + begin // args[8] * limit, limit)
    for i in range(limit):
        seen[i] = uint8(0)
"""
COPY_OR_ADD = """
            if seen[place] == uint8(0):
                seen[place] = uint8(1)
                for j in range(end - begin):
                    target[j] = source[j]
            else:
                for j in range(end - begin):
                    target[j] = {type}(target[j] + source[j])
"""
ZERO_UNSEEN = """
    for i in range(limit):
        if seen[i] == uint8(0):
            target = {type}_array(args[2] + {bytes} * (size * i + begin), end - begin)
            for j in range(end - begin):
                target[j] = {type}(0)
"""


def gather(call: Call) -> list[Launch]:
    """Return launches of params[..., indices, ...] along `axis` (default 0), per batch (attr batch_dims)."""
    params, indices = call.inputs[:2]
    batch = int(call.attrs.get("batch_dims", 0))
    batch += len(indices.shape) if batch < 0 else 0
    axis = known_axis(call.inputs[2], len(params.shape)) if len(call.inputs) > 2 else batch
    batches, outer = prod(params.shape[:batch]), prod(params.shape[batch:axis])
    count, row_bytes = prod(indices.shape[batch:]), prod(params.shape[axis + 1:]) * params.itemsize
    items = batches * outer * count
    if not items * row_bytes:
        return []
    text, size, _ = by_unit(GATHER_TEXT, row_bytes, index=indices.type)
    source = call.input(0).reach(batches * outer * params.shape[axis] * row_bytes)
    args = (source, call.input(1).reach(batches * count * indices.itemsize), call.output().reach(items * row_bytes),
            count, params.shape[axis], size, STATUS, outer)
    return [Launch(text, args, items, max(1, 2 * BYTES_PER_CHUNK // (row_bytes + 64)), "gather")]


def one_hot(call: Call) -> list[Launch]:
    """Return launches that fill with the off value, then store the on value at each index within the depth."""
    indices, out = call.inputs[0], call.outputs[0]
    axis = int(call.attrs.get("axis", -1)) % len(out.shape)
    if not out.size:
        return []
    unit = UNITS[out.itemsize]
    text = ONE_HOT_TEXT.format(unit=unit, index=indices.type)
    after = prod(indices.shape[axis:])
    columns = -(-indices.size // max(after, 1)) * after
    args = (call.input(0).reach(indices.size * indices.itemsize), call.input(2).reach(out.itemsize),
            call.output().reach(columns * out.shape[axis] * out.itemsize), out.shape[axis], after)
    return [fill(call.input(3), call.output(), out), Launch(text, args, indices.size, 16384, "one hot")]


def unsorted_segment_sum(call: Call) -> list[Launch]:
    """Return launches of out[segment_ids[i]] += data[i]; failure 3: id >= num_segments. Also scatter-add to zeros."""
    data, ids = call.inputs[:2]
    out = call.outputs[0]
    if not out.size:
        return []
    if not data.size:
        return [fill(0, call.output(), out)]
    places, size = out.shape[0], out.size // out.shape[0]
    grain = max(64, (1 << 16) // ids.size)
    args = (call.input(0).reach(ids.size * size * data.itemsize), call.input(1).reach(ids.size * ids.itemsize),
            call.output().reach(places * size * data.itemsize), ids.size, places, size, STATUS)
    if places > 4 * ids.size:
        text = _segment_text(data, ids, "", ADD, "")
        return [fill(0, call.output(), out), Launch(text, args, size, grain, "segment sum")]
    room = places * -(-size // grain)
    seen = call.scratch(room).reach(room)
    text = _segment_text(data, ids, SEEN, COPY_OR_ADD, ZERO_UNSEEN)
    return [Launch(text, (*args, seen, grain), size, grain, "segment sum")]


def _segment_text(data: Meta, ids: Meta, start: str, add: str, finish: str) -> str:
    words = {"type": data.type, "bytes": str(data.itemsize)}
    return SEGMENT_TEXT.format(index=ids.type, start=start, add=add.format(**words), finish=finish.format(**words),
                               **words)


def gather_rows(params: np.ndarray, indices: np.ndarray, axis: int = 0) -> np.ndarray:
    """Return params[..., indices, ...]. Raises IndexError that names the first index outside [0, size)."""
    _check(indices, params.shape[axis])
    return np.take(params, indices.astype(np.int64), axis)


def one_hot_rows(indices: np.ndarray, depth: int, on: np.ndarray, off: np.ndarray, axis: int = -1) -> np.ndarray:
    """Return `on` where the position on the new axis is the index, else `off`."""
    shape = [1] * (indices.ndim + 1)
    shape[axis] = depth
    hit = np.expand_dims(indices.astype(np.int64), axis) == np.arange(depth).reshape(shape)
    return np.where(hit, on, off)


def segment_sum_rows(data: np.ndarray, ids: np.ndarray, count: int) -> np.ndarray:
    """Compute out[ids[i]] += data[i]; ids below 0 are dropped. Raises IndexError for an id from `count` on."""
    _check(np.maximum(ids, 0), count)
    rows = data.reshape(ids.size, *data.shape[ids.ndim:])
    out = np.zeros((count, *rows.shape[1:]), data.dtype)
    kept = ids.reshape(-1) >= 0
    np.add.at(out, ids.reshape(-1)[kept].astype(np.int64), rows[kept])
    return out


def _check(indices: np.ndarray, limit: int) -> None:
    bad = np.flatnonzero((indices < 0) | (indices >= limit))
    if bad.size:
        raise IndexError(f"index {indices.flat[bad[0]]} at position {bad[0]} is not in [0, {limit})")
