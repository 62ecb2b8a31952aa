"""A network with two hidden layers for the digits of MNIST: `tf.examples.tutorials.mnist.mnist`."""
from __future__ import annotations

import math
from typing import Any

from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.stack import name_scope
from tfnb.losses.losses import sparse_softmax_cross_entropy
from tfnb.ops.array.create import zeros
from tfnb.ops.io.summary import scalar
from tfnb.ops.math.casting import cast, to_int64
from tfnb.ops.nn.activations import relu
from tfnb.ops.random.random_ops import truncated_normal
from tfnb.ops.reductions.matmul import matmul
from tfnb.ops.reductions.reduce import reduce_sum
from tfnb.ops.reductions.top import in_top_k
from tfnb.train.optimizers.gradient_descent import GradientDescentOptimizer
from tfnb.variables.variable import Variable

NUM_CLASSES = 10
IMAGE_SIZE = 28
IMAGE_PIXELS = IMAGE_SIZE * IMAGE_SIZE


def _linear(inputs: Any, sizes: tuple[int, int]) -> Any:
    start = truncated_normal(list(sizes), stddev=1.0 / math.sqrt(sizes[0]))
    weights = Variable(start, name="weights")
    biases = Variable(zeros([sizes[1]]), name="biases")
    return matmul(inputs, weights) + biases


def inference(images: Any, hidden1_units: int, hidden2_units: int) -> Tensor:
    """The logits (batch, 10) of images (batch, 784)."""
    with name_scope("hidden1"):
        hidden = relu(_linear(images, (IMAGE_PIXELS, hidden1_units)))
    with name_scope("hidden2"):
        hidden = relu(_linear(hidden, (hidden1_units, hidden2_units)))
    with name_scope("softmax_linear"):
        logits: Tensor = _linear(hidden, (hidden2_units, NUM_CLASSES))
        return logits


def loss(logits: Any, labels: Any) -> Tensor:
    """The mean cross-entropy with labels that are numbers of classes."""
    return sparse_softmax_cross_entropy(labels=to_int64(labels), logits=logits)


def training(loss: Any, learning_rate: float) -> Operation:
    """A step of gradient descent, which counts itself in "global_step"; the loss becomes a summary."""
    scalar("loss", loss)
    optimizer = GradientDescentOptimizer(learning_rate)
    step = Variable(0, name="global_step", trainable=False)
    made: Operation = optimizer.minimize(loss, global_step=step)
    return made


def evaluation(logits: Any, labels: Any) -> Tensor:
    """Count the examples whose largest logit is at their label."""
    return reduce_sum(cast(in_top_k(logits, labels, 1), "int32"))
