"""Morphology, fake quantization, moments in parts, norms and cumulative logarithms: as in TensorFlow, in all runs."""
from tests.differential import differences

SETUP = '''
def grid(*shape, seed=0, scale=3.0):
    return np.random.default_rng(seed).normal(0, scale, shape).astype(np.float32)
def run(fetch, feed=None):
    found = tf.Session().run(fetch, feed)
    return list(found) if isinstance(found, tuple) else found
def fed(fn, *arrays):
    """Results of `fn`, and its gradients for all arrays, which are fed."""
    given = [tf.placeholder(a.dtype, [None] * a.ndim) for a in arrays]
    y = fn(*given)
    ys = list(y) if isinstance(y, (tuple, list)) else [y]
    weighted = sum(tf.reduce_sum(t * tf.reshape(tf.range(1.0, tf.cast(tf.size(t), tf.float32) + 1), tf.shape(t)))
                   for t in ys)
    return run([ys, tf.gradients(weighted, given)], dict(zip(given, arrays)))
'''
MORPHOLOGY = "fed(lambda x, k: tf.nn.{}(x, k, {}, {}, '{}'), grid(2, 6, 5, 3), grid({}, {}, 3, seed=1))"
SNIPPETS = {
    **{f"{name} {strides} {rates} {padding} {a}x{b}": MORPHOLOGY.format(name, strides, rates, padding, a, b)
       for name in ("dilation2d", "erosion2d")
       for strides, rates, padding, a, b in (([1, 1, 1, 1], [1, 1, 1, 1], "SAME", 2, 3),
                                             ([1, 2, 1, 1], [1, 1, 2, 1], "VALID", 2, 2),
                                             ([1, 2, 3, 1], [1, 2, 1, 1], "SAME", 3, 2))},
    "dilation of integers": "run(tf.nn.dilation2d(np.arange(24).reshape(1, 4, 6, 1), np.int64([[[1]], [[5]]]), "
                            "[1, 1, 1, 1], [1, 1, 1, 1], 'SAME'))",
    "dilation by names": "run(tf.nn.dilation2d(grid(1, 3, 3, 1), filters=grid(2, 2, 1), strides=[1, 1, 1, 1], "
                         "dilations=[1, 1, 1, 1], padding='VALID'))",
    "dilation of other channels": "tf.nn.dilation2d(grid(1, 3, 3, 2), grid(2, 2, 1), [1] * 4, [1] * 4, 'SAME')",
    **{f"fake quantization {args}": f"fed(lambda x: tf.fake_quant_with_min_max_args(x, {args}), grid(7, 9))"
       for args in ("", "-1, 3", "0.1, 3, 4", "-3, -0.5, 8, True", "min=0, max=6, num_bits=2")},
    **{f"fake quantization by {low}, {high}, {bits}, {narrow}":
       f"fed(lambda x, a, b: tf.fake_quant_with_min_max_vars(x, a, b, {bits}, {narrow}), grid(7, 9), "
       f"np.float32({low}), np.float32({high}))"
       for low, high, bits, narrow in ((-1, 3, 8, False), (0.2, 3, 4, True), (-4, -1, 16, False), (0, 0, 8, False))},
    "fake quantization of channels": "fed(lambda x, a, b: tf.fake_quant_with_min_max_vars_per_channel(x, a, b, 4), "
                                     "grid(5, 3), np.float32([-1, 0.5, -4]), np.float32([1, 2, 0]))",
    "of other channels": "tf.fake_quant_with_min_max_vars_per_channel(grid(5, 3), [0.0], [1.0])",
    "too many bits": "run(tf.fake_quant_with_min_max_vars(grid(2), 0.0, 1.0, 17))",
    "no range": "run(tf.fake_quant_with_min_max_args(grid(2), 1.0, 1.0))",
    **{f"statistics {args}": f"fed(lambda x: tf.nn.sufficient_statistics(x, {args})[:3], grid(4, 5))"
       for args in ("[0]", "[0, 1]", "[1], keep_dims=True")},
    "statistics with a shift": "fed(lambda x, s: tf.nn.sufficient_statistics(x, [0], s)[:3], grid(4, 5), grid(5))",
    "normalized": "run(tf.nn.normalize_moments(4.0, [2.0], [8.0], None)) + "
                  "run(tf.nn.normalize_moments(4.0, [2.0], [8.0], [0.5]))",
    **{f"weighted {axes} {keep}": f"fed(lambda x, w: tf.nn.weighted_moments(x, {axes}, w, keep_dims={keep}), "
                                  "grid(4, 5), np.abs(grid(4, 1)))"
       for axes in ([0], [0, 1]) for keep in (True, False)},
    **{f"norm {args}": f"fed(lambda x: tf.math.reduce_euclidean_norm(x, {args}), grid(3, 4, 5))"
       for args in ("1", "[0, 2], keepdims=True", "None")},
    "norm of integers": "run([tf.math.reduce_euclidean_norm(tf.constant([[3, 4], [6, 8]], k), 1) "
                        "for k in ('int32', 'int64', 'uint8', 'float16', 'float64')])",
    "norm of complex": "run(tf.math.reduce_euclidean_norm(tf.constant([[3 + 4j, 4]], tf.complex64), 1))",
    **{f"logarithms {args}": f"fed(lambda x: tf.math.cumulative_logsumexp(x, {args}), grid(4, 6, scale=20))"
       for args in ("0", "1", "-1, reverse=True")},
    "logarithms before": "run([tf.math.cumulative_logsumexp(grid(4, 6), 1, exclusive=True, reverse=r) "
                         "for r in (False, True)])",
    "logarithms of -inf": "run(tf.math.cumulative_logsumexp([-np.inf, -np.inf, 2.0, 1.0]))",
    **{f"element {n} {r}": f"run(tf.raw_ops.NthElement(input=grid(3, 4, 5), n={n}, reverse={r}))"
       for n in (0, 2, 4) for r in (True, False)},
    "element gradient": "x = tf.constant([[1.0, 3.0, 3.0], [5.0, 2.0, 9.0]])\n"
                        "run(tf.gradients(tf.raw_ops.NthElement(input=x, n=1), x))",
    **{f"bits as {to}": f"run([tf.bitcast(x, {to!r}) for x in (np.float32([[1.5, -2], [3, 4]]), np.int32([[1, 2]]))])"
       for to in ("uint8", "int16", "int32", "uint32", "complex64", "int64", "float64")},
    "smaller bits of a scalar": "run([tf.bitcast(1.5, k) for k in ('uint8', 'int16', 'int32')])",
    "bits of transposed": "x = tf.transpose(tf.placeholder_with_default(np.float32([[1.5, -2], [3, 4]]), None))\n"
                          "run([tf.bitcast(x, k) for k in ('uint8', 'float64')])",
    "bits that don't fit": "tf.bitcast([1, 2, 3], tf.int64)", "bits of a scalar": "tf.bitcast(1, tf.int64)",
    "bits fed": "x = tf.placeholder(tf.float32, [None, 2])\nrun(tf.bitcast(x, tf.int64), {x: grid(3, 2)})",
    "counted bits": "run([tf.raw_ops.PopulationCount(x=np.array([100, 3, 0, 127], k)) for k in ('int8', 'uint16', "
                    "'int64')]) + [run(tf.raw_ops.PopulationCount(x=[-1, -2]))]",
    "rows": "x, v = np.arange(6).reshape(3, 2), np.int64([[10, 20], [30, 40]])\n"
            "run([op(x=x, i=i, v=v) for op in (tf.raw_ops.InplaceAdd, tf.raw_ops.InplaceSub, tf.raw_ops.InplaceUpdate) "
            "for i in ([0, 2], [1, -1])])",
    "parallel stack": "run(tf.parallel_stack([[1, 2], [3, 4]]))",
    "parallel stack unknown": "tf.parallel_stack([tf.placeholder(tf.float32)])",
    "parallel rows of a scalar": "tf.raw_ops.ParallelConcat(values=[grid(1, 2)], shape=[])",
    "buckets": "run([tf.raw_ops.Bucketize(input=np.array(x), boundaries=[1.0, 5.0, 7.0]) for x in "
               "([1.0, 5, np.nan, -1, 10], np.int32([1, 5, 0]))])",
    "unsorted buckets": "run(tf.raw_ops.Bucketize(input=[1, 5], boundaries=[5.0, 1.0]))",
    "axes": "run([tf.raw_ops.DataFormatDimMap(x=[0, 1, 2, 3, -1, -4], src_format=a, dst_format=b) for a, b in "
            "(('NHWC', 'NCHW'), ('NCHW', 'NHWC'), ('NHWC', 'HWNC'))])",
    "permuted": "run([tf.raw_ops.DataFormatVecPermute(x=x) for x in ([1, 2, 3, 4], [1, 2], [[1, 2], [3, 4], [5, 6], "
                "[7, 8]])])",
    "permuted of 3": "run(tf.raw_ops.DataFormatVecPermute(x=[1, 2, 3]))",
    "constant": "run(tf.guarantee_const(grid(3)))",
    **{f"einsum {equation}": f"fed(lambda x, y: tf.raw_ops.Einsum(inputs=[x, y], equation={equation!r}), grid(3, 4), "
                             "grid(4, 5, seed=1))" for equation in ("ij,jk->ik", "ij,jk->ki", "ij,jk->i", "ab,cd->ad")},
    **{f"einsum {equation}": f"run([tf.raw_ops.Einsum(inputs=[grid(*s, seed=1) for s in {shapes}], equation="
                             f"{equation!r})])"
       for equation, shapes in (("ab,ab->", [[3, 4]] * 2), ("ab,cd->", [[3, 4], [2, 5]]), (",ab->ba", [[], [3, 4]]),
                                ("abc,adc->dab", [[2, 3, 4], [2, 5, 4]]), ("abc,ade->bd", [[2, 3, 4], [2, 5, 6]]))},
    "einsum of one": "fed(lambda x: tf.raw_ops.Einsum(inputs=[x], equation='ij->j'), grid(3, 4))",
    **{f"einsum {kind} {equation}": f"run([tf.raw_ops.Einsum(inputs=[(grid(*s, seed=1) * 9).astype({kind!r}) "
                                    f"for s in {shapes}], equation={equation!r})])"
       for kind in ("int32", "int64") for equation, shapes in (
           ("bij,bjk->bik", [[9, 12, 13], [9, 13, 6]]), ("ij,kj->ki", [[40, 30], [20, 30]]),
           ("aij,jb->i", [[3, 30, 20], [20, 40]]), ("abc,adc->dab", [[3, 10, 12], [3, 20, 12]]))},
    "einsum of batches": "run([tf.raw_ops.Einsum(inputs=[grid(2, 3, 4), grid(4, 5)], equation='...ij,jk->...ik'), "
                         "tf.raw_ops.Einsum(inputs=[grid(3, 3)], equation='ii->i')])",
    "einsum of other ranks": "tf.raw_ops.Einsum(inputs=[grid(3)], equation='ij->j')",
    **{f"sparse product {a} {b}": f"fed(lambda x, y: tf.sparse_matmul(x, y, {a}, {b}), "
       f"grid(*{(4, 3) if a else (3, 4)}), grid(*{(5, 4) if b else (4, 5)}, seed=1))"
       for a in (True, False) for b in (True, False)},
    "sparse product of other sizes": "tf.sparse_matmul(grid(2, 3), grid(2, 3))",
    "polynomials": "fed(lambda x, a, b: tf.math.polyval([a, b, 1.0], x), grid(3, 4), grid(4), grid(1))",
    "polynomial of nothing": "run(tf.math.polyval([], grid(3)))", "no list": "tf.math.polyval(np.ones(2), 1.0)",
    **{f"volumes {taps} {steps} {padding}": "x = tf.constant(grid(2, 4, 5, 3, 2))\n"
       f"y = tf.extract_volume_patches(x, {taps}, {steps}, '{padding}')\n"
       "run([y, tf.gradients(y * grid(*y.shape.as_list(), seed=2), x)[0]])" for taps, steps, padding in (
           ([1, 2, 2, 2, 1], [1, 1, 1, 1, 1], "VALID"), ([1, 3, 2, 1, 1], [1, 2, 3, 1, 1], "SAME"))},
    "element beyond": "tf.raw_ops.NthElement(input=grid(3), n=3)",
}


KERNELS = ("norm of integers", "norm 1", "norm [0, 2], keepdims=True", "logarithms 0", "logarithms -1, reverse=True",
           "logarithms before", "logarithms of -inf", "bits fed")


def test_as_tensorflow(oracle):
    assert not differences(oracle, SNIPPETS, SETUP, 2e-5)


def test_kernels_as_tensorflow(oracle):
    assert not differences(oracle, {name: SNIPPETS[name] for name in KERNELS}, SETUP, 2e-5, ("always",))
