"""Every op is found from `import tfnb` alone, whichever is asked for first."""
from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path

from tfnb.opdef.index import MODULE_OF

ROOT = Path(__file__).resolve().parents[2]
# What `import tfnb` leaves to registry.find: the families (modules) of these ops.
LATE = "import sys, tfnb\nprint(*sorted({*tfnb.opdef.index.MODULE_OF.values()} - {*sys.modules}))"
# The aspects of each op when it is found and when all is imported, where they differ.
LOOK_UPS = """
import importlib, json, sys
from tests.opdef.write_index import families
import tfnb
from tfnb.opdef import registry
def seen(op):
    return [name for name, value in vars(registry.OPS[op]).items() if value]
order = json.loads(sys.stdin.read())
found = {op: (registry.find(op).name == op, seen(op)) for op in order}
for module in families():
    importlib.import_module(module)
wrong = [op for op, (same, before) in found.items() if not same or before != seen(op) or "shape" not in before]
print(json.dumps([wrong, sorted(set(registry.OPS) ^ set(order))]))
"""


def python(*arguments, text=""):
    done = subprocess.run([sys.executable, *arguments], input=text, capture_output=True, text=True, check=False,
                          cwd=ROOT, timeout=120)
    assert not done.returncode, done.stderr
    return done.stdout


def test_the_index_and_the_linters_names_are_what_is_declared():
    places = ROOT / "tfnb" / "opdef" / "index.txt", ROOT / "tfnb" / "ops" / ".ruff.toml"
    written = "".join(place.read_text(encoding="utf-8") for place in places)
    assert written == python("tests/opdef/write_index.py", "--show"), "run tests/opdef/write_index.py"


def test_every_op_is_found_whichever_family_comes_first():
    late = python("-c", LATE).split()
    assert "tfnb.ops.state.resource_variables" in late, "nothing is left to registry.find: this test tests nothing"
    # The first of train/optimizers imports tfnb.train, and with it the others. 0.4 s each: 10 of them, far apart.
    families = [*{module.rpartition(".")[0] if "optimizers" in module else module: module for module in late}.values()]
    for first in families if os.environ.get("TFNB_STRESS") else families[::len(families) // 10]:
        order = sorted(MODULE_OF)
        random.Random(first).shuffle(order)
        order.sort(key=lambda op, first=first: MODULE_OF[op] != first)
        assert json.loads(python("-c", LOOK_UPS, text=json.dumps(order))) == [[], []], first


def test_graphs_with_late_ops_are_imported_in_a_fresh_process():
    assert python("-c", """
import tfnb as tf
definition = tf.GraphDef()
def add(op, *inputs, **types):
    node = definition.node.add(name=op.lower(), op=op, input=inputs)
    for key, value in types.items():
        node.attr[key].type = value.as_datatype_enum
    return node
for name, dtype in (("p", tf.string), ("x", tf.float32)):
    add("Placeholder", dtype=dtype).name = name
variable = add("VariableV2", dtype=tf.float32)
variable.attr["shape"].shape.SetInParent()
handle = add("VarHandleOp", dtype=tf.float32)
handle.attr["shape"].shape.SetInParent()
add("ApplyFtrl", *["variablev2"] * 3, *["x"] * 5, T=tf.float32)
add("ReadVariableOp", "varhandleop", dtype=tf.float32)
add("SaveV2", "p", "p", "p", "x").attr["dtypes"].list.type.append(1)
add("RangeDataset", "n", "n", "n").attr["output_types"].list.type.append(9)
definition.node[-1].attr["output_shapes"].list.shape.add()
add("Placeholder", dtype=tf.int64).name = "n"
tf.import_graph_def(definition, name="")
print(*[op.op_def.name for op in tf.get_default_graph().get_operations()])
""").split() == ["Placeholder", "Placeholder", "VariableV2", "VarHandleOp", "ApplyFtrl", "ReadVariableOp", "SaveV2",
                 "Placeholder", "RangeDataset"]


def test_late_ops_by_name():
    """In raw_ops, in RegisterGradient, which takes no op that has a gradient, and in the message of an unknown op."""
    assert python("-c", """
import tfnb as tf
try:
    tf.RegisterGradient("ReadVariableOp")(lambda op, grad: None)
except KeyError as error:
    print(error.args[0])
v = tf.raw_ops.VarHandleOp(dtype=tf.float32, shape=[2])
written = tf.raw_ops.AssignVariableOp(resource=v, value=[1.0, 2.0])
with tf.control_dependencies([written]):
    read = tf.raw_ops.ReadVariableOp(resource=v, dtype=tf.float32)
print(tf.Session().run(read), "SaveV2" in dir(tf.raw_ops))
for name in ("RangeDatasets", "Tahn"):
    try:
        getattr(tf.raw_ops, name)
    except AttributeError as error:
        print(error)
    definition = tf.GraphDef()
    definition.node.add(name="x", op=name)
    try:
        tf.import_graph_def(definition)
    except tf.errors.NotFoundError as error:
        print(error.message)
""").splitlines() == [
        "Registering two gradient with name 'ReadVariableOp'!", "[1. 2.] True",
        "expected the name of an op, got 'RangeDatasets'. Did you mean 'RangeDataset' or 'RandomDataset' "
        "or 'TakeDataset'?",
        "Op type not registered: tfnb does not have 'RangeDatasets' ('x'). Did you mean 'RangeDataset' or "
        "'RandomDataset' or 'TakeDataset'?",
        "expected the name of an op, got 'Tahn'. Did you mean 'Tan' or 'Tanh'?",
        "Op type not registered: tfnb does not have 'Tahn' ('x'). Did you mean 'Tan' or 'Tanh'?"]
