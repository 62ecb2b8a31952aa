"""Embeddings of Keras: a vector for each integer."""
from __future__ import annotations

from typing import Any, ClassVar

from tfnb.core.arguments import KERAS, describe
from tfnb.core.shape import TensorShape
from tfnb.keras.backend import ops
from tfnb.keras.backend.config import floatx
from tfnb.keras.functions import regularizers
from tfnb.keras.layers.described import Described, shape_list


class Embedding(Described):
    """A trained vector for each integer: (batch, ...) -> (batch, ..., output_dim).

    Variables: embeddings (input_dim, output_dim). input_dim: the largest integer and 1. mask_zero: whether 0 is
    padding, which is masked. input_length: the number of steps, if it is constant.

    >>> layer = tf.keras.layers.Embedding(3, 2, embeddings_initializer="ones")
    >>> tf.keras.backend.eval(layer(tf.constant([[0, 2]])))
    array([[[1., 1.],
            [1., 1.]]], dtype=float32)
    """

    _arguments: ClassVar[tuple[str, ...]] = (
        "input_dim", "output_dim", "embeddings_initializer", "embeddings_regularizer", "activity_regularizer",
        "embeddings_constraint", "mask_zero", "input_length")

    def __init__(self, input_dim: int, output_dim: int, embeddings_initializer: Any = "uniform",
                 embeddings_regularizer: Any = None, activity_regularizer: Any = None,
                 embeddings_constraint: Any = None, mask_zero: bool = False, input_length: Any = None,
                 **kwargs: Any) -> None:
        if "input_shape" not in kwargs and "batch_input_shape" not in kwargs:
            lengths = input_length if isinstance(input_length, (list, tuple)) else (input_length,)
            kwargs["input_shape"] = tuple(lengths)
        super().__init__(dtype=kwargs.pop("dtype", None) or floatx(),
                         activity_regularizer=regularizers.get(activity_regularizer), **kwargs)
        self.input_dim, self.output_dim, self.input_length = input_dim, output_dim, input_length
        self._keep(embeddings_initializer=embeddings_initializer, embeddings_regularizer=embeddings_regularizer,
                   embeddings_constraint=embeddings_constraint)
        self.mask_zero = self.supports_masking = mask_zero

    def build(self, input_shape: Any) -> None:
        """Make the embeddings."""
        self.embeddings = self.add_weight("embeddings", [self.input_dim, self.output_dim], None,
                                          self.embeddings_initializer, self.embeddings_regularizer, True,
                                          self.embeddings_constraint)
        self.built = True

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """With mask_zero True where the integer is not 0, else None."""
        return ops.not_equal(inputs, 0) if self.mask_zero else None

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """(batch, ..., output_dim)."""
        return TensorShape([*shape_list(input_shape), self.output_dim])

    def call(self, inputs: Any) -> Any:
        """The vectors. Raises InvalidArgumentError, when it runs, for integers that are no index."""
        if inputs.dtype.base_dtype.name not in ("int32", "int64"):
            inputs = ops.cast(inputs, "int32")
        return ops.embedding_lookup(self.embeddings, inputs)


describe(globals(), KERAS)
