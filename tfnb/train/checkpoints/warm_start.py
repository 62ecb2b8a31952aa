"""Warm start: variables that begin with the values of a checkpoint, also where a vocabulary has changed."""
from __future__ import annotations

import logging
import os
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Self

import numpy as np

from tfnb.core.arguments import CHECKPOINTS, describe
from tfnb.core.errors import NotFoundError
from tfnb.core.files.gfile import GFile
from tfnb.graph.parts.keys import GraphKeys
from tfnb.graph.stack import get_default_graph
from tfnb.ops.array.create import zeros
from tfnb.ops.array.gather import gather
from tfnb.ops.array.joining import broadcast_to
from tfnb.ops.array.reshape import expand_dims, shape
from tfnb.ops.io import checkpoints as io
from tfnb.ops.math.arithmetic import maximum
from tfnb.ops.math.compare import greater_equal, where
from tfnb.train.checkpoints.reader import init_from_checkpoint, load_checkpoint
from tfnb.train.checkpoints.state import latest_checkpoint
from tfnb.variables.initializers import glorot_uniform_initializer
from tfnb.variables.variable import Variable

_log = logging.getLogger("tensorflow")


class _Vocab(NamedTuple):
    new_vocab: Any
    new_vocab_size: int
    num_oov_buckets: int
    old_vocab: Any
    old_vocab_size: int
    backup_initializer: Any
    axis: int


class VocabInfo(_Vocab):
    """Vocabularies, old and new, of a variable that is warm-started: rows of words that both have keep their values.

    new_vocab, old_vocab: files with a word a line. new_vocab_size: how many words of it are used; num_oov_buckets: rows
    after them. old_vocab_size: how many words of the old file count; -1: all. backup_initializer: makes the rows of
    other words, by default Glorot's uniform distribution, or zeros where axis is 1. axis: that of the words, 0 or 1.

    >>> info = tf.train.VocabInfo("new.txt", 3, 0, "old.txt")
    >>> info.old_vocab_size, info.axis
    (-1, 0)
    """

    __slots__ = ()

    def __new__(cls, new_vocab: Any, new_vocab_size: int, num_oov_buckets: int, old_vocab: Any,
                old_vocab_size: int = -1, backup_initializer: Any = None, axis: int = 0) -> Self:
        """Check the axis. Raises ValueError unless it is 0 or 1."""
        if axis not in (0, 1):
            raise ValueError(f"The only supported values for the axis argument are 0 and 1. Provided axis: {axis}")
        return super().__new__(cls, new_vocab, new_vocab_size, num_oov_buckets, old_vocab, old_vocab_size,
                               backup_initializer, axis)


def warm_start(ckpt_to_initialize_from: Any, vars_to_warm_start: Any = ".*",
               var_name_to_vocab_info: Mapping[str, VocabInfo] | None = None,
               var_name_to_prev_var_name: Mapping[str, str] | None = None) -> None:
    """Let variables of the default graph begin with the values that they have in a checkpoint.

    ckpt_to_initialize_from: its prefix, or the directory, whose newest it is. vars_to_warm_start: a regular expression
    for names of trainable variables; a list of them, for all variables; a list of variables; None: only those of
    var_name_to_vocab_info, a dict of names to VocabInfos. var_name_to_prev_var_name: names in the checkpoint that
    differ. Raises ValueError for names in the two dicts that no variable has, and as tf.train.init_from_checkpoint.

    >>> v = tf.Variable(7.0, name="v")
    >>> sess.run(v.initializer)
    >>> path = tf.train.Saver().save(sess, "./model")
    >>> w = tf.get_variable("w", [])
    >>> tf.train.warm_start(path, "w", var_name_to_prev_var_name={"w": "v"})
    >>> sess.run(tf.global_variables_initializer())
    >>> sess.run(w)
    7.0
    """
    vocabularies, before = dict(var_name_to_vocab_info or {}), dict(var_name_to_prev_var_name or {})
    path = os.fsdecode(ckpt_to_initialize_from)
    path = (latest_checkpoint(path) or path) if os.path.isdir(path) else path
    _log.info("Warm-starting from: %s", path)
    grouped = _variables(vars_to_warm_start)
    plain: dict[str, Any] = {}
    for name, parts in grouped.items():
        source = before.pop(name, name)
        if name in vocabularies:
            for variable in parts:
                _remapped(variable, path, source, vocabularies[name])
            del vocabularies[name]
        else:
            plain[source] = parts if len(parts) > 1 else parts[0]
    for what, left in (("var_name_to_prev_var_name", before), ("var_name_to_vocab_info", vocabularies)):
        if left:
            raise ValueError(f"You provided the following variables in {what} that were not used: {sorted(left)}.  "
                             f"Perhaps you misspelled them?  Here is the list of viable variable names: "
                             f"{sorted(grouped)}")
    if plain:
        init_from_checkpoint(path, plain)


def _name(variable: Any) -> str:
    info = getattr(variable, "_save_slice_info", None)
    return str(info.full_name if info is not None else variable.op.name)


def _variables(chosen: Any) -> dict[str, list[Any]]:
    """Return name -> variable or its parts, of those that `chosen` means."""
    graph = get_default_graph()
    if isinstance(chosen, str) or chosen is None:
        found = graph.get_collection(GraphKeys.TRAINABLE_VARIABLES, scope=chosen)
    elif isinstance(chosen, Sequence) and all(isinstance(each, str) for each in chosen):
        every = graph.get_collection(GraphKeys.GLOBAL_VARIABLES)
        found = [variable for variable in every if any(re.match(each, _name(variable)) for each in chosen)]
    elif isinstance(chosen, Sequence) and all(isinstance(each, Variable) for each in chosen):
        found = list(chosen)
    else:
        raise ValueError("If `vars_to_warm_start` is a list, it must be all `Variable` or all `str`.  Given types are "
                         f"{[type(each).__name__ for each in chosen] if isinstance(chosen, Sequence) else chosen}")
    grouped: dict[str, list[Any]] = {}
    for variable in found:
        grouped.setdefault(_name(variable), []).append(variable)
    return grouped


def _words(path: Any, size: int) -> list[str]:
    with GFile(os.fsdecode(path)) as file:
        return str(file.read()).splitlines()[:size if size >= 0 else None]


def _remapped(variable: Any, path: str, name: str, info: VocabInfo) -> None:
    """Let a variable begin with the rows (columns) of the words that it had, and others of the backup initializer."""
    reader = load_checkpoint(path)
    if not reader.has_tensor(name):
        raise NotFoundError(None, None, f"tensor {name!r} of variable {variable.name!r} is not in checkpoint {path}")
    old = {word: i for i, word in enumerate(_words(info.old_vocab, info.old_vocab_size))}
    places = [old.get(word, -1) for word in _words(info.new_vocab, info.new_vocab_size)]
    places += [-1] * (variable.shape[info.axis].value - len(places))
    dtype = variable.dtype.base_dtype
    value, = io.RestoreV2(path, [name], [""], dtypes=[dtype], name="checkpoint_initializer")
    value.set_shape(reader.get_variable_to_shape_map()[name])
    kept = gather(value, maximum(np.array(places, np.int64), 0), axis=info.axis)
    initializer = info.backup_initializer or (zeros if info.axis else glorot_uniform_initializer())
    sizes = variable.shape.as_list()
    other = initializer(sizes, dtype=dtype)
    known = expand_dims(greater_equal(np.array(places, np.int64), 0), 1 - info.axis)
    made = where(broadcast_to(known, shape(kept)), kept, other)
    made.set_shape(sizes)
    variable._initializer_op, variable._initial_value = variable.assign(made).op, made


describe(globals(), CHECKPOINTS)
