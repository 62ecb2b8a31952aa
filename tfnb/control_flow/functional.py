"""Higher-order functions over the rows of tensors, as loops: map_fn, scan, foldl, foldr."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tfnb.control_flow.tensor_array import TensorArray
from tfnb.control_flow.while_loop import while_loop
from tfnb.core import nest
from tfnb.core.arguments import LOOPS, describe
from tfnb.core.shape import TensorShape
from tfnb.graph.constant import make_constant
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.operation import Tensor
from tfnb.graph.stack import name_scope
from tfnb.ops.array.reshape import shape
from tfnb.ops.declaration.public import public


def _elems(elems: Any) -> list[Tensor]:
    return [convert_to_tensor(elem, name="elem") for elem in nest.flatten(elems)]


def _count(elems: Sequence[Tensor]) -> Any:
    """Return the number of rows: an int where it is known. Raises ValueError for a scalar."""
    if not elems:
        raise ValueError("elems must have at least one tensor, got none")
    for elem in elems:
        if elem.static == ():
            raise ValueError("elements in elems must be 1+ dimensional Tensors, not scalars")
    first = elems[0]
    known = None if first.static is None else first.static[0]
    return shape(first)[0] if known is None else known


def _rows(elems: Sequence[Tensor], n: Any) -> list[TensorArray]:
    return [TensorArray(elem.dtype, size=n, infer_shape=True).unstack(elem) for elem in elems]


def _stacked(arrays: Sequence[TensorArray], elems: Sequence[Tensor]) -> list[Tensor]:
    """Return the results; they have as many rows as all the elems."""
    size = TensorShape([None])
    for elem in elems:
        if elem.static is not None:
            size = size.merge_with(TensorShape([elem.static[0]]))
    results = [array.stack() for array in arrays]
    for r in results:
        r.set_shape(size.concatenate(r.shape[1:]) if r.static is not None else None)
    return results


def map_fn(fn: Callable[..., Any], elems: Any, dtype: Any = None, parallel_iterations: int | None = None,
           back_prop: bool = True, swap_memory: bool = False, infer_shape: bool = True,
           name: str | None = None) -> Any:
    """Apply `fn` to each row of `elems` and stack the results.

    elems: a tensor, or tensors of equally many rows in a structure, of which fn gets a row each. dtype: the dtype(s)
    of what fn returns, in its structure, if that is another one than `elems`. infer_shape: all results have one shape.
    Raises TypeError if `fn` can't be called, ValueError for scalars and without any tensor.

    >>> sess.run(tf.map_fn(lambda row: row * row, tf.constant([1, 2, 3])))
    array([1, 4, 9], dtype=int32)
    """
    if not callable(fn):
        raise TypeError("fn must be callable.")
    structure = elems if dtype is None else dtype
    with name_scope(name, "map", nest.flatten(elems)):
        flat = _elems(elems)
        if not flat:
            raise ValueError("elems must be a Tensor or (possibly nested) sequence of Tensors. "
                             f"Got {elems}, which does not contain any Tensors.")
        types = [elem.dtype for elem in flat] if dtype is None else nest.flatten(dtype)
        n = _count(flat)
        rows = _rows(flat, n)
        start = make_constant(0)
        results = [TensorArray(t, size=n, infer_shape=infer_shape) for t in types]

        def compute(i: Tensor, arrays: Any) -> Any:
            """Run one iteration: `fn` of row i; its result becomes row i of the results."""
            made = fn(nest.pack_sequence_as(elems, [row.read(i) for row in rows]))
            nest.assert_same_structure(structure, made)
            return i + 1, [a.write(i, value) for a, value in zip(arrays, nest.flatten(made), strict=True)]

        _, arrays = while_loop(lambda i, _: i < n, compute, (start, results), back_prop=back_prop,
                               parallel_iterations=parallel_iterations or 10, swap_memory=swap_memory,
                               maximum_iterations=n)
        return nest.pack_sequence_as(structure, _stacked(arrays, flat))


@public("vectorized_map")
def vectorized_map(fn: Callable[..., Any], elems: Any, fallback_to_while_loop: bool = True, warn: bool = True) -> Any:
    """Apply `fn` to each row of `elems` and stack the results: `tf.map_fn`, with dtypes as `fn` returns them.

    fn: gets a row of `elems`, a tensor or a structure of them, and returns tensors in any structure. It is called twice
    while the graph is built. The rows are mapped by a loop, whatever `fallback_to_while_loop` and `warn` say.

    >>> sess.run(tf.vectorized_map(lambda x: tf.reduce_sum(x), tf.constant([[1.0, 2.0], [3.0, 4.0]])))
    array([3., 7.], dtype=float32)
    """
    tensors = _elems(elems)
    probe = nest.map_structure(convert_to_tensor, fn(nest.pack_sequence_as(elems, [t[0] for t in tensors])))
    return map_fn(fn, nest.pack_sequence_as(elems, tensors), dtype=nest.map_structure(lambda t: t.dtype, probe))


def scan(fn: Callable[..., Any], elems: Any, initializer: Any = None, parallel_iterations: int = 10,
         back_prop: bool = True, swap_memory: bool = False, infer_shape: bool = True, reverse: bool = False,
         name: str | None = None) -> Any:
    """Fold a = fn(a, row) over the rows of `elems` and return all values of a, stacked.

    a begins as `initializer`, without one as the first row. elems, and initializer with what fn returns, may be
    structures of tensors. reverse: begin at the last row. Raises TypeError if `fn` can't be called.

    >>> sess.run(tf.scan(lambda total, x: total + x, tf.constant([1, 2, 3, 4])))
    array([ 1,  3,  6, 10], dtype=int32)
    """
    if not callable(fn):
        raise TypeError("fn must be callable.")
    structure = elems if initializer is None else initializer
    with name_scope(name, "scan", nest.flatten(elems)):
        flat = _elems(elems)
        n = _count(flat)
        rows = _rows(flat, n)
        first = n - 1 if reverse else 0
        if initializer is None:
            values, done = [row.read(first) for row in rows], 1
        else:
            values, done = [convert_to_tensor(value) for value in nest.flatten(initializer)], 0
        results = [TensorArray(v.dtype, size=n, element_shape=v.shape if infer_shape else None,
                               infer_shape=infer_shape) for v in values]
        if done:
            results = [a.write(first, v) for a, v in zip(results, values, strict=True)]

        def compute(i: Tensor, a: Any, arrays: Any) -> Any:
            """Run one iteration: `fn` of the accumulator and row i; its result is kept, too."""
            made = fn(nest.pack_sequence_as(structure, a),
                      nest.pack_sequence_as(elems, [row.read(i) for row in rows]))
            nest.assert_same_structure(structure, made)
            flat_made = nest.flatten(made)
            written = [array.write(i, value) for array, value in zip(arrays, flat_made, strict=True)]
            return (i - 1 if reverse else i + 1), flat_made, written

        start = n - 1 - done if reverse else done
        _, _, arrays = while_loop(
            (lambda i, a, r: i >= 0) if reverse else (lambda i, a, r: i < n), compute, (start, values, results),
            parallel_iterations=parallel_iterations, back_prop=back_prop, swap_memory=swap_memory,
            maximum_iterations=n)
        return nest.pack_sequence_as(structure, _stacked(arrays, flat))


def foldl(fn: Callable[..., Any], elems: Any, initializer: Any = None, parallel_iterations: int = 10,
          back_prop: bool = True, swap_memory: bool = False, name: str | None = None) -> Any:
    """Fold a = fn(a, row) from the first row of `elems` to the last: the last a. It begins as `initializer` or a row.

    Raises TypeError if `fn` can't be called.

    >>> sess.run(tf.foldl(lambda total, x: 10 * total + x, tf.constant([1, 2, 3])))
    123
    """
    return _fold(fn, elems, initializer, False, name or "foldl", parallel_iterations, back_prop, swap_memory)


def foldr(fn: Callable[..., Any], elems: Any, initializer: Any = None, parallel_iterations: int = 10,
          back_prop: bool = True, swap_memory: bool = False, name: str | None = None) -> Any:
    """Fold a = fn(a, row) from the last row of `elems` to the first: the last a. It begins as `initializer` or a row.

    Raises TypeError if `fn` can't be called.

    >>> sess.run(tf.foldr(lambda total, x: 10 * total + x, tf.constant([1, 2, 3])))
    321
    """
    return _fold(fn, elems, initializer, True, name or "foldr", parallel_iterations, back_prop, swap_memory)


def _fold(fn: Callable[..., Any], elems: Any, initializer: Any, reverse: bool, name: str, parallel_iterations: int,
          back_prop: bool, swap_memory: bool) -> Any:
    if not callable(fn):
        raise TypeError("fn must be callable.")
    with name_scope(name, None, nest.flatten(elems)):
        flat = _elems(elems)
        n = _count(flat)
        rows = _rows(flat, n)

        def row(i: Any) -> Any:
            """Row i of each tensor, in the structure of `elems`."""
            return nest.pack_sequence_as(elems, [r.read(i) for r in rows])

        i: Any = n - 1 if reverse else make_constant(0 if initializer is not None else 1)
        a = initializer
        if initializer is None:
            a = row(i if reverse else 0)
            i = i - 1 if reverse else i

        def compute(i: Tensor, a: Any) -> Any:
            """Run one iteration: `fn` of the accumulator and row i."""
            return [i - 1 if reverse else i + 1, fn(a, row(i))]

        test = (lambda i, a: i >= 0) if reverse else (lambda i, a: i < n)
        _, last = while_loop(test, compute, [i, a], parallel_iterations=parallel_iterations, back_prop=back_prop,
                             swap_memory=swap_memory, maximum_iterations=n)
        return last


describe(globals(), LOOPS)
