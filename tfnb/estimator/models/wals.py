"""Weighted alternating least squares: `tf.contrib.factorization.WALSModel` (Hu, Koren and Volinsky, 2008)."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tfnb.core import dtypes
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.operation import Operation
from tfnb.graph.stack import name_scope
from tfnb.linalg.matrices import matrix_solve
from tfnb.ops.array.create import eye, zeros
from tfnb.ops.array.gather import gather, unique
from tfnb.ops.array.joining import concat, stack
from tfnb.ops.array.reshape import expand_dims, reshape, shape, size, squeeze
from tfnb.ops.composite.sparse_tensor import SparseTensor
from tfnb.ops.control.group import group, no_op
from tfnb.ops.math.arithmetic import add_n, maximum, square
from tfnb.ops.math.casting import cast
from tfnb.ops.math.compare import equal, where
from tfnb.ops.math.division import floordiv, mod
from tfnb.ops.random.random_ops import random_normal
from tfnb.ops.reductions.matmul import matmul
from tfnb.ops.reductions.reduce import reduce_sum
from tfnb.ops.sparse.algebra import sparse_tensor_dense_matmul
from tfnb.ops.state.assign import assign
from tfnb.ops.state.scatter import scatter_update
from tfnb.variables.helpers import variables_initializer
from tfnb.variables.variable import Variable

Sharding = Callable[[Any], tuple[Any, Any]]


def _sharding(count: int, shards: int) -> Sharding:
    """Return a function of indices -> (shard, index within it): the first count % shards have one row more."""
    small, more = divmod(count, shards)

    def found(ids: Any) -> tuple[Any, Any]:
        if not small:
            return ids, ids * 0
        shard = maximum(floordiv(ids, small + 1), floordiv(ids - more, small))
        return shard, where(shard < more, mod(ids, small + 1), mod(ids - more, small))
    return found


class _Side:
    """The factors and weights of the rows of a matrix, or of its columns, in shards."""

    def __init__(self, name: str, count: int, components: int, init: Any, shards: int, weights: Any) -> None:
        self.count, self.sharding = count, _sharding(count, shards)
        small, more = divmod(count, shards)
        sizes = [small + (i < more) for i in range(shards)]
        if isinstance(init, str):
            if init != "random":
                raise ValueError(f"{name}_init must be 'random' or the factors, got {init!r}")
            starts = [random_normal([each, components]) for each in sizes]
        else:
            whole, ends = convert_to_tensor(init, dtypes.float32), np.cumsum([0, *sizes])
            starts = [whole[a:b] for a, b in zip(ends[:-1], ends[1:], strict=True)]
        self.factors = [Variable(start, name=f"{name}_factors_shard_{i}") for i, start in enumerate(starts)]
        self.gramian = Variable(zeros([components, components]), trainable=False, name=f"{name}_gramian")
        self.weights = _weights(name, weights, sizes)

    def whole(self) -> Any:
        """Return all factors, [count, components]."""
        return concat([each.value() for each in self.factors], 0) if len(self.factors) > 1 else self.factors[0].value()

    def weights_of(self, ids: Any) -> Any:
        """Return the weights of rows."""
        if self.weights is None:
            return zeros([1])
        return self.weights if self.weights.shape.ndims == 0 else gather(self.weights, ids)


def _weights(name: str, given: Any, sizes: Sequence[int]) -> Any:
    """Return weights as a scalar or a vector. Raises ValueError if lists do not go with the shards."""
    if given is None or isinstance(given, (int, float)):
        return None if given is None else convert_to_tensor(float(given), dtypes.float32)
    lists = [np.asarray(each, np.float32).ravel() for each in given]
    if [len(each) for each in lists] != list(sizes):
        raise ValueError(f"{name}_weights must be None, a number, or a list of {list(sizes)} weights for each shard, "
                         f"got lists of {[len(each) for each in lists]}")
    whole = np.concatenate(lists)
    if (whole < 0).any():
        raise ValueError(f"{name}_weights must not be negative, got {whole.min()}")
    return convert_to_tensor(whole)


class WALSModel:
    """Factorization of a sparse matrix A ~ U V^T by weighted alternating least squares (Hu, Koren, Volinsky, 2008).

    Minimizes sum_ij W_ij (A_ij - u_i v_j)^2 + regularization (|U|^2 + |V|^2), where W_ij = unobserved_weight +
    row_weights[i] col_weights[j] for the entries that the sparse input has, and unobserved_weight elsewhere.

    input_rows, input_cols: shape of A. n_components: size of the factors. row_init, col_init: "random", or the first
    factors. num_row_shards, num_col_shards: variables that the factors are split into. row_weights, col_weights: a
    number, a list of lists of weights by shards, or None in both: all entries weigh unobserved_weight.
    use_gramian_cache: Gramians are those of the last prep op, else each update computes its own.
    use_factors_weights_cache, use_scoped_vars: without effect, there is one process. Raises ValueError for other
    weights and inits.

    A sweep: run row_update_prep_gramian_op, initialize_row_update_op, then the update_op of `update_row_factors` for
    all rows; the same for columns. initialize_op comes before all, worker_init after it.

    >>> A = np.array([[1.0, 2.0], [2.0, 4.0], [3.0, 6.0]], np.float32)
    >>> rows = tf.SparseTensor(np.argwhere(A), A.ravel(), A.shape)
    >>> model = tf.contrib.factorization.WALSModel(3, 2, 1, unobserved_weight=0.0, col_init=[[1.0], [1.0]])
    >>> row_update, column_update = model.update_row_factors(rows)[1], model.update_col_factors(rows)[1]
    >>> sess.run(model.initialize_op)
    >>> for _ in range(10):
    ...     sess.run(model.row_update_prep_gramian_op)
    ...     sess.run(row_update)
    ...     sess.run(model.col_update_prep_gramian_op)
    ...     sess.run(column_update)
    >>> U, V = sess.run([model.row_factors[0], model.col_factors[0]])
    >>> np.allclose(U @ V.T, A, atol=1e-3)
    True
    """

    def __init__(self, input_rows: int, input_cols: int, n_components: int, unobserved_weight: float = 0.1,
                 regularization: float | None = None, row_init: Any = "random", col_init: Any = "random",
                 num_row_shards: int = 1, num_col_shards: int = 1, row_weights: Any = 1, col_weights: Any = 1,
                 use_factors_weights_cache: bool = True, use_gramian_cache: bool = True,
                 use_scoped_vars: bool = False) -> None:
        if (row_weights is None) != (col_weights is None):
            raise ValueError("row_weights and col_weights must both be None, or neither, got "
                             f"{row_weights!r} and {col_weights!r}")
        self._components, self._unobserved = n_components, unobserved_weight
        self._regularization, self._is_cached = regularization or 0.0, use_gramian_cache
        with name_scope("wals"):
            self._rows = _Side("row", input_rows, n_components, row_init, num_row_shards, row_weights)
            self._cols = _Side("col", input_cols, n_components, col_init, num_col_shards, col_weights)
            self._initialize = variables_initializer([variable for side in (self._rows, self._cols)
                                                      for variable in (*side.factors, side.gramian)])
            self._prepare = {side: _prepared(side) for side in (self._rows, self._cols)}
            self._nothing = no_op()

    @property
    def row_factors(self) -> list[Any]:
        """The variables of the row factors, one for each shard."""
        return self._rows.factors

    @property
    def col_factors(self) -> list[Any]:
        """The variables of the column factors, one for each shard."""
        return self._cols.factors

    @property
    def row_weights(self) -> Any:
        """The weights of the rows: a tensor, or None."""
        return self._rows.weights

    @property
    def col_weights(self) -> Any:
        """The weights of the columns: a tensor, or None."""
        return self._cols.weights

    @property
    def initialize_op(self) -> Operation:
        """The op that gives the variables their first values."""
        return self._initialize

    @property
    def worker_init(self) -> Operation:
        """The op to run once in each worker: nothing here."""
        return self._nothing

    @property
    def initialize_row_update_op(self) -> Operation:
        """The op to run in each worker before a sweep over rows: nothing here."""
        return self._nothing

    @property
    def initialize_col_update_op(self) -> Operation:
        """The op to run in each worker before a sweep over columns: nothing here."""
        return self._nothing

    @property
    def row_update_prep_gramian_op(self) -> Operation:
        """The op to run before a sweep over rows: computes V^T V."""
        return self._prepare[self._cols]

    @property
    def col_update_prep_gramian_op(self) -> Operation:
        """The op to run before a sweep over columns: computes U^T U."""
        return self._prepare[self._rows]

    def update_row_factors(self, sp_input: Any = None, transpose_input: bool = False) -> tuple[Any, ...]:
        """Return (new_values, update_op, unregularized_loss, regularization, sum_weights) of rows of A.

        sp_input: a SparseTensor with some rows of A, at their places in A, or of its transpose if transpose_input.
        new_values: factors of the rows that it has, in the order in which they come first. The losses are those of the
        new factors, scaled by input_rows / number of these rows; sum_weights: the sum of W, scaled alike.
        """
        return self._updated(self._rows, self._cols, sp_input, transpose_input)

    def update_col_factors(self, sp_input: Any = None, transpose_input: bool = False) -> tuple[Any, ...]:
        """Return the same as `update_row_factors`, for the columns that sp_input has."""
        return self._updated(self._cols, self._rows, sp_input, not transpose_input)

    def project_row_factors(self, sp_input: Any = None, transpose_input: bool = False,
                            projection_weights: Any = None) -> Any:
        """Return factors of new rows, in the order in which they come first in sp_input.

        sp_input: a SparseTensor; its row indices tell rows apart, its column indices are those of A. transpose_input:
        it is the transpose. projection_weights: of the rows, a number or a vector; by default 1.
        """
        return self._projected(self._cols, sp_input, transpose_input, projection_weights)

    def project_col_factors(self, sp_input: Any = None, transpose_input: bool = False,
                            projection_weights: Any = None) -> Any:
        """Return the same as `project_row_factors`, for new columns."""
        return self._projected(self._rows, sp_input, not transpose_input, projection_weights)

    @classmethod
    def scatter_update(cls, factor: Sequence[Any], indices: Any, values: Any, sharding_func: Sharding,
                       name: str | None = None) -> Operation:
        """Return the op that sets rows of factors in shards; sharding_func(indices) -> (shard, index within it)."""
        with name_scope(name, "scatter_update", [indices, values]):
            if len(factor) == 1:
                return group(scatter_update(factor[0], indices, values))
            shard, inner = sharding_func(indices)
            steps = []
            for i, variable in enumerate(factor):
                here = squeeze(where(equal(shard, i)), [1])
                steps.append(scatter_update(variable, gather(inner, here), gather(values, here)))
            return group(*steps)

    def _projected(self, other: _Side, sp_input: Any, is_transposed: bool, weights: Any) -> Any:
        entries = _Entries(sp_input, is_transposed)
        own = convert_to_tensor(1.0 if weights is None else weights, dtypes.float32)
        return self._solved(other, entries, own if own.shape.ndims == 0 else gather(own, entries.places))[0]

    def _updated(self, side: _Side, other: _Side, sp_input: Any, is_transposed: bool) -> tuple[Any, ...]:
        with name_scope("update_factors"):
            entries = _Entries(sp_input, is_transposed)
            new, extra = self._solved(other, entries, side.weights_of(entries.rows))
            update = self.scatter_update(side.factors, entries.ids, new, side.sharding)
            count = cast(size(entries.ids), dtypes.float32)
            scale, unobserved = side.count / count, self._unobserved
            products = reduce_sum(gather(new, entries.places) * gather(other.whole(), entries.columns), 1)
            observed = (unobserved + extra) * square(entries.values - products) - unobserved * square(products)
            loss = reduce_sum(observed) + unobserved * reduce_sum(matmul(new, self._gramian(other)) * new)
            penalty = self._regularization * (scale * reduce_sum(square(new)) + reduce_sum(square(other.whole())))
            weight = reduce_sum(extra) + unobserved * count * other.count
            return new, update, loss * scale, penalty, weight * scale

    def _gramian(self, side: _Side) -> Any:
        return side.gramian if self._is_cached else _gramian(side)

    def _solved(self, other: _Side, entries: _Entries, own: Any) -> tuple[Any, Any]:
        """Return (solutions of the normal equations of the rows, weights of the entries above unobserved_weight)."""
        k, ids = self._components, entries.columns
        extra = zeros(shape(entries.values)) + own * other.weights_of(ids)
        used, place = unique(ids)
        factors = gather(other.whole(), used)
        indices = stack([entries.places, cast(place, dtypes.int64)], 1)
        sizes = cast(stack([size(entries.ids), size(used)]), dtypes.int64)
        outer = reshape(expand_dims(factors, 2) * expand_dims(factors, 1), [-1, k * k])
        left = reshape(sparse_tensor_dense_matmul(SparseTensor(indices, extra, sizes), outer), [-1, k, k])
        common = self._unobserved * self._gramian(other) + self._regularization * eye(k)
        weighted = (self._unobserved + extra) * entries.values
        right = sparse_tensor_dense_matmul(SparseTensor(indices, weighted, sizes), factors)
        return squeeze(matrix_solve(left + common, expand_dims(right, 2)), [2]), extra


class _Entries:
    """The entries of a sparse matrix, whose rows are numbered anew in the order in which they come first."""

    def __init__(self, sp_input: Any, is_transposed: bool) -> None:
        if not isinstance(sp_input, SparseTensor):
            raise TypeError(f"sp_input must be a SparseTensor, got {sp_input!r}")
        self.rows, self.columns = (sp_input.indices[:, i] for i in ((1, 0) if is_transposed else (0, 1)))
        self.ids, places = unique(self.rows)
        self.places, self.values = cast(places, dtypes.int64), sp_input.values


def _gramian(side: _Side) -> Any:
    return add_n([matmul(each, each, transpose_a=True) for each in side.factors])


def _prepared(side: _Side) -> Operation:
    return assign(side.gramian, _gramian(side)).op
