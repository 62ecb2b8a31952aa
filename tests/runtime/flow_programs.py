"""Programs with control flow, which tfnb and real TensorFlow run alike.

Each has `x` (float32 [3]), `n` (int32), `p`, `q` (bool) to feed, a variable `v` (2.0) and a list of fetches. NODES:
those whose nodes are compared too, name by name.
"""
from __future__ import annotations

START = """
x = tf.placeholder(tf.float32, [3], name='x')
n = tf.placeholder(tf.int32, [], name='n')
p = tf.placeholder(tf.bool, [], name='p')
q = tf.placeholder(tf.bool, [], name='q')
v = tf.Variable(2.0, name='v')
"""

RUN = """
nodes = [(op.name, op.type.replace('AddV2', 'Add'), [t.name for t in op.inputs],
          sorted(c.name for c in op.control_inputs)) for op in tf.get_default_graph().get_operations()]
values = []
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for case in cases:
        fed = {x: np.array(case[0], np.float32), n: case[1], p: case[2], q: case[3]}
        for _ in range(3):
            values.append([np.asarray(a) for a in sess.run(fetches, fed)] + [np.asarray(sess.run(v))])
result = nodes, values
"""

CASES = [([1.0, -2.0, 0.5], 3, True, False), ([0.0, 0.1, 0.2], 0, False, True), ([1.0, -2.0, 0.5], 5, True, True),
         ([-1.0, 3.0, 0.5], 1, False, False)]

COND = {
    "two_results": "fetches = list(tf.cond(p, lambda: (x + 1, v * 2), lambda: (x, tf.constant(3.0))))",
    "nested": "fetches = [tf.cond(p, lambda: tf.cond(q, lambda: x + v, lambda: x * 2), lambda: x * 3)]",
    "other_arguments": "fetches = [tf.cond(p, true_fn=lambda: x, false_fn=lambda: -x, name='mine', strict=True)]",
    "a_write": "fetches = [tf.cond(p, lambda: tf.assign_add(v, 1.0), lambda: tf.assign_sub(v, 2.0))]",
    "an_operation": """
fetches = []
with tf.control_dependencies([tf.cond(p, lambda: tf.group(tf.assign_add(v, 1.0)), lambda: tf.no_op())]):
    fetches.append(tf.identity(x))
""",
    "constants": "fetches = [tf.cond(p, lambda: tf.constant(1), lambda: tf.constant(2))]",
    "a_constant_predicate": "fetches = [tf.cond(tf.constant(True), lambda: x, lambda: -x)]",
    "dict_result": "r = tf.cond(p, lambda: {'a': x, 'b': (n, n)}, lambda: {'a': -x, 'b': (n, n + 1)})\n"
                   "fetches = [r['a'], r['b'][1]]",
    "a_shape_inside": "fetches = [tf.cond(p, lambda: tf.reshape(x, tf.stack([n - n + 3, 1])), "
                      "lambda: tf.zeros([3, 1]))]",
    "different_shapes": "fetches = [tf.cond(p, lambda: tf.tile(x, [n]), lambda: x[:1])]",
    "a_cond_in_a_chain": """
y = tf.cond(p, lambda: x * 2, lambda: x * 3)
z = tf.cond(q, lambda: y + 1, lambda: y - 1)
fetches = [z, tf.cond(tf.reduce_sum(z) > 0, lambda: tf.reduce_max(z), lambda: tf.reduce_min(z))]
""",
    "case_with_default": "fetches = [tf.case([(p, lambda: x + 1), (q, lambda: x * 2)], default=lambda: x)]",
    "case_exclusive": """
fetches = [tf.case([(tf.logical_and(p, q), lambda: x + 1), (tf.logical_and(p, tf.logical_not(q)), lambda: x * 2)],
                   default=lambda: x, exclusive=True)]
""",
    "case_without_default": "fetches = [tf.case([(p, lambda: x + 1), (tf.logical_not(p), lambda: x * 2)])]",
    "control_dependencies_into": """
with tf.control_dependencies([tf.assign_add(v, 1.0)]):
    fetches = [tf.cond(p, lambda: v.read_value() + 0, lambda: v.read_value() * 10)]
""",
    "indexed_slices": """
g = tf.cond(p, lambda: tf.IndexedSlices(x, tf.constant([0, 2, 4])),
            lambda: tf.IndexedSlices(-x, tf.constant([1, 2, 3])))
fetches = [g.values, g.indices]
""",
}

WHILE = {
    "counting": "fetches = [tf.while_loop(lambda i: i < n, lambda i: i + 1, [0])]",
    "two_variables": "fetches = list(tf.while_loop(lambda i, a: i < n, lambda i, a: (i + 1, a * 2 + x), [0, x]))",
    "maximum_iterations": "fetches = [tf.while_loop(lambda a: tf.reduce_sum(a) < 100, lambda a: a + 1, [x], "
                          "maximum_iterations=n)]",
    "nested_loops_and_cond": """
def body(i, a):
    j, b = tf.while_loop(lambda j, b: j < i, lambda j, b: (j + 1, b + x * v), [0, a])
    return i + 1, tf.cond(tf.equal(i % 2, 0), lambda: b, lambda: b * 0.5)
fetches = list(tf.while_loop(lambda i, a: i < n, body, [0, x]))
""",
    "cond_in_while_in_cond": """
def loop():
    return tf.while_loop(lambda i, a: i < n, lambda i, a: (i + 1, tf.cond(q, lambda: a + 1, lambda: a * v)), [0, x])
fetches = list(tf.cond(p, loop, lambda: (n, x)))
""",
    "writes_in_the_body": """
def body(i):
    with tf.control_dependencies([tf.assign_add(v, 1.0)]):
        return tf.identity(i) + 1
fetches = [tf.while_loop(lambda i: i < n, body, [0])]
""",
    "a_test_that_reads_a_variable": """
def body(i):
    with tf.control_dependencies([tf.assign_add(v, 1.0)]):
        return tf.identity(i) + 1
fetches = [tf.while_loop(lambda i: v.read_value() < 5.0, body, [0])]
""",
    "growing": "fetches = list(tf.while_loop(lambda i, a: i < n, lambda i, a: (i + 1, tf.concat([a, x], 0)), [0, x], "
               "shape_invariants=[tf.TensorShape([]), tf.TensorShape([None])]))",
    "structures": """
r = tf.while_loop(lambda i, d: i < n, lambda i, d: (i + 1, {'a': d['a'] + 1, 'b': (d['b'][0] * 2,)}),
                  (0, {'a': x, 'b': (v * 1,)}))
fetches = [r[0], r[1]['a'], r[1]['b'][0]]
""",
    "same_structure": "fetches = list(tf.while_loop(lambda i: i < n, lambda i: [i + 2], [n - 4], "
                      "return_same_structure=True))",
    "slices_by_the_counter": "fetches = list(tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, s * 10 + x[i]), "
                             "[0, 0.0]))",
    "a_variable_that_stays": "fetches = list(tf.while_loop(lambda i, a, b: i < n, lambda i, a, b: (i + 1, b, b), "
                             "[0, x, x * 2]))",
    "swapped_variables": "fetches = list(tf.while_loop(lambda i, a, b: i < n, lambda i, a, b: (i + 1, b, a), "
                         "[0, x, x * 2]))",
    "a_constant_next": "fetches = list(tf.while_loop(lambda i, a: i < n, lambda i, a: (i + 1, tf.constant(7.0)), "
                       "[0, 1.0]))",
    "a_flag": "fetches = list(tf.while_loop(lambda f, i: f, lambda f, i: (i + 1 < n, i + 1), [p, 0]))",
    "strings": "fetches = list(tf.while_loop(lambda i, s: i < n, lambda i, s: (i + 1, tf.string_join([s, 'a'])), "
               "[0, 'b']))",
    "after_a_loop": """
i, a = tf.while_loop(lambda i, a: i < n, lambda i, a: (i + 1, a + 1), [0, x])
j, b = tf.while_loop(lambda j, b: j < i, lambda j, b: (j + 1, b * 2), [0, a])
fetches = [b + a, j]
""",
    "random_numbers": """
tf.set_random_seed(3)
fetches = list(tf.while_loop(lambda i, s: i < n,
                             lambda i, s: (i + 1, s + tf.random_uniform([3], 0, 100, tf.int32, seed=5)),
                             [0, tf.zeros([3], tf.int32)]))
""",
    "ops_outside_that_wait": """
i = tf.while_loop(lambda i: i < n, lambda i: i + 1, [0])
with tf.control_dependencies([i]):
    fetches = [tf.identity(x), tf.assign(v, tf.to_float(i))]
""",
    "early_names": "fetches = [tf.while_loop(cond=lambda i: i < n, body=lambda i: i + 1, loop_vars=[tf.constant(0)], "
                   "parallel_iterations=1, back_prop=False, swap_memory=True, name='mine')]",
}

ARRAYS = {
    "write_and_stack": """
ta = tf.TensorArray(tf.float32, size=3)
i, ta = tf.while_loop(lambda i, ta: i < 3, lambda i, ta: (i + 1, ta.write(i, x * tf.to_float(i))), [0, ta])
fetches = [ta.stack(), ta.size()]
""",
    "dynamic_size": """
ta = tf.TensorArray(tf.float32, size=0, dynamic_size=True, infer_shape=False)
i, ta = tf.while_loop(lambda i, ta: i <= n, lambda i, ta: (i + 1, ta.write(i, x[:2])), [0, ta])
fetches = [ta.size(), ta.concat()]
""",
    "unstack_and_read": """
ta = tf.TensorArray(tf.float32, 3, clear_after_read=False).unstack(x)
fetches = [ta.read(0), ta.read(2) + ta.read(2), ta.gather([2, 0])]
""",
    "scatter_split_concat": """
ta = tf.TensorArray(tf.float32, 3).scatter([2, 0, 1], x)
tb = tf.TensorArray(tf.float32, 2, infer_shape=False).split(x, [1, 2])
fetches = [ta.stack(), tb.read(1), ta.identity().size()]
""",
    "array_in_a_cond": """
ta = tf.TensorArray(tf.float32, 2).write(0, x)
ta = tf.cond(p, lambda: ta.write(1, x + 1), lambda: ta.write(1, x - 1))
fetches = [ta.stack()]
""",
    "map": "fetches = [tf.map_fn(lambda a: a * v + 1, x), "
           "tf.map_fn(lambda a: (a, a > 0), x, dtype=(tf.float32, tf.bool))[1]]",
    "map_of_two": "fetches = [tf.map_fn(lambda ab: ab[0] + ab[1], (x, x * 2), dtype=tf.float32)]",
    "map_unknown_rows": "fetches = [tf.map_fn(lambda a: tf.reduce_sum(a), tf.reshape(tf.tile(x, [n + 1]), [-1, 3]))]",
    "scan": "fetches = [tf.scan(lambda a, b: a * 0.5 + b, x), tf.scan(lambda a, b: a + b, x, initializer=v * 1.0), "
            "tf.scan(lambda a, b: a + b, x, reverse=True), "
            "tf.scan(lambda a, b: (a[0] + b, a[1] * b), x, initializer=(0.0, 1.0))[1]]",
    "folds": "fetches = [tf.foldl(lambda a, b: a * 2 + b, x), tf.foldr(lambda a, b: a * 2 + b, x), "
             "tf.foldl(lambda a, b: a - b, x, initializer=1.0), tf.foldr(lambda a, b: a - b, x, initializer=1.0)]",
    "nested_map": "fetches = [tf.map_fn(lambda row: tf.map_fn(lambda e: e * e, row), tf.stack([x, x + 1]))]",
}

GRADIENTS = {
    "gradient_of_a_cond": "y = tf.cond(p, lambda: x * x * v, lambda: tf.sin(x))\nfetches = tf.gradients(y, [x, v])",
    "gradient_of_one_branch": "y = tf.cond(p, lambda: x * 2, lambda: tf.zeros([3]))\nfetches = tf.gradients(y, [x])",
    "gradient_of_nested_conds": """
y = tf.cond(p, lambda: tf.cond(q, lambda: x * v, lambda: x * 2 * x), lambda: x * 3)
fetches = tf.gradients(y, [x, v])
""",
    "second_order_of_a_cond": """
y = tf.cond(p, lambda: x * x * x, lambda: tf.exp(x * v))
g = tf.gradients(y, [x])[0]
fetches = tf.gradients(g, [x])
""",
    "gradient_in_a_branch": """
y = tf.exp(x)
fetches = [tf.cond(p, lambda: tf.gradients(y * x, x)[0], lambda: x)]
""",
    "gradient_of_a_loop": """
i, a = tf.while_loop(lambda i, a: i < n, lambda i, a: (i + 1, tf.sin(a) * v + x), [0, x])
fetches = tf.gradients(a, [x, v])
""",
    "gradient_of_two_results": """
i, a, b = tf.while_loop(lambda i, a, b: i < n, lambda i, a, b: (i + 1, b * v, a + x), [0, x, x * 2])
fetches = tf.gradients(a, [x, v]) + tf.gradients([a, b], [x, v])
""",
    "gradient_of_nested_loops": """
def body(i, a):
    j, b = tf.while_loop(lambda j, b: j < i, lambda j, b: (j + 1, b * 0.9 + tf.sin(x * v)), [0, a])
    return i + 1, tf.cond(tf.equal(i % 2, 0), lambda: b * 0.3 * b, lambda: b * 0.5 + v)
i, a = tf.while_loop(lambda i, a: i < n, body, [0, x])
fetches = tf.gradients(a, [x, v])
""",
    "gradient_of_a_loop_in_a_cond": """
y = tf.cond(p, lambda: tf.while_loop(lambda i, a: i < n, lambda i, a: (i + 1, a * x), [0, x])[1], lambda: x * 3)
fetches = tf.gradients(y, [x])
""",
    "gradient_of_a_growing_variable": """
i, a = tf.while_loop(lambda i, a: i < n, lambda i, a: (i + 1, tf.concat([a, a[:1] * x[:1]], 0)), [0, x * 2],
                     shape_invariants=[tf.TensorShape([]), tf.TensorShape([None])])
fetches = tf.gradients(a, [x])
""",
    "gradient_in_a_body": """
i, a = tf.while_loop(lambda i, a: i < n, lambda i, a: (i + 1, a - 0.1 * tf.gradients(a * a * v, a)[0]), [0, x])
fetches = [a]
""",
    "gradient_of_an_array": """
ta = tf.TensorArray(tf.float32, 3).unstack(x)
i, s = tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, s * v + ta.read(i)), [0, 0.0])
fetches = tf.gradients(s, [x, v])
""",
    "gradients_of_map_and_scan": """
m = tf.map_fn(lambda r: r * r * v, x)
s = tf.scan(lambda a, b: a * b + v, x)
fetches = tf.gradients(m, [x, v]) + tf.gradients(s, [x, v]) + tf.gradients(tf.foldl(lambda a, b: a * b, x), [x])
""",
    "gradient_of_a_gather": """
table = tf.constant(np.arange(12, dtype='f').reshape(6, 2) + 1)
i, e = tf.while_loop(lambda i, e: i < n, lambda i, e: (i + 1, e * tf.gather(table, i) * 0.5), [0, tf.ones([2])])
g = tf.gradients(e, [table])[0]
fetches = [g.values, g.indices]
""",
    "recurrent_network": """
steps = 20
w = tf.Variable(np.linspace(-.4, .5, 12).reshape(4, 3).astype('f'))
u = tf.Variable(np.linspace(-.4, .6, 9).reshape(3, 3).astype('f'))
ia = tf.TensorArray(tf.float32, steps).unstack(np.sin(np.arange(steps * 8)).reshape(steps, 2, 4).astype('f'))
def step(t, h, oa):
    h = tf.tanh(tf.matmul(ia.read(t), w) + tf.matmul(h, u) * v)
    return t + 1, h, oa.write(t, h)
t, h, oa = tf.while_loop(lambda t, h, oa: t < steps, step, [0, tf.zeros([2, 3]), tf.TensorArray(tf.float32, steps)])
out = oa.stack()
fetches = [out] + tf.gradients(tf.reduce_sum(out * out) + tf.reduce_sum(h), [w, u, v])
""",
    "without_back_prop": """
i, a = tf.while_loop(lambda i, a: i < n, lambda i, a: (i + 1, a * 2), [0, x], back_prop=False)
fetches = [a] + tf.gradients(a + x, [x])
""",
    "training_through_a_loop": """
i, a = tf.while_loop(lambda i, a: i < n, lambda i, a: (i + 1, a * v * 0.5 + x), [0, x])
fetches = [tf.train.GradientDescentOptimizer(0.01).minimize(tf.reduce_mean(tf.square(a - 1)), var_list=[v]), a][1:]
with tf.control_dependencies([tf.train.GradientDescentOptimizer(0.01).minimize(tf.reduce_mean(tf.square(a - 1)))]):
    fetches.append(tf.identity(n))
""",
}

WITHOUT_NODES = {*GRADIENTS, "strings", "random_numbers", "a_test_that_reads_a_variable", "slices_by_the_counter",
                 "different_shapes", "dict_result", "dynamic_size", "unstack_and_read", "map", "map_of_two",
                 "map_unknown_rows", "scan", "folds", "nested_map", "case_exclusive"}
PROGRAMS = {**COND, **WHILE, **ARRAYS, **GRADIENTS}
