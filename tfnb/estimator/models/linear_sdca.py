"""Stochastic dual coordinate ascent as an optimizer of linear estimators: LinearSDCA and SDCAOptimizer."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tfnb.core import dtypes
from tfnb.core.arguments import ESTIMATORS, describe
from tfnb.estimator.heads.base import Head
from tfnb.estimator.heads.kinds import BinaryClassHead, RegressionHead
from tfnb.estimator.models.sdca import SdcaModel, SparseFeatureColumn
from tfnb.feature_column.column import CategoricalColumn, FeatureCache
from tfnb.feature_column.input_layer import flat
from tfnb.feature_column.linear_model import one_row_each
from tfnb.graph.convert import convert_to_tensor
from tfnb.ops.array.create import ones, ones_like
from tfnb.ops.array.gather import boolean_mask
from tfnb.ops.array.reshape import reshape, size
from tfnb.ops.math.casting import cast
from tfnb.ops.math.compare import greater_equal
from tfnb.train.global_step import get_global_step

_LOSS_OF = {BinaryClassHead: "logistic_loss", RegressionHead: "squared_loss"}


class _NoVariables:
    """Maker of variables that refuses: the weights of the linear model are all that is trained."""

    def variable(self, column: Any, name: str, size: tuple[int, ...], initializer: Any, trainable: bool) -> Any:
        """Raise ValueError."""
        raise ValueError(f"SDCA trains weights of numeric and categorical columns, not the variables of {column}")


def _sparse_feature(pair: Any) -> SparseFeatureColumn:
    """Return the ids of a categorical column, with their weights, as a feature: without negative ids."""
    ids, weights = one_row_each(pair.ids), pair.weights
    there = greater_equal(ids.values, cast(0, ids.values.dtype))
    values = None if weights is None else boolean_mask(cast(weights.values, dtypes.float32), there)
    return SparseFeatureColumn(boolean_mask(ids.indices[:, 0], there),
                               cast(boolean_mask(ids.values, there), dtypes.int64), values)


class LinearSDCA:
    """Stochastic dual coordinate ascent, as the optimizer of LinearClassifier and LinearRegressor.

    example_id_column: the feature, strings [batch_size], that identifies each example: its state is kept by it.
    num_loss_partitions: how many steps run at once. num_table_shards: without effect. symmetric_l1_regularization,
    symmetric_l2_regularization: strength of regularization, l2 of at least 1 (less counts as 1). adaptive: whether to
    draw examples by how far they are from their optimum.

    For two classes, or one number to predict, and numeric and categorical columns; it has no learning rate, and
    minimizes the sum of the losses and of l1 * |w| + l2 / 2 * |w|^2.

    >>> x, y = np.array([[-1.0], [2.0]], np.float32), np.array([0, 1])
    >>> input_fn = tf.estimator.inputs.numpy_input_fn({"x": x, "id": np.array(["a", "b"])}, y, num_epochs=None,
    ...                                               shuffle=False)
    >>> model = tf.estimator.LinearClassifier([tf.feature_column.numeric_column("x")], model_dir="model",
    ...                                       optimizer=tf.estimator.experimental.LinearSDCA("id"))
    >>> model = model.train(input_fn, steps=5)
    >>> model.evaluate(input_fn, steps=1)["accuracy"]
    1.0
    """

    def __init__(self, example_id_column: str, num_loss_partitions: int = 1, num_table_shards: int | None = None,
                 symmetric_l1_regularization: float = 0.0, symmetric_l2_regularization: float = 1.0,
                 adaptive: bool = False) -> None:
        self._example_id_column = example_id_column
        self._options = {"num_loss_partitions": num_loss_partitions, "num_table_shards": num_table_shards,
                         "symmetric_l1_regularization": symmetric_l1_regularization,
                         "symmetric_l2_regularization": symmetric_l2_regularization, "adaptive": adaptive}

    def head_train_op(self, head: Head, columns_to_variables: Mapping[Any, Any], features: Mapping[str, Any],
                      labels: Any, logits: Any) -> Any:
        """Return the op that trains the linear model of a head; its weights are up to date when it is done.

        columns_to_variables: of each column, and of "bias", the variable or a list of one. Raises ValueError for a
        head of more than two classes or more than one number.
        """
        loss = _LOSS_OF.get(type(head))
        if loss is None or head.logits_dimension != 1:
            raise ValueError("SDCA trains classifiers of 2 classes and regressors of one number, got a "
                             f"{type(head).__name__} of {head.logits_dimension} logits")
        weights, targets = head.labels_and_weights(features, labels, logits)
        model, train_op = self._model(columns_to_variables, weights, loss, features, targets, get_global_step())
        return model.update_weights(train_op)

    def _model(self, columns_to_variables: Mapping[Any, Any], weights: Any, loss_type: str,
               features: Mapping[str, Any], targets: Any, global_step: Any) -> tuple[SdcaModel, Any]:
        if self._example_id_column not in features:
            raise ValueError(f"features must have the example_id_column {self._example_id_column!r}, got "
                             f"{sorted(features)}")
        targets = reshape(cast(convert_to_tensor(targets), dtypes.float32), [-1])
        cache, refused = FeatureCache(features), _NoVariables()
        dense, sparse = list[tuple[Any, Any]](), list[tuple[Any, Any]]()
        for column, variable in columns_to_variables.items():
            if isinstance(column, str):
                dense.append((ones([size(targets), 1]), variable))
            elif isinstance(column, CategoricalColumn):
                sparse.append((_sparse_feature(column.get_sparse_tensors(cache, refused)), variable))
            else:
                dense.append((flat(column, column.get_dense_tensor(cache, refused)), variable))
        examples = {"example_ids": features[self._example_id_column], "example_labels": targets,
                    "example_weights": ones_like(targets) * weights, "dense_features": [x for x, _ in dense],
                    "sparse_features": [x for x, _ in sparse]}
        variables = {"dense_features_weights": [v for _, v in dense],
                     "sparse_features_weights": [v for _, v in sparse]}
        model = SdcaModel(examples, variables, {**self._options, "loss_type": loss_type})
        return model, model.minimize(global_step)


class SDCAOptimizer(LinearSDCA):
    """Stochastic dual coordinate ascent, as the optimizer of tf.contrib.learn's linear models.

    example_id_column, num_loss_partitions, num_table_shards, symmetric_l1_regularization, symmetric_l2_regularization,
    adaptive: as of tf.estimator.experimental.LinearSDCA. partitioner: without effect.

    >>> x, y = {"x": np.array([[-1.0], [2.0]]), "id": np.array(["a", "b"])}, np.array([0, 1])
    >>> sdca = tf.contrib.linear_optimizer.SDCAOptimizer(example_id_column="id", symmetric_l2_regularization=2.0)
    >>> model = tf.contrib.learn.LinearClassifier([tf.contrib.layers.real_valued_column("x")], model_dir="model",
    ...                                           optimizer=sdca)
    >>> list(model.fit(x, y, steps=5).predict(x))
    [0, 1]
    """

    def __init__(self, example_id_column: str, num_loss_partitions: int = 1, num_table_shards: int | None = None,
                 symmetric_l1_regularization: float = 0.0, symmetric_l2_regularization: float = 1.0,
                 adaptive: bool = True, partitioner: Any = None) -> None:
        super().__init__(example_id_column, num_loss_partitions, num_table_shards, symmetric_l1_regularization,
                         symmetric_l2_regularization, adaptive)

    def get_name(self) -> str:
        """Return "SDCAOptimizer"."""
        return "SDCAOptimizer"

    @property
    def example_id_column(self) -> str:
        """The feature that identifies examples."""
        return self._example_id_column

    @property
    def symmetric_l1_regularization(self) -> float:
        """Strength of L1 regularization."""
        return float(self._options["symmetric_l1_regularization"] or 0)

    @property
    def symmetric_l2_regularization(self) -> float:
        """Strength of L2 regularization."""
        return float(self._options["symmetric_l2_regularization"] or 0)

    def get_train_step(self, columns_to_variables: Mapping[Any, Any], weight_column_name: str | None, loss_type: str,
                       features: Mapping[str, Any], targets: Any, global_step: Any) -> tuple[SdcaModel, Any]:
        """Return the SdcaModel of a linear model, and the op of a step, after which update_weights is to run.

        columns_to_variables: of each column, and of "bias", the variable or a list of one. weight_column_name: the
        feature with the weights of the examples. loss_type: as of SdcaModel. features, targets: of a batch.
        global_step: a variable that the step adds 1 to.
        """
        weights = 1.0 if weight_column_name is None else reshape(cast(features[weight_column_name], dtypes.float32),
                                                                 [-1])
        return self._model(columns_to_variables, weights, loss_type, features, targets, global_step)


describe(globals(), ESTIMATORS)
