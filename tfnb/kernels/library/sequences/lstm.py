"""LSTMs over whole sequences: one matmul of all inputs, then a small one and a pass over the units in each step.

    block_lstm(matmul, new_at, call)        BlockLSTM, -V2 (seq_len_max, x, cs_prev, h_prev, w, wci, wcf, wco, b)
    block_lstm_grad(matmul, new_at, call)   BlockLSTMGrad, BlockLSTMGradV2

new_at: the place of ci among the gates i, ci, f, o of the columns: 1, or 2 where f comes before it. The length is known
when the launches are made; what is behind it is zero.
"""
from __future__ import annotations

from typing import Any

from tfnb.kernels.functions.kernel import kernel_function
from tfnb.kernels.functions.language import Array, Type
from tfnb.kernels.launch import Address, Call, Launch, Meta, known_value
from tfnb.kernels.library.cells import Lower, Parts, lstm_gates, lstm_gates_grad, lstm_peepholes_grad
from tfnb.kernels.library.copying import fill


@kernel_function(independent=True)
def step_before(first: Array, states: Array, before: Array, one: int, item: int) -> None:
    """Copy the state before a step: that of the step before, or the first one. one: elements of a state."""
    if item == 0:
        for j in range(one):
            before[j] = first[j]
    else:
        for j in range(one):
            before[item * one + j] = states[(item - 1) * one + j]


@kernel_function
def column_sum(x: Array, y: Array, rows: int, columns: int, T: Type, item: int) -> None:
    """Sum a column."""
    total = T(0)
    for row in range(rows):
        total = T(total + x[row * columns + item])
    y[item] = total


class _Sequence(Parts):
    """The parts of a sequence's op: sizes, and an array's elements in one step."""

    def __init__(self, call: Call, matmul: Lower, new_at: int) -> None:
        super().__init__(call, matmul, first=1)
        self.steps, self.one = call.inputs[1].shape[0], self.rows * self.units
        self.length = int(known_value(call.inputs[0]))
        self.new_at = new_at

    def step(self, array: Address, t: int, wide: int = 1) -> Address:
        """Return the address of a step's elements. wide: in states."""
        return self.part(array, t * wide * self.one, wide * self.one)

    def clear(self, array: Address, start: int, count: int) -> None:
        """Append zeros from an element on."""
        self.launches += fill(self.call, None, array.at(start * self.size), Meta(self.type, (max(count, 0),)))


def block_lstm(matmul: Lower, new_at: int, call: Call) -> list[Launch]:
    """Return the launches of all steps."""
    parts = _Sequence(call, matmul, new_at)
    _, x, cs, h, w, *weights = parts.inputs()
    outputs = parts.outputs()
    if not parts.one:
        return []
    units, gates = parts.units, 4 * parts.units
    attrs = call.attrs
    sums = parts.product(x, parts.n, parts.part(w, 0, parts.n * gates), gates, rows=parts.length * parts.rows) \
        if parts.length else w
    more, below = parts.room(gates), parts.part(w, parts.n * gates, units * gates)
    for t in range(parts.length):
        parts.product(h, units, below, gates, out=more)
        made = [parts.step(output, t) for output in outputs]
        parts.add(lstm_gates, parts.rows, parts.step(sums, t, 4), more, cs, *weights, *made, units,
                  forget=float(attrs.get("forget_bias", 0)), clip=float(attrs["cell_clip"]),
                  peephole=bool(attrs["use_peephole"]), new_at=parts.new_at, T=parts.type, label="lstm gates")
        cs, h = made[1], made[6]
    for output in outputs:
        parts.clear(output, parts.length * parts.one, (parts.steps - parts.length) * parts.one)
    return parts.launches


def block_lstm_grad(matmul: Lower, new_at: int, call: Call) -> list[Launch]:
    """Return the launches of all steps, the last one first, then those of the weights."""
    parts = _Sequence(call, matmul, new_at)
    _, x, cs_prev, h_prev, w, wci, wcf, wco, _, i, cs, f, o, ci, co, h, dcs, dh = parts.inputs()
    dx, d_cs, d_h, dw, *peepholes, db = parts.outputs()
    n, units, gates, count = parts.n, parts.units, 4 * parts.units, parts.length * parts.rows
    if not count * units:
        for i_out, meta in enumerate(call.outputs):
            parts.clear(parts.outputs()[i_out], 0, meta.size)
        return parts.launches
    slopes, below = parts.room(gates, count), parts.part(w, n * gates, units * gates)
    constants: dict[str, Any] = {"peephole": bool(call.attrs["use_peephole"]), "new_at": parts.new_at, "T": parts.type}
    before = {state: parts.room(units, count) for state in ("cs", "h")}
    for state, first, later in (("cs", cs_prev, cs), ("h", h_prev, h)):
        parts.add(step_before, parts.length, first, later, before[state], parts.one, label="states before",
                  cost=parts.one)
    for t in reversed(range(parts.length)):
        last = t + 1 == parts.length
        saved = [parts.step(array, t) for array in (i, f, o, ci, co, dcs, dh)]
        parts.add(lstm_gates_grad, parts.rows, parts.step(before["cs"], t), wci, wcf, wco, *saved,
                  None if last else d_cs, None if last else d_h, d_cs, parts.step(slopes, t, 4), units,
                  label="lstm gradients", **constants)
        parts.product(parts.step(slopes, t, 4), gates, below, units, transposed=True, out=d_h)
    parts.add(lstm_peepholes_grad, units, before["cs"], cs, slopes, *peepholes, count, units,
              label="peephole gradients", cost=3 * count, **constants)
    parts.add(column_sum, gates, slopes, db, count, gates, T=parts.type, label="bias gradient", cost=count)
    if n:
        parts.product(slopes, gates, parts.part(w, 0, n * gates), n, transposed=True, rows=count, out=dx)
        parts.product(x, count, slopes, gates, rows=n, a_transposed=True, out=parts.part(dw, 0, n * gates))
        parts.clear(dx, count * n, (parts.steps * parts.rows - count) * n)
    parts.product(before["h"], count, slopes, gates, rows=units, a_transposed=True,
                  out=parts.part(dw, n * gates, units * gates))
    return parts.launches
