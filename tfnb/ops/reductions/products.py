"""Einsum as one op, matmuls of matrices with many zeros, polynomials."""
from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from tfnb.core import dtypes
from tfnb.core.arguments import TENSORS, describe
from tfnb.core.shape import Static, broadcast, merge
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.stack import name_scope
from tfnb.kernels.cpu.matmul.integers import multiply
from tfnb.kernels.library.rows.halves import rounded, widened
from tfnb.ops.array.create import ones, zeros_like
from tfnb.ops.array.reshape import shape
from tfnb.ops.declaration.declare import kernel
from tfnb.ops.declaration.public import public
from tfnb.ops.declaration.raw import raw
from tfnb.ops.math.casting import cast
from tfnb.ops.math.complex import conj
from tfnb.ops.reductions.matmul import matmul

# Einsum


def _parts(attrs: Any) -> tuple[list[str], str]:
    """Return the labels of the inputs and those of the output; "..." is the label ".". Raises ValueError."""
    text = attrs["equation"].decode().replace(" ", "").replace("...", ".")
    left, arrow, right = text.partition("->")
    if not arrow or not text.replace("->", "").replace(",", "").replace(".", "x").isalpha():
        raise ValueError(f"expected an equation like 'ij,jk->ik', got {text!r}")
    return left.split(","), right


def _einsum_shape(ctx: Any) -> list[Static]:
    inputs, output = _parts(ctx.attrs)
    if len(inputs) != len(ctx.op.inputs):
        raise ValueError(f"Expected {len(inputs)} inputs for equation {ctx.attrs['equation'].decode()}, got "
                         f"{len(ctx.op.inputs)}")
    sizes: dict[str, int | None] = {}
    batch: Static = ()
    for i, labels in enumerate(inputs):
        given = ctx.shape(i)
        if given is None:
            batch = None if "." in labels else batch
            continue
        extra = len(given) - len(labels.replace(".", ""))
        if extra < 0 or (extra and "." not in labels):
            raise ValueError(f"Expected input {i} to have rank {len(labels.replace('.', ''))}, got {len(given)}")
        at = labels.find(".")
        if at >= 0:
            batch = broadcast(batch, given[at:at + extra])
            given = given[:at] + given[at + extra:]
        for label, size in zip(labels.replace(".", ""), given, strict=True):
            (sizes[label],) = merge((sizes.get(label),), (size,)) or (None,)
    if "." in output and batch is None:
        return [None]
    return [tuple(n for label in output for n in (batch or () if label == "." else (sizes.get(label),)))]


def _einsum(ctx: Any, *arrays: np.ndarray) -> np.ndarray:
    labels, output = _parts(ctx.attrs)
    plain = all("." not in own and len(set(own)) == len(own) for own in (*labels, output))
    if plain and len(arrays) == 2 and arrays[0].dtype.kind in "iufc":
        found = _contracted(labels, [widened(x) for x in arrays], output)
    else:
        found = np.einsum(ctx.attrs["equation"].decode(), *map(widened, arrays), optimize=len(arrays) > 2)
    return rounded(np.asarray(found, order="C"), arrays[0].dtype)   # (np.ascontiguousarray gives a scalar an axis)


def _contracted(labels: Sequence[str], arrays: Sequence[np.ndarray], output: str) -> np.ndarray:
    """Return the sums of products of two arrays by one (batched) matmul: axes are batch, rows, inner or columns."""
    (a, b), alone = labels, []
    for own, other, x in zip(labels, (b, a), arrays, strict=True):
        gone = tuple(i for i, label in enumerate(own) if label not in other and label not in output)
        left = "".join(label for i, label in enumerate(own) if i not in gone)
        alone.append((left, x.sum(gone, dtype=x.dtype) if gone else x))
    (a, x), (b, y) = alone
    sizes = dict(zip(a + b, x.shape + y.shape, strict=True))
    batch, inner = ([n for n in a if n in b and (n in output) is kept] for kept in (True, False))
    rows, columns = [n for n in a if n not in b], [n for n in b if n not in a]

    def grouped(own: str, array: np.ndarray, *groups: list[str]) -> np.ndarray:
        turned = array.transpose([own.index(n) for group in groups for n in group])
        return turned.reshape([prod(sizes[n] for n in group) for group in groups])
    product = multiply(grouped(a, x, batch, rows, inner), grouped(b, y, batch, inner, columns))
    found = [*batch, *rows, *columns]
    return product.reshape([sizes[n] for n in found]).transpose([found.index(n) for n in output])


@kernel("inputs: N * T -> output: T", shape=_einsum_shape, numpy=_einsum, equation="string", N="int >= 1", T="type")
def Einsum() -> None:
    """Sum products of elements over the labels that `equation` leaves out of its output; "..." are batch axes."""


@Einsum.gradient
def _(op: Operation, dy: Tensor) -> list[Tensor]:
    """Contract dy with the other inputs; a label that one input alone has is summed out, so its dy is spread."""
    inputs, output = _parts(op.attrs)
    if any("." in labels or len(set(labels)) < len(labels) for labels in inputs):
        raise LookupError(f"no gradient of einsum for {op.attrs['equation'].decode()!r}: batch axes by '...' and "
                          "repeated labels have none here; tf.einsum has them")
    found = []
    for i, labels in enumerate(inputs):
        others = [(own, x) for j, (own, x) in enumerate(zip(inputs, op.inputs, strict=True)) if j != i]
        there = set(output).union(*(own for own, _ in others))
        alone = [label for label in labels if label not in there]
        if alone:
            sizes: Any = shape(op.inputs[i])
            others.append(("".join(alone), ones([sizes[labels.index(label)] for label in alone], dy.dtype)))
        equation = ",".join([output, *(own for own, _ in others)]) + "->" + labels
        found.append(Einsum([dy, *(conj(x) for _, x in others)], equation=equation))
    return found


# Matmuls

def _product_shape(ctx: Any) -> list[Static]:
    a, b = ((None, None) if (s := ctx.shape(i)) is None else s for i in (0, 1))
    if len(a) != 2 or len(b) != 2:
        raise ValueError(f"Shape must be rank 2 but is rank {len(a) if len(a) != 2 else len(b)}")
    a, b = (x[::-1] if ctx.attrs[name] else x for x, name in ((a, "transpose_a"), (b, "transpose_b")))
    merge(a[1:], b[:1])
    return [(a[0], b[1])]


def _product(ctx: Any, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    a, b = (x.T if ctx.attrs[name] else x for x, name in ((a, "transpose_a"), (b, "transpose_b")))
    found: np.ndarray = a @ b
    return found


@kernel("a: Ta, b: Tb -> product: float", shape=_product_shape, numpy=_product, transpose_a="bool = false",
        transpose_b="bool = false", a_is_sparse="bool = false", b_is_sparse="bool = false",
        Ta="{float, bfloat16} = DT_FLOAT", Tb="{float, bfloat16} = DT_FLOAT")
def SparseMatMul() -> None:
    """Compute the matrix product of `a` and `b`; a_is_sparse, b_is_sparse: most of its elements are 0."""


@SparseMatMul.gradient
def _(op: Operation, dy: Tensor) -> list[Tensor | None]:
    a, b = op.inputs
    left, right = op.attrs["transpose_a"], op.attrs["transpose_b"]
    x, y = cast(a, dtypes.float32), cast(b, dtypes.float32)
    da = matmul(y, dy, right, True) if left else matmul(dy, y, False, not right)
    db = matmul(dy, x, True, left) if right else matmul(x, dy, not left, False)
    return [cast(da, a.dtype), cast(db, b.dtype)]


@public("sparse_matmul")
def sparse_matmul(a: Any, b: Any, transpose_a: bool = False, transpose_b: bool = False, a_is_sparse: bool = False,
                  b_is_sparse: bool = False, name: str | None = None) -> Tensor:
    """Multiply two dense matrices of float32 or bfloat16, most of whose elements are 0: float32.

    transpose_a, transpose_b: multiply by the transposed matrix. a_is_sparse, b_is_sparse: which of them has the zeros;
    the product is computed as that of any matrices. Raises ValueError for other ranks and sizes.

    >>> sess.run(tf.sparse_matmul([[0.0, 2.0]], [[3.0], [4.0]], a_is_sparse=True))
    array([[8.]], dtype=float32)
    """
    product: Tensor = SparseMatMul(a, b, transpose_a=transpose_a, transpose_b=transpose_b, a_is_sparse=a_is_sparse,
                                   b_is_sparse=b_is_sparse, name=name)
    return product


@public("math.polyval")
def polyval(coeffs: Sequence[Any], x: Any, name: str | None = None) -> Tensor:
    """Evaluate a polynomial at `x` by Horner's scheme, element-wise.

    coeffs: a list of tensors or numbers, that of the highest power first; none make 0. Raises ValueError for no list.

    >>> sess.run(tf.math.polyval([3.0, 0.0, 1.0], 2.0))             # 3 x**2 + 1
    13.0
    """
    if not isinstance(coeffs, list):
        raise ValueError(f"Argument coeffs must be list type. Received type {type(coeffs)}.")
    with name_scope(name, "polyval", [*coeffs, x]):
        x = convert_to_tensor(x, name="x")
        if not coeffs:
            return zeros_like(x)
        first, *rest = (convert_to_tensor(c, name=("coeff" if not i else None)) for i, c in enumerate(coeffs))
        for coefficient in rest:
            first = raw.AddV2(coefficient, raw.Mul(first, x))
        return first


describe(globals(), TENSORS)
