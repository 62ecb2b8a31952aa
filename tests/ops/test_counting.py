"""Histograms, confusion matrices, repetitions: values, static shapes and errors as in TensorFlow."""
from tests.differential import differences

SETUP = '''
def run(*fetches, feed=None):
    with tf.Session() as sess:
        for _ in range(2):
            found = sess.run(fetches, feed)
    return found
v = [-1.0, 0.0, 1.5, 2.0, 5.0, 15.0]
p = tf.placeholder(tf.int32)
'''
SNIPPETS = {
    "histogram": "run(tf.histogram_fixed_width(v, [0.0, 5.0], nbins=5), "
                 "tf.histogram_fixed_width([v, v], [-3.0, 20.0]), "
                 "tf.histogram_fixed_width([1, 2, 3, 9], [0, 10], 5, tf.int64))",
    "histogram static": "tf.histogram_fixed_width(v, [0.0, 5.0], nbins=5).shape.as_list()",
    "histogram without range": "run(tf.histogram_fixed_width(v, [5.0, 5.0]))",
    "histogram without bins": "run(tf.histogram_fixed_width(v, [0.0, 5.0], 0))",
    "bins": "run(tf.histogram_fixed_width_bins(v, [0.0, 5.0], nbins=5), "
            "tf.histogram_fixed_width_bins([v, v], np.array([0.0, 7.0], np.float32), 3))",
    "confusion": "run(tf.confusion_matrix([1, 2, 4], [2, 2, 4]), tf.math.confusion_matrix([0, 1], [1, 1], 4), "
                 "tf.confusion_matrix([0, 1, 1], [1, 1, 1], dtype=tf.float32, weights=[0.5, 1.0, 2.0]))",
    "confusion of a column": "run(tf.confusion_matrix([[1], [0]], [0, 1]), tf.confusion_matrix([1, 0], [[0], [1]]))",
    "confusion fed": "run(tf.confusion_matrix(p, [0, 2, 1], 3), feed={p: [1, 1, 1]})",
    "confusion below 0": "run(tf.confusion_matrix(p, [0, 2, 1], 3), feed={p: [1, -1, 1]})",
    "confusion beyond": "run(tf.confusion_matrix(p, [0, 2, 1], 3), feed={p: [1, 5, 1]})",
    "confusion of other sizes": "tf.confusion_matrix([1, 2], [1, 2, 3])",
    "confusion static": "tf.confusion_matrix([1, 2], [1, 2], 4).shape.as_list()",
    "confusion of other weights": "tf.confusion_matrix([1, 2], [1, 2], weights=[1.0])",
    "repeat": "run(tf.repeat([3, 4], 2), tf.repeat([[1, 2], [3, 4]], [1, 2], axis=0), tf.repeat([[1, 2], [3, 4]], 3), "
              "tf.repeat([[1, 2], [3, 4]], [2, 0], axis=-1), tf.repeat(['a', 'b'], [0, 3]))",
    "repeat fed": "run(tf.repeat([[1, 2], [3, 4]], p, axis=1), feed={p: [0, 2]})",
    "repeat gradient": "x = tf.constant([1.0, 2.0])\nrun(tf.gradients(tf.repeat(x, [2, 3]), x))",
    "batch_gather": "run(tf.batch_gather([[1, 2, 3], [4, 5, 6]], [[2], [0]]), tf.batch_gather([1, 2, 3], [2, 0]), "
                    "tf.batch_gather(np.arange(24).reshape(2, 3, 4), [[2, 1], [0, 0]]))",
}


def test_counts_and_repetitions(oracle):
    assert not differences(oracle, SNIPPETS, SETUP, tolerance=1e-6, modes=("never", "always"))
