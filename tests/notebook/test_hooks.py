"""The hooks with a stand-in for IPython: what front ends and kernels do that a real one can't be made to do here."""
import re
import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest

import tfnb as tf
from tfnb.graph.parts import ownership
from tfnb.graph.stack import get_default_graph, reset_default_graph
from tfnb.notebook.frontend import shell
from tfnb.notebook.frontend.shell import running_info
from tfnb.notebook.magics import complete
from tfnb.notebook.ownership.hooks import Hooks
from tfnb.ops.control import source
from tfnb.ops.declaration.raw import raw
from tfnb.ops.math import arithmetic as math  # noqa: F401  (math declares its ops)

ROOT = Path(__file__).resolve().parents[2]


class Shell:
    """As much of an InteractiveShell as the hooks use."""

    def __init__(self):
        self.execution_count, self.user_ns, self.kernel = 1, {}, None
        self.compile = SimpleNamespace(format_code_name=lambda name: ("Cell", "In[3]") if name == "abc.py" else None)
        self.events = SimpleNamespace(register=lambda *a: None, unregister=lambda *a: None)

    def transform_cell(self, text):
        return text

    def info(self, code="1", cell=None, meta=None):
        self.execution_count += 1
        return SimpleNamespace(raw_cell=code, cell_id=cell, cell_meta=meta, store_history=True)


@pytest.fixture
def ip(monkeypatch):
    monkeypatch.setattr(ownership, "_graphs", type(ownership._graphs)())
    monkeypatch.setattr(shell, "current", lambda: None)
    monkeypatch.setattr(shell, "counts_first", lambda: True)
    reset_default_graph()
    return Shell()


@pytest.fixture
def hooks(ip):
    hooks = Hooks(ip)
    hooks.register()
    yield hooks
    hooks.unregister()


def ended(info, success=True):
    return SimpleNamespace(info=info, success=success)


def names():
    return [op.name for op in get_default_graph().get_operations()]


def run(hooks, ip, cell, name, success=True, **about):
    info = ip.info(cell=cell, **about)
    hooks.pre_run_cell(info)
    source.constant(1.0, name=name)
    hooks.post_run_cell(ended(info, success))


def test_a_cell_is_known_by_the_id_of_the_front_end(hooks, ip):
    run(hooks, ip, "B", "x")
    run(hooks, ip, "B", "x")
    assert names() == ["x"] and list(hooks.cells.badges) == ["B"]


def test_runs_beside_the_history_are_cells_of_their_own(hooks, ip):
    for name in ("x", "y"):                     # nbval: no ids, and the count stands still
        info = ip.info()
        info.store_history = False
        ip.execution_count = 1
        hooks.pre_run_cell(info)
        source.constant(1.0, name=name)
        assert shell.running == hooks.cells.run.key
        hooks.post_run_cell(ended(info))
    assert names() == ["x", "y"] and len(hooks.cells.badges) == 2


def test_older_kernels_tell_the_id_in_the_request_only(hooks, ip):
    ip.kernel = SimpleNamespace(get_parent=lambda: {"metadata": {"cellId": "B", "deletedCells": ["A"]}})
    run(hooks, ip, None, "x")
    run(hooks, ip, None, "x")
    assert names() == ["x"]


def test_colab_tells_the_id_in_a_place_of_its_own(hooks, ip):
    ip.kernel = SimpleNamespace(get_parent=lambda: {"metadata": {"colab": {"cell_id": "B", "base_uri": ""}}})
    run(hooks, ip, None, "x")
    run(hooks, ip, None, "x")
    assert names() == ["x"] and shell.attended


def test_cells_have_their_numbers_in_every_ipython(hooks, ip, monkeypatch):
    run(hooks, ip, "B", "x")                    # 9.8 has counted the cell when it tells of its begin
    monkeypatch.setattr(shell, "counts_first", lambda: False)
    run(hooks, ip, "C", "y")                    # the stand-in has: its number is 3 now, that of the cell for 9.7
    assert [badge.label for badge in hooks.cells.badges.values()] == ["[1]", "[3]"]


def test_ipython_7_tells_no_names_of_cells(hooks, ip):
    ip.compile = SimpleNamespace(get_code_name=lambda raw, code, number: f"{raw}.py")
    run(hooks, ip, "B", "x", code="abc")
    assert hooks.label_of_file("abc.py") == "cell [1]" and hooks.label_of_file("net.py") is None


def test_a_cell_that_was_moved_is_no_deleted_one(hooks, ip):
    run(hooks, ip, "B", "x")
    run(hooks, ip, "C", "y")
    run(hooks, ip, "B", "x", meta={"deletedCells": ["B", "C"]})
    assert names() == ["x"] and "as before" in hooks.cells.badges["B"].text()


def test_ids_may_be_missing_in_any_way(hooks, ip):
    run(hooks, ip, None, "x", meta={"deletedCells": None})
    ip.kernel = SimpleNamespace(get_parent=lambda: None)
    run(hooks, ip, None, "x")
    assert names() == ["x", "x_1"]


def test_an_end_without_a_begin_is_no_cell(hooks, ip):
    hooks.post_run_cell(ended(ip.info()))
    hooks.post_run_cell(None)
    run(hooks, ip, "B", "x")
    assert names() == ["x"]


def test_a_result_that_is_none_is_a_failure(hooks, ip):
    hooks.pre_run_cell(ip.info(cell="B"))
    source.constant(1.0, name="x")
    hooks.post_run_cell(None)
    assert names() == [] and hooks.cells.run is None


def test_a_result_of_another_info_ends_the_innermost_cell(hooks, ip):
    hooks.pre_run_cell(ip.info(cell="B"))
    source.constant(1.0, name="x")
    hooks.post_run_cell(ended(ip.info()))
    assert names() == ["x"] and hooks.cells.run is None


def test_inner_cells_belong_to_the_outer_one_and_fail_alone(hooks, ip):
    outer, good, bad = ip.info(cell="B"), ip.info(cell="C"), ip.info(cell="D")
    hooks.pre_run_cell(outer)
    hooks.pre_run_cell(good)
    source.constant(1.0, name="x")
    hooks.post_run_cell(ended(good))
    hooks.pre_run_cell(bad)
    source.constant(1.0, name="y")
    hooks.post_run_cell(ended(bad, False))
    hooks.post_run_cell(ended(outer))
    assert names() == ["x"] and list(hooks.cells.badges) == ["B"]


def test_an_inner_cell_without_an_end_goes_with_the_outer_one(hooks, ip):
    outer = ip.info(cell="B")
    hooks.pre_run_cell(outer)
    source.constant(1.0, name="x")
    hooks.pre_run_cell(ip.info(cell="C"))
    source.constant(1.0, name="y")
    hooks.post_run_cell(ended(outer))
    assert names() == ["x"] and hooks.cells.run is None
    run(hooks, ip, "D", "z")
    assert names() == ["x", "z"]


def test_an_emptied_cell_ends_without_a_begin(hooks, ip):
    run(hooks, ip, "B", "x")
    hooks.post_run_cell(ended(ip.info(" \n", cell="B")))
    assert names() == []


def test_an_inner_blank_cell_changes_nothing(hooks, ip):
    outer = ip.info(cell="B")
    hooks.pre_run_cell(outer)
    source.constant(1.0, name="x")
    hooks.post_run_cell(ended(ip.info("", cell="B")))
    hooks.post_run_cell(ended(outer))
    assert names() == ["x"]


def test_cells_of_other_threads_own_nothing(hooks, ip):
    """ipykernel 7 runs subshells in threads, beside the main one."""
    outer, other = ip.info(cell="B"), ip.info(cell="C")
    hooks.pre_run_cell(outer)
    source.constant(1.0, name="x")

    def subshell():
        hooks.pre_run_cell(other)
        hooks.post_run_cell(ended(other, False))
    thread = threading.Thread(target=subshell)
    thread.start()
    thread.join()
    source.constant(1.0, name="y")
    hooks.post_run_cell(ended(outer))
    assert names() == ["x", "y"] and list(hooks.cells.badges) == ["B"]


def test_names_of_a_failed_run_stand_for_the_old_ops_again(hooks, ip):
    run(hooks, ip, "B", "x")
    old = ip.user_ns["x"] = get_default_graph().get_tensor_by_name("x:0")
    ip.user_ns["number"] = 3
    info = ip.info(cell="B")
    hooks.pre_run_cell(info)
    assert old.op._dead
    ip.user_ns["x"] = source.constant(2.0, name="x")
    ip.user_ns["number"] = 4
    hooks.post_run_cell(ended(info, False))
    assert ip.user_ns == {"x": old, "number": 4} and not old.op._dead


def test_a_name_that_means_another_op_makes_what_took_the_old_one_stale(hooks, ip):
    def cell(key, code):
        info = ip.info(code, cell=key)
        hooks.pre_run_cell(info)
        exec(code, {"const": source.constant, "raw": raw}, ip.user_ns)
        hooks.post_run_cell(ended(info))

    cell("B", "out = const(1.0, name='x')")
    cell("C", "y = raw.Neg(out, name='y')")
    cell("B", "out = const(1.0, name='x')")
    assert hooks.cells.badges["C"].text() == "up to date · 1 op"
    cell("B", "out = const(1.0, name='x'); out = raw.Abs(out, name='abs')")
    assert hooks.cells.badges["C"].text() == "run again: 'out' means 'abs' in [4], no longer 'x'"
    cell("C", "y = raw.Neg(out, name='y')")
    assert ip.user_ns["y"].op.inputs[0].op.name == "abs" and not get_default_graph().stale


def test_unloading_in_a_cell_ends_it(hooks, ip):
    hooks.pre_run_cell(ip.info(cell="B"))
    source.constant(1.0, name="x")
    hooks.unregister()
    assert source.constant(1.0, name="y").op.owner is None and names() == ["x", "y"]


def test_files_of_cells_have_labels(hooks):
    assert hooks.label_of_file("abc.py") == "cell [3]" and hooks.label_of_file("net.py") is None


def test_the_running_cell_is_found_from_inside():
    class Silent:
        def run_cell_async(self, raw_cell, silent):
            info = raw_cell + "!"
            return running_info() if info else None
    assert running_info() is None
    assert Silent().run_cell_async("code", False) == "code!" and Silent().run_cell_async("code", True) is None


def test_completion_of_names_tags_and_options(tmp_path, monkeypatch):
    graph = get_default_graph()
    with graph.name_scope("layer"):
        source.constant(1.0, name="weights")
    graph_options = {"--color": ["cell", "stale"], "--depth": [], "--device": []}
    options = {"%graph": graph_options, "%%graph": graph_options, "%fetch": {"--feed": []}}.get
    assert complete.matches("%graph lay", options) == ["layer", "layer/weights"]
    assert complete.matches("v = %fetch layer/w", options) == ["layer/weights"]
    assert complete.matches("%%graph --de", options) == ["--depth", "--device"]
    assert complete.matches("%graph layer --color st", options) == ["stale"]
    assert complete.matches("%graph --color cell lay", options) == ["layer", "layer/weights"]
    assert complete.matches("print(1) or %graph lay", options) == complete.matches("x = lay", options) == []
    monkeypatch.chdir(tmp_path)
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "model-1.index").touch()
    assert complete.matches("%ckpt show lo", lambda magic: {"--step": []}) == ["logs", "logs/model-1"]
    assert complete.matches("%ckpt save --s", lambda magic: {"--step": []}) == ["--step"]
    context = SimpleNamespace(line_with_cursor="%graph layer/we and more", cursor_position=15, token="layer/we")
    matcher = complete.matcher(options, SimpleNamespace(text_until_cursor="%graph layer/we"))
    found = matcher(context)
    assert [each.text for each in found["completions"]] == ["layer/weights"]
    assert found["suppress"] is True, "no name of Python has a slash"
    assert complete.matches("%graph lay --feed f", options, {"feeds": {}, "five": 5}) == ["feeds"]
    assert complete.matches("%tfnb i", lambda magic: {"--help": []}) == ["inspect"]
    assert complete.matches("%timeit i", lambda magic: {}) == []

    def suppressed(line: str) -> object:
        return matcher(SimpleNamespace(line_with_cursor=line, cursor_position=len(line), token=""))["suppress"]
    assert suppressed("%graph lay") == complete.NO_FILES, "names of Python stay"
    assert suppressed("%graph --color ") is True and suppressed("%graph --co") is True
    assert matcher("we") == ["weights"], "IPython 7 hands over no more than the token"


@pytest.mark.slow
def test_a_plain_terminal():
    """Text forms, no widgets: IPython with its input from a pipe."""
    code = """import sys, tfnb as tf
%load_ext tfnb
x = tf.constant([1.0, 2.0], name="x")

board = %live loss

for i in range(9): tf.notebook.record(loss=i)

sess = tf.InteractiveSession()
%fetch x
%graph
%graph x --values
%%train --steps 20
loss = float(sess.run(x)[0])


print("widgets", "ipywidgets" in sys.modules)
exit
"""
    done = subprocess.run([sys.executable, "-m", "IPython", "--simple-prompt", "--no-banner", "--colors=NoColor",
                           "--HistoryManager.enabled=False"], input=code, capture_output=True, text=True, timeout=100,
                          cwd=ROOT, check=False)
    shown = done.stdout
    assert "up to date · 1 op" in shown and "x  float32[2] [1., 2.]" in shown, shown + done.stderr
    assert "live: no values yet" in shown and "step 8" in shown
    assert "graph: 1 op" in shown and "x  Const  float32[2] [1., 2.]\n" in shown and "widgets False" in shown
    ended = shown.index(": done · step 20 of 20")
    assert shown.count(": done ·") == 1 and 0 < shown.index("step 19", ended) < shown.index("Out[", ended)
    assert not {"<div", "<svg", "<span"} & set(re.findall("<[a-z]+", shown)), "these are for browsers"


def test_completion_of_what_options_take():
    recorder, seen = complete.board.RECORDER, [("slow", "loss"), ("logs/fast", "loss")]
    for run, tag in seen:
        recorder.scalars({tag: 1.0}, run=run)
    recorder.file()
    try:
        assert complete.matches("%live --runs ", lambda magic: {"--runs": []}) == ["slow", "fast"]
        assert complete.matches("%live loss --runs slow f", lambda magic: {"--runs": []}) == ["fast"]
    finally:
        for key in seen:
            del recorder.series[key]
    assert complete.matches("%vars --sort no", lambda magic: {"--sort": []}) == ["norm"]
    with tf.Graph().as_default():
        w = tf.Variable(1.0, name="weight")
        tf.train.AdamOptimizer(name="Second").minimize(w * w)
        assert complete.matches("%vars --optimizer S", lambda magic: {"--optimizer": []}) == ["Second"]
        assert complete.matches("%vars --optimizer Second we", lambda magic: {"--optimizer": []}) == ["weight"]
