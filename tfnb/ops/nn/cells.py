"""Recurrent cells as one op: a step of an LSTM and of a GRU, and their gradients."""
from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from tfnb.core.shape import Static
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.kernels.cpu.matmul import gemm
from tfnb.kernels.cuda import gemm as cuda
from tfnb.kernels.library import cells
from tfnb.kernels.scalar.numpy_forms import sigmoid
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


def _lstm(ctx: Any, x: Any, old: Any, h: Any, w: Any, wci: Any, wcf: Any, wco: Any, b: Any) -> tuple[Any, ...]:
    kind, (forget, clip, peephole) = x.dtype, (ctx.attrs[k] for k in ("forget_bias", "cell_clip", "use_peephole"))
    enters, new, keeps, leaves = np.split(gemm.product(np.concatenate([x, h], 1), w, _STRAIGHT) + b, 4, 1)
    i, f = (sigmoid(sums + old * weights if peephole else sums)
            for sums, weights in ((enters, wci), (keeps + kind.type(forget), wcf)))
    ci = np.tanh(new)
    cs = ci * i + old * f
    if clip > 0:
        cs = np.clip(cs, kind.type(-clip), kind.type(clip))
    o, co = sigmoid(leaves + cs * wco if peephole else leaves), np.tanh(cs)
    return i, cs, f, o, ci, co, co * o


@kernel(f"x: T, cs_prev: T, h_prev: T, {_WEIGHTS} -> i: T, cs: T, f: T, o: T, ci: T, co: T, h: T", shape=_lstm_shape,
        validate=_check_lstm, numpy=_lstm, cpu=partial(cells.lstm_cell, gemm.matmul),
        cuda=partial(cells.lstm_cell, cuda.matmul), forget_bias="float = 1.0", cell_clip="float = 3.0",
        use_peephole="bool = false", **_LSTM)
def LSTMBlockCell() -> None:
    """Compute a step of an LSTM: the gates i, f, o, the new cell input ci, the cell state cs, co = tanh(cs), the output
    h = o * co.

    Gates are the sigmoid of [x, h_prev] w + b, in columns i, ci, f, o; with `use_peephole` also of wci * cs_prev, wcf *
    cs_prev and wco * cs. A positive `cell_clip` bounds cs.
    """


def _lstm_grad(ctx: Any, x: Any, old: Any, h: Any, w: Any, wci: Any, wcf: Any, wco: Any, b: Any, i: Any, cs: Any,
               f: Any, o: Any, ci: Any, co: Any, dcs: Any, dh: Any) -> tuple[Any, ...]:
    peephole, one = ctx.attrs["use_peephole"], x.dtype.type(1)
    do = o * (one - o) * dh * co
    state = dcs + dh * o * (one - co * co)
    state = state + do * wco if peephole else state
    dci, df, di = (one - ci * ci) * state * i, f * (one - f) * state * old, i * (one - i) * state * ci
    before = state * f
    before = before + di * wci + df * wcf if peephole else before
    weights = [(slope * part).sum(0) if peephole else np.zeros_like(wci)
               for slope, part in ((di, old), (df, old), (do, cs))]
    return before, np.concatenate([di, dci, df, do], 1), *weights


@kernel(f"x: T, cs_prev: T, h_prev: T, {_WEIGHTS}, i: T, cs: T, f: T, o: T, ci: T, co: T, cs_grad: T, h_grad: T -> "
        "cs_prev_grad: T, dicfo: T, wci_grad: T, wcf_grad: T, wco_grad: T", shape=_lstm_grad_shape,
        validate=_check_lstm, numpy=_lstm_grad, launch=cells.lstm_cell_grad, use_peephole="bool", **_LSTM)
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
