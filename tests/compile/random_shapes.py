"""Random graphs of many kinds of op over odd shapes (empty, size 1, scalars), built without knowing any of them."""
from __future__ import annotations

import numpy as np

import tfnb as tf
from tfnb.ops.declaration.raw import raw

SIZES = (0, 1, 1, 2, 3, 4, 7)


class Graph:
    """`fetches` follow from `feeds`, placeholders of unknown shape. Values are tracked to choose ops that fit."""

    def __init__(self, seed: int, count: int = 16) -> None:
        self.random = np.random.RandomState(seed)
        self.known: list[tuple[tf.Tensor, tuple[int, ...]]] = []
        self.feeds: dict[tf.Tensor, np.ndarray] = {}
        for _ in range(3):
            shape = tuple(int(self.random.choice(SIZES)) for _ in range(self.random.randint(4)))
            x = tf.placeholder(tf.float32, [None] * len(shape) if self.random.rand() < 0.7 else None)
            self.feeds[x] = self.random.uniform(-1, 1, shape).astype("f")
            self.known.append((x, shape))
        for _ in range(count):
            self.grow()
        chosen = {int(i) for i in self.random.randint(0, len(self.known), 6)}
        self.fetches = [self.known[i][0] for i in sorted(chosen)]

    def pick(self, fits=lambda shape: True):
        """A tensor whose shape fits, with it, or None."""
        found = [pair for pair in self.known if fits(pair[1])]
        return found[self.random.randint(len(found))] if found else None

    def add(self, tensor: tf.Tensor, shape) -> None:
        shape = tuple(int(n) for n in shape)
        if np.prod(shape, dtype=np.int64) < 4_000 and len(shape) < 6:
            self.known.append((tensor, shape))

    def grow(self) -> None:
        """One more op, or none if nothing fits."""
        name = KINDS[self.random.randint(len(KINDS))]
        found = self.pick(lambda s: len(s) > 0) if name not in ("unary", "binary", "reshape") else self.pick()
        if found is not None:
            getattr(self, name)(*found)

    def unary(self, x, shape):
        ops = [raw.Tanh, raw.Neg, raw.Square, raw.Sigmoid, raw.Relu, raw.Abs, raw.Identity, raw.ZerosLike,
               lambda t: raw.Cast(raw.Greater(t, 0.0), DstT="float32"), lambda t: raw.SelectV2(raw.Less(t, 0.1), t, -t)]
        self.add(ops[self.random.randint(len(ops))](x), shape)

    def binary(self, x, shape):
        other = self.pick(lambda s: broadcasts(s, shape))
        ops = [raw.AddV2, raw.Sub, raw.Mul, raw.Maximum, raw.SquaredDifference, lambda a, b: raw.Tanh(a + 2.0 * b)]
        self.add(ops[self.random.randint(len(ops))](x, other[0]), np.broadcast_shapes(shape, other[1]))

    def reduce(self, x, shape):
        axes = sorted(self.random.choice(len(shape), self.random.randint(len(shape) + 1), replace=False).tolist())
        keep = bool(self.random.randint(2))
        ops = [raw.Sum, raw.Max, raw.Min, raw.Prod]
        made = ops[self.random.randint(len(ops))](x, np.array(axes, np.int32), keep_dims=keep)
        if 0 in [shape[a] for a in axes]:
            made = raw.Sum(x, np.array(axes, np.int32), keep_dims=keep)
        self.add(made, [1 if i in axes else n for i, n in enumerate(shape) if keep or i not in axes])

    def transpose(self, x, shape):
        perm = self.random.permutation(len(shape))
        self.add(raw.Transpose(x, perm), [shape[i] for i in perm])

    def reshape(self, x, shape):
        kind = self.random.randint(4)
        if kind == 0 or not shape:
            self.add(tf.reshape(x, [-1]), [np.prod(shape, dtype=int)])
        elif kind == 1:
            self.add(tf.reshape(x, tf.concat([[tf.size(x)], [1]], 0)), [np.prod(shape, dtype=int), 1])
        elif kind == 2:
            self.add(tf.reshape(x, tf.shape(x)[::-1]), shape[::-1])
        else:
            axis = int(self.random.randint(len(shape) + 1))
            self.add(tf.expand_dims(x, axis), [*shape[:axis], 1, *shape[axis:]])

    def slice(self, x, shape):
        step = int(self.random.choice([1, 2, -1]))
        kind = self.random.randint(3)
        if kind == 0:
            self.add(x[::step], [len(range(shape[0])[::step]), *shape[1:]])
        elif kind == 1 and shape[-1] > 0:
            self.add(x[..., shape[-1] - 1], shape[:-1])
        else:
            self.add(x[..., 1:], [*shape[:-1], max(0, shape[-1] - 1)])

    def concat(self, x, shape):
        axis = int(self.random.randint(len(shape)))
        other = self.pick(lambda s: len(s) == len(shape) and all(
            a == b for i, (a, b) in enumerate(zip(s, shape, strict=True)) if i != axis))
        self.add(tf.concat([x, other[0], x], axis),
                 [2 * n + other[1][i] if i == axis else n for i, n in enumerate(shape)])

    def stack(self, x, shape):
        axis = int(self.random.randint(len(shape) + 1))
        self.add(tf.stack([x, x * 2.0], axis), [*shape[:axis], 2, *shape[axis:]])

    def tile(self, x, shape):
        times = self.random.randint(0, 3, len(shape))
        self.add(tf.tile(x, times), np.array(shape) * times)

    def pad(self, x, shape):
        pads = self.random.randint(0, 3, (len(shape), 2))
        self.add(tf.pad(x, pads), np.array(shape) + pads.sum(1))

    def gather(self, x, shape):
        axis = int(self.random.randint(len(shape)))
        if shape[axis]:
            index = self.random.randint(0, shape[axis], self.random.randint(1, 4))
            self.add(tf.gather(x, index, axis=axis), [*shape[:axis], len(index), *shape[axis + 1:]])

    def scan(self, x, shape):
        self.add(tf.cumsum(x, int(self.random.randint(len(shape))), exclusive=bool(self.random.randint(2))), shape)

    def matmul(self, x, shape):
        other = self.pick(lambda s: len(s) == 2 and len(shape) == 2 and s[0] == shape[1])
        if other is not None:
            self.add(raw.MatMul(x, other[0]), [shape[0], other[1][1]])

    def rows(self, x, shape):
        if shape[-1]:
            self.add([tf.nn.softmax, tf.nn.log_softmax][self.random.randint(2)](x), shape)

    def where(self, x, shape):
        mask = raw.Greater(x, 0.0)
        self.add(tf.where(mask, x, x - 1.0), shape)


KINDS = ("unary", "unary", "binary", "binary", "binary", "reduce", "reduce", "transpose", "reshape", "slice", "concat",
         "stack", "tile", "pad", "gather", "scan", "matmul", "rows", "where")


def broadcasts(a, b) -> bool:
    """Do two shapes broadcast?"""
    return all(n == m or 1 in (n, m) for n, m in zip(a[::-1], b[::-1], strict=False))
