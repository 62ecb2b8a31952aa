"""Summaries of tensors under their own names: `tf.contrib.slim.summaries`."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tfnb.core.arguments import SLIM, describe
from tfnb.graph.parts.keys import GraphKeys
from tfnb.graph.stack import add_to_collections, name_scope
from tfnb.ops.control.checks import Print
from tfnb.ops.io import summary as now
from tfnb.ops.reductions.reduce import zero_fraction


def _name(tensor: Any, name: str | None, prefix: str | None) -> str:
    name = name or tensor.op.name
    return f"{prefix}/{name}" if prefix else name


def _printed(summary: Any, tensor: Any, name: str, print_summary: bool) -> Any:
    if print_summary:
        add_to_collections([GraphKeys.SUMMARIES], Print(summary, [tensor], name))
    return summary


def add_histogram_summary(tensor: Any, name: str | None = None, prefix: str | None = None) -> Any:
    """Add a histogram of `tensor`. name: by default that of its op.

    >>> tf.contrib.slim.summaries.add_histogram_summary(tf.ones([3], name="x"), prefix="net").op.name
    'net/x'
    """
    return now.histogram(_name(tensor, name, prefix), tensor)


def add_image_summary(tensor: Any, name: str | None = None, prefix: str | None = None,
                      print_summary: bool = False) -> Any:
    """Add a summary of the images `tensor`. name: by default that of its op.

    >>> tf.contrib.slim.summaries.add_image_summary(tf.ones([1, 4, 4, 3]), "image").op.name
    'image'
    """
    name = _name(tensor, name, prefix)
    return _printed(now.image(name, tensor), tensor, name, print_summary)


def add_scalar_summary(tensor: Any, name: str | None = None, prefix: str | None = None,
                       print_summary: bool = False) -> Any:
    """Add a summary of the number `tensor`. name: by default that of its op.

    >>> tf.contrib.slim.summaries.add_scalar_summary(tf.constant(0.5, name="loss")).op.name
    'loss_1'
    """
    name = _name(tensor, name, prefix)
    return _printed(now.scalar(name, tensor), tensor, name, print_summary)


def add_zero_fraction_summary(tensor: Any, name: str | None = None, prefix: str | None = None,
                              print_summary: bool = False) -> Any:
    """Add the part of the elements of `tensor` that are 0. name: by default that of its op.

    >>> made = tf.contrib.slim.summaries.add_zero_fraction_summary(tf.constant([0.0, 1.0], name="x"))
    >>> tf.Summary.FromString(sess.run(made)).value[0].simple_value
    0.5
    """
    name = _name(tensor, name, prefix)
    with name_scope("summaries"):
        part = zero_fraction(tensor)
    return _printed(now.scalar(f"{name}/Fraction_of_Zero_Values", part), part, name, print_summary)


def _of_each(add: Callable[..., Any], tensors: Sequence[Any], *arguments: Any) -> list[Any]:
    return [add(tensor, None, *arguments) for tensor in tensors]


def add_histogram_summaries(tensors: Sequence[Any], prefix: str | None = None) -> list[Any]:
    """Add a histogram of each of `tensors`.

    >>> len(tf.contrib.slim.summaries.add_histogram_summaries([tf.ones([3]), tf.ones([2])]))
    2
    """
    return _of_each(add_histogram_summary, tensors, prefix)


def add_image_summaries(tensors: Sequence[Any], prefix: str | None = None) -> list[Any]:
    """Add a summary of the images of each of `tensors`.

    >>> len(tf.contrib.slim.summaries.add_image_summaries([tf.ones([1, 4, 4, 3])]))
    1
    """
    return _of_each(add_image_summary, tensors, prefix)


def add_scalar_summaries(tensors: Sequence[Any], prefix: str | None = None, print_summary: bool = False) -> list[Any]:
    """Add a summary of each of the numbers `tensors`.

    >>> len(tf.contrib.slim.summaries.add_scalar_summaries([tf.constant(0.5)]))
    1
    """
    return _of_each(add_scalar_summary, tensors, prefix, print_summary)


def add_zero_fraction_summaries(tensors: Sequence[Any], prefix: str | None = None) -> list[Any]:
    """Add the part of zeros of each of `tensors`.

    >>> len(tf.contrib.slim.summaries.add_zero_fraction_summaries([tf.ones([3])]))
    1
    """
    return _of_each(add_zero_fraction_summary, tensors, prefix)


describe(globals(), SLIM)
