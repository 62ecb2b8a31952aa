"""The programs of programs.py in JAX, each one function under jit, with donated state.

A step is over when its results are there (`block_until_ready` of one, for they come together), as when `Session.run`
returns. Missing here: what only a
session does (fetching a constant, queues), graphs that are built and not compiled, summaries and checkpoints, which JAX
leaves to other packages.
"""
from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import jax  # type: ignore[import-not-found]
import numpy as np
from jax import lax  # type: ignore[import-not-found]
from jax import numpy as jnp  # type: ignore[import-not-found]

from benchmarks import data
from benchmarks.data import Program


def chain(ops: int) -> Program:
    factors = data.chain(ops)

    @jax.jit
    def run(y: Any) -> Any:
        for factor, term in factors:
            y = y * factor + term
        return y
    return Program(lambda: float(run(np.float32(0.5))), lambda: float(run(np.float32(0.5))))


def scalar_chain() -> Program:
    return chain(100)


def _adam(parameters: Any, gradients: Any, m: Any, v: Any, t: Any) -> tuple[Any, Any, Any]:
    """Adam as TensorFlow and optax have it (1e-4, 0.9, 0.999, 1e-8)."""
    m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, m, gradients)
    v = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, v, gradients)
    rate = 1e-4 * jnp.sqrt(1 - 0.999 ** t) / (1 - 0.9 ** t)
    moved = jax.tree.map(lambda p, m, v: p - rate * m / (jnp.sqrt(v) + 1e-8), parameters, m, v)
    return moved, m, v


def _trained(loss: Callable[..., Any], parameters: Any, *arrays: Any) -> Program:
    """Training by Adam."""
    @partial(jax.jit, donate_argnums=0)
    def update(state: Any, *arrays: Any) -> Any:
        parameters, m, v, t = state
        gradients = jax.grad(loss)(parameters, *arrays)
        return (*_adam(parameters, gradients, m, v, t + 1), t + 1)

    parameters = jax.tree.map(jnp.array, parameters)
    zeros = partial(jax.tree.map, jnp.zeros_like)
    state = [(parameters, zeros(parameters), zeros(parameters), jnp.float32(0))]

    def step() -> None:
        state[0] = update(state[0], *arrays)
        state[0][-1].block_until_ready()
    return Program(step, lambda: float(loss(state[0][0], *arrays)))


def linear_regression() -> Program:
    inputs, target = data.regression()

    def loss(parameters: Any, x: Any, y: Any) -> Any:
        w, b = parameters
        return jnp.mean((x @ w + b - y) ** 2)

    @partial(jax.jit, donate_argnums=0)
    def update(parameters: Any, x: Any, y: Any) -> Any:
        return jax.tree.map(lambda p, g: p - 0.01 * g, parameters, jax.grad(loss)(parameters, x, y))
    state = [(jnp.zeros((10, 1)), jnp.zeros(1))]

    def step() -> None:
        state[0] = update(state[0], inputs, target)
        state[0][1].block_until_ready()
    return Program(step, lambda: float(loss(state[0], inputs, target)))


def _cross_entropy(logits: Any, labels: Any) -> Any:
    return -jnp.mean(jnp.sum(labels * jax.nn.log_softmax(logits), axis=1))


def mlp(sizes: list[int], batch: int) -> Program:
    inputs, labels, layers = data.network(sizes, batch)

    def loss(layers: Any, x: Any, y: Any) -> Any:
        for w, b in layers[:-1]:
            x = jax.nn.relu(x @ w + b)
        w, b = layers[-1]
        return _cross_entropy(x @ w + b, y)
    return _trained(loss, layers, inputs, labels)


def mlp_small() -> Program:
    return mlp([64, 32, 10], 32)


def mlp_middle() -> Program:
    return mlp([784, 256, 256, 10], 128)


def mlp_large() -> Program:
    return mlp([784, 1024, 1024, 10], 1024)


def lenet() -> Program:
    inputs, labels, layers = data.images()

    def loss(layers: Any, x: Any, y: Any) -> Any:
        for w, b in layers[:2]:
            x = lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
            x = lax.reduce_window(jax.nn.relu(x + b), -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "SAME")
        (w, b), (w_last, b_last) = layers[2:]
        x = jax.nn.relu(x.reshape(x.shape[0], -1) @ w + b)
        return _cross_entropy(x @ w_last + b_last, y)
    return _trained(loss, layers, inputs, labels)


def _fixed(fn: Callable[[Any], Any], array: Any, pick: Callable[[Any], Any]) -> Program:
    """A function of an array that stays."""
    value, run = jnp.array(array), jax.jit(fn)
    return Program(lambda: run(value).block_until_ready(), lambda: pick(np.asarray(run(value))))


def sigmoid_exp_sum() -> Program:
    return _fixed(lambda v: jnp.sum(jax.nn.sigmoid(v) * jnp.exp(-v * v) + jnp.exp(-jnp.abs(v))),
                  data.normal(4_000_000), lambda y: y)


def softmax() -> Program:
    return _fixed(lambda v: jax.nn.softmax(v, axis=1), data.normal(2048, 2048), lambda y: y[::97, ::89])


def normalize_rows() -> Program:
    def normalized(v: Any) -> Any:
        mean = jnp.mean(v, 1, keepdims=True)
        return (v - mean) * lax.rsqrt(jnp.mean((v - mean) ** 2, 1, keepdims=True) + 1e-5)
    return _fixed(normalized, data.normal(4096, 1024), lambda y: y[::97, ::89])


def transpose() -> Program:
    return _fixed(lambda v: v.transpose(2, 0, 1), data.normal(64, 128, 512), lambda y: y[::97, ::13, ::11])


def matmul() -> Program:
    rng = data.generator()
    a, b = (rng.rand(1024, 1024).astype("f") for _ in range(2))
    right = jnp.array(b)
    run = jax.jit(jnp.matmul)
    left = jnp.array(a)
    return Program(lambda: run(left, right).block_until_ready(), lambda: np.asarray(run(left, right))[::97, ::89])


def embedding() -> Program:
    values, batches, first = data.embeddings()
    rows, count = values.shape[0], 256

    def loss(picked: Any, target: Any) -> Any:
        return jnp.mean((picked - target) ** 2)

    @partial(jax.jit, donate_argnums=(0, 1))
    def update(table: Any, total: Any, ids: Any, target: Any) -> Any:
        """Adagrad of the rows that were looked up, each once."""
        gradient = jax.grad(loss)(table[ids], target)
        different, where = jnp.unique(ids, size=count, fill_value=rows, return_inverse=True)
        summed = jax.ops.segment_sum(gradient, where, count)
        total = total.at[different].add(summed ** 2, mode="drop")
        moved = -0.1 * summed * lax.rsqrt(total[different])
        return table.at[different].add(moved, mode="drop"), total

    state = [(jnp.array(values), jnp.full(values.shape, 0.1))]

    def step() -> None:
        state[0] = update(*state[0], *next(batches))
        state[0][0].block_until_ready()
    return Program(step, lambda: float(loss(state[0][0][first[0]], first[1])))


def lstm() -> Program:
    inputs, weights, biases = data.sequence()

    def loss(parameters: Any, x: Any) -> Any:
        w, b = parameters

        def cell(carry: Any, x: Any) -> Any:
            c, h = carry
            i, j, f, o = jnp.split(jnp.concatenate([x, h], 1) @ w + b, 4, 1)
            c = c * jax.nn.sigmoid(f + 1.0) + jax.nn.sigmoid(i) * jnp.tanh(j)
            return (c, jnp.tanh(c) * jax.nn.sigmoid(o)), None
        zero = jnp.zeros(x.shape[1:])
        (_, h), _ = lax.scan(cell, (zero, zero), x)
        return jnp.mean((h - 0.5) ** 2)
    return _trained(loss, (weights, biases), inputs)


def while_loop() -> Program:
    @jax.jit
    def run(x: Any) -> Any:
        return lax.while_loop(lambda at: at[0] < 1000, lambda at: (at[0] + 1, at[1] * 1.0001 + 0.1), (0, x))[1]
    return Program(lambda: float(run(np.float32(1))), lambda: float(run(np.float32(1))))


def while_rnn() -> Program:
    inputs, weights = data.recurrence()
    fixed = jnp.array(inputs)

    def loss(w: Any) -> Any:
        def cell(h: Any, x: Any) -> Any:
            h = jnp.tanh(jnp.concatenate([x, h], 1) @ w)
            return h, h
        return jnp.mean((lax.scan(cell, jnp.zeros(inputs.shape[1:]), fixed)[1] - 0.1) ** 2)

    @partial(jax.jit, donate_argnums=0)
    def update(w: Any) -> Any:
        return w - 0.1 * jax.grad(loss)(w)
    state = [jnp.array(weights)]

    def step() -> None:
        state[0] = update(state[0]).block_until_ready()
    return Program(step, lambda: float(loss(state[0])))


PROGRAMS: dict[str, Callable[[], Program]] = {
    fn.__name__: fn for fn in (
        scalar_chain, linear_regression, mlp_small, mlp_middle, mlp_large, sigmoid_exp_sum, softmax, normalize_rows,
        transpose, matmul, embedding, lenet, lstm, while_loop, while_rnn)}
SCALED: dict[str, Callable[[int], Program]] = {
    "mlp_batch": lambda batch: mlp([64, 32, 10], batch), "chain": chain}
