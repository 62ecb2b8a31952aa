"""Cross entropies of `tf.keras.backend`, of probabilities or logits."""
from __future__ import annotations

from typing import Any

from tfnb.core.arguments import KERAS, describe
from tfnb.graph.convert import convert_to_tensor
from tfnb.keras.backend import ops
from tfnb.keras.backend.config import epsilon
from tfnb.ops.math.functions import Sigmoid
from tfnb.ops.nn.cross_entropy import Softmax


def _logits_of(output: Any, op: Any) -> Any:
    """Return the logits where an op of this kind made the probabilities: their cross entropy is the exact one."""
    tensor = convert_to_tensor(output)
    return tensor.op.inputs[0] if tensor.op.spec is op.spec else None


def _clipped(output: Any) -> Any:
    output = convert_to_tensor(output)
    return ops.clip_by_value(output, epsilon(), 1 - epsilon())


def categorical_crossentropy(target: Any, output: Any, from_logits: bool = False, axis: int = -1) -> Any:
    """Return the cross entropy -sum(target * log(output)) along an axis.

    target: probabilities of the classes. output: predicted ones, or logits.

    >>> sess.run(tf.keras.backend.categorical_crossentropy(tf.constant([[0.0, 1.0]]), tf.constant([[0.5, 0.5]])))
    array([0.6931], dtype=float32)
    """
    logits = output if from_logits else _logits_of(output, Softmax)
    if logits is not None:
        return ops.softmax_cross_entropy_with_logits_v2(labels=target, logits=logits, axis=axis)
    output = convert_to_tensor(output)
    output = _clipped(output / ops.reduce_sum(output, axis, True))
    return -ops.reduce_sum(target * ops.log(output), axis)


def sparse_categorical_crossentropy(target: Any, output: Any, from_logits: bool = False, axis: int = -1) -> Any:
    """Return the cross entropy -log(output[target]).

    target: integer classes. output: predicted probabilities along an axis, or logits.

    >>> sess.run(tf.keras.backend.sparse_categorical_crossentropy(tf.constant([1]), tf.constant([[0.5, 0.5]])))
    array([0.6931], dtype=float32)
    """
    logits = output if from_logits else _logits_of(output, Softmax)
    if logits is None:
        logits = ops.log(_clipped(output))
    logits = convert_to_tensor(logits)
    rank = logits.shape.ndims
    if rank is None:
        raise ValueError("sparse_categorical_crossentropy takes an output of known rank")
    if axis % rank != rank - 1:
        logits = ops.transpose(logits, [each for each in range(rank) if each != axis % rank] + [axis % rank])
    sizes: Any = ops.shape(logits)
    labels = ops.cast(ops.reshape(target, [-1]), "int64")
    made = ops.sparse_softmax_cross_entropy_with_logits(
        labels=labels, logits=ops.reshape(logits, ops.stack([-1, sizes[rank - 1]])) if rank != 2 else logits)
    if rank < 3:
        return made
    made = ops.reshape(made, sizes[:-1])
    made.set_shape(logits.shape[:-1])
    return made


def binary_crossentropy(target: Any, output: Any, from_logits: bool = False) -> Any:
    """Return the cross entropy of each element, -(target * log(output) + (1 - target) * log(1 - output)).

    target: values in [0, 1]. output: predicted probabilities, or logits.

    >>> sess.run(tf.keras.backend.binary_crossentropy(tf.constant([1.0]), tf.constant([0.5])))
    array([0.6931], dtype=float32)
    """
    logits = output if from_logits else _logits_of(output, Sigmoid)
    if logits is not None:
        return ops.sigmoid_cross_entropy_with_logits(labels=target, logits=logits)
    output = _clipped(output)
    return -(target * ops.log(output + epsilon()) + (1 - target) * ops.log(1 - output + epsilon()))


describe(globals(), KERAS)
