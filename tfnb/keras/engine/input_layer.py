"""Inputs of a model: placeholders that know that they are."""
from __future__ import annotations

from typing import Any

from tfnb.core.arguments import KERAS, describe
from tfnb.core.shape import TensorShape
from tfnb.graph.stack import name_scope
from tfnb.keras.backend.config import floatx
from tfnb.keras.backend.session import get_uid
from tfnb.keras.engine.layer import Layer
from tfnb.keras.engine.legacy import join as _join  # noqa: F401  it lets layers of tf.layers take inputs
from tfnb.keras.engine.node import Node
from tfnb.ops.control.source import placeholder
from tfnb.ops.sparse.conversion import sparse_placeholder


class InputLayer(Layer):
    """An input of a model: a placeholder, its only output.

    input_shape: without the batch. batch_size: of the batch, None by default. dtype: float32 by default. input_tensor:
    a tensor in place of a placeholder. sparse: whether it is a SparseTensor. ragged: refused.

    >>> layer = tf.keras.layers.InputLayer((2, 3), name="image")
    >>> layer.output
    <tf.Tensor 'image:0' shape=(?, 2, 3) dtype=float32>
    """

    def __init__(self, input_shape: Any = None, batch_size: int | None = None, dtype: Any = None,
                 input_tensor: Any = None, sparse: bool = False, name: str | None = None, ragged: bool = False,
                 **kwargs: Any) -> None:
        if ragged:
            raise NotImplementedError("ragged=True: layers of Keras take dense and sparse tensors here")
        sizes = kwargs.pop("batch_input_shape", None)
        if kwargs:
            raise ValueError(f"Unrecognized keyword arguments: {', '.join(kwargs)}")
        if input_tensor is None and sizes is None:
            inner = [input_shape] if isinstance(input_shape, int) else input_shape
            sizes = None if inner is None else (batch_size, *TensorShape(inner).as_list())
        dtype = dtype or (floatx() if input_tensor is None else input_tensor.dtype.base_dtype.name)
        super().__init__(name=name or f"input_{get_uid('input')}", dtype=dtype)
        self.sparse, self.ragged, self.built, self.supports_masking = sparse, ragged, True, True
        self.is_placeholder = input_tensor is None
        if input_tensor is None:
            self._batch_input_shape = None if sizes is None else tuple(TensorShape(sizes).as_list())
            with name_scope(None):
                make = sparse_placeholder if sparse else placeholder
                input_tensor = make(dtype, self._batch_input_shape, name=self.name)
        else:
            known = input_tensor.shape
            self._batch_input_shape = None if known.ndims is None else tuple(known.as_list())
        input_tensor._keras_mask = None
        Node(self, [], input_tensor)

    def get_config(self) -> dict[str, Any]:
        """Return the arguments of the constructor."""
        return {"batch_input_shape": self._batch_input_shape, "dtype": self.dtype, "sparse": self.sparse,
                "ragged": self.ragged, "name": self.name}


def Input(shape: Any = None, batch_size: int | None = None, name: str | None = None,    # noqa: N802
          dtype: Any = None, sparse: bool = False, tensor: Any = None, ragged: bool = False, **kwargs: Any) -> Any:
    """Return an input of a model: a placeholder, on which layers are called.

    shape: without the batch. batch_size: of the batch, None by default. dtype: float32 by default. sparse: whether it
    is a SparseTensor. tensor: a tensor in place of a placeholder. ragged: refused. batch_shape (keyword): the shape
    with the batch. Raises ValueError without a shape.

    >>> tf.keras.Input((784,), name="pixels")
    <tf.Tensor 'pixels:0' shape=(?, 784) dtype=float32>
    """
    sizes = kwargs.pop("batch_shape", None)
    if kwargs:
        raise ValueError(f"Unrecognized keyword arguments: {', '.join(kwargs)}")
    if shape is None and sizes is None and tensor is None:
        raise ValueError("Please provide to Input either a `tensor` or a `shape`. Note that `shape` does not include "
                         "the batch dimension.")
    made = InputLayer(shape, batch_size, dtype, tensor, sparse, name, ragged, batch_input_shape=sizes)
    return made._inbound_nodes[0].output_tensors


describe(globals(), KERAS)
