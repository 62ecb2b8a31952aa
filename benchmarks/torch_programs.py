"""The programs of programs.py in PyTorch: eager, and with what can be compiled in torch.compile.

Missing here: what only a session does (fetching a constant, queues), graphs that are built and not run, and summaries,
which PyTorch leaves to TensorBoard.
"""
from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np
import torch  # type: ignore[import-not-found]
from torch import nn  # type: ignore[import-not-found]
from torch.nn import functional as F  # type: ignore[import-not-found]

from benchmarks import data
from benchmarks.data import Program

Compile = Callable[[Any], Any]


def chain(compile: Compile, ops: int) -> Program:
    factors = data.chain(ops)

    @compile
    def run(y: Any) -> Any:
        for factor, term in factors:
            y = y * factor + term
        return y

    def step() -> float:
        with torch.inference_mode():
            return float(run(torch.tensor(0.5)))
    return Program(step, step)


def scalar_chain(compile: Compile) -> Program:
    return chain(compile, 100)


def trained(compile: Compile, loss: Callable[..., Any], optimizer: Any, *arrays: Any, clip: float = 0.0) -> Program:
    """Training by a loss of arrays that are given at each step. Forward and backward pass are compiled together.

    clip: a limit of the global norm of gradients.
    """
    compiled = compile(loss)

    def step() -> None:
        optimizer.zero_grad()
        compiled(*map(torch.from_numpy, arrays)).backward()
        if clip:
            nn.utils.clip_grad_norm_(optimizer.param_groups[0]["params"], clip)
        optimizer.step()

    def check() -> float:
        with torch.no_grad():
            return float(loss(*map(torch.from_numpy, arrays)))
    return Program(step, check)


def linear_regression(compile: Compile) -> Program:
    inputs, target = data.regression()
    model = nn.Linear(10, 1)
    nn.init.zeros_(model.weight)
    nn.init.zeros_(model.bias)
    return trained(compile, lambda x, y: F.mse_loss(model(x), y), torch.optim.SGD(model.parameters(), 0.01),
                    inputs, target)


def _dense(w: Any, b: Any) -> nn.Linear:
    layer = nn.Linear(*w.shape)
    with torch.no_grad():
        layer.weight.copy_(torch.from_numpy(w.T))
        layer.bias.copy_(torch.from_numpy(b))
    return layer


def adam(model: nn.Module, rate: float = 1e-4, betas: tuple[float, float] = (0.9, 0.999)) -> Any:
    """Adam in the library's fused form."""
    return torch.optim.Adam([p for p in model.parameters() if p.requires_grad], rate, betas, fused=True)


def mlp(compile: Compile, sizes: list[int], batch: int) -> Program:
    inputs, labels, layers = data.network(sizes, batch)
    parts: list[nn.Module] = []
    for w, b in layers:
        parts += [_dense(w, b), nn.ReLU()]
    model = nn.Sequential(*parts[:-1])
    return trained(compile, lambda x, y: F.cross_entropy(model(x), y), adam(model), inputs, labels)


def mlp_small(compile: Compile) -> Program:
    return mlp(compile, [64, 32, 10], 32)


def mlp_middle(compile: Compile) -> Program:
    return mlp(compile, [784, 256, 256, 10], 128)


def mlp_large(compile: Compile) -> Program:
    return mlp(compile, [784, 1024, 1024, 10], 1024)


class LeNet(nn.Module):
    """Convolutions over images in channels_last memory, which is what oneDNN is fastest with."""

    def __init__(self, layers: list[tuple[Any, Any]]) -> None:
        super().__init__()
        (w1, b1), (w2, b2), (w3, b3), (w4, b4) = layers
        self.convolutions = nn.ModuleList([self._convolution(w1, b1), self._convolution(w2, b2)])
        self.hidden, self.logits = _dense(w3, b3), _dense(w4, b4)

    @staticmethod
    def _convolution(w: Any, b: Any) -> nn.Conv2d:
        layer = nn.Conv2d(w.shape[2], w.shape[3], w.shape[:2], padding="same")
        with torch.no_grad():
            layer.weight.copy_(torch.from_numpy(w.transpose(3, 2, 0, 1)))
            layer.bias.copy_(torch.from_numpy(b))
        return layer

    def forward(self, x: Any) -> Any:
        h = x.permute(0, 3, 1, 2)                  # [N, H, W, C] in memory is channels_last
        for convolution in self.convolutions:
            h = F.max_pool2d(F.relu(convolution(h)), 2)
        h = h.permute(0, 2, 3, 1).flatten(1)
        return self.logits(F.relu(self.hidden(h)))


def lenet(compile: Compile) -> Program:
    inputs, labels, layers = data.images()
    model = LeNet(layers).to(memory_format=torch.channels_last)
    return trained(compile, lambda x, y: F.cross_entropy(model(x), y), adam(model), inputs, labels)


def _fixed(compile: Compile, fn: Callable[[Any], Any], array: Any, pick: Callable[[Any], Any]) -> Program:
    """A function of a tensor that stays."""
    value, run = torch.from_numpy(array), compile(fn)

    def step() -> Any:
        with torch.inference_mode():
            return run(value)
    return Program(step, lambda: pick(step().numpy()))


def sigmoid_exp_sum(compile: Compile) -> Program:
    return _fixed(compile, lambda v: (torch.sigmoid(v) * torch.exp(-v * v) + torch.exp(-torch.abs(v))).sum(),
                  data.normal(4_000_000), lambda y: y)


def softmax(compile: Compile) -> Program:
    return _fixed(compile, lambda v: torch.softmax(v, 1), data.normal(2048, 2048), lambda y: y[::97, ::89])


def normalize_rows(compile: Compile) -> Program:
    eager = compile is EAGER                       # the library's own kernel where nothing fuses the expression

    def normalized(v: Any) -> Any:
        if eager:
            return F.layer_norm(v, (1024,), eps=1e-5)
        mean = v.mean(1, keepdim=True)
        return (v - mean) * torch.rsqrt((v - mean).square().mean(1, keepdim=True) + 1e-5)
    return _fixed(compile, normalized, data.normal(4096, 1024), lambda y: y[::97, ::89])


def transpose(compile: Compile) -> Program:
    return _fixed(compile, lambda v: v.permute(2, 0, 1).contiguous(), data.normal(64, 128, 512),
                  lambda y: y[::97, ::13, ::11])


def matmul(compile: Compile) -> Program:
    rng = data.generator()
    a, b = (torch.from_numpy(rng.rand(1024, 1024).astype("f")) for _ in range(2))
    return _fixed(compile, lambda v: v @ b, a.numpy(), lambda y: y[::97, ::89])


def embedding(compile: Compile) -> Program | None:
    if compile is not EAGER:
        return None                                # torch.compile takes no sparse gradients
    values, batches, first = data.embeddings()
    table = nn.Embedding.from_pretrained(torch.from_numpy(values), freeze=False, sparse=True)
    optimizer = torch.optim.Adagrad(table.parameters(), 0.1, initial_accumulator_value=0.1)

    def loss(ids: Any, target: Any) -> Any:
        return F.mse_loss(table(torch.from_numpy(ids)), torch.from_numpy(target))

    def step() -> None:
        optimizer.zero_grad()
        loss(*next(batches)).backward()
        optimizer.step()
    return Program(step, lambda: float(loss(*first).detach()))


def lstm_layers(layers: list[Any], cell: type[Any] = nn.LSTM, **options: Any) -> Any:
    """nn.LSTM (or nn.LSTMCell) with weights [inputs + units, 4 * units] for each layer, gates i, j, f, o, biases of 0.

    The 1 that is added to the forget gate is the second bias, which is not trained, so that there is one bias.
    """
    units = layers[0].shape[1] // 4
    model = cell(layers[0].shape[0] - units, units, **options)
    with torch.no_grad():
        for layer, weights in enumerate(layers):
            i, j, f, o = np.split(weights.T, 4)    # nn.LSTM has them as i, f, j, o
            stacked = torch.from_numpy(np.concatenate([i, f, j, o]))
            suffix = "" if cell is nn.LSTMCell else f"_l{layer}"
            bias = getattr(model, "bias_hh" + suffix).requires_grad_(False)
            bias.zero_()
            bias[units:2 * units] = 1.0
            getattr(model, "bias_ih" + suffix).zero_()
            getattr(model, "weight_ih" + suffix).copy_(stacked[:, :-units])
            getattr(model, "weight_hh" + suffix).copy_(stacked[:, -units:])
    return model


def lstm(compile: Compile) -> Program | None:
    if compile is not EAGER:
        return None                                # torch.compile leaves nn.LSTM as it is
    inputs, weights, _ = data.sequence()
    model = lstm_layers([weights])
    return trained(compile, lambda x: (model(x)[1][0] - 0.5).square().mean(), adam(model), inputs)


def while_loop(compile: Compile) -> Program | None:
    if compile is not EAGER:
        return None                                # Dynamo unrolls loops

    def step() -> float:
        with torch.inference_mode():
            y = torch.tensor(1.0)
            for _ in range(1000):
                y = y * 1.0001 + 0.1
            return float(y)
    return Program(step, step)


def while_rnn(compile: Compile) -> Program | None:
    if compile is not EAGER:
        return None
    inputs, weights = data.recurrence()
    size = inputs.shape[-1]
    model = nn.RNN(size, size, bias=False)
    with torch.no_grad():
        model.weight_ih_l0.copy_(torch.from_numpy(weights[:size].T))
        model.weight_hh_l0.copy_(torch.from_numpy(weights[size:].T))
    return trained(compile, lambda x: (model(x)[0] - 0.1).square().mean(), torch.optim.SGD(model.parameters(), 0.1),
                    inputs)


def _file() -> str:
    folder = tempfile.mkdtemp(prefix="tfnb-benchmark-")
    atexit.register(shutil.rmtree, folder, True)
    return os.path.join(folder, "model.pt")


def save_100mb(compile: Compile) -> Program | None:
    if compile is not EAGER:
        return None
    state = {f"v{i}": torch.from_numpy(a) for i, a in enumerate(data.hundred_megabytes())}
    path = _file()
    return Program(lambda: torch.save(state, path), lambda: torch.load(path, weights_only=True)["v3"][::97, ::89])


def restore_100mb(compile: Compile) -> Program | None:
    if compile is not EAGER:
        return None
    model = nn.ParameterDict({f"v{i}": torch.from_numpy(a) for i, a in enumerate(data.hundred_megabytes())})
    path = _file()
    torch.save(model.state_dict(), path)
    return Program(lambda: model.load_state_dict(torch.load(path, weights_only=True, mmap=True)),
                   lambda: model["v3"].detach()[::97, ::89])


def EAGER(fn: Any) -> Any:
    """Does not compile."""
    return fn


def COMPILED(fn: Any) -> Any:
    """torch.compile for one shape, as its users have it."""
    return torch.compile(fn, dynamic=False)


PROGRAMS: dict[str, Callable[[Compile], Program | None]] = {
    fn.__name__: fn for fn in (
        scalar_chain, linear_regression, mlp_small, mlp_middle, mlp_large, sigmoid_exp_sum, softmax, normalize_rows,
        transpose, matmul, embedding, lenet, lstm, save_100mb, restore_100mb, while_loop, while_rnn)}
SCALED: dict[str, Callable[[Compile, int], Program | None]] = {
    "mlp_batch": lambda compile, batch: mlp(compile, [64, 32, 10], batch),
    # torch.compile takes minutes for a thousand ops
    "chain": lambda compile, ops: chain(compile, ops) if compile is EAGER or ops <= 100 else None}
