"""Finding the elements of a graph that names and objects stand for, and completing what a node is made from."""
from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any

from tfnb.core.dtypes import DType, as_dtype
from tfnb.core.stale import StaleTensorError
from tfnb.graph.parts.attrs import check_values, output_count
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.opdef import registry
from tfnb.opdef.op import Op
from tfnb.opdef.refused import hint
from tfnb.opdef.signature import Attr


def as_graph_element(graph: Any, obj: Any, allow_tensor: bool, allow_operation: bool) -> Any:
    """See Graph.as_graph_element."""
    if not (allow_tensor or allow_operation):
        raise ValueError("allow_tensor and allow_operation can't both be False.")
    words = " or ".join(word for word, allowed in (("Tensor", allow_tensor), ("Operation", allow_operation)) if allowed)
    if not isinstance(obj, (Tensor, Operation)):
        convert = getattr(obj, "_as_graph_element", None)
        if callable(convert):
            obj = convert()
        if isinstance(obj, bytes):
            obj = obj.decode()
    if isinstance(obj, str):
        return _by_name(graph, obj, allow_tensor, allow_operation, words)
    if isinstance(obj, Tensor) and allow_tensor:
        _check_member(graph, obj, obj.op)
        return obj
    if isinstance(obj, Operation) and allow_operation:
        _check_member(graph, obj, obj)
        return obj
    raise TypeError(f"Can not convert a {type(obj).__name__} into a {words}.")


def _check_member(graph: Any, obj: Any, op: Operation) -> None:
    if op._dead is not None:
        raise StaleTensorError(f"{op.name!r} ({op.type}): {op._dead}")
    if op.graph is not graph:
        raise ValueError(f"{'Tensor' if isinstance(obj, Tensor) else 'Operation'} {obj!r} is not an element of this "
                         f"graph. It is of another one, made at {op.made_at}")


def _by_name(graph: Any, name: str, allow_tensor: bool, allow_operation: bool, words: str) -> Any:
    form = 'Tensor names must be of the form "<op_name>:<output_index>".'
    if ":" in name and allow_tensor:
        op_name, _, index = name.partition(":")
        if not index.isdecimal():
            raise ValueError(f"The name {name!r} looks a like a Tensor name, but is not a valid one. {form}")
        op = graph._by_name.get(op_name)
        if op is None:
            raise KeyError(f"The name {name!r} refers to a Tensor which does not exist. The operation, {op_name!r}, "
                           f"does not exist in the graph.{_near(graph, op_name)}")
        if int(index) >= len(op.outputs):
            raise KeyError(f"The name {name!r} refers to a Tensor which does not exist. The operation, {op_name!r}, "
                           f"exists but only has {len(op.outputs)} outputs.")
        return op.outputs[int(index)]
    if ":" in name:
        raise ValueError(f"Name {name!r} appears to refer to a Tensor, not a {words}.")
    if not allow_operation:
        there = "refers to an Operation" if name in graph._by_name else "looks like an (invalid) Operation name"
        raise ValueError(f"The name {name!r} {there}, not a {words}. {form}")
    if name not in graph._by_name:
        raise KeyError(f"The name {name!r} refers to an Operation not in the graph.{_near(graph, name)}")
    return graph._by_name[name]


def _near(graph: Any, name: str) -> str:
    """The names that may have been meant. Large graphs are not searched: it would take seconds."""
    names = {op_name.lower(): op_name for op_name in graph._by_name} if len(graph._by_name) < 2000 else {}
    near = [repr(names[key]) for key in get_close_matches(name.lower(), names, n=3)]
    return f" Did you mean {' or '.join(near)}?" if near else ""


def as_operation(graph: Any, obj: Any) -> Operation:
    """The op of a tensor, op, variable, name, or of what has an `op`. Raises TypeError if it is none of these."""
    if not isinstance(obj, (Tensor, Operation, str)) and isinstance(getattr(obj, "op", None), Operation):
        obj = obj.op
    element = as_graph_element(graph, obj, True, True)
    return element.op if isinstance(element, Tensor) else element


def spec_of(op_type: str) -> Op:
    """The spec of a type of op. Raises RuntimeError, as TensorFlow, if there is none."""
    spec = registry.find(op_type)
    if spec is None:
        raise RuntimeError(f"Op type not registered {op_type!r}: tfnb has no op of that name.{hint(op_type)}")
    return spec


def complete_attrs(spec: Op, given: dict[str, Any], inputs: Sequence[Tensor], name: str) -> dict[str, Any]:
    """All attrs of a node: given ones, those that the inputs tell, and defaults.

    Raises TypeError if the inputs don't fit the signature, ValueError if an attr is missing or has a value that the op
    does not take.
    """
    attrs = {key: value for key, value in given.items() if key.startswith("_")}
    told = _from_inputs(spec, given, inputs, name)
    for attr in spec.attrs:
        if attr.name in given and attr.name in told and given[attr.name] != told[attr.name]:
            raise ValueError(f"Inconsistent values for attr {attr.name!r} of op {name!r} ({spec.name}): given "
                             f"{given[attr.name]!r}, the inputs have {told[attr.name]!r}")
        if attr.name in told:
            attrs[attr.name] = told[attr.name]
        elif attr.name in given:
            attrs[attr.name] = given[attr.name]
        elif attr.has_default:
            attrs[attr.name] = default_value(attr)
        else:
            raise ValueError(f"op {name!r} ({spec.name}) is missing its attr {attr.name!r} ({attr.type})")
    check_values(spec, attrs, name)
    return attrs


def default_value(attr: Attr) -> Any:
    """The default of an attr as a native value."""
    if attr.type == "type":
        return as_dtype(attr.default)
    if attr.type == "list(type)":
        return [as_dtype(t) for t in attr.default]
    return list(attr.default) if isinstance(attr.default, list) else attr.default


def _from_inputs(spec: Op, given: dict[str, Any], inputs: Sequence[Tensor], name: str) -> dict[str, Any]:
    attrs: dict[str, Any] = {}
    rest = list(inputs)
    names = {attr.name for attr in spec.attrs}
    for arg in spec.inputs:
        count = 1
        if arg.number:
            count = given[arg.number] if arg.number in given else len(rest) if len(spec.inputs) == 1 else -1
            attrs[arg.number] = count
        elif arg.type_list:
            count = len(given[arg.type_list]) if arg.type_list in given else len(rest) if len(spec.inputs) == 1 else -1
        if not 0 <= count <= len(rest):
            raise TypeError(f"op {name!r} ({spec.name}) takes {[a.name for a in spec.inputs]}, and got only "
                            f"{len(inputs)} input(s), or not the attrs that say how many there are")
        taken, rest = rest[:count], rest[count:]
        _check_types(spec, arg.name, arg.is_ref, taken, name)
        if arg.type_list:
            attrs[arg.type_list] = [t.dtype.base_dtype for t in taken]
        for t in taken if not arg.type_list else ():
            want = attrs.setdefault(arg.type, t.dtype.base_dtype) if arg.type in names else as_dtype(arg.type)
            if t.dtype.base_dtype is not want:
                raise TypeError(f"Input {arg.name!r} of {spec.name!r} Op {name!r} has type {t.dtype.base_dtype.name} "
                                f"that does not match expected type of {want.name}.")
    if rest:
        raise TypeError(f"op {name!r} ({spec.name}) takes {len(inputs) - len(rest)} input(s), but got {len(inputs)}")
    return attrs


def _check_types(spec: Op, argument: str, is_ref: bool, tensors: Sequence[Tensor], name: str) -> None:
    for t in tensors:
        if is_ref and not t.dtype._is_ref_dtype:
            raise TypeError(f"{spec.name!r} Op {name!r} requires that input {argument!r} be a mutable tensor (e.g.: a "
                            f"tf.Variable), got {t!r}")


def output_types(spec: Op, attrs: dict[str, Any]) -> list[DType]:
    """The dtype of each output, from the attrs."""
    types: list[DType] = []
    for arg in spec.outputs:
        if arg.type_list:
            types += attrs[arg.type_list]
            continue
        dtype = attrs[arg.type] if arg.type in attrs else as_dtype(arg.type)
        types += [dtype._as_ref if arg.is_ref else dtype] * output_count(spec, arg, attrs)
    return types
