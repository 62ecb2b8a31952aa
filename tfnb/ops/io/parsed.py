"""Features of Example messages as arrays: sparse, dense, padded; and the errors that name example and feature."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tfnb.core import indexing
from tfnb.core.dtypes import DType
from tfnb.core.errors import InvalidArgumentError
from tfnb.core.shape import Static

_LISTS = {"float32": "float_list", "int64": "int64_list", "string": "bytes_list"}
_WORDS = {"float_list": "float", "int64_list": "int64", "bytes_list": "string"}


def flat(rows: Sequence[Sequence[Any]], dtype: DType) -> np.ndarray:
    """Return the values of all rows, one after another."""
    made = np.empty(sum(map(len, rows)), dtype.np_dtype)
    made[:] = [x for row in rows for x in row]
    return made


class Parsed:
    """Features of examples, by name, and the position of each example in messages."""

    def __init__(self, op: Any, examples: Sequence[Mapping[str, Any]], names: np.ndarray, single: bool) -> None:
        self.op, self.examples, self.names, self.single = op, examples, names, single

    @classmethod
    def read(cls, op: Any, message: Any, serialized: np.ndarray, names: np.ndarray,
             part: str = "features") -> tuple[Parsed, list[Any]]:
        """Return the features in the field `part` of serialized messages, and the messages.

        Raises InvalidArgumentError for bytes that are no such message.
        """
        made, found = cls(op, [], names, not serialized.ndim), []
        for i, data in enumerate(serialized.ravel()):
            try:
                found.append(message.FromString(data))
            except Exception:                      # the protobuf runtime's own class, not worth an import
                raise made.error(i, "", f"Could not parse example input, value: {data[:80]!r}") from None
        made.examples = [getattr(each, part).feature for each in found]
        return made, found

    def error(self, row: int, key: str, message: str) -> InvalidArgumentError:
        """Return an InvalidArgumentError that names the example and the feature. key: "" for the example as a whole."""
        name = self.names[row].decode("utf-8", "replace") if len(self.names) else "<unknown>"
        where = f"Key: {key}" + (f", Index: {row}" if not self.single else "") if key else ""
        before = ", ".join(part for part in ("" if self.single else f"Name: {name}", where) if part)
        return InvalidArgumentError(None, self.op, before + (".  " if key else ", " if before else "") + message)

    def values(self, row: int, key: bytes, dtype: DType) -> Any:
        """Return the values of a feature; None if it is missing. Raises InvalidArgumentError for another dtype."""
        text = key.decode()
        feature = self.examples[row].get(text)
        return None if feature is None else self.values_of(feature, row, text, dtype)

    def values_of(self, feature: Any, row: int, key: str, dtype: DType) -> Any:
        """Return the values of a Feature message; None if it has no list. Raises as `values`."""
        kind = feature.WhichOneof("kind")
        if kind not in (None, _LISTS[dtype.name]):
            raise self.error(row, key, f"Data types don't match. Data type: {_WORDS[kind]} but expected type: "
                                       f"{_WORDS[_LISTS[dtype.name]]}")
        return None if kind is None else getattr(feature, kind).value

    def rows(self, key: bytes, dtype: DType) -> list[Any]:
        """Return the values of a feature in each example; none where it is missing."""
        return [self.values(i, key, dtype) or () for i in range(len(self.examples))]

    def sparse(self, key: bytes, dtype: DType) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the indices (int64), values and dense shape (int64) of a feature of any length."""
        rows = self.rows(key, dtype)
        values = flat(rows, dtype)
        columns = np.array([j for row in rows for j in range(len(row))], np.int64)
        if self.single:
            return columns[:, None], values, np.array([len(values)], np.int64)
        lines = indexing.repeat(np.arange(len(rows)), [len(row) for row in rows]).astype(np.int64)
        return np.stack([lines, columns], 1), values, np.array([len(rows), max(map(len, rows), default=0)], np.int64)

    def sparse_parts(self, keys: Sequence[bytes], types: Sequence[DType]) -> list[np.ndarray]:
        """Return the indices of all features, then their values, then their shapes."""
        found = [self.sparse(key, dtype) for key, dtype in zip(keys, types, strict=True)]
        return [parts[i] for i in range(3) for parts in found]

    def dense(self, key: bytes, dtype: DType, shape: Static, default: np.ndarray) -> np.ndarray:
        """Return a feature of shape (examples, *shape), `default` if missing. Raises InvalidArgumentError."""
        assert shape is not None
        if shape and shape[0] is None:
            return self.padded(key, dtype, shape[1:], default)
        size, word = int(np.prod(shape, dtype=np.int64)), _WORDS[_LISTS[dtype.name]]  # type: ignore[arg-type]
        made = np.empty((len(self.examples), size), dtype.np_dtype)
        for i in range(len(self.examples)):
            values = self.values(i, key, dtype)
            if values is None:
                if not default.size and size:
                    raise self.error(i, "", f"Feature: {key.decode()} (data type: {word}) is required but could not be "
                                            "found.")
                made[i] = default.ravel()
                continue
            if len(values) != size:
                raise self.error(i, key.decode(), f"Number of {word} values != expected.  Values size: {len(values)} "
                                                  f"but output shape: {brackets(shape)}")
            made[i] = values
        lead = () if self.single else (len(self.examples),)
        return made.reshape((*lead, *shape))

    def padded(self, key: bytes, dtype: DType, shape: tuple[int | None, ...], default: np.ndarray) -> np.ndarray:
        """Return a feature of varying first size, padded with `default` to the longest. Raises InvalidArgumentError."""
        size = int(np.prod(shape, dtype=np.int64))  # type: ignore[arg-type]
        rows = self.rows(key, dtype)
        for i, row in enumerate(rows):
            if len(row) % size:
                raise self.error(i, key.decode(), f"Number of {_WORDS[_LISTS[dtype.name]]} values is not a multiple of "
                                                  f"stride length. Saw {len(row)} values but output shape is: "
                                                  f"{brackets((None, *shape))}")
        longest = max(map(len, rows), default=0)
        made = np.empty((len(rows), longest), dtype.np_dtype)
        made[...] = default.ravel()[0]
        for line, row in zip(made, rows, strict=True):
            line[:len(row)] = row
        lead = () if self.single else (len(rows),)
        return made.reshape((*lead, longest // size if size else 0, *shape))


def brackets(shape: Sequence[int | None]) -> str:
    """Return a shape as messages write it."""
    return "[" + ",".join("?" if n is None else str(n) for n in shape) + "]"
