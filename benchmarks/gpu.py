"""What a GPU does: kernels beside their floor, networks beside PyTorch and JAX, each value beside the CPU's.

`python -m benchmarks.gpu [--scale 0.1]`, or `make bench-gpu`: this one file, no network. PyTorch (eager, torch.compile)
and JAX are measured in the same run where this Python has them and they see the card. The floor of a kernel: the bytes
that a run must move over the rate at which the card copies its memory. All values are variables on the card, so a run
copies nothing; times are of many runs, from the first launch until the card is done, by the run. On the simulator
(NUMBA_ENABLE_CUDASIM=1) sizes are tiny and no time means anything: there the column of differences counts.
"""
from __future__ import annotations

import argparse
import importlib
import importlib.util
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

import tfnb as tf
from tfnb.kernels.cuda import device, libraries

SECONDS = 0.5            # of each measurement
WARM, STEPS, RATE = 3, 5, 0.01


@dataclass(frozen=True)
class Case:
    """A step to run, the bytes that it must read and write at least, and the operations of its products."""

    name: str
    step: Any
    nbytes: int
    operations: int = 0


def _variable(*shape: int) -> Any:
    return tf.Variable(np.random.RandomState(0).standard_normal(shape).astype(np.float32))


def _into(value: Any, *shape: int) -> Any:
    """An op that computes a value and leaves it on the card."""
    return tf.assign(tf.Variable(np.zeros(shape, np.float32)), value).op


def cases(scale: float) -> list[Case]:
    """The steps, with sizes times `scale`."""
    n, rows, side = int(scale * (1 << 26)), max(4, int(scale * (1 << 15))), int(scale ** (1 / 3) * 4096)
    width = 1024 if scale > 1e-3 else 16
    x, y, m = _variable(n), _variable(n), _variable(rows, width)
    a, b = _variable(side, side), _variable(side, side)
    ids = np.random.RandomState(1).randint(0, rows, min(1 << 14, 4 * rows))
    found = [Case("copy", _into(tf.identity(x) + 0.0, n), 8 * n),
             Case("chain of 6 ops", _into(tf.tanh(x * y + 1.0) * tf.exp(-x * x), n), 12 * n),
             Case("sum", _into(tf.reduce_sum(x)), 4 * n),
             Case("softmax of rows", _into(tf.nn.softmax(m), rows, width), 8 * m.shape.num_elements()),
             Case("sums of columns", _into(tf.reduce_sum(m, 0), width), 4 * m.shape.num_elements()),
             Case("transpose", _into(tf.transpose(m), width, rows), 8 * m.shape.num_elements()),
             Case("gather", _into(tf.gather(m, ids), ids.size, width), 8 * width * ids.size),
             Case("product", _into(tf.matmul(a, b), side, side), 12 * side * side, 2 * side ** 3)]
    adam = tf.train.AdamOptimizer(1e-4).apply_gradients([(x * 1e-3, x)])
    return [*found, Case("Adam", adam, 24 * n)]


def seconds(run: Callable[[], Any], wait: Callable[[], Any]) -> float:
    """The time of one run, of as many as fill SECONDS."""
    for _ in range(WARM):
        run()
    wait()
    count, began = 0, time.perf_counter()
    while time.perf_counter() - began < SECONDS or not count:
        for _ in range(10):
            run()
        wait()
        count += 10
    return (time.perf_counter() - began) / count


# Networks. Each system gets the same weights and data, and takes steps of gradient descent.

@dataclass(frozen=True)
class Words:
    """The functions of one system by which networks are written; arrays have `reshape`, indices and operators there."""

    matmul: Callable[[Any, Any], Any]
    relu: Callable[[Any], Any]
    sigmoid: Callable[[Any], Any]
    tanh: Callable[[Any], Any]
    softmax: Callable[[Any], Any]
    transpose: Callable[[Any, Sequence[int]], Any]
    reshape: Callable[[Any, Sequence[int]], Any]
    mean: Callable[[Any, Sequence[int]], Any]
    take: Callable[[Any, Any], Any]
    conv: Callable[[Any, Any], Any]                # of channels last, "SAME"


@dataclass(frozen=True)
class Net:
    """A network: shapes of its weights, of its features, of its outputs; (words, weights, features) -> outputs.

    rows: features are indices below it, and 0 for numbers.
    """

    name: str
    shapes: Sequence[Sequence[int]]
    features: Sequence[int]
    outputs: Sequence[int]
    forward: Callable[[Words, Sequence[Any], Any], Any]
    rows: int = 0

    def arrays(self) -> tuple[list[np.ndarray], np.ndarray, np.ndarray]:
        """Weights, features, wanted outputs."""
        draw = np.random.RandomState(0)
        weights = [(draw.standard_normal(shape) / np.prod(shape[:-1]) ** 0.5).astype("f") for shape in self.shapes]
        x = draw.randint(0, self.rows, self.features) if self.rows else draw.standard_normal(self.features).astype("f")
        return weights, x, draw.standard_normal(self.outputs).astype("f")


def perceptron(name: str, batch: int, *widths: int) -> Net:
    """Dense layers with relu between them."""
    def forward(words: Words, weights: Sequence[Any], x: Any) -> Any:
        for w in weights[:-1]:
            x = words.relu(words.matmul(x, w))
        return words.matmul(x, weights[-1])
    return Net(name, list(zip(widths, widths[1:], strict=False)), (batch, widths[0]), (batch, widths[-1]), forward)


def convolutional(batch: int, side: int, channels: int, classes: int) -> Net:
    """Two convolutions of 3 x 3 with relu, the mean of all pixels, a dense layer."""
    def forward(words: Words, weights: Sequence[Any], x: Any) -> Any:
        for f in weights[:2]:
            x = words.relu(words.conv(x, f))
        return words.matmul(words.mean(x, (1, 2)), weights[2])
    shapes = [(3, 3, 3, channels), (3, 3, channels, 2 * channels), (2 * channels, classes)]
    return Net("CNN", shapes, (batch, side, side, 3), (batch, classes), forward)


def recurrent(batch: int, steps: int, units: int) -> Net:
    """An LSTM, unrolled: a loop over time would run on the CPU in tfnb."""
    def forward(words: Words, weights: Sequence[Any], x: Any) -> Any:
        hidden = cell = x[:, 0] * 0.0
        for t in range(steps):
            gates = words.matmul(x[:, t], weights[0]) + words.matmul(hidden, weights[1])
            i, j, f, o = (gates[:, k * units:(k + 1) * units] for k in range(4))
            cell = cell * words.sigmoid(f + 1.0) + words.sigmoid(i) * words.tanh(j)
            hidden = words.tanh(cell) * words.sigmoid(o)
        return hidden
    return Net("LSTM", [(units, 4 * units)] * 2, (batch, steps, units), (batch, units), forward)


def transformer(batch: int, length: int, heads: int, width: int) -> Net:
    """A block of a Transformer: attention, dense layers, each with a sum and a normalization behind it."""
    own = width // heads

    def normalized(words: Words, x: Any) -> Any:
        x = x - words.reshape(words.mean(x, (2,)), (batch, length, 1))
        return x * (words.reshape(words.mean(x * x, (2,)), (batch, length, 1)) + 1e-5) ** -0.5

    def forward(words: Words, weights: Sequence[Any], x: Any) -> Any:
        def dense(x: Any, w: Any) -> Any:
            flat = words.matmul(words.reshape(x, (batch * length, x.shape[-1])), w)
            return words.reshape(flat, (batch, length, w.shape[-1]))

        q, k, v = (words.transpose(words.reshape(dense(x, w), (batch, length, heads, own)), (0, 2, 1, 3))
                   for w in weights[:3])
        met = words.softmax(words.matmul(q, words.transpose(k, (0, 1, 3, 2))) * own ** -0.5)
        mixed = words.reshape(words.transpose(words.matmul(met, v), (0, 2, 1, 3)), (batch, length, width))
        x = normalized(words, x + dense(mixed, weights[3]))
        return normalized(words, x + dense(words.relu(dense(x, weights[4])), weights[5]))
    shapes = [(width, width)] * 4 + [(width, 4 * width), (4 * width, width)]
    return Net("Transformer", shapes, (batch, length, width), (batch, length, width), forward)


def embedding(batch: int, length: int, rows: int, width: int) -> Net:
    """The mean of rows of a table, a dense layer; the gradient of the table has the rows that were taken."""
    def forward(words: Words, weights: Sequence[Any], x: Any) -> Any:
        return words.matmul(words.mean(words.take(weights[0], x), (1,)), weights[1])
    return Net("embedding", [(rows, width), (width, 16)], (batch, length), (batch, 16), forward, rows)


def nets(scale: float) -> list[Net]:
    """The networks, with sizes times the square root of `scale`."""
    def sized(*sizes: int) -> list[int]:
        return [max(2, int(n * scale ** 0.5)) for n in sizes]

    heads, own = sized(12, 64)
    return [perceptron("MLP small", *sized(64, 64, 128, 16)),
            perceptron("MLP medium", *sized(256, 512, 1024, 1024, 64)),
            perceptron("MLP large", *sized(1024, 2048, 4096, 4096, 512)), convolutional(*sized(128, 64, 64, 10)),
            recurrent(*sized(128, 32, 512)), transformer(*sized(32, 256), heads, heads * own),
            embedding(*sized(256, 32, 1 << 17, 256))]


Trained = tuple[Callable[[], Any], Callable[[], Any], Callable[[], float]]     # a step; wait; the loss


def by_tfnb(net: Net, where: str) -> Trained:
    """The network in tfnb, on a device."""
    words = Words(tf.matmul, tf.nn.relu, tf.sigmoid, tf.tanh, tf.nn.softmax, tf.transpose, tf.reshape, tf.reduce_mean,
                  tf.gather, lambda x, f: tf.nn.conv2d(x, f, [1, 1, 1, 1], "SAME"))
    weights, x, y = net.arrays()
    graph = tf.Graph()
    with graph.as_default(), tf.device(where):
        made = [tf.Variable(w) for w in weights]
        value, wanted = tf.Variable(x, trainable=False), tf.Variable(y, trainable=False)
        loss = tf.reduce_mean(tf.squared_difference(net.forward(words, made, value.read_value()), wanted))
        step = tf.train.GradientDescentOptimizer(RATE).minimize(loss)
        initial = tf.global_variables_initializer()
    session = tf.Session(graph=graph)
    session.run(initial)
    wait = device.driver().synchronize if "gpu" in where else int
    return lambda: session.run(step), wait, lambda: float(session.run(loss))


def by_torch(net: Net, compiled: bool, where: str = "cuda") -> Trained:
    """The network in PyTorch on its GPU."""
    torch: Any = importlib.import_module("torch")

    def conv(x: Any, f: Any) -> Any:
        y = torch.nn.functional.conv2d(x.permute(0, 3, 1, 2), f.permute(3, 2, 0, 1), padding="same")
        return y.permute(0, 2, 3, 1)

    words = Words(torch.matmul, torch.relu, torch.sigmoid, torch.tanh, lambda x: torch.softmax(x, -1), torch.permute,
                  torch.reshape, torch.mean, lambda table, rows: table[rows], conv)
    weights, x, y = net.arrays()
    made = [torch.tensor(w, device=where, requires_grad=True) for w in weights]
    value, wanted = torch.tensor(x, device=where), torch.tensor(y, device=where)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = libraries.precision.tf32

    def loss() -> Any:
        return ((net.forward(words, made, value) - wanted) ** 2).mean()

    found = torch.compile(loss, mode="reduce-overhead") if compiled else loss
    optimizer = torch.optim.SGD(made, lr=RATE)

    def step() -> None:
        optimizer.zero_grad(set_to_none=True)
        found().backward()
        optimizer.step()
    return step, torch.cuda.synchronize, lambda: float(loss().detach())


def by_jax(net: Net) -> Trained:
    """The network in JAX on its GPU."""
    jax: Any = importlib.import_module("jax")
    numbers = jax.numpy
    words = Words(numbers.matmul, jax.nn.relu, jax.nn.sigmoid, numbers.tanh, jax.nn.softmax, numbers.transpose,
                  numbers.reshape, numbers.mean, lambda table, rows: table[rows],
                  lambda x, f: jax.lax.conv_general_dilated(x, f, (1, 1), "SAME",
                                                            dimension_numbers=("NHWC", "HWIO", "NHWC")))
    weights, x, y = net.arrays()
    value, wanted = jax.device_put(x), jax.device_put(y)
    held = [[jax.device_put(w) for w in weights]]

    def loss(made: Any) -> Any:
        return ((net.forward(words, made, value) - wanted) ** 2).mean()

    step = jax.jit(lambda made: [w - RATE * g for w, g in zip(made, jax.grad(loss)(made), strict=True)])

    def run() -> None:
        held[0] = step(held[0])
    return run, lambda: jax.block_until_ready(held[0]), lambda: float(loss(held[0]))


def peers() -> dict[str, Callable[[Net], Trained]]:
    """The other systems that this Python has and that see the card."""
    found: dict[str, Callable[[Net], Trained]] = {}
    if importlib.util.find_spec("torch") and importlib.import_module("torch").cuda.is_available():
        found |= {"PyTorch": lambda net: by_torch(net, False), "torch.compile": lambda net: by_torch(net, True)}
    if importlib.util.find_spec("jax") and importlib.import_module("jax").default_backend() == "gpu":
        found["JAX"] = by_jax
    return found


def difference(one: float, other: float) -> float:
    """How far a loss is from the CPU's, relative."""
    return abs(one - other) / max(abs(other), 1e-12)


def networks(scale: float, timed: bool) -> None:
    """Print a line for each network and system: time of a step, and how far the loss is from the CPU's after STEPS."""
    systems = {"tfnb": lambda net: by_tfnb(net, "/gpu:0"), **(peers() if timed else {})}
    for net in nets(scale):
        step, _, loss = by_tfnb(net, "/cpu:0")
        for _ in range(STEPS):
            step()
        wanted = loss()
        for name, make in systems.items():
            step, wait, loss = make(net)
            for _ in range(STEPS):
                step()
            wrong = difference(loss(), wanted)
            took = f"{1e6 * seconds(step, wait):10.1f} us" if timed else "            -"
            print(f"{net.name:16} {name:14} {took}   loss differs by {wrong:.0e}")


def kernels(scale: float, timed: bool) -> None:
    """Print a line for each kernel: time, floor, and how far what it leaves is from the CPU's."""
    left: dict[str, list[np.ndarray]] = {}
    for where in ("/cpu:0", "/gpu:0"):
        with tf.Graph().as_default(), tf.device(where), tf.Session() as session:
            small = _into(_variable(1) + 1.0, 1)
            found = cases(scale)
            session.run(tf.global_variables_initializer())
            session.run([case.step for case in found[:-1]])
            session.run(found[-1].step)                    # Adam changes what the others read
            left[where] = session.run(tf.global_variables())
            if where == "/gpu:0" and timed:
                wait = device.driver().synchronize
                launch = seconds(partial(session.run, small), wait)
                times = {case.name: seconds(partial(session.run, case.step), wait) for case in found}
    wrong = max(float(np.max(np.abs(a - b) / (1 + np.abs(b)), initial=0))
                for a, b in zip(left["/gpu:0"], left["/cpu:0"], strict=True))
    print(f"all that {len(found)} kernels leave differs from the CPU's by {wrong:.0e} at most")
    if not timed:
        return
    rate = found[0].nbytes / times["copy"]
    print(f"a run of one launch: {1e6 * launch:.1f} us; the rate of a copy: {rate / 1e9:.0f} GB/s")
    for case in found:
        floor = case.nbytes / rate
        work = f", {case.operations / times[case.name] / 1e12:.1f} TFLOP/s" * bool(case.operations)
        print(f"{case.name:16} {1e6 * times[case.name]:10.1f} us   {times[case.name] / floor:6.2f} of its floor{work}")


def main(scale: float) -> None:
    """Measure and print tables."""
    card = device.gpu()
    if card is None:
        print("no GPU here; NUMBA_ENABLE_CUDASIM=1 runs all of it on the simulator, at tiny sizes")
        return
    print(card.description)
    if card.simulated:
        scale = min(scale, 1e-6)
        print("the simulator: tiny sizes, and no times")
    kernels(scale, not card.simulated)
    networks(max(scale, 1e-4), not card.simulated)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gpu", description=__doc__)
    parser.add_argument("--scale", type=float, default=1.0)
    main(parser.parse_args().scale)
