"""Elements kept or moved by their place: bands of matrices, the beginnings of sequences reversed.

    band(call)                  MatrixBandPart (input, num_lower, num_upper), whose numbers must be known (Meta.value)
    reverse_sequence(call)      ReverseSequence (input, seq_lengths; attrs seq_dim, batch_dim)
"""
from __future__ import annotations

from math import prod

from tfnb.kernels.functions.kernel import kernel_function
from tfnb.kernels.functions.language import Array, MaybeOne, Static, Type
from tfnb.kernels.launch import Call, Launch, known_value
from tfnb.kernels.library.copying import units


@kernel_function(independent=True)
def keep_band(x: Array, y: Array, low: int, high: int, rows: int, columns: int, width: MaybeOne, blocks: MaybeOne,
              T: Type, item: int) -> None:
    """Copy `width` elements of a row whose column is from `low` to `high` off the row's number; others become 0."""
    row = item // blocks % rows
    begin, end = max(0, row + low), min(columns, row + high + 1)
    if width == 1:
        column = item % blocks
        y[item] = x[item] if column >= begin and column < end else T(0)
    else:
        source = x[item * columns:]
        target = y[item * columns:]
        begin = min(begin, columns)
        end = max(begin, end)
        for j in range(begin):
            target[j] = T(0)
        for j in range(begin, end):
            target[j] = source[j]
        for j in range(end, columns):
            target[j] = T(0)


def band(call: Call) -> list[Launch]:
    """Return the launch of an item for each row (on a GPU: each element)."""
    x = call.inputs[0]
    if not x.size:
        return []
    rows, columns = x.shape[-2:]
    whole = x.size * x.itemsize
    width, blocks = (max(2, columns), 1) if call.device == "cpu" else (1, columns)
    below, above = (int(known_value(meta)) for meta in call.inputs[1:])
    return [keep_band.launch(call, x.size // columns * blocks, call.input(0).reach(whole), call.output().reach(whole),
                             -rows if below < 0 else -below, columns if above < 0 else above, rows, columns, width,
                             blocks, T=x.type, cost=width)]


@kernel_function(independent=True)
def reverse_beginning(x: Array, lengths: Array, y: Array, first: int, between: int, last: int, width: MaybeOne,
                      blocks: MaybeOne, batch_first: Static, item: int) -> None:
    """Copy `width` elements of a place of a sequence; x is (..., first, between, last, inner)."""
    line = item // blocks
    near, far = line % last, line // last // between % first
    step, example = (near, far) if batch_first else (far, near)
    length, source = int(lengths[example]), line
    if step < length:
        moved = length - 1 - 2 * step
        source = line + moved * (1 if batch_first else between * last)
    taken = x[(source * blocks + item % blocks) * width:]
    copied = y[item * width:]
    for j in range(width):
        copied[j] = taken[j]


def reverse_sequence(call: Call) -> list[Launch]:
    """Return the launch of an item for each place of a sequence."""
    x, lengths = call.inputs
    if not x.size:
        return []
    batch, along = int(call.attrs["batch_dim"]), int(call.attrs["seq_dim"])
    low, high = sorted((batch, along))
    row_bytes, whole = prod(x.shape[high + 1:]) * x.itemsize, x.size * x.itemsize
    type, unit = units(call, x.type, row_bytes)
    width, blocks = call.columns(row_bytes // unit)
    return [reverse_beginning.launch(
        call, whole // row_bytes * blocks, call.input(0).reach(whole).of(type),
        call.input(1).reach(lengths.size * lengths.itemsize), call.output().reach(whole).of(type), x.shape[low],
        prod(x.shape[low + 1:high]), x.shape[high], width, blocks, batch_first=batch < along, cost=width)]
