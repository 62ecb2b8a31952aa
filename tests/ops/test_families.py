"""Every family of ops in both forms: for at least 5 ops of each what a program gives is what the interpreter gives.

A family is a folder of `tfnb/ops`, or a room that declares ops. Its sample are valid calls (tests/safety/records.py)
of ops all over the folder; where inputs are handles, a program stands in PROGRAMS, whose ops of the family count.
"""
from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest

import tfnb as tf
from tests.every_op import OPS
from tests.ops.test_compiled_walk import both_ways
from tests.safety.records import records, walked
from tfnb.opdef import kinds
from tfnb.opdef.index import MODULE_OF
from tfnb.ops.declaration.construct import official
from tfnb.ops.declaration.raw import raw

LEAST, SAMPLE = 5, 8


def family(op):
    parts = MODULE_OF[op].split(".")
    return parts[2] if parts[1] == "ops" else parts[1]


FAMILIES = sorted({family(op) for op in OPS if op in MODULE_OF})


def conditions():
    x = tf.placeholder(tf.float32, [3])
    looped = tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, v * 1.5), [0, x])[1]
    return {"cond": tf.cond(x[0] > 0, lambda: x * 2, lambda: x - 1), "loop": looped}, {x: [1.0, 2.0, 3.0]}


def checks():
    x = tf.placeholder(tf.float32, [3])
    with tf.control_dependencies([tf.Assert(x[0] > 0, [x]), tf.no_op(), tf.print(x, summarize=1)]):
        checked = tf.check_numerics(x, "x") + tf.py_func(np.square, [x], tf.float32)
    printed = tf.Print(x, [x], first_n=0)
    default = tf.placeholder_with_default(x, [3])
    return {"checked": checked, "printed": printed, "default": default}, {x: [1.0, 2.0, 3.0]}


def datasets():
    data = tf.data.Dataset.range(20).map(lambda n: n * n).filter(lambda n: n % 2 < 1).shuffle(3, seed=1).batch(3)
    joined = tf.data.Dataset.zip((data.take(2), tf.data.Dataset.from_tensor_slices([[1.0], [2.0]]).repeat(2).skip(1)))
    return {"element": list(joined.make_one_shot_iterator().get_next())}, {}


def flow():
    x = tf.placeholder(tf.float32, [2, 3])
    queue = tf.FIFOQueue(4, [tf.float32], [[3]])
    with tf.control_dependencies([queue.enqueue_many([x])]):
        taken = queue.dequeue_many(2)
    rows = tf.TensorArray(tf.float32, 2, clear_after_read=False).unstack(x)
    handle = raw.TensorListPushBack(raw.TensorListFromTensor(x, [3]), x[0])
    area = tf.contrib.staging.StagingArea([tf.float32])
    with tf.control_dependencies([area.put([x])]):
        staged = area.get()
    return {"queue": taken, "array": [rows.stack(), rows.read(1)], "staged": staged,
            "list": raw.TensorListStack(handle, [3], element_dtype=tf.float32)}, {x: np.arange(6.0).reshape(2, 3)}


def files():
    lines = tf.placeholder(tf.string, [2])
    example = tf.train.Example()
    example.features.feature["x"].float_list.value.extend([1.0, 2.0])
    parsed = tf.parse_example([example.SerializeToString()] * 2, {"x": tf.FixedLenFeature([2], tf.float32)})["x"]
    tensor = tf.serialize_tensor(tf.constant([1, 2]))
    return {"csv": list(tf.decode_csv(lines, [[0], [0.5]])), "parsed": parsed, "raw": tf.decode_raw(lines, tf.uint8),
            "tensor": tf.parse_tensor(tensor, tf.int32), "summary": tf.summary.scalar("x", parsed[0, 0]),
            "json": tf.decode_json_example(['{"features": {}}'])}, {lines: ["1,2.5", "3,4.5"]}


PROGRAMS = {"control_flow": conditions, "control": checks, "data": datasets, "data_flow": flow, "io": files}


def fixed(op):
    """Can the op be run again with the same result, over arrays alone?"""
    spec = OPS[op]
    drawn = isinstance(spec, kinds.Random) or spec.stateful
    return not drawn and not any(arg.is_ref for arg in spec.inputs)


def chosen(name):
    """Ops of a family from its first to its last, by their names."""
    every = [op for op in walked() if family(op) == name and fixed(op) and records(op)]
    return [every[i * len(every) // SAMPLE] for i in range(min(SAMPLE, len(every)))] if len(every) > SAMPLE else every


def called(op):
    """Return the outputs of a valid call, and what is fed to it."""
    call = records(op)[0]
    arguments = [arg for i, arg in enumerate(OPS[op].inputs) for _ in range(dict(call.sizes).get(i, 1))]
    inputs, feeds = [], {}
    for arg, array in zip(arguments, call.arrays, strict=True):
        if array.dtype.kind in "if" and not any(attr.name == arg.type for attr in OPS[op].attrs) and not arg.type_list:
            array = array.astype(official(arg.type).as_numpy_dtype)
        known = arg.name in OPS[op].value_inputs or array.dtype.kind in "OV"
        inputs.append(tf.constant(array) if known and array.dtype.kind != "V" else tf.placeholder(
            array.dtype, array.shape))
        if not known or array.dtype.kind == "V":
            feeds[inputs[-1]] = array
    made = getattr(raw, op)(*call.given(inputs), **call.attrs)
    return list(made) if isinstance(made, (list, tuple)) else made, feeds


def updates(names):
    """Return the values of variables after ops of a family that write to them."""
    made, feeds, seen = {}, {}, defaultdict(int)
    for op in names:
        call = records(op)[0]
        seen[op] += 1
        inputs = [tf.Variable(array)._ref() if arg.is_ref else tf.constant(array)
                  for arg, array in zip(OPS[op].inputs, call.arrays, strict=True)]
        made[op] = getattr(raw, op)(*inputs, **call.attrs)
    return {op: list(value) if isinstance(value, (list, tuple)) else value for op, value in made.items()}, feeds


def program(name):
    """A function that builds the sample of a family: {op or label: tensors}, feeds; `covered` gets its ops."""
    covered = set()

    def build():
        fetches, feeds = {}, {}
        for op in chosen(name):
            fetches[op], fed = called(op)
            feeds.update(fed)
        writers = [op for op in walked() if family(op) == name and isinstance(OPS[op], (kinds.Update, kinds.Scatter))
                   and records(op) and not any(arg.is_list for arg in OPS[op].inputs)][:SAMPLE]
        if len(fetches) < LEAST and writers:
            fetches.update(updates(writers)[0])
        if name in PROGRAMS:
            more, fed = PROGRAMS[name]()
            fetches.update(more)
            feeds.update(fed)
        covered.update(op.type for op in tf.get_default_graph().get_operations()
                       if op.type in MODULE_OF and family(op.type) == name)
        return fetches, feeds
    return build, covered


def plain(value):
    return [plain(v) for v in value] if isinstance(value, (list, tuple)) else np.asarray(value)


def same(a, b):
    if isinstance(a, list):
        return len(a) == len(b) and all(map(same, a, b))
    if a.dtype != b.dtype or a.shape != b.shape or a.dtype.kind not in "fc":
        return a.dtype == b.dtype and a.shape == b.shape and a.tolist() == b.tolist()
    return np.allclose(a, b, 2e-5, 1e-6, equal_nan=True)


@pytest.mark.parametrize("name", FAMILIES)
def test_at_least_five_ops_of_each_family_are_alike_in_both_forms(name, monkeypatch):
    build, covered = program(name)
    results = both_ways(build, monkeypatch)
    assert [label for label, (first, second) in results.items() if not same(plain(first), plain(second))] == []
    assert len(covered) >= LEAST, f"family {name} has {len(covered)} ops compared: {sorted(covered)}"
