"""Matrix diagonals, one or a band of them: MatrixDiag, MatrixDiagPart and MatrixSetDiag with `k` and `align`.

The ops "...V2" have no `align`, and mean "LEFT_LEFT".

Diagonal d holds the elements with column - row == d. Where there are several, each is a row of a matrix, the highest
first; `align` ("LEFT_RIGHT"...) says at which end of it those above and those below the main one stand.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tfnb.core import dtypes
from tfnb.core.arguments import TENSORS, describe
from tfnb.core.shape import Static, merge
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.constant_value import constant_value
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.kernels.library.rows import diagonals as kernels
from tfnb.kernels.library.rows.diagonals import longest_of, places
from tfnb.ops.array.create import MatrixDiag, MatrixDiagPart
from tfnb.ops.declaration.construct import Constructor
from tfnb.ops.declaration.declare import kernel
from tfnb.ops.declaration.raw import raw

if TYPE_CHECKING:
    from tfnb.graph.graph import ShapeContext

_ALIGN: dict[str, Any] = {"align": "{'LEFT_RIGHT', 'RIGHT_LEFT', 'LEFT_LEFT', 'RIGHT_RIGHT'} = 'RIGHT_LEFT'"}


def _align(ctx: Any) -> bytes:
    found: bytes = ctx.attrs.get("align", b"LEFT_LEFT")
    return found


def _band(k: np.ndarray) -> tuple[int, int]:
    """The lowest and highest diagonal. Raises ValueError for more than two numbers, and where the first is higher."""
    if k.ndim > 1 or not 0 < k.size < 3:
        raise ValueError(f"diag_index must be a scalar or a vector of one or two elements, got shape {list(k.shape)}")
    low, high = int(k.reshape(-1)[0]), int(k.reshape(-1)[-1])
    if low > high:
        raise ValueError(f"lower_diag_index must not be larger than upper_diag_index, got {low} and {high}")
    return low, high


def _check_band(low: int, high: int, rows: int, columns: int) -> None:
    """Raise ValueError for a diagonal that matrices of this size don't have (0 is always taken)."""
    for what, d in (("lower_diag_index", low), ("upper_diag_index", high)):
        if d and not -rows < d < columns:
            raise ValueError(f"{what} is out of bound: expected it between {-rows} and {columns}, got {d}")


def _layout(low: int, high: int, longest: int | None) -> tuple[int | None, ...]:
    return (longest,) if low == high else (high - low + 1, longest)


def _sizes_of(ctx: Any, low: int, high: int) -> tuple[int | None, int | None]:
    """Return the rows and columns that a diagonal becomes. Raises ValueError for sizes that don't go with it."""
    longest = ctx.shape(0)[-1]
    rows, columns = (-1 if ctx.value(i) is None else int(ctx.value(i)) for i in (2, 3))
    if longest is None or ctx.value(2) is None or ctx.value(3) is None:
        return (None if rows < 0 else rows), (None if columns < 0 else columns)
    least = longest - min(high, 0), longest + max(low, 0)
    if rows == columns == -1:
        rows = columns = max(least)
    rows, columns = least[0] if rows == -1 else rows, least[1] if columns == -1 else columns
    if rows < least[0] or columns < least[1] or rows != least[0] and columns != least[1]:
        raise ValueError("num_rows and num_cols are not consistent with lower_diag_index, upper_diag_index, and the "
                         f"length of the given diagonals: expected {least[0]} rows or {least[1]} columns, and no less, "
                         f"got {rows} and {columns}")
    _check_band(low, high, rows, columns)
    return rows, columns


def _made_shape(ctx: ShapeContext) -> list[Static]:
    shape, k = ctx.shape(0), ctx.value(1)
    if shape is None:
        return [None]
    if k is None:
        return [None]
    low, high = _band(k)
    if len(shape) < (1 if low == high else 2):
        raise ValueError(f"diagonal must be at least {1 if low == high else 2}-dim, got shape {shape}")
    if low != high and shape[-2] not in (None, high - low + 1):
        raise ValueError(f"The number of diagonals, {shape[-2]}, is not that of the bounds: {high - low + 1}")
    return [(*shape[:-1 if low == high else -2], *_sizes_of(ctx, low, high))]


def _part_shape(ctx: ShapeContext) -> list[Static]:
    shape, k = ctx.shape(0), ctx.value(1)
    if shape is not None and len(shape) < 2:
        raise ValueError(f"input must be at least 2-dim, got shape {shape}")
    if shape is None or k is None:
        return [None]
    (low, high), (rows, columns) = _band(k), shape[-2:]
    if rows is None or columns is None:
        return [(*shape[:-2], *_layout(low, high, None))]
    _check_band(low, high, rows, columns)
    return [(*shape[:-2], *_layout(low, high, longest_of(low, high, rows, columns)))]


def _set_shape(ctx: ShapeContext) -> list[Static]:
    shape, k = ctx.shape(0), np.zeros(1, int) if len(ctx.op.inputs) == 2 else ctx.value(2)
    if shape is not None and len(shape) < 2:
        raise ValueError(f"input must be at least 2-dim, got shape {shape}")
    if shape is not None and k is not None and None not in shape[-2:]:
        low, high = _band(k)
        _check_band(low, high, *shape[-2:])                                           # type: ignore[arg-type]
        merge(ctx.shape(1), (*shape[:-2], *_layout(low, high, longest_of(low, high, *shape[-2:]))))  # type: ignore[arg-type]
    return [shape]


def _part(ctx: Any, x: np.ndarray, k: np.ndarray, padding: np.ndarray) -> np.ndarray:
    low, high = _band(k)
    found = np.full((*x.shape[:-2], high - low + 1, longest_of(low, high, *x.shape[-2:])), padding[()], x.dtype)
    flat, columns = x.reshape(*x.shape[:-2], x.shape[-2] * x.shape[-1]), x.shape[-1]
    for number, at, first, count in places(low, high, x.shape[-2], x.shape[-1], _align(ctx)):
        found[..., number, at:at + count] = flat[..., first:first + count * (columns + 1):columns + 1]
    return found[..., 0, :] if low == high else found


def _write(x: np.ndarray, diagonal: np.ndarray, k: np.ndarray, align: bytes) -> np.ndarray:
    low, high = _band(k)
    diagonals = diagonal[..., None, :] if low == high else diagonal
    flat, columns = x.reshape(*x.shape[:-2], x.shape[-2] * x.shape[-1]), x.shape[-1]
    for number, at, first, count in places(low, high, x.shape[-2], x.shape[-1], align):
        flat[..., first:first + count * (columns + 1):columns + 1] = diagonals[..., number, at:at + count]
    return x


def _made(ctx: Any, diagonal: np.ndarray, k: np.ndarray, rows: Any, columns: Any, padding: np.ndarray) -> np.ndarray:
    low, high = _band(k)
    longest = diagonal.shape[-1]
    least = longest - min(high, 0), longest + max(low, 0)
    sizes = [int(n) for n in (rows, columns)]
    sizes = [max(least)] * 2 if sizes == [-1, -1] else [m if n == -1 else n for n, m in zip(sizes, least, strict=True)]
    lead = diagonal.shape[:-1 if low == high else -2]
    return _write(np.full((*lead, *sizes), padding[()], diagonal.dtype), diagonal, k, _align(ctx))


_MADE: dict[str, Any] = {"shape": _made_shape, "numpy": _made, "values": ("k", "num_rows", "num_cols"), "T": "type",
                         "launch": kernels.made, "halves": "moved",
                         "ranks": {"num_rows": 0, "num_cols": 0, "padding_value": 0}}
_PART: dict[str, Any] = {"shape": _part_shape, "numpy": _part, "values": ("k",), "ranks": {"padding_value": 0},
                         "launch": kernels.part, "halves": "moved", "T": "type"}
_SET: dict[str, Any] = {"shape": _set_shape, "values": ("k",), "T": "type",
                        "launch": kernels.replaced, "halves": "moved",
                        "numpy": lambda ctx, x, diagonal, k: _write(x.copy(), diagonal, k, _align(ctx))}


@kernel("diagonal: T, k: int32, num_rows: int32, num_cols: int32, padding_value: T -> output: T", **_MADE, **_ALIGN)
def MatrixDiagV3() -> None:
    """Create matrices with a band of diagonals, and `padding_value` elsewhere."""


@kernel("input: T, k: int32, padding_value: T -> diagonal: T", **_PART, **_ALIGN)
def MatrixDiagPartV3() -> None:
    """Extract a band of diagonals of matrices; shorter ones are padded with `padding_value`."""


@kernel("input: T, diagonal: T, k: int32 -> output: T", **_SET, **_ALIGN)
def MatrixSetDiagV3() -> None:
    """Replace a band of diagonals of matrices."""


@kernel("diagonal: T, k: int32, num_rows: int32, num_cols: int32, padding_value: T -> output: T", **_MADE)
def MatrixDiagV2() -> None:
    """As MatrixDiagV3, of diagonals that begin at the left."""


@kernel("input: T, k: int32, padding_value: T -> diagonal: T", **_PART)
def MatrixDiagPartV2() -> None:
    """As MatrixDiagPartV3; shorter diagonals begin at the left."""


@kernel("input: T, diagonal: T, k: int32 -> output: T", **_SET)
def MatrixSetDiagV2() -> None:
    """As MatrixSetDiagV3, of diagonals that begin at the left.

    >>> sess.run(tf.raw_ops.MatrixSetDiagV2(input=tf.zeros([2, 2], tf.int32), diagonal=[5], k=1))
    array([[0, 5],
           [0, 0]], dtype=int32)
    """


@kernel("input: T, diagonal: T -> output: T", shape=_set_shape, T="type", launch=kernels.replaced, halves="moved",
        numpy=lambda ctx, x, diagonal: _write(x.copy(), diagonal, np.zeros(1, int), b"LEFT_LEFT"))
def MatrixSetDiag() -> None:
    """Replace the main diagonal of matrices."""


def _band_gradients(diag: Constructor, part: Constructor, replace: Constructor) -> None:
    """Register the gradients of the three ops of one version, each by the two others."""
    def zero(dy: Tensor) -> Tensor:
        return convert_to_tensor(0, dtype=dy.dtype)

    def of_diag(op: Operation, dy: Tensor) -> list[Tensor | None]:
        return [part(dy, op.inputs[1], zero(dy), **_how(op)), None, None, None, None]

    def of_part(op: Operation, dy: Tensor) -> list[Tensor | None]:
        return [replace(raw.ZerosLike(op.inputs[0]), dy, op.inputs[1], **_how(op)), None, None]

    def of_replace(op: Operation, dy: Tensor) -> list[Tensor | None]:
        _, diagonal, k = op.inputs
        return [replace(dy, raw.ZerosLike(diagonal), k, **_how(op)), part(dy, k, zero(dy), **_how(op)), None]
    for op, gradient in ((diag, of_diag), (part, of_part), (replace, of_replace)):
        op.gradient(gradient)


def _how(op: Operation) -> dict[str, Any]:
    return {name: op.attrs[name] for name in _ALIGN if name in op.attrs}


_band_gradients(MatrixDiagV3, MatrixDiagPartV3, MatrixSetDiagV3)
_band_gradients(MatrixDiagV2, MatrixDiagPartV2, MatrixSetDiagV2)


@MatrixSetDiag.gradient
def _(op: Operation, dy: Tensor) -> list[Tensor | None]:
    return [MatrixSetDiag(dy, raw.ZerosLike(op.inputs[1])), MatrixDiagPart(dy)]


# What users call

def _main(k: Any) -> bool:
    """Return whether `k` is known to be the main diagonal."""
    known = constant_value(k) if isinstance(k, Tensor) else np.asarray(k)
    return known is not None and known.dtype.kind in "iu" and not known.any()


def _padding(value: Any, dtype: dtypes.DType) -> Tensor:
    empty = {dtypes.bool: False, dtypes.string: ""}.get(dtype.base_dtype, 0)
    return convert_to_tensor(empty if isinstance(value, (int, float)) and value == 0 else value, dtype=dtype.base_dtype)


def matrix_diag(diagonal: Any, name: str = "diag", k: Any = 0, num_rows: Any = -1, num_cols: Any = -1,
                padding_value: Any = 0, align: str = "RIGHT_LEFT") -> Tensor:
    """Return matrices [..., m, n] with `diagonal` on their diagonals `k`, and `padding_value` elsewhere.

    k: the number of a diagonal (0: the main one, above it positive), or the lowest and the highest of a band:
    `diagonal` is then [..., high - low + 1, longest], the highest first, each at the end that `align` says. num_rows,
    num_cols: by default as few as there must be. Raises ValueError for numbers that don't fit.

    >>> sess.run(tf.matrix_diag([1, 2]))
    array([[1, 0],
           [0, 2]], dtype=int32)
    """
    x = convert_to_tensor(diagonal, name="diagonal")
    sizes = [constant_value(n) if isinstance(n, Tensor) else n for n in (num_rows, num_cols)]
    if _main(k) and sizes == [-1, -1] and np.ndim(k) == 0:
        return MatrixDiag(x, name=name)
    return MatrixDiagV3(x, k, num_rows, num_cols, _padding(padding_value, x.dtype), align=align, name=name)


def matrix_diag_part(input: Any, name: str = "diag_part", k: Any = 0, padding_value: Any = 0,
                     align: str = "RIGHT_LEFT") -> Tensor:
    """The diagonals `k` of matrices [..., m, n]: [..., length], or [..., high - low + 1, longest] for a band (see
    `matrix_diag`), where `padding_value` makes the shorter ones as long as the longest.

    Raises ValueError for diagonals that the matrices don't have.

    >>> sess.run(tf.matrix_diag_part([[1, 2], [3, 4]]))
    array([1, 4], dtype=int32)
    """
    x = convert_to_tensor(input, name="input")
    if _main(k):
        return MatrixDiagPart(x, name=name)
    return MatrixDiagPartV3(x, k, _padding(padding_value, x.dtype), align=align, name=name)


def matrix_set_diag(input: Any, diagonal: Any, name: str = "set_diag", k: Any = 0, align: str = "RIGHT_LEFT") -> Tensor:
    """Replace the diagonals `k` of matrices [..., m, n] by `diagonal`, of the form that `matrix_diag_part` gives.

    Raises ValueError where the shapes don't fit.

    >>> sess.run(tf.matrix_set_diag([[1, 2], [3, 4]], [0, 9]))
    array([[0, 2],
           [3, 9]], dtype=int32)
    """
    if _main(k):
        return MatrixSetDiag(input, diagonal, name=name)
    return MatrixSetDiagV3(input, diagonal, k, align=align, name=name)


describe(globals(), TENSORS)
