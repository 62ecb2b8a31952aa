"""K-means clustering as an estimator: `tf.estimator.experimental.KMeans`."""
from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tfnb.core.arguments import ESTIMATORS, describe
from tfnb.estimator.estimator import Estimator
from tfnb.estimator.models import clustering
from tfnb.estimator.outputs import PredictOutput
from tfnb.estimator.spec import EstimatorSpec, ModeKeys
from tfnb.feature_column.input_layer import input_layer
from tfnb.graph.convert import convert_to_tensor
from tfnb.metrics.base import mean
from tfnb.ops.array.joining import concat
from tfnb.ops.array.reshape import expand_dims
from tfnb.ops.control.group import group
from tfnb.ops.math.arithmetic import add_n
from tfnb.ops.math.casting import cast
from tfnb.ops.reductions.reduce import reduce_sum
from tfnb.ops.state.assign import assign_add
from tfnb.saved_model.signature_constants import DEFAULT_SERVING_SIGNATURE_DEF_KEY as DEFAULT
from tfnb.train.global_step import get_global_step
from tfnb.train.sessions.hook import SessionRunArgs, SessionRunContext, SessionRunHook, SessionRunValues

_MOST_TRIES = 1000                                 # batches from which centers are chosen before it is given up


class _Begin(SessionRunHook):
    """Hook that chooses the first centers."""

    def __init__(self, initialized: Any, init_op: Any) -> None:
        self._initialized, self._init_op = initialized, init_op

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Choose centers from batches, until there are enough. Raises RuntimeError if there never are."""
        for _ in range(_MOST_TRIES):
            if session.run(self._initialized):
                return
            session.run(self._init_op)
        raise RuntimeError(f"{_MOST_TRIES} batches had too few rows for the centers: choose fewer num_clusters")


class _StopWhenStill(SessionRunHook):
    """Hook that ends the training when the loss changes by less than a part of it."""

    def __init__(self, loss: Any, tolerance: float) -> None:
        self._loss, self._tolerance = loss, tolerance
        self._before: float | None = None

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Request the loss."""
        return SessionRunArgs(self._loss)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Compare the loss with the one before."""
        loss, before = float(run_values.results), self._before
        self._before = loss
        if before is not None and abs(before - loss) < self._tolerance * before:
            run_context.request_stop()


class KMeansClustering(Estimator):
    """K-means clustering of the rows that an input_fn gives: a tensor, or a dict of features, which are joined.

    num_clusters, initial_clusters, distance_metric, use_mini_batch, mini_batch_steps_per_iteration,
    kmeans_plus_plus_num_retries: as of tf.contrib.factorization.KMeans. seed: of the choice of the first centers.
    relative_tolerance: the training ends when the loss changes by less than this part of it; None: it does not.
    feature_columns: dense columns of the features, else all features are taken.

    >>> x = np.array([[0.0], [1.0], [10.0], [11.0]], np.float32)
    >>> data = tf.estimator.inputs.numpy_input_fn({"x": x}, batch_size=4, num_epochs=1, shuffle=False)
    >>> model = tf.estimator.experimental.KMeans(2, model_dir="model", initial_clusters=x[[0, 2]],
    ...                                          use_mini_batch=False)
    >>> for _ in range(3):
    ...     model = model.train(data)
    >>> model.cluster_centers(), list(model.predict_cluster_index(data)), model.score(data)
    (array([[ 0.5],
           [10.5]], dtype=float32), [0, 0, 1, 1], 1.0)
    """

    SQUARED_EUCLIDEAN_DISTANCE, COSINE_DISTANCE = clustering.SQUARED_EUCLIDEAN_DISTANCE, clustering.COSINE_DISTANCE
    RANDOM_INIT, KMEANS_PLUS_PLUS_INIT = clustering.RANDOM_INIT, clustering.KMEANS_PLUS_PLUS_INIT
    CLUSTER_INDEX, ALL_DISTANCES, SCORE = "cluster_index", "all_distances", "score"
    CLUSTER_CENTERS_VAR_NAME = clustering.CLUSTERS_VAR_NAME

    def __init__(self, num_clusters: int, model_dir: Any = None, initial_clusters: Any = clustering.RANDOM_INIT,
                 distance_metric: str = clustering.SQUARED_EUCLIDEAN_DISTANCE, seed: int | None = None,
                 use_mini_batch: bool = True, mini_batch_steps_per_iteration: int = 1,
                 kmeans_plus_plus_num_retries: int = 2, relative_tolerance: float | None = None, config: Any = None,
                 feature_columns: Any = None) -> None:
        def model_fn(features: Any, labels: Any, mode: str) -> EstimatorSpec:
            rows = _rows(features, feature_columns)
            made = clustering.KMeans(rows, num_clusters, initial_clusters, distance_metric, use_mini_batch,
                                     mini_batch_steps_per_iteration, seed or 0, kmeans_plus_plus_num_retries)
            distances, index, nearest, initialized, init_op, step = made.training_graph()
            loss = add_n([reduce_sum(each) for each in nearest])
            hooks: list[SessionRunHook] = [_Begin(initialized, init_op)]
            if relative_tolerance is not None:
                hooks.append(_StopWhenStill(loss, relative_tolerance))
            outputs = {"all_distances": PredictOutput(distances[0]), "cluster_index": PredictOutput(index[0]),
                       DEFAULT: PredictOutput(index[0])}
            return EstimatorSpec(
                mode, {self.ALL_DISTANCES: distances[0], self.CLUSTER_INDEX: index[0]}, loss,
                group(step, assign_add(get_global_step(), 1)) if mode == ModeKeys.TRAIN else None,
                {self.SCORE: mean(loss)}, outputs, training_hooks=hooks)
        self._is_cosine = distance_metric == clustering.COSINE_DISTANCE
        super().__init__(model_fn, model_dir, config)

    def predict_cluster_index(self, input_fn: Callable[[], Any]) -> Iterator[Any]:
        """Yield the index of the nearest center of each row."""
        for each in self.predict(input_fn, [self.CLUSTER_INDEX]):
            yield each[self.CLUSTER_INDEX]

    def transform(self, input_fn: Callable[[], Any]) -> Iterator[Any]:
        """Yield the distances of each row to all centers: not the squares, but for the cosine."""
        for each in self.predict(input_fn, [self.ALL_DISTANCES]):
            found = each[self.ALL_DISTANCES]
            yield found if self._is_cosine else np.sqrt(np.maximum(found, 0))

    def score(self, input_fn: Callable[[], Any]) -> float:
        """Return the sum of the distances (squares, or cosines) of the rows of the first batch to their centers."""
        return float(self.evaluate(input_fn, steps=1)[self.SCORE])

    def cluster_centers(self) -> np.ndarray:
        """Return the centers. Raises ValueError before `train`."""
        found: np.ndarray = self.get_variable_value(self.CLUSTER_CENTERS_VAR_NAME)
        return found


def _rows(features: Any, columns: Any) -> Any:
    """Return a matrix of features, joined in the order of their names."""
    if columns is not None:
        return input_layer(features, columns)
    if not isinstance(features, dict):
        return convert_to_tensor(features)
    parts = [cast(features[name], "float32") for name in sorted(features)]
    return concat([expand_dims(each, 1) if each.shape.ndims == 1 else each for each in parts], 1)


describe(globals(), ESTIMATORS)
