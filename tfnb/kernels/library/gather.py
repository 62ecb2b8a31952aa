"""Gather, gather_nd, one-hot and segment-sum kernels, and products of sparse matrices with dense ones.

    gather(call)                Gather, GatherV2 (params, indices[, axis]; attr batch_dims); failure 1: bad index
    gather_nd(call)             GatherNd (params, indices); failure 4: a coordinate outside of its axis
    one_hot(call)               OneHot (indices, depth, on_value, off_value; attr axis)
    unsorted_segment_sum(call)  UnsortedSegmentSum (data, segment_ids, num_segments); ids < 0 are dropped; failure 3
    sparse_dense_product(call)  SparseTensorDenseMatMul (indices, values, shape, b; attrs adjoint_a, adjoint_b); failure
                                4: an index outside of the sparse matrix

Status words on a failure: the code, the position of the index, the index, the limit, and for a coordinate its axis.
The value of `axis` must be known (Meta.value).
"""
from __future__ import annotations

from math import prod

import numpy as np

from tfnb.kernels.functions.kernel import kernel_function, type_name
from tfnb.kernels.functions.language import Array, Ints, MaybeOne, Static, Type, conj, fail, uint8, unrolled
from tfnb.kernels.launch import Address, Call, Launch, known_axis
from tfnb.kernels.library.checks import BAD_COORDINATE, BAD_INDEX, BAD_SEGMENT
from tfnb.kernels.library.copying import BYTES_PER_CHUNK, fill, units

ROW_ITEMS = 1024            # segment ids on a GPU for which each row, not each column, has a thread of its own


@kernel_function(independent=True)
def gather_row(params: Array, indices: Array, target: Array, batches: MaybeOne, outer: int, count: int, limit: int,
               size: MaybeOne, width: MaybeOne, blocks: MaybeOne, item: int) -> None:
    """Copy `width` elements of the row that an index selects. Row i is (batch, outer, position of the index)."""
    line, column = item // blocks // count, item // blocks % count
    position = column if batches == 1 else column + line // outer * count
    place = int(indices[position])
    if place < 0 or place >= limit:
        fail(BAD_INDEX, position, place, limit)
        return
    source = params[(line * limit + place) * size + item % blocks * width:]
    copied = target[item * width:]
    for j in range(width):
        copied[j] = source[j]


@kernel_function(independent=True)
def gather_slice(params: Array, indices: Array, target: Array, limits: Ints, size: MaybeOne, width: MaybeOne,
                 blocks: MaybeOne, item: int) -> None:
    """Copy `width` elements of the slice that a vector of coordinates selects."""
    row, place = item // blocks, 0
    for axis in unrolled(len(limits)):
        at = int(indices[row * len(limits) + axis])
        if at < 0 or at >= limits[axis]:
            fail(BAD_COORDINATE, row, at, limits[axis], axis)
            return
        place = place * limits[axis] + at
    source = params[place * size + item % blocks * width:]
    copied = target[item * width:]
    for j in range(width):
        copied[j] = source[j]


@kernel_function
def mark_one(indices: Array, value: Array, target: Array, depth: int, after: MaybeOne, item: int) -> None:
    """Store the value at an index of its column: `depth` places, `after` elements apart."""
    place = int(indices[item])
    if place >= 0 and place < depth:
        target[(item // after * depth + place) * after + item % after] = value[0]


@kernel_function(independent=True)
def add_columns(data: Array, ids: Array, target: Array, seen: Array, rows: int, limit: int, size: int, width: MaybeOne,
                T: Type, item: int) -> None:
    """Add `width` columns of all rows to those of their segments, in order.

    seen: a byte for each segment: the first row of one is copied, segments without a row become 0 at the end; None: the
    target is 0 before.
    """
    start = item * width
    count = min(width, size - start)
    if seen is not None:
        flags = seen[item * limit:]
        for i in range(limit):
            flags[i] = uint8(0)
    for i in range(rows):
        place = int(ids[i])
        if place >= limit:
            fail(BAD_SEGMENT, i, place, limit)
            return
        if place >= 0:
            source = data[size * i + start:]
            sums = target[size * place + start:]
            if seen is None:
                for j in range(count):
                    sums[j] = T(sums[j] + source[j])
            elif flags[place] == 0:
                flags[place] = uint8(1)
                for j in range(count):
                    sums[j] = source[j]
            else:
                for j in range(count):
                    sums[j] = T(sums[j] + source[j])
    if seen is not None:
        for i in range(limit):
            if flags[i] == 0:
                empty = target[size * i + start:]
                for j in range(count):
                    empty[j] = T(0)


@kernel_function
def add_from_first(data: Array, ids: Array, target: Array, rows: int, limit: int, size: int, T: Type,
                   item: int) -> None:
    """Add one column of all rows of a segment, in order, if this row is the first one of it."""
    row, column = item // size, item % size
    place = int(ids[row])
    if place >= limit:
        fail(BAD_SEGMENT, row, place, limit)
        return
    first = place >= 0
    for i in range(row):
        if int(ids[i]) == place:
            first = False
            break
    if first:
        total = data[item]
        for i in range(row + 1, rows):
            if int(ids[i]) == place:
                total = T(total + data[i * size + column])
        target[place * size + column] = total


def gather(call: Call) -> list[Launch]:
    """Return launches of params[..., indices, ...] along `axis` (default 0), per batch (attr batch_dims)."""
    params, indices = call.inputs[:2]
    batch = int(call.attrs.get("batch_dims", 0))
    batch += len(indices.shape) if batch < 0 else 0
    axis = known_axis(call.inputs[2], len(params.shape)) if len(call.inputs) > 2 else batch
    batches, outer, limit = prod(params.shape[:batch]), prod(params.shape[batch:axis]), params.shape[axis]
    count, row_bytes = prod(indices.shape[batch:]), prod(params.shape[axis + 1:]) * params.itemsize
    rows = batches * outer * count
    if not rows * row_bytes:
        return []
    type, unit = units(call, params.type, row_bytes)
    width, blocks = call.columns(row_bytes // unit)
    return [gather_row.launch(call, rows * blocks,
                              call.input(0).reach(batches * outer * limit * row_bytes).of(type),
                              call.input(1).reach(batches * count * indices.itemsize),
                              call.output().reach(rows * row_bytes).of(type), batches, outer, count, limit,
                              row_bytes // unit, width, blocks,
                              grain=max(1, 2 * BYTES_PER_CHUNK // (row_bytes + 64)), label="gather")]


def gather_nd(call: Call) -> list[Launch]:
    """Return launches of params[indices[..., 0], indices[..., 1], ...]."""
    params, indices = call.inputs
    depth = indices.shape[-1]
    row_bytes, rows = prod(params.shape[depth:]) * params.itemsize, prod(indices.shape[:-1])
    if not rows * row_bytes:
        return []
    limits = params.shape[:depth]
    type, unit = units(call, params.type, row_bytes)
    width, blocks = call.columns(row_bytes // unit)
    return [gather_slice.launch(call, rows * blocks, call.input(0).reach(prod(limits) * row_bytes).of(type),
                                call.input(1).reach(rows * depth * indices.itemsize),
                                call.output().reach(rows * row_bytes).of(type), limits, row_bytes // unit, width,
                                blocks, grain=max(1, 2 * BYTES_PER_CHUNK // (row_bytes + 64)), label="gather nd")]


def one_hot(call: Call) -> list[Launch]:
    """Return launches that fill with the off value, then store the on value at each index within the depth."""
    indices, out = call.inputs[0], call.outputs[0]
    if not out.size:
        return []
    axis = int(call.attrs.get("axis", -1)) % len(out.shape)
    type, _ = units(call, out.type, out.itemsize)
    after = prod(indices.shape[axis:])
    columns = -(-indices.size // max(after, 1)) * after
    return [*fill(call, call.input(3), call.output(), out),
            mark_one.launch(call, indices.size, call.input(0).reach(indices.size * indices.itemsize),
                            call.input(2).reach(out.itemsize).of(type),
                            call.output().reach(columns * out.shape[axis] * out.itemsize).of(type), out.shape[axis],
                            after, grain=16384, label="one hot")]


def unsorted_segment_sum(call: Call) -> list[Launch]:
    """Return launches of out[segment_ids[i]] += data[i]; failure 3: id >= num_segments. Also scatter-add to zeros."""
    data, ids = call.inputs[:2]
    out = call.outputs[0]
    if not out.size or not data.size:
        return fill(call, None, call.output(), out)
    limit, size, zero = out.shape[0], out.size // out.shape[0], fill(call, None, call.output(), out)
    args = (call.input(0).reach(data.size * data.itemsize), call.input(1).reach(ids.size * ids.itemsize),
            call.output().reach(out.size * data.itemsize))
    if call.device == "cuda" and ids.size <= ROW_ITEMS:
        return [*zero, add_from_first.launch(call, ids.size * size, *args, ids.size, limit, size, T=data.type)]
    width = max(64, (1 << 16) // ids.size) if call.device == "cpu" else 1
    blocks = -(-size // width)
    seen: Address | None = None
    if call.device == "cpu" and limit <= 4 * ids.size:
        seen, zero = call.scratch(limit * blocks).reach(limit * blocks), []
    return [*zero, add_columns.launch(call, blocks, *args, seen, ids.size, limit, size, width, T=data.type, grain=1,
                                      label="segment sum")]


@kernel_function(independent=True)
def add_products(indices: Array, values: Array, b: Array, target: Array, count: int, rows: int, inner: int,
                 columns: int, step: MaybeOne, across: MaybeOne, width: MaybeOne, row_axis: Static, adjoint_a: Static,
                 adjoint_b: Static, T: Type, item: int) -> None:
    """Compute `width` columns of the product: each value adds its multiple of a row of b. Values come in any order.

    step, across: from one row of b (transposed if it is) to the next, and from one column.
    """
    start = item * width
    many = min(width, columns - start)
    for i in range(rows):
        line = target[columns * i + start:]
        for j in range(many):
            line[j] = T(0)
    for i in range(count):
        row, place = int(indices[2 * i + row_axis]), int(indices[2 * i + 1 - row_axis])
        if row < 0 or row >= rows:
            fail(BAD_COORDINATE, i, row, rows, row_axis)
            return
        if place < 0 or place >= inner:
            fail(BAD_COORDINATE, i, place, inner, 1 - row_axis)
            return
        factor = values[i]
        if adjoint_a:
            factor = conj(factor)
        line = target[columns * row + start:]
        source = b[place * step + start * across:]
        for j in range(many):
            element = source[j * across]
            if adjoint_b:
                element = conj(element)
            line[j] = T(line[j] + factor * element)


def sparse_dense_product(call: Call) -> list[Launch]:
    """Return one launch; an item is a block of columns of the product."""
    indices, values, _, b = call.inputs
    out = call.outputs[0]
    if not out.size:
        return []
    rows, columns = out.shape
    adjoint_a, adjoint_b = bool(call.attrs.get("adjoint_a")), bool(call.attrs.get("adjoint_b"))
    inner = b.shape[1 if adjoint_b else 0]
    width = max(16, (1 << 15) // max(1, values.size)) if call.device == "cpu" else 1
    conjugated = out.type.startswith("complex")
    return [add_products.launch(
        call, -(-columns // width), call.input(0).reach(indices.size * indices.itemsize),
        call.input(1).reach(values.size * values.itemsize), call.input(3).reach(b.size * b.itemsize),
        call.output().reach(out.size * out.itemsize), values.size, rows, inner, columns,
        1 if adjoint_b else columns, inner if adjoint_b else 1, width, row_axis=int(adjoint_a),
        adjoint_a=adjoint_a and conjugated, adjoint_b=adjoint_b and conjugated, T=out.type, grain=1,
        label="sparse dense matmul")]


def product_by_kernel(indices: np.ndarray, values: np.ndarray, shape: np.ndarray, b: np.ndarray, adjoint_a: bool,
                      adjoint_b: bool) -> np.ndarray:
    """Return the product of real numbers at once, where only a run knows its shape.

    Raises KernelFailure for an index outside.
    """
    rows, (inner, columns) = int(shape[1 if adjoint_a else 0]), b.shape[::-1] if adjoint_b else b.shape
    out = np.empty((rows, columns), b.dtype)
    if out.size:
        add_products.run(1, indices, values, b, out, values.size, rows, inner, columns, 1 if adjoint_b else columns,
                         inner if adjoint_b else 1, columns, row_axis=int(adjoint_a), adjoint_a=False, adjoint_b=False,
                         T=type_name(out.dtype))
    return out
