"""Random programs that read and write state in loops, branches, scans and maps. Run by tfnb and by TensorFlow.

Each statement waits for the one before, also from one iteration to the next, so that there is one right result. All
values are small integers: they are compared exactly. Reads of variables may be made long before they are used: they
show the variable as it is then.
"""
from __future__ import annotations

import numpy as np


class Program:
    """A random graph over variables and a queue; `fetches` are run several times."""

    def __init__(self, tf, seed, statements=5):
        self.tf, self.random = tf, np.random.RandomState(seed)
        self.vectors = [tf.Variable(np.float32(value), name=f"v{i}") for i, value in enumerate(
            ([1, 2, 3], [4, 0, 2]))]
        self.scalar = tf.Variable(2.0, name="s")
        self.count = tf.Variable(1, name="n")
        self.optimizer = tf.train.MomentumOptimizer(1.0, 1.0)
        self.slots = []
        for v in self.vectors:
            self.optimizer.apply_gradients([(tf.zeros([3]), v)])
            self.slots.append(self.optimizer.get_slot(v, "momentum"))
        self.queue = tf.FIFOQueue(30, [tf.float32], [[]])
        self.init = [v.initializer for v in (*self.vectors, self.scalar, self.count, *self.slots)]
        self.fill = self.queue.enqueue_many([np.float32([1, 3])])
        start = tf.constant([1.0, 0.0, 2.0])
        acc = self.block(0, statements, start, [start], [])
        with tf.control_dependencies([acc]):
            self.fetches = [acc, *(tf.identity(v.read_value()) for v in (*self.vectors, self.scalar, self.count)),
                            self.queue.size()]

    def pick(self, options):
        return options[self.random.randint(len(options))]

    def small(self, x):
        return self.tf.floormod(x, 7.0)

    # What can be read

    def look(self):
        """A read of a vector whose value is that of the time when it is used."""
        tf, v = self.tf, self.pick(self.vectors)
        return self.pick([lambda: v.read_value(), lambda: v.value(), lambda: tf.identity(v),
                          lambda: tf.reshape(v, [3]), lambda: tf.squeeze(tf.expand_dims(v, 0), [0]),
                          lambda: tf.identity(tf.identity(v)), lambda: self.pick(self.slots).value()])()

    def read(self, looks):
        """A new vector of state."""
        tf, v = self.tf, self.pick(self.vectors)
        i = int(self.random.randint(3))
        return self.pick([
            lambda: v + 1.0, lambda: 2.0 * v, lambda: v.read_value() * 1.0, lambda: tf.gather(v, [i, 0, 2]),
            lambda: tf.nn.embedding_lookup(v, [2, i, i]), lambda: tf.concat([v[1:], v[:1]], 0),
            lambda: tf.gather_nd(v, [[i], [1], [0]]), lambda: tf.fill([3], self.scalar * 1.0),
            lambda: tf.reverse(v, [0]), lambda: tf.ones([3]) * tf.to_float(self.count + 1),
            lambda: self.pick(self.slots) + 0.0, lambda: tf.reduce_sum(v) + tf.zeros([3]),
            lambda: tf.to_float(tf.is_variable_initialized(v)) + tf.zeros([3]),
            lambda: tf.to_float(self.queue.size()) + tf.zeros([3]),
            lambda: self.pick(looks) * 1.0 if looks else v * 3.0,
            lambda: self.pick(looks) + v if looks else v * 3.0,
        ])()

    def value(self, acc, looks):
        return self.small(acc + self.read(looks) * 2.0 + self.read(looks))

    # Statements: each takes what to add to, and returns (what was made, what to wait for)

    def write(self, depth, acc, looks):
        tf, v = self.tf, self.pick(self.vectors)
        new = self.value(acc, looks)
        i = int(self.random.randint(3))
        made = self.pick([
            lambda: tf.assign(v, new), lambda: v.assign(new), lambda: tf.assign_add(v, tf.sign(new)),
            lambda: tf.assign(self.scalar, new[i]), lambda: tf.assign(self.count, tf.to_int32(new[i])),
            lambda: tf.scatter_update(v, [i], new[i:i + 1]), lambda: tf.scatter_add(v, [i, 0], tf.sign(new[:2])),
            lambda: v[i].assign(new[0]), lambda: v[1:].assign(new[1:]),
            lambda: tf.assign_sub(v, tf.sign(new), use_locking=True), lambda: tf.count_up_to(self.count, 100000),
            lambda: self.optimizer.apply_gradients([(tf.sign(new) - 1.0, v)]),
            lambda: tf.assign(tf.assign(v, new), self.small(new + 1.0)),
        ])()
        if self.random.rand() < 0.2 and isinstance(made, tf.Tensor) and made.shape.as_list() == [3]:
            return made * 1.0, [made]
        return acc, [made]

    def compute(self, depth, acc, looks):
        return self.value(acc, looks), []

    def rotate(self, depth, acc, looks):
        """Puts a number into the queue and takes another one out."""
        put = self.queue.enqueue(self.value(acc, looks)[0])
        with self.tf.control_dependencies([put]):
            taken = self.queue.dequeue()
        return self.small(acc + taken), [taken]

    def keep(self, depth, acc, looks):
        """Make a read that later statements use."""
        looks.append(self.look() if self.random.rand() < 0.8 else self.read(looks))
        return acc, [looks[-1]]

    def branch(self, depth, acc, looks):
        tf = self.tf
        sizes = self.random.randint(1, 4, 2)
        pred = self.small(tf.reduce_sum(self.value(acc, looks))) > 2.0
        made = tf.cond(pred, lambda: self.block(depth + 1, sizes[0], acc, [acc], list(looks)),
                       lambda: self.block(depth + 1, sizes[1], acc, [acc], list(looks)))
        return made, []

    def loop(self, depth, acc, looks):
        tf = self.tf
        size, most = int(self.random.randint(1, 4)), float(self.random.randint(0, 5))
        reads, extra = self.random.rand() < 0.5, self.random.randint(4)
        first = self.pick([lambda: self.pick(self.vectors), lambda: self.look(), lambda: acc * 1.0])() if extra else 0.0

        def test(t, acc, x):
            with tf.control_dependencies([t]):
                goes_on = t < most
                if reads:
                    state = tf.reduce_sum(self.value(acc, looks))
                    goes_on = tf.logical_and(goes_on, self.small(state) < 6.0)
                return goes_on

        def body(t, acc, x):
            inner = [*looks, x] if extra else list(looks)
            acc = self.block(depth + 1, size, acc, [t, acc, x], inner)
            with tf.control_dependencies([acc]):
                after = x if extra < 2 else self.next_of(x, acc, looks)
                with tf.control_dependencies([after]):
                    return tf.identity(t) + 1.0, tf.identity(acc), after

        t, acc, x = tf.while_loop(test, body, [0.0, acc, first])
        return self.small(acc + x), [t]

    def next_of(self, x, acc, looks):
        """What a further loop variable becomes."""
        tf, v = self.tf, self.pick(self.vectors)
        return self.pick([lambda: tf.identity(v), lambda: v.value(), lambda: tf.assign(v, self.value(acc, looks)),
                          lambda: self.small(x + 1.0), lambda: tf.identity(x)])()

    def scan(self, depth, acc, looks):
        tf = self.tf
        size = int(self.random.randint(1, 4))

        def step(acc, x):
            return self.block(depth + 1, size, self.small(acc + x), [acc, x], list(looks))
        made = tf.scan(step, tf.constant([[1.0, 0.0, 2.0], [3.0, 1.0, 0.0]]), acc, parallel_iterations=1)
        return self.small(made[0] + made[1] * 2.0), []

    def map(self, depth, acc, looks):
        tf = self.tf
        size = int(self.random.randint(1, 4))
        made = tf.map_fn(lambda x: self.block(depth + 1, size, self.small(acc + x), [x], list(looks)),
                         tf.constant([[1.0, 0.0, 2.0], [3.0, 1.0, 0.0]]), parallel_iterations=1)
        return self.small(made[0] + made[1] * 2.0), []

    def block(self, depth, size, acc, waits, looks):
        """Statements one after another; the value at their end, which waits for all of them."""
        tf = self.tf
        kinds = [self.write, self.write, self.write, self.compute, self.rotate, self.keep]
        if depth < 3:
            kinds += [self.branch, self.loop, self.loop]
        if depth < 2:
            kinds += [self.scan, self.map, self.loop]
        for _ in range(size):
            with tf.control_dependencies(waits):
                acc, more = self.pick(kinds)(depth, acc, looks)
            waits = [acc, *more]
        with tf.control_dependencies(waits):
            return tf.identity(acc)


def run(tf, seed, runs=4):
    """What each of several runs gives."""
    tf.reset_default_graph()
    tf.set_random_seed(1)
    program = Program(tf, seed)
    with tf.Session() as session:
        session.run(program.init)
        session.run(program.fill)
        return [[np.asarray(a) for a in session.run(program.fetches)] for _ in range(runs)]
