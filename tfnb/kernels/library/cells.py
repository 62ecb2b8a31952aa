"""Recurrent cells of one op each: gates by a matmul of the inputs beside the state, then one pass over the units.

    lstm_cell(matmul, call)       LSTMBlockCell (x, cs_prev, h_prev, w, wci, wcf, wco, b)
    lstm_cell_grad(call)          LSTMBlockCellGrad
    gru_cell(matmul, call)        GRUBlockCell (x, h_prev, w_ru, w_c, b_ru, b_c)
    gru_cell_grad(matmul, call)   GRUBlockCellGrad

matmul: the function of a device that lowers MatMul. Gates stand in the order i, ci, f, o in the columns of the LSTM's
weights, and r, u in those of the GRU's.
"""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from tfnb.kernels.functions.kernel import kernel_function
from tfnb.kernels.functions.language import Array, Static, Type, sigmoid, tanh
from tfnb.kernels.launch import Address, Call, Launch, Meta, Word

Lower = Callable[[Call], list[Launch]]
COST = 40                   # of one unit, in elements: exponential functions of four gates


@kernel_function(independent=True)
def join_row(x: Array, h: Array, xh: Array, n: int, units: int, item: int) -> None:
    """Copy a row of x and one of h beside it."""
    row = xh[item * (n + units):]
    for j in range(n):
        row[j] = x[item * n + j]
    for j in range(units):
        row[n + j] = h[item * units + j]


@kernel_function(independent=True)
def lstm_gates(sums: Array, more: Array, old: Array, wci: Array, wcf: Array, wco: Array, b: Array, i: Array,
               cs: Array, f: Array, o: Array, ci: Array, co: Array, h: Array, units: int, forget: Static,
               clip: Static, peephole: Static, new_at: Static, T: Type, item: int) -> None:
    """Write gates, cell state and output of one row.

    sums: of the four gates, without biases; more: what is added to them, or None. new_at: the place of ci among them,
    1 or 2; that of f is the other one.
    """
    row = sums[item * 4 * units:]
    at = item * units
    for j in range(units):
        before = old[at + j]
        enters, new_sum = row[j] + b[j], row[new_at * units + j] + b[new_at * units + j]
        keeps = row[(3 - new_at) * units + j] + b[(3 - new_at) * units + j] + T(forget)
        leaves = row[3 * units + j] + b[3 * units + j]
        if more is not None:
            also = item * 4 * units + j
            enters, new_sum = enters + more[also], new_sum + more[also + new_at * units]
            keeps, leaves = keeps + more[also + (3 - new_at) * units], leaves + more[also + 3 * units]
        if peephole:
            enters = enters + before * wci[j]
            keeps = keeps + before * wcf[j]
        entering, keeping = sigmoid(T(enters)), sigmoid(T(keeps))
        new = tanh(T(new_sum))
        state = T(new * entering + before * keeping)
        if clip > 0:
            state = min(max(state, T(-clip)), T(clip))
        if peephole:
            leaves = leaves + state * wco[j]
        leaving, shown = sigmoid(T(leaves)), tanh(state)
        i[at + j] = entering
        cs[at + j] = state
        f[at + j] = keeping
        o[at + j] = leaving
        ci[at + j] = new
        co[at + j] = shown
        h[at + j] = T(shown * leaving)


@kernel_function(independent=True)
def lstm_gates_grad(old: Array, wci: Array, wcf: Array, wco: Array, i: Array, f: Array, o: Array, ci: Array, co: Array,
                    dcs: Array, dh: Array, later_dcs: Array, later_dh: Array, d_old: Array, d_gates: Array, units: int,
                    peephole: Static, new_at: Static, T: Type, item: int) -> None:
    """Write the gradients of the cell state before, and of the sums of the gates, of one row.

    later_dcs, later_dh: gradients by the next step, or None. new_at: as of `lstm_gates`.
    """
    row = d_gates[item * 4 * units:]
    at = item * units
    for j in range(units):
        entering, keeping, leaving, new, shown = i[at + j], f[at + j], o[at + j], ci[at + j], co[at + j]
        d_h, d_state = dh[at + j], dcs[at + j]
        if later_dh is not None:
            d_h, d_state = d_h + later_dh[at + j], d_state + later_dcs[at + j]
        d_leaving = leaving * (T(1) - leaving) * d_h * shown
        d_state = d_state + d_h * leaving * (T(1) - shown * shown)
        if peephole:
            d_state = d_state + d_leaving * wco[j]
        d_keeping = keeping * (T(1) - keeping) * d_state * old[at + j]
        d_entering = entering * (T(1) - entering) * d_state * new
        before = d_state * keeping
        if peephole:
            before = before + d_entering * wci[j] + d_keeping * wcf[j]
        d_old[at + j] = T(before)
        row[j] = T(d_entering)
        row[new_at * units + j] = T((T(1) - new * new) * d_state * entering)
        row[(3 - new_at) * units + j] = T(d_keeping)
        row[3 * units + j] = T(d_leaving)


@kernel_function
def lstm_peepholes_grad(old: Array, cs: Array, d_gates: Array, d_wci: Array, d_wcf: Array, d_wco: Array, rows: int,
                        units: int, peephole: Static, new_at: Static, T: Type, item: int) -> None:
    """Write the gradients of the peephole weights of one unit; zeros without peepholes."""
    enters, keeps, leaves = T(0), T(0), T(0)
    if peephole:
        for row in range(rows):
            before, sums = old[row * units + item], row * 4 * units + item
            enters = T(enters + d_gates[sums] * before)
            keeps = T(keeps + d_gates[sums + (3 - new_at) * units] * before)
            leaves = T(leaves + d_gates[sums + 3 * units] * cs[row * units + item])
    d_wci[item] = enters
    d_wcf[item] = keeps
    d_wco[item] = leaves


@kernel_function(independent=True)
def gru_gates(sums: Array, b: Array, old: Array, r: Array, u: Array, xh: Array, n: int, units: int, T: Type,
              item: int) -> None:
    """Write the gates r and u of one row, and r * h in the place of h behind x."""
    row = sums[item * 2 * units:]
    behind = xh[item * (n + units) + n:]
    at = item * units
    for j in range(units):
        reset = sigmoid(T(row[j] + b[j]))
        r[at + j] = reset
        u[at + j] = sigmoid(T(row[units + j] + b[units + j]))
        behind[j] = T(reset * old[at + j])


@kernel_function(independent=True)
def gru_output(sums: Array, b: Array, old: Array, u: Array, c: Array, h: Array, units: int, T: Type,
               item: int) -> None:
    """Write the candidate and the new state of one row."""
    at = item * units
    for j in range(units):
        new = tanh(T(sums[at + j] + b[j]))
        c[at + j] = new
        h[at + j] = T(u[at + j] * old[at + j] + (T(1) - u[at + j]) * new)


@kernel_function(independent=True)
def gru_candidate_grad(old: Array, u: Array, c: Array, dh: Array, d_candidate: Array, d_gates: Array, units: int,
                       T: Type, item: int) -> None:
    """Write the gradients of the sums of candidate and update gate of one row."""
    row = d_gates[item * 2 * units:]
    at = item * units
    for j in range(units):
        kept, new, slope = u[at + j], c[at + j], dh[at + j]
        d_candidate[at + j] = T(slope * (T(1) - kept) * (T(1) - new * new))
        row[units + j] = T(slope * (old[at + j] - new) * kept * (T(1) - kept))


@kernel_function(independent=True)
def gru_reset_grad(old: Array, r: Array, d_joined: Array, d_gates: Array, n: int, units: int, T: Type,
                   item: int) -> None:
    """Write the gradient of the sums of the reset gate of one row. d_joined: that of x beside r * h."""
    row = d_gates[item * 2 * units:]
    behind = d_joined[item * (n + units) + n:]
    at = item * units
    for j in range(units):
        reset = r[at + j]
        row[j] = T(behind[j] * old[at + j] * reset * (T(1) - reset))


@kernel_function(independent=True)
def gru_input_grad(r: Array, u: Array, dh: Array, first: Array, second: Array, dx: Array, d_old: Array, n: int,
                   units: int, T: Type, item: int) -> None:
    """Write the gradients of x and of the state before, of one row.

    first, second: the gradients of x beside r * h, and of x beside h.
    """
    at, wide = item * units, item * (n + units)
    for j in range(n):
        dx[item * n + j] = T(first[wide + j] + second[wide + j])
    for j in range(units):
        d_old[at + j] = T(first[wide + n + j] * r[at + j] + dh[at + j] * u[at + j] + second[wide + n + j])


class Parts:
    """Launches of a cell as they come: arrays of the call with their reach, products, temporary arrays.

    The first two inputs from `first` on are those of the cell and its state, whose last axes are their sizes.
    """

    def __init__(self, call: Call, matmul: Lower | None = None, first: int = 0) -> None:
        self.call, self.matmul, self.launches = call, matmul, list[Launch]()
        self.type, self.size = call.inputs[first].type, call.inputs[first].itemsize
        self.rows, self.n, self.units = *call.inputs[first].shape[-2:], call.inputs[first + 1].shape[-1]

    def inputs(self) -> list[Address]:
        """Return the addresses of all inputs."""
        return [self.call.input(i).reach(meta.size * meta.itemsize) for i, meta in enumerate(self.call.inputs)]

    def outputs(self) -> list[Address]:
        """Return the addresses of all outputs."""
        return [self.call.output(i).reach(meta.size * self.size) for i, meta in enumerate(self.call.outputs)]

    def part(self, address: Address, start: int, count: int) -> Address:
        """Return the address of `count` elements of an array from `start` on."""
        return address.at(start * self.size).reach(count * self.size)

    def room(self, columns: int, rows: int | None = None) -> Address:
        """Return the address of a temporary matrix with a row for each of the batch, or of `rows`."""
        nbytes = (self.rows if rows is None else rows) * columns * self.size
        return self.call.scratch(nbytes).reach(nbytes).of(self.type)

    def product(self, a: Address, k: int, b: Address, n: int, transposed: bool = False, rows: int | None = None,
                a_transposed: bool = False, out: Address | None = None) -> Address:
        """Append a matmul of (rows, k) by (k, n), and return its address.

        rows: those of the batch where not stated. transposed: b is (n, k); a_transposed: a is (k, rows).
        """
        assert self.matmul is not None
        rows = self.rows if rows is None else rows
        made = self.room(n, rows) if out is None else out
        places = {("input", 0): a, ("input", 1): b, ("output", 0): made}
        metas = (Meta(self.type, (k, rows) if a_transposed else (rows, k)),
                 Meta(self.type, (n, k) if transposed else (k, n)))
        attrs = {"transpose_a": a_transposed, "transpose_b": transposed}
        within = Call(metas, (Meta(self.type, (rows, n)),), attrs, self.call.scratch_sizes, self.call.device)

        def placed(word: Word) -> Word:
            """Return an argument with the addresses of this call."""
            if not isinstance(word, Address) or word.kind == "scratch":
                return word
            at = places[word.kind, word.index].at(word.offset_bytes)
            return at if word.nbytes is None else at.reach(word.nbytes)
        self.launches += [replace(launch, args=tuple(map(placed, launch.args))) for launch in self.matmul(within)]
        return made

    def add(self, kernel: Any, items: int, *args: Any, label: str, cost: int = 0, **constants: Any) -> None:
        """Append a kernel over the rows (or other items)."""
        self.launches.append(kernel.launch(self.call, items, *args, cost=cost or COST * self.units, label=label,
                                           **constants))

    def joined(self, x: Address, h: Address) -> Address:
        """Append the copies of two inputs side by side."""
        made = self.room(self.n + self.units)
        self.add(join_row, self.rows, x, h, made, self.n, self.units, label="inputs and state",
                 cost=self.n + self.units)
        return made


def lstm_cell(matmul: Lower, call: Call) -> list[Launch]:
    """Return the launches of an LSTM's step."""
    parts = Parts(call, matmul)
    x, old, h, w, *rest = parts.inputs()
    if not parts.rows * parts.units:
        return []
    sums = parts.product(parts.joined(x, h), parts.n + parts.units, w, 4 * parts.units)
    attrs = call.attrs
    parts.add(lstm_gates, parts.rows, sums, None, old, *rest, *parts.outputs(), parts.units,
              forget=float(attrs["forget_bias"]), clip=float(attrs["cell_clip"]),
              peephole=bool(attrs["use_peephole"]), new_at=1, T=parts.type, label="lstm gates")
    return parts.launches


def lstm_cell_grad(call: Call) -> list[Launch]:
    """Return the launches of an LSTM step's gradient."""
    parts = Parts(call)
    _, old, _, _, wci, wcf, wco, _, i, cs, f, o, ci, co, dcs, dh = parts.inputs()
    d_old, d_gates, *peepholes = parts.outputs()
    peephole = bool(call.attrs["use_peephole"])
    if parts.rows * parts.units:
        parts.add(lstm_gates_grad, parts.rows, old, wci, wcf, wco, i, f, o, ci, co, dcs, dh, None, None, d_old,
                  d_gates, parts.units, peephole=peephole, new_at=1, T=parts.type, label="lstm gradients")
    if parts.units:
        parts.add(lstm_peepholes_grad, parts.units, old, cs, d_gates, *peepholes, parts.rows, parts.units,
                  peephole=peephole, new_at=1, T=parts.type, label="peephole gradients", cost=3 * parts.rows + 1)
    return parts.launches


def gru_cell(matmul: Lower, call: Call) -> list[Launch]:
    """Return the launches of a GRU's step."""
    parts = Parts(call, matmul)
    x, old, w_gates, w_candidate, b_gates, b_candidate = parts.inputs()
    r, u, c, h = parts.outputs()
    n, units, wide = parts.n, parts.units, parts.n + parts.units
    if not parts.rows * units:
        return []
    joined = parts.joined(x, old)
    gates = parts.product(joined, wide, w_gates, 2 * units)
    parts.add(gru_gates, parts.rows, gates, b_gates, old, r, u, joined, n, units, T=parts.type, label="gru gates")
    sums = parts.product(joined, wide, w_candidate, units)
    parts.add(gru_output, parts.rows, sums, b_candidate, old, u, c, h, units, T=parts.type, label="gru output")
    return parts.launches


def gru_cell_grad(matmul: Lower, call: Call) -> list[Launch]:
    """Return the launches of a GRU step's gradient."""
    parts = Parts(call, matmul)
    _, old, w_gates, w_candidate, _, _, r, u, c, dh = parts.inputs()
    dx, d_old, d_candidate, d_gates = parts.outputs()
    n, units, wide = parts.n, parts.units, parts.n + parts.units
    if not parts.rows * wide:
        return []
    parts.add(gru_candidate_grad, parts.rows, old, u, c, dh, d_candidate, d_gates, units, T=parts.type,
              label="gru candidate gradients")
    first = parts.product(d_candidate, units, w_candidate, wide, transposed=True)
    parts.add(gru_reset_grad, parts.rows, old, r, first, d_gates, n, units, T=parts.type, label="gru reset gradients")
    second = parts.product(d_gates, 2 * units, w_gates, wide, transposed=True)
    parts.add(gru_input_grad, parts.rows, r, u, dh, first, second, dx, d_old, n, units, T=parts.type,
              label="gru input gradients")
    return parts.launches
