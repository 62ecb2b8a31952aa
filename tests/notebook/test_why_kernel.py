"""`%why` and `%collections` in a real kernel."""
import pytest

from tests.notebook.test_kernel import FEED, MODEL, TRAIN, model, names

pytestmark = pytest.mark.slow


def rows(text):
    """Question -> answer."""
    return {line[2:].split("  ")[0].strip(): line[2:].split("  ", 1)[1].strip() for line in text.splitlines()[1:]}


def test_why_names_the_line_the_cell_and_what_stands_on_an_op(page):
    model(page)
    shown = page.run("%why h", "Y")
    answer = rows(shown)
    assert shown.startswith("h (Mul) float32[?, 3]: up to date")
    assert answer["made"].endswith('line 3: `h = tf.multiply(x, W, name="h")`') and "cell [" in answer["made"]
    assert answer["in Python"] == "h"
    assert answer["cell"].endswith(" ops") and "x (Placeholder, float32[?, 3]) of [" in answer["takes"]
    assert answer["used by"].startswith("a; ") and "in all" in answer["used by"]
    assert "differentiate it: gradients/h_grad" in answer["gradient"]
    assert answer["values"] == "W has a value in sess"
    assert "last run" not in answer and "stale" not in answer
    assert rows(page.run("%why W", "Y"))["collections"] == "variables, trainable_variables"
    assert "text/html" in page.outputs["Y"][0]["data"]


def test_why_says_what_changed_and_what_to_run(page):
    model(page)
    page.run("old = a", "look")
    page.run(MODEL.replace("sigmoid", "tanh"), "B")
    answer = rows(page.run("%why train", "Y"))
    assert page.text("Y").startswith("GradientDescent (NoOp): run again")
    assert "'a' changed in [" in answer["stale"] and answer["run"].endswith("again, or %stale run")
    assert answer["changed"].startswith("'a' in [") and "it was Sigmoid and is Tanh" in answer["changed"]
    assert answer["values"].startswith("W has a value in sess, kept over the run [")
    assert "it was Sigmoid and is Tanh" in rows(page.run("%why a", "Y"))["last run"]
    assert "which made it as before" in rows(page.run("%why h", "Y"))["last run"]
    moved = rows(page.run("%why loss", "Y"))["moved over"]
    assert moved.startswith("its input 'a' is the new one of [")
    assert page.text("Y").splitlines()[0].endswith("up to date")
    shown = page.run("%why old", "Y")
    assert "run again" in shown and "and made a new one" in rows(shown)["stale"]
    page.run(TRAIN, "D")
    assert page.run("%why train", "Y").splitlines()[0].endswith("up to date")
    assert page.run(f"sess.run(train, {FEED})", "F") == ""


def test_why_says_which_variables_lost_their_values(page):
    model(page)
    page.run(MODEL.replace("[3]", "[4]").replace("3]", "4]"), "B")
    assert rows(page.run("%why W", "Y"))["values"].startswith("W has no value in sess: its shape was 3 and is 4")


def test_why_of_what_is_not_there(page):
    model(page)
    assert page.run("%why los", "Y").startswith("UsageError: ") and "did you mean 'loss'?" in page.text("Y")
    assert "UsageError" in page.run("%why", "Y") and "UsageError" in page.run("%why 3", "Y")


def test_collections_show_owning_cells(page):
    model(page)
    page.run("tf.add_to_collection('marks', 'my <b>mark</b>')", "K")
    shown = page.run("%collections", "C2")
    assert "  trainable_variables  1" in shown and "W  VariableV2 float32[3]  [" in shown and "my <b>mark</b>" in shown
    html = page.outputs["C2"][0]["data"]["text/html"]
    assert "<details" in html and "my &lt;b&gt;mark" in html and "line 2" in html
    assert '<a href="#cell-id=B"' in html and '<a href="#cell-id=K"' in html and "by name" not in shown
    assert page.run("%collections marks", "C2").startswith("1 collection\n  marks  1")
    label = page.text("B").split("]")[0].split("[")[1]
    shown = page.run(f"%collections --owner {label}", "C2")
    assert shown.startswith(f"2 collections with entries of [{label}]") and "marks" not in shown
    assert "did you mean 'marks'?" in page.run("%collections mark", "C2")
    assert "no cell [99] put anything there" in page.run("%collections --owner 99", "C2")
    page.run("pass", "K")
    assert "marks" not in page.run("%collections", "C2"), "entries leave with their cell"
    assert "W" in names(page)


def test_a_shape_error_draws_what_was_made_up_to_the_op_that_failed(page):
    model(page)
    page.run("with tf.name_scope('layer'):\n    b = tf.zeros([4], name='b')\n    c = tf.tanh(b)\n    d = h + c", "N")
    shown = [output for output in page.outputs["N"] if output["kind"] == "display_data"]
    assert "ValueError" in page.text("N") and len(shown) == 1
    svg, text = shown[0]["data"]["image/svg+xml"], shown[0]["data"]["text/plain"]
    assert "could not be made" in svg and 'class="n f-op r-failed"' in svg and 'data-name="h + c"' in svg
    assert "layer/Tanh" in svg and 'data-name="h"' in svg and "data-name=\"W/" not in svg, "not what stands before h"
    assert "  h + c  h + c  of 4 ✗, " in text or "✗, 4 ✗" in text
    assert not [name for name in names(page) if name.startswith("layer")]
    page.run("%config Tfnb.partial_graphs = False", "K")
    page.run("d = h + tf.zeros([4])", "N")
    assert [output["kind"] for output in page.outputs["N"]] == ["error"]
    page.run("%config Tfnb.partial_graphs = True", "K")


def test_the_last_run_is_drawn(page):
    page.run("x = tf.constant(1.0, name='x')\nh = tf.sigmoid(x, name='h')\nz = tf.exp(x, name='z')", "A")
    page.run("x = tf.constant(1.0, name='x')\nh = tf.tanh(x, name='h')\nn = tf.exp(h, name='n')", "A")
    page.run("v = tf.notebook.graph_view(color='change')", "B")
    said = page.run("print(*(v.details(name)['change'] for name in 'hxn'), sep=' | ')", "C")
    assert said.startswith("changed: it was Sigmoid and is Tanh, since [") and "| as before | new: since [" in said
    assert page.run("print(v.widget_state()['note'])", "C") == "made no longer: z"
    assert page.run("v = %graph --diff --format svg\nprint(v.state['color'], v.form)", "C") == "change svg"
    loud = page.run("print({n.name: n.paint for n in v._shown().nodes})", "C")
    assert loud == "{'x': 'c6', 'h': 'c1s', 'n': 'c2s'}", "what changed is loud, what is as before grey"


def test_op_prints_the_contract_of_a_type_and_the_attrs_of_a_node(page):
    page.run("x = tf.placeholder(tf.float32, [None, 3], name='x')\ny = tf.matmul(x, tf.ones([3, 2]), name='y')", "B")
    kind = page.run("%op MatMul", "Y")
    assert kind.startswith("MatMul(a, b, transpose_a=False, transpose_b=False, ") and "one dtype" in kind
    for asked in ("y", "y:0"):
        node = page.run(f"%op {asked}", "Y")
        assert node.startswith("y: MatMul(x:0, ones:0, ") and "transpose_a=False" in node and node.endswith(kind)
    assert "did you mean 'MatMul'" in page.run("%op MatMull", "Y")


def test_cells_in_texts_are_links_to_them(page):
    model(page)
    page.run("%vars", "V")
    label = page.run("%why h", "Y").partition("cell [")[2].partition("]")[0]
    table, reasons = (page.outputs[cell][0]["data"]["text/html"] for cell in "VY")
    for html in (table, reasons):
        assert f'title="go to the cell">[{label}]' in html and '<a href="#cell-id=' in html
    assert "<code>" in reasons and "`" not in reasons, "the text of a line is code"
    bad = page.run("bad = tf.log(h * 0. - 1., name='bad')\n%nan bad --feed " + FEED, "N")
    assert "bad" in bad
    assert 'go to the cell">' in next(each["data"]["text/html"] for each in page.outputs["N"] if "data" in each)
