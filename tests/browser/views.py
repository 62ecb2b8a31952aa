"""The table of the views: the code of a cell each, what is clicked in it, what is seen then, here and in the kernel.

A step is (verb, selector[, value]); selectors are Playwright's, within the output of the cell.
"""
from __future__ import annotations

from dataclasses import dataclass

Step = tuple[str, ...]

OPENING = "%load_ext tfnb\nimport time\nimport numpy as np\nimport tfnb as tf"
MODEL = """x = tf.placeholder(tf.float32, [None, 8, 8, 1], name="x")
y = tf.placeholder(tf.int64, [None], name="y")
with tf.name_scope("conv"):
    filters = tf.Variable(tf.random_normal([3, 3, 1, 4], stddev=0.5, seed=1), name="filters")
    maps = tf.nn.relu(tf.nn.conv2d(x, filters, [1, 1, 1, 1], "SAME"), name="maps")
with tf.name_scope("out"):
    weights = tf.Variable(tf.random_normal([256, 10], stddev=0.1, seed=2), name="weights")
    bias = tf.Variable(tf.zeros([10]), name="bias")
    logits = tf.add(tf.matmul(tf.reshape(maps, [-1, 256]), weights), bias, name="logits")
loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits), name="loss")
bad = tf.reduce_sum(tf.log(maps), name="bad")"""
TRAINING = """optimizer = tf.train.AdamOptimizer(0.01)
step = tf.train.get_or_create_global_step()
train = optimizer.minimize(loss, global_step=step)
tf.summary.scalar("training/loss", loss)
tf.summary.histogram("weights", weights)
tf.summary.image("maps", maps[:, :, :, :1], max_outputs=2)
merged = tf.summary.merge_all()
queue = tf.FIFOQueue(8, [tf.float32], shapes=[[]], name="examples")
put, more = queue.enqueue_many([tf.ones([5])]), queue.enqueue(1.0)"""
RUNNING = """sess = tf.Session()
sess.run(tf.global_variables_initializer())
rng = np.random.RandomState(0)
feed = {x: rng.rand(32, 8, 8, 1), y: rng.randint(10, size=32)}
look = %vars
for _ in range(60):
    sess.run([train, merged], feed)
    if tf.train.global_step(sess, step) in (20, 60):
        tf.notebook.save_checkpoint("checkpoints/model", session=sess, step=tf.train.global_step(sess, step))
        look.refresh()
sess.run(put)"""
PREPARED = (OPENING, MODEL, TRAINING, RUNNING)
BUSY = 2        # the cell of the training ops


@dataclass(frozen=True)
class ViewCase:
    """A view. code: of its cell; steps: what is done in it; seen: selectors of what is in the page then; kernel:
    expressions that are true in the kernel then; keys: the same by keyboard alone, after `reset`."""

    name: str
    code: str
    steps: tuple[Step, ...] = ()
    seen: tuple[str, ...] = ()
    kernel: tuple[str, ...] = ()


def node(name: str) -> str:
    """The selector of a node of a graph."""
    return f'g.n[data-name="{name}"]'


CASES = (
    ViewCase("graph", "graph = %graph\ngraph", (
        ("click", f"{node('conv/')} .fold"),
        ("click", f"{node('conv/filters/')} .ttl"),
        ("select", "select[aria-label='Colours say']", "cell"),
    ), (node("conv/maps"), ".tfnb-details >> text=VariableV2", ".tfnb-where >> text=line 4",
        ".legend text:has-text('[2]')"),
        ("graph.state['selected'] == 'conv/filters/'", "graph.state['color'] == 'cell'",
         "'conv' in graph.state['expanded']")),
    ViewCase("values on edges", "values = %graph loss --values --feed feed --expand conv\nvalues", (
        ("click", f"{node('conv/maps')} .ttl"),
    ), ("g.value", ".tfnb-value img", ".tfnb-details >> text=Relu"),
        ("values.state['selected'] == 'conv/maps'", "values.values['conv/maps:0'].pill.shape == (32, 8, 8, 4)")),
    ViewCase("fetch", "fetched = %fetch loss logits --feed feed", (), ("text=logits", "text=float32[32, 10]"),
             ("fetched[1].shape == (32, 10)",)),
    ViewCase("fetch watched", "%fetch loss --feed feed --watch conv", (
        ("press", node("conv/maps"), " "),), ("g.value", ".tfnb-details h3"), ()),
    ViewCase("live", "board = %live\nboard", (
        ("check", "label:has-text('log scale') input"),
        ("hover", ".tfnb-plot >> nth=0"),
    ), (".tfnb-line", ".tfnb-tip:has-text('step')", ".tfnb-ridge", ".tfnb-picture img[src^='blob:']",
        "figcaption:has-text('loss')"), ("len(board['training/loss'][0]) == 60", "len(board.histograms()) == 1")),
    ViewCase("vars", "variables = %vars\nvariables", (
        ("click", "role=button[name=/^Sort by norm/]"),
        ("click", "role=button[name='Show out/weights']"),
    ), ("canvas", "th[aria-sort]:has-text('norm')", ".tfnb-spark", "tr[aria-selected]:has-text('weights')"),
        ("variables.state['picked'] == {'variables': 'out/weights'}",)),
    ViewCase("slots", "slots = %slots out/weights --feed feed\nslots", (
        ("hover", "canvas >> nth=0"),
        ("see", ".tfnb-place:text-matches('^\\\\[.*\\\\]$')"),
        ("click", "canvas >> nth=0"),
    ), ("figcaption:has-text('gradient')", "figcaption:has-text('m')", "text=/rows \\d+:/",
        "role=button[name='Show the whole matrix again']"), ("slots.window is not None",)),
    ViewCase("ckpt list", "ckpt = %ckpt checkpoints\nckpt", (
        ("click", "role=button[name='the one before'] >> nth=0"),
        ("click", "role=button[name='Show out/weights']"),
    ), ("text=In both:", "canvas >> nth=2", ".tfnb-spark"),
        ("len(ckpt.files) == 2", "'out/weights' in ckpt.difference")),
    ViewCase("ckpt show", "shown = %ckpt show checkpoints/model-60\nshown", (
        ("click", "role=button[name='Sort by size']"),
        ("click", "tr:has-text('conv/filters/Adam_1') td >> nth=2"),
    ), ("canvas", "tr[aria-selected]:has-text('conv/filters/Adam_1')"),
        ("shown.panels_title == 'conv/filters/Adam_1'",)),
    ViewCase("ckpt diff", "changed = %ckpt diff checkpoints/model-20 checkpoints/model-60\nchanged", (
        ("click", "role=button[name='Show conv/filters']"),
    ), ("figcaption:has-text('change')", "text=Only in"), ("changed.panels_title == 'conv/filters'",)),
    ViewCase("ckpt restore", "fate = %ckpt restore checkpoints/model-20 --dry-run --map out/=other/\nfate", (
        ("click", "role=button[name='Sort by what happens']"),
    ), ("text=would be restored", "td.is-bad"), ("fate.dry", "any(one.action == 'kept' for one in fate.plan)")),
    ViewCase("collections", "%collections", (
        ("click", "summary:has-text('trainable_variables')"),
    ), ("details:not([open]) summary:has-text('trainable_variables')", "details[open] >> text=line"), ()),
    ViewCase("profile", "profile = %profile train merged --feed feed --runs 2\nprofile", (
        ("hover", "[data-bar] >> nth=0"),
    ), (".tfnb-tip:has-text('as it ran')", "svg >> text=kernels"), ("len(profile.bars) > 5",)),
    ViewCase("step", "stepper = %step loss --feed feed --break MatMul\nstepper", (
        ("click", "role=button[name=Step]"),
        ("click", "role=button[name=Back]"),
        ("click", "role=button[name='Go on']"),
    ), (".tfnb-note:has-text('the run is over')", "text=Fetched"), ("stepper.stepper.op is None",)),
    ViewCase("queues", "queues = %queues\nqueues", (
        ("kernel", "sess.run(more) is None"),
    ), ("text=6 of 8", "role=meter"), ("queues.gauges()[0].size == 6",)),
    ViewCase("nan", "report = %nan bad --feed feed\nreport", (
        ("click", "summary"),
    ), ("role=alert", "text=comes from", "details:not([open])"), ("report.found",)),
    ViewCase("why", "%why train", (), ("text=Adam", "text=takes"), ()),
    ViewCase("train", """%%train --lr optimizer --as run
time.sleep(0.05)
_, loss_now = sess.run([train, loss], feed)""", (
        ("click", "role=button[name='Pause after this step']"),
        ("click", "role=button[name='Do one step, then pause']"),
        ("fill", ".tfnb-rate input[type=text]", "0.002"),
        ("see", ".tfnb-status:text('paused')"),
        ("click", "role=button[name='Go on']"),
        ("see", ".tfnb-status:text('running')"),
        ("click", "role=button[name='End the training after this step']"),
    ), (".tfnb-status:text('stopped')", ".tfnb-facts b", ".tfnb-line"),
        ("run.status == 'stopped'", "run.rate.value == 0.002")),
)
