"""Coordinate grids and tensor contractions: `tf.meshgrid`, `tf.einsum`."""
from __future__ import annotations

import re
from functools import reduce
from typing import Any

from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.operation import Tensor
from tfnb.graph.stack import name_scope
from tfnb.ops.array.create import ones
from tfnb.ops.array.joining import stack
from tfnb.ops.array.reshape import reshape, shape, size, transpose
from tfnb.ops.math.arithmetic import multiply
from tfnb.ops.reductions.matmul import matmul
from tfnb.ops.reductions.reduce import reduce_sum


def meshgrid(*args: Any, **kwargs: Any) -> list[Tensor]:
    """Return, for N vectors, N tensors of rank N with the coordinates of a grid.

    indexing: "xy" (the first two axes swapped, as in plots) or "ij". Raises ValueError for another indexing, TypeError
    for other keywords.

    >>> sess.run(tf.meshgrid([1, 2, 3], [10, 20]))
    [array([[1, 2, 3],
            [1, 2, 3]], dtype=int32),
     array([[10, 10, 10],
            [20, 20, 20]], dtype=int32)]
    """
    indexing, name = kwargs.pop("indexing", "xy"), kwargs.pop("name", "meshgrid")
    if kwargs:
        raise TypeError(f"'{next(iter(kwargs))}' is an invalid keyword argument for this function")
    if indexing not in ("xy", "ij"):
        raise ValueError(f"Argument `indexing` parameter must be either 'xy' or 'ij', got '{indexing}'")
    with name_scope(name, "meshgrid", args):
        rank = len(args)
        shapes = [[1] * i + [-1] + [1] * (rank - 1 - i) for i in range(rank)]
        grids = [reshape(stack(x), each) for x, each in zip(args, shapes, strict=True)]
        sizes = [size(x) for x in args]
        if indexing == "xy" and rank > 1:
            shapes[0][:2], shapes[1][:2] = [1, -1], [-1, 1]
            grids[0], grids[1] = reshape(grids[0], shapes[0]), reshape(grids[1], shapes[1])
            sizes[0], sizes[1] = sizes[1], sizes[0]
        whole = ones(stack(sizes), convert_to_tensor(args[0]).dtype.base_dtype) if args else None
        return [multiply(grid, whole) for grid in grids]


def einsum(equation: str, *inputs: Any, **kwargs: Any) -> Tensor:
    """Contract tensors by Einstein summation: "ij,jk->ik" is a matrix product. A letter occurs once in each input.

    Without "->" the letters that stand once, in alphabetical order, are those of the output. Raises ValueError for an
    equation that does not fit the inputs, TypeError for keywords other than name.

    >>> a, b = tf.constant([[1, 2], [3, 4]]), tf.constant([[5], [6]])
    >>> sess.run(tf.einsum("ij,jk->ik", a, b))
    array([[17],
           [39]], dtype=int32)
    >>> sess.run(tf.einsum("ij->i", a))
    array([3, 7], dtype=int32)
    """
    name = kwargs.pop("name", None)
    if kwargs:
        raise TypeError(f"invalid keyword arguments for this function: {', '.join(sorted(kwargs))}")
    found = re.fullmatch(r"([a-zA-Z]*(?:,[a-zA-Z]*)*)(?:->([a-zA-Z]*))?", equation.replace(" ", ""))
    if found is None:
        raise ValueError(f"Indices have incorrect format: {equation}")
    letters, wanted = found[1].split(","), found[2]
    if len(letters) != len(inputs):
        raise ValueError(f"Got {len(inputs)} arguments for equation \"{equation}\", expecting {len(letters)}")
    if wanted is None:
        joined = "".join(letters)
        wanted = "".join(sorted(letter for letter in set(joined) if joined.count(letter) == 1))
    with name_scope(name, "einsum", [equation, *inputs]):
        tensors = [convert_to_tensor(x) for x in inputs]
        for each, x in zip(letters, tensors, strict=True):
            if x.shape.ndims not in (None, len(each)) or len(set(each)) != len(each):
                raise ValueError(f"Subscripts {each!r} of {equation!r} do not fit a tensor of shape {x.shape}")
        return _summed(letters, tensors, wanted, equation)


def _summed(letters: list[str], tensors: list[Any], wanted: str, equation: str) -> Tensor:
    if set(wanted) - set("".join(letters)) or len(set(wanted)) != len(wanted):
        raise ValueError(f"Unknown or repeated output letters in {equation!r}")

    made = (letters[0], tensors[0])
    for i in range(1, len(tensors)):
        made = _contracted(made, (letters[i], tensors[i]), "".join(letters[i + 1:]) + wanted)
    gone = [axis for axis, letter in enumerate(made[0]) if letter not in wanted]
    result = reduce_sum(made[1], gone) if gone else made[1]
    left = [letter for letter in made[0] if letter in wanted]
    order = [left.index(letter) for letter in wanted]
    return result if order == list(range(len(order))) else transpose(result, order)


def _contracted(a: tuple[str, Any], b: tuple[str, Any], kept: str) -> tuple[str, Any]:
    """The product of two inputs, summed over the letters that nothing needs any more: one (batched) matrix product."""
    batch = [x for x in a[0] if x in b[0] and x in kept]
    inner = [x for x in a[0] if x in b[0] and x not in kept]
    rows, columns = [x for x in a[0] if x not in b[0]], [x for x in b[0] if x not in a[0]]
    sizes = _sizes(a) | _sizes(b)
    left = _grouped(a, [batch, rows, inner], sizes)
    right = _grouped(b, [batch, inner, columns], sizes)
    letters = "".join([*batch, *rows, *columns])
    product = matmul(left, right)
    whole = [sizes[x] for x in letters]
    return letters, reshape(product, stack(whole) if any(isinstance(n, Tensor) for n in whole) else whole)


def _sizes(x: tuple[str, Any]) -> dict[str, Any]:
    """Return the size of each letter, an integer where it is known."""
    static = x[1].static or (None,) * len(x[0])
    whole: Any = shape(x[1]) if None in static else None
    return {letter: whole[i] if n is None else n for i, (letter, n) in enumerate(zip(x[0], static, strict=True))}


def _grouped(x: tuple[str, Any], groups: list[list[str]], sizes: dict[str, Any]) -> Any:
    """Return the tensor with the letters of each group (batch, rows, columns) as one axis."""
    order = [x[0].index(letter) for group in groups for letter in group]
    turned = x[1] if order == list(range(len(order))) else transpose(x[1], order)
    merged = [reduce(lambda m, n: m * n, (sizes[letter] for letter in group), 1) for group in groups]
    return reshape(turned, stack(merged) if any(isinstance(n, Tensor) for n in merged) else merged)
