"""Specifications, modules, switch_case, static values, functions over arrays: as in TensorFlow."""
import numpy as np
import pytest

import tfnb as tf
from tests.differential import differences

SETUP = '''
def compatible(spec, *others):
    return [spec.is_compatible_with(each) for each in others]
def chosen(fns, default=None, indices=range(-1, 5)):
    x = tf.placeholder(tf.int32, [])
    y = tf.switch_case(x, fns, default)
    sess = tf.Session()
    return [sess.run(y, {x: i}) for i in indices]
def constant(value):
    return lambda: tf.constant(value)
class Inner(tf.Module):
    def __init__(self, name=None):
        super().__init__(name)
        self.b = tf.Variable(1.0, name="b")
        self.a = [tf.Variable(2.0, name="a"), {"k": tf.Variable(3.0, trainable=False, name="k")}]
    @tf.Module.with_name_scope
    def call(self, x):
        return tf.identity(x, "y")
class MyOuter(tf.Module):
    def __init__(self):
        super().__init__()
        self.z = Inner("first")
        self.parts = [Inner("second"), self.z]
        self.w = tf.Variable(4.0, name="w")
'''
SNIPPETS = {
    "tensor spec": "s = tf.TensorSpec([None, 3], tf.float32, 'x')\\n[s.shape.as_list(), s.dtype.name, s.name]"
                   .replace("\\n", "\n"),
    "compatible": "compatible(tf.TensorSpec([None, 3]), tf.TensorSpec([2, 3]), tf.TensorSpec([2, 4]), "
                  "tf.zeros([5, 3]), tf.TensorSpec([2, 3], tf.int32))",
    "compatible sparse": "compatible(tf.SparseTensorSpec([None, 2]), tf.SparseTensorSpec([3, 2]), "
                         "tf.TensorSpec([3, 2]), tf.SparseTensorSpec(None))",
    "equal": "[tf.TensorSpec([2]) == tf.TensorSpec([2]), tf.TensorSpec([2]) == tf.TensorSpec([None]), "
             "len({tf.TensorSpec([2]), tf.TensorSpec([2])})]",
    "from tensor": "s = tf.TensorSpec.from_tensor(tf.zeros([2], name='q'))\n[s.shape.as_list(), s.dtype.name, s.name]",
    "from spec": "tf.TensorSpec.from_spec(tf.TensorSpec([2], tf.int32, 'x'), 'y').name",
    "switch": "chosen([constant(1), constant(2), constant(3)])",
    "switch with a default": "chosen({1: constant(1), 0: constant(2)}, constant(9))",
    "with a gap": "chosen({1: constant(1)})",
    "switch of pairs": "chosen([(1, constant(1)), (0, constant(2))])",
    "switch of one": "chosen([constant(5)])", "switch of none": "chosen([])",
    "switch of equal numbers": "chosen([(1, constant(1)), (1, constant(2))])",
    "switch by a float": "tf.switch_case(tf.constant(1.0), [constant(1)])",
    "modules": "m = MyOuter()\n[m.name, [v.op.name for v in m.variables], [v.op.name for v in m.trainable_variables], "
               "[s.name for s in m.submodules]]",
    "module's scope": "m = Inner()\n[m.call(1.0).op.name, m.name]", "module's name": "tf.Module('not a name')",
    "static": "[tf.get_static_value(tf.constant([1, 2])), tf.get_static_value(tf.placeholder(tf.int32))]",
    "init scope": "with tf.control_dependencies([tf.no_op()]), tf.name_scope('s'), tf.init_scope():\n"
                  "    x = tf.constant(1)\n[x.op.control_inputs, x.op.name]",
    "in a loop": "made = []\ndef body(i):\n    with tf.init_scope():\n        made.append(tf.constant(1))\n"
                 "    return i + 1\n"
                 "tf.while_loop(lambda i: i < 3, body, [0])\n[made[0].op._get_control_flow_context() is None]",
    "on a CPU": "[tf.graph_util.must_run_on_cpu(t.op, p) for p in (True, False) for t in (tf.constant('a'), "
                "tf.constant(1), tf.constant(1.5), tf.Variable(1.5), tf.placeholder(tf.float32))]",
    "numpy function": "tf.Session().run(tf.numpy_function(lambda x: x * 2, [np.float32([1, 2])], tf.float32))",
    "py function": "tf.Session().run(tf.py_function(lambda x, y: x.numpy().sum() + y.numpy(), "
                   "[np.float32([1, 2]), 4.0], tf.float32))",
    "iterables": "[outcome(lambda: tf.assert_proper_iterable(x)) for x in ([1], (), 'a', np.ones(2), tf.ones(2), 3)]",
    "dimensions": "[tf.dimension_value(tf.TensorShape([2, None])[0]), tf.dimension_value(tf.TensorShape([None])[0]), "
                  "tf.dimension_at_index(tf.TensorShape([4]), 0).value]",
    "sparse or not": "[type(tf.convert_to_tensor_or_sparse_tensor(x)).__name__ for x in (tf.SparseTensorValue("
                     "[[0]], [1], [2]), tf.SparseTensor([[0]], [1], [2]))]",
    "vectorized": "tf.Session().run(tf.vectorized_map(lambda x: tf.reduce_sum(x) * 2.0, "
                  "tf.constant([[1.0, 2.0], [3, 4]])))",
    "vectorized structure": "tf.Session().run(tf.vectorized_map(lambda x: {'s': x[0] + x[1], 'k': tf.constant(1)}, "
                            "(tf.range(3), tf.ones([3], tf.int32))))",
}


def test_as_tensorflow(oracle):
    assert not differences(oracle, SNIPPETS, SETUP)


def test_devices_of_this_machine():
    assert [tuple(each) for each in tf.config.list_physical_devices("CPU")] == [("/physical_device:CPU:0", "CPU")]
    assert tf.config.experimental.list_physical_devices("TPU") == []
    with pytest.raises(ValueError, match="enable=True"):
        tf.config.experimental.set_memory_growth(tf.config.list_physical_devices()[0], False)


def test_a_seed_of_the_graph_by_its_newer_name():
    def drawn():
        with tf.Graph().as_default(), tf.Session() as sess:
            tf.random.set_seed(3)
            return sess.run(tf.random.uniform([4]))
    assert np.array_equal(drawn(), drawn())
