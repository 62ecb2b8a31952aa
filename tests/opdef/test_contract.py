"""What the help of an op says beyond its description."""
from __future__ import annotations

import inspect

import pytest

import tfnb as tf
from tfnb.opdef.contract import dtype_words
from tfnb.opdef.registry import OPS
from tfnb.ops.declaration.construct import Constructor, official
from tfnb.ops.declaration.raw import raw

BROADCAST = "Shapes are broadcast; ValueError where they don't fit."


@pytest.mark.parametrize("name, lines", [
    ("Sqrt", ["x: floats, complex numbers (else TypeError).", "The result has the dtype and shape of x."]),
    ("Greater", ["x, y: floats, integers; all of one dtype (else TypeError).", BROADCAST, "The result is bool."]),
    ("Select", ["t, e: all of one dtype (else TypeError).", "condition: bool.", "The result has the dtype of t."]),
    ("SegmentSum", ["data: floats, integers, complex numbers (else TypeError).",
                    "segment_ids: int32, int64 (else TypeError).",
                    "data: rank 1 or more; segment_ids: vector (else ValueError).",
                    "The result has the dtype of data."]),
    ("Shape", ["out_type: the dtype of the result."]),
    ("SoftmaxCrossEntropyWithLogits", ["features, labels: floats; all of one dtype (else TypeError)."]),
])
def test_contracts(name, lines):
    made = getattr(raw, name)
    call = f"{name}{inspect.signature(made)}"
    description = OPS[name].doc.partition(">>> ")[0].rstrip()
    text, _, _ = inspect.getdoc(made).partition("\n\n>>> ")
    assert text.split("\n\n") == [call, description, "\n".join([*lines, f"Official op: {name}."])]


def test_the_example_of_an_op_comes_last():
    description, contract, example = inspect.getdoc(tf.exp).split("\n\n")
    assert description.startswith("Compute") and contract.startswith("x: ")
    assert example.startswith(">>> sess.run(tf.exp(")


def test_groups_are_named_only_if_whole():
    assert dtype_words(("half", "float", "double", "int32", "complex64", "complex128", "qint8")) == \
        "complex numbers, float16, float32, float64, int32"


def test_a_dtype_that_is_not_named_is_refused():
    for name in ("Sqrt", "Greater", "Softmax"):
        made = getattr(raw, name)
        words = made.__doc__.partition(">>> ")[0].split(": ", 1)[1].rsplit("(", 1)[0]
        for dtype in (tf.bool, tf.string):
            assert dtype.name not in words
            with pytest.raises(TypeError):
                made(*[tf.zeros([2], dtype)] * len(OPS[name].inputs))
    assert official("half") == tf.float16


def test_the_class_keeps_its_own_text():
    assert Constructor.__doc__.startswith("Adds nodes of one op type")
