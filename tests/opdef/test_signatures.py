"""Every declared op against its official signature (`tests/data/opdefs.json.xz`: facts of TensorFlow 2.21)."""
from __future__ import annotations

import importlib
import json
import lzma
from dataclasses import FrozenInstanceError
from pathlib import Path

import numpy as np
import pytest
from google.protobuf import text_format

from tests.every_op import OPS
from tests.opdef.write_index import families
from tfnb.opdef import kinds
from tfnb.opdef.op import Op, no_shapes
from tfnb.opdef.signature import GROUPS, Arg, read_signature
from tfnb.proto.tensor_pb2 import TensorProto

OFFICIAL = json.loads(lzma.open(Path(__file__).parents[1] / "data" / "opdefs.json.xz").read())
NUMPY_NAMES = {"float": "float32", "double": "float64", "half": "float16"}
FLOATS = set(GROUPS["floattype"]) | {"complex64", "complex128"}
COMPUTED = (kinds.Elementwise, kinds.Reduction, kinds.Rowwise, kinds.Movement, kinds.Kernel)

for found in families():
    importlib.import_module(found)


def official_arg(arg: dict) -> Arg:
    return Arg(arg["name"], arg.get("type") or arg.get("type_attr", ""), arg.get("number_attr", ""),
               arg.get("type_list_attr", ""), arg.get("is_ref", False))


def official_default(attr: dict):
    """In the form of Attr.default: dtypes by NumPy name, strings as bytes, tensors as arrays."""
    (kind, value), = attr["default"].items()
    if kind == "tensor":
        proto = text_format.Parse(value, TensorProto())
        return np.array(proto.int_val).reshape([dim.size for dim in proto.tensor_shape.dim])
    if kind == "s":
        return value.encode()
    if kind == "type":
        return NUMPY_NAMES.get(value, value)
    if kind == "list" and attr["type"] == "list(type)":
        return [NUMPY_NAMES.get(v, v) for v in value]
    if kind == "list" and attr["type"] == "list(string)":
        return [v.encode() for v in value]
    return value


def same(ours, theirs) -> bool:
    if isinstance(theirs, float):
        return np.float32(ours) == np.float32(theirs)
    if isinstance(theirs, np.ndarray):
        return isinstance(ours, np.ndarray) and np.array_equal(ours, theirs)
    return type(ours) is type(theirs) and ours == theirs


def faults(spec: Op) -> list[str]:
    """Where a declaration differs from the official signature of that name."""
    if spec.name not in OFFICIAL:
        return ["there is no official op of this name"]
    op, found = OFFICIAL[spec.name], []
    for what, ours in (("inputs", spec.inputs), ("outputs", spec.outputs)):
        theirs = tuple(official_arg(arg) for arg in op[what])
        if ours != theirs:
            found.append(f"{what} are {ours}, officially {theirs}")
    if [attr.name for attr in spec.attrs] != [attr["name"] for attr in op["attrs"]]:
        return [*found, f"attrs are {[a.name for a in spec.attrs]}, officially {[a['name'] for a in op['attrs']]}"]
    for ours, theirs in zip(spec.attrs, op["attrs"], strict=True):
        if ours.type != theirs["type"]:
            found.append(f"attr {ours.name} is {ours.type}, officially {theirs['type']}")
        if set(ours.allowed) != set(theirs.get("allowed", ())):
            found.append(f"attr {ours.name} allows {ours.allowed}, officially {theirs.get('allowed')}")
        if ours.has_default != ("default" in theirs) or (
                ours.has_default and not same(ours.default, official_default(theirs))):
            found.append(f"attr {ours.name} defaults to {ours.default!r}, officially {theirs.get('default')}")
        if ours.minimum != theirs.get("minimum"):
            found.append(f"attr {ours.name} is at least {ours.minimum}, officially {theirs.get('minimum')}")
    if spec.stateful != op["stateful"]:
        found.append(f"stateful is {spec.stateful}, officially {op['stateful']}")
    return found


def may_be_float(spec: Op, arg: Arg) -> bool:
    attr = arg.type_list or arg.type
    types = {a.name: a.allowed or FLOATS for a in spec.attrs}.get(attr, (attr,))
    return bool(FLOATS & set(types))


def differentiable(spec: Op) -> bool:
    """Whether floating-point numbers may go in and come out, of a computation."""
    return isinstance(spec, COMPUTED) and all(
        any(may_be_float(spec, arg) for arg in args) for args in (spec.inputs, spec.outputs))


def test_there_are_ops():
    assert len(OPS) > 80


@pytest.mark.parametrize("name", sorted(OPS))
def test_signature_is_the_official_one(name):
    assert not faults(OPS[name])


@pytest.mark.parametrize("name", sorted(OPS))
def test_documented(name):
    doc = OPS[name].doc.partition(">>> ")[0].rstrip()
    assert len(doc) > 4 and doc.endswith((".", "?", "`")), doc


@pytest.mark.parametrize("name", sorted(OPS))
def test_has_a_gradient_or_says_why_not(name):
    assert not differentiable(OPS[name]) or OPS[name].gradient or OPS[name].no_gradient


@pytest.mark.parametrize("name", sorted(OPS))
def test_has_a_shape_function(name):
    assert OPS[name].shape is not no_shapes


def test_records_change_by_amend_only():
    op = OPS["RandomUniform"].replaced()
    with pytest.raises(FrozenInstanceError):
        op.no_gradient = "none"
    with pytest.raises(FrozenInstanceError):
        del op.numpy
    op.amend(no_gradient="none", cuda=None)
    assert op.no_gradient == "none" and repr(op) == "<Random RandomUniform>"
    with pytest.raises(AttributeError, match="<Random RandomUniform> has no field 'view'"):
        op.amend(view=None)
    with pytest.raises(TypeError, match=r"Random: missing fields \['attrs', .*'name', .*, unknown ones \['view'\]"):
        kinds.Random(view=None)


def spec(text: str, name: str = "ArgMax", **attrs: str) -> Op:
    inputs, outputs, read = read_signature(text, attrs)
    return kinds.Kernel(name=name, inputs=inputs, outputs=outputs, attrs=read, numpy=np.argmax)


ARGMAX = dict(T="{realnumbertype, qint8, quint8, qint32, qint16, quint16, bool}",
              Tidx="{int16, int32, int64} = DT_INT32",
              output_type="{int16, uint16, int32, int64} = DT_INT64")


def test_planted_faults_are_found():
    text = "input: T, dimension: Tidx -> output: output_type"
    assert not faults(spec(text, **ARGMAX))
    assert faults(spec(text.replace("dimension", "axis"), **ARGMAX))
    assert faults(spec(text.replace("input: T", "input: Ref(T)"), **ARGMAX))
    assert faults(spec(text.replace("output_type", "int64"), **ARGMAX))
    assert faults(spec(text, **{**ARGMAX, "T": "numbertype"}))
    assert faults(spec(text, **{**ARGMAX, "Tidx": "{int16, int32, int64}"}))
    assert faults(spec(text, **{**ARGMAX, "Tidx": "{int16, int32, int64} = DT_INT64"}))
    assert faults(spec(text, **dict(reversed(ARGMAX.items()))))
    assert faults(spec(text, name="ArgMost", **ARGMAX))
    assert faults(spec("inputs: N * T -> sum: T", name="AddN", N="int", T="numbertype"))
    assert differentiable(spec("a: T -> b: T", T="{float}"))
    assert not differentiable(spec("a: T -> b: bool", T="{float}"))
