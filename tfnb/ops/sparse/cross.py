"""Feature crosses: the Cartesian product of the features that each row has in several columns.

Columns are sparse or dense matrices of strings or int64; rows of the result are in row-major order, the last column
varies fastest.
"""
from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np

from tfnb.core import dtypes, indexing
from tfnb.core.arguments import TENSORS, describe
from tfnb.core.shape import Static, merge
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.operation import Tensor
from tfnb.kernels.library.text import objects
from tfnb.kernels.library.text.hashes import fingerprints, siphashes
from tfnb.ops.composite.sparse_tensor import SparseTensor
from tfnb.ops.declaration.declare import host
from tfnb.ops.declaration.public import public
from tfnb.ops.math.casting import cast
from tfnb.ops.sparse.structure import unknown_count
from tfnb.ops.strings.decoding import strings
from tfnb.ops.strings.hashing import MASK, concatenated, fingerprint, hashed, siphash

DEFAULT_KEY = 0xDECAFCAFFE
_COLUMNS = "indices: N * int64, values: sparse_types, shapes: N * int64, dense_inputs: dense_types"
_TYPES: dict[str, Any] = dict.fromkeys(("sparse_types", "dense_types"), "list({int64, string}) >= 0")
Form = Callable[[np.ndarray], np.ndarray]
Column = tuple[np.ndarray, np.ndarray]      # the row of each feature, and the features


def _batch_size(shapes: Sequence[np.ndarray], dense: Sequence[np.ndarray]) -> int:
    """Return the number of rows of all columns. Raises ValueError where it differs."""
    counts = {int(shape[0]) for shape in shapes} | {len(array) for array in dense}
    if len(counts) > 1:
        raise ValueError(f"expected columns of one batch size, got {sorted(counts)}")
    return max(counts, default=0)


def _columns(indices: Sequence[np.ndarray], values: Sequence[np.ndarray], shapes: Sequence[np.ndarray],
             dense: Sequence[np.ndarray], sparse_form: Form, dense_form: Form) -> tuple[int, list[Column]]:
    """Return the number of rows and the columns. sparse_form, dense_form: what makes words or strings of features."""
    rows = _batch_size(shapes, dense)
    columns = [(places[:, 0], sparse_form(features)) for places, features in zip(indices, values, strict=True)]
    for places, _ in columns:
        bad = places[(places < 0) | (places >= rows)]
        if len(bad):
            raise ValueError(f"expected rows of indices in [0, {rows}), got {bad[0]}")
    return rows, columns + [(indexing.repeat(np.arange(rows), array.shape[1]), dense_form(array.ravel()))
                            for array in dense]


def _crossed(rows: int, columns: Sequence[Column], state: Any, extend: Callable[..., Any]) -> tuple[np.ndarray, Any]:
    """Return the row of each cross and a state of the crosses, which `extend` makes of that without a column.

    extend(state, times, features, places): each cross before gets `times` ones, of the features at `places`.
    """
    owner = np.arange(rows)
    for place, features in columns:
        counts = indexing.bincount(place, minlength=rows)
        first, times = np.cumsum(counts) - counts, counts[owner]
        each = np.arange(times.sum()) + indexing.repeat(first[owner] - np.cumsum(times) + times, times)
        owner = indexing.repeat(owner, times)
        state = extend(state, times, features, np.argsort(place, kind="stable")[each])
    return owner, state


def _sparse(rows: int, owner: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the parts of the sparse tensor of crosses in order of their rows."""
    counts = indexing.bincount(owner, minlength=rows)
    indices = np.empty((len(owner), 2), np.int64)
    indices[:, 0] = owner
    indices[:, 1] = np.arange(len(owner)) - indexing.repeat(np.cumsum(counts) - counts, counts)
    return indices, values, np.array([rows, counts.max(initial=0)], np.int64)


def _strings(features: np.ndarray) -> np.ndarray:
    """Return strings as they are, integers by their digits."""
    return features if features.dtype.hasobject else strings([b"%d" % x for x in features.tolist()])


def _joined_crosses(rows: int, columns: Sequence[Column], separator: bytes) -> Any:
    """Return the parts of the sparse tensor of crosses of strings."""
    def extend(state: list[np.ndarray], times: np.ndarray, _: np.ndarray, places: np.ndarray) -> list[np.ndarray]:
        return [*(indexing.repeat(chosen, times) for chosen in state), places]
    owner, chosen = _crossed(rows, columns, [], extend)
    texts = [features[places] for (_, features), places in zip(columns, chosen, strict=True)]
    made = objects.joined_columns(texts, separator) if texts else []
    if made is None:
        made = [*map(separator.join, zip(*(column.tolist() for column in texts), strict=True))]
    return _sparse(rows, owner, strings(made))


def _hashed_crosses(rows: int, columns: Sequence[Column], buckets: int, key: int | None) -> Any:
    """Return the parts of the sparse tensor of crosses of hashes, uint64. key: what the first one is mixed with."""
    def extend(state: np.ndarray | None, times: np.ndarray, words: np.ndarray, places: np.ndarray) -> np.ndarray:
        found: np.ndarray = words[places]
        return found if state is None else concatenated(indexing.repeat(state, times), found)
    owner, hashes = _crossed(rows, columns, None if key is None else np.full(rows, key, np.uint64), extend)
    found = np.zeros(0, np.uint64) if hashes is None else hashes % np.uint64(buckets if buckets > 0 else (1 << 63) - 1)
    return _sparse(rows, owner, found.astype(np.int64))


def _words(features: np.ndarray) -> np.ndarray:
    """Return the fingerprints of strings, integers as they are: uint64."""
    if features.dtype.hasobject:
        return hashed(fingerprint, fingerprints, features)
    return features.astype(np.int64).view(np.uint64)


def _low_words(features: np.ndarray) -> np.ndarray:
    """Return strings as they are; of integers the 4 low bytes, which are what TensorFlow hashes of them."""
    if features.dtype.hasobject:
        return features
    data = features.astype("<u4").tobytes()
    return strings([data[at:at + 4] for at in range(0, len(data), 4)])


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
        return _joined_crosses(*_columns(indices, values, shapes, dense, _strings, _strings), b"_X_")
    return _hashed_crosses(*_columns(indices, values, shapes, dense, _words, _words), num_buckets, hash_key & MASK)


@host(f"{_COLUMNS}, sep: string -> {_OUT.format('string')}", shape=_shapes, validate=_matrices, ranks={"sep": 0},
      N="int >= 0", **_TYPES)
def SparseCrossV2(indices: Any, values: Any, shapes: Any, dense: Any, separator: Any) -> Any:
    """Cross the features of each row: strings joined by `sep`."""
    return _joined_crosses(*_columns(indices, values, shapes, dense, _strings, _strings), separator[()])


@host(f"{_COLUMNS}, num_buckets: int64, strong_hash: bool, salt: int64 -> {_OUT.format('int64')}", shape=_shapes,
      validate=_matrices, ranks={"num_buckets": 0, "strong_hash": 0, "salt": 1}, N="int >= 0", **_TYPES)
def SparseCrossHashed(indices: Any, values: Any, shapes: Any, dense: Any, num_buckets: Any, strong_hash: Any,
                      salt: Any) -> Any:
    """Cross the features of each row: a hash modulo `num_buckets`, by SipHash with `salt` if `strong_hash`.

    Of integers the 32 low bits count (of dense ones all bits without `strong_hash`), as in TensorFlow.
    """
    if len(salt) != 2:
        raise ValueError(f"expected a salt of 2 elements, got {len(salt)}")
    strong, key = bool(strong_hash), (int(salt[0]) & MASK, int(salt[1]) & MASK)

    def words(features: np.ndarray) -> np.ndarray:
        texts = _low_words(features)
        return hashed(partial(siphash, key), partial(siphashes, key=key), texts) if strong else _words(texts)
    return _hashed_crosses(*_columns(indices, values, shapes, dense, words, words if strong else _words),
                           int(num_buckets), None)


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
