"""`tf.train.Saver`: saves a session's variables to numbered checkpoints and restores them."""
from __future__ import annotations

import logging
import os
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from tfnb.core.errors import FailedPreconditionError, InvalidArgumentError, NotFoundError, OpError
from tfnb.core.files.paths import local
from tfnb.core.lazy import lazy_module
from tfnb.core.nest import listed
from tfnb.graph.formats.proto_functions import register_proto_function
from tfnb.graph.parts.keys import GraphKeys
from tfnb.graph.stack import get_default_graph
from tfnb.proto.nearby import as_prefix, nearby
from tfnb.train.checkpoints import meta_graph
from tfnb.train.checkpoints.saver_builder import V2, BulkSaverBuilder
from tfnb.train.checkpoints.state import (
    DEFAULT,
    checkpoint_exists,
    meta_graph_filename,
    remove_checkpoint,
    with_times,
    write_state,
)
from tfnb.train.global_step import global_step as step_value

_saver_pb2 = lazy_module("tfnb.proto.saver_pb2")

log = logging.getLogger(__name__)
HOUR = 3600.0
_NAMES = ("filename_tensor_name", "save_tensor_name", "restore_op_name")


def all_saveable_objects(scope: str | None = None) -> list[Any]:
    """Return the objects that a Saver saves by default: the global variables and the collection SAVEABLE_OBJECTS."""
    graph = get_default_graph()
    return graph.get_collection(GraphKeys.GLOBAL_VARIABLES, scope) \
        + graph.get_collection(GraphKeys.SAVEABLE_OBJECTS, scope)


class Saver:
    """Saver of variables to checkpoints.

    var_list: a list of variables, which are stored under the names of their ops, or a dict of names to variables (or
    to lists of the parts of a partitioned one); None: all variables (and GraphKeys.SAVEABLE_OBJECTS).
    reshape: values may be restored to variables of another shape and as many elements. sharded: a file for each
    device. max_to_keep: the count of checkpoints to keep (None, 0: all); of older ones, one for each
    keep_checkpoint_every_n_hours stays. name: the name scope of the ops, "save" by default. restore_sequentially:
    accepted; values are read one after another in any case. saver_def: a SaverDef of ops that the graph has (then
    `name` is the scope into which that graph was imported). builder: a BaseSaverBuilder. defer_build: add the ops at
    `build`. allow_empty: with nothing to save, do nothing. write_version: SaverDef.V2, or V1 for
    TensorFlow before 0.12. pad_step_number: number with 8 digits, so that names sort. save_relative_paths: the
    directory may be moved with its "checkpoint" file. filename: the default file name if the ops are run directly.

    Raises TypeError for a var_list that is no list or dict of variables, ValueError for an empty one and for names and
    variables that come twice.

    >>> v = tf.Variable(3.0)
    >>> sess.run(v.initializer)
    >>> path = tf.train.Saver().save(sess, "./model", global_step=100)
    >>> assigned = sess.run(v.assign(0.0))
    >>> tf.train.Saver().restore(sess, path)
    >>> path, sess.run(v)
    ('./model-100', 3.0)
    """

    def __init__(self, var_list: Any = None, reshape: bool = False, sharded: bool = False, max_to_keep: int | None = 5,
                 keep_checkpoint_every_n_hours: float = 10000.0, name: str | None = None,
                 restore_sequentially: bool = False, saver_def: Any = None, builder: Any = None,
                 defer_build: bool = False, allow_empty: bool = False, write_version: int = V2,
                 pad_step_number: bool = False, save_relative_paths: bool = False,
                 filename: str | None = None) -> None:
        if defer_build and var_list:
            raise ValueError("If `var_list` is provided then build cannot be deferred. Either set defer_build=False or "
                             "var_list=None.")
        self._var_list, self._reshape, self._sharded = listed(var_list), reshape, sharded
        self._max_to_keep, self._hours = max_to_keep, keep_checkpoint_every_n_hours
        self._name, self._sequentially, self._builder = name, restore_sequentially, builder
        self._allow_empty, self._write_version, self._filename = allow_empty, write_version, filename
        self._pad, self._relative = pad_step_number, save_relative_paths
        self.saver_def = saver_def
        self._built = self._is_empty = False
        self._next_checkpoint_time = 0.0
        self._last_checkpoints: list[tuple[str, float]] = []
        self._doomed: list[tuple[str, float]] = []
        if not defer_build:
            self.build()

    def build(self) -> None:
        """Build the ops, if that was deferred. Raises as the constructor."""
        if self._built:
            return
        if self.saver_def is None:
            if self._var_list is None:
                self._var_list = all_saveable_objects()
            if not self._var_list and isinstance(self._var_list, (list, tuple, set, frozenset, dict)):
                if not self._allow_empty:
                    raise ValueError("No variables to save")
                self._built = self._is_empty = True
                return
            builder = self._builder or BulkSaverBuilder(self._write_version)
            self.saver_def = builder.build(
                self._var_list, reshape=self._reshape, sharded=self._sharded, max_to_keep=self._max_to_keep or 0,
                keep_checkpoint_every_n_hours=self._hours, name=self._name, restore_sequentially=self._sequentially,
                filename=self._filename or "model")
        else:
            self._adopt()
        self._built = True
        self._next_checkpoint_time = time.time() + self.saver_def.keep_checkpoint_every_n_hours * HOUR

    def _adopt(self) -> None:
        """Adopt the ops that a SaverDef names."""
        saver_def = _saver_pb2.SaverDef.FromString(self.saver_def.SerializeToString())
        for field in _NAMES:
            if not getattr(saver_def, field):
                raise ValueError(f"saver_def must specify the {field}: {saver_def}")
            if self._name:
                setattr(saver_def, field, f"{self._name.rstrip('/')}/{getattr(saver_def, field)}")
        self.saver_def, self._write_version = saver_def, saver_def.version
        self._sharded = saver_def.sharded

    def _require_built(self, use: str) -> None:
        if not self._built:
            raise RuntimeError(f"`build()` should be called before {use} if defer_build==True")

    # Saving

    def save(self, sess: Any, save_path: Any, global_step: Any = None, latest_filename: str | None = None,
             meta_graph_suffix: str = "meta", write_meta_graph: bool = True, write_state: bool = True,
             strip_default_attrs: bool = False, save_debug_info: bool = False) -> str | None:
        """Save the values that the variables have in `sess`, and return the checkpoint's prefix, for `restore`.

        save_path: the path to which "-<global_step>" is appended; global_step: an int, a tensor, or a tensor's name.
        latest_filename: of the file that names the newest checkpoints, "checkpoint" by default; write_state: write
        it. write_meta_graph: write the graph to "<path>.<meta_graph_suffix>", for import_meta_graph;
        strip_default_attrs: without the attrs that have their defaults. save_debug_info: accepted.

        Files are written atomically: earlier checkpoints survive a crash at any time. Raises
        TypeError if sess is no Session; ValueError for paths that can't be; an error of tf.errors if a variable has no
        value, or the file can't be written (what was saved before is kept); RuntimeError before `build`.
        """
        self._require_built("save")
        latest_filename = latest_filename or DEFAULT
        if os.path.split(latest_filename)[0]:
            raise ValueError("'latest_filename' must not contain path components")
        path = os.fsdecode(save_path)
        if not path:
            raise ValueError("no path specified: save_path is ''")
        if not hasattr(sess, "run") or not hasattr(sess, "graph"):
            raise TypeError(f"'sess' must be a Session; {sess}")
        if global_step is not None:
            if not isinstance(global_step, (int, np.integer)):
                global_step = step_value(sess, global_step)
            path = f"{path}-{global_step:08d}" if self._pad else f"{path}-{global_step:d}"
        elif os.path.basename(path) == latest_filename and not self._sharded:
            raise ValueError(f"'latest_filename' collides with 'save_path': '{latest_filename}' and '{path}'")
        saved = path
        if not self._is_empty:
            try:
                result = sess.run(self.saver_def.save_tensor_name, {self.saver_def.filename_tensor_name: path})
            except (NotFoundError, FailedPreconditionError) as error:
                if os.path.isdir(os.path.dirname(local(path)) or "."):
                    raise
                raise ValueError(f"Parent directory of {path} doesn't exist, can't save.") from error
            saved = os.fsdecode(result)
        try:
            if write_meta_graph:                   # before the state: what that names is complete
                with sess.graph.as_default():
                    self.export_meta_graph(meta_graph_filename(saved, meta_graph_suffix),
                                           strip_default_attrs=strip_default_attrs)
        finally:                                   # values that are saved are found, and removed in their turn
            if write_state and not self._is_empty:
                self._record(saved, latest_filename, meta_graph_suffix)
        return None if self._is_empty else saved

    def _record(self, saved: str, latest_filename: str, meta_graph_suffix: str) -> None:
        """Record a new checkpoint in the state file, and remove the oldest beyond max_to_keep."""
        if self.saver_def.max_to_keep > 0:
            self._last_checkpoints = [p for p in self._last_checkpoints if p[0] != saved]
            self._last_checkpoints.append((saved, time.time()))
            if len(self._last_checkpoints) > self.saver_def.max_to_keep:
                self._doomed.append(self._last_checkpoints.pop(0))
        write_state(os.path.dirname(saved), saved, self.last_checkpoints, latest_filename, self._relative)
        if not self._doomed:
            return
        name, made = self._doomed.pop(0)
        if made > self._next_checkpoint_time:
            self._next_checkpoint_time += self.saver_def.keep_checkpoint_every_n_hours * HOUR
            return
        try:
            remove_checkpoint(name, self.saver_def.version, meta_graph_suffix)
        except (OSError, OpError) as error:        # the new checkpoint is there: no reason to fail
            log.warning("the old checkpoint %s can't be removed: %s", name, error)

    # Restoring

    def restore(self, sess: Any, save_path: Any) -> None:
        """Restore the variables in `sess` from the checkpoint `save_path`. They need no initialization.

        Values are read and checked before the first variable changes. Raises ValueError if save_path is None or no
        checkpoint; NotFoundError for a variable that is not in it; InvalidArgumentError for another shape or dtype;
        DataLossError for a damaged file.
        """
        self._require_built("restore")
        if self._is_empty:
            return
        if save_path is None:
            raise ValueError("Can't load save_path when it is None.")
        path = os.fsdecode(save_path)
        if not checkpoint_exists(path):
            raise ValueError(f"The passed save_path is not a valid checkpoint: {path}{nearby(path)}")
        try:
            sess.run(self.saver_def.restore_op_name, {self.saver_def.filename_tensor_name: path})
        except NotFoundError as error:
            raise _restore_error(error, "a Variable name or other graph key that is missing from the checkpoint",
                                 as_prefix(path)) from error
        except InvalidArgumentError as error:
            raise _restore_error(error, "a mismatch between the current graph and the graph from the checkpoint") \
                from error

    # Existing checkpoints

    @property
    def last_checkpoints(self) -> list[str]:
        """Prefixes of the checkpoints that were not removed yet, from oldest to newest."""
        return [name for name, _ in self._last_checkpoints]

    def set_last_checkpoints(self, last_checkpoints: list[str]) -> None:
        """Set the list of checkpoints, with unknown times (an old form: see set_last_checkpoints_with_time)."""
        assert isinstance(last_checkpoints, list)
        self._last_checkpoints = [(name, float("inf")) for name in last_checkpoints]

    def set_last_checkpoints_with_time(self, last_checkpoints_with_time: list[tuple[str, float]]) -> None:
        """Set the list of checkpoints: (path, seconds since the epoch), from oldest to newest."""
        assert isinstance(last_checkpoints_with_time, list)
        self._last_checkpoints = last_checkpoints_with_time

    def recover_last_checkpoints(self, checkpoint_paths: Sequence[str]) -> None:
        """Take over checkpoints of an earlier process: those of `checkpoint_paths` that exist."""
        self.set_last_checkpoints_with_time(with_times([os.fsdecode(path) for path in checkpoint_paths]))

    # As protocol buffers

    def as_saver_def(self) -> Any:
        """Return the SaverDef of this saver."""
        return self.saver_def

    def to_proto(self, export_scope: str | None = None) -> Any:
        """Return the SaverDef of this saver, names without `export_scope`; None if it is outside of that."""
        if export_scope is None:
            return self.saver_def
        prefix = f"{export_scope.rstrip('/')}/"
        if not all(getattr(self.saver_def, field).startswith(prefix) for field in _NAMES):
            return None
        made = _saver_pb2.SaverDef.FromString(self.saver_def.SerializeToString())
        for field in _NAMES:
            setattr(made, field, getattr(made, field).removeprefix(prefix))
        return made

    @staticmethod
    def from_proto(saver_def: Any, import_scope: str | None = None) -> Saver:
        """Make a Saver of the ops that `saver_def` names, in a graph that was imported into `import_scope`."""
        return Saver(saver_def=saver_def, name=import_scope)

    def export_meta_graph(self, filename: Any = None, collection_list: Any = None, as_text: bool = False,
                          export_scope: str | None = None, clear_devices: bool = False,
                          clear_extraneous_savers: bool = False, strip_default_attrs: bool = False,
                          save_debug_info: bool = False) -> Any:
        """Return the MetaGraphDef of the default graph, with this saver; also write it to `filename`, if given."""
        return meta_graph.export_meta_graph(
            filename, saver_def=self.saver_def, collection_list=collection_list, as_text=as_text,
            export_scope=export_scope, clear_devices=clear_devices, strip_default_attrs=strip_default_attrs,
            clear_extraneous_savers=clear_extraneous_savers)


def _restore_error(error: OpError, why: str, hint: str = "") -> OpError:
    made: Any = type(error)
    return made(error.node_def, error.op, f"Restoring from checkpoint failed. This is most likely due to {why}. Please "  # type: ignore[no-any-return]
                f"ensure that you have not altered the graph expected based on the checkpoint. Original error:\n\n"
                f"{error.message}{hint}")


def import_meta_graph(meta_graph_or_file: Any, clear_devices: bool = False, import_scope: str | None = None,
                      **kwargs: Any) -> Saver | Any:
    """Add the graph and the collections of a MetaGraphDef, or of a file with one, to the default graph.

    meta_graph_or_file: the message, or the path of its file; clear_devices: without its devices; import_scope: a name
    scope for all of it; input_map: as in import_graph_def.

    Returns the saver that was exported with it, or else one of all variables, or None if there are none. Raises
    OSError if there is no such file, or it holds something else; and as import_graph_def.

    >>> v = tf.Variable(3.0, name="v")
    >>> sess.run(v.initializer)
    >>> path = tf.train.Saver().save(sess, "./model")
    >>> with tf.Graph().as_default(), tf.Session() as other:
    ...     saver = tf.train.import_meta_graph("model.meta")
    ...     saver.restore(other, path)
    ...     other.run("v:0")
    3.0
    """
    found, scope = meta_graph.import_scoped_meta_graph(meta_graph_or_file, clear_devices=clear_devices,
                                                       import_scope=import_scope, **kwargs)
    if found.HasField("saver_def"):
        return Saver(saver_def=found.saver_def, name=scope or None)
    return Saver() if all_saveable_objects(scope=import_scope) else None


def collected_saver() -> Saver | None:
    """Return the saver in GraphKeys.SAVERS, or None. Raises RuntimeError if there are several."""
    savers: list[Saver] = get_default_graph().get_collection(GraphKeys.SAVERS)
    if len(savers) > 1:
        raise RuntimeError(f"More than one item in collection {GraphKeys.SAVERS}. Please indicate which one to use by "
                           "passing it to the constructor.")
    return savers[0] if savers else None


def saver_or_default() -> Saver:
    """Return the saver in GraphKeys.SAVERS; if there is none, a new one of all variables, which is added there.

    Raises RuntimeError if there are several.
    """
    found = collected_saver()
    if found is not None:
        return found
    made = Saver(sharded=True, allow_empty=True)
    get_default_graph().add_to_collection(GraphKeys.SAVERS, made)
    return made


register_proto_function(GraphKeys.SAVERS, lambda: _saver_pb2.SaverDef, Saver.to_proto, Saver.from_proto)
