"""Strings of graphs, files, cells and errors that would run in the page, in all places that take any: nothing does."""
from __future__ import annotations

import pytest

from tests.browser.conftest import Open
from tests.browser.lab import Notebook
from tests.browser.trap import MARK, Trap

RUN = f"window.{MARK}='ran'"
PAYLOADS = [
    f'<img src=x onerror="{RUN}">', f"<script>{RUN}</script>", f"</style></title></text></svg><script>{RUN}</script>",
    f"\"'><svg onload={RUN}>", f"<svg><script>{RUN}</script></svg>", f"<style onload={RUN}>*{{display:none}}</style>",
    f"' onmouseover='{RUN}", f'<a href="javascript:{RUN}">x</a>', f"javascript:{RUN}", f"[x](javascript:{RUN})",
    f"$\\href{{javascript:{RUN}}}{{x}}$", f"&lt;img src=x onerror={RUN}&gt;", f"]]><script>{RUN}</script>",
    f"<foreignObject><iframe srcdoc='<script>parent.{MARK}=1</script>'></iframe></foreignObject>",
    f"\x1b[31m<img src=x onerror={RUN}>",
]
COMMENT = f"# {PAYLOADS[0]} {PAYLOADS[2]} {PAYLOADS[10]}"        # of the lines that make ops

# Place of the strings -> the code of a cell that shows them.
CELLS = {
    "opening": f"""%load_ext tfnb
import os, pathlib, numpy as np, tfnb as tf
bad, every = {PAYLOADS!r}, {"".join(PAYLOADS)!r}
settled = np.array([[1.0, 0.0]], np.float32)
def fail(): raise RuntimeError(every)""",
    "lines that make ops": f"""x = tf.placeholder(tf.float32, [None, 2], name="x")   {COMMENT}
w = tf.Variable([[1.0], [2.0]], name="w")   {COMMENT}
logs = tf.log(x, name="logs")   {COMMENT}
loss = tf.reduce_sum(tf.matmul(logs, w), name="loss")   {COMMENT}
text = tf.constant(every, name="text")   {COMMENT}
train = tf.train.AdamOptimizer(0.1).minimize(loss)
sess = tf.Session(); sess.run(tf.global_variables_initializer())""",
    "file names of code": 'exec(compile("odd = tf.identity(w, name=\'odd\')", bad[0] + ".py", "exec"))\n%why odd',
    "lines of cells, why": "%why loss",
    "lines of cells, nan": "%nan loss --feed {x: settled}",
    "lines of cells, step": "%step loss --feed {x: settled} --break logs",
    "lines of cells, profile": "%profile train --feed {x: 1 + settled} --runs 1",
    "lines of cells, vars": "%vars",
    "attrs and strings": "%graph text --values --depth 9",
    "values": "%fetch text",
    "titles": "tf.notebook.graph_view(title=every)",
    "names, ops, devices and attrs of files": """definition = tf.GraphDef()
for i, name in enumerate(bad):
    made = definition.node.add(name=name + "/inner", op=name, device=name)
    made.attr[name].s = name.encode()
    made.input.extend([bad[i - 1] + "/inner"] if i else [])
tf.notebook.graph_view(definition, depth=5)""",
    "collections": "for one in bad: tf.add_to_collection(one, one)\n%collections",
    "tags, runs and titles": """for i, one in enumerate(bad):
    tf.notebook.record(**{one: 1.0, one + "/more": np.ones(9)})
tf.notebook.live(title=every)""",
    "tags and runs of files": """folder = "logs" if os.name == "nt" else bad[0].replace("/", "")
with tf.summary.FileWriter(folder) as writer:
    for one in bad:
        value = tf.Summary.Value(tag=one, simple_value=1.0)
        writer.add_summary(tf.Summary(value=[value]), 1)
tf.notebook.live(runs=[folder])""",
    "keys of checkpoints": """saver = tf.train.Saver({one: tf.Variable([0.0, 1.0]) for one in bad})
sess.run(tf.global_variables_initializer())
other = pathlib.Path("files" if os.name == "nt" else bad[3].replace("/", ""))
other.mkdir(exist_ok=True)
for step in (1, 2): saver.save(sess, str(other / "model"), global_step=step, write_meta_graph=False)
tf.notebook.checkpoints(other, session=sess)""",
    "differences of checkpoints": "tf.notebook.checkpoint_diff(other / 'model-1', other / 'model-2').draw(bad[0])",
    "plans of restoring": "tf.notebook.restore_checkpoint(other / 'model-1', session=sess, dry_run=True)",
    "names in npz files": "np.savez('odd.npz', **{one.replace('/', '|'): settled for one in bad})\n%ckpt show odd.npz",
    "trainings": "%%train --foreground --steps 2 --run run<img>\n{one: 1.0 for one in bad}",
    "exercises": "tf.notebook.check(1, lambda answer: fail(), hint=every)",
}
FAILING = {
    "queues": """queue = tf.FIFOQueue(3, [tf.float32], shared_name=every, name="queue")
tf.train.add_queue_runner(tf.train.QueueRunner(queue, [queue.enqueue(tf.py_func(fail, [], tf.float32))]))
for thread in tf.train.start_queue_runners(sess): thread.join()
%queues""",
    "errors of trainings": "%%train --foreground\nraise RuntimeError(every)",
    "errors of shapes": f"tf.matmul(x, tf.zeros([5, 5]), name='apart')   {COMMENT}",
    "errors of steps": "sess.run(tf.py_func(fail, [], tf.float32))",
    "words of magics": "%fetch " + PAYLOADS[0].replace(" ", "_"),
}
PLANTED = "from IPython.display import HTML\nHTML('planted ' + bad[0])"
AREA = ".jp-OutputArea-output"
POINT_AT_ALL = """(area) => {
    for (const one of document.querySelectorAll(`${area} *`))
        for (const type of ["mouseover", "pointermove"]) one.dispatchEvent(new MouseEvent(type, {bubbles: true}));
}"""
# A picture that can't be loaded: once it has failed, those that came before have, too.
LATER = """() => new Promise((go) => { const one = new Image(); one.onerror = go; one.src = "x?later"; })"""


@pytest.fixture(scope="module")
def hostile(opener: Open) -> Notebook:
    """The notebook, all of whose cells have run."""
    notebook = opener("hostile", [*CELLS.values(), *FAILING.values(), PLANTED])
    for place in range(len(CELLS)):
        notebook.run(place)
    for place in range(len(CELLS), len(CELLS) + len(FAILING)):
        notebook.run(place, may_fail=True)
    return notebook


def test_nothing_runs_in_the_notebook_nor_where_its_outputs_are_saved(hostile: Notebook) -> None:
    for place, name in enumerate([*CELLS, *FAILING]):
        hostile.picture(f"hostile {name}", place)
    for place, name in enumerate(CELLS):
        output = hostile.cell(place).locator(".jp-OutputArea").first
        nodes = output.locator("g.n")
        for i in range(min(nodes.count(), 3)):
            nodes.nth(i).focus()
            hostile.page.keyboard.press("Space")
            output.locator(".tfnb-details h3").wait_for()
        for pick in output.locator(".tfnb-pick").all()[:2]:
            pick.click()
        failed = output.locator(".tfnb-error:visible")
        assert failed.count() == 0, f"{name}: {failed.first.inner_text()}"
    hostile.page.evaluate(POINT_AT_ALL, AREA)
    hostile.page.evaluate(LATER)
    assert hostile.trap.live_parts(AREA) == []
    hostile.trap.quiet()
    inline_all(hostile)


def inline_all(hostile: Notebook) -> None:
    """What is saved, as a page that has all of it inline: what nbconvert, VS Code and GitHub may do."""
    outputs = [output for cell in hostile.saved()["cells"] for output in cell["outputs"]]
    kept = [data for output in outputs for data in [output.get("data", {})]]
    texts = ["".join(data[kind]) for data in kept for kind in ("text/html", "image/svg+xml") if kind in data]
    page = hostile.page.context.browser.new_page()
    trap = Trap(page)
    page.set_content("<!doctype html><title>saved</title>" + "".join(f"<div>{text}</div>" for text in texts))
    page.evaluate(POINT_AT_ALL, "body")
    assert trap.live_parts("body") == [] and len(texts) > 15
    trap.quiet()
    page.close()


def test_the_trap_tells_of_what_runs(hostile: Notebook) -> None:
    hostile.run(len(CELLS) + len(FAILING), may_fail=True)
    hostile.page.wait_for_function(f"() => window.{MARK} === 'ran'")
    assert hostile.trap.hit() == "ran" and "onerror" in str(hostile.trap.live_parts(AREA))
    hostile.page.evaluate(f"() => {{ window.{MARK} = undefined; }}")
    hostile.command("notebook:clear-cell-output")
    hostile.trap.errors.clear()
