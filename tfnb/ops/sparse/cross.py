"""Feature crosses: the Cartesian product of the features that each row has in several columns.

Columns are sparse or dense matrices of strings or int64; rows of the result are in row-major order, the last column
varies fastest.
"""
from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from itertools import chain, product
from typing import Any

import numpy as np

from tfnb.core import dtypes, indexing
from tfnb.core.arguments import TENSORS, describe
from tfnb.core.shape import Static, merge
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.operation import Tensor
from tfnb.kernels.library.text.hashes import fingerprints
from tfnb.ops.composite.sparse_tensor import SparseTensor
from tfnb.ops.declaration.declare import host
from tfnb.ops.declaration.public import public
from tfnb.ops.math.casting import cast
from tfnb.ops.sparse.structure import unknown_count
from tfnb.ops.strings.hashing import MASK, concatenated, fingerprint, hashed, siphash

DEFAULT_KEY = 0xDECAFCAFFE
_COLUMNS = "indices: N * int64, values: sparse_types, shapes: N * int64, dense_inputs: dense_types"
_TYPES: dict[str, Any] = dict.fromkeys(("sparse_types", "dense_types"), "list({int64, string}) >= 0")
Column = list[list[Any]]                # the features of each row


def _batch_size(shapes: Sequence[np.ndarray], dense: Sequence[np.ndarray]) -> int:
    """Return the number of rows of all columns. Raises ValueError where it differs."""
    counts = {int(shape[0]) for shape in shapes} | {len(array) for array in dense}
    if len(counts) > 1:
        raise ValueError(f"expected columns of one batch size, got {sorted(counts)}")
    return max(counts, default=0)


def _columns(indices: Sequence[np.ndarray], values: Sequence[np.ndarray], shapes: Sequence[np.ndarray],
             dense: Sequence[np.ndarray], sparse_form: Callable[[Any], Any] | None,
             form: Callable[[Any], Any] | None) -> list[Column]:
    """Return the columns. sparse_form, form: applied to the integers of sparse and of dense ones."""
    rows, columns = _batch_size(shapes, dense), []
    for places, features in zip(indices, values, strict=True):
        column: Column = [[] for _ in range(rows)]
        for row, feature in zip(places[:, 0].tolist(), features.tolist(), strict=True):
            if not 0 <= row < rows:
                raise ValueError(f"expected rows of indices in [0, {rows}), got {row}")
            column[row].append(feature if isinstance(feature, bytes) or sparse_form is None else sparse_form(feature))
        columns.append(column)
    for array in dense:
        columns.append([[x if isinstance(x, bytes) or form is None else form(x) for x in row]
                        for row in array.tolist()])
    return columns


def _crossed(columns: Sequence[Column], join: Callable[[Sequence[Any]], Any], dtype: Any) -> Any:
    """Return the parts of the sparse tensor of the crosses, each of which `join` makes of one feature a column."""
    rows = [[join(features) for features in product(*row)] for row in zip(*columns, strict=True)]
    indices = [(i, j) for i, row in enumerate(rows) for j in range(len(row))]
    values = np.empty(len(indices), dtype)
    values[:] = list(chain.from_iterable(rows))
    shape = np.array([len(rows), max(map(len, rows), default=0)], np.int64)
    return np.array(indices, np.int64).reshape(-1, 2), values, shape


def _words(features: np.ndarray) -> np.ndarray:
    """Return the fingerprints of strings, integers as they are: uint64."""
    if features.dtype.hasobject:
        return hashed(fingerprint, fingerprints, features)
    return features.astype(np.int64).view(np.uint64)


def _hashed_crosses(indices: Sequence[np.ndarray], values: Sequence[np.ndarray], shapes: Sequence[np.ndarray],
                    dense: Sequence[np.ndarray], buckets: int, key: int) -> Any:
    """Return the parts of the sparse tensor of hashed crosses, all rows at once: as `_crossed`, in arrays."""
    rows = _batch_size(shapes, dense)
    places = [array[:, 0] for array in indices] + [indexing.repeat(np.arange(rows), array.shape[1]) for array in dense]
    owner, hashes = np.arange(rows), np.full(rows, key, np.uint64)            # the row of each cross, and its hash
    for place, features in zip(places, [*values, *(array.ravel() for array in dense)], strict=True):
        if len(place) and not 0 <= place.min() <= place.max() < rows:
            raise ValueError(f"expected rows of indices in [0, {rows}), got {place.min()} to {place.max()}")
        counts = indexing.bincount(place, minlength=rows)
        first, words = np.cumsum(counts) - counts, _words(features)[np.argsort(place, kind="stable")]
        times = counts[owner]
        each = np.arange(times.sum()) + indexing.repeat(first[owner] - np.cumsum(times) + times, times)
        owner, hashes = indexing.repeat(owner, times), concatenated(indexing.repeat(hashes, times), words[each])
    counts = indexing.bincount(owner, minlength=rows)
    column = np.arange(len(owner)) - indexing.repeat(np.cumsum(counts) - counts, counts)
    found = (hashes % np.uint64(buckets if buckets > 0 else (1 << 63) - 1)).astype(np.int64)
    return np.stack([owner, column], 1).astype(np.int64), found, np.array([rows, counts.max(initial=0)], np.int64)


def _digits(number: int) -> bytes:
    return b"%d" % number


def _text_of(separator: bytes) -> Callable[[Sequence[bytes]], bytes]:
    return separator.join


def _bucket(value: int, buckets: int) -> int:
    return value % (buckets if buckets > 0 else (1 << 63) - 1)


def _shapes(_: Any) -> list[Static]:
    return unknown_count(2)


def _matrices(ctx: Any) -> None:
    """Raise ValueError unless all columns are matrices whose parts belong together."""
    count, inputs = ctx.attrs["N"], len(ctx.attrs["dense_types"])
    for i in range(count):
        places = merge(ctx.shape(i), (None, 2))
        merge(ctx.shape(count + i), None if places is None else places[:1])
        merge(ctx.shape(2 * count + i), (2,))
    for i in range(3 * count, 3 * count + inputs):
        merge(ctx.shape(i), (None, None))


_OUT = "output_indices: int64, output_values: {}, output_shape: int64"


@host(f"{_COLUMNS} -> {_OUT.format('out_type')}", shape=_shapes, validate=_matrices, N="int >= 0", hashed_output="bool",
      num_buckets="int >= 0", hash_key="int", **_TYPES, out_type="{int64, string}", internal_type="{int64, string}")
def SparseCross(indices: Any, values: Any, shapes: Any, dense: Any, *, hashed_output: bool, num_buckets: int,
                hash_key: int, out_type: Any) -> Any:
    """Cross the features of each row: strings joined by "_X_", or with `hashed_output` their hash.

    num_buckets: the hash is modulo this; 0: modulo 2**63 - 1. hash_key: what the first fingerprint is mixed with.
    """
    if hashed_output != (out_type == dtypes.int64):
        raise ValueError(f"expected out_type {'int64' if hashed_output else 'string'} for hashed_output="
                         f"{hashed_output}, got {out_type.name}")
    if not hashed_output:
        return _crossed(_columns(indices, values, shapes, dense, _digits, _digits), _text_of(b"_X_"), object)
    return _hashed_crosses(indices, values, shapes, dense, num_buckets, hash_key & MASK)


@host(f"{_COLUMNS}, sep: string -> {_OUT.format('string')}", shape=_shapes, validate=_matrices, ranks={"sep": 0},
      N="int >= 0", **_TYPES)
def SparseCrossV2(indices: Any, values: Any, shapes: Any, dense: Any, separator: Any) -> Any:
    """Cross the features of each row: strings joined by `sep`."""
    return _crossed(_columns(indices, values, shapes, dense, _digits, _digits), _text_of(separator[()]), object)


def _low_word(number: int) -> bytes:
    """Return the 4 low bytes, which are what TensorFlow hashes of an integer."""
    return (number & 0xFFFFFFFF).to_bytes(4, "little")


@host(f"{_COLUMNS}, num_buckets: int64, strong_hash: bool, salt: int64 -> {_OUT.format('int64')}", shape=_shapes,
      validate=_matrices, ranks={"num_buckets": 0, "strong_hash": 0, "salt": 1}, N="int >= 0", **_TYPES)
def SparseCrossHashed(indices: Any, values: Any, shapes: Any, dense: Any, num_buckets: Any, strong_hash: Any,
                      salt: Any) -> Any:
    """Cross the features of each row: a hash modulo `num_buckets`, by SipHash with `salt` if `strong_hash`.

    Of integers the 32 low bits count (of dense ones all bits without `strong_hash`), as in TensorFlow.
    """
    if len(salt) != 2:
        raise ValueError(f"expected a salt of 2 elements, got {len(salt)}")
    strong, key = bool(strong_hash), tuple(int(word) & MASK for word in salt)

    def join(features: Sequence[Any]) -> int:
        words = [x & MASK if isinstance(x, int) else siphash(key, x) if strong else fingerprint(x) for x in features]
        return _bucket(reduce(concatenated, words), int(num_buckets))
    columns = _columns(indices, values, shapes, dense, _low_word, _low_word if strong else None)
    return _crossed(columns, join, np.int64)


for _op in (SparseCross, SparseCrossV2, SparseCrossHashed):
    _op.no_gradient("its features are strings and integers")


def _given(inputs: Iterable[Any], op: Callable[..., Any], *after: Any, **attrs: Any) -> SparseTensor:
    """Return the crosses by `op`, which takes the columns sorted into sparse and dense ones."""
    kinds = {type(each).__name__ for each in inputs if not isinstance(each, (SparseTensor, Tensor))}
    if not isinstance(inputs, list) or kinds:
        raise TypeError("expected inputs to be a list of SparseTensors and tensors, got "
                        f"{f'a list with {sorted(kinds)}' if isinstance(inputs, list) else type(inputs).__name__}")
    sparse = [each for each in inputs if isinstance(each, SparseTensor)]
    dense = [_feature(each) for each in inputs if isinstance(each, Tensor)]
    values = [_feature(each.values) for each in sparse]
    return SparseTensor(*op([each.indices for each in sparse], values, [each.dense_shape for each in sparse], dense,
                            *after, **attrs))


def _feature(values: Tensor) -> Tensor:
    return values if values.dtype == dtypes.string else cast(values, dtypes.int64)


@public("sparse.cross")
def cross(inputs: Any, name: str | None = None, separator: Any = None) -> SparseTensor:
    """Cross the features of each row: a SparseTensor [batch, most crosses of a row] of joined strings.

    inputs: a list of SparseTensors and tensors [batch, features], strings or integers; sparse ones come first in
    the result. A row in which a column has no feature has no cross. separator: by default "_X_". Raises TypeError for
    something else than a list.

    >>> x = tf.SparseTensor(indices=[[0, 0], [1, 0], [1, 1]], values=["a", "b", "c"], dense_shape=[2, 2])
    >>> sess.run(tf.sparse.cross([x, tf.constant([["f"], ["g"]])])).values
    array([b'a_X_f', b'b_X_g', b'c_X_g'], dtype=object)
    """
    if separator is not None:
        return _given(inputs, SparseCrossV2, convert_to_tensor(separator, dtypes.string), name=name)
    return _given(inputs, SparseCross, name=name, hashed_output=False, num_buckets=0, hash_key=DEFAULT_KEY,
                  out_type=dtypes.string, internal_type=dtypes.string)


@public("sparse.cross_hashed")
def cross_hashed(inputs: Any, num_buckets: int = 0, hash_key: int | None = None,
                 name: str | None = None) -> SparseTensor:
    """Cross the features of each row: a SparseTensor [batch, most crosses of a row] of hashes (int64).

    inputs: as of `tf.sparse.cross`. num_buckets: hashes are modulo this; 0 for modulo 2**63 - 1. hash_key: the hash
    that the features are mixed into, by default that of TensorFlow.

    >>> sess.run(tf.sparse.cross_hashed([tf.constant([["a", "b"]]), tf.constant([["c"]])], num_buckets=100)).values
    array([66, 54])
    """
    return _given(inputs, SparseCross, name=name, hashed_output=True, num_buckets=num_buckets,
                  hash_key=DEFAULT_KEY if hash_key is None else hash_key, out_type=dtypes.int64,
                  internal_type=dtypes.int64)


describe(globals(), TENSORS)
