"""Statements of cells behind the nodes of a drawing, in a kernel that a front end tells its cells."""
import json

FUNCTION = """def layer(x, name):

    return tf.layers.dense(
        x, 3,
        activation=tf.nn.relu, name=name)"""
MODEL = """x = tf.placeholder(tf.float32, [None, 4], name="x")
h = layer(x, "first"); n = 1
for i in range(2):
    h = layer(h, f"more{i}")
y = tf.add(h,
           tf.constant([[1.,
                         2., 3.]]), name="y")"""
TELL = """import json as _json
from tfnb.notebook.graph.code_lines import code_lines as _lines
_view = tf.notebook.graph_view()
_told = _lines(_view.model, _view._scene())
print(_json.dumps(_told))"""


def told(page):
    return json.loads(page.run(TELL, "asks"))


def statements(found):
    """(cell, first, last, text) -> the nodes."""
    return {(cell, *each[:3]): set(each[3]) for cell, many in found["cells"].items() for each in many}


def test_an_op_belongs_to_its_line_and_to_the_calls_that_led_there(page):
    page.run(FUNCTION, "function")
    page.run(MODEL, "model")
    found = told(page)
    layers = {"first/", "more0/", "more1/"}
    assert statements(found) == {
        ("function", 3, 5, "return tf.layers.dense("): layers,
        ("model", 1, 1, 'x = tf.placeholder(tf.float32, [None, 4], name="x")'): {"x"},
        ("model", 2, 2, 'h = layer(x, "first"); n = 1'): {"first/"},
        ("model", 4, 4, 'h = layer(h, f"more{i}")'): {"more0/", "more1/"},
        ("model", 5, 7, "y = tf.add(h,"): {"y/"}}
    where = [(cell, found["cells"][cell][index][0]) for cell, index in found["nodes"]["more1/"]]
    assert where == [("function", 3), ("model", 4)], "the line of the op, then its call"
    page.run(MODEL, "model")
    assert statements(told(page)) == statements(found)


def test_only_cells_that_the_front_end_knows_are_named(page):
    page.run('a = tf.constant(1.0, name="a")')
    page.run('b = tf.negative(a, name="b")', "known")
    found = told(page)
    assert set(found["cells"]) == {"known"} and found["nodes"]["b"][0][0] == "known"
    assert "a" not in found["nodes"]


def test_a_view_answers_with_its_lines(page):
    page.run("x = tf.constant(1.0, name='x')", "model")
    said = page.run("""view = tf.notebook.graph_view()
class Wire: send = lambda self, message: print(message["type"], sorted(message))
view.widget = Wire()
view.hear({"type": "lines"})""", "asks")
    assert said.splitlines()[0] == "lines ['cells', 'nodes', 'type']"
