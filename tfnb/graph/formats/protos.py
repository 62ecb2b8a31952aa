"""Attrs, tensors and signatures of ops as protos, and back. Protobuf is imported when first needed."""
from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from tfnb.core import indexing
from tfnb.core.dtypes import DType, as_dtype
from tfnb.core.lazy import lazy_module
from tfnb.core.shape import TensorShape, as_static
from tfnb.opdef.newer import newer
from tfnb.opdef.op import Op
from tfnb.opdef.signature import Arg, Attr

node_def_pb2 = lazy_module("tfnb.proto.node_def_pb2")
attr_value_pb2 = lazy_module("tfnb.proto.attr_value_pb2")
tensor_pb2 = lazy_module("tfnb.proto.tensor_pb2")
op_def_pb2 = lazy_module("tfnb.proto.op_def_pb2")

# The field of a TensorProto that holds the elements one by one. Halves are stored as their bits.
_VALUE_FIELD = {
    "float32": "float_val", "float64": "double_val", "int32": "int_val", "uint8": "int_val", "int16": "int_val",
    "int8": "int_val", "uint16": "int_val", "int64": "int64_val", "bool": "bool_val", "uint32": "uint32_val",
    "uint64": "uint64_val", "complex64": "scomplex_val", "complex128": "dcomplex_val", "float16": "half_val",
    "bfloat16": "half_val", "string": "string_val", "qint8": "int_val", "quint8": "int_val", "qint16": "int_val",
    "quint16": "int_val", "qint32": "int_val",
}
# Of these, several elements are packed as raw bytes; of the others they are told one by one, as TensorFlow does.
_PACKED = frozenset("float16 float32 float64 int32 uint8 int16 int8 int64 uint32 uint64 qint8 quint8 qint16 quint16"
                    " qint32".split())


def make_tensor_proto(array: np.ndarray, dtype: DType | None = None, packed: bool = True) -> Any:
    """Return the TensorProto of an array (of objects: bytes). packed: several elements as raw bytes."""
    found = as_dtype(array.dtype) if dtype is None else dtype.base_dtype
    made = tensor_pb2.TensorProto(dtype=found.as_datatype_enum, tensor_shape=TensorShape.of(array.shape).as_proto())
    if found.name == "string":
        made.string_val.extend(bytes(b) for b in array.reshape(-1).tolist())
    elif packed and array.size > 1 and found.name in _PACKED:
        made.tensor_content = np.ascontiguousarray(array, array.dtype.newbyteorder("<")).tobytes()
    else:
        getattr(made, _VALUE_FIELD[found.name]).extend(_values(array, found))
    return made


def _values(array: np.ndarray, dtype: DType) -> list[Any]:
    if dtype.name in ("float16", "bfloat16"):
        array = np.ascontiguousarray(array).view(np.uint16)
    elif dtype.is_quantized:
        array = array[dtype.name]
    flat = array.reshape(-1).tolist()
    return [part for c in flat for part in (c.real, c.imag)] if dtype.is_complex else flat


def make_ndarray(tensor: Any) -> np.ndarray:
    """Return the array of a TensorProto; its last value fills up what the message leaves out.

    Raises TypeError for a dtype that has no arrays, ValueError for more elements than the shape has, or an unknown
    shape. tensor: the message.

    >>> tf.make_ndarray(tf.make_tensor_proto([1, 2]))
    array([1, 2], dtype=int32)
    """
    dtype = as_dtype(tensor.dtype)
    shape = as_static(tensor.tensor_shape)
    if shape is None or None in shape:
        raise ValueError(f"a TensorProto needs a fully known shape, not {TensorShape.of(shape)}")
    size = prod(shape)                              # type: ignore[arg-type]
    if dtype.name not in _VALUE_FIELD:
        raise TypeError(f"a TensorProto of {dtype.name} has no array")
    if size * dtype.size >= 1 << 63:
        raise ValueError(f"a TensorProto of shape {TensorShape.of(shape)} has more than 2**63 - 1 bytes")
    if tensor.tensor_content:
        flat = np.frombuffer(tensor.tensor_content, dtype.np_dtype.newbyteorder("<")).astype(dtype.np_dtype)
    else:
        flat = _elements(getattr(tensor, _VALUE_FIELD[dtype.name]), dtype)
    if len(flat) > size:
        raise ValueError(f"a TensorProto of shape {TensorShape.of(shape)} has {len(flat)} elements")
    if len(flat) < size:
        last = flat[-1:] if len(flat) else np.array([b""] if dtype.name == "string" else [0], dtype.np_dtype)
        flat = np.concatenate([flat, indexing.repeat(last, size - len(flat))])
    return flat.reshape(shape)      # type: ignore[arg-type]


def _elements(values: Any, dtype: DType) -> np.ndarray:
    if dtype.name in ("float16", "bfloat16"):
        return np.array(values, np.uint16).view(dtype.np_dtype)
    if dtype.is_complex:
        parts = np.array(values, dtype.real_dtype.np_dtype).reshape(-1, 2)
        return (parts[:, 0] + 1j * parts[:, 1]).astype(dtype.np_dtype)
    if dtype.name == "string":
        made = np.empty(len(values), object)
        made[:] = list(values)
        return made
    if dtype.is_quantized:
        made = np.empty(len(values), dtype.np_dtype)
        made[dtype.name] = list(values)
        return made
    return np.array(list(values), dtype.np_dtype)


def attr_value(value: Any, kind: str | None = None) -> Any:
    """The AttrValue of a native value; `kind` is the official type of the attr, that of the value if it is None."""
    made = attr_value_pb2.AttrValue()
    kind = kind or _kind_of(value)
    if kind.startswith("list("):
        made.list.SetInParent()
        for element in value:
            _put(made.list, kind[5:-1], element, True)
    else:
        _put(made, kind, value, False)
    return made


def _is_shape(value: Any) -> bool:
    return isinstance(value, tuple) and all(n is None or isinstance(n, int) for n in value)


def _kind_of(value: Any) -> str:
    for types, kind in ((bool, "bool"), ((int, np.integer), "int"), ((float, np.floating), "float"),
                        ((bytes, str), "string"), (DType, "type"), (np.ndarray, "tensor")):
        if isinstance(value, types):
            return kind
    if value is None or _is_shape(value) or isinstance(value, TensorShape):
        return "shape"
    if isinstance(value, (list, tuple)):
        return f"list({_kind_of(value[0]) if value else 'int'})"
    return "func"


_FIELD = {"int": "i", "float": "f", "bool": "b", "string": "s", "type": "type", "shape": "shape", "tensor": "tensor",
          "func": "func"}


def _put(holder: Any, kind: str, value: Any, many: bool) -> None:
    field = _FIELD[kind]
    if kind == "string":
        value = value.encode() if isinstance(value, str) else bytes(value)
    elif kind == "type":
        value = as_dtype(value).as_datatype_enum
    if kind in ("shape", "tensor", "func"):
        proto = TensorShape(value).as_proto() if kind == "shape" else \
            make_tensor_proto(value) if kind == "tensor" else value
        target = getattr(holder, field).add() if many else getattr(holder, field)
        target.CopyFrom(proto)
        if not many:
            target.SetInParent()
    elif many:
        getattr(holder, field).append(value)
    else:
        setattr(holder, field, value)


_NATIVE: dict[str, Callable[[Any], Any]] = {
    "i": int, "f": float, "b": bool, "s": bytes, "type": as_dtype, "shape": as_static, "tensor": make_ndarray,
    "func": lambda func: func,
}


def native_attr(value: Any) -> Any:
    """The native value of an AttrValue proto. Anything else is native already.

    Raises ValueError for a placeholder of a function body and for a proto that holds nothing.
    """
    which = getattr(value, "WhichOneof", None)
    if which is None or "AttrValue" not in type(value).__name__:
        return value
    field = value.WhichOneof("value")
    if field == "list":
        for name, convert in _NATIVE.items():
            elements = getattr(value.list, name)
            if len(elements):
                return [convert(element) for element in elements]
        return []
    if field not in _NATIVE:
        raise ValueError(f"an AttrValue must hold a value, got {value!r}")
    return _NATIVE[field](getattr(value, field))


def public_attr(spec: Op, name: str, value: Any) -> Any:
    """Return an attr as `Operation.get_attr` gives it: shapes, tensors and functions as protos, all else native."""
    kind = _kinds(spec).get(name) or _kind_of(value)
    if kind in ("shape", "tensor", "func"):
        return getattr(attr_value(value, kind), _FIELD[kind])
    if kind == "list(shape)":
        return [TensorShape(shape).as_proto() for shape in value]
    return value


def node_def(name: str, spec: Op, device: str, inputs: Iterable[str], attrs: dict[str, Any]) -> Any:
    """Return the NodeDef of an op of type `spec`, as 1.15 reads it (opdef/newer.py).

    inputs: names of tensors, then of control inputs.
    """
    made = node_def_pb2.NodeDef(name=name, op=spec.name, device=device, input=inputs)
    kinds, optional = _kinds(spec), _newer(spec)
    for key, value in attrs.items():
        kind = kinds.get(key)
        if key in optional and attr_value(value, kind) == optional[key]:
            continue
        made.attr[key].CopyFrom(_tensor_value(value, attrs) if kind == "tensor" else attr_value(value, kind))
    return made


@lru_cache(4096)
def _newer(spec: Op) -> dict[str, Any]:
    """Attr -> its default, of those that 1.15 lacks."""
    return {attr.name: attr_value(attr.default, attr.type) for attr in spec.attrs
            if attr.has_default and newer(spec.name, attr.name)}


def _tensor_value(value: Any, attrs: dict[str, Any]) -> Any:
    made = attr_value_pb2.AttrValue()
    made.tensor.CopyFrom(make_tensor_proto(value, attrs.get("dtype")))
    return made


def _kinds(spec: Op) -> dict[str, str]:
    return {attr.name: attr.type for attr in spec.attrs}


def op_def(spec: Op) -> Any:
    """The OpDef of a spec."""
    made = op_def_pb2.OpDef(name=spec.name, summary=spec.doc.partition("\n\n")[0], is_stateful=spec.stateful)
    attrs = {attr.name for attr in spec.attrs}
    made.input_arg.extend(_arg_def(arg, attrs) for arg in spec.inputs)
    made.output_arg.extend(_arg_def(arg, attrs) for arg in spec.outputs)
    made.attr.extend(_attr_def(attr) for attr in spec.attrs)
    return made


def _arg_def(arg: Arg, attrs: set[str]) -> Any:
    made = op_def_pb2.OpDef.ArgDef(name=arg.name, number_attr=arg.number, type_list_attr=arg.type_list,
                                   is_ref=arg.is_ref)
    if arg.type in attrs:
        made.type_attr = arg.type
    elif arg.type:
        made.type = as_dtype(arg.type).as_datatype_enum
    return made


def _attr_def(attr: Attr) -> Any:
    made = op_def_pb2.OpDef.AttrDef(name=attr.name, type=attr.type)
    if attr.has_default:
        made.default_value.CopyFrom(attr_value(attr.default, attr.type))
    if attr.minimum is not None:
        made.has_minimum, made.minimum = True, attr.minimum
    if attr.allowed:
        kind = attr.type.removeprefix("list(").removesuffix(")")
        made.allowed_values.CopyFrom(attr_value(list(attr.allowed), f"list({kind})"))
    return made
