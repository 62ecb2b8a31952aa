"""Op constructors: conversion of inputs, inference of type attrs, defaults and checks on the way to a graph node.

Names and errors follow TensorFlow's `op_def_library`: an input that is not a tensor yet becomes a constant called
after its argument inside the scope of the op ("Tanh/x").
"""
from __future__ import annotations

import inspect
from collections import namedtuple
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import cache
from typing import Any

from tfnb.core import dtypes
from tfnb.core.dtypes import DType
from tfnb.core.shape import as_shape
from tfnb.graph.convert import beyond_int32, internal_convert_to_tensor
from tfnb.graph.parts.attrs import output_count
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.parts.python_names import told_operands
from tfnb.graph.stack import get_default_graph, get_graph_from_inputs, graph_of
from tfnb.kernels.scalar.definition import read
from tfnb.opdef.contract import documentation
from tfnb.opdef.op import Op
from tfnb.opdef.signature import Arg, Attr

_OFFICIAL = {"float": "float32", "double": "float64", "half": "float16"}
_REGISTRY = {name: official for official, name in _OFFICIAL.items()}


def official(name: str) -> DType:
    """Return the dtype with an official registry name ("float", "int32", ...)."""
    return dtypes.as_dtype(_OFFICIAL.get(name, name))


def official_name(dtype: DType) -> str:
    """Return the official registry name of a dtype: "float" of tf.float32."""
    return _REGISTRY.get(dtype.name, dtype.name)


class _Documentation:
    """The text that `help` shows: of the class its own, of an op its call, description, contract and example.

    Made when it is asked for: that of all ops takes 14 ms, too much for an import.
    """

    def __init__(self, of_class: str | None) -> None:
        self._of_class = of_class

    def __get__(self, op: Constructor | None, _: type | None = None) -> str | None:
        if op is None:
            return self._of_class
        return f"{op.spec.name}{op.__signature__}\n\n{documentation(op.spec)}"


class Constructor:
    """Adds nodes of one op type: `Tanh(x, name="y")`.

    Inputs come first, then the attrs that can't be inferred (those without a default before the others), then `name`.
    """

    def __init__(self, spec: Op) -> None:
        self.spec = spec
        self.__name__ = spec.name
        inferred = {arg.type for arg in spec.inputs} | {arg.number for arg in spec.inputs}
        inferred |= {arg.type_list for arg in spec.inputs}
        self._attr_specs = {attr.name: attr for attr in spec.attrs}
        explicit = [attr for attr in spec.attrs if attr.name not in inferred]
        self._explicit = tuple(attr.name for attr in sorted(explicit, key=lambda attr: attr.has_default))
        self._defaults = {attr.name: _default(attr) for attr in spec.attrs if attr.has_default}
        self._allowed = {attr.name: frozenset(official(t) for t in attr.allowed) for attr in spec.attrs
                         if attr.allowed and attr.type in ("type", "list(type)")}
        self._takes_refs = any(arg.is_ref for arg in spec.inputs)
        self._plain = all(not arg.is_list and not arg.is_ref for arg in spec.inputs)
        self._input_types = tuple((arg.name, arg.type if arg.type in self._attr_specs else "",
                                   None if arg.type in self._attr_specs or arg.is_list else official(arg.type))
                                  for arg in spec.inputs)
        self._single = len(spec.outputs) == 1 and not spec.outputs[0].is_list

    def __repr__(self) -> str:
        return f"<op {self.spec.name}>"

    @property
    def __signature__(self) -> inspect.Signature:
        """Signature for `help` and completion."""
        kind, empty = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.empty
        names = [(arg.name, empty) for arg in self.spec.inputs]
        names += [(attr, self._attr_specs[attr].default if attr in self._defaults else empty)
                  for attr in self._explicit]
        return inspect.Signature([inspect.Parameter(n, kind, default=d) for n, d in [*names, ("name", None)]])

    def gradient(self, fn: Callable[..., Any]) -> Callable[..., Any]:
        """Register the gradient of this op: fn(op, *output_gradients) -> gradients of the inputs."""
        self.spec.amend(gradient=fn)
        return fn

    def no_gradient(self, reason: str) -> None:
        """State that this op has no gradient, and why."""
        self.spec.amend(no_gradient=reason)

    def hint_for_nan(self, cause: str) -> None:
        """State the usual cause of NaN and infinity in the outputs of this op, for `tf.find_nan`."""
        self.spec.amend(nan_hint=cause)

    def checked(self, fn: Callable[..., Any]) -> Callable[..., Any]:
        """State which values this op does not take: fn(ctx) -> list of kernels.checks.Check, over concrete shapes."""
        self.spec.amend(checks=fn)
        return fn

    def prepare(self, fn: Callable[..., Any]) -> Callable[..., Any]:
        """Register the map of a reduction: applied to each element before elements are combined."""
        self.spec.amend(prepare=read(fn))
        return fn

    def finish(self, fn: Callable[..., Any]) -> Callable[..., Any]:
        """Register the final step of a reduction: applied to its accumulator and the number of elements."""
        self.spec.amend(finish=read(fn))
        return fn

    def __call__(self, *args: Any, name: str | None = None, **kwargs: Any) -> Any:
        spec = self.spec
        if len(args) > len(spec.inputs) + len(self._explicit):      # the name may come last, without its keyword
            args, name = args[:-1], args[-1]
        values, attrs = self._bind(args, kwargs)
        if self._plain:
            inputs = self._fast(values, attrs)
            if inputs is not None:
                graph = graph_of(inputs[0]) if inputs else get_default_graph()
                if graph._flow_context is None and not graph._lent:     # else values are carried in: slower
                    return self._add(graph, inputs, attrs, name or spec.name)
        graph = get_graph_from_inputs(values) if values else get_default_graph()
        with graph.as_default(), graph.name_scope(name or spec.name) as scope:
            inputs = self._converted(values, attrs)
            with self._beside_variables(graph, inputs):
                return self._add(graph, inputs, attrs, scope or name or spec.name)

    def _beside_variables(self, graph: Any, inputs: Sequence[Tensor]) -> ExitStack:
        """Return a context in which an op with Ref inputs is on their device, in their colocation group."""
        stack = ExitStack()
        if self._takes_refs:
            for arg, tensor in zip(self.spec.inputs, inputs, strict=False):
                if arg.is_ref:
                    stack.enter_context(graph.colocate_with(tensor))
        return stack

    def _bind(self, args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        """Return the values of the inputs in order, and the attrs: given ones checked, others by default."""
        spec = self.spec
        count = len(spec.inputs)
        values = list(args[:count])
        for arg in spec.inputs[len(values):]:
            if arg.name not in kwargs:
                raise TypeError(f"{spec.name}() is missing its argument {arg.name!r}")
            values.append(kwargs.pop(arg.name))
        attrs = dict(self._defaults)
        if len(args) > count + len(self._explicit):
            raise TypeError(f"{spec.name}() takes {count + len(self._explicit)} arguments and a name, not {len(args)}")
        if len(args) > count:
            kwargs = dict(zip(self._explicit, args[count:], strict=False), **kwargs)
        for key, value in kwargs.items():
            attr = self._attr_specs.get(key)
            if attr is None:
                raise TypeError(f"{spec.name}() got an unexpected keyword argument {key!r}")
            if value is not None or attr.type == "shape":
                attrs[key] = self._attr_value(attr, value)
        for key in self._explicit:
            if key not in attrs:
                raise TypeError(f"{spec.name}() is missing its argument {key!r}")
        return values, attrs

    def _attr_value(self, attr: Attr, value: Any) -> Any:
        try:
            converted = _attr_value(attr.type, value)
        except (OverflowError, TypeError, ValueError) as error:
            raise TypeError(f"Expected {attr.type} for argument {attr.name!r} of op {self.spec.name}, "
                            f"not {value!r}.") from error
        if attr.allowed and attr.type == "string" and converted.decode() not in attr.allowed:
            raise ValueError(f"Value for attr {attr.name!r} of {converted.decode()!r} is not in the list of allowed "
                             f"values: {', '.join(attr.allowed)} (op {self.spec.name})")
        if attr.name in self._allowed:
            self._check_types(attr.name, converted if isinstance(converted, list) else [converted])
        short = attr.short_of(converted)
        if short is not None:
            length = "list of length " * isinstance(converted, list)
            raise ValueError(f"Attr {attr.name!r} of {self.spec.name!r} Op passed {length}{short} less than minimum "
                             f"{attr.minimum}.")
        return converted

    def _check_types(self, name: str, found: Sequence[DType], argument: str | None = None) -> None:
        for dtype in found:
            if dtype.base_dtype not in self._allowed[name]:
                what = f"passed to parameter {argument!r}" if argument else f"for attr {name!r}"
                allowed = ", ".join(sorted(t.name for t in self._allowed[name]))
                raise TypeError(f"Value {what} of op {self.spec.name} has DataType {dtype.name} "
                                f"not in list of allowed values: {allowed}")

    def _fast(self, values: list[Any], attrs: dict[str, Any]) -> list[Tensor] | None:
        """`values` when all are tensors of the right types already, entering the inferred attrs; else None."""
        graph, found = None, dict[str, DType]()
        for (argument, attr, fixed), value in zip(self._input_types, values, strict=True):
            if type(value) is not Tensor or (graph is not None and value.graph is not graph):
                return None
            graph = value.graph
            dtype = value.dtype.base_dtype
            if fixed is None:
                known = found.get(attr) or (attrs.get(attr) if attr not in self._defaults else None)
                if known is None:
                    if attr in self._allowed and dtype not in self._allowed[attr]:
                        self._check_types(attr, [dtype], argument)
                    found[attr] = attrs[attr] = dtype
                elif known is not dtype:
                    return None
            elif fixed is not dtype:
                return None
        return values

    def _converted(self, values: list[Any], attrs: dict[str, Any]) -> list[Tensor]:
        """Return the flat list of input tensors; what it raises tells of those that were given."""
        try:
            return self._convert(values, attrs)
        except TypeError as error:
            if error.args and isinstance(error.args[0], str):
                error.args = (error.args[0] + told_operands(values), *error.args[1:])
            raise

    def _convert(self, values: list[Any], attrs: dict[str, Any]) -> list[Tensor]:
        """Return the flat list of input tensors, entering the inferred attrs."""
        inputs: list[Tensor] = []
        known: dict[str, tuple[DType, str]] = {}
        for arg, value in zip(self.spec.inputs, values, strict=True):
            if arg.type_list:
                tensors = self._convert_type_list(arg, value)
                attrs[arg.type_list] = [t.dtype.base_dtype for t in tensors]
                if arg.type_list in self._allowed:
                    self._check_types(arg.type_list, attrs[arg.type_list], arg.name)
            elif arg.number:
                tensors = self._convert_list(arg, value, attrs, known)
                attrs[arg.number] = len(tensors)
            else:
                tensors = [self._convert_one(arg, value, attrs, known, arg.name)]
            inputs += tensors
        return inputs

    def _convert_type_list(self, arg: Arg, value: Any) -> list[Tensor]:
        if not isinstance(value, (list, tuple)):
            raise TypeError(f"Expected list for {arg.name!r} argument to {self.spec.name!r} Op, not {value!r}.")
        return [internal_convert_to_tensor(v, name=f"{arg.name}_{i}", as_ref=arg.is_ref) for i, v in enumerate(value)]

    def _convert_list(self, arg: Arg, value: Any, attrs: dict[str, Any],
                      known: dict[str, tuple[DType, str]]) -> list[Tensor]:
        if not isinstance(value, (list, tuple)):
            raise TypeError(f"Expected list for {arg.name!r} argument to {self.spec.name!r} Op, not {value!r}.")
        number = self._attr_specs[arg.number]
        if number.short_of(len(value)) is not None:
            raise ValueError(f"List argument {arg.name!r} to {self.spec.name!r} Op with length {len(value)} shorter "
                             f"than minimum length {number.minimum}.")
        for v in value:                            # the first tensor decides the dtype of numbers beside it
            if arg.type in self._attr_specs and arg.type not in known and isinstance(v, Tensor):
                known[arg.type] = (v.dtype.base_dtype, arg.name)
        return [self._convert_one(arg, v, attrs, known, f"{arg.name}_{i}") for i, v in enumerate(value)]

    def _convert_one(self, arg: Arg, value: Any, attrs: dict[str, Any], known: dict[str, tuple[DType, str]],
                     name: str) -> Tensor:
        attr = arg.type if arg.type in self._attr_specs else ""
        want, preferred = None, None
        if not attr:
            want = official(arg.type)
        elif attr in known:
            want = known[attr][0]
        elif attr in attrs and attr not in self._defaults:
            want = attrs[attr]
        else:
            preferred = self._defaults.get(attr)
        tensor = self._as_tensor(arg, value, want, preferred, name, known.get(attr, (None, ""))[1])
        if arg.is_ref and not tensor.dtype._is_ref_dtype:
            raise TypeError(f"'{self.spec.name}' Op requires that input {arg.name!r} be a mutable tensor "
                            "(e.g.: a tf.Variable)")
        if attr:
            dtype = tensor.dtype.base_dtype
            if attr in self._allowed and dtype not in self._allowed[attr]:
                self._check_types(attr, [dtype], arg.name)
            attrs[attr] = dtype
            known.setdefault(attr, (dtype, arg.name))
        return tensor

    def _as_tensor(self, arg: Arg, value: Any, want: DType | None, preferred: DType | None, name: str,
                   first: str) -> Tensor:
        if isinstance(value, Tensor) or (want is not None and hasattr(value, "_as_graph_element")):
            tensor: Tensor = internal_convert_to_tensor(value, name=name, as_ref=arg.is_ref)
            if want is not None and tensor.dtype.base_dtype is not want.base_dtype:
                raise TypeError(self._mismatch(arg, tensor.dtype.base_dtype, want, first))
            return tensor
        if preferred is dtypes.int32 and beyond_int32(value):       # `[2 ** 33]` as sizes: int64, not [0]
            preferred = None
        try:
            return internal_convert_to_tensor(value, dtype=want, name=name, preferred_dtype=preferred,
                                              as_ref=arg.is_ref)
        except TypeError as error:
            if want is None:
                raise
            raise TypeError(f"Expected {want.name} passed to parameter {arg.name!r} of op {self.spec.name!r}, got "
                            f"{value!r} of type {type(value).__name__!r} instead. Error: {error}") from None

    def _mismatch(self, arg: Arg, found: DType, want: DType, first: str) -> str:
        start = f"Input {arg.name!r} of {self.spec.name!r} Op has type {found.name} that does not match "
        return start + (f"type {want.name} of argument {first!r}." if first else f"expected type of {want.name}.")

    def _add(self, graph: Any, inputs: list[Tensor], attrs: dict[str, Any], name: str) -> Any:
        op = graph.add_op(self.spec, inputs, attrs, name, self._output_types(attrs))
        return op.outputs[0] if self._single else self._group(op, attrs)

    def _output_types(self, attrs: dict[str, Any]) -> list[DType]:
        types: list[DType] = []
        for arg in self.spec.outputs:
            if arg.type_list:
                types += attrs[arg.type_list]
                continue
            dtype = attrs[arg.type] if arg.type in self._attr_specs else official(arg.type)
            dtype = dtype._as_ref if arg.is_ref else dtype
            types += [dtype] * output_count(self.spec, arg, attrs)
        return types

    def _group(self, op: Operation, attrs: dict[str, Any]) -> Any:
        """Return the outputs as the signature groups them; the operation itself if there are none."""
        if not self.spec.outputs or not op.outputs and self.spec.outputs[0].type_list:
            return op
        groups: list[Any] = []
        start = 0
        for arg in self.spec.outputs:
            count = len(attrs[arg.type_list]) if arg.type_list else attrs[arg.number] if arg.number else 1
            taken = op.outputs[start:start + count]
            groups.append(list(taken) if arg.is_list else taken[0])
            start += count
        return groups[0] if len(groups) == 1 else self._results()._make(groups)

    def _results(self) -> Any:
        """Return the namedtuple of an op with several outputs, as TensorFlow's: `TopKV2(values, indices)`."""
        return _namedtuple(self.spec.name, tuple(arg.name for arg in self.spec.outputs))


Constructor.__doc__ = _Documentation(Constructor.__doc__)   # type: ignore[assignment]


@cache
def _namedtuple(name: str, fields: tuple[str, ...]) -> Any:
    return namedtuple(name, fields)


def _default(attr: Attr) -> Any:
    return _attr_value(attr.type, attr.default)


def _attr_value(kind: str, value: Any) -> Any:
    """The native form of an attr value: DType, static shape, int, float, bool, bytes, array, or a list of these."""
    if kind.startswith("list("):
        if isinstance(value, (str, bytes)):
            raise TypeError("a list is wanted")
        return [_attr_value(kind[5:-1], v) for v in value or []]
    if kind == "type":
        return dtypes.as_dtype(value).base_dtype
    if kind == "shape":
        return as_shape(value).static
    if kind == "string":
        return value.encode() if isinstance(value, str) else bytes(value)
    if kind in ("int", "float"):
        if isinstance(value, (str, bytes)):
            raise TypeError("a number is wanted")
        return int(value) if kind == "int" else float(value)     # 2.7 is cut to 2, as in TensorFlow
    if kind == "bool":
        if not isinstance(value, (bool, int)) and type(value).__name__ not in ("bool_", "bool"):
            raise TypeError("a bool is wanted")
        return bool(value)
    return value
