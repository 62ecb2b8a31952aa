"""Control flow of TensorFlow 2, whose branches and loop bodies are functions, in imported graphs and SavedModels."""
from __future__ import annotations

import numpy as np
import pytest
from google.protobuf import text_format

import tfnb as tf
from tests.modes import compiling

MODEL = """
import tensorflow as tf2

class Model(tf2.Module):
    def __init__(self):
        self.w = tf2.Variable([[0.5, -0.25], [0.125, 1.0]], name="w")
        self.calls = tf2.Variable(0, name="calls")

    @tf2.function(input_signature=[tf2.TensorSpec([None, 2], tf2.float32), tf2.TensorSpec([], tf2.int32)])
    def steps(self, x, n):
        i = tf2.constant(0)
        outputs = tf2.TensorArray(tf2.float32, size=n, element_shape=[None, 2])
        while i < n:
            x = tf2.matmul(x, self.w)
            if tf2.reduce_sum(x) > 1.0:
                x = x - 0.5
                if n > 2:
                    x = x * 2.0
            else:
                x = tf2.tanh(x) + 1.0
            outputs = outputs.write(i, x)
            i += 1
        return {"last": x, "all": outputs.stack()}

    @tf2.function(input_signature=[tf2.TensorSpec([], tf2.int32), tf2.TensorSpec([3], tf2.float32)])
    def choose(self, k, x):
        def first():
            self.calls.assign_add(1)
            return x + 1.0
        y = tf2.switch_case(k, [first, lambda: x * 10.0, lambda: tf2.zeros([3])])
        total = tf2.while_loop(lambda j, s: j < 3, lambda j, s: (j + 1, tf2.while_loop(
            lambda m, t: m < j, lambda m, t: (m + 1, t + x), [0, s])[1]), [0, tf2.zeros_like(x)])[1]
        return {"y": y, "total": total, "calls": self.calls.read_value()}

    @tf2.function(input_signature=[tf2.TensorSpec([None], tf2.string), tf2.TensorSpec([None], tf2.float32)])
    def lists(self, words, x):
        joined = tf2.constant("")
        for word in words:
            if tf2.strings.length(word) > 1:
                joined = joined + word + "."
        mapped = tf2.map_fn(lambda v: tf2.stack([v, v * v]), x)
        scanned = tf2.scan(lambda a, v: a + v, x)
        return {"joined": joined, "mapped": mapped, "scanned": scanned}

"""
# In a file of its own: TensorFlow reads the source of functions.
SAVE = """
import runpy
from tensorflow.python.eager import context
import tensorflow as tf2

Model = runpy.run_path(source)["Model"]
X, ROW, WORDS = [[1.0, 2.0], [3.0, -1.0]], [1.0, 2.0, 4.0], ["a", "bc", "def"]
with context.eager_mode():
    model = Model()
    tf2.saved_model.save(model, folder, signatures={
        "steps": model.steps, "choose": model.choose, "lists": model.lists})
    made = [model.steps(tf2.constant(X), n) for n in (1, 2, 3)]
    chosen = [model.choose(k, tf2.constant(ROW)) for k in (0, 1, 2, 7, 0)]
    lists = [model.lists(tf2.constant(WORDS), tf2.constant(ROW))]
    result = [[{key: value.numpy() for key, value in each.items()} for each in found]
              for found in (made, chosen, lists)]
"""
X, ROW, WORDS = [[1.0, 2.0], [3.0, -1.0]], [1.0, 2.0, 4.0], ["a", "bc", "def"]


def alike(ours, theirs):
    for key, value in theirs.items():
        if np.asarray(value).dtype.kind in "OS":
            assert ours[key] == value, key
        else:
            np.testing.assert_allclose(ours[key], value, rtol=1e-5, atol=1e-6, err_msg=key)
    assert ours.keys() == theirs.keys()


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["never", "always"])
def test_a_model_saved_by_tensorflow_2(mode, saved):
    folder, (steps, chosen, lists) = saved
    with compiling(mode), tf.Session() as session:
        model = tf.saved_model.load(session, ["serve"], folder)

        def call(name, **values):
            signature = model.signature_def[name]
            return session.run({key: info.name for key, info in signature.outputs.items()},
                               {signature.inputs[key].name: value for key, value in values.items()})

        for n, expected in zip((1, 2, 3), steps, strict=True):
            alike(call("steps", x=X, n=n), expected)
        for k, expected in zip((0, 1, 2, 7, 0), chosen, strict=True):
            alike(call("choose", k=k, x=ROW), expected)
        alike(call("lists", words=WORDS, x=ROW), lists[0])


@pytest.fixture(scope="module")
def saved(request, tmp_path_factory):
    oracle = request.getfixturevalue("oracle")
    folder = tmp_path_factory.mktemp("model")
    source = folder / "model.py"
    source.write_text(MODEL, encoding="utf-8")
    return str(folder / "saved"), oracle(SAVE, folder=str(folder / "saved"), source=str(source))


GRAPH = """
from tensorflow.python.framework import function
from tensorflow.python.ops import functional_ops, gen_functional_ops

@function.Defun(tf.int32, tf.float32)
def twice(n, x):
    return x * 2.0

@function.Defun(tf.int32, tf.float32)
def less(n, x):
    return x - tf.cast(n, tf.float32)

@function.Defun(tf.int32, tf.float32)
def goes_on(n, x):
    return n

@function.Defun(tf.int32, tf.float32)
def step(n, x):
    return n - 1, functional_ops.If(tf.equal(n % 2, 0), [n, x], twice, less)[0]

n, x = tf.placeholder(tf.int32, [], name="n"), tf.placeholder(tf.float32, [2], name="x")
functional_ops.If(n, [n, x], twice, less, name="by_number")
gen_functional_ops.case(n, [n, x], [tf.float32], [twice, less, twice], name="case")
gen_functional_ops.case(n, [n, x], [tf.float32], [less], name="one_case")
gen_functional_ops._while([n, x], goes_on, step, name="loop")
names = ["by_number:0", "case:0", "one_case:0", "loop:0", "loop:1"]
data = tf.get_default_graph().as_graph_def().SerializeToString()
with tf.Session() as sess:
    result = data, [sess.run(names, {n: k, x: [1.0, 5.0]}) for k in (0, 1, 3, 4)]
"""
NAMES = ["by_number:0", "case:0", "one_case:0", "loop:0", "loop:1"]


@pytest.mark.slow
def test_a_graph_with_functional_nodes(oracle):
    data, expected = oracle(GRAPH)
    graph_def = tf.GraphDef.FromString(data)
    once = tf.import_graph_def(graph_def, return_elements=[*NAMES, "n:0", "x:0"], name="")
    again = tf.import_graph_def(graph_def, return_elements=[*NAMES, "n:0", "x:0"], name="again")
    gradient, = tf.gradients(once[1], once[6])
    for mode in ("never", "always"):
        with compiling(mode), tf.Session() as session:
            for k, values in zip((0, 1, 3, 4), expected, strict=True):
                for made in (once, again):
                    found = session.run(made[:5], {made[5]: k, made[6]: [1.0, 5.0]})
                    for ours, theirs in zip(found, values, strict=True):
                        np.testing.assert_allclose(ours, theirs)
            assert session.run(gradient, {once[5]: 1, once[6]: [1.0, 5.0]}).tolist() == [1, 1]


def test_effects_of_a_branch_come_before_its_outputs():
    library = text_format.Parse(EFFECTS, tf.GraphDef())
    y, = tf.import_graph_def(library, return_elements=["choice:0"], name="")
    with tf.Session() as session:
        assert session.run(y, {"p:0": False}) == 2.0
        with pytest.raises(tf.errors.InvalidArgumentError, match="not this way"):
            session.run(y, {"p:0": True})
        session.run("choice", {"p:0": False})
        with pytest.raises(tf.errors.InvalidArgumentError, match="not this way"):
            session.run("choice", {"p:0": True})


EFFECTS = """
node { name: "p" op: "Placeholder" attr { key: "dtype" value { type: DT_BOOL } } }
node { name: "x" op: "Const" attr { key: "dtype" value { type: DT_FLOAT } }
  attr { key: "value" value { tensor { dtype: DT_FLOAT tensor_shape {} float_val: 2 } } } }
node { name: "choice" op: "If" input: "p" input: "x" attr { key: "Tcond" value { type: DT_BOOL } }
  attr { key: "Tin" value { list { type: DT_FLOAT } } } attr { key: "Tout" value { list { type: DT_FLOAT } } }
  attr { key: "then_branch" value { func { name: "checked" } } }
  attr { key: "else_branch" value { func { name: "plain" } } } }
library {
  function { signature { name: "plain" input_arg { name: "x" type: DT_FLOAT } output_arg { name: "y" type: DT_FLOAT } }
    ret { key: "y" value: "x" } }
  function { signature { name: "checked" input_arg { name: "x" type: DT_FLOAT } output_arg { name: "y" type: DT_FLOAT }
      control_output: "assert" }
    node_def { name: "no" op: "Const" attr { key: "dtype" value { type: DT_BOOL } }
      attr { key: "value" value { tensor { dtype: DT_BOOL tensor_shape {} bool_val: false } } } }
    node_def { name: "words" op: "Const" attr { key: "dtype" value { type: DT_STRING } }
      attr { key: "value" value { tensor { dtype: DT_STRING tensor_shape {} string_val: "not this way" } } } }
    node_def { name: "assert" op: "Assert" input: "no:output:0" input: "words:output:0"
      attr { key: "T" value { list { type: DT_STRING } } } attr { key: "summarize" value { i: 3 } } }
    ret { key: "y" value: "x" } control_ret { key: "assert" value: "assert" } } }
"""


@pytest.mark.parametrize("old", ["", "V2"])
def test_tensor_arrays_and_stacks_of_older_releases(old):
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [3, 2], name="x")
        rows = tf.TensorArray(tf.float32, 3, clear_after_read=False).unstack(x)
        made = tf.TensorArray(tf.float32, 0, dynamic_size=True)
        _, made = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a.write(i, rows.read(i) * 2.0)), [0, made])
        tf.identity(made.stack(), name="y")
        tf.identity(tf.TensorArray(tf.float32, 2, infer_shape=False).split(x, [1, 2]).concat(), name="joined")
        handle = tf.raw_ops.StackV2(max_size=-1, elem_type=tf.float32)
        pushed = tf.raw_ops.StackPushV2(handle=handle, elem=x)
        with tf.control_dependencies([pushed]):
            tf.identity(tf.raw_ops.StackPopV2(handle=handle, elem_type=tf.float32), name="popped")
        graph_def = graph.as_graph_def()
    for node in graph_def.node:
        if node.op.startswith("TensorArray"):
            node.op = node.op.removesuffix("V3") + old
        elif node.op.startswith("Stack") and not old:
            node.op = node.op.removesuffix("V2")
            if node.op == "Stack":
                del node.input[:]
        for kind, packed in (("Gather", "Pack"), ("Scatter", "Unpack")):
            if node.op == f"TensorArray{kind}" and not old:
                node.op = f"TensorArray{packed}"
                del node.input[1]
    x, *found = tf.import_graph_def(graph_def, return_elements=["x:0", "y:0", "joined:0", "popped:0"])
    gradient, = tf.gradients(found[1], x)
    with pytest.raises(LookupError, match="No gradient through the loop"):
        tf.gradients(found[0], x)
    value = np.arange(6, dtype=np.float32).reshape(3, 2)
    with tf.Session() as session:
        for _ in range(2):
            ours = session.run(found, {x: value})
            for given, expected in zip(ours, (2 * value, value, value), strict=True):
                np.testing.assert_array_equal(given, expected)
        assert (session.run(gradient, {x: value}) == 1).all()
