"""What surrounds runs, in snippets for tests/differential.py: runs in steps, devices, resets, options, callables."""
# ruff: noqa: E501
_PARTIAL = '''
a = tf.placeholder(tf.float32, [], name="a"); b = tf.placeholder(tf.float32, [], name="b"); c = tf.placeholder(tf.float32, [], name="c")
r1 = a + b; r2 = r1 * c; v = tf.Variable(1.0); add = v.assign_add(r1); u = tf.random_uniform([]) + a
---
'''.lstrip()
_STEPS = r'''
h = sess.partial_run_setup([r1, r2], [a, b, c]); [sess.partial_run(h, r1, {a: 1, b: 2}), sess.partial_run(h, r2, {c: 5})]
===
h = sess.partial_run_setup([r1, r2], [a, b, c]); sess.partial_run(h, [r1, r2], {a: 1, b: 2, c: 3}), outcome(lambda: sess.partial_run(h, r2, {c: 5}))
===
h = sess.partial_run_setup([r1, r2], [a, b, c]); outcome(lambda: sess.partial_run(h, r2, {a: 1}))
===
h = sess.partial_run_setup([r1, r2], [a, b, c]); sess.partial_run(h, r1, {a: 1, b: 1}), outcome(lambda: sess.partial_run(h, r1, {}))
===
h = sess.partial_run_setup([r1, r2], [a, b, c]); sess.partial_run(h, r1, {a: 1, b: 1}), outcome(lambda: sess.partial_run(h, r2, {a: 1}))
===
h = sess.partial_run_setup([r1, r2], [a, b, c]); outcome(lambda: sess.partial_run(h, add, {a: 1, b: 1}))
===
outcome(lambda: sess.partial_run("nope", r1, {a: 1, b: 1}))
===
outcome(lambda: sess.partial_run_setup([], [a]))
===
h = sess.partial_run_setup([r1, add.op], [a, b]); outcome(lambda: sess.partial_run(h, [r1, add.op], {a: 1, b: 1}))
===
h = sess.partial_run_setup([r1, add.op], [a, b]); sess.partial_run(h, r1, {a: 1, b: 1}), sess.run(v)
===
h = sess.partial_run_setup([r2, add], [a, b, c]); [sess.partial_run(h, [], {a: 1}), sess.partial_run(h, add, {b: 1}), sess.run(v), sess.partial_run(h, r2, {c: 1}), sess.run(v)]
===
h = sess.partial_run_setup([r2, r1], [a, b, c]); sess.partial_run(h, {"k": [r1, (r1,)]}, {a: 1, b: 1}), sess.partial_run(h, {"k": r2}, {"c:0": np.float32(2)})
===
hs = [sess.partial_run_setup([r1, r2], [a, b, c]) for _ in range(2)]; [sess.partial_run(h, r1, {a: k, b: 2}) for k, h in enumerate(hs)], [sess.partial_run(h, r2, {c: 5}) for h in hs]
===
h = sess.partial_run_setup([u, r1], [a, b]); x = sess.partial_run(h, u, {a: 1}); sess.partial_run(h, r1, {b: 1}), outcome(lambda: sess.partial_run(h, u))
===
y = tf.cond(a > 0, lambda: a * 2, lambda: -a); z = y + b; h = sess.partial_run_setup([y, z], [a, b])
sess.partial_run(h, y, {a: -3}), sess.partial_run(h, z, {b: 1})
===
y = tf.cond(a > 0, lambda: b * 2, lambda: -c); h = sess.partial_run_setup([y], [a, b, c])
outcome(lambda: sess.partial_run(h, y, {a: 1, b: 2})), sess.partial_run(h, [], {c: 1})
===
y = tf.cond(a > 0, lambda: b * 2, lambda: -c)
for _ in range(3):
    h = sess.partial_run_setup([y], [a, b, c]); sess.partial_run(h, [], {b: 1, c: 2}), sess.partial_run(h, y, {a: 1})
===
p = tf.placeholder(tf.bool, []); x = tf.cond(p, lambda: a + b, lambda: a - c); z = x * 2
def steps():
    h = sess.partial_run_setup([x, z], [p, a, b, c])
    return sess.partial_run(h, [], {p: False, a: 1}), sess.partial_run(h, [], {b: 1}), sess.partial_run(h, [x, z], {c: 5})
steps(), steps(), steps()
===
y = tf.while_loop(lambda i: i < a, lambda i: i + b, [tf.constant(0.)]); z = y * c
def steps():
    h = sess.partial_run_setup([y, z], [a, b, c])
    return sess.partial_run(h, [], {a: 5}), sess.partial_run(h, y, {b: 2}), sess.partial_run(h, z, {c: 10})
steps(), steps(), steps()
===
add = v.assign_add(a); r = v.read_value(); rb = v + b; f = tf.reshape(v, [1, 1])
def steps():
    h = sess.partial_run_setup([add, v, r, rb, f], [a, b])
    return sess.partial_run(h, add, {a: 2}), sess.partial_run(h, [r, f], {}), sess.partial_run(h, [v, rb], {b: 10})
steps(), steps(), steps()
===
q = tf.FIFOQueue(10, tf.float32, shapes=[[]]); e = q.enqueue(a); d = q.dequeue(); z = d + b
h = sess.partial_run_setup([d, z, e], [a, b]); sess.partial_run(h, d, {a: 7}), sess.partial_run(h, z, {b: 1})
===
loss = tf.square(v * a - b); train = tf.train.GradientDescentOptimizer(.1).minimize(loss); out = v * a
def steps():
    h = sess.partial_run_setup([out, loss, train], [a, b])
    return sess.partial_run(h, out, {a: 3}), sess.partial_run(h, loss, {b: 1}), sess.run(v)
steps(), steps(), steps()
===
outcome(lambda: sess.partial_run_setup(3, [a]))
===
h = sess.partial_run_setup([r1], [a, b]); sess.close(); outcome(lambda: sess.partial_run(h, r1, {a: 1, b: 2})), outcome(lambda: sess.partial_run_setup([r1], [a, b]))
'''.strip("\n").split("\n===\n")
_OTHERS = r'''
v = tf.Variable(1.0)
s = tf.Session(); s.run(v.initializer)
tf.Session.reset("")
outcome(lambda: s.run(v)), outcome(lambda: tf.Session().run(v)), len(s.list_devices())
===
v = tf.Variable(1.0)
s = tf.Session(); s.run(v.initializer)
tf.Session.reset("", ["c"])
outcome(lambda: s.run(v)), s.close(), outcome(lambda: s.run(v))
===
tf.Session.reset("nope")
===
tf.Session.reset("", [3])
===
[(d.name, d.device_type, d.memory_limit_bytes) for d in tf.Session().list_devices()]
===
[(d.name, d.device_type) for d in tf.Session(config=tf.ConfigProto(device_count={"CPU": 2})).list_devices()]
===
tf.Session(config=tf.ConfigProto(device_count={"CPU": 0}))
===
tf.Session(config=tf.ConfigProto(device_count={"GPU": 0})).run(tf.constant(1.0))
===
with tf.device("/cpu:1"): x = tf.placeholder(tf.float32) * 2.0
[outcome(lambda: tf.Session(config=tf.ConfigProto(device_count={"CPU": n})).run(x, {"Placeholder:0": 1.0})) for n in (1, 2)]
===
q = tf.FIFOQueue(1, [tf.float32]); d = q.dequeue(); e = q.enqueue(1.0); x = tf.placeholder(tf.float32) * 2.0
---
o = tf.RunOptions(timeout_in_ms=50)
[outcome(lambda: sess.run(d, options=o)) for _ in range(2)], sess.run(x, {"Placeholder:0": 1.0}, options=o), sess.run(e, options=o), sess.run(d), outcome(lambda: tf.Session(config=tf.ConfigProto(operation_timeout_in_ms=50)).run(d))
===
x = tf.placeholder(tf.float32); y = tf.while_loop(lambda i: i < 1e9, lambda i: i + 1.0, [x]); z = tf.while_loop(lambda i: i < 9.0, lambda i: i + 1.0, [x])
---
o = tf.RunOptions(timeout_in_ms=200)
[outcome(lambda: sess.run(y, {x: 0.0}, options=o)) for _ in range(3)], sess.run(z, {x: 0.0}, options=tf.RunOptions(timeout_in_ms=60000))
===
x = tf.placeholder(tf.float32, [2]); y = tf.reduce_sum(x * x); m = tf.RunMetadata()
---
a = sess.run(y, {x: [1, 2]}, tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), m)
b = [d.device for d in m.step_stats.dev_stats], len(m.partition_graphs)
sess.run(y, {x: [1, 2]}, run_metadata=m)
a, b, len(m.step_stats.dev_stats)
===
x = tf.placeholder(tf.float32, name="x"); y = tf.multiply(tf.exp(x), 2.0, name="y"); m = tf.RunMetadata()
---
sess.run(y, {x: 1.0}, tf.RunOptions(output_partition_graphs=True), m)
len(m.partition_graphs), {"Exp", "y"} <= {n.name for n in m.partition_graphs[0].node}, {n.device for n in m.partition_graphs[0].node}, len(m.step_stats.dev_stats)
===
x = tf.placeholder(tf.float32); f = 0
---
f = sess.make_callable(x * 2.0, [x], accept_options=True); m = tf.RunMetadata()
f(1.0), f(2.0, options=None, run_metadata=None), f(3.0, options=tf.RunOptions(trace_level=1), run_metadata=m), len(m.step_stats.dev_stats)
===
x = tf.placeholder(tf.float32)
---
f = sess.make_callable(x * 2.0, [x]); sess.close()
outcome(lambda: f(1.0)), outcome(lambda: sess.make_callable(x * 2.0, [x]))
===
x = tf.placeholder(tf.float32, [None]); y = tf.reduce_sum(x * 2.0)
c = tf.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=1); c.graph_options.optimizer_options.opt_level = tf.OptimizerOptions.L0
s = tf.Session(config=c)
[s.run(y, {x: np.ones(n)}) for n in (3, 100000, 3)]
'''.strip("\n").split("\n===\n")
_WAITS = '''
v = tf.Variable(1.0); v2 = tf.Variable([1.0, 2.0]); w = tf.Variable(1.0); i = tf.placeholder_with_default([1], [None])
x = tf.placeholder_with_default([1.0, 2.0], None); c = tf.placeholder_with_default(True, [])
s = tf.Session(); s.run(w.initializer)
with tf.control_dependencies([{}]): ys = [tf.no_op(), x + 1.0, w.assign_add(1.0)]
[[outcome(lambda: s.run(y)) for y in ys] for _ in range(2)], s.run(w)
'''.lstrip()
# Control inputs alone: reading a variable fails before it has a value; what can't fail is left out by both.
_CONTROLS = ("v", "v + 1.0", "tf.exp(v + 1.0)", "tf.gather(v2, i)", "tf.is_variable_initialized(v)", "x + tf.ones([2, 3])",
             "tf.check_numerics(x / 0.0, 'a')", "tf.Assert(False, [x])", "tf.assign_add(v, 1.0)", "tf.exp(x)", "tf.random_uniform([2])",
             "tf.py_func(lambda a: 1 // 0, [x], tf.float32)", "tf.cond(c, lambda: v.read_value(), lambda: 0.0)",
             "tf.cond(c, lambda: 0.0, lambda: v.read_value())", "tf.cond(c, lambda: tf.identity(v + 1.0), lambda: 0.0)")
_DEVICE = '''
with tf.device("{}"): k = tf.placeholder(tf.float32, name="p") + 1.0
[outcome(lambda: tf.Session(config=tf.ConfigProto(allow_soft_placement=soft)).run(k, {{"p:0": 1}})) for soft in (False, True)]
'''.lstrip()
_NAMES = ("/gpu:0", "/job:foo/cpu:0", "/cpu:3", "/device:TPU:0", "/job:localhost/replica:0/task:0/cpu:0", "/task:1", "/cpu:*",
          "/job:localhost/gpu:1", "/job:localhost/task:2/cpu:0", "/job:localhost", "/replica:1", "/device:XLA_CPU:0", "")
SNIPPETS = [_PARTIAL + s for s in _STEPS] + _OTHERS + [_DEVICE.format(name) for name in _NAMES] \
    + [_WAITS.format(control) for control in _CONTROLS]
