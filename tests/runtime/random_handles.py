"""Random programs over variables behind handles, the same for tfnb and for TensorFlow: small integers, so exact.

Each write is ordered against all other uses of its variable, by data or by control inputs, so that there is one right
result; further control inputs are random. Without `ordered` some of these orders are left out: then only plans of one
system can be compared.
"""
from __future__ import annotations

import numpy as np

N = 3


class Program:
    """A graph of reads, updates, computations, host calls, branches and loops; `fetches` and `feeds` to run it."""

    def __init__(self, tf, seed, ordered=True, size=24):
        self.tf, self.raw, self.random, self.ordered = tf, tf.raw_ops, np.random.RandomState(seed), ordered
        self.handles = [self.raw.VarHandleOp(dtype=tf.float32, shape=[N, N], shared_name=f"v{i}", name=f"v{i}")
                        for i in range(3)]
        starts = [self.random.randint(0, 9, [N, N]).astype("f") for _ in self.handles]
        self.start = [self.raw.AssignVariableOp(resource=h, value=a)
                      for h, a in zip(self.handles, starts)]  # noqa: B905 (as long)
        self.uses = {i: ([], []) for i in range(3)}         # the last write, and the reads since
        self.x = tf.placeholder(tf.float32, [N, N])
        self.feeds = {self.x: self.random.randint(0, 9, [N, N]).astype("f")}
        self.made, self.ops = [self.x, tf.constant(np.eye(N, dtype="f"))], []
        kinds = [self.read, self.write, self.compute, self.compute, self.gather, self.scatter, self.step, self.host,
                 self.branch, self.loop]
        for _ in range(size):
            kinds[self.random.choice(len(kinds), p=np.array([4, 4, 3, 3, 1, 1, 1, 1, 1, 1]) / 20)]()
        self.fetches = [t for t in self.made[2:] if self.random.rand() < 0.6]
        self.fetches += [self.read(i) for i in range(3)]

    def waits(self, reads=(), writes=()):
        """What an op waits for that reads and writes these variables, and at random some others."""
        found = [op for i in (*reads, *writes) for op in self.uses[i][0]]
        found += [op for i in writes for op in self.uses[i][1]]
        if not self.ordered:
            found = [op for op in found if self.random.rand() < 0.7]
        if self.ops and self.random.rand() < 0.3:
            found.append(self.ops[self.random.randint(len(self.ops))])
        return self.tf.control_dependencies(found)

    def done(self, op, reads=(), writes=()):
        """Record an op that reads and writes these variables."""
        self.ops.append(op)
        for i in reads:
            self.uses[i][1].append(op)
        for i in writes:
            self.uses[i] = ([op], [])

    def pick(self):
        """A tensor: an early or a late one."""
        return self.made[self.random.randint(len(self.made))]

    def variable(self):
        return self.random.randint(3)

    def small(self, x):
        return self.tf.floormod(x, 11.0)

    def read(self, i=None):
        i = self.variable() if i is None else i
        with self.waits(reads=[i]):
            made = self.raw.ReadVariableOp(resource=self.handles[i], dtype=self.tf.float32)
        self.done(made.op, reads=[i])
        self.made.append(made)
        return made

    def write(self):
        i, value = self.variable(), self.pick()
        kind = ["AssignVariableOp", "AssignAddVariableOp", "AssignSubVariableOp"][self.random.randint(3)]
        with self.waits(writes=[i]):
            op = getattr(self.raw, kind)(resource=self.handles[i], value=self.small(value))
        self.done(op, writes=[i])

    def compute(self):
        tf, x, y = self.tf, self.pick(), self.pick()
        kind = self.random.randint(8)
        with self.waits():
            self.made.append([
                lambda: tf.identity(x), lambda: self.small(x + y), lambda: self.small(x * y), lambda: tf.transpose(x),
                lambda: tf.reshape(tf.reshape(x, [N * N]) + 1.0, [N, N]) - 1.0, lambda: tf.concat([x[1:], y[:1]], 0),
                lambda: self.small(tf.matmul(self.small(x), self.small(y), transpose_b=True)),
                lambda: tf.reshape(tf.reshape(x, [N * N]), [N, N])][kind]())

    def gather(self):
        i, rows = self.variable(), self.random.randint(0, N, N)
        with self.waits(reads=[i]):
            made = self.raw.ResourceGather(resource=self.handles[i], indices=rows, dtype=self.tf.float32)
        self.done(made.op, reads=[i])
        self.made.append(made)

    def scatter(self):
        i, rows = self.variable(), self.random.choice(N, 2, replace=False)
        kind = ["ResourceScatterAdd", "ResourceScatterUpdate", "ResourceScatterSub"][self.random.randint(3)]
        with self.waits(writes=[i]):
            op = getattr(self.raw, kind)(resource=self.handles[i], indices=rows, updates=self.small(self.pick())[:2])
        self.done(op, writes=[i])

    def step(self):
        i, j = self.random.choice(3, 2, replace=False)
        with self.waits(writes=[i, j]):
            op = self.raw.ResourceApplyMomentum(var=self.handles[i], accum=self.handles[j], lr=1.0,
                                                grad=self.small(self.pick()), momentum=1.0) \
                if self.random.rand() < 0.5 else self.raw.ResourceApplyGradientDescent(
                    var=self.handles[i], alpha=1.0, delta=self.small(self.pick()))
        self.done(op, writes=[i, j])

    def host(self):
        with self.waits():
            self.made.append(self.tf.reshape(self.tf.string_to_number(self.tf.as_string(self.pick())), [N, N]))

    def branch(self):
        tf, i, j = self.tf, self.variable(), self.variable()
        value = self.small(self.pick())
        with self.waits(writes=[i, j]):
            chosen = tf.identity(tf.reduce_sum(value) > 30.0)

        def change():
            step = self.raw.AssignAddVariableOp(resource=self.handles[i], value=value)
            with tf.control_dependencies([step]):
                return self.raw.ReadVariableOp(resource=self.handles[i], dtype=tf.float32)
        other = self.handles[j]
        made = tf.cond(chosen, change, lambda: self.raw.ReadVariableOp(resource=other, dtype=tf.float32) + 1.0)
        self.done(made.op, writes=[i, j])
        self.made.append(made)

    def loop(self):
        tf, i, j = self.tf, self.variable(), self.variable()
        with self.waits(writes=[i, j]):
            begin = tf.identity(self.small(self.pick()))

        def body(k, s):
            before = self.raw.ReadVariableOp(resource=self.handles[i], dtype=tf.float32)
            with tf.control_dependencies([before]):
                step = self.raw.AssignAddVariableOp(resource=self.handles[i], value=self.small(s))
            with tf.control_dependencies([step]):
                after = self.raw.ReadVariableOp(resource=self.handles[j], dtype=tf.float32)
            return k + 1, self.small(before + after + s)
        _, made = tf.while_loop(lambda k, s: k < 3, body, [tf.identity(tf.cast(begin[0, 0], tf.int32)) * 0, begin],
                                parallel_iterations=1)
        self.done(made.op, writes=[i, j])
        self.made.append(made)


def run(tf, seed, ordered=True, runs=3):
    """What a session gives for several runs of the program of a seed."""
    tf.reset_default_graph()
    program = Program(tf, seed, ordered)
    with tf.Session() as sess:
        sess.run(program.start)
        return [sess.run(program.fetches, program.feeds) for _ in range(runs)]
