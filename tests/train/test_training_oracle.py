"""What the reference of training says beyond single optimizers: each snippet gives the same here and in TensorFlow."""
from __future__ import annotations

import pytest

from tests.differential import differences

SETUP = """
def close(found):
    return [np.round(np.asarray(v, np.float64), 5) for v in found]

def decayed(make, steps=(0, 1, 7, 10, 15, 20, 25, 70), dtype=tf.int32):
    step = tf.placeholder(dtype, [])
    rate = make(step)
    with tf.Session() as session:
        return rate.dtype.name, close([session.run(rate, {step: s}) for s in steps])
"""
DECAYS = {
    "exponential": "exponential_decay(0.5, s, 10, 0.9)", "staircase": "exponential_decay(0.5, s, 10, 0.9, True)",
    "exponential in double": "exponential_decay(np.float64(0.5), s, 10, 0.9)",
    "natural": "natural_exp_decay(0.5, s, 10, 0.9)", "natural staircase": "natural_exp_decay(0.5, s, 10, 0.9, True)",
    "inverse time": "inverse_time_decay(0.5, s, 10, 0.9)",
    "inverse time staircase": "inverse_time_decay(0.5, s, 10, 0.9, staircase=True)",
    "polynomial": "polynomial_decay(0.5, s, 20, 0.1, 2.0)",
    "cycle": "polynomial_decay(0.5, s, 10, 0.1, 0.5, cycle=True)",
    "cosine": "cosine_decay(0.5, s, 20, 0.2)", "restarts": "cosine_decay_restarts(0.5, s, 10, 2.0, 0.8, 0.1)",
    "equal restarts": "cosine_decay_restarts(0.5, s, 10, 1.0, 0.8)", "linear cosine": "linear_cosine_decay(0.5, s, 20)",
    "linear cosine periods": "linear_cosine_decay(0.5, s, 20, num_periods=1.5, alpha=0.1, beta=0.01)",
    "noisy": "noisy_linear_cosine_decay(0.5, s, 20, initial_variance=0.0)",
    "piecewise": "piecewise_constant(s, [10, 20], [0.5, 0.2, 0.1])",
    "piecewise in double": "piecewise_constant(s, [10, 20], [np.float64(v) for v in (0.5, 0.2, 0.1)])",
}
SNIPPETS = {name: f"decayed(lambda s: tf.train.{text})" for name, text in DECAYS.items()}
SNIPPETS |= {
    "decays of a step in Python": "close(tf.Session().run([tf.train.exponential_decay(0.1, 5, 2, 0.5, True)]))",
    "decays without a step": """
[outcome(lambda make=make: make(0.1, None, 10)) for make in (
    tf.train.cosine_decay, tf.train.cosine_decay_restarts, tf.train.linear_cosine_decay,
    tf.train.noisy_linear_cosine_decay, tf.train.polynomial_decay)]""",
    "arguments of an optimizer": """
v, i = tf.Variable([1.0]), tf.Variable([1])
opt = tf.train.GradientDescentOptimizer(0.1)
[outcome(action) for action in (
    lambda: tf.train.Optimizer(False, ""), lambda: opt.compute_gradients(v, gate_gradients=7),
    lambda: opt.compute_gradients(tf.cast(i, tf.float32), var_list=[]), lambda: opt.minimize(i),
    lambda: opt.minimize(tf.constant(1.0)), lambda: opt.apply_gradients([]), lambda: opt.apply_gradients([(None, v)]),
    lambda: opt.apply_gradients([(object(), v)]), lambda: opt.apply_gradients([(tf.ones([1]), tf.ones([1]))]),
    lambda: tf.train.AdagradOptimizer(0.1, initial_accumulator_value=0.0),
    lambda: tf.train.Optimizer(False, "x").minimize(v * v))]""",
    "what minimize gives": """
v = tf.Variable([1.0, 2.0], name="v")
step = tf.Variable(0, trainable=False, name="step")
opt = tf.train.MomentumOptimizer(0.1, 0.9, name="M")
one, two = opt.minimize(v * v, global_step=step), opt.minimize(v * v, name="named")
slot = opt.get_slot(v, "momentum")
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    one.run()
    result = session.run([v, step, slot])
result, one.name, two.name, type(one).__name__, opt.get_slot_names(), slot.name, opt.get_slot(v, "other"), \\
    opt.get_slot(step, "momentum"), opt.get_name(), [x.name for x in opt.variables()], \\
    tf.get_collection("train_op") == [one, two]""",
    "three steps": """
v, unused = tf.Variable([3.0, 4.0]), tf.Variable(1.0)
opt = tf.train.GradientDescentOptimizer(0.1)
pairs = opt.compute_gradients(tf.reduce_sum(v * v))
capped = [(tf.clip_by_norm(g, 1.0), x) for g, x in pairs if g is not None]
train = opt.apply_gradients(capped)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    session.run(train)
    result = session.run(v)
close([result]), [g is None for g, _ in pairs], [x is y for (_, x), y in zip(pairs, [v, unused])]""",
    "all gradients before any is used": """
a, b = tf.Variable(2.0), tf.Variable(3.0)
def used(gate):
    opt = tf.train.GradientDescentOptimizer(1.0)
    return [g.op.type for g, _ in opt.compute_gradients(a * b, gate_gradients=gate)]
def controls(gate):
    opt = tf.train.GradientDescentOptimizer(1.0)
    (g, _), (h, _) = opt.compute_gradients(a * b, gate_gradients=gate)
    groups = [c for t in (g, h) for c in t.op.control_inputs]
    return len(groups), len(set(groups)), len(groups[0].control_inputs) if groups else 0
[(used(gate), controls(gate)) for gate in (0, 1, 2)]""",
    "aggregation": """
x = tf.constant([1.0, 2.0])
y = sum(x * float(i) for i in range(1, 6))
found = [tf.gradients(y, x, aggregation_method=method)[0] for method in (
    None, tf.AggregationMethod.ADD_N, tf.AggregationMethod.DEFAULT, tf.AggregationMethod.EXPERIMENTAL_TREE,
    tf.AggregationMethod.EXPERIMENTAL_ACCUMULATE_N)]
tf.Session().run(found), outcome(lambda: tf.gradients(y, x, aggregation_method=17))""",
    "gradients": """
x, z = tf.constant([1.0, 2.0]), tf.constant(3.0)
y, w = x * z, x * x
found = [tf.gradients([y, w], [x, z], grad_ys=[tf.constant([1.0, 10.0]), None]), tf.gradients(y, tf.stop_gradient(x)),
         tf.gradients(tf.stop_gradient(y) * x, x), tf.gradients(y * w, x, stop_gradients=[w])]
(tf.Session().run([found[0], found[2], found[3]]), found[1], outcome(lambda: tf.gradients(y, x, grad_ys=[None, None])),
 outcome(lambda: tf.gradients(tf.py_func(lambda v: v, [x], tf.float32), x)), tf.gradients(x, z))""",
    "clipping": """
t = tf.constant([3.0, -4.0])
rows = tf.IndexedSlices(tf.constant([[3.0, 4.0]]), tf.constant([1]), tf.constant([5, 2]))
clipped, norm = tf.clip_by_global_norm([t, None, rows], 2.0)
close(tf.Session().run([tf.clip_by_value(t, -1.0, 2.0), tf.clip_by_norm(t, 2.5), tf.clip_by_norm(t, 10.0),
                        tf.clip_by_norm([[3.0, 4.0], [6.0, 8.0]], 1.0, axes=[1]), tf.clip_by_average_norm(t, 1.0),
                        tf.clip_by_norm(tf.zeros([2]), 1.0), clipped[0], clipped[2].values, norm,
                        tf.global_norm([t, None, rows]), tf.clip_by_global_norm([t], 100.0)[0][0],
                        tf.clip_by_global_norm([t], 2.0, use_norm=tf.constant(8.0))[0][0],
                        tf.clip_by_norm(rows, 1.0).values, tf.clip_by_value(rows, 0.0, 3.5).values])), \\
    clipped[1], outcome(lambda: tf.clip_by_global_norm(t, 1.0)), outcome(lambda: tf.global_norm(t)), \\
    outcome(lambda: tf.clip_by_value(t, [[1.0], [2.0]], 3.0))""",
    "clipping what is not finite": """
def run(values):
    t, small = tf.constant(values), tf.constant([1.0])
    clipped, norm = tf.clip_by_global_norm([t, small], 1.0)
    return [v.tolist() for v in map(np.asarray, tf.Session().run(
        [*clipped, norm, tf.clip_by_norm(t, 1.0), tf.clip_by_value(t, -1.0, 1.0), tf.global_norm([t])]))]
[str(run([np.inf, 1.0])), str(run([np.nan, 1.0])), str(run([-np.inf, np.nan]))]""",
    "averages": """
v, w = tf.Variable([1.0, 2.0], name="v"), tf.Variable(5.0, name="w")
count = tf.Variable(2, trainable=False, name="count")
ema = tf.train.ExponentialMovingAverage(0.9, num_updates=count)
before = ema.average_name(v), ema.average(v)
move = ema.apply([v, w])
names = sorted((name, x.name) for name, x in ema.variables_to_restore().items())
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    session.run([v.assign([2.0, 3.0]), w.assign(6.0)])
    session.run(move)
    result = session.run([ema.average(v), ema.average(w)])
(before, close(result), names, ema.average(v).name, ema.average(v).trainable, move.name, ema.name,
 outcome(lambda: ema.apply([count])))""",
    "averages of tensors": """
x = tf.placeholder(tf.float32, [])
t, u = x * 2.0, x * 3.0
plain = tf.train.ExponentialMovingAverage(0.9)
debiased = tf.train.ExponentialMovingAverage(0.9, zero_debias=True, name="D")
move = tf.group(plain.apply([t]), debiased.apply([u]))
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    found = []
    for value in (1.0, 5.0, 2.0):
        session.run(move, {x: value})
        found += session.run([plain.average(t), debiased.average(u)])
close(found), sorted(v.op.name for v in tf.global_variables())""",
    "averages through a saver": """
import os, tempfile
folder = tempfile.mkdtemp()
v, w = tf.Variable(1.0, name="v"), tf.Variable(5.0, name="w", trainable=False)
ema = tf.train.ExponentialMovingAverage(0.5)
move = ema.apply([v])
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    session.run([v.assign(9.0), w.assign(7.0)])
    session.run(move)
    path = tf.train.Saver().save(session, os.path.join(folder, "c"))
saver, one = tf.train.Saver(ema.variables_to_restore()), tf.train.Saver({ema.average_name(v): v})
with tf.Session() as session:
    saver.restore(session, path)
    result = session.run([v, w])
with tf.Session() as session:
    one.restore(session, path)
    result.append(session.run(v))
result""",
    "utilities": """
import os, pathlib, tempfile
folder = tempfile.mkdtemp()
step = tf.Variable(10, trainable=False, name="global_step")
with tf.Session() as session:
    session.run(step.initializer)
    found = [tf.train.global_step(session, step), tf.train.global_step(session, "global_step:0")]
    path = tf.train.write_graph(session.graph_def, os.path.join(folder, "new"), "train.pbtxt")
    other = tf.train.write_graph(session.graph, folder, "train.pb", as_text=False)
binary = tf.GraphDef.FromString(pathlib.Path(other).read_bytes())
text = pathlib.Path(path).read_text()
found, os.path.relpath(path, folder), 'name: "global_step"' in text, [n.name for n in binary.node]""",
    "sound": """
x = tf.constant(np.sin(np.arange(24.0)).reshape(2, 6, 2).astype("f") * 1.2)
made = [tf.summary.audio("a", x, 16000.0),
        tf.summary.audio("b", x[:, :, 0], tf.constant(8000.0), max_outputs=1, family="f")]
found = [tf.Summary.FromString(data) for data in tf.Session().run(made)]
[(v.tag, v.audio.sample_rate, v.audio.num_channels, v.audio.length_frames, v.audio.content_type,
  v.audio.encoded_audio_string) for f in found for v in f.value], [op.name for op in graph.get_operations()], \\
    outcome(lambda: tf.Session().run(tf.summary.audio("c", tf.zeros([3]), 8000)))""",
    "the share of zeros": """
str(tf.Session().run([tf.nn.zero_fraction([0.0, 1.0, 0.0, 2.0]), tf.nn.zero_fraction([[0, 1], [0, 0]]),
                      tf.nn.zero_fraction(tf.zeros([0]))])), tf.nn.zero_fraction([0]).dtype.name""",
    "sums": """
x = tf.constant([1.0, 2.0])
total = tf.accumulate_n([x, x, x * 2])
tf.Session().run([total, tf.gradients(total, x)[0], tf.accumulate_n([x], shape=[2], tensor_dtype=tf.float32)]), \\
    outcome(lambda: tf.accumulate_n([])), outcome(lambda: tf.accumulate_n([x, tf.constant([1])])), \\
    outcome(lambda: tf.accumulate_n([x, tf.zeros([3])]))""",
}


@pytest.mark.slow
def test_as_in_tensorflow(oracle):
    assert not differences(oracle, SNIPPETS, SETUP)
