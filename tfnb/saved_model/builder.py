"""Writing SavedModels: `tf.saved_model.builder.SavedModelBuilder`."""
from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from typing import Any

from tfnb.core.arguments import CHECKPOINTS, describe
from tfnb.core.files.os_errors import os_errors
from tfnb.core.files.paths import local, make_folders
from tfnb.core.lazy import lazy_module
from tfnb.core.text import as_text
from tfnb.graph.parts.constant_value import constant_value
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.stack import get_default_graph
from tfnb.proto.files import write_atomically
from tfnb.saved_model import constants as places
from tfnb.saved_model.signature_constants import DEFAULT_SERVING_SIGNATURE_DEF_KEY
from tfnb.saved_model.signature_def_utils import predict_signature_def
from tfnb.saved_model.tag_constants import SERVING
from tfnb.train.checkpoints.meta_graph import write_proto
from tfnb.train.checkpoints.saver import Saver, all_saveable_objects
from tfnb.variables.helpers import tables_initializer

_meta_graph_pb2 = lazy_module("tfnb.proto.meta_graph_pb2")
_saved_model_pb2 = lazy_module("tfnb.proto.saved_model_pb2")
_any_pb2 = lazy_module("google.protobuf.any_pb2")

# The collection names its messages by TensorFlow's name for them.
_ASSET_TYPE = "type.googleapis.com/tensorflow.AssetFileDef"


class SavedModelBuilder:
    """Writes a SavedModel to the directory `export_dir`: meta graphs with tags, and one checkpoint for all of them.

    The first meta graph goes with the values of its variables in a session; then `save`. Raises AssertionError if the
    directory exists and is not empty.

    >>> w = tf.Variable(3.0, name="w")
    >>> sess.run(w.initializer)
    >>> builder = tf.saved_model.Builder("model")
    >>> builder.add_meta_graph_and_variables(sess, ["serve"])
    >>> path = builder.save()
    >>> with tf.Session(graph=tf.Graph()) as other:
    ...     meta = tf.saved_model.load(other, ["serve"], "model")
    ...     other.run("w:0")
    3.0
    """

    def __init__(self, export_dir: Any) -> None:
        self._dir = local(as_text(os.fsdecode(export_dir)))
        if os.path.isdir(self._dir) and os.listdir(self._dir):
            raise AssertionError(f"Export directory {self._dir} already exists, and isn't empty. Please choose a "
                                 "different export directory, or delete all the contents of the specified directory.")
        make_folders(self._dir)
        self._model = _saved_model_pb2.SavedModel(saved_model_schema_version=places.SAVED_MODEL_SCHEMA_VERSION)
        self._has_variables = False

    def add_meta_graph_and_variables(self, sess: Any, tags: Sequence[str],
                                     signature_def_map: Mapping[str, Any] | None = None,
                                     assets_collection: Sequence[Tensor] | None = None,
                                     legacy_init_op: Operation | None = None, clear_devices: bool = False,
                                     main_op: Operation | None = None, strip_default_attrs: bool = False,
                                     saver: Saver | None = None) -> None:
        """Add the default graph, with the values that its variables have in `sess`.

        tags: what the graph is for; signature_def_map: name -> SignatureDef; assets_collection: constant string
        tensors with the names of files that the model needs, which are copied into it; main_op (before 1.7
        `legacy_init_op`): an op to run after loading, by default tables_initializer(); saver: by default one of all
        variables. Raises AssertionError if variables were added already, or for a TensorInfo in a signature that
        names no tensor or has no dtype; ValueError for assets that are no constants.
        """
        if self._has_variables:
            raise AssertionError("Graph state including variables and assets has already been saved. Please invoke "
                                 "`add_meta_graph()` instead.")
        _check_signatures(signature_def_map or {})
        self._add_collections(assets_collection, legacy_init_op, main_op)
        folder = os.path.join(self._dir, places.VARIABLES_DIRECTORY)
        make_folders(folder)
        saver = saver or _default_saver()
        saver.save(sess, os.path.join(folder, places.VARIABLES_FILENAME), write_meta_graph=False, write_state=False)
        self._add(saver, tags, signature_def_map, clear_devices, strip_default_attrs)
        self._has_variables = True

    def add_meta_graph(self, tags: Sequence[str], signature_def_map: Mapping[str, Any] | None = None,
                       assets_collection: Sequence[Tensor] | None = None, legacy_init_op: Operation | None = None,
                       clear_devices: bool = False, main_op: Operation | None = None,
                       strip_default_attrs: bool = False, saver: Saver | None = None) -> None:
        """Add the default graph once more, for other tags, with the variables that were added before.

        Arguments as in `add_meta_graph_and_variables`. Raises AssertionError if that was not called yet.
        """
        if not self._has_variables:
            raise AssertionError("Graph state including variables and assets has not been saved yet. Please invoke "
                                 "`add_meta_graph_and_variables()` first.")
        _check_signatures(signature_def_map or {})
        self._add_collections(assets_collection, legacy_init_op, main_op)
        self._add(saver or _default_saver(), tags, signature_def_map, clear_devices, strip_default_attrs)

    def _add(self, saver: Saver, tags: Sequence[str], signatures: Mapping[str, Any] | None, clear_devices: bool,
             strip_default_attrs: bool) -> None:
        made = saver.export_meta_graph(clear_devices=clear_devices, strip_default_attrs=strip_default_attrs)
        made.meta_info_def.tags.extend(tags)
        for key, signature in (signatures or {}).items():
            made.signature_def[key].CopyFrom(signature)
        self._model.meta_graphs.append(made)

    def _add_collections(self, assets: Sequence[Tensor] | None, legacy_init_op: Operation | None,
                         main_op: Operation | None) -> None:
        if main_op is not None and legacy_init_op is not None:
            raise ValueError("give either main_op or legacy_init_op, its old name")
        graph = get_default_graph()
        files: dict[str, str] = {}
        for tensor in assets or ():
            _add_asset(tensor, files)
        self._copy(files)
        for key, op in ((places.MAIN_OP_KEY, main_op), (places.LEGACY_INIT_OP_KEY, legacy_init_op)):
            if op is not None:
                if not isinstance(op, Operation):
                    raise TypeError(f"{key} needs to be an Operation: {op!r}")
                if graph.get_collection(key):
                    raise ValueError(f"Graph already contains one or more main ops under the collection {key}.")
                graph.add_to_collection(key, op)

    def _copy(self, files: Mapping[str, str]) -> None:
        folder = os.path.join(self._dir, places.ASSETS_DIRECTORY)
        for name, source in files.items():
            make_folders(folder)
            with os_errors(source):
                shutil.copyfile(local(source), os.path.join(folder, name))

    def save(self, as_text: bool = False) -> bytes:
        """Write saved_model.pb (or .pbtxt, for `as_text`). Returns its path."""
        name = places.SAVED_MODEL_FILENAME_PBTXT if as_text else places.SAVED_MODEL_FILENAME_PB
        path = os.path.join(self._dir, name)
        if as_text:
            write_proto(self._model, path, True)
        else:
            write_atomically(path, self._model.SerializeToString(deterministic=True))
        return os.fsencode(path)


def _default_saver() -> Saver:
    return Saver(all_saveable_objects(), sharded=True, allow_empty=True)


def _add_asset(tensor: Tensor, files: dict[str, str]) -> None:
    """Enter an asset in the collection of the graph; files: name in the model -> the file, of those before it too."""
    value = constant_value(tensor)
    if value is None or tensor.dtype.base_dtype.name != "string":
        raise ValueError(f"Asset filepath tensor {tensor} must be a constant string")
    source = as_text(value[()])
    name = os.path.basename(source)
    number = 1
    while files.setdefault(name, source) != source:        # two files of one name, in different folders
        name, number = f"{os.path.basename(source)}_{number}", number + 1
    made = _meta_graph_pb2.AssetFileDef(filename=name)
    made.tensor_info.name = tensor.name
    entry = _any_pb2.Any(type_url=_ASSET_TYPE, value=made.SerializeToString())
    get_default_graph().add_to_collection(places.ASSETS_KEY, entry)


def _check_signatures(signatures: Mapping[str, Any]) -> None:
    for signature in signatures.values():
        for infos in (signature.inputs, signature.outputs):
            for info in infos.values():
                if info.WhichOneof("encoding") is None:
                    raise AssertionError(f"Invalid `tensor_info`: {info}. All TensorInfo protos used in the "
                                         "SignatureDefs must have one of the 'encoding' fields (e.g., name or "
                                         "coo_sparse) set.")
                if not info.dtype:
                    raise AssertionError(f"Invalid `tensor_info`: {info}. All TensorInfo protos used in the "
                                         "SignatureDefs must have the `dtype` field set.")


def simple_save(session: Any, export_dir: Any, inputs: Mapping[str, Any], outputs: Mapping[str, Any],
                legacy_init_op: Operation | None = None) -> None:
    """Write a SavedModel of the default graph for serving, with one signature for predictions. See SavedModelBuilder.

    inputs, outputs: tensors by role.

    >>> x = tf.placeholder(tf.float32, [], name="x")
    >>> w = tf.Variable(3.0)
    >>> sess.run(w.initializer)
    >>> tf.saved_model.simple_save(sess, "model", inputs={"x": x}, outputs={"y": w * x})
    >>> tf.saved_model.loader.maybe_saved_model_directory("model")
    True
    """
    builder = SavedModelBuilder(export_dir)
    builder.add_meta_graph_and_variables(
        session, [SERVING], {DEFAULT_SERVING_SIGNATURE_DEF_KEY: predict_signature_def(inputs, outputs)},
        get_default_graph().get_collection("asset_filepaths"), clear_devices=True,
        main_op=legacy_init_op if legacy_init_op is not None else tables_initializer())
    builder.save()


describe(globals(), CHECKPOINTS)
