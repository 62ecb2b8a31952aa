"""Stale cells in a real kernel: listed, run again in their places, taken back; and ownership switched off."""
import pytest

from tests.notebook.kernel import Page
from tests.notebook.test_kernel import FEED, MODEL, model, names

pytestmark = pytest.mark.slow


def test_stale_cells_are_listed_with_reasons_and_run_again_in_their_places(page):
    model(page)
    assert page.run("%stale", "S") == "no cell is stale"
    page.run(MODEL.replace("sigmoid", "tanh"), "B")
    shown = page.run("%stale", "S").splitlines()
    assert shown[0] == "1 stale cell" and "'a' changed in [" in shown[1] and " - run [" in shown[1]
    assert "<table>" in page.outputs["S"][0]["data"]["text/html"]
    page.outputs["S"].clear()
    shown = page.run("%stale run", "S").splitlines()
    assert shown[-1].endswith("again; no cell is stale") and shown[-1].startswith("ran [")
    assert "up to date" not in "".join(shown), "the badge stands in the cell, not here"
    assert "up to date" in page.text("D") and "run again" not in page.text("E")
    assert page.run(f"sess.run(train, {FEED})", "F") == ""


def test_drawings_of_what_changed_are_out_of_date_and_the_list_is_that_of_now(page):
    model(page)
    page.run("%graph a", "G")
    page.run("%why a", "Y")
    page.run("v = %stale", "S")
    page.run(MODEL, "B")
    assert "run again" not in page.text("G"), "it is what it was"
    page.run(MODEL.replace("sigmoid", "tanh"), "B")
    for cell in ("G", "Y"):
        assert "run again: 'a' changed in [" in page.text(cell), cell
    assert page.run("print(len(v), v)", "look").startswith("3 3 stale cells\n")
    page.run("w = %graph a", "again")
    assert "run again" not in page.text("again"), "it shows what there is, stale or not"
    page.run("%stale run", "R")
    assert "run again" not in page.text("G") + page.text("Y")
    assert page.run("print(len(v), v)", "look") == "0 no cell is stale"


def test_what_a_fix_initializes_is_seen_by_badges_and_the_start_page(page):
    page.run("sess = tf.InteractiveSession()", "S")
    for _ in range(2):
        page.run("w = tf.Variable([1.0], name='w')", "B")
    page.run("start = %tfnb\ntold = []\nstart.update = lambda: told.append(str(start))", "T")
    assert "Lesson: " in page.run("sess.run(w)", "R") and "1 variable without a value" in page.text("B")
    page.run("import gc\nfrom tfnb.notebook.lessons.panel import LessonPanel\ntold.clear()\n"
             "panel = [each for each in gc.get_objects() if type(each) is LessonPanel][-1]\n"
             "panel.hear({'type': 'do', 'name': '0'})\nassert panel.note.startswith('Done')", "P")
    assert "without a value" not in page.text("B")
    assert page.run("print(len(told), 'without a value' in told[-1])", "look") == "1 False"


def test_cells_that_run_again_show_their_output_in_themselves(page):
    page.run("x = tf.placeholder(tf.float32, [2], name='x')\ny = tf.sin(x, name='y')", "B")
    label = page.run("g = tf.gradients(y, x)[0]\nprint('made', g.name)\n'value', g.name", "C")
    assert "made gradients" in label
    page.run("x = tf.placeholder(tf.float32, [2], name='x')\ny = tf.cos(x, name='y')", "B")
    before = [o.get("execution_count") for o in page.outputs["C"] if o["kind"] == "execute_result"]
    page.run("%stale run", "S")
    assert "made gradients" in page.text("C") and "made" not in page.text("S")
    assert [o.get("execution_count") for o in page.outputs["C"] if o["kind"] == "execute_result"] == before
    assert "cell [" in page.run("print(g.op.made_at)", "look")
    assert page.run("print(g.op.type)", "look") == "Mul"
    count = int(page.run("print(get_ipython().execution_count)", "look"))
    assert int(page.run("print(get_ipython().execution_count)", "look")) == count + 1


def test_without_ids_of_cells_the_output_stays_with_who_asked(page):
    page.run("%%graph model\nx = tf.placeholder(tf.float32, [2], name='x')\ny = tf.sin(x, name='y')")
    page.run("g = tf.gradients(y, x)[0]\nprint('made', g.name)")
    page.run("%%graph model\nx = tf.placeholder(tf.float32, [2], name='x')\ny = tf.cos(x, name='y')")
    shown = page.run("%stale run")
    assert "made gradients/" in shown and shown.endswith("again; no cell is stale")
    assert page.run("print(g.op.type)", "look") == "Mul"


def test_a_stale_cell_that_fails_says_so_and_stops(page):
    page.run("x = tf.placeholder(tf.float32, [2], name='x')\ny = tf.sin(x, name='y'); good = True", "B")
    page.run("assert good\ng = tf.gradients(y, x)[0]", "C")
    page.run("x = tf.placeholder(tf.float32, [2], name='x')\ny = tf.cos(x, name='y'); good = False", "B")
    shown = page.run("%stale run", "S")
    assert shown.startswith("UsageError: cell [") and "failed: AssertionError" in shown
    assert "AssertionError" in page.text("C") and "run again" in page.text("C")
    page.run("good = True", "G")
    assert "ran [" in page.run("%stale run", "S") and "up to date" not in page.text("S")
    assert "up to date" in page.text("C"), "a run that failed leaves the cell its place"


def test_a_stale_cell_that_needs_one_below_it_runs_after_that(page):
    page.run("x = tf.placeholder(tf.float32, [2], name='x')\nw = tf.Variable(1.0, name='w')", "B")
    page.run("y = tf.multiply(w, x, name='y')", "C")
    page.run("sess = tf.Session()\nsess.run(tf.global_variables_initializer())", "D")
    page.run("step = tf.Variable(0, trainable=False, name='step')\n"
             "train = tf.train.MomentumOptimizer(0.1, 0.9).minimize(y, global_step=step)", "E")
    page.run("x = tf.placeholder(tf.float32, [2], name='x')\nw = tf.Variable(1.0, name='w')\n"
             "b = tf.Variable(1.0, name='b')", "B")
    page.run("y = tf.multiply(w + b, x, name='y')", "C")
    labels = [page.text(cell).partition("]")[0].removeprefix("tfnb ") + "]" for cell in "ED"]
    assert page.run("%stale run", "S") == f"ran {' '.join(labels)} again; no cell is stale"
    assert "Error" not in page.text("D")
    assert page.run("print(sess.run([step, b]))", "look") == "[np.int32(0), np.float32(1.0)]"


def test_stale_cells_that_need_each_other_are_told(page):
    page.run("ran = []", "A")
    page.run("x = tf.placeholder(tf.float32, [2], name='x')\ny = tf.sin(x, name='y'); needed = False", "B")
    page.run("there = tf.gradients(y, x)[0]; ran += 'C'\nif needed: tf.Session().run(here, {x: [0, 0]})", "C")
    page.run("here = tf.gradients(y, x)[0]; ran += 'D'\nif needed: tf.Session().run(there, {x: [0, 0]})", "D")
    page.run("x = tf.placeholder(tf.float32, [2], name='x')\ny = tf.cos(x, name='y'); needed = True", "B")
    assert "failed: StaleTensorError: " in page.run("%stale run", "S")
    assert page.run("''.join(ran)", "R").startswith("'CDCD'"), "each runs again once"


def test_a_cell_that_awaits_is_left_to_the_front_end(page):
    page.run("x = tf.placeholder(tf.float32, [2], name='x')\ny = tf.sin(x, name='y')", "B")
    page.run("import asyncio; await asyncio.sleep(0)\ng = tf.gradients(y, x)[0]", "C")
    page.run("x = tf.placeholder(tf.float32, [2], name='x')\ny = tf.cos(x, name='y')", "B")
    assert "awaits something" in page.run("%stale run", "S")


def test_stale_run_wants_a_cell_of_its_own(page):
    model(page)
    page.run(MODEL.replace("sigmoid", "tanh"), "B")
    assert "must stand in a cell of its own" in page.run("z = tf.constant(1.0)\n%stale run", "S")
    assert "Const" not in names(page)[-1:], "the failing cell was rolled back"
    assert page.run("%stale run", "B").startswith("ran ["), "the old text of B is gone: its ops leave"
    assert "x" not in names(page)


def test_graph_undo_takes_back_runs_and_deletions(page):
    model(page)
    before = names(page)
    page.run(f"for _ in range(3): sess.run(train, {FEED})", "F")
    trained = page.run("W.eval()", "G")
    page.run("old = a", "look")
    page.run(MODEL.replace("sigmoid", "tanh") + "\nextra = tf.abs(a, name='extra')", "B")
    assert "run again" in page.text("D") and "extra" in names(page)
    shown = page.run("%graph undo", "U")
    assert "was undone: graphs and names are as they were before" in shown
    assert names(page) == before and page.run("print(a is old, a.op.type)", "look") == "True Sigmoid"
    assert "up to date" in page.text("D") and "was undone" in page.text("B")
    assert page.run("W.eval()", "G") == trained
    assert page.run(f"sess.run(train, {FEED})", "F") == ""
    page.run("1", "X", deleted=["B"])
    assert "W" not in names(page) and "run again" in page.text("C")
    assert "the deletion of [" in page.run("%graph undo", "U")
    assert names(page) == before and "up to date" in page.text("C")
    page.run("%graph undo", "U")
    page.run("%graph undo", "U")
    assert "init" not in names(page) and "GradientDescent" not in names(page) and "loss" in names(page)


def test_undo_brings_the_default_graph_back(page):
    page.run("x = tf.constant(1.0, name='x')", "B")
    page.run("tf.reset_default_graph()\ny = tf.constant(1.0, name='y')", "C")
    assert names(page) == ["y"]
    page.run("%graph undo", "U")
    assert names(page) == ["x"]
    page.run("tf.reset_default_graph(); z = tf.constant(1.0); 1 / 0", "D")
    assert names(page) == ["x"], "so does a failing cell"


def test_a_run_that_only_looks_at_the_graph_is_nothing_to_undo():
    page = Page()
    page.run("%load_ext tfnb\nimport tfnb as tf", "S")
    page.run("tf.get_default_graph()", "B")
    assert "there is nothing to undo" in page.run("%graph undo", "U")
    page.run("tf.constant(1.0)", "C")
    assert "was undone" in page.run("%graph undo", "U")
    page.close()


def test_what_can_be_undone_is_limited(page):
    page.run("%config Tfnb.undo_depth = 1", "K")
    page.run("x = tf.constant(1.0, name='x')", "B")
    page.run("y = tf.constant(1.0, name='y')", "C")
    assert "nothing more can be undone" in page.run("%graph undo", "U")
    assert page.run("%graph undo", "U").startswith("UsageError: there is nothing to undo")
    page.run("%config Tfnb.undo_depth = 8", "K")
    assert names(page) == ["x"]


def test_ownership_is_switched_off_and_on(page):
    page.run("x = tf.constant(1.0, name='x')", "B")
    page.run("%config Tfnb.own_cells = False", "K")
    page.run("x = tf.constant(1.0, name='x')", "B")
    assert names(page) == ["x", "x_1"] and page.text("B") == ""
    page.run("x = tf.constant(1.0, name='x'); 1 / 0", "B")
    assert names(page) == ["x", "x_1", "x_2"], "a failing cell leaves what it made, as in plain Python"
    page.run("%config Tfnb.own_cells = True\ny = tf.constant(1.0, name='y')", "K")
    page.run("%config Tfnb.own_cells = True\ny = tf.constant(1.0, name='y')", "K")
    assert names(page) == ["x", "x_1", "x_2", "y"]
    page.run("%config Tfnb.own_cells = False\nz = tf.constant(1.0, name='z')\n%config Tfnb.own_cells = True", "L")
    page.run("%config Tfnb.own_cells = False\nz = tf.constant(1.0, name='z')\n%config Tfnb.own_cells = True", "L")
    assert names(page)[-2:] == ["z", "z_1"]


def test_settings_have_help_and_are_checked(page):
    shown = page.run("%config Tfnb", "K")
    assert "Tfnb.own_cells=<Bool>" in shown and "Current: True" in shown and "How many runs of cells" in shown
    assert page.run("%config Tfnb.live_hz = 3\nprint(tf.notebook.settings.live_hz)", "K").endswith("3.0")
    assert page.run("tf.notebook.settings.live_hz = 5.0\n%config Tfnb.live_hz", "K").endswith("5.0")
    assert "live_hz" in page.run("%config Tfnb.live_hz = 50", "K")
    page.run("%config Tfnb.badges = False", "K")
    assert page.run("x = tf.constant(1.0)", "B") == ""
    page.run("%config Tfnb.badges = True", "K")
    page.run("%config Tfnb.view_format = 'text'\n%graph", "V")
    assert set(page.outputs["V"][0]["data"]) == {"text/plain"}
    page.run("%config Tfnb.view_format = 'auto'", "K")


def test_cells_own_what_they_made_before_the_extension_was_loaded_again(page):
    page.run("v = tf.get_variable('v', [2])", "B")
    page.run("y = tf.square(v, name='y')", "C")
    page.run("%unload_ext tfnb", "R")
    page.run("z = tf.constant(1.0, name='z')", "D")
    page.run("%load_ext tfnb", "R")
    assert page.run("v = tf.get_variable('v', [3])", "B").startswith("tfnb [") and "run again" in page.text("C")
    assert page.run("z = tf.constant(1.0, name='z')", "D").endswith("up to date · 1 op")
    assert names(page)[-1] == "z_1", "what was made meanwhile is nobody's"


def test_what_a_reset_leaves_behind_is_made_again(page):
    page.run("tf.reset_default_graph()", "R")
    page.run("x = tf.placeholder(tf.float32, [2], name='x')\ny = tf.layers.dense(x[None], 3)", "B")
    page.run("sess = tf.Session()\nsess.run(tf.global_variables_initializer())", "C")
    page.run("tf.reset_default_graph()", "R")
    assert "run again: its graph was replaced" in page.text("B") and "run again" in page.text("C")
    assert "out of date" in page.run("%why y", "W")
    assert page.run("print(sess.run(y, {x: [0, 0]}).shape)", "D").startswith("(1, 3)")
    assert page.run("%stale run", "S").endswith("no cell is stale")
    assert page.run("print(y.graph is tf.get_default_graph() is sess.graph)", "D") == "True"


HIDDEN = {
    "size": "hidden = 16",
    "model": "x = tf.placeholder(tf.float32, [None, 3], name='x')\nh = tf.layers.dense(x, hidden, name='h')\n"
             "loss = tf.reduce_mean(tf.square(tf.layers.dense(h, 1, name='out')))",
    "opt": "train = tf.train.AdamOptimizer(0.01).minimize(loss)",
    "init": "sess = tf.InteractiveSession(); sess.run(tf.global_variables_initializer())",
    "loop": "history = [float(sess.run([train, loss], {x: [[1.0, 2.0, 3.0]]})[1]) for _ in range(5)]",
    "plot": "print(len(history), min(history) < 9)",
    "aside": "other = 3\nprint(other)",
}


def hidden_model(page):
    for cell, code in HIDDEN.items():
        page.run(code, cell)
    assert "run again" not in "".join(map(page.text, HIDDEN))


def test_all_that_stands_on_a_changed_value_must_run_again(page):
    hidden_model(page)
    page.run("hidden = 24", "size")
    assert "run again: hidden changed from 16 to 24 in [" in page.text("model")
    for cell in ("opt", "init", "loop", "plot"):
        assert "run again: depends on [" in page.text(cell)
        assert "which reads hidden (16 -> 24) - run [" in page.text(cell)
    assert "run again" not in page.text("aside") and "run again" not in page.text("size")
    assert page.text("plot").startswith("5 True\n"), "what it showed stays"
    drawn = page.run("print(tf.notebook.graph_view(color='stale').svg())", "look")
    assert "out of date" in drawn and "up to date" not in drawn
    shown = page.run("%stale", "S").splitlines()
    assert shown[0] == "5 stale cells"
    assert [line.split()[0] for line in shown[1:]] == sorted((line.split()[0] for line in shown[1:]), key=len)
    page.run("start = %tfnb", "T")
    assert "5 cells must run again" in page.run("start", "T")
    page.run("hidden = 16", "size")
    assert page.run("print('must run again: [' in str(start.widget.state))", "look") == "False", "the page follows"
    assert "run again" not in "".join(map(page.text, HIDDEN)), "it is what it was"


def test_a_training_on_outdated_cells_is_refused_or_ends(page):
    hidden_model(page)
    body = "%%train --no-live --background --as r\n_, loss_now = sess.run([train, loss], {x: [[1.0, 2.0, 3.0]]})"
    page.run(body, "train")
    page.run("hidden = 24", "size")
    why = page.run("r.stop(); print(r.status, r.why)", "look")
    assert why.startswith("stopped it depends on [") and "which reads hidden (16 -> 24): run [" in why
    shown = page.run(body, "train")
    assert shown.startswith("UsageError: this training would be of a model that is out of date, for it depends on [")
    assert "which reads hidden (16 -> 24): run [" in shown and "%%train --anyway" in shown
    page.run(body.replace("--as r", "--as r --anyway"), "train")
    page.run("other = 4", "aside")
    assert page.run("print(r.status)", "look").startswith("running")
    page.run("r.stop()", "look")
    shown = page.run("%stale run", "S")
    assert "initialized h/kernel, h/bias" in shown and shown.splitlines()[-1].endswith("no cell is stale")
    assert "running" in page.run("print(r.status, r.steps > 0)", "look")
    assert page.run("r.stop(); print(h.shape)", "look") == "(?, 24)"


def test_cells_that_ran_what_changed_are_out_of_date_and_a_run_as_before_dirties_nothing(page):
    model(page)
    page.run(f"for _ in range(3): now = sess.run([train, loss], {FEED})[1]", "F")
    page.run("print(now > 0)", "G")
    page.run(f"print(sess.run(x, {FEED}))", "H")
    for cell, code in (("B", MODEL), ("F", f"for _ in range(3): now = sess.run([train, loss], {FEED})[1]")):
        page.run(code, cell)
        assert "run again" not in "".join(map(page.text, "BCDEFGH")), cell
    page.run(MODEL.replace("sigmoid", "tanh"), "B")
    assert "run again: 'a' changed in [" in page.text("F") and "run again" not in page.text("H")
    assert "depends on [" in page.text("G") and "which ran 'a', which changed in [" in page.text("G")
    assert "run again" not in page.text("E"), "what it ran gave the variables their first values"
    page.run("%graph undo", "U")
    assert "run again" not in "".join(map(page.text, "DFG"))
    page.run(MODEL.replace("sigmoid", "tanh"), "B")
    page.run("1", "X", deleted=["B"])
    assert "run again" in page.text("F") and "run again" in page.text("G")


def test_collections_that_cells_read(page):
    page.run("w = tf.get_variable('w', [2]); tf.add_to_collection('parts', w)", "B")
    page.run("print(len(tf.get_collection('parts')))", "C")
    page.run("v = tf.get_variable('v', [2]); tf.add_to_collection('parts', v)", "D")
    assert "run again" not in page.text("C"), "it comes later in a run from top to bottom"
    page.run("w = tf.get_variable('w', [2]); tf.add_to_collection('parts', w)\n"
             "u = tf.get_variable('u', [2]); tf.add_to_collection('parts', u)", "B")
    assert "run again: 'u' is new in the collection 'parts'" in page.text("C")
    assert page.run("%stale run", "S").endswith("again; no cell is stale") and page.text("C") == "3"


def test_collections_that_layers_and_optimizers_look_into_count_for_nobody(page):
    page.run("w = tf.get_variable('w', [2])", "B")
    page.run("x = tf.ones([1, 2])\ny = tf.reduce_sum(tf.layers.dense(x, 2, name='d'))", "C")
    page.run("train = tf.train.AdamOptimizer().minimize(y)", "D")
    page.run("w = tf.get_variable('w', [2])\nv = tf.get_variable('v', [2])", "B")
    assert "run again" not in page.text("C") + page.text("D")


def test_a_graph_that_is_made_again_as_before_dirties_no_output(page):
    code = "g = tf.Graph()\nwith g.as_default():\n    y = tf.constant(2.0, name='y') * 3.0"
    page.run(code, "B")
    page.run("with tf.Session(graph=g) as s: print(s.run(y))", "C")
    page.run(code, "B")
    assert "run again" not in page.text("C")
    page.run(code.replace("2.0", "4.0"), "B")
    assert "run again: " in page.text("C")


def test_names_carry_from_cell_to_cell_without_ops_and_in_several_graphs(page):
    page.run("n = 2", "A")
    page.run("wide = [n] * n", "B")
    page.run("g1, g2 = tf.Graph(), tf.Graph()", "G")
    page.run("with g1.as_default(): y1 = tf.ones(wide, name='y')", "C")
    page.run("with g2.as_default(): y2 = tf.ones([3], name='y')", "D")
    page.run("print(tf.Session(graph=g1).run(y1).shape)", "E")
    page.run("print(tf.Session(graph=g2).run(y2).shape)", "F")
    page.run("n = 3", "A")
    assert all("run again" in page.text(cell) for cell in "BCE") and "run again" not in page.text("D") + page.text("F")
    assert page.run("%stale run", "S").endswith("no cell is stale") and page.text("E").startswith("(3, 3, 3)")
    page.run("opt = tf.train.AdamOptimizer(0.1)  # a comment", "O")
    page.run("print(type(opt).__name__)", "P")
    page.run("opt = tf.train.AdamOptimizer(0.1)", "O")
    assert "run again" not in page.text("P")
    page.run("opt = tf.train.AdamOptimizer(0.2)", "O")
    assert "run again: opt was made otherwise in [" in page.text("P")


BUTTON = """from tfnb.notebook.ownership.hooks import active
from tfnb.notebook.ownership.run_button import RunButton
button = RunButton(active())"""


def test_the_button_runs_stale_cells_or_lets_the_front_end_do_so(page):
    hidden_model(page)
    page.run(BUTTON, "K")
    page.run("hidden = 24", "size")
    ids = page.run("print(button.widget_state()['ids'])", "look")
    assert ids.splitlines()[0] == "['model', 'opt', 'init', 'loop', 'plot']"
    page.run("button.hear({'type': 'do', 'name': 'run'}); print(repr(button.note))", "look")
    assert page.text("look").startswith("''") and page.run("%stale", "S") == "no cell is stale"
    assert "initialized h/kernel, h/bias, out/kernel" in page.text("model")
    page.run("hidden = 32", "size")
    page.run("button.hear({'type': 'do', 'name': 'expect'})", "look")
    page.run(HIDDEN["model"], "model")
    assert "initialized h/kernel, h/bias, out/kernel" in page.text("model"), "the front end ran it"
    page.run("hidden = 16", "size")
    page.run(HIDDEN["model"].replace("'h'", "'g'"), "model")
    assert "initialized" not in page.text("model"), "the user ran it"
    page.run("from tfnb.notebook.frontend.badge import Badge\n"
             "print(Badge('[1]', why='<script>alert(1)</script>', run=('[1]',), notes=('<img>',)).html())", "look")
    assert "<script" not in page.text("look") and "<img" not in page.text("look")
