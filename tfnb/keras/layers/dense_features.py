"""Layer of Keras over the feature columns of `tf.feature_column`."""
from __future__ import annotations

from math import prod
from typing import Any

from tfnb.core.arguments import KERAS, describe
from tfnb.core.shape import TensorShape
from tfnb.feature_column.input_layer import side_by_side
from tfnb.feature_column.sequence import over_time
from tfnb.keras.engine.layer import Layer
from tfnb.keras.layers.described import shape_list


class _Weights:
    """Variables of columns as weights of a layer."""

    collections: Any = None

    def __init__(self, layer: Any) -> None:
        self._layer, self._made = layer, {}     # type: ignore[var-annotated]
        self.trainable = layer.trainable

    def variable(self, column: Any, name: str, size: tuple[int, ...], initializer: Any, trainable: bool) -> Any:
        """Return the variable `name` of a column, float32, made at its first use."""
        key = (column, name)
        if key not in self._made:
            self._made[key] = self._layer.add_weight(name, size, "float32", initializer,
                                                     trainable=self._layer.trainable and trainable)
        return self._made[key]


class _Features(Layer):
    """Base: a layer over feature columns, whose variables are its weights."""

    def __init__(self, feature_columns: Any, trainable: bool = True, name: str | None = None, **kwargs: Any) -> None:
        super().__init__(trainable=trainable, name=name, **kwargs)
        self._feature_columns = feature_columns
        self._columns_weights: Any = _Weights(self)

    def _width(self) -> int:
        columns = self._feature_columns if isinstance(self._feature_columns, (list, tuple)) else [self._feature_columns]
        return sum(prod(each or 1 for each in shape_list(column.variable_shape)) for column in columns)


class DenseFeatures(_Features):
    """The tensors of dense feature columns side by side, [batch, elements], of a dict of features.

    feature_columns: dense columns (numeric, bucketized, embedding, indicator), a list or one. trainable: whether their
    variables are trained. Raises ValueError for columns that are not dense.

    >>> layer = tf.keras.layers.DenseFeatures([tf.feature_column.numeric_column("age")])
    >>> sess.run(layer({"age": tf.constant([[3.0], [4.0]])}))
    array([[3.],
           [4.]], dtype=float32)
    """

    def call(self, features: Any) -> Any:
        """Return the columns side by side."""
        made: Any = side_by_side(features, self._feature_columns, self._columns_weights)
        return made

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """(batch, elements of all columns)."""
        return TensorShape([None, self._width()])


class SequenceFeatures(_Features):
    """The input of a recurrent layer: sequence columns side by side, [batch, time, width], and lengths, int64 [batch].

    feature_columns: sequence_numeric_columns, and embedding and indicator columns of sequence categorical columns.
    trainable: whether their variables are trained. Raises ValueError for other columns.

    >>> load = tf.feature_column.sequence_numeric_column("load")
    >>> values = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [1.0, 2.0, 3.0], [2, 2])
    >>> layer, lengths = tf.keras.experimental.SequenceFeatures([load])({"load": values})
    >>> sess.run([layer[:, :, 0], lengths])
    [array([[1., 2.],
           [3., 0.]], dtype=float32), array([2, 1])]
    """

    def call(self, features: Any) -> Any:
        """Return the columns side by side, and the lengths."""
        return over_time(features, self._feature_columns, self._columns_weights)

    def compute_output_shape(self, input_shape: Any) -> Any:
        """(batch, time, elements of all columns) and (batch,)."""
        return TensorShape([None, None, self._width()]), TensorShape([None])


describe(globals(), KERAS)
