"""Reads what is to be drawn: any graph becomes a tuple of OpInfo records, in creation order.

Targets: a tfnb Graph or Session, tensors and operations (what they depend on), the name of an op or of a scope, a
GraphDef, or a plain list of (name, type, inputs, control inputs, attrs, shape labels).
"""
from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from tfnb.graph.closure import closure
from tfnb.graph.formats.protos import native_attr
from tfnb.graph.stack import get_default_graph


@dataclass(frozen=True, slots=True)
class OpInfo:
    """One op as the drawing sees it. `inputs` are tensor names ("op:0"), `shapes` and `dtypes` one label an output."""

    name: str
    type: str
    inputs: tuple[str, ...] = ()
    control: tuple[str, ...] = ()
    attrs: Mapping[str, Any] = field(default_factory=dict)
    shapes: tuple[str, ...] = ()
    dtypes: tuple[str, ...] = ()
    origin: Any = None
    failed: bool = False            # it could not be made
    parameters: tuple[str, ...] = ()        # of a failed call: what its inputs are to it; ✗ ends what does not fit
    names: tuple[str, ...] = ()             # in Python, where the notebook does not know them


class UnknownTarget(ValueError):
    """Raised where what is asked to be drawn is neither an op nor a scope of the graph."""


def op_of(tensor_name: str) -> str:
    """The op of a tensor name: "a/b:0" -> "a/b"."""
    head, colon, tail = tensor_name.rpartition(":")
    return head if colon and tail.isdigit() else tensor_name


def shape_label(shape: Any) -> str:
    """A static shape in few letters: () -> "scalar", (None, 10) -> "?×10", None (unknown rank) -> "any shape"."""
    if isinstance(shape, str):
        return shape
    if shape is None:
        return "any shape"
    sizes = [getattr(size, "value", size) for size in shape]
    return "×".join("?" if size is None or size == -1 else str(size) for size in sizes) or "scalar"


def read(target: Any = None) -> tuple[OpInfo, ...]:
    """The ops to draw for `target` (see the module). Raises UnknownTarget (a ValueError) or TypeError."""
    if target is None:
        return read_graph(get_default_graph())
    if isinstance(target, str):
        return select(read_graph(get_default_graph()), target)
    if hasattr(target, "get_operations"):
        return read_graph(target)
    if hasattr(target, "node") and hasattr(target, "versions"):
        return tuple(map(_from_node_def, target.node))
    if hasattr(target, "run") and hasattr(getattr(target, "graph", None), "get_operations") \
            and not hasattr(target, "node_def"):
        return read_graph(target.graph)
    if _is_graph_element(target):
        return upstream(read_graph(target.graph), [_op_name(target)])
    if isinstance(target, Sequence) and not isinstance(target, (bytes, bytearray)):
        return _read_sequence(target)
    raise TypeError(f"graph_view draws a Graph, a Session, tensors, operations, a name, a GraphDef or a list of ops; "
                    f"got {type(target).__name__}")


def _read_sequence(items: Sequence[Any]) -> tuple[OpInfo, ...]:
    if items and all(isinstance(item, str) or _is_graph_element(item) for item in items):
        infos = _infos_of(items)
        return upstream(infos, _names(infos, items))
    return tuple(item if isinstance(item, OpInfo) else _from_row(item) for item in items)


def _infos_of(items: Sequence[Any]) -> tuple[OpInfo, ...]:
    """The ops of the graph that tensors and ops are of, of the default one for names alone.

    Raises ValueError if they are of several graphs.
    """
    graphs = {id(item.graph): item.graph for item in items if not isinstance(item, str)}
    if len(graphs) > 1:
        raise ValueError("expected tensors and ops of one graph, got some of several graphs")
    return read_graph(next(iter(graphs.values()), None) or get_default_graph())


def _is_graph_element(item: Any) -> bool:
    return hasattr(item, "graph") and (hasattr(item, "op") or hasattr(item, "node_def"))


def _op_name(item: Any) -> str:
    return str(getattr(item, "op", item).name)


def _from_row(row: Sequence[Any]) -> OpInfo:
    """A row of the plain form; everything after name and type may be left out."""
    if isinstance(row, str) or len(row) < 2:
        raise TypeError(f"a plain op is (name, type, inputs, control inputs, attrs, shape labels); got {row!r}")
    name, kind, *rest = row
    defaults: list[Any] = [(), (), {}, ()]
    inputs, control, attrs, shapes = [*rest, *defaults[len(rest):]]
    return OpInfo(name, kind, tuple(_as_tensor_name(i) for i in inputs), tuple(control), attrs,
                  tuple(map(shape_label, shapes)), (str(attrs["dtype"]),) * len(shapes) if "dtype" in attrs else ())


def _as_tensor_name(name: str) -> str:
    return name if op_of(name) != name else f"{name}:0"


def read_graph(graph: Any) -> tuple[OpInfo, ...]:
    """Every op of a tfnb Graph (or of anything with `get_operations`, as TensorFlow's own)."""
    return tuple(map(from_op, graph.get_operations()))


def from_op(op: Any) -> OpInfo:
    """One op of tfnb or TensorFlow."""
    return OpInfo(op.name, op.type, tuple([f"{t.op.name}:{t.value_index}" for t in op.inputs]),
                  tuple([c.name for c in op.control_inputs]), getattr(op, "attrs", None) or {},
                  tuple([shape_label(_static(t)) for t in op.outputs]),
                  tuple([t.dtype.name for t in op.outputs]), op)


def _static(tensor: Any) -> Any:
    if hasattr(tensor, "static"):
        return tensor.static
    return None if tensor.shape.ndims is None else tensor.shape.as_list()


def _from_node_def(node: Any) -> OpInfo:
    """A NodeDef: shapes come from `_output_shapes` where the exporter wrote them."""
    shapes: tuple[str, ...] = ()
    if "_output_shapes" in node.attr:
        listed = node.attr["_output_shapes"].list.shape
        shapes = tuple(shape_label(None if s.unknown_rank else [d.size for d in s.dim]) for s in listed)
    data = tuple(_as_tensor_name(i) for i in node.input if not i.startswith("^"))
    attrs = {key: _native(value) for key, value in node.attr.items() if key != "_output_shapes"}
    dtypes = (attrs["dtype"].name,) * len(shapes) if hasattr(attrs.get("dtype"), "name") else ()
    return OpInfo(node.name, node.op, data, tuple(i[1:] for i in node.input if i.startswith("^")), attrs, shapes,
                  dtypes, node)


def _native(value: Any) -> Any:
    """An attr of a NodeDef; what has no native form (a function) as the text of its message."""
    try:
        return native_attr(value)
    except ValueError:
        return str(value)


def upstream(infos: Iterable[OpInfo], names: Iterable[str]) -> tuple[OpInfo, ...]:
    """The ops that `names` depend on (data and control), themselves included, in the order of `infos`.

    Gradients bring what they differentiate: the loss, although a step of training needs no value of it.
    """
    by_name = {info.name: info for info in infos}

    def sources(name: str) -> Iterator[str]:
        info = by_name[name]
        original = getattr(info.origin, "_original_op", None)
        of = (original.name,) if original is not None else ()
        return (source for source in (*map(op_of, info.inputs), *info.control, *of) if source in by_name)

    wanted = closure((name for name in names if name in by_name), sources)
    return tuple(info for name, info in by_name.items() if name in wanted)


def near(target: Any, up: int, down: int) -> tuple[OpInfo, ...]:
    """The ops of `target` (a scope, an op, tensors), `up` steps of what they take, and `down` of what takes theirs.

    Raises UnknownTarget for a name that is not there, TypeError for a whole graph.
    """
    items = [*target] if isinstance(target, (list, tuple)) else [target]
    if not items or not all(isinstance(item, str) or _is_graph_element(item) for item in items):
        raise TypeError("up and down are counted from an op, a tensor or a scope: name one")
    infos = _infos_of(items)
    start = _names(infos, items)
    takes, gives = links(infos, "inputs"), links(infos, "outputs")
    found = _within(start, takes, up) | _within(start, gives, down)
    reads = {name for name in found for source in takes.get(name, ()) if name.endswith("/read")}
    found |= {source for name in reads for source in takes[name]}          # a variable is one node
    return tuple(info for info in infos if info.name in found)


def _names(infos: tuple[OpInfo, ...], items: Iterable[Any]) -> set[str]:
    """The names of the ops that names of ops and scopes, tensors and operations represent. Raises UnknownTarget."""
    return {name for item in items for name in (_called(infos, item) if isinstance(item, str) else [_op_name(item)])}


def _called(infos: tuple[OpInfo, ...], name: str) -> set[str]:
    """The op of that name, else all ops of that scope. Raises UnknownTarget."""
    prefix = name.rstrip("/") + "/"
    found = {info.name for info in infos if info.name == op_of(name)} or \
        {info.name for info in infos if info.name.startswith(prefix)}
    return found or {info.name for info in select(infos, name)}         # which raises, with the nearest names


def elements(target: Any) -> list[str]:
    """The names of the ops of a tensor, an operation, or a list of them; none for anything else."""
    items = [target] if _is_graph_element(target) else list(target) if isinstance(target, (list, tuple)) else []
    return [_op_name(item) for item in items] if all(map(_is_graph_element, items)) else []


def links(infos: Iterable[OpInfo], direction: str) -> dict[str, list[str]]:
    """Op -> what it takes values from or waits for ("inputs"), or what does so with it ("outputs")."""
    found: dict[str, list[str]] = {}
    for info in infos:
        for source in (*map(op_of, info.inputs), *info.control):
            here, there = (info.name, source) if direction == "inputs" else (source, info.name)
            found.setdefault(here, []).append(there)
    return found


def _within(start: set[str], nexts: Mapping[str, list[str]], steps: int) -> set[str]:
    found, edge = set(start), set(start)
    for _ in range(steps):
        edge = {name for each in edge for name in nexts.get(each, ())} - found
        found |= edge
    return found


def select(infos: tuple[OpInfo, ...], name: str) -> tuple[OpInfo, ...]:
    """The part that `name` stands for: a scope (with the ops next to it), else an op or tensor and what it depends on.

    Raises UnknownTarget with the nearest names.
    """
    prefix = name.rstrip("/") + "/"
    names = {info.name for info in infos}
    if any(n.startswith(prefix) for n in names) and (name.endswith("/") or name not in names):
        return _scope(infos, prefix)
    if op_of(name) in names:
        return upstream(infos, [op_of(name)])
    scopes = {n[:i] for n in names for i, c in enumerate(n) if c == "/"}
    close = get_close_matches(name, sorted(names | scopes), n=3)
    hint = f"; nearest: {', '.join(close)}" if close else ""
    raise UnknownTarget(f"the graph has no op or scope {name!r}{hint}")


def _scope(infos: tuple[OpInfo, ...], prefix: str) -> tuple[OpInfo, ...]:
    inside = {info.name for info in infos if info.name.startswith(prefix) or info.name == prefix[:-1]}
    near = set(inside)
    for info in infos:
        sources = {*map(op_of, info.inputs), *info.control}
        if info.name in inside:
            near |= sources
        elif sources & inside:
            near.add(info.name)
    return tuple(info for info in infos if info.name in near)
