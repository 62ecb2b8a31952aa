"""Programs over variables behind handles, run by tfnb and by TensorFlow: `result` lists values and error classes."""
from __future__ import annotations

BEGIN = """
raw = tf.raw_ops
tf.reset_default_graph()
result = []

def handle(name, shape=(2,), dtype=tf.float32):
    return raw.VarHandleOp(dtype=dtype, shape=shape, shared_name=name, name=name)

def read(h, dtype=tf.float32):
    return raw.ReadVariableOp(resource=h, dtype=dtype)

def assign(h, value, **attrs):
    return raw.AssignVariableOp(resource=h, value=value, **attrs)

def add(h, value):
    return raw.AssignAddVariableOp(resource=h, value=value)

def after(ops, fn):
    with tf.control_dependencies(ops):
        return fn()

def run(sess, fetches, feeds=None):
    try:
        result.append(sess.run(fetches, feeds))
    except Exception as error:
        result.append(type(error).__name__)

a, b = handle("a"), handle("b")
start = tf.group(assign(a, [1.0, 2.0]), assign(b, [10.0, 20.0]))
p = tf.placeholder(tf.bool, [])
"""

PROGRAMS = {
    "without a value, then with one, then destroyed": """
y, step = read(a) * 2, add(a, [1.0, 1.0])
there = raw.VarIsInitializedOp(resource=a)
with tf.Session() as sess:
    for op in (y, step, there, start, there, y, y, step, y, raw.DestroyResourceOp(resource=a), there, y, step,
               raw.DestroyResourceOp(resource=a, ignore_lookup_error=False), start, y, y):
        run(sess, op)
""",
    "without a value, each op": """
n = handle("n", [], tf.int32)
ops = [read(a), assign(a, read(b)), add(a, [1.0, 1.0]), raw.ResourceGather(resource=a, indices=[0], dtype=tf.float32),
       raw.ResourceGatherNd(resource=a, indices=[[0]], dtype=tf.float32), raw.VariableShape(input=a),
       raw.ResourceScatterAdd(resource=a, indices=[0], updates=[1.0]), raw.ResourceScatterNdAdd(ref=a, indices=[[0]],
       updates=[1.0]), raw.ResourceStridedSliceAssign(ref=a, begin=[0], end=[1], strides=[1], value=[1.0]),
       raw.ResourceCountUpTo(resource=n, limit=3, T=tf.int32), raw.ResourceScatterUpdate(resource=a, indices=[0],
       updates=[1.0])]
with tf.Session() as sess:
    for op in ops + ops:
        run(sess, op)
""",
    "destroyed between two reads of a run": """
before = read(a) * 2
gone = after([before], lambda: raw.DestroyResourceOp(resource=a))
there = after([gone], lambda: raw.VarIsInitializedOp(resource=a))
again = after([there], lambda: assign(a, [5.0, 6.0]))
late = after([again], lambda: read(a) + before)
with tf.Session() as sess:
    for _ in range(3):
        run(sess, start)
        run(sess, [before, there, late])
""",
    "a merged handle": """
picked = tf.cond(p, lambda: tf.identity(a), lambda: tf.identity(b))
y = read(picked)
step = after([y], lambda: add(picked, [1.0, 1.0]))
z = after([step], lambda: [read(a), read(b), read(picked)])
with tf.Session() as sess:
    run(sess, start)
    for value in (True, False, True, False):
        run(sess, [y, *z], {p: value})
""",
    "a handle in a branch": """
def on():
    return after([add(a, read(b))], lambda: read(a))
y = tf.cond(p, on, lambda: read(b))
z = after([y], lambda: [read(a), read(b)])
with tf.Session() as sess:
    run(sess, start)
    for value in (True, False, True, False):
        run(sess, [y, *z], {p: value})
""",
    "a handle that is a variable of a loop": """
def body(i, h, other):
    step = after([i], lambda: add(h, [1.0, 1.0]))
    return after([step], lambda: (i + 1, other, h))
i, last, _ = tf.while_loop(lambda i, h, other: i < 3, body, [0, a, b], parallel_iterations=1)
y = after([i], lambda: [read(last), read(a), read(b)])
with tf.Session() as sess:
    run(sess, start)
    for _ in range(3):
        run(sess, [i, *y])
""",
    "a handle that stays a variable of a loop": """
def body(i, h, s):
    step = add(h, s * 0 + 1)
    return after([step], lambda: (i + 1, h, tf.reshape(s + read(h), [2])))
i, _, s = tf.while_loop(lambda i, h, s: i < 3, body, [0, a, tf.zeros([2])], parallel_iterations=1)
with tf.Session() as sess:
    run(sess, start)
    for _ in range(3):
        run(sess, [i, s])
""",
    "a loop whose condition reads what it writes": """
i = tf.while_loop(lambda i: after([i], lambda: read(a)[0]) < 6.0, lambda i: after([add(a, [1.0, 1.0 + 0 * tf.cast(i,
    tf.float32)])], lambda: i + 1), [0])
left = after([i], lambda: read(a))
with tf.Session() as sess:
    for _ in range(3):
        run(sess, start)
        run(sess, [i, left])
""",
    "nested loops and branches": """
def inner(j, s):
    step = add(a, s * 0 + 1)
    s = after([step], lambda: tf.cond(read(a)[0] > 3.0, lambda: s + read(b), lambda: s + read(a)))
    return j + 1, s
def body(i, s):
    before = after([s], lambda: read(a))
    _, s = tf.while_loop(lambda j, s: j < 2, inner, [tf.cast(before[0], tf.int32) * 0, s], parallel_iterations=1)
    return i + 1, s + before
i, s = tf.while_loop(lambda i, s: i < 3, body, [0, tf.zeros([2])], parallel_iterations=1)
with tf.Session() as sess:
    for _ in range(3):
        run(sess, start)
        run(sess, [i, s])
""",
    "a read outside of the loop that writes": """
look = read(a)
def body(i, s):
    step = add(a, s * 0 + 1)
    return after([step], lambda: (i + 1, s * 10 + look + read(a)))
i, s = after([look], lambda: tf.while_loop(lambda i, s: i < 3, body, [tf.identity(0), tf.zeros([2])]))
late = after([i], lambda: look + 0)
with tf.Session() as sess:
    for _ in range(3):
        run(sess, start)
        run(sess, [s, late])
""",
    "fed reads": """
look = read(a)
y, step = look * 2, add(a, look)
z = after([step], lambda: read(a))
with tf.Session() as sess:
    run(sess, y, {look: [3.0, 4.0]})
    run(sess, start)
    for _ in range(3):
        run(sess, [y, z], {look: [3.0, 4.0]})
        run(sess, [y, z])
""",
    "another shape each time": """
u = handle("u", None)
value = tf.placeholder(tf.float32, None)
write, look = assign(u, value), read(u)
both = after([write], lambda: tf.reduce_sum(read(u)))
grown = after([both], lambda: add(u, value))
late = after([grown], lambda: read(u))
size = raw.VariableShape(input=u)
with tf.Session() as sess:
    run(sess, [look])
    for shape in ([3], [2, 2], [], [2, 2], [3]):
        run(sess, write, {value: np.ones(shape, "f")})
        run(sess, [look, size])
        run(sess, [both, late], {value: np.full(shape, 2, "f")})
        run(sess, [look, size])
    run(sess, grown, {value: np.ones([7], "f")})
""",
    "another shape with validate_shape": """
u = handle("u", [None])
value = tf.placeholder(tf.float32, None)
write, checked = assign(u, value), assign(u, value, validate_shape=True)
with tf.Session() as sess:
    run(sess, checked, {value: np.ones(3, "f")})
    run(sess, checked, {value: np.ones(4, "f")})
    run(sess, read(u))
    run(sess, write, {value: np.ones(4, "f")})
    run(sess, checked, {value: np.full(4, 2, "f")})
    run(sess, read(u))
""",
    "dtypes without kernels": """
s, h = handle("s", [2], tf.string), handle("h", [2], tf.float16)
begin = tf.group(assign(s, [b"a", b"b"]), assign(h, tf.constant([1.0, 2.0], tf.float16)))
before = read(s, tf.string)
change = after([before], lambda: assign(s, tf.string_join([before, before])))
more = add(h, tf.constant([1.0, 1.0], tf.float16))
late = after([change, more], lambda: [read(s, tf.string), read(h, tf.float16)])
with tf.Session() as sess:
    run(sess, begin)
    for _ in range(3):
        run(sess, [before, *late])
""",
    "wrong dtypes and indices": """
n = handle("n", [2], tf.int32)
rows = tf.placeholder(tf.int32, [2])
gathered, scattered = (raw.ResourceGather(resource=a, indices=rows, dtype=tf.float32),
                       raw.ResourceScatterAdd(resource=a, indices=rows, updates=[1.0, 1.0]))
with tf.Session() as sess:
    run(sess, start)
    for bad in ([2, 0], [1, 0], [-1, 0], [1, 1]):      # (TensorFlow writes the rows before a bad index)
        run(sess, gathered, {rows: bad})
        run(sess, scattered, {rows: bad})
        run(sess, read(a))
""",
    "host calls between": """
before = read(a)
mid = tf.py_func(lambda x: x * 2, [before], tf.float32)
step = after([mid], lambda: add(a, mid))
text = after([step], lambda: tf.as_string(read(a)))
last = after([text], lambda: add(a, before))
late = after([last], lambda: read(a) + before)
with tf.Session() as sess:
    for _ in range(3):
        run(sess, start)
        run(sess, [before, text, late])
""",
    "two names of one variable": """
c = raw.VarHandleOp(dtype=tf.float32, shape=[2], shared_name="a", name="c")
before = read(a)
step = after([before], lambda: add(c, [1.0, 1.0]))
late = after([step], lambda: [read(a) * 10 + before, read(c)])
with tf.Session() as sess:
    run(sess, start)
    for _ in range(3):
        run(sess, [before, *late])
""",
    "a swap": """
x, y = read(a), read(b)
swap = after([x, y], lambda: [assign(a, y), assign(b, x)])
turned = after(swap, lambda: [assign(a, tf.reverse(read(a), [0])), add(b, tf.reverse(y, [0]))])
late = after(turned, lambda: [read(a), read(b)])
with tf.Session() as sess:
    run(sess, start)
    for _ in range(3):
        run(sess, [x, y, *late])
""",
    "in steps": """
q = tf.placeholder(tf.float32, [2])
look = read(a)
step = after([look], lambda: add(a, q))
late = after([step], lambda: read(a) + look)
with tf.Session() as sess:
    run(sess, start)
    for _ in range(3):
        part = sess.partial_run_setup([look, late], [q])
        result.append(sess.partial_run(part, look))
        result.append(sess.partial_run(part, late, {q: [1.0, 2.0]}))
    run(sess, read(a))
""",
    "counting": """
n = handle("n", [], tf.int32)
begin, count = assign(n, 0), raw.ResourceCountUpTo(resource=n, limit=4, T=tf.int32)
late = after([count], lambda: read(n, tf.int32))
more = after([late], lambda: add(n, 1))
last = after([more], lambda: read(n, tf.int32) * 10 + late)
with tf.Session() as sess:
    run(sess, begin)
    for _ in range(4):
        run(sess, [count, late, last])
""",
    "parts": """
def part(value):
    return raw.ResourceStridedSliceAssign(ref=a, begin=[0], end=[1], strides=[1], value=value)
before = read(a)
step = after([before], lambda: part([7.0]))
late = after([step], lambda: [read(a) + before, raw.ResourceGatherNd(resource=a, indices=[[0]], dtype=tf.float32)])
with tf.Session() as sess:
    for _ in range(3):
        run(sess, start)
        run(sess, [before, *late])
""",
}
