"""Our messages against TensorFlow's: the same fields under the same numbers, the same bytes, the same text."""
from __future__ import annotations

import importlib
from pathlib import Path

import pytest
from google.protobuf import text_format
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message

import tfnb.proto

FOLDER = Path(tfnb.proto.__file__).parent
# projector_config is TensorBoard's: tests/summary/test_projector.py. Servers speak master: tests/cluster.
ELSEWHERE = ("projector_config", "master")
FILES = sorted(path.stem for path in FOLDER.glob("*.proto") if path.stem not in ELSEWHERE)
# Where TensorFlow keeps its modules of the same names.
PLACES = """
import importlib
def module(name):
    for place in ("compiler.xla.tsl.protobuf", "core.framework", "core.protobuf", "core.util", "core.example",
                  "python.training"):
        try:
            return importlib.import_module(f"tensorflow.{place}.{name}_pb2")
        except ImportError:
            pass
    raise ImportError(name)
"""
DESCRIBE = """
def kind(field):
    declared = field.message_type or field.enum_type
    return declared.full_name.partition(".")[2] if declared else ""

def describe(module):
    found = {}
    def visit(message):
        found[message.full_name.partition(".")[2]] = {
            f.name: (f.number, f.type, f.is_repeated, f.has_presence, kind(f)) for f in message.fields}
        for nested in message.nested_types:
            visit(nested)
        for enum in message.enum_types:
            found[enum.full_name.partition(".")[2]] = {v.name: v.number for v in enum.values}
    for message in module.DESCRIPTOR.message_types_by_name.values():
        visit(message)
    for enum in module.DESCRIPTOR.enum_types_by_name.values():
        found[enum.full_name.partition(".")[2]] = {v.name: v.number for v in enum.values}
    return found
"""
SCOPE: dict = {}
exec(DESCRIBE, SCOPE)                              # the same text runs on both sides


def module(name):
    return importlib.import_module(f"tfnb.proto.{name}_pb2")


def test_every_file_is_compiled_into_our_package():
    assert len(FILES) >= 30
    for name in FILES:
        assert module(name).DESCRIPTOR.package == "tfnb"


@pytest.mark.parametrize("name", FILES)
def test_fields_are_numbered_as_in_tensorflow(oracle, name):
    ours = SCOPE["describe"](module(name))
    theirs = oracle(PLACES + DESCRIBE + "result = describe(module(name))", name=name)
    for message, fields in ours.items():
        assert fields.items() <= theirs.get(message, {}).items(), message


def filled(message: Message, depth: int = 3) -> Message:
    """A message with something in each field, different from field to field; the last one of each oneof."""
    for field in message.DESCRIPTOR.fields:
        fill(message, field, depth)
    return message


def fill(message: Message, field: FieldDescriptor, depth: int) -> None:
    kind = field.message_type
    if kind is not None and depth == 0:
        return
    if kind is not None and kind.GetOptions().map_entry:
        fill_map(getattr(message, field.name), kind, depth)
    elif kind is not None:
        place = getattr(message, field.name)
        filled(place.add() if field.is_repeated else place, depth - 1)
        if not field.is_repeated:
            place.SetInParent()
    elif field.is_repeated:
        getattr(message, field.name).extend([scalar(field), scalar(field)])
    else:
        setattr(message, field.name, scalar(field))


def fill_map(place, entry: Descriptor, depth: int) -> None:
    key, value = scalar(entry.fields_by_name["key"]), entry.fields_by_name["value"]
    if value.message_type is not None:
        filled(place[key], depth - 1)
    else:
        place[key] = scalar(value)


def scalar(field: FieldDescriptor):
    kind = field.cpp_type
    if kind == FieldDescriptor.CPPTYPE_STRING:
        text = f"{field.name} é"
        return text.encode() if field.type == FieldDescriptor.TYPE_BYTES else text
    if kind == FieldDescriptor.CPPTYPE_ENUM:
        return field.enum_type.values[-1].number
    if kind == FieldDescriptor.CPPTYPE_BOOL:
        return True
    return field.number + 1.25 if kind in (FieldDescriptor.CPPTYPE_FLOAT, FieldDescriptor.CPPTYPE_DOUBLE) else (
        field.number + 1000)


@pytest.mark.parametrize("name", [name for name in FILES if name not in ("types", "error_codes")])
def test_messages_cross_both_ways(oracle, name):
    types = [getattr(module(name), key) for key in module(name).DESCRIPTOR.message_types_by_name]
    ours = {kind.DESCRIPTOR.name: filled(kind()) for kind in types}
    theirs = oracle(PLACES + """
from google.protobuf import text_format
result = {}
for kind, data in messages.items():
    read = getattr(module(name), kind).FromString(data)
    result[kind] = text_format.MessageToString(read), read.SerializeToString(deterministic=True)
""", name=name, messages={kind: message.SerializeToString() for kind, message in ours.items()})
    for kind, message in ours.items():
        text, data = theirs[kind]
        assert message.ByteSize() > 0
        assert text_format.MessageToString(message) == text
        assert type(message).FromString(data) == message
