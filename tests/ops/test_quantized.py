"""Quantization, and arithmetic on quantized tensors: TensorFlow's integers and ranges, in all runs."""
import numpy as np
import pytest

import tfnb as tf
from tests.differential import differences
from tfnb.kernels.arrays import quantized as arrays
from tfnb.kernels.library.rows import quantizing

SETUP = '''
raw, q8, s8, q32 = tf.raw_ops, tf.quint8, tf.qint8, tf.qint32
x = np.float32([-1.5, -1, -.5, -.25, 0, .1, .3, .5, 1, 2, 3.7])
w = np.float32([[1, 2, 3], [-4, 5, -6]])
r = np.random.RandomState(0)
def quantized(values, kind=q8):
    plain = {q8: tf.uint8, s8: tf.int8, q32: tf.int32, tf.quint16: tf.uint16, tf.qint16: tf.int16}[kind]
    return tf.bitcast(tf.constant(np.asarray(values), plain), kind)
def plain(t):
    to = {"quint8": tf.uint8, "qint8": tf.int8, "qint32": tf.int32, "quint16": tf.uint16, "qint16": tf.int16}
    return tf.bitcast(t, to[t.dtype.name]) if t.dtype.name in to else t
def run(*ts, feed=None):
    with tf.Session() as sess:
        return list(sess.run([plain(t) for t in ts], feed))
def fed(fn, *arrays):
    given = [tf.placeholder(a.dtype, [None] * a.ndim) for a in arrays]
    made = fn(*given)
    return run(*(made if isinstance(made, (tuple, list)) else [made]), feed=dict(zip(given, arrays)))
a, b = quantized([[0, 10, 128, 255], [3, 77, 200, 90]]), quantized(np.arange(12).reshape(4, 3) * 20)
i = quantized([[0, 1000000, -2000000000, 2147483647], [3, -77, 200000, 90]], q32)
image, volume = quantized(np.arange(48).reshape(1, 4, 6, 2) * 5), quantized(r.randint(-9**8, 9**8, (1, 2, 3, 4)), q32)
filters = quantized(np.arange(24).reshape(2, 2, 2, 3) * 10)
ab, one, two = dict(min_a=-1., max_a=2., min_b=-.5, max_b=3.), (-1., 2.), (-.5, 3.)
xy = dict(min_x=-1., max_x=2., min_y=-.5, max_y=3.)
'''
KINDS = ("quint8", "qint8", "quint16", "qint16")
SNIPPETS = {
    **{f"quantize {kind} {mode}": f"fed(lambda x: tf.quantize(x, -1.1, 2.3, tf.{kind}, mode='{mode}'), x)"
       for kind in KINDS for mode in ("MIN_COMBINED", "MIN_FIRST", "SCALED")},
    **{f"quantize 32 {mode}": f"fed(lambda x: tf.quantize(x, -1.1, 2.3, q32, mode='{mode}'), x[:-2])"
       for mode in ("MIN_COMBINED", "MIN_FIRST", "SCALED")},
    **{f"quantize {args}": f"fed(lambda x: tf.quantization.quantize(x, {args}), x)" for args in (
        "-1.1, 2.3, s8, mode='SCALED', round_mode='HALF_TO_EVEN', narrow_range=True", "-1.1, 2.3, q8, round_mode="
        "'HALF_TO_EVEN'", ".5, 2.3, q8", "0., 0., q8", "0., 0., q8, ensure_minimum_range=.5", "300., 300., q8",
        "1., -1., q8", "[0.], [1.], q8")},
    **{f"quantize axis {axis} {mode}": "fed(lambda w: tf.quantize_v2(w, np.float32([-1, -2, -3])[:" f"{n}], np.float32("
                                       f"[1, 2, 3])[:{n}], s8, mode='{mode}', axis={axis}), w)"
       for axis, n in ((0, 2), (1, 3), (2, 3)) for mode in ("MIN_COMBINED", "MIN_FIRST", "SCALED")},
    "not a number": "fed(lambda x: tf.quantize(x, -1., 1., q8), np.float32([np.nan, np.inf, -np.inf]))",
    **{f"dequantize {kind} {mode}": f"run(tf.dequantize(quantized([0, 1, 2, 100, 127], tf.{kind}), -1.1, 2.3, "
                                    f"'{mode}'))"
       for kind in (*KINDS, "qint32") for mode in ("MIN_COMBINED", "MIN_FIRST", "SCALED")},
    **{f"dequantize axis {axis} {mode}": f"run(tf.quantization.dequantize(quantized([[1, 2, 3], [-4, 5, -6]], s8), "
                                         f"np.float32([-1, -2, -3])[:{n}], np.float32([1, 2, 3])[:{n}], '{mode}', axis="
                                         f"{axis}))"
       for axis, n in ((0, 2), (1, 3)) for mode in ("MIN_COMBINED", "MIN_FIRST", "SCALED")},
    "dequantize to bfloat16": "run(tf.cast(tf.dequantize(a, -1., 2., dtype=tf.bfloat16), tf.float32))",
    "back": "run(tf.dequantize(*tf.quantize(x, -2., 4., q8)))",
    **{f"rounded {signed} {given} {narrow} {how}":
       f"fed(lambda x: tf.quantization.quantize_and_dequantize(x, -1.1, 2.3, {signed}, 4, {given}, '{how}', "
       f"narrow_range={narrow}), x)" for signed in (True, False) for given in (True, False) for narrow in (True, False)
       for how in ("HALF_TO_EVEN", "HALF_UP")},
    "rounded third": "fed(lambda x: "
                     "raw.QuantizeAndDequantizeV3(input=x, input_min=-1.1, input_max=2.3, num_bits=5), x)",
    "rounded nothing": "[fed(lambda x: tf.quantization.quantize_and_dequantize(x, 0., 1., range_given=given), x[:0]) "
                       "for given in (True, False)]",
    "rounded own axis": "fed(lambda w: tf.quantization.quantize_and_dequantize(w, [-1., -2, -3], [1., 2, 3], "
                        "num_bits=4, axis=1), w)",
    "rounded gradient": "fed(lambda x: tf.gradients(tf.quantization.quantize_and_dequantize(x, -1., 1., "
                        "range_given=True) * x, x), x)",
    "rounded third gradient": "fed(lambda x: tf.gradients(raw.QuantizeAndDequantizeV3(input=x, input_min=-1., "
                              "input_max=1., num_bits=8) * x, x), x)",
    **{f"rounded with {args}": f"run(tf.quantization.quantize_and_dequantize(x, {args}))" for args in (
        "-1., 1., num_bits=0", "-1., 1., num_bits=64", "1., -1., range_given=True")},
    "matmul": "run(*raw.QuantizedMatMul(a=a, b=b, **ab)) + run(*raw.QuantizedMatMul(a=b, b=b, transpose_a=True, **ab))",
    "matmul sizes": "raw.QuantizedMatMul(a=a, b=a, **ab)",
    "matmul range": "run(*raw.QuantizedMatMul(a=a, b=b, min_a=1., max_a=1., min_b=-.5, max_b=3.))",
    **{f"convolution {padding}": f"run(*tf.nn.quantized_conv2d(image, filters, *one, *two, [1, 2, 2, 1], '{padding}'))"
       for padding in ("SAME", "VALID")},
    "bias": "run(*raw.QuantizedBiasAdd(input=a, bias=quantized([1, 2, 200, 255]), min_input=-1., max_input=2., "
            "min_bias=-.5, max_bias=3., out_type=q32))",
    "times": "run(*raw.QuantizedMul(x=a, y=a, **xy)) + run(*raw.QuantizedMul(x=a, y=quantized([1, 2, 3, 4]), **xy))",
    "relu": "run(*raw.QuantizedRelu(features=a, min_features=-1., max_features=2.)) + "
            "run(*raw.QuantizedRelu6(features=a, min_features=-1., max_features=12.))",
    "relu 32": "run(*raw.QuantizedRelu(features=i, min_features=-1., max_features=2., out_type=q32))",
    **{f"pool {kind} {padding}": f"run(*tf.nn.quantized_{kind}_pool(image, *one, [1, 2, 3, 1], [1, 2, 2, 1], "
                                 f"'{padding}'))"
       for kind in ("max", "avg") for padding in ("SAME", "VALID")},
    "concat": "run(*tf.quantized_concat(1, [a, a], [-1., .5], [2., 4.])) + "
              "run(*tf.quantization.quantized_concat(0, [a, a], [-1., -1.], [2., 2.]))",
    "reshape": "run(*raw.QuantizedReshape(tensor=a, shape=[8], input_min=-1., input_max=2.))",
    "reshape below -1": "p = tf.placeholder(tf.int32)\n"
                        "made = raw.QuantizedReshape(tensor=a, shape=p, input_min=-1., input_max=2.)\n"
                        "tf.Session().run(made[1], {p: [4, -2]})",
    "down": "run(*raw.QuantizeDownAndShrinkRange(input=i, input_min=-1000., input_max=2000., out_type=q8))",
    "range": "run(*raw.RequantizationRange(input=i, input_min=-1000., input_max=2000.))",
    **{f"again {kind}": "run(*raw.Requantize(input=i, input_min=-1000., input_max=2000., requested_output_min=-500., "
                        f"requested_output_max=900., out_type={kind}))" for kind in ("q8", "s8")},
    "again badly": "run(*raw.Requantize(input=i, input_min=-1., input_max=2., requested_output_min=5., "
                   "requested_output_max=-9., out_type=q8))",
    "channels": "run(*raw.RequantizationRangePerChannel(input=volume, input_min=[-10.] * 4, input_max=[20., 3, 4, 5], "
                "clip_value_max=1e30)) + run(*raw.RequantizationRangePerChannel(input=volume, input_min=[-10.] * 4, "
                "input_max=[20., 3, 4, 5], clip_value_max=.5))",
    "channels of a matrix": "run(*raw.RequantizationRangePerChannel(input=i, input_min=[-10.] * 4, "
                            "input_max=[20.] * 4, clip_value_max=6.))",
}

def test_a_sum_represents_the_sum():
    """TensorFlow's kernel rounds more (by 3 in 1,000 at most), so that integers differ; not what they represent."""
    x, y = np.linspace(-1, 2, 12, dtype=np.float32).reshape(3, 4), np.linspace(0, 3, 4, dtype=np.float32)
    with tf.Session() as sess:
        parts = [tf.quantize(x, -1.0, 2.0, tf.quint8), tf.quantize(y, -0.5, 3.0, tf.quint8)]
        (a, low, high), (b, low2, high2) = parts
        made = tf.raw_ops.QuantizedAdd(x=a, y=b, min_x=low, max_x=high, min_y=low2, max_y=high2)
        found, *exact = sess.run([tf.dequantize(*made), *[tf.dequantize(*part) for part in parts]])
    np.testing.assert_allclose(found, exact[0] + exact[1], atol=0.02)


def test_snippets(oracle):
    assert differences(oracle, SNIPPETS, SETUP, 1e-6, modes=("never", "always")) == {}


@pytest.mark.parametrize("mode", ["MIN_COMBINED", "MIN_FIRST", "SCALED"])
@pytest.mark.parametrize("kind", [tf.quint8, tf.qint32])
@pytest.mark.parametrize("shape", [(700, 3), (5, 3, 200)])
def test_many_floats_are_quantized_as_few_are(mode, kind, shape):
    """By machine code, with NumPy's bits; ranges along axis 1 too."""
    x = np.random.default_rng(2).normal(0, 2, shape).astype(np.float32)
    x.flat[:5] = np.nan, np.inf, -np.inf, 0.0, 0.5
    x.flat[5:300] = np.linspace(-1, 1, 295) * 2
    along = len(shape) > 1 and mode != "MIN_FIRST"
    low, high = np.array([-1, -2, -0.5], "f"), np.array([1, 0.5, 3], "f")
    ends = [end.reshape(3, *[1] * (len(shape) - 2)) if along else end[0] for end in (low, high)]
    for even in (False, True)[:1 + (mode == "SCALED")]:
        with np.errstate(all="ignore"):
            form, steps = arrays.steps_of(*map(np.asarray, ends), kind.as_numpy_dtype, mode, even, False)
            wanted = arrays.integers(arrays.quantized(x, form, steps, kind.as_numpy_dtype))
        found = quantizing.quantized(x, form, steps, wanted.dtype, arrays.limits(kind.as_numpy_dtype))
        np.testing.assert_array_equal(found, wanted)
    for type in (np.float32, np.float64):
        wide, given = x.astype(type), [np.asarray(end, type) for end in ends]
        steps = arrays.multiples(np.dtype(type), *given, (-7, 7))
        for even, clip in ((False, True), (True, False)):
            with np.errstate(all="ignore"):
                wanted = arrays.rounded_to(wide, steps, even, clip)
            np.testing.assert_array_equal(quantizing.rounded_to(wide, steps, even, clip), wanted)
