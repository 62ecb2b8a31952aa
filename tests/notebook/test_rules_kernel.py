"""The rules of cells that own their ops, each as a user meets it, in a real kernel."""
import pytest

from tests.notebook.test_kernel import FEED, LOSS, MODEL, TRAIN, model, names

pytestmark = pytest.mark.slow

STRUCTURE = ("print([(op.name, op.type, [t.name for t in op.inputs], [c.name for c in op.control_inputs]) "
             "for op in tf.get_default_graph().get_operations()], {k: [getattr(v, 'name', v) for v in vs] "
             "for k, vs in tf.get_default_graph()._collections.lists.items() if vs})")
QUEUE = ("q = tf.FIFOQueue(3, tf.float32, [], name='q'); put = q.enqueue(1.0)\n"
         "n = q.size(); out = q.dequeue()")


def fresh_run(page, *sources):
    """The structure of the graph that the cells make from top to bottom, in a graph of its own."""
    page.run("tf.reset_default_graph()", "R")
    for i, source in enumerate(sources):
        page.run(source, f"fresh {i}")
    return page.run(STRUCTURE, "look")


def test_after_any_runs_the_graph_is_that_of_restart_and_run_all(page):
    cells = {
        "A": "def dense(x, n, name):\n    with tf.variable_scope(name):\n"
             "        w = tf.get_variable('w', [x.shape[1], n])\n"
             "        return tf.nn.relu(tf.matmul(x, w))",
        "B": "x = tf.placeholder(tf.float32, [None, 4], name='x')\nh = dense(x, 3, 'one')",
        "C": "y = dense(h, 2, 'two')\nextra = tf.constant(1.0)",
        "D": "loss = tf.reduce_mean(tf.square(y)); z = tf.constant(2.0)",
        "E": "train = tf.train.AdamOptimizer().minimize(loss)",
        "F": "saver = tf.train.Saver(); init = tf.global_variables_initializer()",
    }
    for key, source in cells.items():
        page.run(source, key)
    page.run(cells["B"], "B")
    cells["C"] = cells["C"].replace("relu", "tanh") + "\nmore = tf.constant(3.0, name='more')"
    page.run(cells["C"], "C")
    page.run(cells["A"].replace("relu", "tanh"), "A")
    cells["A"] = cells["A"].replace("relu", "tanh")
    page.run(cells["B"], "B")
    page.run(cells["C"], "C")
    page.run(cells["D"], "D")
    assert "run again" in page.text("E")
    page.run("%stale run", "S")
    assert "run again" not in "".join(page.text(key) for key in "BCDEF")
    page.run("pass", "G", deleted=["nothing"])
    page.run(cells["B"].replace("x = ", "1 / 0; x = "), "B")
    page.run("%graph undo", "S")
    for key in "EF":
        page.run(cells[key], key)
    mine = page.run(STRUCTURE, "look")
    assert mine == fresh_run(page, *cells.values())


def test_functions_that_create_variables_may_be_called_again(page):
    page.run("def layer(x, name):\n    with tf.variable_scope(name, reuse=tf.AUTO_REUSE):\n"
             "        return x * tf.get_variable('w', [2], initializer=tf.ones_initializer())", "A")
    page.run("x = tf.placeholder(tf.float32, [2], name='x')\ny = layer(x, 'l')", "B")
    page.run("y2 = layer(y, 'l')\nwith tf.variable_scope('l', reuse=True): w = tf.get_variable('w')", "C")
    page.run("sess = tf.InteractiveSession(); sess.run(tf.global_variables_initializer()); "
             "sess.run(tf.assign(w, [3.0, 4.0]))", "D")
    for _ in range(2):
        page.run("x = tf.placeholder(tf.float32, [2], name='x')\ny = layer(x, 'l')", "B")
        assert "1 variable kept" in page.text("B") and "up to date" in page.text("C")
        assert page.run("print(y2.eval({x: [1.0, 1.0]}), len(tf.global_variables()))", "F") == "[ 9. 16.] 1"
    page.run("y2 = layer(y, 'm')", "C")
    assert page.run("print([v.name for v in tf.global_variables()])", "F") == "['l/w:0', 'm/w:0']"


def test_get_variable_in_a_cell_alone_and_in_its_neighbour(page):
    page.run("w = tf.get_variable('w', [2])", "B")
    page.run("w = tf.get_variable('w', [2])", "B")
    assert "1 variable · as before" in page.text("B")
    assert "already exists" in page.run("v = tf.get_variable('w', [2])", "C")
    page.run("pass", "B")
    page.run("v = tf.get_variable('w', [2])", "C")
    assert names(page)[0].startswith("w/")


def test_slots_and_moments_go_on(page):
    page.run(MODEL, "B")
    page.run(LOSS, "C")
    adam = TRAIN.replace("GradientDescentOptimizer(0.5)", "AdamOptimizer(0.1)")
    page.run(adam, "D")
    page.run(f"sess = tf.InteractiveSession(); sess.run(tf.global_variables_initializer())\n"
             f"for _ in range(4): sess.run(train, {FEED})", "E")
    look = "print([sess.run(v).tolist() for v in tf.global_variables()])"
    before = page.run(look, "F")
    assert before.count("[") == 4, "the weights, two moments and two powers"
    page.run(MODEL, "B")
    assert page.run(look, "F") == before, "the model again"
    page.run(adam, "D")
    assert page.run(look, "F") == before and "4 variables kept" in page.text("D"), "the optimizer again"
    page.run(adam.replace("Adam", "Momentum").replace("(0.1)", "(0.1, 0.9)"), "D")
    assert "1 variable new" in page.text("D") and "removed" in page.text("D")
    assert "FailedPreconditionError" in page.run(f"sess.run(train, {FEED})", "G")
    page.run("sess.run(tf.variables_initializer([v for v in tf.global_variables() if v is not W]))", "H")
    assert page.run(f"sess.run(train, {FEED})", "G") == ""


def test_several_graphs_and_their_sessions(page):
    page.run("g1, g2 = tf.Graph(), tf.Graph()", "A")
    code = "with g{0}.as_default():\n    v = tf.Variable({1}, name='v'); y{0} = v * 2.0"
    page.run(code.format(1, 5.0), "B")
    page.run(code.format(2, 7.0), "C")
    page.run("s1, s2 = tf.Session(graph=g1), tf.Session(graph=g2)\n"
             "s1.run(g1.get_operation_by_name('v/Assign')); s2.run(g2.get_operation_by_name('v/Assign'))", "D")
    page.run(code.format(1, 6.0), "B")
    assert page.run("print(s1.run(y1), s2.run(y2))", "F") == "10.0 14.0", "the value that was there stays"
    assert "1 variable kept" in page.text("B") and names(page) == []
    page.run("with g1.as_default():\n    z = tf.constant(1.0)\n    1 / 0", "E")
    assert page.run("print(tf.get_default_graph() in (g1, g2), len(g1.get_operations()))", "F").startswith("False")
    page.run("1", "X", deleted=["C"])
    assert page.run("print(len(g2.get_operations()))", "F") == "0"


def test_a_moved_cell_stays_the_same(page):
    model(page)
    before = names(page)
    page.run(MODEL, "B", deleted=["B"])
    assert "as before" in page.text("B") and names(page) == before


def test_a_finalized_graph_may_still_be_changed_where_cells_come_before(page):
    model(page)
    page.run("mon = tf.train.MonitoredSession(); print(mon.run(W).tolist())", "M")
    assert "[1.0, 1.0, 1.0]" in page.text("M")
    page.run(MODEL.replace("sigmoid", "tanh"), "B")
    assert "up to date" in page.text("B")
    assert "finalized" in page.run("late = tf.constant(1.0)", "N")


def test_queues_take_the_place_of_older_ones(page):
    page.run(QUEUE, "B")
    page.run("sess = tf.InteractiveSession(); sess.run(put); sess.run(put)", "C")
    page.run(QUEUE, "B")
    assert page.run("print(sess.run(n))", "D") == "2", "what is in it stays"
    page.run(QUEUE.replace("float32", "int32").replace("1.0", "5"), "B")
    assert page.run("sess.run(put); print(sess.run(n), sess.run(out))", "D") == "1 5"


def test_device_scope_and_show_of_graph_cells(page):
    page.run("%%graph --scope part --device /cpu:0 --show\ny = tf.constant(1.0, name='y')", "B")
    assert names(page) == ["part/y"] and page.run("print(y.device)", "look") == "/device:CPU:0"
    kinds = {kind for output in page.outputs["B"] if "data" in output for kind in output["data"]}
    assert "image/svg+xml" in kinds
    assert "did you mean --device?" in page.run("%%graph --devise x\n1", "C")
    page.run("g = tf.Graph()", "G")
    for _ in range(2):
        page.run("%%graph --scope part --device /cpu:0 --show\n"
                 "with g.as_default(): z = tf.constant(1.0, name='z')", "D")
        assert page.run("print(z.name, z.device)", "look") == "part/z:0 /device:CPU:0"
        assert "z  Const" in page.text("D")
    page.run("with tf.name_scope('part'): n = tf.constant(1.0, name='n')\n"
             "with g.as_default(), tf.name_scope('other'): n = tf.constant(1.0, name='n')", "E")
    assert page.run("print([op.name for op in g.get_operations()])", "look") == "['part/z', 'other/n']"
    page.run("del g, y, z, n", "look")          # what is alive has ops of these cells


def test_an_error_in_a_cell_of_notebooks_without_ids_is_taken_back(page):
    page.run("y = tf.constant(1.0, name='y'); 1 / 0")
    page.run("z = tf.constant(1.0, name='z')")
    assert names(page) == ["z"]


def test_stale_tensors_name_both_cells(page):
    model(page)
    page.run("old = a", "K")
    page.run(MODEL, "B")
    shown = page.run("b = tf.abs(old)", "L")
    assert shown.startswith("StaleTensorError: 'a' (Sigmoid): it was made when its cell ran as [")
    assert "the cell ran again as [" in shown and "made a new one" in shown


def test_ops_of_a_function_belong_to_the_cell_that_calls_it(page):
    page.run("def layer(x):\n    return tf.nn.relu(x)", "A")
    page.run("y = layer(tf.zeros([2]))", "B")
    made, _, called = page.run("print(y.op.made_at)", "look").partition(", called at ")
    assert made.endswith("line 2: `return tf.nn.relu(x)`") and called.endswith(", line 1")
    assert called.partition(",")[0] in page.run("print(tf.notebook.graph_view(color='cell').svg())", "look")


def test_a_function_that_is_defined_otherwise_outdates_what_other_cells_made_by_it(page):
    page.run("def layer(x, n=2):\n    'Doc.'\n    return tf.layers.dense(x, n, name='d')", "A")
    page.run("y = layer(tf.zeros([1, 3]))", "B")
    page.run("z = y + 1.0", "C")
    page.run("# moved\ndef layer(x, n=2):\n    'Another doc.'\n\n    return tf.layers.dense(x, n, name='d')", "A")
    assert "up to date" in page.text("B")
    page.run("def layer(x, n=3):\n    return tf.layers.dense(x, n, name='d')", "A")
    assert "run again: layer() changed in [" in page.text("B")
    assert "run again: depends on [" in page.text("C") and "which calls layer(), which changed in [" in page.text("C")
    assert "changed in" in page.run("%why y", "W") and "out of date" in page.text("W")
    page.run("s = tf.Session(); s.run(tf.global_variables_initializer())", "D")
    assert page.run("print(s.run(z).shape)", "look").startswith("(1, 2)"), "it may be used"
    assert "layer() changed" in page.run("%stale", "S")
    page.run("%stale run", "S")
    assert "run again" not in page.text("B") and page.run("print(y.shape)", "look") == "(1, 3)"
    page.run("s.close(); del s, y, z", "look")


def test_a_value_that_a_cell_above_sets_otherwise_outdates_what_was_made_with_it(page):
    page.run("hidden, sizes, lr, n = 16, [4, 2], 0.1, 3\nwide = hidden * 2\nclass Config: depth = 3", "sizes")
    page.run("def net(x):\n    return [tf.layers.dense(x, n, name=f'd{n}') for n in sizes]", "net")
    page.run("x = tf.zeros([1, 3])\ny = tf.layers.dense(x, hidden, name='h')", "layer")
    page.run("outs = net(tf.zeros([1, 3]))", "outs")
    page.run("n = 5\nz = tf.ones([n]) * lr", "scaled")
    page.run("for lr in (0.1, 0.05):\n    hidden = 1\nn = 7", "loop")
    assert all("up to date" in page.text(cell) for cell in ("layer", "outs", "scaled")), "it is for later runs"
    page.run("hidden, sizes, lr, n = 8, [4, 2], 0.1, 4\nwide = hidden * 2", "sizes")
    assert "run again: hidden changed from 16 to 8 in [" in page.text("layer")
    assert all("up to date" in page.text(cell) for cell in ("outs", "scaled"))
    page.run("hidden, sizes, lr, n = 16, [4, 3], 0.2, 4\n1 / 0", "sizes")
    assert "run again" not in page.text("layer"), "it is what it was"
    assert "run again: sizes changed from [4, 2] to [4, 3] in [" in page.text("outs")
    assert "run again: lr changed from 0.1 to 0.2 in [" in page.text("scaled")
    assert "n changed" not in page.text("scaled")
    assert "sizes changed" in page.run("%stale", "S") and "lr changed" in page.run("%why z", "S")
    page.run("%stale run", "S")
    assert all("up to date" in page.text(cell) for cell in ("layer", "outs", "scaled"))
    assert page.run("print([o.shape[1].value for o in outs])", "look") == "[4, 3]"
    page.run("%graph undo", "S")
    assert "run again: lr changed" in page.text("scaled") and "up to date" in page.text("outs")
    page.run("sizes = tf.constant(3)", "sizes")
    assert "up to date" in page.text("outs"), "no plain value"


def test_a_function_of_the_same_name_in_another_cell_outdates_nothing(page):
    page.run("def body(x):\n    return x + 1.0", "A")
    page.run("y = body(tf.constant(1.0))", "B")
    page.run("def body(x):\n    return x * 2.0\nz = body(y)", "C")
    assert "run again" not in page.text("B")
    page.run("def body(x):\n    return x - 1.0", "A")
    assert "run again: body() changed" in page.text("B") and "body() changed" not in page.text("C")
    page.run("def body(x):\n    return x + 1.0", "A")
    assert "run again" not in page.text("B"), "it is what it was"
    page.run("def body(x):\n    return x + 3.0\n1 / 0", "A")
    assert "run again: body() changed" in page.text("B"), "a cell that failed has defined it all the same"
    page.run("pass", "E")
    page.run("def body(x):\n    return x + 1.0", "A")
    assert "run again" not in page.text("B")


def test_what_a_changed_cell_made_anew_gets_a_value_and_the_rest_keeps_its_own(page):
    page.run("v = tf.Variable([1.0, 2.0], name='v')\nw = tf.Variable(3.0, name='w')", "A")
    page.run("t = tf.train.MomentumOptimizer(0.1, 0.9).minimize(tf.reduce_sum(v) + w)", "B")
    page.run("s = tf.InteractiveSession(); s.run(tf.global_variables_initializer()); s.run(t); s.run(t)", "C")
    before = page.run("print(s.run([w, 'w/Momentum:0']))", "D")
    page.run("v = tf.Variable([1.0, 2.0, 4.0], name='v')\nw = tf.Variable(3.0, name='w')", "A")
    assert "1 variable kept · 1 variable new" in page.text("A")
    assert "; initialized v, v/Momentum; no cell is stale" in page.run("%stale run", "S")
    assert page.run("print(s.run([w, 'w/Momentum:0']))", "D") == before
    assert "all have values" in page.run("%vars --init", "E")
    assert "Error" not in page.run("s.run(t)", "F")
    page.run("s.close(); del s, v, w, t", "look")


def test_what_a_function_refused_is_drawn_with_what_it_got(page):
    page.run("x = tf.placeholder(tf.float32, [None, 1], name='x')", "A")
    page.run("y = tf.fill([3, 4], 0.5, name='y')\nz = tf.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=x)", "B")
    drawn = next(o["data"]["text/plain"] for o in page.outputs["B"] if "image/svg+xml" in o.get("data", {}))
    assert "y  Fill  float32[3×4]  → sigmoid_cross_entropy_with_logits()" in drawn and "x  Placeholder" in drawn
    page.run("s = tf.Session()\ns.run(x, {x: [[1.0, 2.0]]})", "C")
    page.run("int('x')", "D")
    assert not any("image/svg+xml" in o.get("data", {}) for key in "CD" for o in page.outputs[key])
    page.run("s.close(); del s, x", "look")


def test_an_optimizer_says_that_its_loss_was_taken_back(page):
    page.run("w = tf.Variable([1.0]); loss = tf.reduce_sum(w); 1 / 0", "B")
    shown = page.run("tf.train.AdamOptimizer().minimize(loss)", "C")
    assert shown.startswith("StaleTensorError: 'Sum' (Sum): it was made by the run ["), "not: no variables to optimize"
