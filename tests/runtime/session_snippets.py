"""What sessions do, in snippets for tests/differential.py: fetches, feeds, values, updates, errors, defaults."""
# ruff: noqa: E501
SNIPPETS = r'''
x = tf.constant(1.0); y = tf.constant([1, 2])
---
sess.run([x, [y, (x, y)], {"a": x, "b": [y]}])
===
x = tf.constant(1.0)
---
sess.run({"a": x, "b": x.op})
===
import collections
P = collections.namedtuple("P", "a b")
x = tf.constant(1.0); y = tf.constant([1, 2])
---
sess.run(P(x, [y, y.op]))
===
import collections
x = tf.constant(1.0)
---
sess.run(collections.OrderedDict([("z", x), ("a", x)]))
===
import collections
x = tf.constant(1.0)
---
d = collections.defaultdict(list); d["a"] = x
sess.run(d)
===
x = tf.constant(1.0, name="x")
---
sess.run(["x:0", "x"])
===
x = tf.constant(1.0, name="x")
---
sess.run("x")
===
x = tf.constant(1.0, name="x")
---
sess.run("nope")
===
x = tf.constant(1.0, name="x")
---
sess.run("x:1")
===
x = tf.constant(1.0, name="x")
---
sess.run(None)
===
x = tf.constant(1.0, name="x")
---
sess.run([x, None])
===
x = tf.constant(1.0, name="x")
---
sess.run(3)
===
x = tf.constant(1.0, name="x")
---
sess.run([])
===
x = tf.constant(1.0, name="x")
---
sess.run(())
===
x = tf.constant(1.0, name="x")
---
sess.run({})
===
x = tf.constant(1.0, name="x")
---
sess.run([x, [], {}])
===
v = tf.Variable([1.0, 2.0], name="v")
---
sess.run([v, "v:0", "v/read:0", v.value(), v.op, v.initializer])
===
v = tf.Variable([1.0, 2.0], name="v")
---
sess.run(v)
===
v = tf.Variable([1.0, 2.0], name="v")
---
sess.run(v.op)
===
v = tf.Variable(1.0, name="v"); w = v + 1.0
---
sess.run(w, {v: 5.0})
===
v = tf.Variable(1.0, name="v"); w = v + 1.0
---
sess.run(w, {"v/read:0": 5.0})
===
v = tf.Variable(1.0, name="v"); w = v + 1.0
---
sess.run([w, v], {v.value(): 5.0})
===
v = tf.Variable(1.0, name="v"); w = v + 1.0
---
sess.run([v, w], {v: 7.0})
===
c = tf.constant([1.0, 2.0], name="c"); d = c * 2.0
---
sess.run(d, {c: [3.0, 4.0]})
===
c = tf.constant([1.0, 2.0], name="c"); d = c * 2.0
---
sess.run(d, {c: [3.0, 4.0, 5.0]})
===
c = tf.constant([1.0, 2.0], name="c"); d = c * 2.0; e = d + 1.0
---
sess.run([c, d, e], {d: [10, 20]})
===
c = tf.constant([1.0, 2.0], name="c"); d = c * 2.0; e = d + 1.0
---
sess.run(d, {d: [10, 20]})
===
c = tf.constant([1.0, 2.0], name="c"); d = c * 2.0; e = d + 1.0
---
sess.run([d, e], {"mul:0": [10, 20]})
===
c = tf.constant([1.0, 2.0], name="c"); d = c * 2.0; e = d + 1.0
---
sess.run([d, e], {"mul": [10, 20]})
===
c = tf.constant([1.0, 2.0], name="c")
---
sess.run(c, {c.op: [10, 20]})
===
c = tf.constant([1.0, 2.0], name="c")
---
sess.run(c, {"nope:0": [10, 20]})
===
c = tf.constant([1.0, 2.0], name="c")
---
sess.run(c, {3: [10, 20]})
===
c = tf.constant([1.0, 2.0], name="c")
---
sess.run(c, {c: c})
===
c = tf.constant([1.0, 2.0], name="c")
---
sess.run(c, [(c, 1.0)])
===
c = tf.constant([1.0, 2.0], name="c")
with tf.Graph().as_default(): other = tf.constant(1.0)
---
sess.run(other)
===
c = tf.constant([1.0, 2.0], name="c")
with tf.Graph().as_default(): other = tf.constant(1.0)
---
sess.run(c, {other: 1.0})
===
c = tf.constant([1.0, 2.0], name="c")
with tf.Graph().as_default(): other = tf.constant(1.0)
---
sess.run(other.op)
===
c = tf.constant([1.0, 2.0], name="c")
with tf.Graph().as_default(): other = tf.Variable(1.0)
---
sess.run(other)
===
x = tf.placeholder(tf.float32, [None, 2]); y = x * 2.0
---
sess.run(y, {x: np.zeros([3, 3])})
===
x = tf.placeholder(tf.float32, [None, 2]); y = x * 2.0
---
sess.run(y, {x: "a"})
===
x = tf.placeholder(tf.float32, [None, 2]); y = x * 2.0
---
sess.run(y)
===
x = tf.placeholder(tf.int32, []); y = x * 2
---
sess.run(y, {x: 1.5})
===
x = tf.placeholder(tf.int32, []); y = x * 2
---
sess.run(y, {x: np.float32(1.5)})
===
x = tf.placeholder(tf.int32, []); y = x * 2
---
sess.run(y, {x: 2**40})
===
x = tf.placeholder(tf.int32, []); y = x * 2
---
sess.run(y, {x: np.int64(3)})
===
x = tf.placeholder(tf.int32, []); y = x * 2
---
sess.run(y, {x: np.int64(2**40)})
===
x = tf.placeholder(tf.uint8, []); y = tf.cast(x, tf.int32)
---
sess.run(y, {x: 300})
===
x = tf.placeholder(tf.bool, []); y = tf.logical_not(x)
---
sess.run(y, {x: 3})
===
x = tf.placeholder(tf.float32, []); y = x + 1.0
---
sess.run(y, {x: True})
===
x = tf.placeholder(tf.float32, []); y = x + 1.0
---
sess.run(y, {x: None})
===
x = tf.placeholder(tf.float32, [2]); y = x + 1.0
---
sess.run(y, {x: [1.0, None]})
===
x = tf.placeholder(tf.float32, [2]); y = x + 1.0
---
sess.run(y, {x: [1.0, [2.0]]})
===
x = tf.placeholder(tf.float32, [2]); y = x + 1.0
---
sess.run(y, {x: (1.0, 2)})
===
x = tf.placeholder(tf.string, [2]); y = tf.identity(x)
---
sess.run(y, {x: ["a", b"bc"]})
===
x = tf.placeholder(tf.string, [2]); y = tf.identity(x)
---
sess.run(y, {x: [1, 2]})
===
x = tf.placeholder(tf.string, []); y = tf.identity(x)
---
sess.run(y, {x: "abc"})
===
x = tf.placeholder(tf.string); y = tf.identity(x)
---
sess.run(y, {x: np.array(["abc", "d"])})
===
x = tf.placeholder(tf.float32); y = tf.shape(x)
---
[sess.run(y, {x: np.zeros(s)}) for s in [(), (0,), (2, 3), (1, 0, 2)]]
===
x = tf.placeholder(tf.float32, [2]); y = tf.placeholder(tf.float32, [2]); z = x + y
---
sess.run(z, {x: [1, 2]})
===
x = tf.placeholder(tf.float32, [2]); y = tf.placeholder(tf.float32, [2]); z = x + y
---
sess.run(x, {x: [1, 2], y: [1, 2]})
===
x = tf.placeholder(tf.float32); y = tf.placeholder(tf.float32); z = x + y
---
sess.run(z, {x: [1, 2], y: [1, 2, 3]})
===
x = tf.placeholder(tf.float32); y = tf.placeholder(tf.float32); z = tf.matmul(x, y)
---
sess.run(z, {x: [[1, 2]], y: [[1, 2, 3]]})
===
x = tf.placeholder(tf.float32); y = tf.reshape(x, [2, 3])
---
sess.run(y, {x: [1, 2]})
===
x = tf.placeholder(tf.float32); y = tf.reshape(x, [2, -1])
---
sess.run(y, {x: [1, 2, 3]})
===
x = tf.placeholder(tf.float32); s = tf.placeholder(tf.int32); y = tf.reshape(x, s)
---
[sess.run(y, {x: np.arange(6), s: v}) for v in ([2, 3], [3, 2], [-1], [6, 1, 1])]
===
x = tf.placeholder(tf.float32); s = tf.placeholder(tf.int32); y = tf.reshape(x, s)
---
sess.run(y, {x: np.arange(6), s: [2, 2]})
===
x = tf.placeholder(tf.float32); s = tf.placeholder(tf.int32); y = tf.reshape(x, s)
---
sess.run(y, {x: np.arange(6), s: [-1, -1]})
===
x = tf.placeholder(tf.float32); s = tf.placeholder(tf.int32); y = tf.reshape(x, s)
---
sess.run(y, {x: np.arange(6), s: [-2, -3]})
===
n = tf.placeholder(tf.int32, []); y = tf.zeros([n, 2]) + 1.0
---
[sess.run(y, {n: v}) for v in (0, 1, 3)]
===
n = tf.placeholder(tf.int32, []); y = tf.zeros([n, 2]) + 1.0
---
sess.run(y, {n: -1})
===
n = tf.placeholder(tf.int32, []); y = tf.range(n)
---
[sess.run(y, {n: v}) for v in (0, 1, 3)]
===
i = tf.placeholder(tf.int32); y = tf.gather([1.0, 2.0, 3.0], i)
---
sess.run(y, {i: [0, 2]}), outcome(lambda: sess.run(y, {i: [3]})), outcome(lambda: sess.run(y, {i: [-1]})), sess.run(y, {i: [1]}), outcome(lambda: sess.run(y, {i: [3]}))
===
i = tf.placeholder(tf.int32); y = tf.gather([1.0, 2.0, 3.0], i)
---
outcome(lambda: sess.run(y.op, {i: [3]})), outcome(lambda: sess.run(y.op, {i: [3]})), outcome(lambda: sess.run(y.op, {i: [0]}))
===
i = tf.placeholder(tf.int32); y = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=i, logits=tf.zeros([2, 3]))
---
sess.run(y, {i: [0, 2]}), outcome(lambda: sess.run(y, {i: [3, 0]})), outcome(lambda: sess.run(y, {i: [0]})), outcome(lambda: sess.run(y, {i: [3, 0]}))
===
v = tf.Variable([1.0])
---
v2 = tf.Variable(2.0)
sess.run(v2)
===
v = tf.Variable(1.0, validate_shape=False)
---
a = tf.assign(v, [1.0, 2.0], validate_shape=False); b = v * 3.0
sess.run(a), sess.run(v), sess.run(b), sess.run(tf.assign(v, [[1.0]], validate_shape=False)), sess.run(b), sess.run(b)
===
v = tf.Variable([1.0, 2.0])
---
a = tf.assign(v, [1.0, 2.0, 3.0])
sess.run(a)
===
v = tf.Variable([1.0, 2.0]); p = tf.placeholder(tf.float32); a = tf.assign(v, p)
---
outcome(lambda: sess.run(a, {p: [1, 2, 3]})), sess.run(v), outcome(lambda: sess.run(a, {p: [1, 2, 3]})), outcome(lambda: sess.run(a, {p: [5, 6]})), outcome(lambda: sess.run(a, {p: 1})), sess.run(v)
===
v = tf.Variable([1.0, 2.0]); p = tf.placeholder(tf.float32); a = tf.assign_add(v, p)
---
outcome(lambda: sess.run(a, {p: [1, 2, 3]})), sess.run(v), outcome(lambda: sess.run(a, {p: 1.0})), outcome(lambda: sess.run(a, {p: [5, 6]})), sess.run(v)
===
v = tf.Variable(1.0)
with tf.control_dependencies([v.assign_add(1.0)]):
    r = v.read_value()
    s = tf.identity(v)
    t = v + 0.0
---
[sess.run([r, s]) for _ in range(3)]
===
v = tf.Variable(0)
a = v.assign_add(1)
with tf.control_dependencies([a]):
    b = v.assign(v.read_value() * 2 if hasattr(v, "read_value") else v * 2)
---
[sess.run(b) for _ in range(4)]
===
v = tf.Variable(1.0); a = v.assign_add(1.0)
---
sess.run(a.op), sess.run(v), sess.run([a, a.op]), sess.run(v)
===
c = tf.constant(5.0)
---
c.eval(), tf.get_default_session() is sess, c.op.run()
===
c = tf.constant(5.0)
---
sess.run(c), type(sess.run(c)).__name__, type(sess.run(tf.constant([1.0]))).__name__, type(sess.run(tf.constant("a"))).__name__, type(sess.run(tf.constant(True))).__name__, type(sess.run(tf.constant(["a"]))).__name__
===
c = tf.constant(5.0)
sess.close() if 0 else None
---
s = tf.Session(); s.close(); s.close()
s.run(c)
===
tf.Session().run(tf.constant(1.0))
===
tf.Session().run([])
===
c = tf.constant(5.0)
---
with tf.Session() as s: pass
s.run(c)
===
c = tf.constant(5.0)
---
s = tf.Session()
with s.as_default(): a = c.eval()
a, s.run(c)
===
c = tf.constant(5.0)
c.eval()
===
c = tf.constant(5.0)
c.op.run()
===
c = tf.constant(5.0)
g = tf.Graph()
c.eval(session=tf.Session(graph=g))
===
c = tf.constant(5.0)
---
f = sess.make_callable(c); f()
===
c = tf.placeholder(tf.float32)
d = c * 2.0
---
f = sess.make_callable([d, d.op], [c]); f(3.0), f([1, 2])
===
a = tf.IndexedSlices(tf.constant([[1.0]]), tf.constant([0]))
---
sess.run(a).indices
===
a = tf.IndexedSlices(tf.constant([[1.0]]), tf.constant([0]), tf.constant([3, 1]))
---
r = sess.run([a]); type(r[0]).__name__, list(r[0])
===
v = tf.Variable(tf.zeros([2, 2])); w = tf.Variable(v.initialized_value() + 1.0)
---
sess.run([v, w])
===
v = tf.Variable(1.0)
tf.Session().run(v)
===
v = tf.Variable(1.0)
tf.Session().run(v + 1.0)
===
v = tf.Variable(1.0)
tf.Session().run(v.assign_add(1.0))
===
v = tf.Variable(1.0)
tf.Session().run(v.op)
===
v = tf.Variable(1.0)
tf.Session().run(tf.is_variable_initialized(v))
===
v = tf.Variable(1.0); w = tf.Variable(2.0)
s = tf.Session(); s.run(v.initializer)
s.run(tf.report_uninitialized_variables())
===
sess = tf.InteractiveSession(); a = tf.constant(1.0).eval(); sess.close(); a
===
s = tf.InteractiveSession(); c = tf.constant(1.0); a = c.eval(); s.close(); s.close(); c.eval()
===
with tf.Session(graph=tf.Graph()) as s:
    c = tf.constant(1.0)
    r = c.graph is s.graph
r
===
tf.Session(target="nope").run(tf.constant(1.0))
===
tf.Session(graph=3)
===
tf.Session(config=3)
===
c = tf.constant(1.0)
tf.Session(config=tf.ConfigProto(allow_soft_placement=True)).run(c)
===
a = tf.placeholder_with_default([1.0, 2.0], [None])
b = a * 2.0
---
sess.run(b), sess.run(b, {a: [5.0]}), sess.run(a, {a: [1, 2, 3]})
===
a, b = tf.split(tf.constant([1.0, 2.0]), 2)
c = a + b
---
sess.run([a, c], {a: [7.0]}), sess.run(c, {b: [1.0]}), sess.run(c, {a: [1.0], b: [2.0]})
===
x = tf.constant([1.0, 2.0]); x2 = tf.identity(x)
---
a, b = sess.run([x, x]); a[0] = 9; sess.run(x)
===
x = tf.constant(3.0)
g = x.graph
g.prevent_feeding(x)
---
sess.run(x, {x: 1.0})
===
x = tf.constant(3.0)
g = x.graph
g.prevent_fetching(x.op)
---
sess.run(x)
===
x = tf.constant(3.0)
---
sess.run(fetches=x, feed_dict=None, options=None, run_metadata=None)
===
x = tf.constant(3.0)
---
sess.run(x, {})
===
x = tf.constant([1.0, -1.0])
y = tf.check_numerics(tf.log(x), "bad")
---
sess.run(y)
===
x = tf.placeholder(tf.int32, [])
y = 6 // x
---
sess.run(y, {x: 2}), outcome(lambda: sess.run(y, {x: 0})), outcome(lambda: sess.run(y, {x: 0})), sess.run(y, {x: 3})
===
x = tf.placeholder(tf.int32, [None])
y = tf.mod(x, 0 * x)
---
outcome(lambda: sess.run(y, {x: [2]})), outcome(lambda: sess.run(y, {x: []})), outcome(lambda: sess.run(y, {x: [1]}))
===
x = tf.placeholder(tf.float32, [None, 3]); y = tf.slice(x, [1, 1], [2, 2])
---
sess.run(y, {x: np.ones([3, 3])}), outcome(lambda: sess.run(y, {x: np.ones([2, 3])})), outcome(lambda: sess.run(y, {x: np.ones([2, 3])}))
===
x = tf.placeholder(tf.float32); y = tf.concat([x, tf.ones([2, 2])], 0)
---
sess.run(y, {x: np.ones([1, 2])}), outcome(lambda: sess.run(y, {x: np.ones([1, 3])})), outcome(lambda: sess.run(y, {x: np.ones([1, 3])})), outcome(lambda: sess.run(y, {x: 1.0}))
===
x = tf.placeholder(tf.float32); y = tf.transpose(x, [1, 0])
---
sess.run(y, {x: np.ones([1, 2])}), outcome(lambda: sess.run(y, {x: np.ones([1, 3, 1])})), outcome(lambda: sess.run(y, {x: np.ones([1])}))
===
x = tf.placeholder(tf.float32); a = tf.placeholder(tf.int32); y = tf.reduce_sum(x, a)
---
sess.run(y, {x: np.ones([1, 2]), a: 1}), outcome(lambda: sess.run(y, {x: np.ones([1, 3, 1]), a: 3})), outcome(lambda: sess.run(y, {x: np.ones([1, 3, 1]), a: 3})), sess.run(y, {x: np.ones([1, 2]), a: [0, 1]}), outcome(lambda: sess.run(y, {x: np.ones([1, 2]), a: [0, 0]}))
===
x = tf.placeholder(tf.float32); y = tf.argmax(x, 1)
---
sess.run(y, {x: np.ones([1, 2])}), outcome(lambda: sess.run(y, {x: np.ones([1])})), outcome(lambda: sess.run(y, {x: np.ones([3, 0])})), outcome(lambda: sess.run(y, {x: np.ones([0, 3])}))
===
x = tf.placeholder(tf.float32); y = tf.squeeze(x, [0])
---
sess.run(y, {x: np.ones([1, 2])}), outcome(lambda: sess.run(y, {x: np.ones([2, 2])})), outcome(lambda: sess.run(y, {x: np.ones([2, 2])}))
===
x = tf.placeholder(tf.float32); y = tf.unstack(x, 2)
===
x = tf.placeholder(tf.float32); y = tf.unstack(x, 2); s = tf.split(x, 2)
---
sess.run(y, {x: [1, 2]}), outcome(lambda: sess.run(y, {x: [1, 2, 3]})), outcome(lambda: sess.run(s, {x: [1, 2, 3]})), sess.run(s, {x: [1, 2, 3, 4]})
===
x = tf.placeholder(tf.float32); y = tf.nn.softmax(x)
---
sess.run(y, {x: [[1, 1]]}), outcome(lambda: sess.run(y, {x: 1.0})), outcome(lambda: sess.run(y, {x: np.zeros([0, 2])})), outcome(lambda: sess.run(y, {x: np.zeros([2, 0])}))
===
x = tf.placeholder(tf.float32); y = tf.nn.bias_add(x, [1.0, 2.0])
---
sess.run(y, {x: [[1, 1]]}), outcome(lambda: sess.run(y, {x: [1.0, 2.0]})), outcome(lambda: sess.run(y, {x: np.zeros([1, 3])})), outcome(lambda: sess.run(y, {x: np.zeros([1, 3])}))
===
x = tf.placeholder(tf.int32, []); y = tf.one_hot([0, 1, 5, -1], x)
---
sess.run(y, {x: 3}), sess.run(y, {x: 1}), outcome(lambda: sess.run(y, {x: -1}))
===
c = tf.Variable(0); y = tf.count_up_to(c, 2) if hasattr(tf, "count_up_to") else None
---
sess.run(y), sess.run(y), outcome(lambda: sess.run(y)), sess.run(c), outcome(lambda: sess.run(y))
===
a = tf.constant(1.0); b = tf.constant(2.0); c = a + b
---
sess.run(c, {(a, b): (3.0, 4.0)})
===
a = tf.constant(1.0); b = tf.constant(2.0); c = a + b
---
sess.run(c, {(a, b): [3.0, 4.0]}), sess.run(c, {(a, b): [3.0, 5.0]})
===
a = tf.constant(1.0); b = tf.constant(2.0); c = a + b
---
sess.run(c, {(a, b): (3.0,)})
===
x = tf.placeholder(tf.float32, [None]); y = x * 2.0
---
first = [sess.run(y, {x: [1.0, 2.0]}) for _ in range(2)]
x.set_shape([3])
first, outcome(lambda: sess.run(y, {x: [1.0, 2.0]})), sess.run(y, {x: [1.0, 2.0, 3.0]}), sess.run([y, y.op, y], {x: [1.0, 2.0, 3.0]})
===
v = tf.placeholder(tf.float32, [None, 1]); i = tf.placeholder(tf.int32, [None]); s = tf.IndexedSlices(v, i)
y = tf.reduce_sum(v) + tf.cast(tf.reduce_sum(i), tf.float32)
---
sess.run([y, s], {s: tf.IndexedSlicesValue if False else ([[1.0], [2.0]], [3, 4])})
===
import collections
P = collections.namedtuple("P", "a b"); x = tf.constant(1.0)
---
sess.run([x, (x, x)]), sess.run([x, P(x, x)]), sess.run([x, (x, x)])
===
import collections
P = collections.namedtuple("P", "a b"); Q = collections.namedtuple("Q", "c d"); x = tf.constant(1.0)
---
sess.run(P(x, x)), sess.run(Q(x, x)), sess.run(P(x, [x]))
===
v = tf.Variable(1.0); a = v.assign_add(1.0)
---
sess.run(a, {v: 5.0})
===
v = tf.Variable(1.0); a = v.assign_add(1.0); b = tf.assign_add(a, 2.0); s = tf.as_string(a) if False else None
---
sess.run(b), sess.run(b), sess.run(v)
===
v = tf.Variable(1.0); a = v.assign_add(1.0)
with tf.control_dependencies([a]):
    p = tf.scalar_summary("x", v) if hasattr(tf, "scalar_summary") else tf.summary.scalar("x", v)
with tf.control_dependencies([p]):
    b = tf.assign_add(a, 2.0)
---
[sess.run(b) for _ in range(3)], sess.run(v), [sess.run([a, b]) for _ in range(3)]
===
v = tf.Variable(1.0); a = v.assign_add(1.0); r = v.read_value()
---
[sess.run([r, a, v]) for _ in range(3)]
===
v = tf.Variable([1.0, 2.0]); r = tf.reshape(v, [2, 1]); a = v.assign_add([1.0, 1.0])
---
[sess.run([r, a]) for _ in range(3)]
===
v = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
a = v.assign(tf.transpose(v))
---
[sess.run(a) for _ in range(3)]
===
v = tf.Variable([1.0, 2.0, 3.0])
a = v.assign(tf.reverse(v, [0]))
---
[sess.run(a) for _ in range(3)]
===
v = tf.Variable([1.0, 2.0, 3.0])
a = v.assign(tf.cumsum(v))
---
[sess.run(a) for _ in range(3)]
===
v = tf.Variable([1.0, 2.0, 3.0])
a = v.assign(v / tf.reduce_sum(v))
---
[sess.run(a) for _ in range(3)]
===
v = tf.Variable([1.0, 2.0, 3.0]); w = tf.Variable([0.0, 0.0, 0.0])
a = v.assign_add([1.0, 1.0, 1.0])
with tf.control_dependencies([a]): b = w.assign(v)
with tf.control_dependencies([b]): c = v.assign(w * 2.0)
---
[sess.run([a, b, c]) for _ in range(3)], sess.run([v, w])
===
v = tf.Variable(2.0); w = tf.Variable(3.0)
a = tf.group(v.assign_add(1.0), w.assign_add(1.0))
with tf.control_dependencies([a]): s = v + w
---
[sess.run(s) for _ in range(3)]
===
v = tf.Variable(2.0)
with tf.control_dependencies([v.assign_add(1.0)]):
    with tf.control_dependencies([v.assign_add(1.0)]):
        s = v + 0.0
---
[sess.run(s) for _ in range(3)]
===
x = tf.placeholder(tf.float32, [None, 3]); y = tf.reduce_mean(x, 0); z = tf.reduce_sum(x); m = tf.reduce_mean(x)
---
[sess.run([y, z, m], {x: np.arange(3 * n).reshape(n, 3)}) for n in (1, 2, 1, 5, 2)]
===
x = tf.placeholder(tf.float32, [None, 3]); z = tf.reduce_sum(x); y = tf.reduce_max(x, 0); w = tf.matmul(x, tf.ones([3, 2])); s = tf.nn.softmax(x); c = tf.concat([x, x], 0)
---
[sess.run([z, y, w, s, c], {x: np.zeros([n, 3])}) for n in (0, 0, 2, 0)]
===
x = tf.placeholder(tf.float32, [None, 3]); v = tf.Variable(tf.ones([3, 2])); l = tf.reduce_sum(tf.matmul(x, v)); g = tf.gradients(l, v)[0]
---
[sess.run(g, {x: np.zeros([n, 3])}) for n in (0, 0, 2, 0)]
===
x = tf.placeholder(tf.int64, [None]); y = tf.reduce_sum(x); z = x + 1
---
sess.run([y, z], {x: []}), sess.run([y, z], {x: [1, 2]}), sess.run([y, z], {x: np.array([1, 2], np.int32)})
===
p = tf.placeholder(tf.bool, []); x = tf.where([True, False], [1.0, 2.0], [3.0, 4.0])
---
sess.run([p, x], {p: True}), sess.run(p, {p: np.bool_(False)}), sess.run(p, {p: 1}), sess.run(p, {p: 0})
===
p = tf.placeholder(tf.float32, [])
---
sess.run(p + 0.0, {p: 16777217})
===
p = tf.placeholder(tf.float64, [])
---
sess.run(p + 0.0, {p: 16777217}), sess.run(p + 0.0, {p: np.float32(1.5)}), sess.run(p + 0.0, {p: [1.0][0]})
===
p = tf.placeholder(tf.complex64, [])
---
sess.run(p + 0.0, {p: 1}), sess.run(p * 2.0, {p: 1 + 2j})
===
p = tf.placeholder(tf.float16, [2])
---
sess.run(p + 1, {p: [1, 2]}), sess.run(p * p, {p: np.float32([1.5, 2])}), sess.run(p * p, {p: np.float32([1.5, 2])})
===
p = tf.placeholder(tf.float32)
---
sess.run(p * 2.0, {p: np.array([1, 2], object)}), sess.run(p * 2.0, {p: range(3)}), sess.run(p * 2.0, {p: (np.float32(1), 2)}), sess.run(p * 2., {p: [np.ones(2), np.ones(2)]})
===
p = tf.placeholder(tf.float32, [2, 2])
---
sess.run(p * 1.0, {p: np.arange(4).reshape(2, 2).T}), sess.run(p * 1.0, {p: np.arange(8.0).reshape(2, 4)[:, ::2]}), sess.run(p * 1.0, {p: np.arange(4, dtype=">f4").reshape(2, 2)}), sess.run(p * 1.0, {p: np.asfortranarray(np.arange(4, dtype="f").reshape(2, 2))}), sess.run(p * 1.0, {p: np.broadcast_to(np.float32(3), (2, 2))})
===
p = tf.placeholder(tf.float32, [2])
b = np.zeros(13, np.uint8)[1:9].view(np.float32)
---
sess.run(p + 1.0, {p: b}), sess.run(p + 1.0, {p: b})
===
x = tf.constant([1.0, 2.0]); y = tf.identity(x); z = tf.reshape(x, [2, 1])
---
for t in (x, y, z):
    for _ in range(3):
        r = sess.run(t); r[...] = 5
sess.run([x, y, z])
===
v = tf.Variable([1.0, 2.0]); y = tf.identity(v); z = tf.reshape(v, [2, 1]); a = v.assign_add([0.0, 0.0])
---
for t in (v, y, z, a, v.read_value(), v.initial_value):
    for _ in range(3):
        r = sess.run(t); r[...] = 5
sess.run([v, y, z, a])
===
x = tf.constant(3.0, name="x"); g = tf.get_default_graph()
---
y = g.get_tensor_by_name("x:0") * 2.0; sess.run(y)
===
a = tf.constant(2); b = tf.constant(3)
---
[sess.run(a * i + b) for i in range(3)]
===
x = tf.placeholder(tf.float32, [2]); v = tf.Variable([1.0, 1.0]); t = v.assign_add(x); g = tf.gather(v, [5]) if False else tf.gather([1.0, 2.0], tf.cast(x, tf.int32))
---
outcome(lambda: sess.run([g, t], {x: [5, 5]})), outcome(lambda: sess.run(g.op, {x: [5, 5]})), sess.run(g, {x: [1, 0]}), outcome(lambda: sess.run([g.op], {x: [-1, 5]})), sess.run(g, {x: [1, 1]})
===
e = tf.constant(1.0)
---
sess.run(e, {"": 1})
===
c = tf.constant(1.0)
---
outcome(lambda: tf.Session(graph=tf.Graph()).run(c)), outcome(lambda: c.eval(session=tf.Session(graph=tf.Graph())))
===
c = tf.constant(1.0)
r = []
with tf.Graph().as_default():
    with tf.Session() as s:
        r.append(s.graph is tf.get_default_graph())
        r.append(tf.get_default_session() is s)
    r.append(tf.get_default_session() is None)
r.append(tf.get_default_graph() is c.graph)
r
===
s1 = tf.Session(); s2 = tf.Session()
r = []
with s1.as_default():
    with s2.as_default(): r.append(tf.get_default_session() is s2)
    r.append(tf.get_default_session() is s1)
r
===
v = tf.Variable(1.0)
s1 = tf.Session(); s2 = tf.Session()
s1.run(v.initializer); s2.run(v.initializer); s1.run(v.assign_add(5.0))
s1.run(v), s2.run(v)
===
with tf.Session() as s:
    with s.graph.as_default(): pass
    raise ValueError("a")
===
i = tf.InteractiveSession(graph=tf.Graph()); r = [tf.get_default_graph() is i.graph]; c = tf.constant(1.0); r.append(c.eval()); i.close(); r.append(tf.get_default_graph() is graph); r
===
i = tf.InteractiveSession(); c = tf.constant(2.0)
with tf.Session() as s: a = tf.get_default_session() is s
b = tf.get_default_session() is i
i.close()
[a, b]
===
u = tf.random_uniform([2])
---
a, b = sess.run(u), sess.run(u)
(a != b).all(), (a >= 0).all()
===
u = tf.random_uniform([3], seed=1); w = u + 0.0; x = u * 1.0
---
a, b, c = sess.run([u, w, x]); (a == b).all() and (b == c).all()
===
u = tf.random_uniform([3], seed=1); w = tf.random_uniform([3], seed=1)
---
a, b = sess.run([u, w]); (a == b).all(), sess.run(u), sess.run([w, u])
===
v = tf.Variable(tf.random_normal([2, 2], seed=5)); w = tf.Variable(v.initialized_value() * 2.0)
---
sess.run([v, w]), sess.run(tf.global_variables_initializer()), sess.run(v)
===
x = tf.placeholder(tf.float32, [None]); y = tf.placeholder_with_default(tf.shape(x)[0], []); z = tf.fill([y], 2.0)
---
sess.run(z, {x: [1, 2, 3]}), sess.run(z, {x: [1, 2, 3], y: 1}), sess.run(z, {x: [1, 2, 3], y: 2}), sess.run(z, {y: 1})
===
n = tf.placeholder(tf.int32, []); x = tf.random_uniform([n], seed=1); e = tf.eye(n); o = tf.one_hot([0, 1], n); t = tf.tile([1.0], [n]); f = tf.fill([n], 1.0); l = tf.linspace(0.0, 1.0, n)
---
[[a.shape if hasattr(a, "shape") else a for a in sess.run([x, e, o, t, f, l], {n: k})] for k in (1, 2, 5, 1)]
===
s = tf.placeholder(tf.int32, [2]); x = tf.reshape(tf.range(12), s); y = tf.slice(x, [0, 0], s); z = tf.transpose(x)
---
[sess.run([x, y, z], {s: k}) for k in ([3, 4], [2, 6], [3, 4], [12, 1])]
===
b = tf.placeholder(tf.int32, [2]); x = tf.slice(tf.reshape(tf.range(12), [3, 4]), b, [1, 1]); y = tf.gather(tf.range(5), b[0]); w = tf.range(5)[b[0]:b[1]]
---
[sess.run([x, y, w], {b: k}) for k in ([0, 0], [2, 3], [1, 1])], outcome(lambda: sess.run(x, {b: [3, 3]})), sess.run(w, {b: [1, 4]})
===
p = tf.placeholder(tf.int32, [None]); x = tf.transpose(tf.zeros([1, 2, 3]), p)
---
[sess.run(x, {p: k}).shape for k in ([0, 1, 2], [2, 1, 0], [1, 2, 0])], outcome(lambda: sess.run(x, {p: [0, 0, 1]})), outcome(lambda: sess.run(x, {p: [0, 1]}))
===
a = tf.placeholder(tf.int32, []); x = tf.reduce_sum(tf.reshape(tf.range(6), [2, 3]), a); y = tf.concat([tf.ones([1, 1]), tf.ones([1, 1])], a); z = tf.expand_dims(tf.ones([2, 3]), a); m = tf.argmax([[1, 2], [4, 3]], a)
---
[sess.run([x, y, z, m], {a: k}) for k in (0, 1, -1)]
===
x = tf.constant(1.0)
---
sess.run(object())
===
x = tf.placeholder(tf.float32, [2]); y = tf.identity(x)
---
f = np.float32([1, 2]); r = sess.run(y, {x: f}); r[0] = 9; r2 = sess.run([y, y * 2.0], {x: f}); r2[0][1] = 7; f, r2
===
v = tf.Variable([[1.0, 2.0], [3.0, 4.0]]); old = tf.transpose(v)
with tf.control_dependencies([old]): a = v.assign_add([[1.0, 1.0], [1.0, 1.0]])
---
[sess.run([old, a]) for _ in range(3)]
===
v = tf.Variable([1.0, 2.0, 3.0]); old = tf.reverse(v, [0]); o2 = tf.tile(v[:1], [3]); o3 = v * 1.0
with tf.control_dependencies([old, o2, o3]): a = v.assign_add([1.0, 1.0, 1.0])
with tf.control_dependencies([a]): late = old + o2 + o3
---
[sess.run([old, o2, o3, a, late]) for _ in range(3)]
===
v = tf.Variable([1.0, 2.0, 3.0]); old = v.read_value()
with tf.control_dependencies([old]): a = v.assign_add([1.0, 1.0, 1.0])
with tf.control_dependencies([a]): late = old * 1.0
---
[sess.run([a, late]) for _ in range(3)]
===
v = tf.Variable([[1.0, 2.0, 3.0]]); old = tf.reshape(v, [3, 1])
with tf.control_dependencies([old]): a = v.assign_add([[1.0, 1.0, 1.0]])
with tf.control_dependencies([a]): late = old * 1.0
---
[sess.run([a, late]) for _ in range(3)]
===
x = tf.placeholder(tf.float32); v = tf.Variable(1.0)
with tf.control_dependencies([x]): a = v.assign_add(1.0)
---
[sess.run(a, {x: 1.0}) for _ in range(3)], outcome(lambda: sess.run(a))
===
x = tf.placeholder(tf.float32); v = tf.Variable(1.0)
with tf.control_dependencies([tf.check_numerics(x, "bad")]): a = v.assign_add(1.0)
---
[sess.run(a, {x: 1.0}) for _ in range(3)], [outcome(lambda: sess.run(a, {x: np.nan})) for _ in range(3)], sess.run(v)
===
x = tf.placeholder(tf.int32, []); v = tf.Variable(1.0)
with tf.control_dependencies([tf.floordiv(1, x)]): a = v.assign_add(1.0)
---
[sess.run(a, {x: 1}) for _ in range(3)], [outcome(lambda: sess.run(a, {x: 0})) for _ in range(3)], sess.run(v)
===
x = tf.placeholder(tf.float32); v = tf.Variable(1.0)
with tf.control_dependencies([x + tf.ones([2, 3])]): a = v.assign_add(1.0)
---
[sess.run(a, {x: 1.0}) for _ in range(3)], [outcome(lambda: sess.run(a, {x: [1.0, 2.0]})) for _ in range(3)], sess.run(v)
===
v = tf.Variable(1.0); x = tf.placeholder(tf.float32)
with tf.control_dependencies([tf.Assert(x > 0, [x])]): a = v.assign_add(x)
---
[sess.run(a, {x: 1.0}) for _ in range(3)], [outcome(lambda: sess.run(a, {x: -1.0})) for _ in range(3)], sess.run(v)
===
v = tf.Variable(tf.zeros([3, 2])); i = tf.placeholder(tf.int32, [None]); a = tf.scatter_add(v, i, tf.ones([2, 2]))
---
[sess.run(a, {i: k}) for k in ([0, 2], [1, 1], [0, 0])], [outcome(lambda: sess.run(a, {i: [1, 3]})) for _ in range(3)], sess.run(v)[2]
===
v = tf.Variable([[1.0, 2.0], [3.0, 4.0]]); a = tf.scatter_update(v, [0, 1], tf.reverse(v, [0]))
---
[sess.run(a) for _ in range(3)]
===
v = tf.Variable([[1.0, 2.0], [3.0, 4.0]]); a = tf.scatter_update(v, [0], v[1:])
---
[sess.run(a) for _ in range(3)]
===
i = tf.Variable([1, 0]); v = tf.Variable([[1.0, 2.0], [3.0, 4.0]]); u = tf.gather(v, i)
with tf.control_dependencies([u]): a = i.assign([0, 0])
with tf.control_dependencies([a]): b = v.assign(u)
---
[sess.run([u, b]) for _ in range(3)]
===
x = tf.placeholder(tf.float32, [None]); y = tf.reduce_sum(x) / tf.cast(tf.size(x), tf.float32); z = x[tf.size(x) - 1]; w = x[-1]
---
[sess.run([y, z, w], {x: np.arange(n)}) for n in (1, 3, 2)], outcome(lambda: sess.run(w, {x: []})), outcome(lambda: sess.run(z, {x: []})), sess.run(z, {x: [4]})
===
x = tf.placeholder(tf.float32, [None, None]); t = tf.reshape(x, [-1, tf.shape(x)[1] * 2]); p = tf.pad(x, [[0, 1], [1, 0]]); r = tf.range(tf.shape(x)[0]); o = tf.one_hot(r, tf.shape(x)[0])
---
[sess.run([t, p, r, o], {x: np.ones(s)}) for s in ((2, 2), (4, 3), (2, 2))], outcome(lambda: sess.run(t, {x: np.ones((3, 3))}))
===
x = tf.placeholder(tf.float32, [None]); k = tf.where(x > 0); y = tf.gather(x, tf.reshape(k, [-1])); z = tf.boolean_mask(x, x > 0); u = tf.unique(tf.cast(x, tf.int32))
---
[sess.run([k, y, z, list(u)], {x: v}) for v in ([1, -1, 2], [-1], [], [3, 3, 3, 1])]
===
x = tf.placeholder(tf.float16, [3]); y = tf.reduce_sum(x * 2) + tf.exp(x)
---
[sess.run(y, {x: [1, 2, 3]}) for _ in range(2)]
===
x = tf.placeholder(tf.complex64, [2]); y = tf.matmul([x], tf.transpose([x])); z = tf.abs(x)
---
[sess.run([y, z], {x: [1 + 2j, 3]}) for _ in range(2)]
===
x = tf.placeholder(tf.string, [2]); y = x + "a"; z = tf.equal(x, "b")
---
[sess.run([y, z], {x: ["a", "b"]}) for _ in range(2)]
===
x = tf.placeholder(tf.float32, [None]); v = tf.Variable(0.0); s = tf.cast(tf.cast(x, tf.float16), tf.float32); a = v.assign(tf.reduce_sum(s)); w = v.assign_add(1.0)
---
[sess.run([a, s], {x: [1, 2.5]}) for _ in range(2)], sess.run([w])
===
v = tf.Variable(1.0, dtype=tf.float16); a = v.assign_add(1.0); c = tf.Variable(1 + 2j); d = c.assign_add(1j)
---
[sess.run([a, d]) for _ in range(3)]
===
v = tf.Variable("abc"); a = v.assign("d")
---
sess.run(v), sess.run(a), sess.run(v), sess.run(v + "x")
===
v = tf.Variable([True, False]); a = v.assign(tf.logical_not(v))
---
[sess.run(a) for _ in range(3)]
===
v = tf.Variable(np.int64(2**40)); a = v.assign_add(1)
---
[sess.run(a) for _ in range(3)]
===
v = tf.Variable(tf.zeros([0, 3])); a = v.assign_add(tf.zeros([0, 3])); s = tf.reduce_sum(v)
---
[sess.run([a, s]) for _ in range(3)]
===
v = tf.get_variable("v", shape=[], initializer=tf.constant_initializer(3.0)); w = tf.get_variable("w", initializer=lambda: tf.ones([2]) * 2.0) if False else tf.get_variable("w", [2], initializer=tf.ones_initializer())
---
sess.run([v, w])
===
x = tf.placeholder(tf.float32, []); y = x;
for _ in range(300): y = y * 1.001 + 0.001
---
[round(float(sess.run(y, {x: 1.0})), 3) for _ in range(3)]
===
x = tf.placeholder(tf.float32, [4]); y = tf.add_n([x * i for i in range(100)])
---
[sess.run(y, {x: [1, 2, 3, 4]}) for _ in range(3)]
===
x = tf.placeholder(tf.float32, [2, 2]); ys = [tf.reduce_sum(x * i) for i in range(70)]
---
[sum(sess.run(ys, {x: [[1, 2], [3, 4]]})) for _ in range(3)]
===
vs = [tf.Variable(float(i)) for i in range(60)]; up = tf.group(*[v.assign_add(1.0) for v in vs])
---
[sess.run(up) for _ in range(3)], sum(sess.run(vs))
===
x = tf.placeholder(tf.float32, [2, 3, 4, 5, 6]); y = tf.transpose(x, [4, 2, 0, 1, 3]); z = tf.reduce_sum(y, [1, 3]); m = tf.reduce_max(x, [0, 2, 4])
---
[[a.sum() for a in sess.run([z, m], {x: np.arange(720).reshape(2, 3, 4, 5, 6)})] for _ in range(2)]
===
x = tf.placeholder(tf.float32, [3, 4]); m, v = tf.nn.moments(x, [0]); n = (x - m) / tf.sqrt(v + 1.0)
---
[[np.round(a, 4) for a in sess.run([m, v, n], {x: np.arange(12).reshape(3, 4)})] for _ in range(2)]
===
x = tf.placeholder(tf.float32, [None, 3]); a = tf.reduce_mean(x, 1, keep_dims=True); b = x - a; c = tf.sqrt(tf.reduce_sum(b * b, 1)); d = b / tf.expand_dims(c, 1); e = tf.reduce_max(d)
---
[np.round(sess.run(e, {x: np.arange(3 * n).reshape(n, 3) ** 2}), 5) for n in (1, 2, 5)]
===
tf.constant(1.0).graph.finalize()
with tf.Session() as s: r = s.run("Const:0")
r, outcome(lambda: tf.constant(2.0))
===
c = tf.constant(1.0); g = tf.get_default_graph(); g.finalize()
with tf.Session() as s: r = [s.run(c), c.eval()]
r
===
a = tf.constant(3); b = tf.constant(4)
---
sess.run([a + b, a - b, a * b, a / b, a // b, a % b, -a, a ** 2, a < b, a <= b, a > b, a >= b, abs(-a)])
===
a = tf.constant([3.0, -4.0])
---
sess.run([a + 1, 1 - a, 2 * a, 1 / a, a / 2, a // 2, a % 3, -a, a ** 2, 2 ** a, a < 0, a[0], a[::-1], abs(a), a[tf.newaxis], a[...]])
===
x = tf.placeholder(tf.float32, [2, 2])
---
sess.run(tf.matmul(x, x), {x: np.array([[1, 2], [3, 4]], np.float64)}), sess.run(x @ x, {x: [[1, 2], [3, 4]]})
===
x = tf.placeholder(tf.float64, [2]); y = tf.placeholder(tf.int32, [2])
---
sess.run([tf.cast(x, tf.int32), tf.to_float(y) / 2, tf.cast(x, tf.bool), tf.cast(y, tf.float64) * x], {x: [1.7, -1.7], y: [3, 4]})
===
g = tf.Graph()
with g.as_default():
    x = tf.placeholder(tf.float32, name="x"); y = tf.multiply(x, 2.0, name="y")
d = g.as_graph_def()
(z,) = tf.import_graph_def(d, input_map={"x:0": tf.constant(4.0)}, return_elements=["y:0"])
---
sess.run(z), z.name, sess.run("import/y:0")
===
v = tf.Variable([1.0, 2.0]); l = tf.reduce_sum(v * v)
ts = [o(0.1).minimize(l) for o in (tf.train.GradientDescentOptimizer, tf.train.AdamOptimizer, tf.train.AdagradOptimizer, tf.train.RMSPropOptimizer)]
---
[[np.round(sess.run([t, v])[1], 5) for t in ts] for _ in range(2)]
===
v = tf.Variable([1.0, 2.0]); ema = tf.train.ExponentialMovingAverage(0.5); u = ema.apply([v]); a = v.assign_add([1.0, 1.0])
---
[sess.run([a, u]) for _ in range(3)], np.round(sess.run(ema.average(v)), 4).shape
===
gs = tf.Variable(0, trainable=False); lr = tf.train.exponential_decay(0.1, gs, 2, 0.5, staircase=True); v = tf.Variable(1.0); t = tf.train.GradientDescentOptimizer(lr).minimize(v * v, global_step=gs)
---
[(sess.run(t), sess.run([gs, lr, v])) for _ in range(4)]
'''.strip("\n").split("\n===\n")
