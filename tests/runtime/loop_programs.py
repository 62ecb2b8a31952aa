"""Loops over TensorArrays and with gradients, whose rounds become one program each: `fetches` of `x` (float32 [30, 4])
and `n` (int32, at most 30), with a variable `v` (float32 [4, 4])."""
from __future__ import annotations

START = """
x = tf.placeholder(tf.float32, [30, 4], name='x')
n = tf.placeholder(tf.int32, [], name='n')
v = tf.Variable(np.linspace(-.5, .7, 16).reshape(4, 4).astype('f'), name='v')
"""

RUN = """
values = []
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for rows, count in cases:
        for _ in range(3):
            values.append([np.asarray(a) for a in sess.run(fetches, {x: rows, n: count})])
result = values
"""

PROGRAMS = {
    "recurrent_network": """
ia, oa = tf.TensorArray(tf.float32, 30).unstack(x), tf.TensorArray(tf.float32, 30)
def step(t, h, oa):
    h = tf.tanh(tf.matmul(ia.read(t)[None] + h, v))
    return t + 1, h, oa.write(t, h)
_, h, oa = tf.while_loop(lambda t, h, oa: t < 30, step, [0, tf.zeros([1, 4]), oa])
out = oa.stack()
fetches = [out, *tf.gradients(tf.reduce_sum(out * out) + tf.reduce_sum(h), [v, x])]
""",
    "unknown_batch": """
b = tf.minimum(n, 4)
part = x[:, :b]
ia, oa = tf.TensorArray(tf.float32, 30).unstack(part), tf.TensorArray(tf.float32, 30)
w = tf.ones([1, 4]) * 0.3
def step(t, h, oa):
    h = tf.tanh(tf.matmul(tf.concat([tf.expand_dims(ia.read(t), 1) * w, h], 1), tf.concat([v, v], 0)) + v[0])
    return t + 1, h, oa.write(t, h * 2)
_, h, oa = tf.while_loop(lambda t, h, oa: t < 30, step, [0, tf.zeros([b, 4]), oa],
                         shape_invariants=[tf.TensorShape([]), tf.TensorShape([None, 4]), tf.TensorShape(None)])
out = oa.stack()
fetches = [out, *tf.gradients(tf.reduce_sum(out * out), [v, x])]
""",
    "shapes_that_vary": """
_, s = tf.while_loop(lambda i, s: i < 30, lambda i, s:
                     (i + 1, s * 0.9 + tf.reduce_sum(tf.sin(x[:i + 1] * v[0]))), [0, 0.0])
fetches = [s, *tf.gradients(s, [x, v])]
""",
    "one_round_of_an_unknown_batch": """
part = x[:n]
_, h = tf.while_loop(lambda t, h: t < 1, lambda t, h: (t + 1, tf.tanh(tf.matmul(h, v) + part * v[0])),
                     [0, tf.zeros([n, 4])], shape_invariants=[tf.TensorShape([]), tf.TensorShape([None, 4])])
fetches = [h, *tf.gradients(h, [x, v])]
""",
    "growing_array": """
oa = tf.TensorArray(tf.float32, 0, dynamic_size=True)
_, oa = tf.while_loop(lambda i, oa: i < n, lambda i, oa: (i + 1, oa.write(i, tf.gather(x, i) * 2)), [0, oa])
fetches = [oa.stack(), oa.size()]
""",
    "growing_from_the_end": """
oa = tf.TensorArray(tf.float32, 2, dynamic_size=True, element_shape=[4])
_, oa = tf.while_loop(lambda i, oa: i < n, lambda i, oa: (i + 1, oa.write(i * 3, tf.gather(x, i) * 2)), [0, oa])
fetches = [oa.size(), oa.read(6)]
""",
    "size_in_the_round": """
oa = tf.TensorArray(tf.float32, 0, dynamic_size=True, clear_after_read=False)
def step(i, s, oa):
    oa = oa.write(i, tf.gather(x, i))
    return i + 1, s + tf.cast(oa.size(), tf.float32) * oa.read(i // 2), oa
_, s, oa = tf.while_loop(lambda i, s, oa: i < n, step, [0, tf.zeros([4]), oa], parallel_iterations=1)
fetches = [s, oa.concat()]
""",
    "read_twice_with_gradients": """
ia = tf.TensorArray(tf.float32, 30, clear_after_read=False).unstack(x)
_, s = tf.while_loop(lambda i, s: i < 29, lambda i, s: (i + 1, s * 0.9 + ia.read(i) * ia.read(i + 1)),
                     [0, tf.zeros([4])])
fetches = [s, *tf.gradients(s, [x])]
""",
    "some_read_with_gradients": """
ia = tf.TensorArray(tf.float32, 30).unstack(x)
_, s = tf.while_loop(lambda i, s: i < 10, lambda i, s: (i + 1, s * 0.9 + ia.read(i * 2)), [0, tf.zeros([4])])
fetches = [s, *tf.gradients(s, [x])]
""",
    "last_only": """
oa = tf.TensorArray(tf.float32, 30, clear_after_read=False)
_, h, oa = tf.while_loop(lambda i, h, oa: i < 30, lambda i, h, oa: (i + 1, h * v[0] + tf.gather(x, i), oa.write(i, h)),
                         [0, tf.zeros([4]), oa])
fetches = [tf.convert_to_tensor(g) for g in tf.gradients(oa.read(20) * 2, [x, v])]
""",
    "elements_of_many_shapes": """
oa = tf.TensorArray(tf.float32, 30, infer_shape=False)
_, oa = tf.while_loop(lambda i, oa: i < 30, lambda i, oa: (i + 1, oa.write(i, x[:i % 7, 0])), [0, oa])
whole = oa.concat()
fetches = [whole, *tf.gradients(whole * whole, [x])]
""",
    "two_shapes_one_late": """
oa = tf.TensorArray(tf.float32, 31, infer_shape=False)
_, oa = tf.while_loop(lambda i, oa: i < 30, lambda i, oa: (i + 1, oa.write(i, tf.gather(x, i))), [0, oa])
fetches = [oa.write(30, x[0, :2]).concat()]
""",
    "integers_and_truths": """
ia, oa = tf.TensorArray(tf.int64, 30), tf.TensorArray(tf.bool, 30)
def step(i, ia, oa):
    return i + 1, ia.write(i, tf.cast(i, tf.int64) * 3), oa.write(29 - i, tf.gather(x, i) > 0)
_, ia, oa = tf.while_loop(lambda i, ia, oa: i < 30, step, [0, ia, oa])
fetches = [ia.stack(), oa.stack()]
""",
    "map_scan_fold": """
m = tf.map_fn(lambda r: tf.tensordot(r, v, 1), x)
s = tf.scan(lambda a, r: tf.sin(a * r + m[0]), x)
f = tf.foldr(lambda a, r: a * 0.5 + r, m)
fetches = [m, s, f, *tf.gradients([m, s, f], [x, v])]
""",
    "loop_in_a_loop": """
def outer(i, h, oa):
    inner = tf.TensorArray(tf.float32, 6)
    def step(j, h, a):
        return j + 1, tf.tanh(h * v[0] + tf.gather(x, i * 6 + j)), a.write(j, h * h)
    _, h, inner = tf.while_loop(lambda j, h, a: j < 6, step, [0, h, inner])
    return i + 1, h, oa.write(i, inner.stack())
_, h, oa = tf.while_loop(lambda i, h, oa: i < 5, outer, [0, tf.zeros([4]), tf.TensorArray(tf.float32, 5)])
out = oa.stack()
fetches = [out, *(tf.convert_to_tensor(g) for g in tf.gradients(out, [v, x]))]
""",
    "branch_in_a_round": """
ia, oa = tf.TensorArray(tf.float32, 30).unstack(x), tf.TensorArray(tf.float32, 30)
def step(t, h, oa):
    r = ia.read(t)
    h = tf.cond(t < n, lambda: tf.tanh(h * v[1] + r), lambda: h)
    return t + 1, h, oa.write(t, h)
_, h, oa = tf.while_loop(lambda t, h, oa: t < 30, step, [0, tf.zeros([4]), oa])
out = oa.stack()
fetches = [out, *tf.gradients(out, [v, x])]
""",
    "parts_by_the_counter": """
y = tf.reshape(x[:24], [4, 6, 4])
_, a = tf.while_loop(lambda i, a: i < 24, lambda i, a: (i + 1, tf.sin(a * x[i]) + y[i // 6, i % 6] * x[-1 - i, :]),
                     [0, tf.zeros([4])])
_, b = tf.while_loop(lambda i, b: i < 6, lambda i, b: (i + 1, tf.sin(b * y[:, i]) + y[:, 5 - i, :]),
                     [0, tf.zeros([4, 4])])
_, c = tf.while_loop(lambda i, c: i < n, lambda i, c: (i + 1, c * x[i, i % 4]), [0, 1.0])
fetches = [a, b, c, *tf.gradients(a, [x]), *tf.gradients(b, [x]), *tf.gradients(c, [x])]
""",
    "split_in_a_round": """
ia = tf.TensorArray(tf.float32, 5).split(x, [6] * 5)
_, s = tf.while_loop(lambda i, s: i < 5, lambda i, s: (i + 1, s + tf.matmul(ia.read(i), v)), [0, tf.zeros([6, 4])])
fetches = [s, *tf.gradients(s * s, [x, v])]
""",
}
IN_ROUNDS = frozenset(PROGRAMS) - {"elements_of_many_shapes", "branch_in_a_round",
                                   "shapes_that_vary"}      # whose rounds are one program
