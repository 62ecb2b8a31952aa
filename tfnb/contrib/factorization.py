"""Clustering: `tf.contrib.factorization`."""
# ruff: noqa: F401, I001
from tfnb.core.absent import explain as _explain
from tfnb.estimator.models.clustering import (
    CLUSTERS_VAR_NAME, COSINE_DISTANCE, KMC2_INIT, KMEANS_PLUS_PLUS_INIT, KMeans, RANDOM_INIT,
    SQUARED_EUCLIDEAN_DISTANCE,
)
from tfnb.estimator.models.kmeans import KMeansClustering
from tfnb.estimator.models.wals import WALSModel

_explain(__name__)
