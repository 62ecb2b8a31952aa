"""Reading SavedModels: `tf.saved_model.loader.load`."""
from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from tfnb.core.arguments import CHECKPOINTS, describe
from tfnb.core.files.os_errors import os_errors
from tfnb.core.files.paths import local, open_regular
from tfnb.core.lazy import lazy_module
from tfnb.saved_model import constants as places
from tfnb.train.checkpoints.meta_graph import import_scoped_meta_graph
from tfnb.train.checkpoints.saver import Saver, all_saveable_objects

_meta_graph_pb2 = lazy_module("tfnb.proto.meta_graph_pb2")
_saved_model_pb2 = lazy_module("tfnb.proto.saved_model_pb2")
_text_format = lazy_module("google.protobuf.text_format")

_INIT_OP_SIGNATURE = "__saved_model_init_op"       # where TensorFlow 2 keeps the op to run after loading


def maybe_saved_model_directory(export_dir: Any) -> bool:
    """Return whether the directory holds a file saved_model.pb or saved_model.pbtxt.

    >>> tf.saved_model.contains_saved_model(".")
    False
    """
    return model_file(local(export_dir)) is not None


def model_file(folder: str) -> str | None:
    """The file of a SavedModel directory that holds its message, or None."""
    names = (places.SAVED_MODEL_FILENAME_PB, places.SAVED_MODEL_FILENAME_PBTXT)
    return next((path for path in (os.path.join(folder, name) for name in names) if os.path.exists(path)), None)


def read_saved_model(export_dir: Any) -> Any:
    """The SavedModel message of a directory. Raises OSError if it has none, or a damaged one."""
    folder = local(export_dir)
    path = model_file(folder)
    if path is None:
        raise OSError(f"SavedModel file does not exist at: {folder}/{{{places.SAVED_MODEL_FILENAME_PBTXT}|"
                      f"{places.SAVED_MODEL_FILENAME_PB}}}")
    with open_regular(path) as file, os_errors(path):
        data = file.read()
    try:
        if path.endswith("txt"):
            return _text_format.Parse(data.decode(), _saved_model_pb2.SavedModel())
        return _saved_model_pb2.SavedModel.FromString(data)
    except Exception as error:                     # the protobuf runtime's own classes
        raise OSError(f"Cannot parse file {path}: {error}") from None


def meta_graph_of(model: Any, tags: Iterable[str]) -> Any:
    """The meta graph of a SavedModel that has exactly these tags. Raises RuntimeError, which names those there are."""
    wanted = set(tags)
    for meta in model.meta_graphs:
        if set(meta.meta_info_def.tags) == wanted:
            return meta
    there = [set(meta.meta_info_def.tags) for meta in model.meta_graphs]
    raise RuntimeError(f"MetaGraphDef associated with tags {str(sorted(wanted)).strip('[]')} could not be found in "
                       f"SavedModel, with available tags '{there}'. `tfnb inspect` shows what is in it.")


def load(sess: Any, tags: Iterable[str], export_dir: Any, import_scope: str | None = None, **saver_kwargs: Any) -> Any:
    """Add a meta graph of a SavedModel to the graph of `sess`, restore its variables and run its main op.

    tags: exactly those of the meta graph; import_scope: a name scope for all of it; saver_kwargs: as for
    tf.train.import_meta_graph. Returns the MetaGraphDef. Raises OSError if the directory holds no SavedModel,
    RuntimeError if it has no meta graph of these tags, and as Saver.restore.

    >>> x, w = tf.placeholder(tf.float32, []), tf.Variable(3.0)
    >>> sess.run(w.initializer)
    >>> tf.saved_model.simple_save(sess, "model", inputs={"x": x}, outputs={"y": w * x})
    >>> with tf.Session(graph=tf.Graph()) as other:
    ...     meta = tf.saved_model.load(other, ["serve"], "model")
    ...     signature = meta.signature_def["serving_default"]
    ...     other.run(signature.outputs["y"].name, {signature.inputs["x"].name: 2.0})
    6.0
    """
    folder = local(export_dir)
    meta = meta_graph_of(read_saved_model(folder), tags)
    with sess.graph.as_default():
        _, scope = import_scoped_meta_graph(meta, import_scope=import_scope, **saver_kwargs)
        _restore(sess, meta, folder, scope)
        main = _main_op(sess.graph, meta, scope)
        if main is not None:
            sess.run(main, _assets(meta, folder, scope))
    return meta


def _restore(sess: Any, meta: Any, folder: str, scope: str) -> None:
    path = os.path.join(folder, places.VARIABLES_DIRECTORY, places.VARIABLES_FILENAME)
    if not os.path.exists(f"{path}.index"):        # a model without variables
        return
    if meta.HasField("saver_def"):
        Saver(saver_def=meta.saver_def, name=scope or None).restore(sess, path)
    elif all_saveable_objects(scope=scope):
        Saver(all_saveable_objects(scope=scope)).restore(sess, path)


def _main_op(graph: Any, meta: Any, scope: str) -> Any:
    before = f"{scope}/" if scope else ""
    signature = meta.signature_def.get(_INIT_OP_SIGNATURE)
    if signature is not None:
        return graph.as_graph_element(before + next(iter(signature.outputs.values())).name)
    for key in (places.MAIN_OP_KEY, places.LEGACY_INIT_OP_KEY):
        names = meta.collection_def[key].node_list.value if key in meta.collection_def else []
        if len(names) > 1:
            raise RuntimeError(f"Expected exactly one main op in the collection {key}, found {list(names)}")
        if names:
            return graph.as_graph_element(before + names[0])
    return None


def _assets(meta: Any, folder: str, scope: str) -> dict[str, str]:
    """Return what to feed for the names of assets: the files in the SavedModel."""
    if places.ASSETS_KEY not in meta.collection_def:
        return {}
    before = f"{scope}/" if scope else ""
    fed = {}
    for entry in meta.collection_def[places.ASSETS_KEY].any_list.value:
        asset = _meta_graph_pb2.AssetFileDef.FromString(entry.value)
        fed[before + asset.tensor_info.name] = os.path.join(folder, places.ASSETS_DIRECTORY,
                                                            os.path.basename(asset.filename))
    return fed


describe(globals(), CHECKPOINTS)
