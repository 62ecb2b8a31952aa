"""Meta graphs: export and import of a graph with its collections and saver, as a MetaGraphDef or a file."""
from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from tfnb.core.arguments import CHECKPOINTS, describe
from tfnb.core.errors import DataLossError
from tfnb.core.files.os_errors import os_errors
from tfnb.core.files.paths import local, make_folders, open_regular
from tfnb.core.lazy import lazy_module
from tfnb.core.version import GIT_VERSION, VERSION
from tfnb.graph.formats import protos
from tfnb.graph.formats.export import strip_defaults
from tfnb.graph.formats.proto_functions import proto_functions, register_proto_function
from tfnb.graph.graph import Graph
from tfnb.graph.importing import import_graph_def
from tfnb.graph.parts.keys import GraphKeys
from tfnb.graph.stack import get_default_graph
from tfnb.opdef import registry
from tfnb.proto.nearby import nearby
from tfnb.variables.variable import Variable

_meta_graph_pb2 = lazy_module("tfnb.proto.meta_graph_pb2")
_graph_pb2 = lazy_module("tfnb.proto.graph_pb2")
_variable_pb2 = lazy_module("tfnb.proto.variable_pb2")
_text_format = lazy_module("google.protobuf.text_format")
_files = lazy_module("tfnb.proto.files")

log = logging.getLogger(__name__)
UNBOUND = "$unbound_inputs_"                       # before the name of an input from outside the exported scope


def _variable_def(variable: Variable, export_scope: str | None = None) -> Any:
    """Return the VariableDef that the class of the variable makes."""
    return variable.to_proto(export_scope)


for _key in GraphKeys._VARIABLE_COLLECTIONS:
    register_proto_function(_key, lambda: _variable_pb2.VariableDef, _variable_def, Variable.from_proto)


def write_proto(message: Any, path: str, as_text: bool) -> None:
    """Write a message atomically, as text or binary."""
    _files.write_atomically(path, _text_format.MessageToString(message).encode() if as_text
                            else message.SerializeToString())


def write_graph(graph_or_graph_def: Any, logdir: Any, name: str, as_text: bool = True) -> str:
    """Write a graph, or a GraphDef, to the file `name` in the directory `logdir`, which is made; return its path.

    >>> x = tf.constant(1, name="x")
    >>> path = tf.train.write_graph(sess.graph, ".", "graph.pbtxt")
    >>> tf.gfile.Exists("graph.pbtxt")
    True
    """
    message = graph_or_graph_def.as_graph_def() if isinstance(graph_or_graph_def, Graph) else graph_or_graph_def
    folder = os.fsdecode(logdir)
    make_folders(folder)
    path = os.path.join(folder, name)
    write_proto(message, path, as_text)
    return path


# ---- export ----------------------------------------------------------------------------------------------------------

def export_meta_graph(filename: Any = None, meta_info_def: Any = None, graph_def: Any = None, saver_def: Any = None,
                      collection_list: Sequence[Any] | None = None, as_text: bool = False, graph: Graph | None = None,
                      export_scope: str | None = None, clear_devices: bool = False,
                      clear_extraneous_savers: bool = False, strip_default_attrs: bool = False,
                      save_debug_info: bool = False, unbound_inputs_col_name: str = "unbound_inputs",
                      **kwargs: Any) -> Any:
    """Return the MetaGraphDef of `graph` (default: the default graph); also write it to `filename`, if given.

    graph_def: instead of the graph's own; collection_list: the collections to take (all by default); export_scope:
    only nodes under it, with names relative to it: inputs from outside are listed in the collection
    `unbound_inputs_col_name`. clear_devices: without devices; clear_extraneous_savers: without the ops of other
    savers; strip_default_attrs: without attrs that have their defaults; save_debug_info: accepted.

    Collections of what has no message (objects of the user) are left out. Raises ValueError for more than 2 GB.

    >>> x = tf.constant(1, name="x")
    >>> meta = tf.train.export_meta_graph("model.meta")
    >>> [node.name for node in meta.graph_def.node]
    ['x']
    """
    graph = graph or get_default_graph()
    made = _meta_graph_pb2.MetaGraphDef()
    source = graph_def if graph_def is not None else graph.as_graph_def()
    prefix = f"{export_scope.rstrip('/')}/" if export_scope else ""
    dropped = _other_savers(source.node, saver_def) if clear_extraneous_savers else ()
    unbound = _copy_nodes(source, made.graph_def, prefix, clear_devices, dropped)
    _describe(made, meta_info_def, strip_default_attrs)
    if saver_def is not None and not prefix:
        made.saver_def.MergeFromString(saver_def.SerializeToString())
    keys = graph.get_all_collection_keys() if collection_list is None else collection_list
    for key in sorted((k for k in keys if isinstance(k, str)), key=str):
        if not (clear_extraneous_savers and key == GraphKeys.SAVERS):
            _add_collection(made, key, graph.get_collection(key), export_scope, dropped)
    if unbound:
        made.collection_def[unbound_inputs_col_name].bytes_list.value.extend(name.encode() for name in unbound)
    if filename:
        path = os.fsdecode(filename)
        make_folders(os.path.dirname(path))
        write_proto(made, path, as_text)
    return made


def _copy_nodes(source: Any, target: Any, prefix: str, clear_devices: bool,
                dropped: tuple[str, ...]) -> list[str]:
    """Copy the nodes under a scope, without its prefix; return the placeholder names of inputs from outside."""
    target.versions.MergeFromString(source.versions.SerializeToString())
    if source.HasField("library"):
        target.library.MergeFromString(source.library.SerializeToString())
    unbound: dict[str, None] = {}
    for node in source.node:
        if not node.name.startswith(prefix) or node.name.startswith(dropped):
            continue
        copy = target.node.add()
        copy.MergeFromString(node.SerializeToString())
        copy.name = node.name.removeprefix(prefix)
        if clear_devices:
            copy.device = ""
        if prefix:
            copy.ClearField("input")
            copy.input.extend(_inner(name, prefix, unbound) for name in node.input)
            _strip_groups(copy, prefix)
    return list(unbound)


def _inner(name: str, prefix: str, unbound: dict[str, None]) -> str:
    caret, bare = ("^", name[1:]) if name.startswith("^") else ("", name)
    if bare.startswith(prefix):
        return caret + bare.removeprefix(prefix)
    unbound[UNBOUND + bare] = None
    return caret + UNBOUND + bare


def _strip_groups(node: Any, prefix: str) -> None:
    """Return a node's colocation groups relative to the scope, without those outside of it."""
    if "_class" in node.attr:
        start = f"loc:@{prefix}".encode()
        groups = [b"loc:@" + g.removeprefix(start) for g in node.attr["_class"].list.s if g.startswith(start)]
        del node.attr["_class"]
        if groups:
            node.attr["_class"].list.s.extend(groups)


def _other_savers(nodes: Iterable[Any], saver_def: Any) -> tuple[str, ...]:
    """Return the name scopes of savers in a graph, with "/", but for those of the saver that is exported."""
    scopes = {node.name.rpartition("/")[0] for node in nodes
              if (spec := registry.find(node.op)) is not None and spec.role == "saver"}
    if saver_def is not None:
        scopes -= {name.rpartition("/")[0] for name in (saver_def.save_tensor_name, saver_def.restore_op_name)}
    return tuple(f"{scope}/" for scope in sorted(scopes - {""}))


def _describe(made: Any, meta_info_def: Any, strip: bool) -> None:
    """Set the meta info: the writer's version, and the signatures of the ops."""
    info = made.meta_info_def
    if meta_info_def is not None:
        info.MergeFromString(meta_info_def.SerializeToString())
    info.tensorflow_version, info.tensorflow_git_version = VERSION, GIT_VERSION
    specs = {node.op: spec for node in made.graph_def.node if (spec := registry.find(node.op)) is not None}
    if not info.HasField("stripped_op_list"):
        for name in sorted(specs):
            signature = protos.op_def(specs[name])
            signature.ClearField("summary")
            info.stripped_op_list.op.append(signature)
    if strip:
        info.stripped_default_attrs = True
        strip_defaults(made.graph_def)


def _kind(value: Any) -> str:
    if isinstance(value, (str, bytes)):
        return "bytes_list"
    return "int64_list" if isinstance(value, int) else "float_list" if isinstance(value, float) else "node_list"


def _add_collection(made: Any, key: str, values: Sequence[Any], scope: str | None,
                    dropped: tuple[str, ...]) -> None:
    """Add a collection, without nodes of the scopes `dropped`; one with items that no message holds is left out."""
    if not values:
        return
    functions = proto_functions(key)
    entry = _meta_graph_pb2.CollectionDef()
    prefix = f"{scope.rstrip('/')}/" if scope else ""
    try:
        if functions is not None:
            entry.bytes_list.SetInParent()
            messages = [functions.to_proto(value, export_scope=scope) for value in values]
            entry.bytes_list.value.extend(m.SerializeToString() for m in messages if m is not None)
        elif hasattr(values[0], "type_url"):       # messages of any kind, wrapped: as they are
            entry.any_list.value.extend(values)
        elif _kind(values[0]) == "node_list":
            entry.node_list.value.extend(v.name.removeprefix(prefix) for v in values
                                         if v.name.startswith(prefix) and not v.name.startswith(dropped))
        elif _kind(values[0]) == "bytes_list":
            entry.bytes_list.value.extend(v.encode() if isinstance(v, str) else v for v in values)
        else:
            getattr(entry, _kind(values[0])).value.extend(values)
    except (TypeError, AttributeError, ValueError) as error:
        log.warning("the collection %r is not exported: its entries have no message (%s)", key, error)
        return
    made.collection_def[key].CopyFrom(entry)


# ---- import ----------------------------------------------------------------------------------------------------------

def read_meta_graph_file(filename: Any) -> Any:
    """Return the MetaGraphDef in a file, binary or text. Raises OSError if it is not there, or holds something else."""
    path = local(filename)
    if not os.path.exists(path):
        meta = f"; did you mean {f'{path}.meta'!r}?" if os.path.exists(f"{path}.meta") else nearby(path)
        raise OSError(f"File does not exist. Received: {path}.{meta}")
    with open_regular(path) as file, os_errors(path):
        data = file.read()
    try:
        found = _meta_graph_pb2.MetaGraphDef.FromString(data)
        if found.HasField("graph_def") or not data:
            return found
    except Exception:                              # the protobuf runtime's own class: then it may be text
        pass
    try:
        return _text_format.Parse(data.decode(), _meta_graph_pb2.MetaGraphDef())
    except Exception as error:
        raise OSError(f"Cannot parse file {path} as a MetaGraphDef, binary or text: {error}") from None


def import_scoped_meta_graph(meta_graph_or_file: Any, clear_devices: bool = False, graph: Graph | None = None,
                             import_scope: str | None = None, input_map: Any = None,
                             unbound_inputs_col_name: str = "unbound_inputs",
                             restore_collections_predicate: Callable[[str], bool] = lambda key: True,
                             return_elements: Sequence[str] | None = None) -> tuple[Any, str]:
    """Import a meta graph (see saver.import_meta_graph); return it and the scope of the import ("" for none).

    restore_collections_predicate: fn(name) -> whether to restore a collection. Raises ValueError for unbound inputs
    missing in `input_map`.
    """
    found = meta_graph_or_file
    if isinstance(found, (str, bytes, os.PathLike)):
        found = read_meta_graph_file(found)
    elif type(found).__name__ != "MetaGraphDef":
        raise TypeError(f"Expected a MetaGraphDef or the name of a file, got {found!r}")
    elif not isinstance(found, _meta_graph_pb2.MetaGraphDef):
        found = _meta_graph_pb2.MetaGraphDef.FromString(found.SerializeToString())
    missing = {name.decode() for name in found.collection_def[unbound_inputs_col_name].bytes_list.value} \
        - set(input_map or ()) if unbound_inputs_col_name in found.collection_def else set()
    if missing:
        raise ValueError(f"Graph contains unbound inputs: {', '.join(sorted(missing))}. Must provide these inputs "
                         "through input_map.")
    nodes = _graph_pb2.GraphDef()
    nodes.CopyFrom(found.graph_def)
    if clear_devices:
        for node in nodes.node:
            node.device = ""
    graph = graph or get_default_graph()
    with graph.as_default():
        # Without import_scope it is the scope around, as "scope/".
        scope = graph.unique_name(import_scope or "", mark_as_used=False)
        import_graph_def(nodes, input_map=input_map, name=import_scope or scope, return_elements=return_elements)
        scope = scope.rstrip("/")
        _restore_collections(graph, found, scope, unbound_inputs_col_name, restore_collections_predicate)
    return found, scope


def _restore_collections(graph: Graph, found: Any, scope: str, unbound: str, wanted: Callable[[str], bool]) -> None:
    known: dict[bytes, Any] = {}                   # a variable in several collections is one object
    start = f"{scope}/" if scope else ""
    for key, entry in sorted(found.collection_def.items()):
        kind = entry.WhichOneof("kind")
        if key == unbound or kind is None or not wanted(key):
            continue
        values = getattr(entry, kind).value
        functions = proto_functions(key)
        if functions is not None and kind == "bytes_list":
            for data in values:
                value = known.get(data) if key in GraphKeys._VARIABLE_COLLECTIONS else None
                if value is None:
                    message = _message(key, functions.proto_type(), data)
                    value = known[data] = functions.from_proto(message, import_scope=scope or None)
                graph.add_to_collection(key, value)
        elif kind == "node_list":
            for name in values:
                graph.add_to_collection(key, graph.as_graph_element(start + name))
        elif kind == "bytes_list":
            graph.get_collection_ref(key).extend(start + _text(v) if start else _text(v) for v in values)
        else:
            graph.get_collection_ref(key).extend(values)


def _message(key: str, kind: Any, data: bytes) -> Any:
    try:
        return kind.FromString(data)
    except Exception as error:                     # the protobuf runtime's own class
        raise DataLossError(None, None, f"the collection {key!r} of the meta graph has an entry that is no "
                            f"{kind.DESCRIPTOR.name}: {error}") from None


def _text(value: bytes) -> Any:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value


describe(globals(), CHECKPOINTS)
