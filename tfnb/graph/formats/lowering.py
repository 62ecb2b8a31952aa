"""Functional control flow (If, While, Case and their stateless forms) lowered to Switch, Merge, Enter, Exit.

TensorFlow 2 writes such nodes; their branches and bodies are functions of the library, and become calls here, which
`inlining.py` replaces by nodes.
"""
from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from tfnb.core.dtypes import as_dtype
from tfnb.graph.formats import protos
from tfnb.graph.formats.nodes import node_name
from tfnb.opdef import kinds, registry

LOWERED = "_lowered"            # attr of calls that are branches or bodies: only their sources need control inputs
_BOOL = as_dtype("bool").as_datatype_enum
_PURE = (kinds.Read, kinds.Variable)


def lowers(node: Any) -> bool:
    """Return whether a node is one of functional control flow."""
    return node.op in _RULES


def lowered(node: Any, functions: Mapping[str, Any]) -> list[Any] | None:
    """Return the nodes that stand for a node of functional control flow; None for any other node."""
    lower = _RULES.get(node.op)
    return None if lower is None else lower(_Nodes(node, functions))


class _Nodes:
    """The nodes made for one node `source`, whose names begin with its own."""

    def __init__(self, source: Any, functions: Mapping[str, Any]) -> None:
        self.source, self.functions = source, functions
        self.made: list[Any] = []
        self.data = [text for text in source.input if not text.startswith("^")]
        self.control = [text for text in source.input if text.startswith("^")]

    def types(self, attr: str) -> list[int]:
        """Return the dtypes of a list attr, as numbers."""
        return list(self.source.attr[attr].list.type)

    def add(self, name: str, op: str, inputs: Iterable[str], dtype: int | None = None, **attrs: Any) -> str:
        """Add a node below the source's name, and return its full name."""
        node = protos.node_def_pb2.NodeDef(name=f"{self.source.name}/{name}", op=op, input=inputs,
                                           device=self.source.device)
        if dtype is not None:
            node.attr["T"].type = dtype
        for key, (field, value) in attrs.items():
            setattr(node.attr[key], field, value)
        self.made.append(node)
        full: str = node.name
        return full

    def call(self, name: str, function: Any, inputs: Sequence[str], pivot: str) -> tuple[str, bool]:
        """Add a call of a function that runs where `pivot` does; return its name, and whether it has effects."""
        full = self.add(name, "PartitionedCall", [*inputs, f"^{pivot}"])
        self.made[-1].attr["f"].func.CopyFrom(function)
        self.made[-1].attr[LOWERED].b = True
        return full, self._has_effects(function.name)

    def _has_effects(self, name: str) -> bool:
        """Return whether a function runs ops for other reasons than its outputs."""
        function = self.functions.get(name)
        if function is None or not function.control_ret:
            return False
        ends = set(function.control_ret.values())
        return any(node.name in ends and not isinstance(registry.find(node.op), _PURE) for node in function.node_def)

    def truth(self, text: str, dtype: int, name: str = "pred") -> str:
        """Return a bool scalar for a condition of any dtype."""
        return text if dtype == _BOOL else self.add(name, "ToBool", [text], dtype)

    def merge(self, name: str, inputs: Sequence[str], dtype: int, index: int | None = None) -> str:
        """Add a Merge, with the static shape that the source states for its output `index`."""
        full = self.add(name, "Merge", inputs, dtype, N=("i", len(inputs)))
        shapes = self.source.attr["output_shapes"].list.shape
        if index is not None and index < len(shapes):
            stated = self.made[-1].attr["_output_shapes"].list.shape
            stated.add().CopyFrom(shapes[index])
            stated.add()
        return full

    def after(self, name: str, text: str, dtype: int, call: str, effects: bool) -> str:
        """Return an output of a call that waits for the call's effects."""
        return self.add(name, "Identity", [text, f"^{call}"], dtype) if effects else text

    def end(self, outputs: Sequence[str], types: Sequence[int], control: Sequence[str]) -> list[Any]:
        """Add the node that has the name of the source and its outputs; return all nodes."""
        node = protos.node_def_pb2.NodeDef(name=self.source.name, op="IdentityN" if outputs else "NoOp",
                                           device=self.source.device, input=[*outputs, *control])
        if outputs:
            node.attr["T"].list.type.extend(types)
        return [*self.made, node]


def _branches(nodes: _Nodes, index: Any, functions: Sequence[Any]) -> list[Any]:
    """Lower a choice between functions. index: fn(k) -> the predicate of function k among those that are left."""
    types, results = nodes.types("Tin"), nodes.types("Tout")
    rest, left, waits = nodes.data[1:], "", nodes.control
    taken = []
    for k, function in enumerate(functions):
        last = k == len(functions) - 1
        values, pivot = rest, left
        if not last:
            pred = index(k)
            both = nodes.add(f"switch_{k}", "Switch", [f"{left}:0" if left else pred, pred, *waits], _BOOL)
            pivot = nodes.add(f"pivot_{k}", "Identity", [f"{both}:1"], _BOOL)
            left = nodes.add(f"rest_{k}", "Identity", [f"{both}:0"], _BOOL)
            switches = [nodes.add(f"Switch_{k}_{i}", "Switch", [x, pred, *waits], t)
                        for i, (x, t) in enumerate(zip(rest, types, strict=True))]
            values, rest, waits = [f"{s}:1" for s in switches], [f"{s}:0" for s in switches], []
        call, effects = nodes.call(f"branch_{k}", function, values, pivot)
        outputs = [nodes.after(f"output_{k}_{i}", f"{call}:{i}", t, call, effects) for i, t in enumerate(results)]
        taken.append((outputs, nodes.add(f"done_{k}", "Identity", [pivot, f"^{call}"], _BOOL)))
    outputs, done = taken.pop()
    for k in reversed(range(len(taken))):
        others, other = taken[k]
        outputs = [nodes.merge(f"Merge_{k}_{i}", [a, b], t, i)
                   for i, (a, b, t) in enumerate(zip(outputs, others, results, strict=True))]
        done = nodes.merge(f"done_with_{k}", [done, other], _BOOL)
    return nodes.end(outputs, results, [f"^{done}"])


def _if(nodes: _Nodes) -> list[Any]:
    attrs = nodes.source.attr
    pred = nodes.truth(nodes.data[0], attrs["Tcond"].type)
    return _branches(nodes, lambda k: pred, [attrs["then_branch"].func, attrs["else_branch"].func])


def _case(nodes: _Nodes) -> list[Any]:
    functions = list(nodes.source.attr["branches"].list.func)
    index, number = nodes.data[0], as_dtype("int32").as_datatype_enum
    if len(functions) == 1:                        # there is nothing to choose
        call = protos.node_def_pb2.NodeDef(name=nodes.source.name, op="PartitionedCall", device=nodes.source.device,
                                           input=[*nodes.data[1:], *nodes.control])
        call.attr["f"].func.CopyFrom(functions[0])
        return [call]

    def chosen(k: int) -> str:
        value = nodes.add(f"number_{k}", "Const", [f"^{node_name(index)}"])
        nodes.made[-1].attr["dtype"].type = number
        nodes.made[-1].attr["value"].tensor.CopyFrom(protos.make_tensor_proto(np.array(k, np.int32)))
        return nodes.add(f"is_{k}", "Equal", [index, value], number)
    return _branches(nodes, chosen, functions)


def _while(nodes: _Nodes) -> list[Any]:
    """Lower a loop. What its body returns as it was given is an invariant: it enters once, as a constant."""
    attrs, types, texts = nodes.source.attr, nodes.types("T"), nodes.data
    if not texts:
        raise ValueError(f"the loop {nodes.source.name!r} has no variables, so that it can't end")
    kept = _invariants(nodes.functions.get(attrs["body"].func.name))
    kept -= {0} if len(kept) == len(texts) else set()
    frame: dict[str, Any] = {"frame_name": ("s", nodes.source.name.encode()),
                             "parallel_iterations": ("i", attrs["parallel_iterations"].i or 10)}
    heads = [nodes.add(f"Enter_{i}", "Enter", [x, *nodes.control], t, is_constant=("b", i in kept), **frame)
             for i, (x, t) in enumerate(zip(texts, types, strict=True))]
    varying = [i for i in range(len(texts)) if i not in kept]
    for i in varying:
        heads[i] = nodes.merge(f"Merge_{i}", [heads[i], f"{nodes.source.name}/NextIteration_{i}"], types[i], i)
    cond, _ = nodes.call("cond", attrs["cond"].func, heads, heads[varying[0]])
    truth = nodes.truth(f"{cond}:0", _condition_type(nodes.functions.get(attrs["cond"].func.name)))
    goes_on = nodes.add("LoopCond", "LoopCond", [truth])
    inner, exits = list(heads), list(texts)
    for i in varying:
        switch = nodes.add(f"Switch_{i}", "Switch", [heads[i], goes_on], types[i])
        inner[i], exits[i] = f"{switch}:1", nodes.add(f"Exit_{i}", "Exit", [f"{switch}:0"], types[i])
    pivot = nodes.add("pivot", "Identity", [inner[varying[0]]], types[varying[0]])
    body, effects = nodes.call("body", attrs["body"].func, inner, pivot)
    for i in varying:
        nodes.add(f"NextIteration_{i}", "NextIteration", [f"{body}:{i}", *[f"^{body}"] * effects], types[i])
    return nodes.end(exits, types, [])


def _condition_type(function: Any) -> int:
    """Return the dtype of a condition's output."""
    return _BOOL if function is None else int(function.signature.output_arg[0].type)


def _invariants(function: Any) -> set[int]:
    """Return the indices of the arguments that a function returns as they are, in the same places."""
    if function is None:
        return set()
    nodes = {node.name: node for node in function.node_def}
    found = set()
    for i, (given, back) in enumerate(zip(function.signature.input_arg, function.signature.output_arg, strict=False)):
        text = function.ret[back.name]
        while node_name(text) in nodes and getattr(registry.find(nodes[node_name(text)].op), "same", False):
            text = nodes[node_name(text)].input[0]
        if text == given.name:
            found.add(i)
    return found


_RULES = {"If": _if, "StatelessIf": _if, "Case": _case, "StatelessCase": _case, "While": _while,
          "StatelessWhile": _while}
