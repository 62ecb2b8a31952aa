"""GPU kernels of gather, gather_nd, one-hot and segment sums.

    gather(call), gather_nd(call), one_hot(call), segment_sum(call)     as those of kernels/cpu/gather.py, gather_nd.py

An index that picks nothing ends in the status words, as on the CPU (of several it may be another one), and 0 is taken.
"""
from __future__ import annotations

from math import prod

from tfnb.kernels.cuda.checks import STATUS, indented, tell
from tfnb.kernels.cuda.copying import fill, over
from tfnb.kernels.cuda.geometry import block_size
from tfnb.kernels.launch import Call, Launch, Word, known_axis

GATHER_TEXT = f"""def kernel(params, indices, status, target, count, outer, limit, size, n):
    for i in range(cuda.grid(1), n, cuda.gridsize(1)):
        item = i // size
        row = item // count
        position = item % count + row // outer * count
        place = int64(indices[position])
        if place < 0 or place >= limit:
{indented(tell(1, "position", "place", "limit"), 3)}
            target[i] = {{type}}(0)
        else:
            target[i] = params[(row * limit + place) * size + i % size]
"""

GATHER_ND_TEXT = """def kernel(params, indices, status, target, size, {limits}, n):
    for i in range(cuda.grid(1), n, cuda.gridsize(1)):
        item = i // size
        place = 0
        good = True
{coordinates}
        target[i] = params[place * size + i % size] if good else {type}(0)
"""
COORDINATE = """at = int64(indices[item * {depth} + {axis}])
if at < 0 or at >= limit{axis}:
{tell}
    good = False
place = place * limit{axis} + at"""

ONE_HOT_TEXT = """def kernel(indices, on, target, depth, after, n):
    for i in range(cuda.grid(1), n, cuda.gridsize(1)):
        place = int64(indices[i])
        if place >= 0 and place < depth:
            target[(i // after * depth + place) * after + i % after] = on[0]
"""

# A block for each row: that of the first row of a segment adds up all of them, in order (see scatter.py).
SEGMENT_TEXT = f"""def kernel(data, ids, status, target, rows, limit, size):
    lane = cuda.threadIdx.x
    for i in range(cuda.blockIdx.x, rows, cuda.gridDim.x):
        place = int64(ids[i])
        if place >= limit:
{indented(tell(3, "i", "place", "limit"), 3)}
        first = place >= 0 and place < limit
        for e in range(i):
            if int64(ids[e]) == place:
                first = False
                break
        if first:
            for j in range(lane, size, {{threads}}):
                total = data[i * size + j]
                for e in range(i + 1, rows):
                    if int64(ids[e]) == place:
                        total = {{type}}(total + data[e * size + j])
                target[place * size + j] = total
"""


def gather(call: Call) -> list[Launch]:
    """Return launches of params[..., indices, ...] along `axis` (default 0), per batch (attr batch_dims)."""
    params, indices = call.inputs[:2]
    batch = int(call.attrs.get("batch_dims", 0))
    batch += len(indices.shape) if batch < 0 else 0
    axis = known_axis(call.inputs[2], len(params.shape)) if len(call.inputs) > 2 else batch
    outer, count = prod(params.shape[batch:axis]), prod(indices.shape[batch:])
    size, total = prod(params.shape[axis + 1:]), call.outputs[0].size
    if not total:
        return []
    args = call.input(0), call.input(1), STATUS, call.output(), count, outer, params.shape[axis], size
    return [over(GATHER_TEXT.format(type=_number(params.type)), args, total, "gather")]


def gather_nd(call: Call) -> list[Launch]:
    """Return launches of params[indices[..., 0], indices[..., 1], ...]."""
    params, indices = call.inputs
    depth, total = indices.shape[-1], call.outputs[0].size
    if not total:
        return []
    steps = [COORDINATE.format(depth=depth, axis=k, tell=indented(tell(4, "item", "at", f"limit{k}", str(k)), 1))
             for k in range(depth)]
    text = GATHER_ND_TEXT.format(type=_number(params.type), limits=", ".join(f"limit{k}" for k in range(max(1, depth))),
                                 coordinates=indented("\n".join(steps).splitlines(), 2))
    args: tuple[Word, ...] = (call.input(0), call.input(1), STATUS, call.output(), prod(params.shape[depth:]),
                              *(params.shape[:depth] or (1,)))
    return [over(text, args, total, "gather_nd")]


def one_hot(call: Call) -> list[Launch]:
    """Return launches that fill with the off value, then store the on value at each index within the depth."""
    indices, out = call.inputs[0], call.outputs[0]
    if not out.size:
        return []
    axis = int(call.attrs.get("axis", -1)) % len(out.shape)
    args = (call.input(0), call.input(2), call.output(), out.shape[axis], prod(indices.shape[axis:]))
    return [*fill(call.input(3), call.output(), out), over(ONE_HOT_TEXT, args, indices.size, "one hot")]


def segment_sum(call: Call) -> list[Launch]:
    """Return launches of out[segment_ids[i]] += data[i], in the order of i; failure 3 for an id >= num_segments."""
    data, ids, out = call.inputs[0], call.inputs[1], call.outputs[0]
    if not out.size or not data.size:
        return fill(None, call.output(), out)
    text = SEGMENT_TEXT.format(type=data.type, threads=block_size())
    args = (call.input(0), call.input(1), STATUS, call.output(), ids.size, out.shape[0], out.size // out.shape[0])
    return [*fill(None, call.output(), out), Launch(text, args, ids.size, block_size(), "segment sum")]


def _number(type: str) -> str:
    return "bool_" if type == "bool" else type
