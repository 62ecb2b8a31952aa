"""The table of the views: the code of a cell each, what is clicked in it, what is seen then, here and in the kernel.

A step is (verb, what[, value]): do it ("click", "hover", "check", "select", "fill"; "focus", and "key" for a key), or
wait for it ("see", and "kernel" for an expression). Selectors are Playwright's, within the output of the cell.
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
    """A view. code: of its cell; keys: steps by keyboard alone, then steps: by the mouse; seen: selectors of what is in
    the page then; kernel: expressions that are true in the kernel then."""

    name: str
    code: str
    steps: tuple[Step, ...] = ()
    seen: tuple[str, ...] = ()
    kernel: tuple[str, ...] = ()
    keys: tuple[Step, ...] = ()


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
         "'conv' in graph.state['expanded']"), (
        ("focus", node("conv/")),
        ("key", "Enter"), ("see", node("conv/maps")), ("see", f"{node('conv/')}:focus"),
        ("key", "Space"), ("kernel", "graph.state['selected'] == 'conv/'"),
        ("key", "Escape"), ("kernel", "graph.state['selected'] == ''"),
        ("key", "Enter"), ("kernel", "'conv' not in graph.state['expanded']"),
        ("focus", "select[aria-label='Colours say']"),
        ("key", "ArrowDown"), ("kernel", "graph.state['color'] != 'structure'"),
    )),
    ViewCase("values on edges", "values = %graph loss --values --feed feed --expand conv\nvalues", (
        ("click", f"{node('conv/maps')} .ttl"),
        ("click", "role=button[name=/Look again/]"),
        ("select", "select[aria-label='beside it']", "1"),
        ("see", "figcaption:has-text('−')"),
    ), ("g.value", ".tfnb-value img", ".tfnb-details >> text=Relu", ".tfnb-facts:has-text('float32[32, 8, 8, 4]')"),
        ("values.state['selected'] == 'conv/maps'", "values.values['conv/maps'].shape == (32, 8, 8, 4)",
         "values.enlarged.beside == 1 and len(values.enlarged.frames) == 2"), (
        ("focus", "[data-tensor='conv/maps:0']"),
        ("key", "Enter"), ("see", ".tfnb-heat canvas >> nth=3"),
        ("focus", "input[aria-label=example]"), ("key", "ArrowRight"), ("kernel", "values.enlarged.place == 1"),
        ("focus", "input[aria-label=channel]"), ("key", "ArrowRight"), ("kernel", "values.enlarged.channel == 1"),
        ("focus", ".tfnb-heat canvas"), ("key", "ArrowRight"), ("see", ".tfnb-heat output:has-text('0')"),
        ("see", ".tfnb-place:has-text('[0, 1]')"),
    )),
    ViewCase("fetch", "fetched = %fetch loss logits --feed feed", (), ("text=logits", "text=float32[32, 10]"),
             ("fetched[1].shape == (32, 10)",)),
    ViewCase("fetch watched", "%fetch loss --feed feed --watch conv", (
        ("click", node("conv/maps")),), ("g.value", ".tfnb-details h3")),
    ViewCase("live", "board = %live\nboard", (
        ("check", "label:has-text('log scale') input"),
        ("hover", ".tfnb-plot >> nth=0"),
    ), (".tfnb-line", ".tfnb-tip:has-text('step')", ".tfnb-ridge", ".tfnb-picture img[src^='blob:']",
        "figcaption:has-text('loss')"), ("len(board['training/loss'][0]) == 60", "len(board.histograms()) == 1"), (
        ("focus", "input[aria-label=Smoothing]"), ("key", "ArrowRight"), ("see", "output:text('0.61')"),
        ("focus", ".tfnb-plot >> nth=0"), ("key", "ArrowRight"), ("see", ".tfnb-tip:has-text('step')"),
        ("focus", ".tfnb-plot:has(.tfnb-ridge)"), ("key", "ArrowUp"), ("see", ".tfnb-tip:has-text('value')"),
        ("focus", ".tfnb-legend button"), ("key", "Enter"), ("see", "button[aria-pressed=false]"), ("key", "Enter"),
        ("focus", ".tfnb-picture input"), ("key", "Home"), ("see", ".tfnb-picture output:text('step 0')"),
    )),
    ViewCase("vars", "variables = %vars\nvariables", (
        ("click", "role=button[name=/^Sort by norm/]"),
        ("click", "role=button[name=/Show out\\/weights$/]"),
    ), ("canvas", "th[aria-sort]:has-text('norm')", ".tfnb-spark", "tr[aria-selected]:has-text('weights')"),
        ("variables.state['picked'] == {'variables': 'out/weights'}",), (
        ("focus", "role=button[name=/Sort by name/]"),
        ("key", "Enter"), ("see", "th[aria-sort=ascending] button:focus"),
        ("focus", "role=button[name=/Show out\\/bias$/]"),
        ("key", "Enter"), ("see", "canvas"), ("see", "tr[aria-selected] button:focus"),
    )),
    ViewCase("slots", "slots = %slots out/weights --feed feed\nslots", (
        ("hover", "canvas >> nth=0"),
        ("see", ".tfnb-place:text-matches('^\\\\[.*\\\\]$')"),
        ("click", "canvas >> nth=0"),
    ), ("figcaption:has-text('gradient')", "figcaption:has-text('m')", "text=/rows \\d+:/",
        "role=button[name=/Show the whole matrix again$/]"), ("slots.window is not None",), (
        ("focus", "canvas >> nth=0"),
        ("key", "ArrowDown"), ("key", "ArrowRight"), ("see", ".tfnb-place:text-matches('^\\\\[.*\\\\]$')"),
        ("key", "Enter"), ("kernel", "slots.window is not None"), ("see", "canvas:focus"),
        ("key", "Escape"), ("kernel", "slots.window is None"),
    )),
    ViewCase("ckpt list", "ckpt = %ckpt checkpoints\nckpt", (
        ("click", "role=button[name=/the one before/] >> nth=0"), ("see", "text=In both:"),
        ("click", "role=button[name=/Show out\\/weights$/]"),
    ), ("text=In both:", "canvas >> nth=2", ".tfnb-spark"),
        ("len(ckpt.files) == 2", "'out/weights' in ckpt.difference"), (
        ("focus", "role=button[name=/Show model-60$/]"),
        ("key", "Enter"), ("kernel", "len(ckpt.files) == 1"),
        ("focus", "role=button[name=/Show conv\\/filters$/]"),
        ("key", "Enter"), ("see", "canvas"),
    )),
    ViewCase("ckpt show", "shown = %ckpt show checkpoints/model-60\nshown", (
        ("click", "role=button[name=/Sort by size/]"),
        ("click", "tr:has-text('conv/filters/Adam_1') td >> nth=2"),
    ), ("canvas", "tr[aria-selected]:has-text('conv/filters/Adam_1')"),
        ("shown.panels_title == 'conv/filters/Adam_1'",)),
    ViewCase("ckpt diff", "changed = %ckpt diff checkpoints/model-20 checkpoints/model-60\nchanged", (
        ("click", "role=button[name=/Show conv\\/filters$/]"),
    ), ("figcaption:has-text('change')", "text=Only in"), ("changed.panels_title == 'conv/filters'",)),
    ViewCase("ckpt restore", "fate = %ckpt restore checkpoints/model-20 --dry-run --map other/=out/\nfate", (
        ("click", "role=button[name=/Sort by what happens/]"),
    ), ("text=would be restored", "td.is-bad"), ("fate.dry", "any(one.action == 'kept' for one in fate.plan)")),
    ViewCase("collections", "%collections", (
        ("click", "summary:has-text('trainable_variables')"),
    ), ("details:not([open]) summary:has-text('trainable_variables')", "details[open] >> text=line"), (), (
        ("focus", "summary:has-text('trainable_variables')"),
        ("key", "Enter"), ("see", "details:not([open]) summary:has-text('trainable_variables')"),
        ("key", "Space"), ("see", "details[open]:has-text('trainable_variables'):has-text('VariableV2')"),
    )),
    ViewCase("profile", "profile = %profile train merged --feed feed --runs 2\nprofile", (
        ("click", "role=button[name=/Closer/]"),
        ("see", ".tfnb-note:has-text('bars') >> nth=0"),
        ("click", "button.tfnb-pick:text-is('Adam/')"),
        ("see", ".tfnb-timeline rect.is-faint >> nth=0"),
        ("click", "role=button[name=/whole run/]"),
        ("hover", ".tfnb-timeline rect:has(+ text) >> nth=0"),
    ), (".tfnb-tip:has-text('as it ran')", "svg >> text=kernels"),
        ("len(profile.bars) > 5", "profile.state['picked'] == {'time': 'Adam/'}"), (
        ("focus", "select[aria-label='Time by']"),
        ("key", "ArrowDown"), ("key", "ArrowDown"), ("kernel", "profile.state['by'] == 'scope'"),
        ("focus", ".tfnb-timeline .tfnb-plot"),
        ("key", "ArrowRight"), ("see", ".tfnb-tip:has-text('as it ran')"), ("see", "rect.is-picked"),
        ("key", "ArrowUp"), ("see", ".tfnb-note:has-text(' of ')"), ("key", "Escape"),
    )),
    ViewCase("step", "stepper = %step loss --feed feed --break MatMul\nstepper", (
        ("click", "role=button[name=/^Step/]"),
        ("click", "role=button[name=/^Back/]"),
        ("click", "role=button[name=/Go on/]"),
        ("kernel", "stepper.stepper.op.name == 'out/MatMul'"),
        ("click", "role=button[name=/Go on/]"),
    ), (".tfnb-note:has-text('the run is over')", "text=Fetched"), ("stepper.stepper.op is None",), (
        ("focus", "role=button[name=/^Step/]"),
        ("key", "Enter"), ("kernel", "stepper.stepper.position == 7"), ("see", "button:focus:text('Step')"),
        ("key", "Space"), ("kernel", "stepper.stepper.position == 8"),
        ("focus", "role=button[name=/Show conv\\/Conv2D$/]"),
        ("key", "Enter"), ("kernel", "stepper.stepper.op.name == 'conv/Conv2D'"),
        ("fill", "input[aria-label^='A condition']", "x.max() > 1e9"),
        ("see", "td:text-is('x.max() > 1e9')"), ("kernel", "stepper.stepper.when"),
        ("fill", "input[aria-label^='A tensor or a slice']", "conv/filters[0, 0]"),
        ("see", "td:text-is('conv/filters[0, 0]')"),
    )),
    ViewCase("show", "large = %show sess.run(maps, feed)\nlarge", (
        ("click", ".tfnb-heat canvas >> nth=2"), ("kernel", "large.large.channel == 3"),
        ("see", "figcaption:has-text('8×8')"),
        ("click", "role=button[name=/the whole matrix/]"),
    ), (".tfnb-heat canvas >> nth=3", ".tfnb-facts:has-text('float32[32, 8, 8, 4]')"),
       ("large.large.channel == 0",), (
        ("focus", "input[aria-label=example]"), ("key", "ArrowRight"), ("kernel", "large.large.place == 1"),
    )),
    ViewCase("variable", "weights", (
        ("click", "summary:has-text('tf.Variable')"),
    ), ("details:not([open]) summary:has-text('float32[256, 10]')",), (), (
        ("focus", "summary:has-text('tf.Variable')"), ("see", "details[open] img[alt^='float32']"),
    )),
    ViewCase("queues", "queues = %queues\nqueues", (
        ("kernel", "sess.run(more) is None"),
    ), ("text=6 of 8", "role=meter"), ("queues.gauges()[0].size == 6",)),
    ViewCase("nan", "report = %nan bad --feed feed\nreport", (
        ("click", "summary"),
    ), ("role=alert", "text=comes from", "details:not([open])"), ("report.found",), (
        ("focus", "summary"),
        ("key", "Enter"), ("see", "details:not([open])"), ("key", "Space"), ("see", "details[open]"),
    )),
    ViewCase("why", "%why train", (), ("text=Adam", "text=takes"), ()),
    ViewCase("train", """%%train --lr optimizer --as run
time.sleep(0.05)
_, loss_now = sess.run([train, loss], feed)""", (
        ("click", "role=button[name=/Pause after this step/]"),
        ("click", "role=button[name=/Do one step, then pause/]"),
        ("fill", ".tfnb-rate input[type=text]", "0.002"),
        ("see", ".tfnb-status:text('paused')"),
        ("click", "role=button[name=/Resume the training/]"),
        ("see", ".tfnb-status:text('running')"),
        ("click", "role=button[name=/End the training after this step/]"),
    ), (".tfnb-status:text('stopped')", ".tfnb-facts b", ".tfnb-line"),
        ("run.status == 'stopped'", "run.rate.value == 0.002"), (
        ("focus", "role=button[name=/Pause after this step/]"),
        ("key", "Enter"), ("see", ".tfnb-status:text('paused')"),
        ("key", "Space"), ("see", ".tfnb-status:text('running')"),
        ("focus", ".tfnb-rate input[type=range]"),
        ("key", "ArrowRight"), ("kernel", "run.rate.value > 0.0101"),
    )),
)
