"""Functions inside of TensorFlow that are public in no release."""
from __future__ import annotations

import warnings

import numpy as np
import pytest

import tfnb as tf
from tfnb.core.program.decorators import make_all, make_decorator, remove_undocumented
from tfnb.core.program.deprecation import deprecated_arg_values, deprecated_args
from tfnb.layers.contrib import nest
from tfnb.seq2seq.attention import BaseAttention, masked_score
from tfnb.tools import private
from tfnb.tools.inside import inside


@pytest.fixture
def sess():
    with tf.Session() as made:
        yield made


def test_an_affine_map_has_its_variables_once(sess):
    x, y = tf.ones([2, 3]), tf.ones([2, 1])
    with tf.variable_scope("cell"):
        first = private.Linear([x, y], 5, True, kernel_initializer=tf.ones_initializer())
    results = first([x, y]), first([2 * x, y])
    assert [v.op.name for v in tf.trainable_variables()] == ["cell/kernel", "cell/bias"]
    sess.run(tf.global_variables_initializer())
    assert [result.tolist() for result in sess.run(results)] == [[[4.0] * 5] * 2, [[7.0] * 5] * 2]


def test_gradients_of_defun(sess):
    @private.Defun(tf.float32, tf.float32, python_grad_func=lambda op, dy: [dy * op.inputs[1], op.outputs[0]])
    def product(a, b):
        return a * b
    a, b = tf.constant(3.0), tf.constant(5.0)
    assert sess.run(tf.gradients(product(a, b), [a, b])) == [5.0, 15.0]
    plain = private.Defun(tf.float32)(lambda x: x * x)
    assert sess.run(tf.gradients(plain(a), a)) == [6.0]
    assert sess.run(plain(2)) == 4.0                              # 2 becomes a float32
    with pytest.raises(ValueError, match="python_grad_func"):
        private.Defun(tf.float32, grad_func=plain)


def test_rows_are_updated(sess):
    x = tf.zeros([3, 2])
    assert sess.run(private.alias_inplace_update(x, 1, [5.0, 6.0])).tolist() == [[0, 0], [5, 6], [0, 0]]
    assert sess.run(private.alias_inplace_add(x + 1, [0, 2], [[1.0, 1.0], [2.0, 2.0]])).tolist() == [
        [2, 2], [1, 1], [3, 3]]
    assert sess.run(private.alias_inplace_sub(x, None, np.ones((3, 2)))).tolist() == [[-1, -1]] * 3


def test_jacobians_of_matrix_products(sess):
    w = np.arange(6, dtype=np.float32).reshape(2, 3)
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    y = tf.matmul(x, w)
    whole, each = sess.run([private.jacobian(y, x), private.batch_jacobian(y, x)])
    assert whole.shape == (2, 3, 2, 2) and each.shape == (2, 3, 2)
    np.testing.assert_allclose(each, [w.T, w.T])
    np.testing.assert_allclose(whole[0, :, 0], w.T)
    assert not whole[0, :, 1].any()
    with pytest.raises(ValueError, match="first dimension"):
        private.batch_jacobian(y, tf.zeros([3, 2]))
    v = [tf.ones([2, 2])]
    assert sess.run(private.hessian_vector_product(tf.reduce_sum(x ** 3), [x], v))[0].tolist() == [[6, 12], [18, 24]]


def test_a_tpu_has_no_cores():
    assert private.get_tpu_context().number_of_shards is None


def test_names_within_scopes():
    assert private.prepend_name_scope("loc:@a", "s/") == "loc:@s/a" and private.prepend_name_scope("a", None) == "a"
    assert private.strip_name_scope("s/a/s", "s") == "a/s" and private.name_from_scope_name("a/b/") == "a/b"
    other = tf.Graph()
    with other.as_default():
        outside = tf.constant(1)
    assert private.graph_of([outside]) is other
    with pytest.raises(ValueError, match="same graph"):
        private.graph_of([outside, tf.constant(1)])


def test_an_attention_of_ones_own_masks_scores(sess):
    class Last(BaseAttention):
        def __init__(self, memory, lengths):
            super().__init__(None, memory, lambda score, _: tf.nn.softmax(score), lengths, name="last")

        def __call__(self, query, state):
            made = self._probability_fn(tf.zeros([2, 3]), state)
            return made, made
    mechanism = Last(tf.ones([2, 3, 4]), [1, 2])
    made = mechanism(None, None)[0]
    assert sess.run(made).tolist() == [[1, 0, 0], [0.5, 0.5, 0]]
    assert sess.run(masked_score(tf.ones([1, 2]), [1], -9.0)).tolist() == [[1, -9]]


def test_calls_with_deprecated_arguments_warn():
    @deprecated_args("2018-01-01", "Use axis.", "dim", ("keep", None))
    def f(x, dim=None, keep=None):
        return x
    with pytest.warns(DeprecationWarning, match="f with dim is deprecated and will be removed after 2018-01-01: Use"):
        assert f(3, dim=1) == 3
    g = deprecated_arg_values(None, "Give True.", flag=False)(lambda flag=True: flag)
    with pytest.warns(DeprecationWarning, match="flag=False is deprecated and will be removed in a future version"):
        g(flag=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert f(1, keep=None) == 1 and f(2, dim=1) == 2 and g(flag=True)   # told once


def test_structures_deeper_than_others():
    assert nest.flatten_up_to({"a": 0, "b": 0}, {"a": [1, 2], "b": 3}) == [[1, 2], 3]
    assert nest.map_structure_up_to((0, 0), lambda a, b: (a, b), (1, [2]), (3, [4])) == ((1, 3), ([2], [4]))
    for shallow, deep, error in (((0, 0), 1, TypeError), ((0, 0), [1, 2], TypeError), ([0, 0], [1], ValueError),
                                 ({"a": 0}, {"b": 0}, ValueError)):
        with pytest.raises(error):
            nest.assert_shallow_structure(shallow, deep)
    with pytest.raises(ValueError, match="not unique"):
        nest.flatten_dict_items({(1, 2): (3, 4), 1: 5})


def test_public_names_of_a_module():
    assert make_all("tfnb.core.program.decorators") == [
        "Any", "Callable", "ModuleType", "Sequence", "annotations", "make_all", "make_decorator", "remove_undocumented",
        "unwrap", "wraps"]
    remove_undocumented("tfnb.core.program.decorators")
    wrapped = make_decorator(test_names_within_scopes, lambda: None)
    assert wrapped.__name__ == "test_names_within_scopes"


def test_modules_with_the_name_of_a_function_or_an_op():
    found = inside("python.ops.variable_scope")
    assert isinstance(found.find("variable")(3.0, trainable=False), tf.Variable)
    assert inside("python.ops.confusion_matrix").find("remove_squeezable_dimensions") is not None
