"""Small programs for a GPU: what they build under tf.device("/gpu:0"), what they feed, and what is compared.

tests/runtime/test_simulated_gpu.py runs them on the simulator beside the CPU; tests/kernels/cuda/test_compile.py
compiles all that they launch for a real chip.
"""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import tfnb as tf
from tests.every_op import OPS
from tests.samples import of_module
from tfnb.opdef import kinds
from tfnb.opdef.index import MODULE_OF, PUBLIC
from tfnb.ops.declaration.raw import raw

PROGRAMS: dict[str, Callable[[], Program]] = {}


@dataclass
class Program:
    """fetches: compared after each of `steps` runs with `feeds`; targets run with them; variables: compared last."""

    fetches: list[Any]
    feeds: dict[Any, Any] = field(default_factory=dict)
    targets: list[Any] = field(default_factory=list)
    steps: int = 1


def program(build: Callable[[], Program]) -> Callable[[], Program]:
    """Enter a program under its name; it is built on the GPU, and what is made of gradients is left to the placer."""
    PROGRAMS[build.__name__] = build
    return build


def numbers(*shape: int, seed: int = 0, type: str = "float32") -> np.ndarray:
    """Normal numbers, or integers from -9 to 9."""
    random = np.random.RandomState(seed)
    return np.asarray(random.randn(*shape) if type.startswith("f") else random.randint(-9, 10, shape), type)


def fed(*shape: int, seed: int = 0, type: str = "float32") -> tuple[Any, np.ndarray]:
    """A placeholder of unknown sizes, and its value."""
    return tf.placeholder(type, [None] * len(shape)), numbers(*shape, seed=seed, type=type)


def variable(*shape: int, seed: int = 1, name: str | None = None) -> Any:
    """A variable that begins with normal numbers."""
    return tf.Variable(numbers(*shape, seed=seed), name=name)


def trained(optimizer: Any) -> Program:
    """A network of two layers, a few steps."""
    with tf.device("/gpu:0"):
        (x, a), y = fed(5, 4), tf.placeholder(tf.int64, [None])
        h = tf.nn.relu(tf.matmul(x, variable(4, 6)) + variable(6, seed=2))
        logits = tf.matmul(h, variable(6, 3, seed=3)) + variable(3, seed=4)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))
        right = tf.reduce_mean(tf.cast(tf.equal(tf.argmax(logits, 1), y), tf.float32))
    train = optimizer.minimize(loss)                        # outside of the device: placed with the variables
    return Program([loss, right], {x: a, y: np.array([0, 2, 1, 1, 0])}, [train], 4)


for maker in (lambda: tf.train.GradientDescentOptimizer(0.1), lambda: tf.train.AdamOptimizer(0.05),
              lambda: tf.train.MomentumOptimizer(0.05, 0.9), lambda: tf.train.RMSPropOptimizer(0.01),
              lambda: tf.train.AdagradOptimizer(0.1), lambda: tf.train.FtrlOptimizer(0.1)):
    def _train(maker: Callable[[], Any] = maker) -> Program:
        return trained(maker())
    _train.__name__ = "train_" + type(maker()).__name__.removesuffix("Optimizer")
    program(_train)


def embedded(optimizer: Any) -> Program:
    """Rows of a table, some of them twice, trained by sparse updates."""
    with tf.device("/gpu:0"):
        table, ids = variable(6, 3), tf.placeholder(tf.int32, [None])
        loss = tf.reduce_sum(tf.square(tf.nn.embedding_lookup(table, ids)))
    train = optimizer.minimize(loss)
    return Program([loss], {ids: np.array([1, 4, 1, 0])}, [train], 3)


for maker in (lambda: tf.train.GradientDescentOptimizer(0.1), lambda: tf.train.AdagradOptimizer(0.1),
              lambda: tf.train.MomentumOptimizer(0.05, 0.9), lambda: tf.train.AdamOptimizer(0.05)):
    def _embed(maker: Callable[[], Any] = maker) -> Program:
        return embedded(maker())
    _embed.__name__ = "embed_" + type(maker()).__name__.removesuffix("Optimizer")
    program(_embed)


@program
def cross_entropy() -> Program:
    with tf.device("/gpu:0"):
        (x, a), (labels, b) = fed(4, 7), fed(4, 7, seed=2)
        loss = tf.nn.softmax_cross_entropy_with_logits(labels=labels, logits=x)
        sigmoid = tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=x)
        outs = [loss, sigmoid, tf.nn.softmax(x), tf.nn.log_softmax(x), *tf.gradients(loss, [x])]
    return Program(outs, {x: a, labels: np.abs(b)})


@program
def reductions() -> Program:
    with tf.device("/gpu:0"):
        x, a = fed(3, 4, 5)
        outs = [f(x, axis=axes) for f in (tf.reduce_sum, tf.reduce_mean, tf.reduce_max, tf.reduce_prod)
                for axes in (None, [0], [1], [2], [0, 2], [0, 1])]
        outs += [tf.reduce_any(x > 0, 1), tf.reduce_all(x > -1, [0, 1]), tf.nn.l2_loss(x), tf.reduce_min(x, 2, True)]
        outs += [tf.reduce_logsumexp(x, 1), *tf.nn.moments(x, [0, 1])]
    return Program(outs, {x: a})


@program
def a_large_sum() -> Program:
    with tf.device("/gpu:0"):
        x, a = fed(9001)
        outs = [tf.reduce_mean(tf.square(x)), tf.reduce_max(x)]
    return Program(outs, {x: a})


@program
def a_wide_sum() -> Program:
    with tf.device("/gpu:0"):
        x, a = fed(2, 2100)
        outs = [tf.reduce_sum(x * 2.0, 0)]
    return Program(outs, {x: a})


@program
def broadcasting() -> Program:
    with tf.device("/gpu:0"):
        (x, a), (y, b), (z, c) = fed(3, 1, 4), fed(2, 1, seed=1), fed(seed=2)
        outs = [x + y, x * y - z, tf.maximum(x, y), tf.where(x + y > 0, x * y, x - y), tf.exp(x) / (1 + tf.square(y))]
        outs += tf.gradients(tf.tanh(x * y) + tf.sigmoid(y + z), [x, y, z])
    return Program(outs, {x: a, y: b, z: c})


@program
def movement() -> Program:
    with tf.device("/gpu:0"):
        (x, a), (y, b) = fed(3, 4), fed(2, 4, seed=1)
        outs = [tf.transpose(x), tf.reverse(x, [0]), tf.reverse(x, [0, 1]) * 2.0, x[::-2, 1:3], x[::-1][:, ::-1] + x]
        outs += [tf.concat([x, y], 0), tf.stack([x, x * 2.0], 1), tf.pad(x, [[1, 0], [2, 1]]), tf.tile(x, [2, 3])]
        outs += [tf.reshape(tf.transpose(x), [2, 6]), *tf.split(x, 2, 1), tf.expand_dims(x, 1) + y[0]]
        outs += tf.unstack(y, 2)
        parts = [x[1:, ::2], tf.concat([x[:2], y], 0), tf.tile(x, [1, 2])]
        outs += tf.gradients([part ** 2.0 for part in parts], [x, y])
        outs += [tf.reduce_sum(tf.reverse(x, [1]) * x, 0), tf.matmul(x, x, transpose_a=True)]
        outs += [tf.fill([2, 2], x[0, 0])]
    return Program(outs, {x: a, y: b})


@program
def picking() -> Program:
    with tf.device("/gpu:0"):
        (x, a), ids = fed(4, 3), tf.placeholder(tf.int32, [None])
        outs = [tf.gather(x, ids), tf.gather(x, ids[:1], axis=1), tf.gather_nd(x, tf.stack([ids, ids - ids], 1))]
        outs += [tf.one_hot(ids, 4), tf.one_hot(ids, 4, axis=0), tf.argmax(x, 1), tf.argmin(x, 0), tf.cumsum(x, 1)]
        outs += [tf.cumsum(x, 0, exclusive=True, reverse=True), tf.cumprod(x)]
        outs += [tf.unsorted_segment_sum(x, [2, 0, 2, -1], 3), tf.cumprod(x, 1, exclusive=True), tf.argmax(ids, 0)]
        outs += [tf.roll(x, ids[:1], [1]), tf.roll(x, ids - 2, [0, 1, -2])]
        outs += map(tf.convert_to_tensor, tf.gradients(tf.square(tf.gather(x, ids)), [x]))
    return Program(outs, {x: a, ids: np.array([1, 3, 1])})


@program
def products() -> Program:
    with tf.device("/gpu:0"):
        (x, a), (y, b) = fed(2, 3, 4), fed(2, 4, 5, seed=1)
        (u, c), (v, d) = fed(5, 3, 4, seed=2), fed(7, 4, seed=3)
        outs = [tf.matmul(x, y), tf.matmul(x, x, transpose_b=True), tf.matmul(y, x, transpose_a=True, transpose_b=True)]
        outs += [tf.matmul(u[:, :1], v[:4, :4]), tf.matmul(v, v, transpose_b=True), tf.tensordot(x, v, [[2], [1]])]
        outs += tf.gradients(tf.square(tf.matmul(x, y)), [x, y])
    return Program(outs, {x: a, y: b, u: c, v: d})


@program
def scatters() -> Program:
    with tf.device("/gpu:0"):
        ids, rows = tf.constant([3, 0, 3]), tf.constant(numbers(3, 2, seed=5))
        made = [variable(4, 2, seed=i) for i in range(6)]
        pairs = tf.constant([[1, 1], [0, 0], [1, 1]])
        outs = [tf.scatter_add(made[0], ids, rows), tf.scatter_sub(made[1], ids, rows),
                tf.scatter_update(made[2], ids[:2], rows[:2]), tf.scatter_mul(made[3], ids, rows),
                tf.scatter_nd_add(made[4], pairs, rows[:, 0]), tf.scatter_max(made[5], ids, rows)]
    return Program(outs, steps=2)


@program
def scatters_into_tensors() -> Program:
    with tf.device("/gpu:0"):
        (x, a), (rows, b) = fed(4, 2), fed(3, 2, seed=1)
        ids = tf.constant([[3], [0], [3]])
        pairs = tf.constant([[1, 1], [0, 0], [1, 1]])
        made = [tf.scatter_nd(ids, rows, [5, 2]), tf.scatter_nd(pairs, rows[:, 0], [2, 2])]
        made += [scatter(x, ids, rows) for scatter in (tf.tensor_scatter_nd_add, tf.tensor_scatter_nd_sub,
                                                       tf.tensor_scatter_nd_update, tf.tensor_scatter_nd_max)]
        outs = [*made, *tf.gradients([tf.square(t) for t in made[:4]], [x, rows])]
    return Program(outs, {x: a, rows: b})


@program
def updates() -> Program:
    with tf.device("/gpu:0"):
        v, w, step = variable(3), variable(2, 2), tf.Variable(0, trainable=False)
        with tf.control_dependencies([tf.assign_add(v, [1.0, 2.0, 3.0]), tf.assign(w, tf.transpose(w) * 2.0)]):
            outs = [v.read_value(), w.read_value(), tf.assign_add(step, 1)]
    return Program(outs, steps=3)


@program
def integers() -> Program:
    with tf.device("/gpu:0"):
        (x, a), (y, b) = fed(3, 4, type="int32"), fed(4, seed=1, type="int32")
        outs = [x + y, x // y, x % y, x * 3 - 2, tf.cast(x, tf.float32) / 2.0, tf.abs(x), tf.cast(x, tf.int64) * 2]
        outs += [tf.reduce_sum(x, 0), tf.reduce_max(x), tf.cast(x > y, tf.uint8), tf.logical_and(x > 0, y > 0)]
        outs += [tf.matmul(x, x, transpose_b=True)]
    return Program(outs, {x: a, y: np.where(b, b, 2)})


@program
def doubles() -> Program:
    with tf.device("/gpu:0"):
        x, a = fed(3, 4, type="float64")
        outs = [tf.nn.softmax(x), tf.reduce_sum(tf.exp(x), 1), tf.matmul(x, x, transpose_b=True), tf.sin(x) ** 2.0]
    return Program(outs, {x: a})


@program
def random() -> Program:
    with tf.device("/gpu:0"):
        outs = [tf.random_uniform([7], seed=1), tf.random_uniform([5], seed=1, dtype=tf.float64),
                tf.random_uniform([9], -5, 60, tf.int32, seed=2), tf.random_uniform([3], 0, 1 << 40, tf.int64, seed=2),
                tf.random_normal([2, 5], seed=3), tf.random_normal([5], seed=3, dtype=tf.float64),
                tf.truncated_normal([11], seed=4), tf.nn.dropout(tf.ones([3, 4]), 0.5, seed=5),
                tf.multinomial(tf.constant([[0.0, 1.0, -1.0], [2.0, 0.0, 1.0]]), 5, seed=6)]
    return Program(outs, steps=2)


@program
def normalised() -> Program:
    with tf.device("/gpu:0"):
        x, a = fed(4, 3)
        mean, spread = tf.nn.moments(x, [0])
        y = tf.nn.batch_normalization(x, mean, spread, variable(3), variable(3, seed=2), 1e-3)
        clipped, norm = tf.clip_by_global_norm(tf.gradients(tf.square(y), [x]), 0.5)
    return Program([y, norm, *clipped], {x: a})


@program
def a_branch() -> Program:
    with tf.device("/gpu:0"):
        (x, a), flag = fed(3), tf.placeholder(tf.bool, [])
        y = tf.cond(flag, lambda: tf.exp(x) * 2.0, lambda: x - 1.0)
    return Program([y + 1.0], {x: a, flag: True})


@program
def a_loop() -> Program:
    with tf.device("/gpu:0"):
        x, a = fed(3)
        _, y = tf.while_loop(lambda i, v: i < 4, lambda i, v: (i + 1, v * 1.5), [tf.constant(0), x])
    return Program([y * 2.0], {x: a})


@program
def a_loop_that_draws_and_writes() -> Program:
    with tf.device("/gpu:0"):
        (x, a), w, n = fed(2, 3), variable(3, 3), tf.placeholder(tf.int32, [])

        def body(i: Any, v: Any, total: Any) -> Any:
            v = tf.tanh(tf.matmul(v, w)) + tf.random_uniform([3], seed=4)
            with tf.control_dependencies([tf.assign_add(w, tf.gather(v, [0, 1, 0]) * 0.125)]):
                return i + 1, tf.identity(v), total + tf.reduce_sum(v)
        outs = tf.while_loop(lambda i, v, total: i < n, body, [tf.constant(0), x, tf.constant(0.0)])
    return Program(list(outs), {x: a, n: 6}, steps=3)


@program
def half_on_the_cpu() -> Program:
    with tf.device("/gpu:0"):
        (x, a), w = fed(3, 2), variable(2, 2)
        y = tf.matmul(x, w)
    with tf.device("/cpu:0"):
        z = tf.exp(y)
        count = tf.Variable(0.0)
        counted = tf.assign_add(count, tf.reduce_sum(z))
    with tf.device("/gpu:0"):
        out = z * 2.0 + tf.reduce_sum(w) + counted
        moved = tf.assign_sub(w, tf.matmul(x, z, transpose_a=True) * 0.01)
    return Program([out, tf.size(tf.as_string(z)), z], {x: a}, [moved], 3)


@program
def convolutions() -> Program:
    with tf.device("/gpu:0"):
        (x, a), (f, b), (g, c) = fed(2, 5, 6, 4), fed(3, 2, 4, 6, seed=1), fed(3, 3, 4, 2, seed=2)
        h, d = fed(2, 2, 2, 4, seed=3)
        y = [tf.nn.conv2d(x, f, [1, 2, 1, 1], "SAME"), tf.nn.conv2d(x, f, [1, 1, 2, 1], "VALID"),
             tf.nn.conv2d(x, h, [1, 1, 1, 1], "SAME"), tf.nn.depthwise_conv2d(x, g, [1, 2, 2, 1], "SAME"),
             tf.nn.conv2d(x, f, [1, 1, 1, 1], "SAME", dilations=[1, 2, 1, 1])]
        outs = [*y, *tf.gradients([tf.square(t) for t in y], [x, f, g, h])]
    return Program(outs, {x: a, f: b, g: c, h: d})


@program
def convolutions_by_tiles() -> Program:
    with tf.device("/gpu:0"):
        (x, a), (t, c), (f, b) = fed(1, 4, 3, 8), fed(1, 8, 3, 3, seed=2), fed(2, 2, 8, 9, seed=1)
        y = [tf.nn.conv2d(x, f, [1, 2, 1, 1], "SAME"), tf.nn.conv2d(t, f, [1, 1, 1, 1], "VALID", data_format="NCHW")]
        outs = [*y, *tf.gradients([tf.square(v) for v in y], [x, f, t])]
        bias = tf.constant(numbers(9, seed=4))
        outs += [tf.nn.relu(tf.nn.conv2d(x, f, [1, 1, 1, 1], "SAME") + bias),
                 tf.nn.relu(tf.nn.conv2d(t, f, [1, 1, 1, 1], "SAME", data_format="NCHW"))]
    return Program(outs, {x: np.round(a), t: np.round(c), f: np.round(b)})          # exact in any order


@program
def convolutions_of_volumes() -> Program:
    with tf.device("/gpu:0"):
        (x, a), (t, c), (f, b) = fed(2, 3, 4, 3, 2), fed(1, 2, 3, 2, 4, seed=2), fed(2, 3, 2, 2, 3, seed=1)
        y = [tf.nn.conv3d(x, f, [1, 2, 1, 1, 1], "SAME"),
             tf.nn.conv3d(x, f, [1, 1, 1, 2, 1], "VALID", dilations=[1, 2, 1, 1, 1])]
        y += [tf.nn.conv3d(t, f, [1] * 5, "SAME", "NCDHW")]
        outs = [*y, *tf.gradients([tf.square(v) for v in y], [x, f, t])]
    return Program(outs, {x: np.round(a), t: np.round(c), f: np.round(b)})          # exact in any order


@program
def pools() -> Program:
    with tf.device("/gpu:0"):
        x, a = fed(2, 5, 6, 3)
        y = [pool(x, [1, k, 2, 1], [1, s, 2, 1], padding) for pool in (tf.nn.max_pool, tf.nn.avg_pool)
             for k, s, padding in ((2, 2, "SAME"), (3, 1, "VALID"), (2, 3, "SAME"))]
        outs = [*y, *(grad for t in y for grad in tf.gradients(tf.square(t), [x]))]
    return Program(outs, {x: np.round(a)})


@program
def pools_of_channels_first_and_volumes() -> Program:
    with tf.device("/gpu:0"):
        (x, a), (v, b) = fed(1, 2, 5, 4), fed(1, 3, 4, 3, 2)
        y = [pool(t, k, s, "VALID", layout) for t, k, s, layout in
             ((x, [1, 1, 2, 2], [1, 1, 2, 2], "NCHW"), (x, [1, 1, 5, 2], [1, 1, 1, 1], "NCHW"),
              (v, [1, 2, 2, 2, 1], [1, 1, 2, 2, 1], "NDHWC"))
             for pool in ((tf.nn.max_pool, tf.nn.avg_pool) if t is x else (tf.nn.max_pool3d, tf.nn.avg_pool3d))]
        outs = [*y, *(grad for t in y for grad in tf.gradients(tf.square(t), [x if len(t.shape) == 4 else v]))]
    return Program(outs, {x: np.round(a), v: np.round(b)})


@program
def images() -> Program:
    with tf.device("/gpu:0"):
        (x, a), boxes = fed(2, 4, 3, 3), tf.constant([[0., .1, .8, 1.], [.3, 0., 1.2, .9]])
        crops = [tf.image.crop_and_resize(x, boxes, [1, 0], [2, 3], method, .5) for method in ("bilinear", "nearest")]
        hsv = tf.image.rgb_to_hsv(x)
        outs = [*crops, *(grad for y in crops for grad in tf.gradients(y, [x])), *tf.gradients(crops[:1], [boxes])]
        outs += [hsv, tf.image.hsv_to_rgb(hsv), tf.image.adjust_hue(x, .3), tf.image.adjust_saturation(x, .4),
                 tf.image.adjust_contrast(x, 1.5)]
        sized = [tf.image.resize_images(x, [3, 5], method, align) for method in range(4) for align in (False, True)]
        outs += [*sized, *(grad for y in sized[:6] for grad in tf.gradients(y * y, [x]))]
    return Program(outs, {x: np.abs(a) / 4})


@program
def transformed_images() -> Program:
    with tf.device("/gpu:0"):
        (x, a), (k, b) = fed(2, 4, 5, 3), fed(2, 2, 3, seed=1)
        turned = [tf.contrib.image.rotate(x, [.5, -1.2], how) for how in ("NEAREST", "BILINEAR")]
        dilated = [tf.nn.dilation2d(x, k, [1, step, 1, 1], [1, 1, 2, 1], "SAME") for step in (1, 2)]
        rounded = [tf.fake_quant_with_min_max_vars(x, -1., 2.), tf.fake_quant_with_min_max_args(x, -1., 2.)]
        outs = [*turned, *dilated, *rounded, *tf.gradients(rounded[0] * x, [x])]
        outs += [grad for y in dilated for grad in tf.gradients(y * y, [x, k])]
    return Program(outs, {x: a, k: b})


@program
def local_response_normalization() -> Program:
    with tf.device("/gpu:0"):
        x, a = fed(2, 1, 2, 5)
        y = tf.nn.local_response_normalization(x, depth_radius=2, bias=1.5, alpha=0.3, beta=0.7)
        outs = [y, *tf.gradients(y * y, [x])]
    return Program(outs, {x: a})


for dtype in (tf.float16, tf.bfloat16):
    def _halves(dtype: Any = dtype) -> Program:
        """Definitions, row-wise ops, reductions, movement, products, a convolution, a pool, updates, sparse ones."""
        with tf.device("/gpu:0"):
            (a, value), ids = fed(3, 4), tf.placeholder(tf.int32, [None])
            x, w = tf.cast(a, dtype), tf.Variable(tf.cast(numbers(4, 4, seed=2), dtype))
            table, image = tf.Variable(tf.cast(numbers(4, 3), dtype)), tf.reshape(x, [1, 3, 4, 1])
            y = tf.nn.relu(tf.matmul(x, w) + tf.constant(.5, dtype))
            flat = tf.nn.conv2d(image, tf.reshape(x[:2, :2], [2, 2, 1, 1]), [1, 1, 1, 1], "SAME")
            outs = [y, tf.nn.softmax(x), tf.reduce_sum(x, 0), tf.reduce_max(x), tf.transpose(x),
                    tf.concat([x, x[:1]], 0), tf.where(x > 0, x, tf.exp(x)),
                    tf.cast(x, tf.float32) * 2., tf.cast(x, tf.int32), flat,
                    tf.nn.max_pool(image, [1, 2, 2, 1], [1, 2, 2, 1], "SAME"), tf.gather(x, ids),
                    tf.matmul(tf.stack([x, x]), tf.stack([x, x]), transpose_b=True)]
            moved = [tf.assign_sub(w, tf.gradients(y, [w])[0] * tf.constant(.125, dtype)),
                     tf.scatter_add(table, ids, tf.ones([3, 3], dtype))]
        return Program(outs, {a: value, ids: np.array([2, 0, 2])}, moved, 2)
    _halves.__name__ = f"all_in_{dtype.name}"
    program(_halves)


def of_examples(module: str) -> Callable[[], Program]:
    """The ops with kernels that a family declares, called as the examples in their docstrings call them."""
    def build() -> Program:
        fetches, feeds = [], {}
        calls = [call for op, calls in of_module(module).items() if isinstance(OPS[op], kinds.Kernel) and OPS[op].cuda
                 for call in calls]
        for call in calls:
            known = OPS[call.op].value_inputs
            names = [arg.name for arg in OPS[call.op].inputs]
            with tf.device("/gpu:0"):
                inputs = [tf.constant(a) if name in known else tf.placeholder(a.dtype, [None] * a.ndim)
                          for name, a in zip(names, call.arrays, strict=True)]
                fetches.append(getattr(raw, call.op)(*inputs, **call.attrs))
            feeds.update({x: a for x, a in zip(inputs, call.arrays, strict=True) if x.op.type == "Placeholder"})
        return Program(fetches, feeds)
    build.__name__ = "examples_" + module.removeprefix("tfnb.").replace(".", "_")
    return build


# Families that export their names: each op with a kernel has an example in its docstring.
for _module in sorted({module for names in PUBLIC.values() for module in names.values()}):
    if any(isinstance(OPS[op], kinds.Kernel) and OPS[op].cuda for op, home in MODULE_OF.items() if home == _module):
        program(of_examples(_module))
