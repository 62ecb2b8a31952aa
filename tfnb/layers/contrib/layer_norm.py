"""Layer normalization: `tf.contrib.layers.layer_norm`."""
from __future__ import annotations

from typing import Any

from tfnb.core.arguments import CONTRIB_LAYERS, describe
from tfnb.core.dtypes import float16
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.stack import add_to_collections
from tfnb.layers.contrib.arg_scope import add_arg_scope
from tfnb.layers.contrib.variables import model_variable
from tfnb.ops.nn.activations import batch_normalization, moments
from tfnb.variables.initializers import ones_initializer, zeros_initializer
from tfnb.variables.scope import variable_scope


@add_arg_scope
def layer_norm(inputs: Any, center: bool = True, scale: bool = True, activation_fn: Any = None, reuse: Any = None,
               variables_collections: Any = None, outputs_collections: Any = None, trainable: bool = True,
               begin_norm_axis: int = 1, begin_params_axis: int = -1, scope: Any = None) -> Any:
    """Return `inputs` with mean 0 and variance 1 over the axes from begin_norm_axis on (Ba et al., 2016).

    center, scale: then add the variable "beta" and multiply by "gamma", of the sizes of the axes from
    begin_params_axis on. Raises ValueError for an unknown rank, an axis out of range, or sizes that are not known.

    >>> y = tf.contrib.layers.layer_norm(tf.constant([[1.0, 3.0]]))
    >>> sess.run(tf.global_variables_initializer())
    >>> sess.run(y)
    array([[-1.,  1.]], dtype=float32)
    """
    with variable_scope(scope, "LayerNorm", [inputs], reuse=reuse):
        inputs = convert_to_tensor(inputs)
        rank = inputs.shape.ndims
        if rank is None:
            raise ValueError(f"Inputs {inputs.name} has undefined rank.")
        first = begin_norm_axis + rank if begin_norm_axis < 0 else begin_norm_axis
        if first >= rank or begin_params_axis >= rank:
            raise ValueError(f"begin_params_axis ({begin_params_axis}) and begin_norm_axis ({begin_norm_axis}) must be "
                             f"< rank(inputs) ({rank})")
        sizes = inputs.shape[begin_params_axis:]
        if not sizes.is_fully_defined():
            raise ValueError(f"Inputs {inputs.name}: shape(inputs)[{begin_params_axis}:] is not fully defined: "
                             f"{inputs.shape}")
        beta, gamma = (_variable(name, sizes, inputs.dtype, start, trainable, variables_collections) if wanted else None
                       for name, start, wanted in (("beta", zeros_initializer(), center),
                                                   ("gamma", ones_initializer(), scale)))
        mean, variance = moments(inputs, list(range(first, rank)), keep_dims=True)
        outputs = batch_normalization(inputs, mean, variance, beta, gamma,
                                      1e-3 if inputs.dtype == float16 else 1e-12)      # official
        outputs.set_shape(inputs.shape)
        outputs = outputs if activation_fn is None else activation_fn(outputs)
        if outputs_collections is not None:
            add_to_collections(outputs_collections, outputs)
        return outputs


def _variable(name: str, sizes: Any, dtype: Any, start: Any, trainable: bool, collections: Any) -> Any:
    made = model_variable(name, sizes, dtype=dtype.base_dtype, initializer=start, trainable=trainable)
    wanted = collections.get(name) if isinstance(collections, dict) else collections
    if wanted:
        add_to_collections(wanted, made)
    return made


describe(globals(), CONTRIB_LAYERS)
