"""Affine map of several tensors with variables of its own: `rnn_cell._linear`, of which programs build cells."""
from __future__ import annotations

from typing import Any

from tfnb.core import nest
from tfnb.graph.convert import convert_to_tensor
from tfnb.ops.array.joining import concat
from tfnb.ops.nn.activations import bias_add
from tfnb.ops.reductions.matmul import matmul
from tfnb.variables.initializers import constant_initializer, zeros_initializer
from tfnb.variables.scope import get_variable, get_variable_scope, variable_scope


def linear(args: Any, output_size: int, bias: bool, bias_initializer: Any = None, kernel_initializer: Any = None,
           scope: Any = None, bias_start: float | None = None) -> Any:
    """Return concat(args, 1) * kernel + bias, of shape (batch, output_size).

    args: a tensor (batch, size) or a list of them. bias: whether there is one. bias_initializer, kernel_initializer: of
    the variables "bias" (zeros) and "kernel"; up to release 1.1 a number, the value of all biases, came fourth, also as
    bias_start. scope: a variable scope to open around them. Raises ValueError for no tensors, or for other ranks and
    sizes that are not known.

    >>> y = tf.nn.rnn_cell.linear([tf.ones([4, 3]), tf.ones([4, 2])], 7, bias=True)
    >>> y.shape.as_list()
    [4, 7]
    """
    tensors = [convert_to_tensor(arg) for arg in nest.flatten(args)] if args is not None else []
    if not tensors:
        raise ValueError("`args` must be specified")
    depth = 0
    for tensor in tensors:
        if tensor.static is None or len(tensor.static) != 2 or tensor.static[1] is None:
            raise ValueError(f"linear expects arguments of shape (batch, size) with a known size, got {tensor.shape}")
        depth += tensor.static[1]
    start = bias_initializer if bias_start is None else bias_start
    if isinstance(start, (int, float)):
        start = constant_initializer(start)
    with variable_scope(get_variable_scope() if scope is None else scope):
        dtype = tensors[0].dtype
        kernel = get_variable("kernel", [depth, output_size], dtype, initializer=kernel_initializer)
        product = matmul(tensors[0] if len(tensors) == 1 else concat(tensors, 1), kernel)
        if not bias:
            return product
        return bias_add(product, get_variable("bias", [output_size], dtype,
                                              initializer=zeros_initializer() if start is None else start))
