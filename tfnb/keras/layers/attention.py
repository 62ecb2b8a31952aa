"""Dot-product (Luong) and additive (Bahdanau) attention of Keras."""
from __future__ import annotations

from typing import Any, ClassVar

from tfnb.core.arguments import KERAS, describe
from tfnb.core.shape import TensorShape
from tfnb.keras.backend import ops
from tfnb.keras.layers.described import Described, shape_list


class BaseDenseAttention(Described):
    """Means of values, weighted by the softmax of scores: inputs [query, value] or [query, value, key].

    query: (batch, Tq, dim); value, key: (batch, Tv, dim); the key is the value if it is not given. causal: a step
    sees values up to its own place only.
    """

    supports_masking = True
    _arguments: ClassVar[tuple[str, ...]] = ("causal",)

    def __init__(self, causal: bool = False, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.causal = causal

    def _calculate_scores(self, query: Any, key: Any) -> Any:
        raise NotImplementedError

    def call(self, inputs: Any, mask: Any = None) -> Any:
        """mask: [of the query (batch, Tq), of the values (batch, Tv)], bools or None. Returns (batch, Tq, dim)."""
        if not isinstance(inputs, (list, tuple)) or len(inputs) not in (2, 3):
            raise ValueError(f"{type(self).__name__} layer must be called on a list of inputs, namely [query, value] "
                             f"or [query, value, key], got {inputs!r}")
        if mask is not None and (not isinstance(mask, (list, tuple)) or len(mask) < 2):
            raise ValueError(f"{type(self).__name__} layer mask must be a list [query_mask, value_mask], got {mask!r}")
        query, value = inputs[:2]
        scores = self._calculate_scores(query, inputs[2] if len(inputs) == 3 else value)
        query_mask, value_mask = mask[:2] if mask is not None else (None, None)
        allowed = [] if value_mask is None else [ops.expand_dims(ops.cast(value_mask, "bool"), -2)]
        if self.causal:
            sizes: Any = ops.shape(scores)
            rows = ops.expand_dims(ops.range(sizes[1]), -1)
            allowed.append(ops.expand_dims(ops.greater_equal(rows, ops.range(sizes[2])), 0))
        for each in allowed:
            scores -= 1e9 * ops.cast(ops.logical_not(each), scores.dtype)
        made = ops.matmul(ops.softmax(scores), value)
        if query_mask is not None:
            made *= ops.cast(ops.expand_dims(ops.cast(query_mask, "bool"), -1), made.dtype)
        return made

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """The mask of the query."""
        return ops.convert_to_tensor(mask[0]) if mask and mask[0] is not None else None

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """(batch, Tq, dim)."""
        return TensorShape([*shape_list(input_shape[0])[:-1], shape_list(input_shape[1])[-1]])


class Attention(BaseDenseAttention):
    """Dot-product attention: scores query * key^T. use_scale: whether they have a factor that is trained.

    Inputs: [query (batch, Tq, dim), value (batch, Tv, dim)], and a key like the value. causal (keyword): a step sees
    values up to its own place only.

    >>> query, value = tf.zeros([1, 1, 2]), tf.constant([[[1.0, 2.0], [3.0, 4.0]]])
    >>> sess.run(tf.keras.layers.Attention()([query, value]))
    array([[[2., 3.]]], dtype=float32)
    """

    _arguments: ClassVar[tuple[str, ...]] = ("use_scale", "causal")

    def __init__(self, use_scale: bool = False, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.use_scale = use_scale

    def build(self, input_shape: Any) -> None:
        """Make the scale."""
        self.scale = self.add_weight("scale", (), None, "ones") if self.use_scale else None
        self.built = True

    def _calculate_scores(self, query: Any, key: Any) -> Any:
        scores = ops.matmul(query, key, transpose_b=True)
        return scores if self.scale is None else scores * self.scale


class AdditiveAttention(BaseDenseAttention):
    """Additive attention: scores sum(scale * tanh(query + key)). use_scale: whether scale is trained, or 1.

    Inputs: [query (batch, Tq, dim), value (batch, Tv, dim)], and a key like the value. causal (keyword): a step sees
    values up to its own place only.

    >>> query, value = tf.zeros([1, 1, 2]), tf.constant([[[1.0, 2.0], [1.0, 2.0]]])
    >>> tf.keras.backend.eval(tf.keras.layers.AdditiveAttention()([query, value]))
    array([[[1., 2.]]], dtype=float32)
    """

    _arguments: ClassVar[tuple[str, ...]] = ("use_scale", "causal")

    def __init__(self, use_scale: bool = True, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.use_scale = use_scale

    def build(self, input_shape: Any) -> None:
        """Make the scale."""
        size = shape_list(input_shape[1])[-1]
        self.scale = self.add_weight("scale", [size], None, "glorot_uniform") if self.use_scale else None
        self.built = True

    def _calculate_scores(self, query: Any, key: Any) -> Any:
        both = ops.tanh(ops.expand_dims(query, -2) + ops.expand_dims(key, -3))
        return ops.reduce_sum(both if self.scale is None else self.scale * both, axis=-1)


describe(globals(), KERAS)
