"""Messages of protocol buffers: tf.io.decode_proto and tf.io.encode_proto, as in TensorFlow."""
from __future__ import annotations

import numpy as np
import pytest
from google.protobuf import descriptor_pb2

import tfnb as tf
from tests.differential import differences

SETUP = '''
from google.protobuf import descriptor_pb2
SET = descriptor_pb2.FileDescriptorSet()
NAMES = ("double float int64 uint64 int32 fixed64 fixed32 bool string group message bytes uint32 enum sfixed32 "
         "sfixed64 sint32 sint64").split()
DEFAULTS = {"int32": "7", "uint64": "8", "string": "dd", "bytes": "ee", "float": "1.5", "bool": "true", "enum": "B"}
for syntax in ("proto2", "proto3"):
    file = SET.file.add(name=syntax + ".proto", package=syntax, syntax=syntax)
    kind = file.enum_type.add(name="E")
    for letter, number in zip("AB", (0, 3)):
        kind.value.add(name=letter, number=number)
    message = file.message_type.add(name="M")
    for number, name in enumerate(NAMES, 1):
        for repeated in (0, 1):
            if name != "group":
                field = message.field.add(name=name + "_r" * repeated, number=2 * number + repeated, type=number,
                                          label=3 if repeated else 1)
                if name in ("message", "enum"):
                    field.type_name = "." + syntax + "." + {"message": "M", "enum": "E"}[name]
                if syntax == "proto2" and not repeated and name in DEFAULTS:
                    field.default_value = DEFAULTS[name]
SOURCE, sess = b"bytes://" + SET.SerializeToString(), tf.Session()
DTYPES = {"double": "float64", "float": "float32", "bool": "bool", "uint32": "uint32", "fixed32": "uint32",
          "uint64": "uint64", "fixed64": "uint64", **dict.fromkeys(("int64", "sint64", "sfixed64"), "int64"),
          **dict.fromkeys(("int32", "sint32", "sfixed32", "enum"), "int32")}
def decode(data, fields, message="proto2.M", types=None, **options):
    fields = fields.split()
    types = types or [DTYPES.get(name[:-2] if name.endswith("_r") else name, "string") for name in fields]
    sizes, values = tf.io.decode_proto(data, message, fields, [getattr(tf, t) for t in types], SOURCE, **options)
    return sess.run([sizes, list(values)])
def encode(sizes, values, fields, message="proto2.M", dtypes=()):
    fields = fields.split()
    dtypes = dtypes or [DTYPES.get(name[:-2] if name.endswith("_r") else name, "string") for name in fields]
    made = [tf.constant(value, getattr(tf, t)) for value, t in zip(values, dtypes)]
    return sess.run(tf.io.encode_proto(sizes, made, fields, message, SOURCE))
SAMPLES = {"float": [1.5, -2, 0], "double": [0.1, 1e300, 0], "bool": [True, False, True],
           "string": ["a", "", "\\u00e9"], "bytes": ["x", "", "z"], "message": ["P\\x07", "", "P\\x02"],
           "enum": [3, 0, -1]}
def sample(name):
    if name in SAMPLES:
        return SAMPLES[name]
    return [5, 0, (2 ** 32 if name[-2:] == "64" else 2 ** 31) - 1] if "u" in name or name[0] == "f" else [5, 0, -300]
def tag(number, wire):
    number = number << 3 | wire
    return bytes([number]) if number < 128 else bytes([number & 127 | 128, number >> 7])
'''
SNIPPETS = {
    **{f"all of {syntax}": f"""
names = [name for name in NAMES if name != "group"]
fields = " ".join(names + [name + "_r" for name in names])
data = encode([[1] * 17 + [3] * 17, [1] * 17 + [2] * 17, [0] * 34],
              [[sample(name)[i:i + 1] for i in (0, 1, 2)] for name in names] +
              [[sample(name)] * 3 for name in names], fields, "{syntax}.M")
[data, decode(data, fields, "{syntax}.M"), decode(data, "float int32_r uint64", "{syntax}.M", sanitize=True)]"""
       for syntax in ("proto2", "proto3")},
    "types": """
def taken(name, dtype):
    return not isinstance(outcome(lambda: decode(b"", name, types=[dtype])), str), not isinstance(outcome(
        lambda: encode([[1]], [[["1" if dtype == "string" else 1]]], name, dtypes=[dtype])), str)
[taken(*pair.split()) for pair in ("float float64", "float float16", "int32 int64", "int32 uint32", "uint32 uint64",
                                    "uint32 int64", "enum int64", "int64 int32", "message string", "message int32")]""",
    "defaults": "decode([b'', b''], 'int32 string float bool int32_r uint64 string_r bytes enum message')",
    "defaults of proto3": "decode(b'', 'int32 string float bool', 'proto3.M')",
    "defaults beside values": "decode([b'', b'P\\x05', encode([[2]], [[[9, 8]]], 'int32_r')[0]], 'int32 int32_r')",
    "batches": "[decode([[b'', b''], [b'', b'P\\x05']], 'int32'), encode([[[1], [0]]], [[[[4], [5]]]], 'int32')]",
    "no fields": "decode(b'', '')",
    "order of numbers": "encode([[2, 1]], [[[5, 300]], [[0]]], 'uint32_r int32')",
    "singular twice": "encode([[2]], [[[1, 2]]], 'int32')", "negative sizes": "encode([[-1]], [[[1]]], 'int32_r')",
    "last one": "decode(tag(10, 0) + b'\\5' + tag(10, 0) + b'\\6' + tag(22, 2) + b'\\1a' + tag(22, 2) + b'\\1b', "
                "'int32 message')",
    "packed and not": "[decode(tag(11, 2) + b'\\2\\5\\6' + tag(11, 0) + b'\\7', 'int32_r', m + '.M') for m in "
                      "('proto2', 'proto3')]",
    "unknown": "decode(tag(60, 2) + b'\\2\\5\\6' + tag(61, 3) + tag(3, 0) + b'\\5' + tag(61, 4) + "
               "tag(10, 0) + b'\\7' + tag(62, 1) + b'12345678' + tag(63, 5) + b'1234', 'int32')",
    "long integers": "decode(tag(10, 0) + b'\\xff' * 9 + b'\\1' + tag(26, 0) + b'\\xff' * 4 + b'\\x0f', "
                     "'int32 uint32')",
    "text": "decode('int32: 4 int32_r: [1, 2] message {int32: 1} bool: false', 'int32 int32_r message bool', "
            "message_format='text')",
    **{f"bad {what}": f"decode({what!r}, 'int32')" for what in (b"P", b"P\xff", b"\x92\x01\x05ab", b"\x07")},
    "bad text": "decode('nothing: 4', 'int32', message_format='text')",
    "another format": "decode(b'', 'int32', message_format='json')",
    "another message": "decode(b'', 'int32', 'proto2.N')", "another field": "decode(b'', 'zz')",
    "more types": "decode(b'', 'int32', types=['int32', 'int32'])",
    "no set": "sess.run(tf.io.decode_proto(b'', 'M', ['a'], [tf.int32], b'bytes://zz')[0])",
    "no file": "sess.run(tf.io.decode_proto(b'', 'M', ['a'], [tf.int32], '/no/such/file')[0])",
    "own messages": "sess.run(tf.io.decode_proto(b'\\n\\3\\n\\1a', 'tensorflow.Example', ['features'], "
                    "[tf.string])[1])",
    "encode without axes": "encode(1, [1], 'int32')", "encode a vector": "encode([1], [[1]], 'int32')",
    "encode too many": "encode([[2]], [[[1]]], 'int32_r')", "encode other sizes": "encode([[1, 2]], [[[1]]], 'int32')",
    "encode another batch": "encode([[1], [1]], [[[1]]], 'int32')",
    "encode another field": "encode([[1]], [[[1]]], 'zz')",
    "encode another type": "encode([[1]], [[[1]]], 'string', dtypes=['int32'])",
    "static": """
x = tf.placeholder(tf.string, [2, None])
sizes, values = tf.io.decode_proto(x, "proto2.M", ["int32"], [tf.int32], SOURCE)
made = tf.io.encode_proto(tf.zeros([2, 3, 1], tf.int32), [tf.zeros([2, 3, 4], tf.int32)], ["int32"], "proto2.M", SOURCE)
[t.shape.as_list() for t in (sizes, values[0], made)]""",
}


def test_protos(oracle):
    assert not differences(oracle, SNIPPETS, SETUP)


def test_errors_name_field_and_message():
    sess = tf.Session()
    for field, dtype, message in (("value", tf.int32, "value has dtype string, got int32"),
                                  ("values", tf.string, "Unknown field: values")):
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            sess.run(tf.io.decode_proto(b"", "tensorflow.BytesList", [field], [dtype])[0])


def test_a_file_of_descriptors(tmp_path):
    sess = tf.Session()
    made = descriptor_pb2.FileDescriptorSet()
    tf.train.Features.DESCRIPTOR.file.CopyToProto(made.file.add())
    path = tmp_path / "features.pb"
    path.write_bytes(made.SerializeToString())
    data = tf.train.FloatList(value=[0.5, 2]).SerializeToString()
    name = tf.train.FloatList.DESCRIPTOR.full_name
    for _ in range(3):
        sizes, values = sess.run(tf.io.decode_proto([data], name, ["value"], [tf.float64], str(path)))
    assert sizes.tolist() == [[2]] and np.array_equal(values[0], [[0.5, 2]])
