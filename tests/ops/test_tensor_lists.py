"""TensorList ops, as in TensorFlow: values and errors. What does not fit may be refused before the run, or in it."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf
from tests.differential import differences

SETUP = """
R = tf.raw_ops
def some(rows, shape=(2,), dtype=np.float32):
    return R.TensorListFromTensor(tensor=np.array(rows, dtype), element_shape=np.array(shape, np.int32))
def stack(handle, shape=(2,), n=-1, dtype=tf.float32):
    return R.TensorListStack(input_handle=handle, element_shape=np.array(shape, np.int32), element_dtype=dtype,
                             num_elements=n)
def tried(make):
    found = []
    told = outcome(lambda: found.append(sess.run(make())))
    return found[0] if found else told.replace("InvalidArgumentError", "ValueError")
sess = tf.Session()
rows = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]
ANY = np.array(-1, np.int32)
"""

SNIPPETS = {
    "pushed and popped": """
x = tf.placeholder(tf.float32, [2])
h = R.EmptyTensorList(element_shape=[2], max_num_elements=2, element_dtype=tf.float32)
one = R.TensorListPushBack(input_handle=h, tensor=x)
two = R.TensorListPushBack(input_handle=one, tensor=x * 2)
rest, last = R.TensorListPopBack(input_handle=two, element_shape=[2], element_dtype=tf.float32)
three = R.TensorListPushBack(input_handle=two, tensor=x)
feed = {x: [1, 2]}
[sess.run([stack(one), stack(two), stack(rest), last, R.TensorListLength(input_handle=two)], feed),
 last.shape.as_list(),
 outcome(lambda: sess.run(stack(three), feed)),
 tried(lambda: R.TensorListPopBack(input_handle=h, element_shape=[2], element_dtype=tf.float32)[1]),
 tried(lambda: stack(R.TensorListPushBack(input_handle=h, tensor=[1.0]))),
 tried(lambda: stack(R.TensorListPushBack(input_handle=h, tensor=[1, 2])))]""",
    "elements": """
h = some(rows)
def item(h, i, shape=(2,), dtype=tf.float32):
    return R.TensorListGetItem(input_handle=h, index=i, element_shape=np.array(shape, np.int32), element_dtype=dtype)
set_ = lambda i, value, **more: R.TensorListSetItem(input_handle=h, index=i, item=value, **more)
gone = R.TensorListResize(input_handle=h, size=5)
empty = R.TensorListReserve(element_shape=ANY, num_elements=2, element_dtype=tf.float32)
[tried(lambda: item(h, 1)), tried(lambda: item(h, 3)), tried(lambda: item(h, -1)),
 tried(lambda: item(h, 1, dtype=tf.int32)),
 tried(lambda: stack(set_(0, [9.0, 8.0]))), tried(lambda: stack(set_(3, [9.0, 8.0]))), tried(lambda: stack(h)),
 tried(lambda: stack(set_(5, [9.0, 8.0], resize_if_index_out_of_bounds=True))), tried(lambda: stack(set_(0, [9.0]))),
 tried(lambda: stack(gone)), tried(lambda: item(gone, 4)),
 tried(lambda: stack(R.TensorListResize(input_handle=h, size=1))),
 tried(lambda: stack(R.TensorListResize(input_handle=h, size=-1))), tried(lambda: item(empty, 0, ())),
 tried(lambda: R.TensorListGetItem(input_handle=empty, index=0, element_shape=ANY, element_dtype=tf.float32)),
 tried(lambda: R.TensorListElementShape(input_handle=h, shape_type=tf.int64)),
 tried(lambda: R.TensorListElementShape(input_handle=empty, shape_type=tf.int32)), item(h, 1).shape.as_list()]""",
    "stacked and gathered": """
h = some(rows)
none = R.TensorListReserve(element_shape=ANY, num_elements=2, element_dtype=tf.float32)
empty = R.TensorListReserve(element_shape=[2], num_elements=0, element_dtype=tf.float32)
part = lambda indices: R.TensorListGather(input_handle=h, indices=np.array(indices, np.int32), element_shape=[2],
                                          element_dtype=tf.float32)
[tried(lambda: stack(h, n=3)), tried(lambda: stack(h, n=2)), tried(lambda: stack(h, [3])),
 tried(lambda: stack(h, dtype=tf.int32)),
 tried(lambda: stack(none, [2])), tried(lambda: stack(none, [-1])), tried(lambda: stack(empty)),
 tried(lambda: stack(empty, [-1])), tried(lambda: part([2, 0])), tried(lambda: part([])), tried(lambda: part([3])),
 stack(h).shape.as_list(), stack(h, n=3).shape.as_list()[1:], tried(lambda: some(1.0)),
 tried(lambda: some(rows, [3]))]""",
    "scattered": """
def scatter(indices, n=None):
    given = dict(tensor=np.array(rows, np.float32), indices=np.array(indices, np.int32), element_shape=[2])
    return stack(R.TensorListScatter(**given) if n is None else R.TensorListScatterV2(**given, num_elements=n))
into = lambda indices: stack(R.TensorListScatterIntoExistingList(
    input_handle=some(rows[:2]), tensor=np.array(rows, np.float32), indices=np.array(indices, np.int32)))
[tried(lambda: scatter([2, 0, 1])), tried(lambda: scatter([4, 0, 1])), tried(lambda: scatter([2, 0, 1], -1)),
 tried(lambda: scatter([2, 0, 1], 5)), tried(lambda: scatter([2, 0, 1], 2)), tried(lambda: scatter([2, 0, -1])),
 tried(lambda: into([0, 1, 2])), tried(lambda: into([2, 1, 0]))]""",
    "concatenated and split": """
x = np.arange(12, dtype=np.float32).reshape(6, 2)
split = lambda lengths, shape=(-1, 2): R.TensorListSplit(tensor=x, element_shape=np.array(shape, np.int32),
                                                         lengths=np.array(lengths, np.int64))
def concat(h, shape=(-1, 2), lead=()):
    return R.TensorListConcatV2(input_handle=h, element_shape=np.array(shape, np.int32),
                                leading_dims=np.array(lead, np.int64), element_dtype=tf.float32)
holes = R.TensorListReserve(element_shape=[-1, 2], num_elements=2, element_dtype=tf.float32)
[tried(lambda: list(concat(split([1, 3, 2])))), tried(lambda: list(concat(split([6, 0])))),
 tried(lambda: split([1, 3])),
 tried(lambda: list(concat(holes, lead=[1, 2]))), tried(lambda: list(concat(holes))),
 tried(lambda: list(concat(some([1.0], ()), ()))),
 tried(lambda: list(R.TensorListConcat(input_handle=split([4, 2]), element_dtype=tf.float32))),
 concat(holes)[0].shape.as_list(),
 tried(lambda: stack(R.TensorListConcatLists(input_a=some(rows), input_b=some(rows[:1]),
 element_dtype=tf.float32)))]""",
    "in a loop": """
x = tf.placeholder(tf.float32, [None, 2])
h = R.TensorListReserve(element_shape=[2], num_elements=tf.shape(x)[0], element_dtype=tf.float32)
def body(i, h, last):
    value = x[i] + last
    return i + 1, R.TensorListSetItem(input_handle=h, index=i, item=value), value
_, made, last = tf.while_loop(lambda i, h, last: i < tf.shape(x)[0], body, [0, h, tf.zeros([2])])
[sess.run([stack(made), last], {x: rows}), sess.run([stack(made), last], {x: rows[:1]}),
 sess.run(stack(tf.cond(last[0] > 5, lambda: made, lambda: some(rows[:1]))), {x: rows})]""",
    "gradients": """
x, y = tf.placeholder(tf.float32, [3, 2]), tf.placeholder(tf.float32, [2])
h = R.TensorListFromTensor(tensor=x, element_shape=[2])
def gather(handle, indices):
    return R.TensorListGather(input_handle=handle, indices=indices, element_shape=[2], element_dtype=tf.float32)
item = R.TensorListGetItem(input_handle=h, index=1, element_shape=[2], element_dtype=tf.float32)
rest, last = R.TensorListPopBack(input_handle=h, element_shape=[2], element_dtype=tf.float32)
spread = R.TensorListScatterV2(tensor=x, indices=[2, 0, 3], element_shape=[2], num_elements=5)
into = R.TensorListScatterIntoExistingList(input_handle=spread, tensor=x[:1] * y, indices=[0])
longer = R.TensorListSetItem(input_handle=h, index=4, item=y, resize_if_index_out_of_bounds=True)
parts = R.TensorListSplit(tensor=x, element_shape=[-1, 2], lengths=np.array([1, 2], np.int64))
whole = R.TensorListConcatV2(input_handle=parts, element_shape=[-1, 2], leading_dims=np.zeros(0, np.int64),
                             element_dtype=tf.float32)[0]
made = [stack(R.TensorListPushBack(input_handle=h, tensor=y)),
        stack(R.TensorListSetItem(input_handle=h, index=1, item=item * y)), last, stack(rest), gather(h, [2, 0]),
        gather(R.TensorListResize(input_handle=into, size=4), [0, 2, 3]), gather(longer, [0, 4]), whole]
found = [g for z in made for g in tf.gradients(z * z, [x, y]) if g is not None]
feed = {x: rows, y: [5.0, 6.0]}
sess.run(found, feed), sess.run(found, feed), len(found)""",
    "gradients in a loop": """
x = tf.placeholder(tf.float32, [3, 2])
h = R.TensorListReserve(element_shape=[2], num_elements=3, element_dtype=tf.float32)
_, made = tf.while_loop(lambda i, h: i < 3, lambda i, h: (
    i + 1, R.TensorListSetItem(input_handle=h, index=i, item=x[i] * x[i])), [0, h])
grad = tf.gradients(stack(made), x)[0]
sess.run(grad, {x: rows}), sess.run(grad, {x: rows})""",
    "strings": """
h = R.TensorListFromTensor(tensor=["a", "bc"], element_shape=np.zeros(0, np.int32))
longer = R.TensorListResize(input_handle=h, size=3)
sess.run(R.TensorListStack(input_handle=longer, element_shape=np.zeros(0, np.int32), element_dtype=tf.string))""",
}


@pytest.mark.slow
def test_as_in_tensorflow(oracle):
    assert not differences(oracle, SNIPPETS, SETUP, modes=("never", "always"))


def test_an_element_that_is_gathered_twice_has_the_sum_of_both_gradients():
    """TensorFlow's gradient keeps one of the two."""
    x = tf.placeholder(tf.float32, [3])
    handle = tf.raw_ops.TensorListFromTensor(tensor=x, element_shape=np.zeros(0, np.int32))
    twice = tf.raw_ops.TensorListGather(input_handle=handle, indices=[1, 2, 1], element_shape=np.zeros(0, np.int32),
                                        element_dtype=tf.float32)
    [grad] = tf.gradients(twice * [1.0, 10.0, 100.0], [x])
    for _ in range(2):
        assert tf.Session().run(grad, {x: [1.0, 2.0, 3.0]}).tolist() == [0.0, 101.0, 10.0]
