"""Linear models solved by stochastic dual coordinate ascent: `tf.contrib.linear_optimizer.SdcaModel`."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tfnb.core import dtypes
from tfnb.core.arguments import ESTIMATORS, describe
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.stack import control_dependencies, name_scope
from tfnb.lookup.mutable import MutableDenseHashTable
from tfnb.ops.array.create import zeros_like
from tfnb.ops.array.gather import boolean_mask, gather, unique
from tfnb.ops.array.joining import concat
from tfnb.ops.array.reshape import reshape, size
from tfnb.ops.control.group import group
from tfnb.ops.io.summary import scalar as scalar_summary
from tfnb.ops.math.arithmetic import abs, add_n, maximum, sign, square
from tfnb.ops.math.casting import cast
from tfnb.ops.math.compare import not_equal
from tfnb.ops.math.functions import Exp, sigmoid
from tfnb.ops.nn.activations import relu
from tfnb.ops.nn.cross_entropy import log_poisson_loss, sigmoid_cross_entropy_with_logits
from tfnb.ops.reductions.matmul import matmul
from tfnb.ops.reductions.reduce import reduce_any, reduce_sum
from tfnb.ops.reductions.segments import unsorted_segment_sum
from tfnb.ops.state.assign import assign, assign_add
from tfnb.ops.state.dual_ascent import sdca_optimizer
from tfnb.ops.state.scatter import scatter_add
from tfnb.ops.strings.hashing import SdcaFprint
from tfnb.variables.variable import Variable

_LOSSES = ("logistic_loss", "poisson_loss", "squared_loss", "hinge_loss", "smooth_hinge_loss")
_EXAMPLES = ("example_labels", "example_weights", "example_ids", "sparse_features", "dense_features")
_VARIABLES = ("sparse_features_weights", "dense_features_weights")
_OPTIONS = ("loss_type", "symmetric_l1_regularization", "symmetric_l2_regularization")
_EMPTY, _DELETED = [0, 0], [1, 1]                  # keys that the table uses itself


class SparseFeatureColumn:
    """Sparse feature: the feature at feature_indices[i] of the example example_indices[i] is feature_values[i].

    example_indices, feature_indices: int64 vectors. feature_values: a float32 vector, or None for ones.

    >>> column = tf.contrib.linear_optimizer.SparseFeatureColumn([0, 1], [3, 5], [1.0, 2.0])
    >>> sess.run(column.feature_indices)
    array([3, 5])
    """

    def __init__(self, example_indices: Any, feature_indices: Any, feature_values: Any) -> None:
        self._example_indices = convert_to_tensor(example_indices, dtype=dtypes.int64, name="example_indices")
        self._feature_indices = convert_to_tensor(feature_indices, dtype=dtypes.int64, name="feature_indices")
        self._feature_values = None if feature_values is None else convert_to_tensor(
            feature_values, dtype=dtypes.float32, name="feature_values")

    @property
    def example_indices(self) -> Tensor:
        """The example of each value."""
        return self._example_indices

    @property
    def feature_indices(self) -> Tensor:
        """The feature of each value."""
        return self._feature_indices

    @property
    def feature_values(self) -> Tensor | None:
        """The values, or None for ones."""
        return self._feature_values


def _require(given: Mapping[str, Any], names: tuple[str, ...], what: str) -> None:
    missing = [name for name in names if given.get(name) is None]
    if missing:
        raise ValueError(f"{what} must have {', '.join(names)}; missing: {', '.join(missing)}")


class SdcaModel:
    """Linear model that stochastic dual coordinate ascent solves: no learning rate, and a measure of what is left.

    examples: a dict of "example_ids", strings [n]; "example_labels" and "example_weights", float32 [n];
    "dense_features", a list of float32 matrices [n, d]; "sparse_features", a list of SparseFeatureColumn. Labels of a
    classification are 0 or 1. variables: "dense_features_weights" and "sparse_features_weights", a list of variables
    for each list of features, of float32. options: "loss_type": "logistic_loss", "squared_loss", "hinge_loss",
    "smooth_hinge_loss" or "poisson_loss"; "symmetric_l1_regularization"; "symmetric_l2_regularization", of at least 1
    (less counts as 1, as in TensorFlow); "num_loss_partitions", how many steps run at once, by default 1; "adaptive",
    whether to draw examples by how far they are from their optimum, by default False. "num_table_shards" has no effect.

    Minimizes the sum of weight * loss + l1 * |w| + l2 / 2 * |w|^2 over the examples seen so far: a state of four
    numbers is kept for each id. Raises ValueError for what is missing, an unknown loss and negative regularization.

    >>> examples = {"example_ids": ["a", "b"], "example_labels": [1.0, 0.0], "example_weights": [1.0, 1.0],
    ...             "dense_features": [[[1.0, 0.0], [0.0, 1.0]]], "sparse_features": []}
    >>> weights = tf.Variable([0.0, 0.0])
    >>> model = tf.contrib.linear_optimizer.SdcaModel(
    ...     examples, {"dense_features_weights": [weights], "sparse_features_weights": []},
    ...     {"loss_type": "squared_loss", "symmetric_l1_regularization": 0.0, "symmetric_l2_regularization": 1.0})
    >>> train_op = model.update_weights(model.minimize())
    >>> sess.run(tf.global_variables_initializer())
    >>> sess.run(train_op)
    >>> sess.run([weights, model.regularized_loss(examples)])
    [array([0.5, 0. ], dtype=float32), 0.125]
    """

    def __init__(self, examples: Mapping[str, Any], variables: Mapping[str, Any], options: Mapping[str, Any]) -> None:
        if not examples or not variables or not options:
            raise ValueError("examples, variables and options must all be given")
        _require(options, _OPTIONS, "options")
        _require(examples, _EXAMPLES, "examples")
        _require(variables, _VARIABLES, "variables")
        if options["loss_type"] not in _LOSSES:
            raise ValueError(f"Unsupported loss_type: {options['loss_type']!r}; expected one of {', '.join(_LOSSES)}")
        for name in _OPTIONS[1:]:
            if options[name] < 0:
                raise ValueError(f"{name} should be non-negative. Found ({options[name]:f})")
        self._examples, self._options, self._loss = examples, options, options["loss_type"]
        self._l1, self._l2 = float(options["symmetric_l1_regularization"]), \
            max(float(options["symmetric_l2_regularization"]), 1.0)
        self._dense = [_only(each) for each in variables["dense_features_weights"]]
        self._sparse = [_only(each) for each in variables["sparse_features_weights"]]
        with name_scope("sdca"):
            self._table = MutableDenseHashTable(dtypes.int64, dtypes.float32, [0.0] * 4, _EMPTY, _DELETED)
            self._dense_slots, self._sparse_slots = [_slot(v) for v in self._dense], [_slot(v) for v in self._sparse]
        scalar_summary("approximate_duality_gap", self.approximate_duality_gap())
        scalar_summary("examples_seen", self._table.size())

    def minimize(self, global_step: Any = None, name: str | None = None) -> Operation:
        """Return an op that takes a step for each example, and adds 1 to global_step, a variable.

        The weights follow when `update_weights` runs. name: of the scope.
        """
        with name_scope(name, "sdca/minimize"):
            columns = self._columns(self._examples)
            found = [unique(column.feature_indices) for column in columns]
            keys = SdcaFprint(reshape(convert_to_tensor(self._examples["example_ids"], dtype=dtypes.string), [-1]))
            made = sdca_optimizer(
                [column.example_indices for column in columns], [column.feature_indices for column in columns],
                [_values(column) for column in columns], self._matrices(self._examples),
                self._vector("example_weights"), self._vector("example_labels"), [features for features, _ in found],
                [gather(slot, features) for slot, (features, _) in zip(self._sparse_slots, found, strict=True)],
                self._dense_slots, self._table.lookup(keys), loss_type=self._loss, l1=self._l1, l2=self._l2,
                num_loss_partitions=int(self._options.get("num_loss_partitions", 1)), num_inner_iterations=1,
                adaptative=bool(self._options.get("adaptive", False)))
            with control_dependencies([made.out_example_state_data]):
                ops = [self._table.insert(keys, made.out_example_state_data)]
                ops += [assign_add(slot, change).op
                        for slot, change in zip(self._dense_slots, made.out_delta_dense_weights, strict=True)]
                ops += [scatter_add(slot, features, change).op for slot, (features, _), change in zip(
                    self._sparse_slots, found, made.out_delta_sparse_weights, strict=True)]
            if global_step is None:
                return group(*ops)
            with control_dependencies(ops):
                return assign_add(global_step, 1).op

    def update_weights(self, train_op: Any) -> Operation:
        """Return an op that runs train_op, of `minimize`, and then sets the model's weights."""
        with name_scope("sdca/update_weights"), control_dependencies([train_op]):
            pairs = zip([*self._dense, *self._sparse], [*self._dense_slots, *self._sparse_slots], strict=True)
            return group(*[assign(weights, sign(slot) * maximum(abs(slot) - self._l1 / self._l2, 0.0)).op
                           for weights, slot in pairs])

    def predictions(self, examples: Mapping[str, Any]) -> Tensor:
        """Return the prediction for each example: a probability, for the Poisson loss a rate, else the linear sum.

        examples: as of the constructor; ids, labels and weights are not needed. Raises ValueError for no features.
        """
        with name_scope("sdca/prediction"):
            sums = self._sums(examples)
            return sigmoid(sums) if self._loss == "logistic_loss" else Exp(sums) if self._loss == "poisson_loss" \
                else sums

    def unregularized_loss(self, examples: Mapping[str, Any]) -> Tensor:
        """Return the weighted mean of the losses. examples: as of the constructor; ids are not needed."""
        _require(examples, ("example_labels", "example_weights", "sparse_features", "dense_features"), "examples")
        with name_scope("sdca/unregularized_loss"):
            labels, weights = _vector(examples["example_labels"]), _vector(examples["example_weights"])
            return reduce_sum(self._losses(labels, self._sums(examples)) * weights) / reduce_sum(weights)

    def regularized_loss(self, examples: Mapping[str, Any]) -> Tensor:
        """Return unregularized_loss and what regularization adds. examples: as of unregularized_loss."""
        with name_scope("sdca/regularized_loss"):
            weights = reduce_sum(_vector(examples["example_weights"]))
            loss: Tensor = self._penalty(0.5) / weights + self.unregularized_loss(examples)
            return loss

    def approximate_duality_gap(self) -> Tensor:
        """Return how much the mean loss is above the least one at most, by the state of the examples seen so far.

        The states are of different times, so that it is exact only when nothing changes any more.
        """
        with name_scope("sdca/approximate_duality_gap"):
            keys, states = self._table.export()
            keys.set_shape([None, 2])
            states.set_shape([None, 4])
            taken = reduce_any(not_equal(keys, convert_to_tensor(_EMPTY, dtype=dtypes.int64)), 1) \
                & reduce_any(not_equal(keys, convert_to_tensor(_DELETED, dtype=dtypes.int64)), 1)
            sums = reduce_sum(boolean_mask(states, taken), 0)
            gap: Tensor = (sums[1] + sums[2] + self._penalty(1.0)) / sums[3]
            return gap

    def _losses(self, labels: Tensor, sums: Tensor) -> Any:
        """Return the loss of each example."""
        if self._loss == "logistic_loss":
            return sigmoid_cross_entropy_with_logits(labels=labels, logits=sums)
        if self._loss == "poisson_loss":
            return log_poisson_loss(labels, sums)
        if self._loss == "squared_loss":
            return 0.5 * square(labels - sums)
        gaps = relu(1.0 - (2.0 * labels - 1.0) * sums)
        if self._loss == "hinge_loss":
            return gaps
        beyond = relu(gaps - 1.0)
        return 0.5 * square(gaps) - 0.5 * square(beyond)

    def _penalty(self, share: float) -> Any:
        """Return l1 |w| + share * l2 |w|^2."""
        weights = concat([reshape(each, [-1]) for each in [*self._dense, *self._sparse]], 0)
        return self._l1 * reduce_sum(abs(weights)) + share * self._l2 * reduce_sum(square(weights))

    def _sums(self, examples: Mapping[str, Any]) -> Tensor:
        """Return the linear sum of each example, [n]."""
        _require(examples, ("sparse_features", "dense_features"), "examples")
        made = [reshape(matmul(x, reshape(w, [-1, 1])), [-1])
                for x, w in zip(self._matrices(examples), self._dense, strict=True)]
        columns = self._columns(examples)
        if columns:
            count = size(made[0]) if made else size(examples["example_weights"])
            for column, w in zip(columns, self._sparse, strict=True):
                values = gather(reshape(w, [-1]), column.feature_indices) * _values(column)
                made.append(unsorted_segment_sum(values, column.example_indices, count))
        if not made:
            raise ValueError("examples must have features, got none")
        total: Tensor = add_n(made)
        return total

    def _columns(self, examples: Mapping[str, Any]) -> list[Any]:
        return list(examples["sparse_features"])

    def _matrices(self, examples: Mapping[str, Any]) -> list[Tensor]:
        return [cast(convert_to_tensor(each), dtypes.float32) for each in examples["dense_features"]]

    def _vector(self, name: str) -> Tensor:
        return _vector(self._examples[name])


def _only(weights: Any) -> Any:
    """Return a variable; of a list of parts, the only one. Raises ValueError for several."""
    if isinstance(weights, (list, tuple)) or not hasattr(weights, "initialized_value"):
        parts = list(weights)
        if len(parts) != 1:
            raise ValueError(f"weights must be variables of one part, got {len(parts)} parts")
        return parts[0]
    return weights


def _slot(variable: Any) -> Variable:
    """Return a variable of zeros for the weights before the soft threshold."""
    return Variable(zeros_like(variable.initialized_value()), trainable=False, name=f"{variable.op.name}_unshrunk")


def _values(column: SparseFeatureColumn) -> Any:
    values = column.feature_values
    return cast(column.feature_indices * 0 + 1, dtypes.float32) if values is None else values


def _vector(values: Any) -> Tensor:
    made: Tensor = cast(reshape(convert_to_tensor(values), [-1]), dtypes.float32)
    return made


describe(globals(), ESTIMATORS)
