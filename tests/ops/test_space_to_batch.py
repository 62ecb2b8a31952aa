"""Paddings of space_to_batch and dilation of any operation: as in TensorFlow."""
from tests.differential import differences

SETUP = '''
def dilated(rates, padding, shape=(2, 7, 6, 3), taps=(2, 3), known=True, **attrs):
    random = np.random.default_rng(0)
    data, kernel = random.normal(size=shape), random.normal(size=(*taps, shape[-1], 2))
    x = tf.placeholder(tf.float64, shape if known else [None, None, None, shape[-1]])
    y = tf.nn.with_space_to_batch(x, rates, padding, lambda z, rank, p: tf.nn.conv2d(z, kernel, [1] * 4, p),
                                  filter_shape=taps, **attrs)
    return tf.Session().run([y, tf.gradients(y, x)[0]], {x: data})
def run(fetches, feed=None):
    return list(tf.Session().run(fetches, feed))
'''
SNIPPETS = {
    **{f"dilated {rates} {padding} {known}": f"dilated({rates}, '{padding}', known={known})"
       for rates, padding in (([2, 2], "SAME"), ([3, 1], "VALID"), ([1, 2], "SAME"), ([1, 1], "SAME"))
       for known in (True, False)},
    "dilated along one axis": "dilated([2], 'SAME', taps=(1, 3), spatial_dims=[2])"
                              .replace("taps=(1, 3)", "taps=(1, 1)"),
    "no taps": "tf.nn.with_space_to_batch(tf.ones([1, 4, 1]), [2], 'SAME', lambda x, n, p: x)",
    "rate 0": "tf.nn.with_space_to_batch(tf.ones([1, 4, 1]), [0], 'VALID', lambda x, n, p: x)",
    "other padding": "tf.nn.with_space_to_batch(tf.ones([1, 4, 1]), [2], 'FULL', lambda x, n, p: x)",
    "axis 0": "tf.nn.with_space_to_batch(tf.ones([1, 4, 1]), [2], 'VALID', lambda x, n, p: x, spatial_dims=[0])",
    "paddings": "[run(tf.required_space_to_batch_paddings([5, 6], b, p)) for b, p in (([2, 4], None), "
                "([3, 3], [[1, 1], [0, 3]]))]",
    "paddings fed": "x = tf.placeholder(tf.int32, [2])\n"
                    "run(tf.required_space_to_batch_paddings(x, [2, 4], [[1, 1], [0, 3]]), {x: [5, 6]})",
    "paddings of another rank": "tf.required_space_to_batch_paddings([5], [2, 4])",
}


def test_as_tensorflow(oracle):
    assert not differences(oracle, SNIPPETS, SETUP, 1e-12)
