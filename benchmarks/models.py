"""Whole models as TensorFlow 1 programs have them, run by tfnb and by TensorFlow; the table MODELS names them.

Layers are written out, since TensorFlow 2.21 has neither tf.layers nor tf.nn.rnn_cell beside Keras 3. Both systems
begin with the same values: `_started` draws the weights.
"""
from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from benchmarks.data import Array, Program, generator, weight

Tf = Any


def _started(tf: Tf) -> Any:
    """A session; weights (variables of two axes and more) are drawn anew, so that both systems have the same."""
    session, rng = tf.Session(), generator()
    session.run(tf.global_variables_initializer())
    for variable in tf.trainable_variables():
        shape = variable.shape.as_list()
        if len(shape) > 1:
            variable.load(weight(rng, *shape), session)
    return session


def _program(tf: Tf, train: Any, loss: Any, feed: dict[Any, Any]) -> Program:
    session = _started(tf)
    return Program(lambda: session.run([train, loss], feed), lambda: session.run(loss, feed))


def _weight(tf: Tf, name: str, shape: Sequence[int]) -> Any:
    return tf.get_variable(name, list(shape), initializer=tf.zeros_initializer())


def _dense(tf: Tf, x: Any, units: int, name: str, activation: Callable[[Any], Any] | None = None) -> Any:
    with tf.variable_scope(name, reuse=tf.AUTO_REUSE):
        y = tf.matmul(x, _weight(tf, "w", [int(x.shape[-1]), units])) + _weight(tf, "b", [units])
    return y if activation is None else activation(y)


def _conv(tf: Tf, x: Any, filters: int, size: int, name: str, stride: int = 1,
          activation: Callable[[Any], Any] | None = None, bias: bool = True) -> Any:
    with tf.variable_scope(name, reuse=tf.AUTO_REUSE):
        w = _weight(tf, "w", [size, size, int(x.shape[-1]), filters])
        y = tf.nn.conv2d(x, w, [1, stride, stride, 1], "SAME")
        if bias:
            y = tf.nn.bias_add(y, _weight(tf, "b", [filters]))
    return y if activation is None else activation(y)


def _deconv(tf: Tf, x: Any, filters: int, size: int, name: str, stride: int = 2) -> Any:
    with tf.variable_scope(name, reuse=tf.AUTO_REUSE):
        w = _weight(tf, "w", [size, size, filters, int(x.shape[-1])])
        batch, height, width = tf.shape(x)[0], int(x.shape[1]) * stride, int(x.shape[2]) * stride
        y = tf.nn.conv2d_transpose(x, w, tf.stack([batch, height, width, filters]), [1, stride, stride, 1], "SAME")
    return tf.reshape(y, [-1, height, width, filters])


def _norm(tf: Tf, x: Any, name: str) -> Any:
    """Batch normalization in training."""
    depth = int(x.shape[-1])
    with tf.variable_scope(name, reuse=tf.AUTO_REUSE):
        scale = tf.get_variable("scale", [depth], initializer=tf.ones_initializer())
        offset = _weight(tf, "offset", [depth])
    return tf.nn.fused_batch_norm(x, scale, offset, is_training=True)[0]


def _pool(tf: Tf, x: Any, size: int = 2, stride: int = 2) -> Any:
    return tf.nn.max_pool(x, [1, size, size, 1], [1, stride, stride, 1], "SAME")


def _images(batch: int, size: int, channels: int, classes: int) -> tuple[Array, Array]:
    rng = generator()
    return rng.rand(batch, size, size, channels).astype("f"), rng.randint(0, classes, batch).astype("int32")


def _classifier(tf: Tf, images: Array, labels: Array, network: Callable[[Any], Any], optimizer: Any) -> Program:
    x = tf.placeholder(tf.float32, [None, *images.shape[1:]])
    y = tf.placeholder(tf.int32, [None])
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=network(x)))
    return _program(tf, optimizer.minimize(loss), loss, {x: images, y: labels})


def resnet(tf: Tf) -> Program:
    """ResNet of 8 layers with fused_batch_norm, 32 images of 32 x 32 x 3, momentum."""
    def block(x: Any, filters: int, stride: int, name: str) -> Any:
        h = tf.nn.relu(_norm(tf, _conv(tf, x, filters, 3, name + "a", stride, bias=False), name + "na"))
        h = _norm(tf, _conv(tf, h, filters, 3, name + "b", bias=False), name + "nb")
        return tf.nn.relu(h + (x if stride == 1 else _conv(tf, x, filters, 1, name + "c", stride, bias=False)))

    def network(x: Any) -> Any:
        h = tf.nn.relu(_norm(tf, _conv(tf, x, 16, 3, "first", bias=False), "n"))
        for i, (filters, stride) in enumerate([(16, 1), (32, 2), (64, 2)]):
            h = block(h, filters, stride, f"block{i}")
        return _dense(tf, tf.reduce_mean(h, [1, 2]), 10, "last")
    return _classifier(tf, *_images(32, 32, 3, 10), network, tf.train.MomentumOptimizer(0.1, 0.9))


def inception(tf: Tf) -> Program:
    """Two Inception blocks over 28 x 28 x 64, batch 8, Adam."""
    def block(x: Any, name: str) -> Any:
        relu = tf.nn.relu
        b1 = _conv(tf, x, 32, 1, name + "1", activation=relu)
        b2 = _conv(tf, _conv(tf, x, 48, 1, name + "2a", activation=relu), 64, 3, name + "2b", activation=relu)
        b3 = _conv(tf, _conv(tf, x, 8, 1, name + "3a", activation=relu), 16, 5, name + "3b", activation=relu)
        b4 = _conv(tf, _pool(tf, x, 3, 1), 16, 1, name + "4", activation=relu)
        return tf.concat([b1, b2, b3, b4], 3)

    def network(x: Any) -> Any:
        return _dense(tf, tf.reduce_mean(block(block(x, "a"), "b"), [1, 2]), 10, "last")
    return _classifier(tf, *_images(8, 28, 64, 10), network, tf.train.AdamOptimizer(1e-3))


def vgg(tf: Tf) -> Program:
    """VGG-like network (2 x 32, 2 x 64, 2 x 128 filters, 256 units), 16 images of 32 x 32 x 3, SGD."""
    def network(x: Any) -> Any:
        for i, filters in enumerate([32, 64, 128]):
            x = _conv(tf, x, filters, 3, f"a{i}", activation=tf.nn.relu)
            x = _pool(tf, _conv(tf, x, filters, 3, f"b{i}", activation=tf.nn.relu))
        return _dense(tf, _dense(tf, tf.reshape(x, [-1, 4 * 4 * 128]), 256, "d", tf.nn.relu), 10, "last")
    return _classifier(tf, *_images(16, 32, 3, 10), network, tf.train.GradientDescentOptimizer(0.01))


def unet(tf: Tf) -> Program:
    """U-Net of three levels (16, 32, 64 filters), 4 images of 64 x 64, Adam."""
    rng = generator()
    images, masks = rng.rand(4, 64, 64, 1).astype("f"), (rng.rand(4, 64, 64, 1) > 0.5).astype("f")
    x, y = tf.placeholder(tf.float32, [None, 64, 64, 1]), tf.placeholder(tf.float32, [None, 64, 64, 1])
    h, kept = x, []
    for i, filters in enumerate([16, 32]):
        h = _conv(tf, _conv(tf, h, filters, 3, f"d{i}a", activation=tf.nn.relu), filters, 3, f"d{i}b",
                  activation=tf.nn.relu)
        kept.append(h)
        h = _pool(tf, h)
    h = _conv(tf, h, 64, 3, "middle", activation=tf.nn.relu)
    for i, filters in ((1, 32), (0, 16)):
        h = tf.concat([_deconv(tf, h, filters, 2, f"up{i}"), kept[i]], 3)
        h = _conv(tf, h, filters, 3, f"u{i}", activation=tf.nn.relu)
    loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=_conv(tf, h, 1, 1, "last")))
    return _program(tf, tf.train.AdamOptimizer(1e-3).minimize(loss), loss, {x: images, y: masks})


def dcgan(tf: Tf) -> Program:
    """DCGAN of 28 x 28 with batch normalization, batch 32: a step of the discriminator, one of the generator."""
    rng = generator()
    images, noise = rng.rand(32, 28, 28, 1).astype("f"), rng.rand(32, 64).astype("f")
    x, z = tf.placeholder(tf.float32, [None, 28, 28, 1]), tf.placeholder(tf.float32, [None, 64])

    def leaky(h: Any) -> Any:
        return tf.maximum(0.2 * h, h)

    def judged(h: Any) -> Any:
        with tf.variable_scope("D", reuse=tf.AUTO_REUSE):
            h = leaky(_conv(tf, h, 32, 5, "1", 2))
            h = leaky(_norm(tf, _conv(tf, h, 64, 5, "2", 2), "n2"))
            return _dense(tf, tf.reshape(h, [-1, 7 * 7 * 64]), 1, "3")
    with tf.variable_scope("G"):
        h = tf.reshape(_dense(tf, z, 7 * 7 * 64, "1"), [-1, 7, 7, 64])
        h = tf.nn.relu(_norm(tf, _deconv(tf, tf.nn.relu(_norm(tf, h, "n1")), 32, 5, "2"), "n2"))
        made = tf.sigmoid(_deconv(tf, h, 1, 5, "3"))
    real, fake = judged(x), judged(made)

    def loss_of(logits: Any, ones: bool) -> Any:
        labels = tf.ones_like(logits) if ones else tf.zeros_like(logits)
        return tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits))
    d_loss, g_loss = loss_of(real, True) + loss_of(fake, False), loss_of(fake, True)
    d_train, g_train = (tf.train.AdamOptimizer(2e-4, 0.5).minimize(loss, var_list=tf.trainable_variables(scope))
                        for loss, scope in ((d_loss, "D"), (g_loss, "G")))
    session, feed = _started(tf), {x: images, z: noise}

    def step() -> None:
        session.run(d_train, feed)
        session.run(g_train, feed)
    return Program(step, lambda: session.run([d_loss, g_loss], feed))


def vae(tf: Tf) -> Program:
    """Variational autoencoder 784-400-20, batch 100, Adam."""
    images = generator().rand(100, 784).astype("f")
    x = tf.placeholder(tf.float32, [None, 784])
    h = _dense(tf, x, 400, "encoder", tf.nn.relu)
    mean, log_var = _dense(tf, h, 20, "mean"), _dense(tf, h, 20, "log_var")
    z = mean + tf.exp(log_var / 2) * tf.random_normal(tf.shape(mean), seed=3)
    logits = _dense(tf, _dense(tf, z, 400, "decoder", tf.nn.relu), 784, "last")
    likelihood = tf.reduce_sum(tf.nn.sigmoid_cross_entropy_with_logits(labels=x, logits=logits), 1)
    divergence = -0.5 * tf.reduce_sum(1 + log_var - tf.square(mean) - tf.exp(log_var), 1)
    loss = tf.reduce_mean(likelihood + divergence)
    return _program(tf, tf.train.AdamOptimizer(1e-3).minimize(loss), loss, {x: images})


def wgan_gp(tf: Tf) -> Program:
    """Wasserstein GAN with gradient penalty, dense layers 128-256-256, batch 64: a step of the critic, Adam."""
    rng = generator()
    rows, noise = rng.randn(64, 128).astype("f"), rng.randn(64, 32).astype("f")
    x, z = tf.placeholder(tf.float32, [None, 128]), tf.placeholder(tf.float32, [None, 32])

    def critic(h: Any) -> Any:
        for name in ("c1", "c2"):
            h = tf.nn.leaky_relu(_dense(tf, h, 256, name))
        return _dense(tf, h, 1, "c3")
    fake = _dense(tf, _dense(tf, z, 256, "g1", tf.nn.relu), 128, "g2")
    mixed = x + tf.random_uniform([64, 1], seed=5) * (fake - x)
    slopes = tf.sqrt(tf.reduce_sum(tf.square(tf.gradients(critic(mixed), [mixed])[0]), 1) + 1e-8)
    loss = tf.reduce_mean(critic(fake)) - tf.reduce_mean(critic(x)) + 10 * tf.reduce_mean(tf.square(slopes - 1))
    chosen = [variable for variable in tf.trainable_variables() if variable.name.startswith("c")]
    return _program(tf, tf.train.AdamOptimizer(1e-4, 0.5, 0.9).minimize(loss, var_list=chosen), loss,
                    {x: rows, z: noise})


def word2vec(tf: Tf) -> Program:
    """Skip-gram with NCE: 50,000 words, 128 numbers each, batch 128, 64 sampled, SGD."""
    rng = generator()
    x, y = tf.placeholder(tf.int32, [128]), tf.placeholder(tf.int32, [128, 1])
    table, weights = _weight(tf, "table", [50_000, 128]), _weight(tf, "weights", [50_000, 128])
    tf.set_random_seed(1)
    loss = tf.reduce_mean(tf.nn.nce_loss(weights, _weight(tf, "biases", [50_000]), y,
                                         tf.nn.embedding_lookup(table, x), 64, 50_000))
    feed = {x: rng.randint(0, 50_000, 128), y: rng.randint(0, 50_000, (128, 1))}
    session, train = _started(tf), tf.train.GradientDescentOptimizer(1.0).minimize(loss)
    return Program(lambda: session.run([train, loss], feed), lambda: np.sum(session.run(table[:100]), 1))


class _Lstm:
    """LSTM cell, as tf.nn.dynamic_rnn takes it."""

    def __init__(self, tf: Tf, depth: int, units: int, name: str) -> None:
        self.tf, self.units, self.output_size, self.state_size = tf, units, units, (units, units)
        with tf.variable_scope(name):
            self.w, self.b = _weight(tf, "w", [depth + units, 4 * units]), _weight(tf, "b", [4 * units])

    def zero_state(self, batch: Any, dtype: Any) -> Any:
        return tuple(self.tf.zeros(self.tf.stack([batch, size]), dtype) for size in self.state_size)

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:
        tf, (c, h) = self.tf, state
        i, j, f, o = tf.split(tf.matmul(tf.concat([inputs, h], 1), self.w) + self.b, 4, 1)
        c = tf.sigmoid(f + 1.0) * c + tf.sigmoid(i) * tf.tanh(j)
        h = tf.sigmoid(o) * tf.tanh(c)
        return h, (c, h)


class _Gru:
    """GRU cell, as tf.nn.dynamic_rnn takes it."""

    def __init__(self, tf: Tf, depth: int, units: int, name: str) -> None:
        self.tf, self.output_size, self.state_size = tf, units, units
        with tf.variable_scope(name):
            self.gates, self.b = _weight(tf, "gates", [depth + units, 2 * units]), _weight(tf, "b", [2 * units])
            self.w, self.c = _weight(tf, "w", [depth + units, units]), _weight(tf, "c", [units])

    def zero_state(self, batch: Any, dtype: Any) -> Any:
        return self.tf.zeros(self.tf.stack([batch, self.state_size]), dtype)

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:
        tf = self.tf
        r, u = tf.split(tf.sigmoid(tf.matmul(tf.concat([inputs, state], 1), self.gates) + self.b), 2, 1)
        made = tf.tanh(tf.matmul(tf.concat([inputs, r * state], 1), self.w) + self.c)
        h = u * state + (1 - u) * made
        return h, h


def _clipped(tf: Tf, loss: Any, rate: float) -> Any:
    """Adam on gradients whose global norm is clipped to 5."""
    variables = tf.trainable_variables()
    gradients = tf.clip_by_global_norm(tf.gradients(loss, variables), 5.0)[0]
    return tf.train.AdamOptimizer(rate).apply_gradients(zip(gradients, variables, strict=True))


def char_lstm(tf: Tf) -> Program:
    """Two LSTM layers of 128 by dynamic_rnn over 50 characters, batch 32, clipped Adam."""
    rng = generator()
    x, y = tf.placeholder(tf.int32, [None, None]), tf.placeholder(tf.int32, [None, None])
    h = tf.nn.embedding_lookup(_weight(tf, "table", [64, 64]), x)
    for i, depth in enumerate((64, 128)):
        h, _ = tf.nn.dynamic_rnn(_Lstm(tf, depth, 128, f"lstm{i}"), h, dtype=tf.float32, scope=f"rnn{i}")
    logits = _dense(tf, tf.reshape(h, [-1, 128]), 64, "last")
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=tf.reshape(y, [-1]), logits=logits))
    return _program(tf, _clipped(tf, loss, 1e-3), loss,
                    {x: rng.randint(0, 64, (32, 50)), y: rng.randint(0, 64, (32, 50))})


def bidirectional_gru(tf: Tf) -> Program:
    """Bidirectional GRU of 64 with lengths, 32 sequences of up to 40 words, Adam."""
    rng = generator()
    x, lengths, y = (tf.placeholder(tf.int32, shape) for shape in ([None, 40], [None], [None]))
    words = tf.nn.embedding_lookup(_weight(tf, "table", [1000, 64]), x)
    _, states = tf.nn.bidirectional_dynamic_rnn(_Gru(tf, 64, 64, "fw"), _Gru(tf, 64, 64, "bw"), words,
                                                sequence_length=lengths, dtype=tf.float32)
    logits = _dense(tf, tf.concat(states, 1), 2, "last")
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))
    return _program(tf, tf.train.AdamOptimizer(1e-3).minimize(loss), loss,
                    {x: rng.randint(0, 1000, (32, 40)), lengths: rng.randint(5, 41, 32), y: rng.randint(0, 2, 32)})


def seq2seq(tf: Tf) -> Program:
    """GRU encoder, GRU decoder with attention in a while loop, 64 units, 20 words each, batch 32, clipped Adam."""
    rng = generator()
    x, y = tf.placeholder(tf.int32, [None, 20]), tf.placeholder(tf.int32, [None, 20])
    table = _weight(tf, "table", [500, 64])
    memory, state = tf.nn.dynamic_rnn(_Gru(tf, 64, 64, "encoder"), tf.nn.embedding_lookup(table, x), dtype=tf.float32)
    cell = _Gru(tf, 128, 64, "decoder")
    words = tf.transpose(tf.nn.embedding_lookup(table, y), [1, 0, 2])
    inputs = tf.TensorArray(tf.float32, 20).unstack(words)
    outputs = tf.TensorArray(tf.float32, 20)

    def body(i: Any, state: Any, outputs: Any) -> Any:
        scores = tf.nn.softmax(tf.squeeze(tf.matmul(memory, tf.expand_dims(state, 2)), [2]))
        context = tf.reduce_sum(tf.expand_dims(scores, 2) * memory, 1)
        found, state = cell(tf.concat([inputs.read(i), context], 1), state)
        return i + 1, state, outputs.write(i, found)
    outputs = tf.while_loop(lambda i, *_: i < 20, body, [0, state, outputs])[2].stack()
    logits = _dense(tf, tf.reshape(outputs, [-1, 64]), 500, "last")
    labels = tf.reshape(tf.transpose(y), [-1])
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))
    return _program(tf, _clipped(tf, loss, 1e-3), loss,
                    {x: rng.randint(0, 500, (32, 20)), y: rng.randint(0, 500, (32, 20))})


def text_cnn(tf: Tf) -> Program:
    """Text CNN: 56 words of 128 numbers, 64 filters each of 3, 4 and 5 words, batch 64, Adam."""
    rng = generator()
    x, y = tf.placeholder(tf.int32, [None, 56]), tf.placeholder(tf.int32, [None])
    words = tf.expand_dims(tf.nn.embedding_lookup(_weight(tf, "table", [5000, 128]), x), -1)
    pooled = []
    for size in (3, 4, 5):
        h = tf.nn.conv2d(words, _weight(tf, f"filter{size}", [size, 128, 1, 64]), [1, 1, 1, 1], "VALID")
        h = tf.nn.relu(tf.nn.bias_add(h, _weight(tf, f"bias{size}", [64])))
        pooled.append(tf.nn.max_pool(h, [1, 56 - size + 1, 1, 1], [1, 1, 1, 1], "VALID"))
    logits = _dense(tf, tf.reshape(tf.concat(pooled, 3), [-1, 192]), 2, "last")
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))
    return _program(tf, tf.train.AdamOptimizer(1e-3).minimize(loss), loss,
                    {x: rng.randint(0, 5000, (64, 56)), y: rng.randint(0, 2, 64)})


def transformer(tf: Tf) -> Program:
    """Transformer of 2 layers, 64 numbers, 4 heads, 32 words, batch 16, Adam."""
    rng = generator()
    x, y = tf.placeholder(tf.int32, [None, 32]), tf.placeholder(tf.int32, [None, 32])

    def normed(h: Any, name: str) -> Any:
        mean, variance = tf.nn.moments(h, [-1], keep_dims=True)
        scale = tf.get_variable(name + "s", [64], initializer=tf.ones_initializer())
        return (h - mean) * tf.rsqrt(variance + 1e-6) * scale + _weight(tf, name + "o", [64])

    def heads(h: Any, name: str) -> Any:
        return tf.transpose(tf.reshape(_dense(tf, h, 64, name), [-1, 32, 4, 16]), [0, 2, 1, 3])
    h = tf.reshape(tf.nn.embedding_lookup(_weight(tf, "table", [1000, 64]), x), [-1, 64])
    for i in range(2):
        q, k, v = (heads(h, f"{name}{i}") for name in "qkv")
        mixed = tf.matmul(tf.nn.softmax(tf.matmul(q, k, transpose_b=True) * 0.25), v)
        h = normed(h + _dense(tf, tf.reshape(tf.transpose(mixed, [0, 2, 1, 3]), [-1, 64]), 64, f"o{i}"), f"n{i}")
        h = normed(h + _dense(tf, _dense(tf, h, 256, f"f{i}", tf.nn.relu), 64, f"g{i}"), f"m{i}")
    logits = _dense(tf, h, 1000, "last")
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=tf.reshape(y, [-1]), logits=logits))
    return _program(tf, tf.train.AdamOptimizer(1e-3).minimize(loss), loss,
                    {x: rng.randint(0, 1000, (16, 32)), y: rng.randint(0, 1000, (16, 32))})


def dqn(tf: Tf) -> Program:
    """DQN: frames of 42 x 42 x 4, batch 32; the best action for one, a step of RMSProp, the target copied."""
    rng = generator()
    state, after = (tf.placeholder(tf.float32, [None, 42, 42, 4]) for _ in range(2))
    action, reward = tf.placeholder(tf.int32, [None]), tf.placeholder(tf.float32, [None])

    def network(h: Any, name: str) -> Any:
        with tf.variable_scope(name):
            h = _conv(tf, h, 16, 8, "1", 4, tf.nn.relu)
            h = _conv(tf, h, 32, 4, "2", 2, tf.nn.relu)
            return _dense(tf, _dense(tf, tf.reshape(h, [-1, 6 * 6 * 32]), 128, "3", tf.nn.relu), 4, "4")
    q, target = network(state, "q"), network(after, "target")
    best = tf.argmax(q, 1)
    wanted = tf.stop_gradient(reward + 0.99 * tf.reduce_max(target, 1))
    loss = tf.reduce_mean(tf.square(wanted - tf.reduce_sum(q * tf.one_hot(action, 4), 1)))
    train = tf.train.RMSPropOptimizer(1e-4).minimize(loss, var_list=tf.trainable_variables("q"))
    copy = tf.group(*[tf.assign(to, of) for of, to in zip(tf.trainable_variables("q"), tf.trainable_variables("target"),
                                                          strict=True)])
    session, frames = _started(tf), rng.rand(33, 42, 42, 4).astype("f")
    feed = {state: frames[:32], after: frames[1:], action: rng.randint(0, 4, 32), reward: rng.rand(32)}
    one = {state: frames[:1]}

    def step() -> None:
        session.run(best, one)
        session.run(train, feed)
        session.run(copy)
    return Program(step, lambda: session.run(loss, feed))


def factorization(tf: Tf) -> Program:
    """Matrix factorization: 20,000 users and 10,000 items of 64 numbers, batch 512, sparse Adam."""
    rng = generator()
    user, item, rating = (tf.placeholder(dtype, [None]) for dtype in (tf.int32, tf.int32, tf.float32))
    u = tf.nn.embedding_lookup(_weight(tf, "users", [20_000, 64]), user)
    i = tf.nn.embedding_lookup(_weight(tf, "items", [10_000, 64]), item)
    loss = tf.reduce_mean(tf.square(tf.reduce_sum(u * i, 1) - rating)) + 0.01 * (tf.nn.l2_loss(u) + tf.nn.l2_loss(i))
    return _program(tf, tf.train.AdamOptimizer(1e-3).minimize(loss), loss, {
        user: rng.randint(0, 20_000, 512), item: rng.randint(0, 10_000, 512), rating: rng.rand(512)})


def wide_and_deep(tf: Tf) -> Program:
    """Wide and deep: sparse crosses (Ftrl) beside embeddings and a network 100-50 (Adagrad), batch 128."""
    rng = generator()
    ids, numbers, y = (tf.placeholder(tf.int64, [None]), tf.placeholder(tf.float32, [None, 5]),
                       tf.placeholder(tf.float32, [None, 1]))
    rows = np.repeat(np.arange(128), 4)
    crossed = tf.SparseTensor(np.stack([rows, np.tile(np.arange(4), 128)], 1).astype(np.int64), ids, [128, 4])
    with tf.variable_scope("wide"):
        wide = tf.nn.embedding_lookup_sparse(_weight(tf, "crosses", [10_000, 1]), crossed, None, combiner="sum")
    with tf.variable_scope("deep"):
        embedded = tf.nn.embedding_lookup_sparse(_weight(tf, "table", [10_000, 16]), crossed, None, combiner="mean")
        h = tf.concat([embedded, numbers], 1)
        deep = _dense(tf, _dense(tf, _dense(tf, h, 100, "1", tf.nn.relu), 50, "2", tf.nn.relu), 1, "3")
    loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=wide + deep))
    train = tf.group(tf.train.FtrlOptimizer(0.1).minimize(loss, var_list=tf.trainable_variables("wide")),
                     tf.train.AdagradOptimizer(0.05).minimize(loss, var_list=tf.trainable_variables("deep")))
    return _program(tf, train, loss, {ids: rng.randint(0, 10_000, 512), numbers: rng.rand(128, 5),
                                      y: rng.randint(0, 2, (128, 1))})


def deep_mlp(tf: Tf) -> Program:
    """100 dense layers of 64, batch 32, SGD."""
    rng = generator()
    x, y = tf.placeholder(tf.float32, [None, 64]), tf.placeholder(tf.float32, [None, 1])
    h = x
    for i in range(100):
        h = h + 0.1 * _dense(tf, h, 64, f"layer{i}", tf.nn.tanh)
    loss = tf.reduce_mean(tf.square(_dense(tf, h, 1, "last") - y))
    return _program(tf, tf.train.GradientDescentOptimizer(1e-3).minimize(loss), loss,
                    {x: rng.randn(32, 64), y: rng.randn(32, 1)})


def autoencoder(tf: Tf) -> Program:
    """Autoencoder 784-128-32-128-784 over a tf.data pipeline (repeat, batch 128, prefetch), Adam."""
    images = generator().rand(2048, 784).astype("f")
    dataset = tf.data.Dataset.from_tensor_slices(images).map(lambda row: row * 0.5).repeat().batch(128).prefetch(2)
    x = tf.reshape(tf.data.make_one_shot_iterator(dataset).get_next(), [128, 784])
    h = x
    for i, units in enumerate((128, 32, 128)):
        h = _dense(tf, h, units, f"layer{i}", tf.nn.relu)
    loss = tf.reduce_mean(tf.square(_dense(tf, h, 784, "last") - x))
    return _program(tf, tf.train.AdamOptimizer(1e-3).minimize(loss), loss, {})


def sampling(tf: Tf) -> Program:
    """20 characters drawn one by one from an LSTM of 128, its state fed and fetched (tf.multinomial)."""
    x, c, h = tf.placeholder(tf.int32, [1]), tf.placeholder(tf.float32, [1, 128]), tf.placeholder(tf.float32, [1, 128])
    embedded = tf.nn.embedding_lookup(_weight(tf, "table", [64, 64]), x)
    output, state = _Lstm(tf, 64, 128, "lstm")(embedded, (c, h))
    drawn = tf.cast(tf.multinomial(_dense(tf, output, 64, "last"), 1, seed=7)[0], tf.int32)
    session = _started(tf)

    def step() -> list[int]:
        found, (c_now, h_now), character = [], (np.zeros((1, 128), "f"),) * 2, np.zeros(1, "int32")
        for _ in range(20):
            character, (c_now, h_now) = session.run([drawn, state], {x: character, c: c_now, h: h_now})
            found.append(int(character[0]))
        return found
    return Program(step, step)


def changing_batch(tf: Tf) -> Program:
    """MLP 128-128-10 by Adam, batches of 1 to 128 rows: another size each step."""
    rng = generator()
    x, y = tf.placeholder(tf.float32, [None, 128]), tf.placeholder(tf.int32, [None])
    logits = _dense(tf, _dense(tf, x, 128, "1", tf.nn.relu), 10, "2")
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))
    train, rows = tf.train.AdamOptimizer(1e-3).minimize(loss), rng.rand(128, 128).astype("f")
    labels = rng.randint(0, 10, 128)
    session, drawn = _started(tf), sizes()

    def step() -> None:
        size = next(drawn)
        session.run([train, loss], {x: rows[:size], y: labels[:size]})
    return Program(step, lambda: session.run(loss, {x: rows, y: labels}))


def sizes() -> Iterator[int]:
    """1 to 128 in another order each time, without end."""
    rng = generator()
    return itertools.chain.from_iterable((rng.permutation(128) + 1).tolist() for _ in itertools.count())


MODELS: dict[str, Callable[[Tf], Program]] = {model.__name__: model for model in (
    resnet, inception, vgg, unet, dcgan, vae, wgan_gp, word2vec, char_lstm, bidirectional_gru, seq2seq, text_cnn,
    transformer, dqn, factorization, wide_and_deep, deep_mlp, autoencoder, sampling, changing_batch)}
