"""GraphDefs with functions: each call replaced by the nodes of the function it calls."""
from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from tfnb.graph.formats import protos
from tfnb.graph.formats.lowering import LOWERED, lowered, lowers
from tfnb.graph.formats.nodes import copied, with_inputs
from tfnb.opdef import registry

_CALLS = frozenset(["PartitionedCall", "StatefulPartitionedCall"])
# Functions that call others twice double the nodes at each level: a short file can ask for any number.
_MOST_NODES = 100_000


def without_functions(graph_def: Any) -> list[Any]:
    """The nodes of a GraphDef, with those of the functions of its library in place of the nodes that call them.

    The nodes for a call named "c" are named "c/...", and an IdentityN (or NoOp) called "c" stands for the call itself.
    Functional control flow becomes TensorFlow 1's nodes. Raises ValueError for a function that calls itself, for one
    that is not there, and for more than 100,000 nodes.
    """
    nodes = list(graph_def.node)
    functions = {function.signature.name: function for function in graph_def.library.function}
    if not functions or not any(_called(node, functions) or lowers(node) for node in nodes):
        return nodes
    return list(_Inlining(functions).expand(nodes, ()))


def _called(node: Any, functions: Mapping[str, Any]) -> str | None:
    """The name of the function that a node calls, if it is a call."""
    if node.op in _CALLS:
        name: str = node.attr["f"].func.name
        if name not in functions:
            raise ValueError(f"node {node.name!r} calls the function {name!r}, which the library does not have")
        return name
    return node.op if node.op in functions else None


class _Inlining:
    """The expansion of the calls of one GraphDef."""

    def __init__(self, functions: Mapping[str, Any]) -> None:
        self.functions, self.count = functions, 0

    def expand(self, nodes: Iterable[Any], callers: tuple[str, ...]) -> Iterator[Any]:
        """Nodes of a graph with calls replaced; inputs are of the form "node:index"."""
        told: dict[str, str] = {}                   # output of a call -> the tensor that it is now
        expanded: list[Any] = []
        for node in nodes:
            flow = lowered(node, self.functions)
            if flow is not None:
                expanded += self.expand(flow, callers)
                continue
            name = _called(node, self.functions)
            if name is None:
                self._count_one()
                expanded.append(node)
                continue
            if name in callers:
                raise ValueError(f"the function {name!r} calls itself, by {' -> '.join((*callers, name))}")
            body, outputs = self._body(node, self.functions[name])
            expanded += self.expand(body, (*callers, name))
            told |= {_full(f"{node.name}:{k}"): text for k, text in enumerate(outputs)}
        for node in expanded:
            yield _renamed(node, told)

    def _count_one(self) -> None:
        self.count += 1
        if self.count > _MOST_NODES:
            raise ValueError(f"with its functions in place of calls, graph_def has more than {_MOST_NODES:,} nodes")

    def _body(self, call: Any, function: Any) -> tuple[list[Any], list[str]]:
        """The nodes for a call, and the tensors that are its outputs."""
        attrs = call.attr["f"].func.attr if call.op in _CALLS else call.attr
        data = [text for text in call.input if not text.startswith("^")]
        control = [text for text in call.input if text.startswith("^")]
        names = {f"{arg}:{k}": text for arg, k, text in _arguments(function.signature, attrs, data, call)}
        sizes: dict[str, dict[str, int]] = {}       # node -> output argument -> index of its first tensor
        body = [_bound(node, attrs) for node in function.node_def]
        for node in body:
            sizes[node.name] = self._starts(node)
        for node in body:
            inputs = [self._input(call.name, text, names, sizes) for text in node.input]
            node.name = f"{call.name}/{node.name}"
            del node.input[:]
            added = control if not call.attr[LOWERED].b or not _takes_data(inputs) else []
            node.input.extend([*inputs, *(c for c in added if c not in inputs)])
        outputs = [self._input(call.name, function.ret[arg.name], names, sizes)
                   for arg in function.signature.output_arg]
        ends = [f"^{call.name}/{name}" for name in function.control_ret.values()]
        body.append(_stand_in(call, outputs, function.signature, attrs, ends or control))
        return body, outputs

    def _starts(self, node: Any) -> dict[str, int]:
        name = _called(node, self.functions)
        if name is not None:
            attrs = node.attr["f"].func.attr if node.op in _CALLS else node.attr
            args = [(arg.name, _size(arg.number_attr, arg.type_list_attr, attrs))
                    for arg in self.functions[name].signature.output_arg]
            if node.op in _CALLS:                  # all are in one list called "output"
                return {"output": 0}
        else:
            spec = registry.find(node.op)
            args = [] if spec is None else [(arg.name, _size(arg.number, arg.type_list, node.attr))
                                            for arg in spec.outputs]
        starts, at = {}, 0
        for arg, size in args:
            starts[arg], at = at, at + size
        return starts

    def _input(self, call: str, text: str, names: Mapping[str, str], starts: Mapping[str, Mapping[str, int]]) -> str:
        """An input as function bodies name it ("argument", "node:output:index", "^node"), as the graph names it."""
        if text.startswith("^"):
            inner = text[1:]
            return f"^{call}/{inner}" if inner in starts else "^" + names[f"{inner}:0"].partition(":")[0]
        node, _, rest = text.partition(":")
        if node not in starts:
            found = names.get(f"{node}:{rest or 0}")
            if found is None:
                raise ValueError(f"in the function called by {call!r} there is no node or argument {text!r}")
            return found
        output, _, index = rest.partition(":")
        return _full(f"{call}/{node}:{starts[node].get(output, 0) + int(index or 0)}")


def _takes_data(inputs: Iterable[str]) -> bool:
    return any(not text.startswith("^") for text in inputs)


def _full(text: str) -> str:
    return text.removesuffix(":0")


def _size(number: str, type_list: str, attrs: Mapping[str, Any]) -> int:
    return attrs[number].i if number else len(attrs[type_list].list.type) if type_list else 1


def _arguments(signature: Any, attrs: Mapping[str, Any], inputs: list[str], call: Any
               ) -> Iterator[tuple[str, int, str]]:
    """(argument, index in it, the caller's tensor) for all inputs of a call."""
    rest = iter(inputs)
    for arg in signature.input_arg:
        for k in range(_size(arg.number_attr, arg.type_list_attr, attrs)):
            text = next(rest, None)
            if text is None:
                raise ValueError(f"node {call.name!r} calls the function {signature.name!r} with {len(inputs)} "
                                 "input(s), which are too few")
            yield arg.name, k, text


def _bound(node: Any, attrs: Mapping[str, Any]) -> Any:
    """A copy of a node of a function, with the attrs of the call in place of its placeholders for them."""
    made = copied(node)
    for key, value in node.attr.items():
        if value.WhichOneof("value") == "placeholder":
            if value.placeholder not in attrs:
                raise ValueError(f"node {node.name!r} of a function needs the attr {value.placeholder!r} of its call")
            made.attr[key].CopyFrom(attrs[value.placeholder])
    return made


def _stand_in(call: Any, outputs: list[str], signature: Any, attrs: Mapping[str, Any], control: Iterable[str]) -> Any:
    """The node that has the name of the call, gives what it gave, and is done when it was."""
    made = protos.node_def_pb2.NodeDef(name=call.name, op="IdentityN" if outputs else "NoOp", device=call.device,
                                       input=[*outputs, *control])
    for arg in signature.output_arg:
        made.attr["T"].list.type.append(attrs[arg.type_attr].type if arg.type_attr else arg.type)
    if not outputs:
        made.ClearField("attr")
    return made


def _renamed(node: Any, told: Mapping[str, str]) -> Any:
    """A node that takes its inputs from where they are now."""
    if not any(_full(text) in told for text in node.input):
        return node
    return with_inputs(node, [_followed(text, told) for text in node.input])


def _followed(text: str, told: Mapping[str, str]) -> str:
    """Resolve a tensor through all calls: one call may pass on what another gave."""
    while _full(text) in told:
        text = told[_full(text)]
    return text
