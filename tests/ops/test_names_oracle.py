"""The nodes that user functions make: names, types, inputs and constants are those of real TensorFlow.

Where we follow TensorFlow 1.15 instead (random_uniform, dropout: the seeds of later ops depend on how many nodes there
are; linspace; zero_fraction, Assert and labels of sparse cross-entropy: these have a cond), the nodes are listed below.
"""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf

PROGRAMS = """
x = tf.placeholder(tf.float32, [None, 3]); x + 1; 1 - x; x * x; 2 / x; x / 2; x // 2.; x % 2.; x ** 2; -x
abs(x); 2 ** x

x = tf.placeholder(tf.float32, [None, 3]); x @ tf.ones([3, 2])

x = tf.placeholder(tf.int32, [3]); x / 2; x // 2; x % 2; 2 // x; x < 2; x >= 2; x > 1; x <= 1

x = tf.placeholder(tf.bool, [3]); ~x; x & x; x | x; x ^ x

x = tf.placeholder(tf.float32, [4, 5]); x[0]; x[1:3, ::2]; x[..., 0]; x[:, tf.newaxis]; x[tf.constant(1)]
x[-1:]

x = tf.placeholder(tf.float32, [4, 5]); tf.boolean_mask(x, [True, False, True, True])

x = tf.placeholder(tf.float32, [4, 5]); tf.reduce_mean(x); tf.reduce_sum(x, 1)
tf.reduce_max(x, axis=[0, 1], keepdims=True)

x = tf.placeholder(tf.float32, [4, 5]); tf.reduce_logsumexp(x, 1); tf.reduce_sum(tf.constant(3.0))
tf.reduce_logsumexp(x)

x = tf.placeholder(tf.float32); tf.reduce_mean(x); tf.reduce_sum(x, -1)

x = tf.placeholder(tf.float32, [None, None]); tf.reduce_mean(x, name="loss"); tf.reduce_any(tf.equal(x, 1.))
tf.reduce_all(x > 0)

x = tf.placeholder(tf.float32, [None, None]); tf.math.reduce_std(x); tf.math.reduce_variance(x)
tf.count_nonzero(x)

x = tf.placeholder(tf.float32, [4, 5]); tf.argmax(x, 1); tf.argmin(x); tf.arg_max(x, 1)
tf.argmax(x, dimension=1)

x = tf.placeholder(tf.float32, [4, 5]); tf.cumsum(x); tf.cumsum(x, 1, name="cc")
tf.cumprod(x, exclusive=True)

x = tf.placeholder(tf.int32, [4]); tf.to_float(x); tf.cast(x, tf.float32); tf.cast(x, tf.int32)
tf.to_int64(x, name="q")

x = tf.placeholder(tf.int32, [4]); tf.cast(3, tf.float32); tf.cast(x, tf.bool, name="w")

x = tf.placeholder(tf.float32, [4, 5]); tf.matmul(x, tf.ones([5, 6]))
tf.matmul(x, x, transpose_b=True, name="mm")

tf.matmul(tf.ones([2, 3, 4]), tf.ones([2, 4, 5]))
tf.matmul(tf.ones([2, 3, 4]), tf.ones([2, 5, 4]), transpose_b=True)

x = tf.placeholder(tf.float32, [4, 5]); tf.tensordot(x, tf.ones([5, 6]), 1)

x = tf.placeholder(tf.float32, [4, None]); tf.shape(x); tf.size(x); tf.rank(x)
y = tf.placeholder(tf.float32, [4, 5]); tf.shape(y)

y = tf.placeholder(tf.float32, [4, 5]); tf.size(y); tf.rank(y); tf.shape_n([y, y])
tf.size(y, name="sz", out_type=tf.int64)

x = tf.placeholder(tf.float32, [4, None]); tf.reshape(x, [-1]); b = tf.expand_dims(x, 1); tf.squeeze(b, [1])
tf.transpose(x)

x = tf.placeholder(tf.float32, [4, None]); tf.transpose(x, [1, 0]); tf.slice(x, [0, 0], [1, 2])
tf.identity(x); tf.stop_gradient(x)

x = tf.placeholder(tf.float32, [4, 1]); tf.expand_dims(x, dim=-1); tf.squeeze(x, squeeze_dims=[1])
tf.expand_dims(x, -1, "e")

x = tf.placeholder(tf.float32); tf.transpose(x)

x = tf.placeholder(tf.float32, [4, 5]); tf.concat([x, x], 1); tf.concat([x], 0); tf.stack([x, x])
tf.unstack(x); tf.split(x, 2)

x = tf.placeholder(tf.float32, [4, 6]); tf.split(x, [1, 3]); tf.split(x, 2, axis=1, name="s")
tf.unstack(x, axis=1); tf.tile(x, [1, 2])

x = tf.placeholder(tf.float32, [4, 5]); tf.pad(x, [[1, 1], [0, 0]]); tf.pad(x, [[1, 1], [0, 0]], "REFLECT")

x = tf.placeholder(tf.float32, [4, 5]); tf.pad(x, [[1, 1], [0, 0]], constant_values=2)
tf.stack([x, x], axis=1)

tf.zeros([2, 3]); tf.ones([2, 3], tf.int32); tf.fill([2, 3], 9.); tf.zeros([], tf.string)
tf.zeros([20, 3000]); tf.zeros([2], tf.bool)

tf.range(5); tf.range(1, 5, 2); tf.range(0., 1., .1); tf.range(tf.constant(3), 5.)

tf.zeros_like(tf.placeholder(tf.float32, [None])); tf.ones_like(tf.placeholder(tf.float32, [None]))

x = tf.zeros(tf.placeholder(tf.int32, [2])); tf.ones(tf.shape(tf.placeholder(tf.float32, [None])))

x = tf.zeros_like(tf.placeholder(tf.float32, [3])); tf.ones_like(x); tf.zeros_like(x, dtype=tf.int32)

tf.zeros_like(tf.placeholder(tf.float32, [None]), dtype=tf.int32)

x = tf.placeholder(tf.int32, [4]); tf.one_hot(x, 3); tf.one_hot(x, 3, 1, 0); tf.one_hot(x, 3, dtype=tf.int32)

x = tf.placeholder(tf.int32, [4]); tf.one_hot(x, 3, on_value=2., off_value=1., axis=0, dtype=tf.float32)
tf.one_hot(x, 2, True, False, name="o")

x = tf.placeholder(tf.int32, [4]); tf.gather(x, [1, 2]); tf.gather(x, 1, axis=0); tf.gather_nd(x, [[1]])
tf.where(x > 1); tf.where(x > 1, x, x)

x = tf.placeholder(tf.float32, [4]); tf.where_v2(x > 1, x, 1.); tf.broadcast_to(x, [3, 4]); tf.reverse(x, [0])
tf.diag(x)

x = tf.placeholder(tf.float32, [4]); tf.check_numerics(x, "bad"); tf.Print(x, [x], "m"); tf.unique(x)
tf.invert_permutation([1, 0])

x = tf.placeholder(tf.float32, [4]); tf.sequence_mask([1, 2], 3); tf.identity_n([x, x])
tf.ensure_shape(x, [4])

x = tf.placeholder(tf.float32, [4, 3]); tf.nn.softmax_cross_entropy_with_logits(labels=x, logits=x)

x = tf.placeholder(tf.float32, [None, 3])
tf.nn.softmax_cross_entropy_with_logits(labels=x, logits=x, name="xent")

x = tf.placeholder(tf.float32, [None, 3]); tf.nn.softmax_cross_entropy_with_logits_v2(labels=x, logits=x)

x = tf.placeholder(tf.float32, [2, None, 3]); tf.nn.softmax_cross_entropy_with_logits_v2(labels=x, logits=x)

x = tf.placeholder(tf.float32, [2, 4, 3])
tf.nn.softmax_cross_entropy_with_logits_v2(labels=x, logits=x, axis=1)

x = tf.placeholder(tf.float32, [None, 3])
tf.nn.sparse_softmax_cross_entropy_with_logits(labels=tf.placeholder(tf.int64, [None]), logits=x)

x = tf.placeholder(tf.float32, [None, 3]); tf.nn.sigmoid_cross_entropy_with_logits(labels=x, logits=x)

x = tf.placeholder(tf.float32, [None, 3]); tf.nn.weighted_cross_entropy_with_logits(x, x, 2.)

x = tf.placeholder(tf.float32, [None, 3]); tf.nn.softmax(x); tf.nn.log_softmax(x); tf.nn.relu(x)
tf.nn.bias_add(x, [1., 2., 3.])

x = tf.placeholder(tf.float32, [None, 3]); tf.nn.l2_loss(x); tf.nn.leaky_relu(x); tf.nn.crelu(x); tf.nn.elu(x)
tf.nn.relu6(x)

x = tf.placeholder(tf.float32, [None, 3]); tf.nn.softplus(x); tf.nn.tanh(x); tf.nn.sigmoid(x)
tf.log_sigmoid(x); tf.nn.softsign(x); tf.nn.selu(x)

x = tf.placeholder(tf.float32, [None, 3]); tf.nn.moments(x, [0]); m, v = tf.nn.moments(x, [0], keep_dims=True)

x = tf.placeholder(tf.float32, [None, 3]); tf.nn.batch_normalization(x, 0.5 * x, x * x, 0., 1., 1e-3)

x = tf.placeholder(tf.float32, [None, 3]); tf.nn.batch_normalization(x, x, x, None, None, 1e-3, name="bn")

x = tf.placeholder(tf.float32, [None, 3])
tf.nn.batch_norm_with_global_normalization(x, 0.5 * x, x * x, 0., 1., 1e-3, True)
tf.nn.batch_norm_with_global_normalization(input=x, mean=x, variance=x, beta=0., gamma=1., variance_epsilon=1e-3,
                                           scale_after_normalization=False, name="old")

x = tf.placeholder(tf.float32, [None, 3]); tf.norm(x); tf.norm(x, axis=1); tf.norm(x, 1)
tf.nn.l2_normalize(x, 1); tf.norm(x, np.inf)

x = tf.placeholder(tf.float32, [None, 3]); tf.nn.xw_plus_b(x, tf.ones([3, 2]), tf.ones([2]))
tf.nn.relu_layer(x, tf.ones([3, 2]), tf.ones([2]))

x = tf.placeholder(tf.float32, [None, 3]); tf.clip_by_value(x, 0., 1.); tf.clip_by_norm(x, 2.)
tf.clip_by_average_norm(x, 1.)

x = tf.placeholder(tf.float32, [None, 3]); tf.clip_by_global_norm([x, x], 2.); tf.global_norm([x])

x = tf.placeholder(tf.float32, [4, 3]); tf.nn.in_top_k(x, tf.placeholder(tf.int32, [4]), 1); tf.nn.top_k(x, 2)

tf.random_normal([2, 3]); tf.truncated_normal([2], stddev=.1, seed=4); tf.random_uniform([3], 0, 10, tf.int32)
tf.random_shuffle([1, 2, 3])

tf.multinomial([[1., 2.]], 3); tf.random_uniform([2], -1, 1); tf.random_normal([2], seed=3, name="rn")

x = tf.placeholder(tf.float32, [None, 3]); tf.add_n([x, x]); tf.add_n([x]); tf.squared_difference(x, 1.)
tf.div(x, 2.); tf.divide(x, 2)

x = tf.placeholder(tf.float32, [None, 3]); tf.truediv(x, 2.); tf.floordiv(x, 2.); tf.mod(x, 2.)
tf.maximum(x, 0); tf.add(x, 1); tf.subtract(x, 1)

x = tf.placeholder(tf.float32, [None, 3]); tf.multiply(x, 2); tf.negative(x); tf.pow(x, 2)
tf.scalar_mul(2., x); tf.div_no_nan(x, 2.); tf.round(x)

x = tf.placeholder(tf.float32, [None, 3]); tf.sign(x); tf.abs(x); tf.square(x); tf.logical_xor(x > 0, x > 1)
tf.realdiv(x, 2.)

x = tf.placeholder(tf.float32, [None, 3]); tf.truncatediv(x, 2.); tf.floor_div(x, 2.)
tf.add(x, 1, name="foo"); tf.divide(x, 2, name="d")

x = tf.placeholder(tf.float64, [3]); tf.reciprocal(x); tf.rsqrt(x); tf.sigmoid(x); 3.0 * x; tf.reduce_prod(x)
tf.is_nan(x); tf.exp(x, "e")

x = tf.placeholder(tf.complex64, [3]); tf.abs(x); tf.real(x); tf.conj(x); tf.imag(x); tf.complex(1., 2.)

tf.placeholder_with_default(1., []); tf.placeholder_with_default([1., 2.], [None], name="p")
tf.constant([1, 2], name="cc"); tf.constant("a")

x = tf.constant(3., shape=[2, 2]); tf.constant(3., shape=[2, 2], name="a/b"); tf.equal(x, 3)
tf.not_equal(1.0, x)

x = [tf.constant(1.), 2.]; y = tf.convert_to_tensor(x); tf.stack([1., y[0]])
tf.reshape(y, [tf.constant(1), 2]); tf.stack([1, 2])

x = tf.placeholder(tf.float32, [4, 5]); tf.unsorted_segment_sum(x, [0, 0, 1, 1], 2)
tf.segment_sum(x, [0, 0, 1, 1]); tf.scatter_nd([[0]], [1.], [3])

x = tf.placeholder(tf.float32, [4, 5]); tf.setdiff1d([1, 2], [2]); tf.tile([1, 2], [3]); tf.log(x)
tf.sqrt(x + 1.0, name="r")

x = tf.placeholder(tf.float32, [2, 8, 8, 3]); w = tf.placeholder(tf.float32, [3, 3, 3, 4])
y = tf.nn.conv2d(x, w, [1, 1, 1, 1], "SAME"); g = tf.gradients(y, [x, w]); tf.gradients(g, [x, w])

x = tf.placeholder(tf.float32, [None, None, 8, 3]); w = tf.placeholder(tf.float32, [3, 3, 3, 4])
y = tf.nn.conv2d(x, w, 2, [[0, 0], [1, 2], [3, 4], [0, 0]], name="c"); tf.gradients(y, [x, w])

x = tf.placeholder(tf.float32, [2, 8, 8, 3]); w = tf.placeholder(tf.float32, [3, 3, 4, 3])
y = tf.nn.conv2d_transpose(x, w, [2, 16, 16, 4], [1, 2, 2, 1]); tf.gradients(y, [x, w])

x = tf.placeholder(tf.float32, [2, 8, 3]); w = tf.placeholder(tf.float32, [3, 3, 4])
tf.nn.conv1d(x, w, 2, "SAME"); tf.nn.conv1d(x, w, 2, "SAME", name="c")
tf.nn.conv1d_transpose(x, tf.placeholder(tf.float32, [3, 4, 3]), [2, 16, 4], 2)

x = tf.placeholder(tf.float32, [2, 3, 8]); w = tf.placeholder(tf.float32, [3, 3, 4])
tf.nn.conv1d(x, w, 2, "SAME", data_format="NCW")

x = tf.placeholder(tf.float32, [2, 8, 8, 3]); w = tf.placeholder(tf.float32, [3, 3, 3, 4])
y = tf.nn.depthwise_conv2d(x, w, [1, 1, 1, 1], "SAME"); tf.gradients(y, [x, w])
tf.nn.separable_conv2d(x, w, tf.placeholder(tf.float32, [1, 1, 12, 5]), [1, 1, 1, 1], "SAME")

x = tf.placeholder(tf.float32, [2, 8, 8, 3]); w = tf.placeholder(tf.float32, [3, 3, 3, 4])
tf.nn.convolution(x, w, "SAME"); tf.nn.convolution(x, w, "VALID", strides=[2, 2], name="cc")

x = tf.placeholder(tf.float32, [2, 8, 8, 3]); y = tf.nn.max_pool(x, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
g = tf.gradients(y, x)[0]; tf.nn.max_pool(x, 2, 2, "VALID", name="m"); tf.gradients(g, [x])

x = tf.placeholder(tf.float32, [2, 8, 8, 3]); y = tf.nn.avg_pool(x, 2, 2, "SAME"); g = tf.gradients(y, x)[0]
tf.nn.lrn(x); tf.gradients(tf.nn.local_response_normalization(x, name="l"), x)

x = tf.placeholder(tf.float32, [2, 8, 8, 3]); y, i = tf.nn.max_pool_with_argmax(x, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
tf.gradients(y, x)

x = tf.placeholder(tf.float32, [2, 8, 3]); tf.nn.max_pool1d(x, 2, 2, "SAME"); tf.nn.avg_pool1d(x, 2, 2, "SAME")

with tf.name_scope("a"):
    x = tf.placeholder(tf.float32, [2], name="x"); y = x * 2.0 + 1.0; tf.nn.relu(y, name="out"); tf.reduce_sum(y)
""".strip().split("\n\n")

DUMP = """
def dump(program, scope):
    tf.reset_default_graph()
    exec(program, scope)
    ops = tf.get_default_graph().get_operations()
    return [(op.name, op.type, [t.name for t in op.inputs], value(op)) for op in ops]


def value(op):
    return tf.make_ndarray(op.get_attr("value")).tolist() if op.type == "Const" else None
"""


@pytest.fixture(scope="module")
def theirs(oracle):
    return oracle(DUMP + "result = {p: dump(p, {'tf': tf, 'np': np}) for p in programs}", programs=PROGRAMS)


@pytest.mark.parametrize("program", PROGRAMS, ids=range(len(PROGRAMS)))
def test_nodes_are_tensorflows(program, theirs):
    scope = {"tf": tf}
    exec(DUMP, scope)
    assert scope["dump"](program, {"tf": tf, "np": np}) == theirs[program]


OURS = {
    "tf.random_uniform([2])": "shape min max RandomUniform sub mul",
    "tf.nn.dropout(tf.placeholder(tf.float32, [None, 2], name='x'), 0.5)":
        "x dropout/rate dropout/Shape dropout/random_uniform/min dropout/random_uniform/max "
        "dropout/random_uniform/RandomUniform dropout/random_uniform/sub dropout/random_uniform/mul "
        "dropout/random_uniform dropout/sub/x dropout/sub dropout/truediv/x dropout/truediv dropout/GreaterEqual "
        "dropout/mul dropout/Cast dropout/mul_1",
    "tf.linspace(0., 1., 5)": "LinSpace/start LinSpace/stop LinSpace/num LinSpace",
    "tf.nn.zero_fraction([0., 1.])": "zero_fraction/value zero_fraction/zero zero_fraction/Equal zero_fraction/Cast "
                                     "zero_fraction/Const zero_fraction/Mean",
}


@pytest.mark.parametrize("program", OURS)
def test_nodes_that_follow_earlier_releases(program):
    exec(program, {"tf": tf})
    made = [op.name for op in tf.get_default_graph().get_operations()]
    if program.startswith("tf.random"):
        made = [name.removeprefix("random_uniform/") for name in made if name != "random_uniform"]
    assert made == OURS[program].split()
