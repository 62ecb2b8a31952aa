"""Matrices of checkpoints whose rows and columns are words, brought to another vocabulary."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tfnb.core import errors
from tfnb.core.lazy import lazy_module
from tfnb.core.shape import Static
from tfnb.ops.data_flow.table_ops import entries
from tfnb.ops.declaration.declare import host, scalars
from tfnb.ops.declaration.shapes import of_rank
from tfnb.ops.io.checkpoints import Naming
from tfnb.resources.tables import invalid

if TYPE_CHECKING:
    from tfnb.graph.graph import ShapeContext

_checkpoint = lazy_module("tfnb.proto.checkpoint")


def _words(name: bytes, count: int) -> list[Any]:
    return [word for word, _ in entries(name, count, [lambda number, line: line, lambda number, line: number])]


def _remapped(ctx: ShapeContext) -> list[Static]:
    for i in (0, 1):
        of_rank(ctx.shape(i), 0)
    return [(ctx.attrs["num_new_vocab"],), ()]


@host("new_vocab_file: string, old_vocab_file: string -> remapping: int64, num_present: int32", shape=_remapped,
      new_vocab_offset="int >= 0", num_new_vocab="int >= 0", old_vocab_size="int >= -1 = -1")
def GenerateVocabRemapping(new_vocab_file: Any, old_vocab_file: Any, *, new_vocab_offset: int,
                           num_new_vocab: int, old_vocab_size: int, ctx: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the line in the old vocabulary of each word of a part of the new one (-1: not there), and how many are."""
    if not num_new_vocab:
        return np.zeros(0, np.int64), np.array(0, np.int32)
    with Naming(ctx):
        if not old_vocab_size:
            raise errors.OutOfRangeError(None, None, f"expected lines of {old_vocab_file[()].decode()}, got "
                                         "old_vocab_size = 0")
        places: dict[bytes, int] = {}
        for number, word in enumerate(_words(old_vocab_file[()], old_vocab_size)):
            if places.setdefault(word, number) != number:
                raise errors.FailedPreconditionError(None, None, f"expected each word once, got {word!r} in lines "
                                                     f"{places[word]} and {number} of {old_vocab_file[()].decode()}")
        words = _words(new_vocab_file[()], -1)[new_vocab_offset:new_vocab_offset + num_new_vocab]
        if len(words) < num_new_vocab:
            raise invalid(f"expected {new_vocab_offset + num_new_vocab} lines or more in "
                          f"{new_vocab_file[()].decode()}, got {new_vocab_offset + len(words)}")
    found = np.array([places.get(word, -1) for word in words], np.int64)
    return found, np.array((found >= 0).sum(), np.int32)


def _matrix_shape(ctx: ShapeContext) -> list[Static]:
    for i, rank in enumerate((0, 0, 1, 1, 1)):
        if i > 1:
            of_rank(ctx.shape(i), rank)
    return [(ctx.attrs["num_rows"], ctx.attrs["num_cols"])]


def _places(what: str, places: np.ndarray, count: int, size: int) -> np.ndarray:
    """Return where each of `count` rows or columns comes from; raises the errors of what does not fit."""
    if len(places) != count:
        raise invalid(f"Size of {what} is {len(places)} instead of being equal to {count}")
    taken = places[places >= 0]
    if len(set(taken.tolist())) < len(taken):
        raise errors.UnimplementedError(None, None, f"expected each old place once in {what}, got {places.tolist()}")
    if taken.size and taken.max() >= size:
        raise errors.InternalError(None, None, f"{what} is out of bounds: expected places below {size}, got "
                                   f"{int(taken.max())}")
    return places


@host("ckpt_path: string, old_tensor_name: string, row_remapping: int64, col_remapping: int64, "
      "initializing_values: float -> output_matrix: float", shape=_matrix_shape, stateful=True,
      validate=scalars("ckpt_path", "old_tensor_name"), num_rows="int >= 0", num_cols="int >= 1",
      max_rows_in_memory="int = -1")
def LoadAndRemapMatrix(ckpt_path: Any, old_tensor_name: Any, row_remapping: np.ndarray,
                       col_remapping: np.ndarray, initializing_values: np.ndarray, *, num_rows: int, num_cols: int,
                       max_rows_in_memory: int, ctx: Any) -> np.ndarray:
    """Read a matrix of a checkpoint with other rows and columns; those of -1 get the initializing values, in order."""
    name = old_tensor_name[()].decode()
    with Naming(ctx):
        reader = _checkpoint.open_checkpoint(ckpt_path[()].decode())
        entry = reader.find(name)
        if entry.dtype.name != "float32":
            raise invalid(f"Tensor {name} has invalid type {entry.dtype.name} instead of expected type float")
        if len(entry.shape) != 2:
            raise invalid(f"Tensor {name} has shape {list(entry.shape)} instead of one of rank 2")
        rows = _places("row_remapping", row_remapping, num_rows, entry.shape[0])
        if not col_remapping.size and entry.shape[1] != num_cols:
            raise invalid(f"Tensor {name} has {entry.shape[1]} columns instead of num_cols={num_cols}")
        columns = _places("col_remapping", col_remapping, num_cols, entry.shape[1]) if col_remapping.size else \
            np.arange(num_cols)
        old = np.asarray(reader.read_all([(name, None)])[0])
        missing = (rows < 0)[:, None] | (columns < 0)
        if missing.sum() != len(initializing_values):
            raise invalid(f"initializing_values contained {len(initializing_values)} elements, expected one for each "
                          f"of {missing.sum()} missing values")
    made = np.empty((num_rows, num_cols), np.float32)
    made[missing] = initializing_values
    kept = np.ix_(rows >= 0, columns >= 0)
    made[kept] = old[np.ix_(rows[rows >= 0], columns[columns >= 0])]
    return made


for _op in (GenerateVocabRemapping, LoadAndRemapMatrix):
    _op.no_gradient("its inputs are names of files")
