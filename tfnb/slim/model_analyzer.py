"""Sizes of variables and of the outputs of ops: `tf.contrib.slim.model_analyzer`."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfnb.core.arguments import SLIM, describe

_LINE = "---------"


def tensor_description(var: Any) -> str:
    """Return the dtype, shape and bytes of a tensor or variable, `var`, as a text.

    >>> tf.contrib.slim.model_analyzer.tensor_description(tf.zeros([2, 3]))
    '(float32 2x3) [6, bytes: 24]'
    """
    count = var.shape.num_elements() or 0
    shape = "x".join(str(size) for size in var.shape.as_list())
    return f"({var.dtype.name} {shape}) [{count}, bytes: {count * var.dtype.base_dtype.size}]"


def analyze_ops(graph: Any, print_info: bool = False) -> int:
    """Return the number of elements of all outputs of the ops of `graph`; unknown shapes count as 0.

    >>> x = tf.zeros([2, 3])
    >>> y = x + 1.0
    >>> tf.contrib.slim.model_analyzer.analyze_ops(tf.get_default_graph())
    13
    """
    total = 0
    if print_info:
        print(f"{_LINE}\nOperations: name -> (type shapes) [size]\n{_LINE}")
    for op in graph.get_operations():
        size = sum(output.shape.num_elements() or 0 for output in op.outputs)
        total += size
        if print_info:
            shapes = ", ".join("x".join(map(str, t.shape.as_list())) if t.shape.ndims else "scalar"
                               for t in op.outputs)
            print(f"{op.name} -> ({op.type} {shapes}) [{size}]")
    if print_info:
        print(f"{_LINE}\nTotal size: {total}")
    return total


def analyze_vars(variables: Sequence[Any], print_info: bool = False) -> tuple[int, int]:
    """Return (the number of elements of `variables`, their bytes).

    >>> y = tf.contrib.slim.fully_connected(tf.ones([4, 3]), 2)
    >>> tf.contrib.slim.model_analyzer.analyze_vars(tf.model_variables())
    (8, 32)
    """
    total = size = 0
    if print_info:
        print(f"{_LINE}\nVariables: name (type shape) [size]\n{_LINE}")
    for variable in variables:
        count = variable.shape.num_elements() or 0
        total, size = total + count, size + count * variable.dtype.base_dtype.size
        if print_info:
            print(variable.name, tensor_description(variable))
    if print_info:
        print(f"Total size of variables: {total}\nTotal bytes of variables: {size}")
    return total, size


describe(globals(), SLIM)
