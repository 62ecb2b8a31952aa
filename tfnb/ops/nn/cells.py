"""Recurrent cells as one op: a step of an LSTM and of a GRU, an LSTM over a whole sequence, and their gradients."""
from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from tfnb.core.shape import Static
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.kernels.cpu.matmul import gemm
from tfnb.kernels.cuda import gemm as cuda
from tfnb.kernels.library import cells
from tfnb.kernels.library.sequences import lstm
from tfnb.kernels.scalar.numpy_forms import sigmoid
from tfnb.ops.declaration.construct import Constructor
from tfnb.ops.declaration.declare import kernel
from tfnb.ops.declaration.raw import raw

_WEIGHTS = "w: T, wci: T, wcf: T, wco: T, b: T"
_LSTM: dict[str, Any] = {"T": "{half, float}"}
_STRAIGHT = {"transpose_a": False, "transpose_b": False}
_TURNED = {"transpose_a": False, "transpose_b": True}


def _state(ctx: Any, index: int) -> tuple[Any, Any]:
    """Return the sizes (batch, units) of the state that is an input."""
    x, state = ctx.shape(0), ctx.shape(index)
    for name, shape in (("x", x), (ctx.op.spec.inputs[index].name, state)):
        if shape is not None and len(shape) != 2:
            raise ValueError(f"{name}: Shape must be rank 2 but is rank {len(shape)}")
    batch = None if x is None else x[0]
    return batch, None if state is None else state[1]


def _lstm_shape(ctx: Any) -> list[Static]:
    return [_state(ctx, 1)] * 7


def _lstm_grad_shape(ctx: Any) -> list[Static]:
    batch, units = _state(ctx, 1)
    return [(batch, units), (batch, None if units is None else 4 * units), *[ctx.shape(i) for i in (4, 5, 6)]]


def _gru_shape(ctx: Any) -> list[Static]:
    return [_state(ctx, 1)] * 4


def _gru_grad_shape(ctx: Any) -> list[Static]:
    batch, units = _state(ctx, 1)
    return [ctx.shape(0), (batch, units), (batch, units), (batch, None if units is None else 2 * units)]


def _expect(ctx: Any, wanted: dict[str, tuple[int, ...]]) -> None:
    """Raise ValueError unless the inputs have these shapes."""
    for i, arg in enumerate(ctx.op.spec.inputs):
        if arg.name in wanted and ctx.shape(i) != wanted[arg.name]:
            raise ValueError(f"{arg.name}: expected the shape {list(wanted[arg.name])}, got {list(ctx.shape(i))}")


def _check_lstm(ctx: Any) -> None:
    (batch, n), units = ctx.shape(0), ctx.shape(1)[1]
    state = batch, units
    _expect(ctx, {"w": (n + units, 4 * units), "b": (4 * units,), **dict.fromkeys(("wci", "wcf", "wco"), (units,)),
                  **dict.fromkeys(("cs_prev", "h_prev", "i", "cs", "f", "o", "ci", "co", "cs_grad", "h_grad"), state)})


def _check_gru(ctx: Any) -> None:
    (batch, n), units = ctx.shape(0), ctx.shape(1)[1]
    _expect(ctx, {"w_ru": (n + units, 2 * units), "w_c": (n + units, units), "b_ru": (2 * units,), "b_c": (units,),
                  **dict.fromkeys(("h_prev", "r", "u", "c", "d_h"), (batch, units))})


def _lstm_step(ctx: Any, x: Any, old: Any, h: Any, w: Any, wci: Any, wcf: Any, wco: Any, b: Any, *,
               new_at: int = 1) -> tuple[Any, ...]:
    kind, forget = x.dtype, ctx.attrs.get("forget_bias", 0.0)
    clip, peephole = ctx.attrs["cell_clip"], ctx.attrs["use_peephole"]
    sums = np.split(gemm.product(np.concatenate([x, h], 1), w, _STRAIGHT) + b, 4, 1)
    enters, new, keeps, leaves = sums[0], sums[new_at], sums[3 - new_at], sums[3]
    i, f = (sigmoid(sums + old * weights if peephole else sums)
            for sums, weights in ((enters, wci), (keeps + kind.type(forget), wcf)))
    ci = np.tanh(new)
    cs = ci * i + old * f
    if clip > 0:
        cs = np.clip(cs, kind.type(-clip), kind.type(clip))
    o, co = sigmoid(leaves + cs * wco if peephole else leaves), np.tanh(cs)
    return i, cs, f, o, ci, co, co * o


@kernel(f"x: T, cs_prev: T, h_prev: T, {_WEIGHTS} -> i: T, cs: T, f: T, o: T, ci: T, co: T, h: T", shape=_lstm_shape,
        validate=_check_lstm, numpy=_lstm_step, cpu=partial(cells.lstm_cell, gemm.matmul),
        cuda=partial(cells.lstm_cell, cuda.matmul), forget_bias="float = 1.0", cell_clip="float = 3.0",
        use_peephole="bool = false", **_LSTM)
def LSTMBlockCell() -> None:
    """Compute a step of an LSTM: the gates i, f, o, the new cell input ci, the cell state cs, co = tanh(cs), the output
    h = o * co.

    Gates are the sigmoid of [x, h_prev] w + b, in columns i, ci, f, o; with `use_peephole` also of wci * cs_prev, wcf *
    cs_prev and wco * cs. A positive `cell_clip` bounds cs.
    """


def _lstm_step_grad(ctx: Any, x: Any, old: Any, h: Any, w: Any, wci: Any, wcf: Any, wco: Any, b: Any, i: Any,
                    cs: Any, f: Any, o: Any, ci: Any, co: Any, dcs: Any, dh: Any, *,
                    new_at: int = 1) -> tuple[Any, ...]:
    peephole, one = ctx.attrs["use_peephole"], x.dtype.type(1)
    do = o * (one - o) * dh * co
    state = dcs + dh * o * (one - co * co)
    state = state + do * wco if peephole else state
    dci, df, di = (one - ci * ci) * state * i, f * (one - f) * state * old, i * (one - i) * state * ci
    before = state * f
    before = before + di * wci + df * wcf if peephole else before
    weights = [(slope * part).sum(0) if peephole else np.zeros_like(wci)
               for slope, part in ((di, old), (df, old), (do, cs))]
    return before, np.concatenate([di, dci, df, do] if new_at == 1 else [di, df, dci, do], 1), *weights


@kernel(f"x: T, cs_prev: T, h_prev: T, {_WEIGHTS}, i: T, cs: T, f: T, o: T, ci: T, co: T, cs_grad: T, h_grad: T -> "
        "cs_prev_grad: T, dicfo: T, wci_grad: T, wcf_grad: T, wco_grad: T", shape=_lstm_grad_shape,
        validate=_check_lstm, numpy=_lstm_step_grad, launch=cells.lstm_cell_grad, use_peephole="bool", **_LSTM)
def LSTMBlockCellGrad() -> None:
    """Compute gradients of LSTMBlockCell: of the cell state before, of the sums of the gates, of the peepholes."""


def _zeros_where_none(grads: Any, outputs: Any) -> list[Tensor]:
    return [raw.ZerosLike(y) if dy is None else dy for dy, y in zip(grads, outputs, strict=True)]


@LSTMBlockCell.gradient
def _(op: Operation, *grads: Any) -> list[Tensor]:
    x, _, h, w, *_ = op.inputs
    *saved, _ = op.outputs
    dcs, dh = _zeros_where_none((grads[1], grads[6]), (op.outputs[1], op.outputs[6]))
    before, gates, *peepholes = LSTMBlockCellGrad(*op.inputs, *saved, dcs, dh, use_peephole=op.attrs["use_peephole"])
    dx, d_h = _parted(raw.MatMul(gates, w, transpose_b=True), x, h)
    joined = raw.ConcatV2([x, h], 1)
    return [dx, before, d_h, raw.MatMul(joined, gates, transpose_a=True), *peepholes, raw.Sum(gates, 0)]


def _parted(joined: Tensor, x: Tensor, h: Tensor) -> list[Tensor]:
    """Return the columns of x, and those of h behind them."""
    widths = [raw.StridedSlice(raw.Shape(part), [1], [2], [1]) for part in (x, h)]
    return list(raw.SplitV(joined, raw.ConcatV2(widths, 0), 1, num_split=2))


def _gru(ctx: Any, x: Any, old: Any, w_ru: Any, w_c: Any, b_ru: Any, b_c: Any) -> tuple[Any, ...]:
    gates = sigmoid(gemm.product(np.concatenate([x, old], 1), w_ru, _STRAIGHT) + b_ru)
    r, u = np.split(gates, 2, 1)
    c = np.tanh(gemm.product(np.concatenate([x, r * old], 1), w_c, _STRAIGHT) + b_c)
    return r, u, c, u * old + (1 - u) * c


@kernel("x: T, h_prev: T, w_ru: T, w_c: T, b_ru: T, b_c: T -> r: T, u: T, c: T, h: T", shape=_gru_shape,
        validate=_check_gru, numpy=_gru, cpu=partial(cells.gru_cell, gemm.matmul),
        cuda=partial(cells.gru_cell, cuda.matmul), T="{float}")
def GRUBlockCell() -> None:
    """Compute a step of a GRU: the gates r, u = sigmoid([x, h_prev] w_ru + b_ru), the candidate c = tanh([x, r *
    h_prev] w_c + b_c), the state h = u * h_prev + (1 - u) * c."""


def _gru_grad(ctx: Any, x: Any, old: Any, w_ru: Any, w_c: Any, b_ru: Any, b_c: Any, r: Any, u: Any, c: Any,
              dh: Any) -> tuple[Any, ...]:
    n = x.shape[1]
    d_candidate, d_update = dh * (1 - u) * (1 - c * c), dh * (old - c) * u * (1 - u)
    first = gemm.product(d_candidate, w_c, _TURNED)
    gates = np.concatenate([first[:, n:] * old * r * (1 - r), d_update], 1)
    second = gemm.product(gates, w_ru, _TURNED)
    return first[:, :n] + second[:, :n], first[:, n:] * r + dh * u + second[:, n:], d_candidate, gates


@kernel("x: T, h_prev: T, w_ru: T, w_c: T, b_ru: T, b_c: T, r: T, u: T, c: T, d_h: T -> d_x: T, d_h_prev: T, "
        "d_c_bar: T, d_r_bar_u_bar: T", shape=_gru_grad_shape, validate=_check_gru, numpy=_gru_grad,
        cpu=partial(cells.gru_cell_grad, gemm.matmul), cuda=partial(cells.gru_cell_grad, cuda.matmul), T="{float}")
def GRUBlockCellGrad() -> None:
    """Compute gradients of GRUBlockCell: of x, of the state before, and of the sums of the candidate and the gates."""


@GRUBlockCell.gradient
def _(op: Operation, *grads: Any) -> list[Tensor]:
    x, old = op.inputs[:2]
    r, u, c, h = op.outputs
    dh = _zeros_where_none(grads[3:], [h])[0]
    dx, before, candidate, gates = GRUBlockCellGrad(*op.inputs, r, u, c, dh)
    weights = [raw.MatMul(raw.ConcatV2([x, state], 1), slopes, transpose_a=True)
               for state, slopes in ((old, gates), (r * old, candidate))]
    return [dx, before, *weights, raw.Sum(gates, 0), raw.Sum(candidate, 0)]


for _op in (LSTMBlockCellGrad, GRUBlockCellGrad):
    _op.no_gradient("TensorFlow has none of second order for the cells of one op")


# whole sequences

_SEQUENCE = "seq_len_max: int64, x: T, cs_prev: T, h_prev: T, w: T, wci: T, wcf: T, wco: T, b: T"
_STATES = "i: T, cs: T, f: T, o: T, ci: T, co: T, h: T"
_GRADS = "x_grad: T, cs_prev_grad: T, h_prev_grad: T, w_grad: T, wci_grad: T, wcf_grad: T, wco_grad: T, b_grad: T"


def _sequence_shape(ctx: Any) -> list[Static]:
    x, b = ctx.shape(1), ctx.shape(8)
    if x is not None and len(x) != 3:
        raise ValueError(f"x: Shape must be rank 3 but is rank {len(x)}")
    if b is not None and len(b) != 1:
        raise ValueError(f"b: Shape must be rank 1 but is rank {len(b)}")
    steps, batch = (None, None) if x is None else x[:2]
    return [(steps, batch, None if b is None or b[0] is None else b[0] // 4)] * 7


def _sequence_grad_shape(ctx: Any) -> list[Static]:
    return [ctx.shape(i) for i in (1, 2, 3, 4, 5, 6, 7, 8)]


def _check_sequence(ctx: Any) -> None:
    (steps, batch, n), length = ctx.shape(1), ctx.value(0)
    if len(ctx.shape(2)) != 2:
        raise ValueError(f"cs_prev must be a matrix, got the shape {list(ctx.shape(2))}")
    units = ctx.shape(2)[1]
    if ctx.shape(0) or length is not None and not 0 <= int(length) <= steps:
        raise ValueError(f"seq_len_max must be a scalar between 0 and the steps of x, {steps}, got "
                         f"{ctx.shape(0) if length is None else length.tolist()}")
    one, all_steps = (batch, units), (steps, batch, units)
    _expect(ctx, {"cs_prev": one, "h_prev": one, "w": (n + units, 4 * units), "b": (4 * units,),
                 **dict.fromkeys(("wci", "wcf", "wco"), (units,)),
                 **dict.fromkeys(("i", "cs", "f", "o", "ci", "co", "h", "cs_grad", "h_grad"), all_steps)})


def _forward(new_at: int, ctx: Any, length: Any, x: Any, cs: Any, h: Any, *weights: Any) -> tuple[np.ndarray, ...]:
    made = tuple(np.zeros((*x.shape[:2], cs.shape[1]), x.dtype) for _ in range(7))
    for t in range(int(length)):
        step = _lstm_step(ctx, x[t], cs, h, *weights, new_at=new_at)
        for array, part in zip(made, step, strict=True):
            array[t] = part
        cs, h = step[1], step[6]
    return made


def _backward(new_at: int, ctx: Any, length: Any, x: Any, cs_prev: Any, h_prev: Any, w: Any, wci: Any, wcf: Any,
              wco: Any, b: Any, *states: Any) -> tuple[Any, ...]:
    *saved, h, dcs, dh = states
    cs, n = saved[1], x.shape[2]
    dx, dw, db = np.zeros_like(x), np.zeros_like(w), np.zeros_like(b)
    peepholes = [np.zeros_like(wci) for _ in range(3)]
    d_cs, d_h = np.zeros_like(cs_prev), np.zeros_like(h_prev)
    for t in reversed(range(int(length))):
        before, state = (cs[t - 1], h[t - 1]) if t else (cs_prev, h_prev)
        step = [*[a[t] for a in saved], dcs[t] + d_cs, dh[t] + d_h]
        d_cs, gates, *more = _lstm_step_grad(ctx, x[t], before, state, w, wci, wcf, wco, b, *step, new_at=new_at)
        joined = gemm.product(gates, w, _TURNED)
        dx[t], d_h = joined[:, :n], joined[:, n:]
        dw += gemm.product(np.concatenate([x[t], state], 1), gates, {"transpose_a": True, "transpose_b": False})
        db += gates.sum(0)
        for total, part in zip(peepholes, more, strict=True):
            total += part
    return dx, d_cs, d_h, dw, *peepholes, db


def _declare(name: str, new_at: int, doc: str, **attrs: Any) -> Constructor:
    def define() -> None: ...
    define.__name__, define.__doc__ = name, doc
    return kernel(f"{_SEQUENCE} -> {_STATES}", shape=_sequence_shape, validate=_check_sequence,
                  numpy=partial(_forward, new_at), cpu=partial(lstm.block_lstm, gemm.matmul, new_at),
                  cuda=partial(lstm.block_lstm, cuda.matmul, new_at), values=("seq_len_max",),
                  **attrs, use_peephole="bool = false", **_LSTM)(define)


def _declare_grad(name: str, new_at: int, doc: str) -> Constructor:
    def define() -> None: ...
    define.__name__, define.__doc__ = name, doc
    made = kernel(f"{_SEQUENCE}, {_STATES}, cs_grad: T, h_grad: T -> {_GRADS}", shape=_sequence_grad_shape,
                  validate=_check_sequence, numpy=partial(_backward, new_at), values=("seq_len_max",),
                  cpu=partial(lstm.block_lstm_grad, gemm.matmul, new_at),
                  cuda=partial(lstm.block_lstm_grad, cuda.matmul, new_at),
                  use_peephole="bool", **_LSTM)(define)
    made.no_gradient("TensorFlow has none of second order for LSTMs of one op")
    return made


BlockLSTM = _declare("BlockLSTM", 1, """Compute the steps of an LSTM, as LSTMBlockCell each, over `seq_len_max` steps.

    x: (steps, batch, inputs). All outputs are (steps, batch, units), zero behind the length.
    """, forget_bias="float = 1.0", cell_clip="float = 3.0")
BlockLSTMV2 = _declare("BlockLSTMV2", 2, """Compute the steps of an LSTM as BlockLSTM, without a forget bias.

    The gates stand in the order i, f, ci, o in the columns of `w`.
    """, cell_clip="float = 0.0")
BlockLSTMGrad = _declare_grad("BlockLSTMGrad", 1, "Compute the gradients of BlockLSTM.")
BlockLSTMGradV2 = _declare_grad("BlockLSTMGradV2", 2, "Compute the gradients of BlockLSTMV2.")


def _slopes(of: Constructor) -> Any:
    def gradient(op: Operation, *grads: Any) -> list[Tensor | None]:
        """Return the gradients of the inputs, by the op `of`."""
        dcs, dh = _zeros_where_none((grads[1], grads[6]), (op.outputs[1], op.outputs[6]))
        return [None, *of(*op.inputs, *op.outputs, dcs, dh, use_peephole=op.attrs["use_peephole"])]
    return gradient


BlockLSTM.gradient(_slopes(BlockLSTMGrad))
BlockLSTMV2.gradient(_slopes(BlockLSTMGradV2))
