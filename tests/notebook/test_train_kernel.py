"""%%train in a real kernel: the notebook stays usable, cells that change the graph hold it, Interrupt ends it."""
import re
import time

import pytest

from tests.notebook.kernel import Page

pytestmark = pytest.mark.slow

SETUP = """import tfnb as tf, numpy as np
%load_ext tfnb
data = np.random.RandomState(0).rand(16, 8).astype("f")"""
MODEL = """x = tf.placeholder(tf.float32, [None, 8], name="x")
w = tf.Variable(tf.zeros([8, 1]), name="w")
loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - tf.reduce_sum(x, 1, keep_dims=True)))"""
OPTIMIZER = """opt = tf.train.GradientDescentOptimizer(0.01)
train = opt.minimize(loss)"""
STEP = "ignored, loss_now = sess.run([train, loss], {x: data})"


@pytest.fixture(scope="module")
def page():
    page = Page()
    page.run(SETUP, "setup")
    page.run(MODEL, "model")
    page.run(OPTIMIZER, "opt")
    page.run("sess = tf.Session(); sess.run(tf.global_variables_initializer())", "sess")
    yield page
    page.close()


def look(page, code):
    return eval(page.run(f"print(repr({code}))", "look"))


def until(page, code):
    for _ in range(100):
        if look(page, code):
            return
        time.sleep(0.05)
    raise AssertionError(f"{code} never came true; {page.text('t')}")


def test_the_kernel_is_usable_and_the_run_is_steered_from_other_cells(page):
    assert re.match(r"run \d+: running · step ", page.run(f"%%train --as r --lr opt\n{STEP}", "t"))
    assert look(page, "r.status") == "running"
    until(page, "r.steps > 100")
    page.run("r.pause(); r.step(2)", "u")
    a, b = look(page, "r.steps"), look(page, "r.steps")
    assert a == b and look(page, "int(r.series['loss_now'][0][-1])") == a - 1
    page.run("r.set_rate(0.5); r.resume()", "u")
    assert look(page, "r.rate.value") == 0.5
    assert "UsageError: another training has not ended" in page.run("%%train --steps 5\n1", "t2")
    page.run("r.stop()", "u")
    time.sleep(0.3)
    page.run("1", "u")
    assert ": stopped · step " in page.text("t") and "loss_now" in page.text("t")


def test_an_optimizer_that_is_made_again_is_taken_up_and_a_changed_model_ends_it_clearly(page):
    page.run(f"%%train --as r --no-live\n{STEP}", "t")
    page.run(OPTIMIZER, "opt")
    before = look(page, "r.steps")
    until(page, f"r.steps > {before} + 20")
    page.run(MODEL.replace("square", "abs"), "model")
    until(page, "not r.active")
    assert look(page, "r.error is None and r.status") == "stopped"
    why = look(page, "r.why")
    number = int(re.search(r"the model changed in \[(\d+)\]", why)[1])
    again = [int(label) for label in re.findall(r"\[(\d+)\]", why.partition(": run")[2])]
    assert len(again) == 2 and all(label < number for label in again), "the optimizer's cell, then the training's"
    assert why in page.text("t")
    page.run(MODEL, "model")
    page.run(OPTIMIZER, "opt")


def test_a_model_in_one_cell_with_its_initializer_ends_the_training_too(page):
    whole = ("x2 = tf.placeholder(tf.float32, [None, 8])\nh = tf.layers.dense(x2, {units}, name='h')\n"
             "loss2 = tf.reduce_mean(tf.square(h))\ntrain2 = tf.train.GradientDescentOptimizer(0.1).minimize(loss2)\n"
             "sess.run(tf.global_variables_initializer())")
    page.run(whole.format(units=8), "whole")
    page.run("%%train --as r --no-live\n_, value = sess.run([train2, loss2], {x2: data})", "t")
    page.run(whole.format(units=8), "whole")
    until(page, "r.steps > 5")
    assert look(page, "r.active"), "the same model again goes on"
    page.run(whole.format(units=5), "whole")
    until(page, "not r.active")
    assert look(page, "r.why").startswith("the model changed in [")
    page.run("x3 = tf.identity(x, name='beside')", "beside")
    page.run("%%train --as r --no-live\n_, value = sess.run([train2, loss2], {x2: data})", "t")
    page.run("x3 = tf.negative(x, name='beside')", "beside")
    assert look(page, "r.active"), "what the training does not run may change"
    page.run("r.stop()", "u")


def test_step_is_private_to_the_body(page):
    page.run("step = 'mine'", "u")
    body = f"{STEP}\nodd, at = float(step % 2), [step for _ in (1,)]"
    page.run(f"%%train --as r --steps 6 --no-live --foreground\n{body}", "t")
    assert look(page, "(step, at, r.series['odd'][1].tolist())") == ("mine", [5], [0.0, 1.0, 0.0, 1.0, 0.0, 1.0])
    page.run(f"%%train --as r --steps 3 --no-live --foreground\n{STEP}\nstep = 'set here'", "t")
    assert look(page, "step") == "set here"


def test_a_board_shows_the_curves_of_its_own_run(page):
    page.run(f"%%train --as first --steps 300 --foreground\n{STEP}", "t")
    page.run(f"%%train --as second --steps 5 --foreground\n{STEP}", "t2")
    page.run("first.stop(); second.stop()", "u")
    assert look(page, "first.name != second.name")
    assert look(page, "[len(run.board['loss_now'][0]) for run in (first, second)]") == [300, 5]
    page.run("both = tf.notebook.live('loss_now', runs=[first.name, second.name])", "u")
    assert look(page, "len(both.series())") == 2


def test_the_cell_run_again_ends_the_training_of_before(page):
    page.run(f"%%train --as a --no-live\n{STEP}", "t")
    page.run(f"%%train --as b --no-live\n{STEP}", "t")
    assert (look(page, "a.status"), look(page, "b.status")) == ("stopped", "running")
    page.run("1", "u", deleted=["t"])
    assert look(page, "b.status") == "stopped"


def test_interrupt_ends_it_between_cells(page):
    page.run(f"%%train --as r --no-live\n{STEP}", "t")
    time.sleep(0.4)
    page.manager.interrupt_kernel()
    until(page, "not r.active")
    assert look(page, "r.why") == "by Interrupt"


def test_interrupt_ends_it_in_the_foreground(page):
    request = page.send(f"%%train --as r --no-live --foreground\n{STEP}", "t")
    time.sleep(0.6)
    page.manager.interrupt_kernel()
    page.wait(request, "t")
    assert look(page, "(r.status, r.why)") == ("stopped", "by Interrupt")


def test_without_a_front_end_it_runs_to_its_end(page, tmp_path):
    shown = page.run(f"%%train --steps 40 --ckpt 25 --folder {tmp_path}\n{STEP}")
    assert "done · step 40 of 40" in shown and f"saved as {tmp_path}/model-40" in shown
    assert sorted(p.name for p in tmp_path.glob("*.index")) == ["model-25.index", "model-40.index"]


def test_errors_name_the_line(page):
    assert page.run(f"%%train\n{STEP}\n1 / 0", "t").endswith("ZeroDivisionError: division by zero")
    assert "----> 3 1 / 0" in page.traceback("t")
    page.run(f"%%train --no-live\n{STEP}\nif step == 5000: 1 / 0", "t")
    for _ in range(100):
        if "failed" in page.text("t"):
            break
        time.sleep(0.05)
        page.run("1", "u")
    assert "failed · step 5,000" in page.text("t") and "line 3: `if step == 5000: 1 / 0`" in page.text("t")


def test_a_step_that_makes_ops_is_refused_and_leaves_none(page):
    before = look(page, "len(tf.get_default_graph().get_operations())")
    assert "RuntimeError: a step of a training made 2 ops" in page.run("%%train\nsess.run(tf.reduce_sum(w))", "t")
    assert look(page, "len(tf.get_default_graph().get_operations())") == before


def test_the_rate_is_called_as_its_tensor_is_in_python(page):
    page.run("speed = tf.placeholder_with_default(0.5, [])", "speed")
    page.run(f"%%train --as r --lr speed=0.25 --steps 2 --foreground --no-live --no-keep\n{STEP}", "t")
    assert look(page, "(r.rate.name, r.rate.value)") == ("speed", 0.25)


@pytest.mark.parametrize(("line", "said"), [
    ("--stop never", "a training stops at nan"), ("--lr opte", "did you mean 'opt'"), ("--lr x", "x=0.01"),
    ("--step 3 --lives", "did you mean --live"), ("--steps 0", "at least 1")])
def test_mistakes_in_its_line_are_told(page, line, said):
    shown = page.run(f"%%train {line}\n1", "t")
    assert shown.startswith("UsageError") and said in shown


def test_each_run_is_kept_with_its_cells_and_seeds_and_found_by_the_magic(page):
    page.run("%config Tfnb.runs_folder = 'kept'", "u")
    page.run(f"%%train --run slow --lr opt --steps 30 --foreground --no-live\n{STEP}", "t")
    page.run(f"%%train --run 'fast <b>' --steps 10 --foreground --no-live\n{STEP}", "t2")
    page.run(f"%%train --run unkept --steps 3 --foreground --no-live --no-keep\n{STEP}", "t3")
    assert look(page, "[run.name for run in tf.notebook.runs()]") == ["fast <b>", "slow"]
    about = look(page, "dict(tf.notebook.runs()['slow'].about)")
    assert set(about["sources"]) >= {"%%train"} and len(about["sources"]) == 3, "model, optimizer, training"
    assert about["rate"] == {"name": "GradientDescent/learning_rate", "first": 0.01, "last": 0.01}
    hashes = look(page, "[run.sources_hash for run in tf.notebook.runs()]")
    assert len(set(hashes)) == 1, "their cells are equal"
    said = page.run("%runs loss_now>-1 --sort steps --down", "u")
    assert said.index("slow") < said.index("fast <b>") and "loss_now" in said
    assert "slow/loss_now" in page.run("%runs compare slow 'fast <b>' --x share", "u")
    page.run("%runs rename slow first", "u")
    assert "deleted first; %runs undo takes back the last one" in page.run("%runs delete first", "u")
    assert look(page, "len(tf.notebook.runs())") == 1
    assert "first is back" in page.run("%runs undo", "u")
    assert page.run("%runs rename first", "u") == "UsageError: %runs rename takes 2 names, not 1"
    assert "UsageError: no run is called 'frist'; did you mean 'first'" in page.run("%runs delete frist", "u")
    assert "UsageError: '(' is no regular expression" in page.run("%runs (", "u")
    page.run("%runs delete first", "u")
    assert "removed 1 run for good" in page.run("%runs empty", "u")
    assert "training" in page.run("%tfnb", "u") and "fast <b>" in page.text("u")
    assert "--folder" in page.run("%runs --help", "u")


def test_a_folder_that_cannot_be_made_is_one_line_in_the_panel(page):
    page.run("open('file', 'w').close()\n%config Tfnb.runs_folder = 'file/runs'", "u")
    said = page.run(f"%%train --as r --steps 3 --foreground --no-live\n{STEP}", "t")
    assert look(page, "(r.status, r.steps)") == ("done", 3)
    assert said.count("not kept on disk: ") == 1 and "\n" not in said
    page.run("%config Tfnb.keep_runs = False", "u")
    assert "not kept" not in page.run(f"%%train --steps 3 --foreground --no-live\n{STEP}", "t")
