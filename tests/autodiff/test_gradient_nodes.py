"""How gradients are put together: the same nodes, names, inputs, control inputs and order as in TensorFlow."""
from __future__ import annotations

import pytest

import tfnb as tf
from tests.graph_rows import ROWS, rows_here, rows_there

SHAPES = [("[2,3]", "[2,3]"), ("[2,3]", "[3]"), ("[2,3]", "[]"), ("[2,1]", "[1,3]"), ("[None,3]", "[3]"),
          ("[None,3]", "[None,3]"), ("None", "None"), ("[None,3]", "[]"), ("[None,1]", "[None,3]")]
OF_TWO = ("x+y x-y x*y x/y x**y x%y x//y tf.maximum(x,y) tf.minimum(x,y) tf.squared_difference(x,y) tf.div(x,y) "
          "tf.realdiv(x,y) tf.atan2(x,y) tf.div_no_nan(x,y)").split()
OF_ONE = ("abs negative exp log log1p expm1 sqrt rsqrt square reciprocal sign sin cos tan asin acos atan sinh cosh "
          "tanh asinh acosh atanh erf erfc lgamma digamma sigmoid nn.relu nn.relu6 nn.elu nn.selu nn.softplus "
          "nn.softsign nn.softmax nn.log_softmax identity nn.l2_loss nn.leaky_relu nn.crelu "
          "log_sigmoid transpose").split()
AXES = ["", "0", "1", "[0,1]", "0,keepdims=True", "-1"]
OTHERS = """
tf.reshape(x,[3,2]) | tf.reshape(x,[-1]) | tf.transpose(x,[1,0]) | x[0] | x[:,1] | x[0:1,::2] | tf.expand_dims(x,0)
tf.squeeze(x[:,0:1]) | tf.concat([x,x],0) | tf.concat([x,x*2.],1) | tf.stack([x,x]) | tf.unstack(x,3,axis=1)[0]
tf.slice(x,[0,1],[1,2]) | tf.gather(x,[0,1]) | tf.gather_nd(x,[[0,0]]) | tf.cast(x,tf.float64) | tf.reverse(x,[0])
tf.cumsum(x) | tf.cumprod(x) | tf.clip_by_value(x,0.,1.) | tf.matmul(x,x,transpose_b=True) | tf.matmul(x,tf.ones([3,4]))
tf.nn.softmax_cross_entropy_with_logits(labels=tf.ones([2,3]),logits=x)
tf.nn.softmax_cross_entropy_with_logits_v2(labels=x,logits=x)
tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[0,1],logits=x)
tf.nn.sigmoid_cross_entropy_with_logits(labels=tf.ones([2,3]),logits=x) | tf.nn.bias_add(x,[1.,2.,3.])
tf.nn.moments(x,[0])[1] | tf.where(x>0,x,x*2.) | tf.nn.xw_plus_b(x,tf.ones([3,2]),tf.ones([2])) | tf.pow(x,2.) | x**2
1./x | x-1. | 2.*x | tf.identity_n([x,x])[0] | tf.norm(x) | tf.nn.l2_normalize(x,1) | tf.ensure_shape(x,[2,3])
tf.cond(x[0,0]>0,lambda:x*2.,lambda:x) | tf.while_loop(lambda i,a:i<3,lambda i,a:(i+1,a*2.),[0,x])[1]
tf.nn.conv2d(tf.reshape(x,[1,2,3,1]),tf.ones([1,1,1,1]),[1,1,1,1],'SAME')
tf.nn.max_pool(tf.reshape(x,[1,2,3,1]),[1,2,2,1],[1,1,1,1],'SAME') | tf.global_norm([x]) | tf.reduce_logsumexp(x,1)
tf.nn.avg_pool(tf.reshape(x,[1,2,3,1]),[1,2,2,1],[1,1,1,1],'SAME') | tf.add_n([x,x,x])
"""
X, GRADIENT = "x=tf.placeholder(tf.float32,{},name='x'); ", "z={}; tf.gradients(z,{})\n"
PROGRAMS = [X.format(a) + f"y=tf.placeholder(tf.float32,{b},name='y'); " + GRADIENT.format(call, "[x,y]")
            for call in OF_TWO for a, b in SHAPES]
PROGRAMS += [X.format(s) + GRADIENT.format(call, "x") for s in ("[2,3]", "[None,3]") for call in [
    *(f"tf.{name}(x)" for name in OF_ONE), *(call.strip() for call in OTHERS.strip().replace("\n", "|").split("|"))]]
PROGRAMS += [X.format(s) + GRADIENT.format(f"tf.reduce_{kind}(x{',' + axes if axes else ''})", "x")
             for s in ("[2,3]", "[None,3]", "None") for kind in ("sum", "mean", "max", "min") for axes in AXES]


@pytest.fixture(scope="module")
def theirs(oracle):
    code = f"""
result = []
for program in programs:
    tf.reset_default_graph()
    scope = {{'tf': tf}}
    try:
        exec(program + {ROWS!r}, scope)
    except Exception as error:
        raise RuntimeError(program) from error
    result.append(scope['result'])
"""
    return dict(zip(PROGRAMS, oracle(code, programs=PROGRAMS), strict=True))


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_nodes_of_gradients_are_tensorflows(program, theirs):
    assert rows_here(program, tf) == theirs[program]


def test_a_difference_is_found(oracle):
    program = "tf.gradients(tf.square(2. if 'tfnb' in tf.__name__ else tf.constant(2.)), [tf.constant(1.)])\n"
    assert rows_here(program, tf) != rows_there(program, oracle)
