"""The models of models.py in eager PyTorch, of the library's own layers where it has them.

Shapes, initial weights and feeds are the same. Images and filters are mirrored: where a stride leaves one pixel of
padding too many, TensorFlow has it on the right, and PyTorch, mirrored, on the left. A program that draws, or whose
formula the library lacks (nn.GRU resets after the product; there is no Ftrl), has a `check` of None: it is timed only.
"""
from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch  # type: ignore[import-not-found]
from torch import nn  # type: ignore[import-not-found]
from torch.nn import functional as F  # type: ignore[import-not-found]

from benchmarks import data
from benchmarks.data import Array, Program
from benchmarks.models import sizes
from benchmarks.torch_programs import EAGER, adam, lstm_layers, trained


class _Weights:
    """Layers whose weights are drawn in the order in which the TensorFlow program has its variables."""

    def __init__(self) -> None:
        self._rng = data.generator()

    def draw(self, *shape: int) -> Array:
        return data.weight(self._rng, *shape)

    def dense(self, inputs: int, units: int) -> nn.Linear:
        return _linear(self.draw(inputs, units))

    def dense_of_image(self, shape: tuple[int, int, int], units: int) -> nn.Linear:
        """A layer over flattened images [height, width, channels], which are mirrored."""
        drawn = self.draw(int(np.prod(shape)), units)
        return _linear(drawn.reshape(*shape, units)[::-1, ::-1].reshape(drawn.shape))

    def dense_to_image(self, inputs: int, shape: tuple[int, int, int]) -> nn.Linear:
        """A layer that makes flattened images [height, width, channels], mirrored."""
        drawn = self.draw(inputs, int(np.prod(shape)))
        return _linear(drawn.reshape(inputs, *shape)[:, ::-1, ::-1].reshape(drawn.shape))

    def conv(self, inputs: int, filters: int, size: int, stride: int = 1, bias: bool = True,
             padding: int | None = None) -> nn.Conv2d:
        layer = nn.Conv2d(inputs, filters, size, stride, (size - 1) // 2 if padding is None else padding, bias=bias)
        return _filled(layer, self.draw(size, size, inputs, filters)[::-1, ::-1].transpose(3, 2, 0, 1))

    def deconv(self, inputs: int, filters: int, size: int) -> nn.ConvTranspose2d:
        """Of stride 2, without biases."""
        layer = nn.ConvTranspose2d(inputs, filters, size, 2, (size - 1) // 2, size % 2, bias=False)
        return _filled(layer, self.draw(size, size, filters, inputs)[::-1, ::-1].transpose(3, 2, 0, 1))

    def table(self, rows: int, depth: int) -> nn.Embedding:
        return nn.Embedding.from_pretrained(torch.from_numpy(self.draw(rows, depth)), freeze=False)


def _filled(layer: Any, weights: Array) -> Any:
    with torch.no_grad():
        layer.weight.copy_(torch.from_numpy(weights.copy()))
        if layer.bias is not None:
            layer.bias.zero_()
    return layer


def _linear(weights: Array) -> nn.Linear:
    return _filled(nn.Linear(*weights.shape), weights.T)


def _norm(depth: int) -> nn.BatchNorm2d:
    return nn.BatchNorm2d(depth, 1e-3, track_running_stats=False)


def _flat(h: Any) -> Any:
    """Images [N, C, H, W] in channels_last memory as rows [N, H * W * C]."""
    return h.permute(0, 2, 3, 1).flatten(1)


def _channels_last(model: nn.Module) -> nn.Module:
    """A model of images, which come as [N, H, W, C], with the memory that oneDNN is fastest with."""
    return nn.Sequential(_Permuted(), model).to(memory_format=torch.channels_last)


class _Permuted(nn.Module):
    def forward(self, x: Any) -> Any:
        return x.permute(0, 3, 1, 2)


class _Part(nn.Module):
    """A function of named layers and an input."""

    def __init__(self, run: Callable[..., Any], **layers: nn.Module) -> None:
        super().__init__()
        self.layers, self.run = nn.ModuleDict(layers), run

    def forward(self, x: Any) -> Any:
        return self.run(x, **self.layers)


def _mirrored(images: Array) -> Array:
    return np.ascontiguousarray(images[:, ::-1, ::-1])


def _uncompared(program: Program) -> Program:
    """A program whose loss is not TensorFlow's: it draws, or has another formula."""
    return Program(program.step, lambda: None)


def _sgd(model: nn.Module, rate: float, momentum: float = 0.0) -> Any:
    return torch.optim.SGD(model.parameters(), rate, momentum, fused=True)


def _classifier(size: tuple[int, int, int, int], model: nn.Module, optimizer: Callable[[Any], Any]) -> Program:
    """size: batch, height and width, channels, classes."""
    rng = data.generator()
    images = _mirrored(rng.rand(size[0], size[1], size[1], size[2]).astype("f"))
    model = _channels_last(model)
    return trained(EAGER, lambda x, y: F.cross_entropy(model(x), y), optimizer(model), images,
                   rng.randint(0, size[3], size[0]).astype("int32").astype("int64"))


def resnet() -> Program:
    weights = _Weights()

    def block(inputs: int, filters: int, stride: int) -> nn.Module:
        inner = nn.Sequential(weights.conv(inputs, filters, 3, stride, bias=False), _norm(filters), nn.ReLU(),
                              weights.conv(filters, filters, 3, bias=False), _norm(filters))
        if stride == 1:
            return _Part(lambda x, inner: F.relu(inner(x) + x), inner=inner)
        return _Part(lambda x, inner, short: F.relu(inner(x) + short(x[:, :, 1::2, 1::2])), inner=inner,
                     short=weights.conv(inputs, filters, 1, bias=False))
    model = nn.Sequential(weights.conv(3, 16, 3, bias=False), _norm(16), nn.ReLU(), block(16, 16, 1), block(16, 32, 2),
                          block(32, 64, 2), nn.AdaptiveAvgPool2d(1), nn.Flatten(), weights.dense(64, 10))
    return _classifier((32, 32, 3, 10), model, lambda model: _sgd(model, 0.1, 0.9))


def inception() -> Program:
    weights = _Weights()

    def block(inputs: int) -> nn.Module:
        def conv(inputs: int, filters: int, size: int) -> list[nn.Module]:
            return [weights.conv(inputs, filters, size), nn.ReLU()]
        branches = nn.ModuleList([
            nn.Sequential(*conv(inputs, 32, 1)), nn.Sequential(*conv(inputs, 48, 1), *conv(48, 64, 3)),
            nn.Sequential(*conv(inputs, 8, 1), *conv(8, 16, 5)),
            nn.Sequential(nn.MaxPool2d(3, 1, 1), *conv(inputs, 16, 1))])
        return _Part(lambda x, branches: torch.cat([branch(x) for branch in branches], 1), branches=branches)
    model = nn.Sequential(block(64), block(128), nn.AdaptiveAvgPool2d(1), nn.Flatten(), weights.dense(128, 10))
    return _classifier((8, 28, 64, 10), model, lambda model: adam(model, 1e-3))


def vgg() -> Program:
    weights, layers, depth = _Weights(), [], 3
    for filters in (32, 64, 128):
        layers += [weights.conv(depth, filters, 3), nn.ReLU(), weights.conv(filters, filters, 3), nn.ReLU(),
                   nn.MaxPool2d(2)]
        depth = filters
    model = nn.Sequential(*layers, _Part(_flat), weights.dense_of_image((4, 4, 128), 256), nn.ReLU(),
                          weights.dense(256, 10))
    return _classifier((16, 32, 3, 10), model, lambda model: _sgd(model, 0.01))


def unet() -> Program:
    weights, rng = _Weights(), data.generator()

    def convs(*depths: int) -> nn.Module:
        return nn.Sequential(*itertools.chain.from_iterable(
            (weights.conv(inputs, filters, 3), nn.ReLU()) for inputs, filters in itertools.pairwise(depths)))
    down, middle = nn.ModuleList([convs(1, 16, 16), convs(16, 32, 32)]), convs(32, 64)
    up = nn.ModuleList(itertools.chain.from_iterable(
        (weights.deconv(2 * filters, filters, 2), convs(2 * filters, filters)) for filters in (32, 16)))
    last = weights.conv(16, 1, 1)

    def run(x: Any, down: Any, middle: Any, up: Any, last: Any) -> Any:
        first = down[0](x)
        second = down[1](F.max_pool2d(first, 2))
        h = middle(F.max_pool2d(second, 2))
        h = up[1](torch.cat([up[0](h), second], 1))
        return last(up[3](torch.cat([up[2](h), first], 1)))
    model = _channels_last(_Part(run, down=down, middle=middle, up=up, last=last))
    images, masks = rng.rand(4, 64, 64, 1).astype("f"), (rng.rand(4, 64, 64, 1) > 0.5).astype("f")
    return trained(EAGER, lambda x, y: F.binary_cross_entropy_with_logits(model(x), y.permute(0, 3, 1, 2)),
                   adam(model, 1e-3), _mirrored(images), _mirrored(masks))


def dcgan() -> Program:
    weights, rng = _Weights(), data.generator()
    images, noise = _mirrored(rng.rand(32, 28, 28, 1).astype("f")), rng.rand(32, 64).astype("f")
    first = weights.dense_to_image(64, (7, 7, 64))
    made = nn.Sequential(_norm(64), nn.ReLU(), weights.deconv(64, 32, 5), _norm(32), nn.ReLU(),
                         weights.deconv(32, 1, 5), nn.Sigmoid())
    g = _Part(lambda z, first, made: made(first(z).unflatten(1, (7, 7, 64)).permute(0, 3, 1, 2)),
              first=first, made=made)
    d = nn.Sequential(weights.conv(1, 32, 5, 2), nn.LeakyReLU(0.2), weights.conv(32, 64, 5, 2), _norm(64),
                      nn.LeakyReLU(0.2), _Part(_flat), weights.dense_of_image((7, 7, 64), 1))
    for model in (g, d):
        model.to(memory_format=torch.channels_last)
    d_step, g_step = (adam(model, 2e-4, (0.5, 0.999)) for model in (d, g))
    ones, zeros = torch.ones(32, 1), torch.zeros(32, 1)

    def d_loss() -> Any:
        with torch.no_grad():
            fake = g(torch.from_numpy(noise))
        real = d(torch.from_numpy(images).permute(0, 3, 1, 2))
        return F.binary_cross_entropy_with_logits(real, ones) + F.binary_cross_entropy_with_logits(d(fake), zeros)

    def g_loss() -> Any:
        return F.binary_cross_entropy_with_logits(d(g(torch.from_numpy(noise))), ones)

    def step() -> None:
        for optimizer, loss in ((d_step, d_loss), (g_step, g_loss)):
            optimizer.zero_grad()
            loss().backward(inputs=optimizer.param_groups[0]["params"])
            optimizer.step()
    return Program(step, lambda: [float(loss().detach()) for loss in (d_loss, g_loss)])


def vae() -> Program:
    weights = _Weights()
    model = nn.ModuleList([weights.dense(784, 400), weights.dense(400, 20), weights.dense(400, 20),
                           weights.dense(20, 400), weights.dense(400, 784)])

    def loss(x: Any) -> Any:
        h = F.relu(model[0](x))
        mean, log_var = model[1](h), model[2](h)
        logits = model[4](F.relu(model[3](mean + torch.exp(log_var / 2) * torch.randn_like(mean))))
        likelihood = F.binary_cross_entropy_with_logits(logits, x, reduction="none").sum(1)
        return (likelihood - 0.5 * (1 + log_var - mean.square() - log_var.exp()).sum(1)).mean()
    return _uncompared(trained(EAGER, loss, adam(model, 1e-3), data.generator().rand(100, 784).astype("f")))


def wgan_gp() -> Program:
    weights, rng = _Weights(), data.generator()
    g = nn.Sequential(weights.dense(32, 256), nn.ReLU(), weights.dense(256, 128))
    critic = nn.Sequential(weights.dense(128, 256), nn.LeakyReLU(0.2), weights.dense(256, 256), nn.LeakyReLU(0.2),
                           weights.dense(256, 1))

    def loss(x: Any, z: Any) -> Any:
        with torch.no_grad():
            fake = g(z)
        mixed = (x + torch.rand(64, 1) * (fake - x)).requires_grad_()
        slopes = torch.autograd.grad(critic(mixed).sum(), mixed, create_graph=True)[0]
        penalty = ((slopes.square().sum(1) + 1e-8).sqrt() - 1).square().mean()
        return critic(fake).mean() - critic(x).mean() + 10 * penalty
    return _uncompared(trained(EAGER, loss, adam(critic, 1e-4, (0.5, 0.9)), rng.randn(64, 128).astype("f"),
                               rng.randn(64, 32).astype("f")))


def word2vec() -> Program:
    """NCE is written out: log-uniform draws by the inverse of their distribution, sparse gradients."""
    weights, rng = _Weights(), data.generator()
    words, count, sampled = 50_000, 128, 64
    table, out = (nn.Embedding.from_pretrained(torch.from_numpy(weights.draw(words, 128)), freeze=False, sparse=True)
                  for _ in range(2))
    biases = nn.Embedding.from_pretrained(torch.zeros(words, 1), freeze=False, sparse=True)
    model = nn.ModuleList([table, out, biases])

    def expected(ids: Any) -> Any:
        probability = torch.log((ids + 2.0) / (ids + 1.0)) / np.log(words + 1.0)
        return torch.log(-torch.expm1(sampled * torch.log1p(-probability)))

    def loss(x: Any, y: Any) -> Any:
        drawn = (torch.exp(torch.rand(sampled) * np.log(words + 1.0)) - 1).long().clamp_(max=words - 1)
        h = table(x)
        true = (h * out(y)).sum(1) + biases(y)[:, 0] - expected(y)
        noise = h @ out(drawn).T + biases(drawn)[:, 0] - expected(drawn)
        return (F.softplus(-true).sum() + F.softplus(noise).sum()) / count
    return _uncompared(trained(EAGER, loss, torch.optim.SGD(model.parameters(), 1.0),
                               rng.randint(0, words, count), rng.randint(0, words, (count, 1))[:, 0]))


def char_lstm() -> Program:
    weights, rng = _Weights(), data.generator()
    table = weights.table(64, 64)
    layers = lstm_layers([weights.draw(64 + 128, 512), weights.draw(128 + 128, 512)], num_layers=2, batch_first=True)
    model = nn.ModuleList([table, layers, weights.dense(128, 64)])
    return trained(EAGER, lambda x, y: F.cross_entropy(model[2](layers(table(x))[0]).flatten(0, 1), y.flatten()),
                   adam(model, 1e-3), rng.randint(0, 64, (32, 50)), rng.randint(0, 64, (32, 50)), clip=5.0)


def bidirectional_gru() -> Program:
    weights, rng = _Weights(), data.generator()
    table = weights.table(1000, 64)
    model = nn.ModuleList([table, nn.GRU(64, 64, batch_first=True, bidirectional=True), weights.dense(128, 2)])

    def loss(x: Any, lengths: Any, y: Any) -> Any:
        words = nn.utils.rnn.pack_padded_sequence(table(x), lengths, batch_first=True, enforce_sorted=False)
        states = model[1](words)[1]
        return F.cross_entropy(model[2](torch.cat([states[0], states[1]], 1)), y)
    return _uncompared(trained(EAGER, loss, adam(model, 1e-3), rng.randint(0, 1000, (32, 40)), rng.randint(5, 41, 32),
                               rng.randint(0, 2, 32)))


def seq2seq() -> Program:
    weights, rng = _Weights(), data.generator()
    table, encoder, cell = weights.table(500, 64), nn.GRU(64, 64, batch_first=True), nn.GRUCell(128, 64)
    model = nn.ModuleList([table, encoder, cell, weights.dense(64, 500)])

    def loss(x: Any, y: Any) -> Any:
        memory, state = encoder(table(x))
        state, words, outputs = state[0], table(y), []
        for i in range(20):
            scores = F.softmax(torch.bmm(memory, state[:, :, None]), 1)
            context = torch.bmm(scores.transpose(1, 2), memory)[:, 0]
            state = cell(torch.cat([words[:, i], context], 1), state)
            outputs.append(state)
        return F.cross_entropy(model[3](torch.stack(outputs, 1)).flatten(0, 1), y.flatten())
    return _uncompared(trained(EAGER, loss, adam(model, 1e-3), rng.randint(0, 500, (32, 20)),
                               rng.randint(0, 500, (32, 20)), clip=5.0))


def text_cnn() -> Program:
    weights, rng = _Weights(), data.generator()
    table = weights.table(5000, 128)
    convs = nn.ModuleList(_filled(nn.Conv1d(128, 64, size), weights.draw(size, 128, 1, 64)[:, :, 0].transpose(2, 1, 0))
                          for size in (3, 4, 5))
    model = nn.ModuleList([table, convs, weights.dense(192, 2)])

    def loss(x: Any, y: Any) -> Any:
        words = table(x).transpose(1, 2)
        return F.cross_entropy(model[2](torch.cat([F.relu(conv(words)).amax(2) for conv in convs], 1)), y)
    return trained(EAGER, loss, adam(model, 1e-3), rng.randint(0, 5000, (64, 56)), rng.randint(0, 2, 64))


def transformer() -> Program:
    weights, rng = _Weights(), data.generator()
    table, layers = weights.table(1000, 64), nn.ModuleList()
    for _ in range(2):
        layer = nn.TransformerEncoderLayer(64, 4, 256, 0.0, batch_first=True, layer_norm_eps=1e-6)
        attention = layer.self_attn
        with torch.no_grad():
            attention.in_proj_weight.copy_(torch.from_numpy(np.concatenate([weights.draw(64, 64).T for _ in "qkv"])))
        _filled(attention.out_proj, weights.draw(64, 64).T)
        _filled(layer.linear1, weights.draw(64, 256).T)
        _filled(layer.linear2, weights.draw(256, 64).T)
        layers.append(layer)
    model = nn.ModuleList([table, layers, weights.dense(64, 1000)])

    def loss(x: Any, y: Any) -> Any:
        h = table(x)
        for layer in layers:
            h = layer(h)
        return F.cross_entropy(model[2](h).flatten(0, 1), y.flatten())
    return trained(EAGER, loss, adam(model, 1e-3), rng.randint(0, 1000, (16, 32)), rng.randint(0, 1000, (16, 32)))


def dqn() -> Program:
    weights, rng = _Weights(), data.generator()

    def network() -> nn.Module:
        return _channels_last(nn.Sequential(
            weights.conv(4, 16, 8, 4), nn.ReLU(), weights.conv(16, 32, 4, 2, padding=2), nn.ReLU(),
            _Part(_flat), weights.dense_of_image((6, 6, 32), 128), nn.ReLU(), weights.dense(128, 4)))
    q, target = network(), network()
    optimizer = _rms_prop(q, 1e-4)
    frames = _mirrored(rng.rand(33, 42, 42, 4).astype("f"))
    action, reward = rng.randint(0, 4, 32), rng.rand(32).astype("f")

    def loss() -> Any:
        state, after = torch.from_numpy(frames[:32]), torch.from_numpy(frames[1:])
        with torch.no_grad():
            wanted = torch.from_numpy(reward) + 0.99 * target(after).amax(1)
        return F.mse_loss(q(state).gather(1, torch.from_numpy(action)[:, None])[:, 0], wanted)

    def step() -> None:
        with torch.inference_mode():
            q(torch.from_numpy(frames[:1])).argmax(1).numpy()
        optimizer.zero_grad()
        loss().backward()
        optimizer.step()
        target.load_state_dict(q.state_dict())
    return Program(step, lambda: float(loss().detach()))


def _rms_prop(model: nn.Module, rate: float) -> Any:
    """tf.train.RMSPropOptimizer, but for the place of epsilon: its averages begin with 1."""
    optimizer = torch.optim.RMSprop(model.parameters(), rate, alpha=0.9, eps=1e-10)
    for parameter in model.parameters():
        optimizer.state[parameter] = {"step": torch.zeros(()), "square_avg": torch.ones_like(parameter)}
    return optimizer


def factorization() -> Program:
    """Adam with dense gradients: that is what tf.train.AdamOptimizer computes of sparse ones."""
    weights, rng = _Weights(), data.generator()
    model = nn.ModuleList([weights.table(20_000, 64), weights.table(10_000, 64)])

    def loss(user: Any, item: Any, rating: Any) -> Any:
        u, i = model[0](user), model[1](item)
        return F.mse_loss((u * i).sum(1), rating) + 0.005 * (u.square().sum() + i.square().sum())
    return trained(EAGER, loss, adam(model, 1e-3), rng.randint(0, 20_000, 512), rng.randint(0, 10_000, 512),
                   rng.rand(512).astype("f"))


def wide_and_deep() -> Program:
    """Adagrad for both parts."""
    weights, rng = _Weights(), data.generator()
    crosses, table = (nn.EmbeddingBag.from_pretrained(torch.from_numpy(weights.draw(10_000, depth)), freeze=False,
                                                      sparse=True, mode=mode)
                      for depth, mode in ((1, "sum"), (16, "mean")))
    deep = nn.Sequential(weights.dense(21, 100), nn.ReLU(), weights.dense(100, 50), nn.ReLU(), weights.dense(50, 1))
    parameters = [*crosses.parameters(), *table.parameters(), *deep.parameters()]

    def loss(ids: Any, numbers: Any, y: Any) -> Any:
        rows = ids.view(128, 4)
        return F.binary_cross_entropy_with_logits(crosses(rows) + deep(torch.cat([table(rows), numbers], 1)), y)
    return _uncompared(trained(EAGER, loss, torch.optim.Adagrad(parameters, 0.05, initial_accumulator_value=0.1),
                               rng.randint(0, 10_000, 512), rng.rand(128, 5).astype("f"),
                               rng.randint(0, 2, (128, 1)).astype("f")))


def deep_mlp() -> Program:
    weights, rng = _Weights(), data.generator()
    model = nn.ModuleList([*(weights.dense(64, 64) for _ in range(100)), weights.dense(64, 1)])

    def loss(h: Any, y: Any) -> Any:
        for layer in model[:-1]:
            h = h + 0.1 * torch.tanh(layer(h))
        return F.mse_loss(model[-1](h), y)
    return trained(EAGER, loss, _sgd(model, 1e-3), rng.randn(32, 64).astype("f"), rng.randn(32, 1).astype("f"))


def autoencoder() -> Program:
    """A DataLoader that takes whole batches from a TensorDataset.

    Gradients are small here: TensorFlow's epsilon is added before the correction of bias, in the first steps 2e-7.
    """
    weights, images = _Weights(), torch.from_numpy(data.generator().rand(2048, 784).astype("f"))
    model = _stack(weights, [784, 128, 32, 128, 784])
    rows = torch.utils.data.TensorDataset(images)
    order = torch.utils.data.BatchSampler(torch.utils.data.SequentialSampler(rows), 128, drop_last=False)
    loader = torch.utils.data.DataLoader(rows, sampler=order, batch_size=None)
    batches = itertools.chain.from_iterable(loader for _ in itertools.count())
    optimizer = torch.optim.Adam(model.parameters(), 1e-3, eps=2e-7, fused=True)

    def loss() -> Any:
        x = next(batches)[0] * 0.5
        return F.mse_loss(model(x), x)

    def step() -> None:
        optimizer.zero_grad()
        loss().backward()
        optimizer.step()
    return Program(step, lambda: float(loss().detach()))


def _stack(weights: _Weights, sizes: Sequence[int]) -> nn.Module:
    layers: list[nn.Module] = []
    for inputs, units in itertools.pairwise(sizes):
        layers += [weights.dense(inputs, units), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


def sampling() -> Program:
    weights = _Weights()
    table = weights.table(64, 64)
    cell = lstm_layers([weights.draw(64 + 128, 512)], nn.LSTMCell)
    last = weights.dense(128, 64)

    def step() -> list[int]:
        found, state, character = [], (torch.zeros(1, 128),) * 2, torch.zeros(1, dtype=torch.int64)
        with torch.inference_mode():
            for _ in range(20):
                state = cell(table(character), state)
                character = torch.multinomial(F.softmax(last(state[0]), 1), 1)[0]
                found.append(int(character))
        return found
    return Program(step, lambda: None)


def changing_batch() -> Program:
    weights, rng = _Weights(), data.generator()
    model = _stack(weights, [128, 128, 10])
    rows, labels = rng.rand(128, 128).astype("f"), rng.randint(0, 10, 128)
    optimizer, drawn = adam(model, 1e-3), sizes()

    def loss(size: int) -> Any:
        return F.cross_entropy(model(torch.from_numpy(rows[:size])), torch.from_numpy(labels[:size]))

    def step() -> None:
        optimizer.zero_grad()
        loss(next(drawn)).backward()
        optimizer.step()
    return Program(step, lambda: float(loss(128).detach()))


MODELS: dict[str, Callable[[], Program]] = {model.__name__: model for model in (
    resnet, inception, vgg, unet, dcgan, vae, wgan_gp, word2vec, char_lstm, bidirectional_gru, seq2seq, text_cnn,
    transformer, dqn, factorization, wide_and_deep, deep_mlp, autoencoder, sampling, changing_batch)}
