"""Random programs that read and write variables: views of them, updates of all kinds, orders by control inputs."""
from __future__ import annotations

import numpy as np

import tfnb as tf
from tfnb.ops.declaration.raw import raw

SHAPE = (4, 3)


class Program:
    """A random graph over three variables; `fetches` holds tensors, references and operations to run at once."""

    def __init__(self, seed: int, count: int = 14) -> None:
        self.random = np.random.RandomState(seed)
        self.x = tf.placeholder("float32", SHAPE)
        self.feed = self.random.uniform(-1, 1, SHAPE).astype("f")
        start = self.random.uniform(-1, 1, (3, *SHAPE)).astype("f")
        self.variables = [tf.Variable(value) for value in start]
        self.tensors = [self.x]
        self.updates: list[tf.Tensor] = []
        for _ in range(count):
            made = self.tensors + self.updates
            after = [made[i] for i in self.random.choice(len(made), self.random.randint(3))] if made else []
            with tf.control_dependencies(after):
                (self.update if self.random.rand() < 0.4 else self.compute)()
        everything = self.tensors[1:] + self.updates + self.variables + [u.op for u in self.updates]
        chosen = self.random.choice(len(everything), 6)
        self.fetches = [everything[i] for i in chosen]

    def pick(self) -> tf.Tensor:
        """A tensor of the common shape, or a view of a variable."""
        source = self.random.randint(3)
        if source and self.tensors:
            return self.tensors[self.random.randint(len(self.tensors))]
        return self.view(self.variables[self.random.randint(3)])

    def view(self, v: tf.Variable) -> tf.Tensor:
        """Something that is a view of a variable and has its shape."""
        kind = self.random.randint(7)
        if kind == 0:
            return v.read_value()
        if kind == 1:
            return raw.ReverseV2(v, [int(self.random.randint(2))])
        if kind == 2:
            return raw.Reshape(raw.Transpose(v, [1, 0]), SHAPE)
        if kind == 3:
            return raw.BroadcastTo(v[1:2], SHAPE)
        if kind == 4:
            return raw.BroadcastTo(v[:, 1:2], SHAPE)
        if kind == 5:
            return raw.Reshape(raw.Reshape(v, [12]), SHAPE)
        return v.value() * 1.0

    def compute(self) -> None:
        """A new tensor of the common shape."""
        x, y = self.pick(), self.pick()
        kind = self.random.randint(7)
        made = {
            0: lambda: raw.Tanh(x + y), 1: lambda: raw.Mul(x, y), 2: lambda: x - raw.Mean(y, [0], keep_dims=True),
            3: lambda: raw.Maximum(x, raw.Sum(y, [1], keep_dims=True)), 4: lambda: raw.Tanh(raw.MatMul(
                x, raw.MatMul(y, x, transpose_a=True))),
            5: lambda: raw.GatherV2(x, [0, 0, 3, 1], 0), 6: lambda: raw.Identity(x),
        }[kind]()
        self.tensors.append(made)

    def update(self) -> None:
        """An update of a variable, or of what an earlier update gave."""
        refs = self.variables + self.updates
        ref = refs[self.random.randint(len(refs))]
        value = self.pick()
        kind = self.random.randint(6)
        self.updates.append({
            0: lambda: tf.assign(ref, value), 1: lambda: tf.assign_add(ref, value * 0.1),
            2: lambda: tf.assign_sub(ref, value * 0.1), 3: lambda: tf.assign(ref, value, validate_shape=False),
            4: lambda: tf.scatter_add(ref, [0, 2], (value * 0.1)[:2]),
            5: lambda: raw.ApplyMomentum(ref, self.variables[self.random.randint(3)], 0.1, value, 0.9)
            if self.random.rand() < 0.5 else raw.ApplyGradientDescent(ref, value[0, 0], value),
        }[kind]())


def run(program: Program, runs: int = 3) -> list:
    """What a session gives for several runs, and the variables at the end."""
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        results = [sess.run(program.fetches, {program.x: program.feed}) for _ in range(runs)]
        return [*results, sess.run(program.variables)]
