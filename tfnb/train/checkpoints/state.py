"""Checkpoint state: the text file "checkpoint" that lists a directory's checkpoints and names the newest."""
from __future__ import annotations

import logging
import os
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any

from tfnb.core.arguments import CHECKPOINTS, describe
from tfnb.core.errors import NotFoundError
from tfnb.core.files.os_errors import os_errors
from tfnb.core.files.paths import local, open_regular
from tfnb.core.lazy import lazy_module

_state_pb2 = lazy_module("tfnb.proto.checkpoint_state_pb2")
_text_format = lazy_module("google.protobuf.text_format")
_files = lazy_module("tfnb.proto.files")
_checkpoint = lazy_module("tfnb.proto.checkpoint")

log = logging.getLogger(__name__)
DEFAULT = "checkpoint"
LARGEST = 1 << 26                                  # bytes of a state file that are read



def _path(value: Any) -> str:
    return os.fsdecode(value)


def generate_checkpoint_state_proto(save_dir: Any, model_checkpoint_path: Any,
                                    all_model_checkpoint_paths: Sequence[Any] | None = None,
                                    all_model_checkpoint_timestamps: Sequence[float] | None = None,
                                    last_preserved_timestamp: float | None = None) -> Any:
    """Build the CheckpointState of a directory: paths below a relative `save_dir` are made relative to it.

    model_checkpoint_path: the newest; it is put last among all paths if it is not there. Raises ValueError if the
    timestamps are not as many as the paths.

    >>> state = tf.train.generate_checkpoint_state_proto(".", "model-7", ["model-6", "model-7"])
    >>> state.model_checkpoint_path, list(state.all_model_checkpoint_paths)
    ('model-7', ['model-6', 'model-7'])
    """
    paths = [_path(p) for p in all_model_checkpoint_paths or ()]
    newest, save_dir = _path(model_checkpoint_path), _path(save_dir)
    if not paths or paths[-1] != newest:
        if paths and newest not in paths:
            log.debug("%s is not in all_model_checkpoint_paths; added", newest)
        paths.append(newest)
    stamps = list(all_model_checkpoint_timestamps or ())
    if stamps and len(stamps) != len(paths):
        raise ValueError("Checkpoint timestamps, if provided, must match checkpoint paths (got paths "
                         f"{paths} and timestamps {stamps})")
    if not os.path.isabs(save_dir):                # as given, they would be relative to the working directory
        paths = [p if os.path.isabs(p) else os.path.relpath(p, save_dir) for p in paths]
        newest = newest if os.path.isabs(newest) else os.path.relpath(newest, save_dir)
    return _state_pb2.CheckpointState(model_checkpoint_path=newest, all_model_checkpoint_paths=paths,
                                      all_model_checkpoint_timestamps=stamps,
                                      last_preserved_timestamp=last_preserved_timestamp or 0.0)


def update_checkpoint_state(save_dir: Any, model_checkpoint_path: Any,
                            all_model_checkpoint_paths: Sequence[Any] | None = None,
                            latest_filename: str | None = None,
                            all_model_checkpoint_timestamps: Sequence[float] | None = None,
                            last_preserved_timestamp: float | None = None) -> None:
    """Write the file "checkpoint" of a directory. Raises RuntimeError if a checkpoint has that file's name.

    >>> tf.train.update_checkpoint_state(".", "model-7", all_model_checkpoint_paths=["model-6", "model-7"])
    >>> tf.train.get_checkpoint_state(".").model_checkpoint_path
    './model-7'
    """
    write_state(save_dir, model_checkpoint_path, all_model_checkpoint_paths, latest_filename, False,
                all_model_checkpoint_timestamps, last_preserved_timestamp)


def write_state(save_dir: Any, newest: Any, paths: Sequence[Any] | None, latest_filename: str | None, relative: bool,
                stamps: Sequence[float] | None = None, preserved: float | None = None) -> None:
    """Write the state file as update_checkpoint_state. relative: store all paths relative to the directory."""
    save_dir = _path(save_dir)
    target = os.path.join(save_dir, latest_filename or DEFAULT)
    if relative:
        newest = os.path.relpath(newest, save_dir) if os.path.isabs(newest) else newest
        paths = [os.path.relpath(p, save_dir) if os.path.isabs(p) else p for p in paths or ()]
    state = generate_checkpoint_state_proto(save_dir, newest, paths, stamps, preserved)
    if target == state.model_checkpoint_path:
        raise RuntimeError(f"Save path '{newest}' conflicts with path used for checkpoint state.  Please use a "
                           "different save path.")
    _files.write_atomically(target, _text_format.MessageToString(state).encode())


def get_checkpoint_state(checkpoint_dir: Any, latest_filename: str | None = None) -> Any:
    """Return the CheckpointState of a directory, with paths made absolute or relative as `checkpoint_dir` is.

    None if there is no such file, or it holds something else. Raises ValueError for one that names no newest
    checkpoint.

    >>> v = tf.Variable(1.0)
    >>> sess.run(v.initializer)
    >>> path = tf.train.Saver().save(sess, "./model", global_step=3)
    >>> tf.train.get_checkpoint_state(".").model_checkpoint_path
    './model-3'
    """
    folder = _path(checkpoint_dir)
    path = os.path.join(local(folder), latest_filename or DEFAULT)
    try:
        with open_regular(path) as file:
            if os.fstat(file.fileno()).st_size > LARGEST:
                raise ValueError(f"more than {LARGEST} bytes")
            state = _text_format.Parse(file.read(), _state_pb2.CheckpointState())
    except NotFoundError:
        return None
    except Exception as error:                     # OpError, OSError, or an error class of the protobuf runtime
        log.warning("%s: %s; checkpoint ignored", path, error)
        return None
    if not state.model_checkpoint_path:
        raise ValueError(f"Invalid checkpoint state loaded from {checkpoint_dir}: {path} has no model_checkpoint_path")
    state.model_checkpoint_path = _absolute(folder, state.model_checkpoint_path)
    for i, found in enumerate(state.all_model_checkpoint_paths):
        state.all_model_checkpoint_paths[i] = _absolute(folder, found)
    return state


def _absolute(folder: str, path: str) -> str:
    return path if os.path.isabs(path) else os.path.join(folder, path)


def latest_checkpoint(checkpoint_dir: Any, latest_filename: str | None = None) -> str | Any:
    """Return the prefix of the newest checkpoint in a directory, for `Saver.restore`; None if there is none.

    >>> v = tf.Variable(1.0)
    >>> sess.run(v.initializer)
    >>> saver = tf.train.Saver()
    >>> paths = [saver.save(sess, "./model", global_step=step) for step in (1, 2)]
    >>> tf.train.latest_checkpoint(".")
    './model-2'
    """
    state = get_checkpoint_state(checkpoint_dir, latest_filename)
    if state is None:
        return None
    newest: str = state.model_checkpoint_path
    if checkpoint_exists(newest):
        return newest
    log.warning("Couldn't match files for checkpoint %s", newest)
    return None


def checkpoint_exists(checkpoint_prefix: Any) -> bool:
    """Return whether a checkpoint of this prefix, in either format, exists.

    >>> v = tf.Variable(1.0)
    >>> sess.run(v.initializer)
    >>> path = tf.train.Saver().save(sess, "./model")
    >>> tf.train.checkpoint_exists(path), tf.train.checkpoint_exists("./missing")
    (True, False)
    """
    return bool(_checkpoint.checkpoint_files(_path(checkpoint_prefix)))


def get_checkpoint_mtimes(checkpoint_prefixes: Iterable[Any]) -> list[float]:
    """Return the modification times of checkpoints, in seconds since the epoch. Missing ones are left out.

    >>> v = tf.Variable(1.0)
    >>> sess.run(v.initializer)
    >>> path = tf.train.Saver().save(sess, "./model")
    >>> len(tf.train.get_checkpoint_mtimes([path]))
    1
    """
    found = []
    for prefix in checkpoint_prefixes:
        with suppress(OSError):
            files = _checkpoint.checkpoint_files(_path(prefix))
            if files:
                found.append(os.path.getmtime(files[-1]))
    return found


def meta_graph_filename(checkpoint_filename: str, meta_graph_suffix: str = "meta") -> str:
    """Return the meta graph's file name: "model-3.meta", also for "model-3-?????-of-00002" (version 1 shards)."""
    return f"{re.sub(r'-[0-9?]{5}-of-[0-9]{5}$', '', checkpoint_filename)}.{meta_graph_suffix}"


def remove_checkpoint(checkpoint_prefix: Any, checkpoint_format_version: int = 2,
                      meta_graph_suffix: str = "meta") -> None:
    """Remove the files of a checkpoint and its meta graph, the index first. A missing file is no error.

    >>> v = tf.Variable(1.0)
    >>> sess.run(v.initializer)
    >>> path = tf.train.Saver().save(sess, "./model")
    >>> tf.train.remove_checkpoint(path)
    >>> tf.train.checkpoint_exists(path)
    False
    """
    prefix = local(checkpoint_prefix)
    meta = meta_graph_filename(prefix, meta_graph_suffix)
    paths = [meta, *reversed(_checkpoint.checkpoint_files(prefix))]
    with _files.freed_later(paths):
        for path in paths:
            with os_errors(path), suppress(FileNotFoundError):
                os.remove(path)


def with_times(prefixes: Sequence[str]) -> list[tuple[str, float]]:
    """Return the checkpoints that exist, with the modification time of each."""
    times = [(prefix, get_checkpoint_mtimes([prefix])) for prefix in prefixes]
    return [(prefix, found[0]) for prefix, found in times if found]


describe(globals(), CHECKPOINTS)
