"""Attrs of imported nodes and of Graph.create_op: what the op's definition does not take is refused."""
import pytest
from google.protobuf import text_format

import tfnb as tf

FLOAT = 'attr { key: "dtype" value { type: DT_FLOAT } }'
A = f'node {{ name: "a" op: "Placeholder" {FLOAT} }} '


def attr(key, value):
    return f'attr {{ key: "{key}" value {{ {value} }} }}'


def matmul(*attrs):
    given = " ".join([attr("T", "type: DT_FLOAT"), *attrs])
    return A + f'node {{ name: "y" op: "MatMul" input: "a" input: "a" {given} }}'


def pool(ksize="list { i: 1 i: 1 i: 1 i: 1 }", padding='s: "SAME"'):
    return A + f'node {{ name: "y" op: "MaxPool" input: "a" {attr("ksize", ksize)} {attr("padding", padding)} ' \
               f'{attr("strides", "list { i: 1 i: 1 i: 1 i: 1 }")} }}'


def const(value, dtype="DT_FLOAT"):
    return f'node {{ name: "y" op: "Const" {attr("dtype", f"type: {dtype}")} {attr("value", value)} }}'


def sums(*attrs):
    return f'node {{ name: "y" op: "AddN" {attr("T", "type: DT_FLOAT")} {" ".join(attrs)} }}'


def placeholder(*attrs):
    return f'node {{ name: "y" op: "Placeholder" {" ".join(attrs)} }}'


GOOD = [
    matmul(attr("transpose_a", "b: true")), matmul(attr("_foo", "i: 3")), matmul(attr("transpose_a", "")),
    matmul(attr("_output_shapes", "i: 3")), matmul(attr("_output_shapes", "list { i: 3 }")),
    matmul(attr("foo", "i: 3")), matmul(attr("_x", "")),
    matmul(attr("_class", 'list { s: "nope" }')), matmul(attr("_class", "list { }")), pool(),
    const("tensor { dtype: DT_QUINT8 tensor_shape { } int_val: 1 }", "DT_QUINT8"),
]
BAD = [
    matmul(attr("transpose_a", 's: "x"')), matmul(attr("transpose_a", "i: 1")), matmul(attr("transpose_a", "f: 1")),
    matmul(attr("transpose_a", "list { b: true }")), matmul(attr("transpose_a", 'placeholder: "q"')),
    A.replace("FLOAT", "STRING") + matmul()[len(A):].replace("FLOAT", "STRING"),
    A + f'node {{ name: "y" op: "Identity" input: "a" {attr("T", "i: 1")} }}', pool(padding='s: "FOO"'),
    pool("list { i: 1 i: 1 i: 1 }"), pool("list { f: 1 f: 1 f: 1 f: 1 }"), pool("i: 1"),
    pool("list { i: 1 i: 1 i: 1 i: 1 f: 2 }"), const("i: 5"), const("tensor { dtype: DT_FLOAT_REF }", "DT_FLOAT_REF"),
    const("tensor { }", "DT_INVALID"), const("tensor { dtype: DT_FLOAT tensor_shape { dim { size: -5 } } }"),
    const("tensor { dtype: DT_FLOAT tensor_shape { dim { size: 1099511627776 } dim { size: 1099511627776 } } }"),
    placeholder(attr("dtype", "type: 0")), placeholder(attr("dtype", "type: 99")),
    placeholder(attr("dtype", "type: DT_FLOAT_REF")), placeholder(FLOAT, attr("shape", "i: 1")),
    placeholder(FLOAT, attr("shape", "shape { dim { size: -7 } }")), sums(attr("N", "i: 0")), sums(attr("N", "i: -1")),
    A + f'node {{ name: "y" op: "LeakyRelu" input: "a" {attr("alpha", "i: 1")} }}',
    f'node {{ name: "y" op: "IdentityN" {attr("T", "list { }")} }}',
    A + f'node {{ name: "y" op: "IdentityN" input: "a" {attr("T", "list { type: DT_INT32 }")} }}',
    # TensorFlow takes these, and fails when they run, or takes memory for them then
    const("tensor { dtype: DT_INT32 tensor_shape { } int_val: 1 }"),
    const("tensor { dtype: DT_RESOURCE }", "DT_RESOURCE"), const("tensor { dtype: DT_VARIANT }", "DT_VARIANT"),
    const('tensor { dtype: DT_FLOAT tensor_shape { dim { size: 2 } } tensor_content: "abc" }'),
]
LATER = 4                           # of the bad ones, in TensorFlow


def imported(text):
    graph_def = text_format.Parse(text, tf.GraphDef())
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(graph_def, name="")
        return graph


@pytest.mark.parametrize("text", GOOD)
def test_taken(text):
    assert imported(text).get_operation_by_name("y").type


@pytest.mark.parametrize("text", BAD)
def test_refused(text):
    with pytest.raises(ValueError, match="'?y'?"):
        imported(text)


def test_tensors_too_large_for_any_memory():
    with pytest.raises(tf.errors.ResourceExhaustedError, match="'y'"):
        imported(const("tensor { dtype: DT_FLOAT tensor_shape { dim { size: 17592186044416 } } float_val: 1 }"))


@pytest.mark.parametrize("value", ["i: 5", "list { i: 5 }", 's: "x"', "list { f: 1 }"])
def test_colocation_that_is_no_list_of_strings(value):
    with pytest.raises(TypeError, match="_class.*'y'"):
        imported(matmul(attr("_class", value)))


@pytest.mark.oracle
def test_as_tensorflow(oracle):
    answers = oracle(f"""
from google.protobuf import text_format
def answer(text):
    with tf.Graph().as_default():
        try:
            tf.import_graph_def(text_format.Parse(text, tf.GraphDef()), name="")
            return "taken"
        except ValueError:
            return "refused"
result = repr([answer(text) for text in {GOOD + BAD!r}])
""")
    taken, refused = ["taken"] * len(GOOD), ["refused"] * (len(BAD) - LATER)
    assert str(answers) == repr(taken + refused + ["taken"] * LATER)


def test_create_op_checks_them_too():
    graph = tf.get_default_graph()
    x = tf.ones([2, 2])
    y = graph.create_op("MatMul", [x, x], attrs={"transpose_a": tf.AttrValue(b=True)})
    assert y.get_attr("transpose_a") is True
    for wrong in ({"transpose_a": tf.AttrValue(i=1)}, {"T": tf.AttrValue(type=tf.string.as_datatype_enum)}):
        with pytest.raises(ValueError, match="'y'"):
            graph.create_op("MatMul", [x, x], attrs=wrong, name="y")
    with pytest.raises(ValueError, match="'N' of 0 must be at least minimum 1"):
        graph.create_op("AddN", [], attrs={"N": tf.AttrValue(i=0), "T": tf.AttrValue(type=1)})
    with pytest.raises(ValueError, match="not in the list of allowed values"):
        graph.create_op("MatMul", [tf.constant("a"), tf.constant("b")])


def test_nodes_that_would_have_too_many_outputs():
    for count in (1 << 23, 1 << 31, (1 << 63) - 1):
        with pytest.raises(ValueError, match="outputs, got"):
            imported(A + f'node {{ name: "y" op: "Unpack" input: "a" {attr("num", f"i: {count}")} }}')


def test_a_node_without_outputs_runs():
    with tf.Graph().as_default(), tf.Session() as sess:
        text = A + f'node {{ name: "y" op: "Unpack" input: "a" {attr("num", "i: 0")} }}'
        tf.import_graph_def(text_format.Parse(text, tf.GraphDef()), name="")
        for _ in range(3):
            sess.run("y", {"a:0": []})


def test_a_handle_of_another_kind():
    queue = tf.FIFOQueue(2, [tf.float32])
    size = tf.get_default_graph().create_op("StackPopV2", [queue.queue_ref], attrs={"elem_type": tf.float32})
    with tf.Session() as sess:
        for _ in range(3):
            with pytest.raises(tf.errors.InvalidArgumentError, match="not of the kind"):
                sess.run(size.outputs[0])
        assert sess.run(queue.size()) == 0
