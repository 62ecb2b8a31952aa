"""Ops of k-means clustering: values, draws and errors as in TensorFlow, interpreted and compiled."""
from tests.differential import differences

SETUP = '''
r = np.random.RandomState(3)
POINTS, raw = r.normal(size=(40, 5)).astype(np.float32), tf.raw_ops
def run(make, *values):
    fed = [tf.placeholder(np.asarray(v).dtype) for v in values]
    with tf.Session() as sess:
        for _ in range(3):
            found = sess.run(make(*fed), dict(zip(fed, values)))
    return found
def nearest(points, centers, k):
    return run(lambda *x: raw.NearestNeighbors(points=x[0], centers=x[1], k=x[2]), points, centers, np.int64(k))
def chain(distances, seed):
    return run(lambda *x: raw.KMC2ChainInitialization(distances=x[0], seed=x[1]), np.float32(distances), np.int64(seed))
def spread(points, count, seed, retries):
    return run(lambda *x: raw.KmeansPlusPlusInitialization(
        points=x[0], num_to_sample=x[1], seed=x[2], num_retries_per_sample=x[3]), points, *map(np.int64, (
            count, seed, retries)))
'''
SNIPPETS = {
    **{f"nearest {k} of {m}": f"nearest(POINTS, POINTS[:{m}] + 0.1, {k})" for k, m in (
        (1, 1), (1, 6), (2, 7), (9, 9), (20, 3), (0, 4), (5, 39))},
    "nearest of equals": "nearest(POINTS[:4], POINTS[[5, 5, 6, 5, 6]], 4)",
    "nearest by no column": "nearest(POINTS[:, :0], POINTS[:3, :0], 2)",
    "nearest of none": "nearest(POINTS, POINTS[:0], 2)",
    "no points": "nearest(POINTS[:0], POINTS, 2)", "vectors as points": "nearest(POINTS[0], POINTS, 2)",
    "vectors as centers": "nearest(POINTS, POINTS[0], 2)", "other columns": "nearest(POINTS, POINTS[:, :3], 2)",
    "many k": "nearest(POINTS, POINTS, [1, 2])",
    **{f"chain {seed}": f"chain(r.uniform(size=60), {seed})" for seed in (0, 1, 2**40, -5)},
    "chain of one": "chain([2.5], 3)", "chain of negatives": "chain([-1, -2, -0.5, 3, 0], 3)",
    "chain of none": "chain([], 3)", "chain of rows": "chain(POINTS, 3)", "chain of seeds": "chain([1, 2], [3])",
    **{f"spread {count}, {retries}": f"spread(POINTS, {count}, {seed}, {retries})" for count, seed, retries in (
        (1, 0, 0), (6, 7, 0), (6, 8, -1), (6, 2**33, 3), (40, 9, 1), (1, -3, 5))},
    **{f"spread over {n}, {d}": f"spread(r.normal(size=({n}, {d})).astype(np.float32), {count}, 3, {retries})"
       for n, d, count, retries in ((5000, 3, 7, 2), (1025, 9, 20, -1), (3000, 16, 3, 0), (2000, 20, 3, -1))},
    "spread over many equals": "spread(np.ones((5000, 2), np.float32), 3, 1, 2)",
    "spread over NaN": "spread(np.full((5000, 2), np.nan, np.float32), 1, 1, 2)",
    "spread of equals": "spread(np.ones((4, 2), np.float32), 1, 1, 0)",
    "spread too many": "spread(POINTS, 41, 1, 0)", "spread none": "spread(POINTS, 0, 1, 0)",
    "spread of none": "spread(POINTS[:0], 1, 1, 0)", "spread of a vector": "spread(POINTS[0], 1, 1, 0)",
    "spread of seeds": "spread(POINTS, 1, [1], 0)", "spread of counts": "spread(POINTS, [1], 1, 0)",
    "spread of retries": "spread(POINTS, 1, 1, [0])",
}


def test_clustering(oracle):
    assert not differences(oracle, SNIPPETS, SETUP, 2e-5, modes=("never", "always"))
