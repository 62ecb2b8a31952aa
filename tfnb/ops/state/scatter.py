"""Sparse updates of the rows of a variable by index: `tf.scatter_add` and its kin.

An index that comes several times is applied as often, in the order of the indices. One outside of the variable is an
InvalidArgumentError, and then nothing is written.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tfnb.core.arguments import TENSORS, describe
from tfnb.core.shape import Static, merge
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.operation import Tensor
from tfnb.graph.stack import name_scope
from tfnb.ops.array.create import ones_like
from tfnb.ops.array.joining import concat
from tfnb.ops.array.reshape import shape as array_shape
from tfnb.ops.composite.indexed_slices import IndexedSlices
from tfnb.ops.declaration.declare import scatter
from tfnb.ops.declaration.raw import raw

if TYPE_CHECKING:
    maximum: Any                    # primitives (kernels/scalar/primitives.py)
    minimum: Any

_ROWS = "ref: Ref(T), indices: Tindices, updates: T -> output_ref: Ref(T)"
_ORDERED = "{half, bfloat16, float, double, int32, int64}"
_NUMBER: dict[str, Any] = {"T": "numbertype", "Tindices": "indextype", "use_locking": "bool = false"}
_POLICY: dict[str, Any] = {"bad_indices_policy": "string = ''"}


def _rows_shape(ctx: Any) -> list[Static]:
    ref, indices, updates = ctx.shape(0), ctx.shape(1), ctx.shape(2)
    if ref is not None and not ref:
        raise ValueError("Shape must be at least rank 1 but is rank 0")
    if updates != () and ref is not None and indices is not None:
        merge(updates, indices + ref[1:])
    return [ref]


def _vectors_shape(ctx: Any) -> list[Static]:
    ref, indices, updates = ctx.shape(0), ctx.shape(1), ctx.shape(2)
    if indices is not None and not indices:
        raise ValueError("indices must have at least one axis, the last one for the coordinates")
    if ref is not None and indices is not None and indices[-1] is not None:
        if indices[-1] > len(ref):
            raise ValueError(f"The last dimension of indices must be at most the rank of the variable: {indices[-1]} "
                             f"> {len(ref)}")
        merge(updates, indices[:-1] + ref[indices[-1]:])
    return [ref]


@scatter(_ROWS, shape=_rows_shape, T="type", Tindices="indextype", use_locking="bool = true")
def ScatterUpdate(ref: Any, updates: Any) -> Any:
    """Assign `updates[i]` to row `indices[i]` of a variable."""
    return updates


@scatter(_ROWS, shape=_rows_shape, **_NUMBER)
def ScatterAdd(ref: Any, updates: Any) -> Any:
    """Add `updates[i]` to row `indices[i]` of a variable."""
    return ref + updates


@scatter(_ROWS, shape=_rows_shape, **_NUMBER)
def ScatterSub(ref: Any, updates: Any) -> Any:
    """Subtract `updates[i]` from row `indices[i]` of a variable."""
    return ref - updates


@scatter(_ROWS, shape=_rows_shape, **_NUMBER)
def ScatterMul(ref: Any, updates: Any) -> Any:
    """Multiply row `indices[i]` of a variable by `updates[i]`."""
    return ref * updates


@scatter(_ROWS, shape=_rows_shape, **_NUMBER)
def ScatterDiv(ref: Any, updates: Any) -> Any:
    """Divide row `indices[i]` of a variable by `updates[i]`."""
    return ref / updates


@scatter(_ROWS, shape=_rows_shape, **{**_NUMBER, "T": _ORDERED})
def ScatterMin(ref: Any, updates: Any) -> Any:
    """Replace row `indices[i]` of a variable by its element-wise minimum with `updates[i]`."""
    return minimum(ref, updates)


@scatter(_ROWS, shape=_rows_shape, **{**_NUMBER, "T": _ORDERED})
def ScatterMax(ref: Any, updates: Any) -> Any:
    """Replace row `indices[i]` of a variable by its element-wise maximum with `updates[i]`."""
    return maximum(ref, updates)


@scatter(_ROWS, shape=_vectors_shape, vectors=True, T="type", Tindices="indextype", use_locking="bool = true",
         **_POLICY)
def ScatterNdUpdate(ref: Any, updates: Any) -> Any:
    """Assign slices of a variable at the index vectors in the last axis of `indices`."""
    return updates


@scatter(_ROWS, shape=_vectors_shape, vectors=True, **_NUMBER, **_POLICY)
def ScatterNdAdd(ref: Any, updates: Any) -> Any:
    """Add to slices of a variable at the index vectors in the last axis of `indices`."""
    return ref + updates


@scatter(_ROWS, shape=_vectors_shape, vectors=True, **_NUMBER, **_POLICY)
def ScatterNdSub(ref: Any, updates: Any) -> Any:
    """Subtract from slices of a variable at the index vectors in the last axis of `indices`."""
    return ref - updates


@scatter(_ROWS, shape=_vectors_shape, vectors=True, **_NUMBER, **_POLICY)
def ScatterNdMin(ref: Any, updates: Any) -> Any:
    """Replace slices of a variable at index vectors by their element-wise minimum with `updates`."""
    return minimum(ref, updates)


@scatter(_ROWS, shape=_vectors_shape, vectors=True, **_NUMBER, **_POLICY)
def ScatterNdMax(ref: Any, updates: Any) -> Any:
    """Replace slices of a variable at index vectors by their element-wise maximum with `updates`."""
    return maximum(ref, updates)


# What users call; the methods of variables (RowUpdates) are these functions

def _changed(op: Any, ref: Any, indices: Any, updates: Any, use_locking: bool | None, name: str | None) -> Tensor:
    if hasattr(ref, "handle"):                     # it has ops of its own
        return ref._scatter(op.spec.name, indices, updates, name)
    result: Tensor = op(ref, indices, updates, use_locking=use_locking, name=name)
    return result


def scatter_update(ref: Any, indices: Any, updates: Any, use_locking: bool | None = True,
                   name: str | None = None) -> Tensor:
    """Assign `updates[i]` to row `indices[i]` of the variable `ref`; the result is the variable after that.

    indices: int32 or int64 of any shape; updates: of shape `indices.shape + ref.shape[1:]`, or a scalar. Of an index
    that comes twice the last row stays. Raises InvalidArgumentError, when it runs, for an index outside of `ref`.

    >>> v = tf.Variable([[1, 1], [2, 2], [3, 3]])
    >>> sess.run(v.initializer)
    >>> sess.run(tf.scatter_update(v, indices=[2, 0], updates=[[30, 30], [10, 10]]))
    array([[10, 10],
           [ 2,  2],
           [30, 30]], dtype=int32)
    """
    return _changed(ScatterUpdate, ref, indices, updates, use_locking, name)


def scatter_add(ref: Any, indices: Any, updates: Any, use_locking: bool | None = False,
                name: str | None = None) -> Tensor:
    """Add `updates[i]` to row `indices[i]` of the variable `ref`; else as `scatter_update`.

    >>> v = tf.Variable([1, 2, 3])
    >>> sess.run(v.initializer)
    >>> sess.run(tf.scatter_add(v, indices=[0, 0, 2], updates=[10, 10, 30]))
    array([21,  2, 33], dtype=int32)
    """
    return _changed(ScatterAdd, ref, indices, updates, use_locking, name)


def scatter_sub(ref: Any, indices: Any, updates: Any, use_locking: bool | None = False,
                name: str | None = None) -> Tensor:
    """Subtract `updates[i]` from row `indices[i]` of the variable `ref`; else as `scatter_update`.

    >>> v = tf.Variable([1, 2, 3])
    >>> sess.run(v.initializer)
    >>> sess.run(tf.scatter_sub(v, indices=[0, 0, 2], updates=[10, 10, 30]))
    array([-19,   2, -27], dtype=int32)
    """
    return _changed(ScatterSub, ref, indices, updates, use_locking, name)


def scatter_mul(ref: Any, indices: Any, updates: Any, use_locking: bool | None = False,
                name: str | None = None) -> Tensor:
    """Multiply row `indices[i]` of the variable `ref` by `updates[i]`; else as `scatter_update`.

    >>> v = tf.Variable([1, 2, 3])
    >>> sess.run(v.initializer)
    >>> sess.run(tf.scatter_mul(v, indices=[0, 2], updates=[10, 30]))
    array([10,  2, 90], dtype=int32)
    """
    return _changed(ScatterMul, ref, indices, updates, use_locking, name)


def scatter_div(ref: Any, indices: Any, updates: Any, use_locking: bool | None = False,
                name: str | None = None) -> Tensor:
    """Divide row `indices[i]` of the variable `ref` by `updates[i]`; else as `scatter_update`.

    >>> v = tf.Variable([1.0, 2.0, 3.0])
    >>> sess.run(v.initializer)
    >>> sess.run(tf.scatter_div(v, indices=[0, 2], updates=[10.0, 2.0]))
    array([0.1, 2. , 1.5], dtype=float32)
    """
    return _changed(ScatterDiv, ref, indices, updates, use_locking, name)


def scatter_min(ref: Any, indices: Any, updates: Any, use_locking: bool | None = False,
                name: str | None = None) -> Tensor:
    """Row `indices[i]` of the variable `ref` becomes its element-wise minimum with `updates[i]`.

    >>> v = tf.Variable([1, 2, 3])
    >>> sess.run(v.initializer)
    >>> sess.run(tf.scatter_min(v, indices=[0, 2], updates=[10, 0]))
    array([1, 2, 0], dtype=int32)
    """
    return _changed(ScatterMin, ref, indices, updates, use_locking, name)


def scatter_max(ref: Any, indices: Any, updates: Any, use_locking: bool | None = False,
                name: str | None = None) -> Tensor:
    """Row `indices[i]` of the variable `ref` becomes its element-wise maximum with `updates[i]`.

    >>> v = tf.Variable([1, 2, 3])
    >>> sess.run(v.initializer)
    >>> sess.run(tf.scatter_max(v, indices=[0, 2], updates=[10, 0]))
    array([10,  2,  3], dtype=int32)
    """
    return _changed(ScatterMax, ref, indices, updates, use_locking, name)


def scatter_nd_update(ref: Any, indices: Any, updates: Any, use_locking: bool | None = True,
                      name: str | None = None) -> Tensor:
    """Assign slices of the variable `ref`; the result is the variable after that.

    indices: int32 or int64 of shape [..., k]: each vector of its last axis picks `ref[indices[..., :]]`; updates: of
    shape `indices.shape[:-1] + ref.shape[k:]`. Errors as of `scatter_update`.

    >>> v = tf.Variable([[1, 2], [3, 4]])
    >>> sess.run(v.initializer)
    >>> sess.run(tf.scatter_nd_update(v, indices=[[0, 0], [1, 1]], updates=[10, 40]))
    array([[10,  2],
           [ 3, 40]], dtype=int32)
    """
    return _changed(ScatterNdUpdate, ref, indices, updates, use_locking, name)


def scatter_nd_add(ref: Any, indices: Any, updates: Any, use_locking: bool | None = False,
                   name: str | None = None) -> Tensor:
    """Add to slices of the variable `ref`; else as `scatter_nd_update`.

    >>> v = tf.Variable([1, 2, 3])
    >>> sess.run(v.initializer)
    >>> sess.run(tf.scatter_nd_add(v, indices=[[0], [2]], updates=[10, 30]))
    array([11,  2, 33], dtype=int32)
    """
    return _changed(ScatterNdAdd, ref, indices, updates, use_locking, name)


def scatter_nd_sub(ref: Any, indices: Any, updates: Any, use_locking: bool | None = False,
                   name: str | None = None) -> Tensor:
    """Subtract from slices of the variable `ref`; else as `scatter_nd_update`.

    >>> v = tf.Variable([1, 2, 3])
    >>> sess.run(v.initializer)
    >>> sess.run(tf.scatter_nd_sub(v, indices=[[0], [2]], updates=[10, 30]))
    array([ -9,   2, -27], dtype=int32)
    """
    return _changed(ScatterNdSub, ref, indices, updates, use_locking, name)


class NotIndexedSlices(TypeError, ValueError):
    """TensorFlow 1.15 raises TypeError; the documentation of 0.x says ValueError."""


def slices_of(value: Any) -> tuple[Any, Any]:
    """Return the indices and the rows of an IndexedSlices. Raises NotIndexedSlices for anything else."""
    if not isinstance(value, IndexedSlices):
        raise NotIndexedSlices(f"sparse_delta is not IndexedSlices: {value}")
    return value.indices, value.values


def batch_scatter_update(ref: Any, indices: Any, updates: Any, use_locking: bool | None = True,
                         name: str | None = None) -> Tensor:
    """Assign slices of the variable `ref`, each batch (all axes of `indices` but the last) by its own indices.

    `ref[i, ..., indices[i, ..., j]] = updates[i, ..., j]`; else as `scatter_update`. Raises ValueError for indices of
    unknown rank.

    >>> v = tf.Variable([[1, 2, 3], [4, 5, 6]])
    >>> sess.run(v.initializer)
    >>> sess.run(tf.batch_scatter_update(v, indices=[[0], [2]], updates=[[10], [60]]))
    array([[10,  2,  3],
           [ 4,  5, 60]], dtype=int32)
    """
    with name_scope(name):
        indices = convert_to_tensor(indices, name="indices")
        sizes: Any = array_shape(indices)
        if indices.static is None:
            raise ValueError("batch_scatter_update does not allow indices of unknown rank.")
        picks = raw.ExpandDims(indices, -1)
        axes = []
        for axis in range(len(indices.static) - 1):
            size = sizes[axis]
            along: list[Any] = [1] * (len(indices.static) + 1)
            along[axis] = size
            steps = raw.Reshape(raw.Range(0, size, 1), along)
            steps = steps if steps.dtype == picks.dtype.base_dtype else raw.Cast(steps, DstT=picks.dtype.base_dtype)
            axes.append(steps * ones_like(picks))
        return scatter_nd_update(ref, concat([*axes, picks], -1), updates, use_locking=use_locking)


class RowUpdates:
    """The methods of a variable that change some of its rows. All return the variable after that, as a tensor."""

    _variable: Any

    def scatter_sub(self, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> Tensor:
        """Subtract the rows of an IndexedSlices. Raises TypeError for anything else."""
        return self._rows(scatter_sub, sparse_delta, use_locking, name)

    def scatter_add(self, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> Tensor:
        """Add the rows of an IndexedSlices. Raises TypeError for anything else."""
        return self._rows(scatter_add, sparse_delta, use_locking, name)

    def scatter_max(self, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> Tensor:
        """Raise rows to at least those of an IndexedSlices. Raises TypeError for anything else."""
        return self._rows(scatter_max, sparse_delta, use_locking, name)

    def scatter_min(self, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> Tensor:
        """Lower rows to at most those of an IndexedSlices. Raises TypeError for anything else."""
        return self._rows(scatter_min, sparse_delta, use_locking, name)

    def scatter_mul(self, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> Tensor:
        """Multiply by the rows of an IndexedSlices. Raises TypeError for anything else."""
        return self._rows(scatter_mul, sparse_delta, use_locking, name)

    def scatter_div(self, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> Tensor:
        """Divide by the rows of an IndexedSlices. Raises TypeError for anything else."""
        return self._rows(scatter_div, sparse_delta, use_locking, name)

    def scatter_update(self, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> Tensor:
        """Assign the rows of an IndexedSlices. Raises TypeError for anything else."""
        return self._rows(scatter_update, sparse_delta, use_locking, name)

    def batch_scatter_update(self, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> Tensor:
        """Assign the rows of an IndexedSlices batch by batch: see `tf.batch_scatter_update`."""
        return self._rows(batch_scatter_update, sparse_delta, use_locking, name)

    def scatter_nd_sub(self, indices: Any, updates: Any, name: str | None = None) -> Tensor:
        """Subtract from the slices at the index vectors: see `tf.scatter_nd_sub`."""
        return scatter_nd_sub(self, indices, updates, use_locking=True, name=name)

    def scatter_nd_add(self, indices: Any, updates: Any, name: str | None = None) -> Tensor:
        """Add to the slices at the index vectors: see `tf.scatter_nd_add`."""
        return scatter_nd_add(self, indices, updates, use_locking=True, name=name)

    def scatter_nd_update(self, indices: Any, updates: Any, name: str | None = None) -> Tensor:
        """Assign the slices at the index vectors: see `tf.scatter_nd_update`."""
        return scatter_nd_update(self, indices, updates, use_locking=True, name=name)

    def scatter_nd_max(self, indices: Any, updates: Any, name: str | None = None) -> Tensor:
        """Raise the slices at the index vectors to at least `updates`."""
        return _changed(ScatterNdMax, self._variable, indices, updates, True, name)

    def scatter_nd_min(self, indices: Any, updates: Any, name: str | None = None) -> Tensor:
        """Lower the slices at the index vectors to at most `updates`."""
        return _changed(ScatterNdMin, self._variable, indices, updates, True, name)

    def _rows(self, change: Callable[..., Tensor], sparse_delta: Any, use_locking: bool, name: str | None) -> Tensor:
        return change(self, *slices_of(sparse_delta), use_locking=use_locking, name=name)


describe(globals(), TENSORS)
