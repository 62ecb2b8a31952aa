"""The graph of k-means clustering: `tf.contrib.factorization.KMeans`.

Centers are a variable whose shape is known once they are chosen. Mini-batch updates are those of Sculley (2010).
"""
from __future__ import annotations

from typing import Any

from tfnb.control_flow.cond import cond
from tfnb.core import dtypes
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.stack import control_dependencies, name_scope
from tfnb.ops.array.create import ones, ones_like, zeros, zeros_like
from tfnb.ops.array.gather import gather, unique
from tfnb.ops.array.joining import concat
from tfnb.ops.array.reshape import expand_dims, identity, shape, squeeze
from tfnb.ops.control.group import group, no_op
from tfnb.ops.control.source import constant
from tfnb.ops.declaration.raw import raw
from tfnb.ops.math.arithmetic import add_n, minimum, square
from tfnb.ops.math.casting import cast
from tfnb.ops.math.compare import equal, less_equal
from tfnb.ops.random.random_ops import random_uniform
from tfnb.ops.reductions.matmul import matmul
from tfnb.ops.reductions.reduce import l2_normalize, reduce_sum
from tfnb.ops.reductions.segments import unsorted_segment_sum
from tfnb.ops.state.assign import assign, assign_sub
from tfnb.ops.state.scatter import scatter_add
from tfnb.variables.variable import Variable

RANDOM_INIT, KMEANS_PLUS_PLUS_INIT, KMC2_INIT = "random", "kmeans_plus_plus", "kmc2"
SQUARED_EUCLIDEAN_DISTANCE, COSINE_DISTANCE = "squared_euclidean", "cosine"
CLUSTERS_VAR_NAME = "clusters"
_EPSILON = 1e-6                                    # official: added to the numbers of points of a full batch


class KMeans:
    """K-means clustering of rows: `training_graph` builds its ops.

    inputs: a matrix of rows, or a list of such. num_clusters: the number of centers, or a scalar tensor.
    initial_clusters: "random", "kmeans_plus_plus" or "kmc2"; the centers themselves, [num_clusters, d]; or a function
    (inputs, number) -> centers. distance_metric: "squared_euclidean" or "cosine". use_mini_batch: a step moves the
    centers of a batch's points, else it puts all centers at the means of the batch. mini_batch_steps_per_iteration:
    steps after which moved centers are used. random_seed: of the choice of the first centers.
    kmeans_plus_plus_num_retries: further points drawn for each. kmc2_chain_length: without effect: "kmc2" chooses as
    k-means++, whose distribution its chains approximate. Raises ValueError for other names.

    >>> x = tf.constant([[0.0], [1.0], [10.0], [11.0]])
    >>> kmeans = tf.contrib.factorization.KMeans(x, 2, initial_clusters=np.array([[0.0], [8.0]], np.float32))
    >>> all_scores, cluster_idx, scores, initialized, init_op, train_op = kmeans.training_graph()
    >>> sess.run(tf.global_variables_initializer())
    >>> sess.run(init_op)
    >>> for _ in range(3):
    ...     done = sess.run(train_op)
    >>> sess.run([cluster_idx[0], scores[0]])
    [array([0, 0, 1, 1]), array([0.25, 0.25, 0.25, 0.25], dtype=float32)]
    """

    def __init__(self, inputs: Any, num_clusters: Any, initial_clusters: Any = RANDOM_INIT,
                 distance_metric: str = SQUARED_EUCLIDEAN_DISTANCE, use_mini_batch: bool = False,
                 mini_batch_steps_per_iteration: int = 1, random_seed: int = 0,
                 kmeans_plus_plus_num_retries: int = 2, kmc2_chain_length: int = 200) -> None:
        named = (RANDOM_INIT, KMEANS_PLUS_PLUS_INIT, KMC2_INIT)
        if isinstance(initial_clusters, str) and initial_clusters not in named:
            raise ValueError(f"Unsupported initialization algorithm {initial_clusters!r}: expected one of {named}")
        if distance_metric not in (SQUARED_EUCLIDEAN_DISTANCE, COSINE_DISTANCE):
            raise ValueError(f"Unsupported distance metric passed to Kmeans {distance_metric!r}: expected "
                             f"{SQUARED_EUCLIDEAN_DISTANCE!r} or {COSINE_DISTANCE!r}")
        self._inputs = [convert_to_tensor(each) for each in (inputs if isinstance(inputs, list) else [inputs])]
        self._count, self._initial = num_clusters, initial_clusters
        self._is_cosine = distance_metric == COSINE_DISTANCE
        self._is_mini, self._steps = use_mini_batch, mini_batch_steps_per_iteration
        self._seed, self._retries = random_seed, kmeans_plus_plus_num_retries

    def training_graph(self) -> tuple[list[Any], list[Any], list[Any], Any, Any, Any]:
        """Return (all_scores, cluster_idx, scores, initialized, init_op, train_op).

        all_scores: distances of the rows of each input to all centers; cluster_idx, scores: the nearest center of each
        row, and its distance. initialized: a bool variable: whether all centers are chosen. init_op: chooses centers
        among the inputs, as many as are lacking; train_op: a step.
        """
        centers = Variable(constant([], dtypes.float32), name=CLUSTERS_VAR_NAME, validate_shape=False)
        initialized = Variable(False, trainable=False, name="initialized")
        counts: Any = None
        updated, waits = centers, None
        if self._is_mini:
            counts = Variable(zeros([self._count], dtypes.int64), trainable=False, name="cluster_counts")
            if self._steps > 1:
                updated = Variable(constant([], dtypes.float32), name="clusters_updated", validate_shape=False)
                waits = Variable(self._steps - 1, dtype=dtypes.int64, trainable=False, name="update_in_steps")
        inputs = [l2_normalize(x, 1) for x in self._inputs] if self._is_cosine else self._inputs
        init_op = self._choice(inputs, centers, updated, initialized)
        all_scores, index, scores = zip(*(self._found(x, centers) for x in inputs), strict=True)
        if not self._is_mini:
            train_op = self._full_step(inputs, index, centers)
        else:
            with control_dependencies([] if waits is None else [self._synchronized(waits, centers, updated, counts)]):
                train_op = self._mini_step(inputs, index, updated, counts)
        return list(all_scores), list(index), list(scores), initialized, init_op, train_op

    def _choice(self, inputs: list[Any], centers: Any, updated: Any, initialized: Any) -> Any:
        """Return the op that chooses the centers that are lacking."""
        rows = inputs[0] if len(inputs) == 1 else concat(inputs, 0)
        targets = [centers] if updated is centers else [centers, updated]

        def chosen() -> Any:
            current = identity(centers)
            sizes: Any = shape(current)
            lacking = cast(self._count, dtypes.int64) - cast(sizes[0], dtypes.int64)
            new = self._new_centers(rows, lacking)
            new = l2_normalize(new, 1) if self._is_cosine else new
            joined = cond(equal(sizes[0], 0), lambda: new, lambda: concat([current, new], 0))
            with control_dependencies([assign(each, joined, validate_shape=False) for each in targets]):
                found: Any = shape(joined)
                return identity(assign(initialized, equal(cast(found[0], dtypes.int64),
                                                          cast(self._count, dtypes.int64))))
        with name_scope("initialize_clusters"):
            return cond(initialized, lambda: identity(initialized), chosen).op

    def _new_centers(self, rows: Any, lacking: Any) -> Any:
        if callable(self._initial):
            return self._initial(self._inputs, self._count)
        if not isinstance(self._initial, str):
            return convert_to_tensor(self._initial, dtype=dtypes.float32)
        sizes: Any = shape(rows)
        there = cast(sizes[0], dtypes.int64)
        if self._initial == RANDOM_INIT:
            drawn = random_uniform(expand_dims(minimum(lacking, there), 0), 0, there, dtypes.int64, self._seed)
            return gather(rows, drawn)
        return raw.KmeansPlusPlusInitialization(rows, minimum(lacking, there), self._seed, self._retries)

    def _found(self, x: Any, centers: Any) -> tuple[Any, Any, Any]:
        """Return (distances to all centers, index of the nearest, its distance) of the rows of an input."""
        if self._is_cosine:
            normal = l2_normalize(centers, 1)
            distances = 1 - matmul(x, normal, transpose_b=True)
            index, _ = raw.NearestNeighbors(x, normal, 1)
            nearest = 1 - reduce_sum(x * gather(normal, squeeze(index, [1])), 1)
            return distances, squeeze(index, [1]), nearest
        distances = reduce_sum(square(x), 1, keepdims=True) - 2 * matmul(x, centers, transpose_b=True) + reduce_sum(
            square(centers), 1)
        index, nearest = raw.NearestNeighbors(x, centers, 1)
        return distances, squeeze(index, [1]), squeeze(nearest, [1])

    def _full_step(self, inputs: list[Any], index: tuple[Any, ...], centers: Any) -> Any:
        """Return the op that puts the centers at the means of their rows."""
        sums = add_n([unsorted_segment_sum(x, i, self._count) for x, i in zip(inputs, index, strict=True)])
        numbers = add_n([unsorted_segment_sum(ones_like(x[:, :1]), i, self._count)
                         for x, i in zip(inputs, index, strict=True)])
        means = sums / (numbers + constant(_EPSILON, dtype=sums.dtype))
        return assign(centers, l2_normalize(means, 1) if self._is_cosine else means, validate_shape=False)

    def _mini_step(self, inputs: list[Any], index: tuple[Any, ...], centers: Any, counts: Any) -> Any:
        """Return the op that moves each center of rows of the batch to the mean of all rows that it had."""
        steps = []
        for x, i in zip(inputs, index, strict=True):
            ids, places = unique(i)
            sizes: Any = shape(ids)
            old, had = gather(centers, ids), gather(counts, ids)
            sums = unsorted_segment_sum(x, places, sizes[0])
            new = unsorted_segment_sum(ones(expand_dims(shape(x)[0], 0), dtypes.int64), places, sizes[0])
            factor = expand_dims(1 / cast(had + new, x.dtype), 1)
            change = (sums - expand_dims(cast(new, x.dtype), 1) * old) * factor
            with control_dependencies([change]):
                steps += [scatter_add(counts, ids, new), scatter_add(centers, ids, change)]
        return group(*steps)

    def _synchronized(self, waits: Any, centers: Any, updated: Any, counts: Any) -> Any:
        """Return the op that uses the moved centers from now on, once enough steps are done."""
        def use() -> Any:
            moved = identity(updated)
            with control_dependencies([assign(centers, l2_normalize(moved, 1) if self._is_cosine else moved,
                                              validate_shape=False), assign(counts, zeros_like(counts)),
                                       assign(waits, self._steps - 1)]):
                return no_op()
        return cond(less_equal(waits, 0), use, lambda: group(assign_sub(waits, 1)))
