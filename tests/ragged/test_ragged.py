"""Ragged tensors as in TensorFlow: values, dtypes and errors of constructors, functions, operators and indices."""
from __future__ import annotations

from tests.differential import differences

SETUP = '''
R = tf.RaggedTensor
a, b, f = tf.ragged.placeholder(tf.int32, 1, []), tf.ragged.placeholder(tf.int32, 2, []), tf.ragged.placeholder(
    tf.float32, 1, [])
rows = [[3, 1, 4], [], [1, 5]]
FEED = {a: tf.ragged.constant_value(rows, np.int32), f: tf.ragged.constant_value(rows, np.float32),
        b: tf.ragged.constant_value([[[1, 2], [3]], [], [[4, 5, 6]]], np.int32)}
def parts(value):
    if hasattr(value, "to_list"):
        return ["ragged", *value.nested_row_splits, value.flat_values]
    if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
        return [parts(each) for each in value]
    return value
def ran(made):
    with tf.Session() as sess:
        for _ in range(2):
            found = sess.run(made, FEED)
    return parts(found)
'''
# Constructors and conversions.
MADE = """
R.from_row_splits([1, 2], [0, 3])
R.from_row_splits([1, 2], [])
R.from_row_splits([1, 2], [0, 1])
R.from_row_splits([1, 2], [[0, 2]])
R.from_row_lengths([1, 2], [1, 2])
R.from_row_lengths([1, 2], [-1, 3])
R.from_value_rowids([1, 2], [1, 0])
R.from_value_rowids([1, 2], [0])
R.from_value_rowids([1, 2], [0, 3], nrows=2)
R.from_value_rowids([1, 2], [0, 1], nrows=-2)
R.from_value_rowids([], [], nrows=2)
R.from_value_rowids([1, 2], [0, 1], nrows=5)
R.from_row_starts([1, 2], [1])
R.from_row_starts([1, 2], [0, 3])
R.from_row_limits([1, 2], [1])
R.from_row_splits([1, 2], tf.constant([0, 2], tf.int16))
R.from_row_splits(3, [0, 2])
R.from_row_splits([1, 2], [0., 2.])
R.from_nested_row_splits([1, 2], [0, 2])
R.from_nested_row_splits([1, 2], tf.constant([[0, 2]]))
R.from_nested_value_rowids([1, 2], [[0, 0], [0, 1]], [1])
R.from_nested_value_rowids([1, 2], [[0, 0], [0, 1]], [1, 2])
R.from_nested_row_lengths([1, 2], [[1, 1], [1, 1]])
R.from_tensor([1, 2])
R.from_tensor([[1, 0], [2, 3]], padding=0)
R.from_tensor([[1, 0], [2, 3]], padding=[0, 1])
R.from_tensor([[1, 0], [2, 3]], padding=0, lengths=[1, 1])
R.from_tensor([[1, 0], [2, 3]], lengths=[1, 5])
R.from_tensor([[1, 0], [2, 3]], lengths=[[1, 5]])
R.from_tensor([[1, 0], [2, 3]], lengths=[-1, 2])
R.from_tensor(np.ones([2, 3, 4]), ragged_rank=2)
R.from_tensor(np.ones([2, 3]), ragged_rank=0)
R.from_tensor(np.ones([2, 3]), ragged_rank=2)
R.from_tensor(np.ones([2, 3]), ragged_rank='a')
R.from_tensor(np.ones([2, 2, 2]), lengths=([1, 2], [1, 1, 2]))
R.from_tensor([[1.5, 0], [2, 3]], padding=0)
R.from_tensor([[1, 0], [2, 3]], row_splits_dtype=tf.float32)
R.from_sparse(tf.SparseTensor([[0, 0], [0, 1], [2, 0]], [1, 2, 3], [4, 2]))
R.from_sparse(tf.SparseTensor([[0, 0], [0, 2], [2, 0]], [1, 2, 3], [4, 3]))
R.from_sparse(tf.SparseTensor([[0, 0, 0]], [1], [4, 3, 1]))
R.from_sparse(3)
tf.ragged.constant(3)
tf.ragged.constant([])
tf.ragged.constant([1, 2])
tf.ragged.constant([[]])
tf.ragged.constant([[], [[]]])
tf.ragged.constant([[1], [[2]]])
tf.ragged.constant([[1], 2])
tf.ragged.constant([[1, 2], [3]], dtype=tf.float32)
tf.ragged.constant([['a'], ['b', 'c']])
tf.ragged.constant([[[1, 2], [3, 4]], [[5, 6]]], inner_shape=(2, ))
tf.ragged.constant([[[1, 2], [3, 4]], [[5, 6]]], ragged_rank=1)
tf.ragged.constant([[[1, 2], [3, 4]], [[5]]], ragged_rank=1)
tf.ragged.constant([[1, 2]], ragged_rank=2)
tf.ragged.constant([[1, 2]], ragged_rank=0)
tf.ragged.constant([[1, 2], [3]], row_splits_dtype=tf.int32)
tf.ragged.constant([[1, 2.5], [3]])
tf.ragged.constant([[1, 2], [3]], inner_shape=(2, ), ragged_rank=3)
tf.ragged.constant([[], []], ragged_rank=2)
tf.ragged.constant([[1]]).bounding_shape()
tf.ragged.constant([[1, 2], [3]]).row_lengths(2)
tf.ragged.constant([[1, 2], [3]]).row_lengths(0)
tf.ragged.constant([[[1, 2], [3]], [[]]]).row_lengths(2)
tf.ragged.constant([[1, 2], [3]]).with_values([1, 2])
tf.ragged.constant([[1, 2], [3]]).with_values(3)
tf.ragged.constant([[1, 2], [3]]).nested_row_lengths()
tf.ragged.constant([[1, 2], [3]]).to_tensor()
tf.ragged.constant([[1, 2], [3]]).to_tensor(shape=[1, 1])
tf.ragged.constant([[1, 2], [3]]).to_tensor(default_value=[1, 2])
tf.ragged.constant([[1, 2], [3]]).to_tensor(default_value='a')
tf.ragged.constant([[1, 2], [3]]).to_tensor(shape=[None, 4])
tf.ragged.constant([[1, 2], [3]]).to_sparse()
tf.ragged.range([0, 3], [2, 5])
tf.ragged.range(3)
tf.ragged.range([3, 2], deltas=0)
tf.ragged.range([3., 2])
tf.ragged.row_splits_to_segment_ids([0, 2, 2, 3])
tf.ragged.row_splits_to_segment_ids([])
tf.ragged.segment_ids_to_row_splits([0, 0, 2])
tf.ragged.segment_ids_to_row_splits([0, 0, 2], 5)
tf.ragged.segment_ids_to_row_splits([2, 0])
tf.ragged.row_splits_to_segment_ids([[0.]])
tf.ragged.row_splits_to_segment_ids([0.])
tf.ragged.row_splits_to_segment_ids(tf.constant([1, 2]))
"""
# Functions, operators and indices of fed ragged tensors: a and f [rows, (columns)], b [rows, (columns), (depth)].
FED = """
tf.reduce_sum(a, 1)
tf.reduce_sum(a, 0)
tf.reduce_sum(b, 1)
tf.reduce_sum(b, 0)
tf.reduce_sum(b, 2)
tf.reduce_sum(b, [1, 2])
tf.reduce_sum(b, [0, 2])
tf.reduce_sum(b, [])
tf.reduce_sum(b)
tf.reduce_sum(a, 1, keepdims=True)
tf.reduce_sum(b, 1, keepdims=True)
tf.reduce_sum(b, -1)
tf.reduce_sum(a, 2)
tf.reduce_mean(f, 1)
tf.reduce_mean(f, 0)
tf.reduce_mean(a, 0)
tf.reduce_mean(b, [1, 2])
tf.reduce_max(a, 1)
tf.reduce_min(a, 1)
tf.reduce_prod(a, 1)
tf.reduce_all(a>2, 1)
tf.reduce_any(a>2, 1)
tf.reduce_any(a>2)
tf.math.reduce_variance(f, 1)
tf.math.reduce_std(f)
tf.cumsum(a, 1)
tf.math.unsorted_segment_sum(a, [0, 1, 0], 2)
tf.math.unsorted_segment_mean(f, [0, 1, 0], 2)
tf.math.unsorted_segment_sum(a, tf.ragged.constant([[0, 1, 0], [], [2, 2]]), 3)
tf.concat([a, a], 0)
tf.concat([a, a], 1)
tf.concat([b, b], 2)
tf.concat([a, [[1, 2], [3, 4], [5, 6]]], 1)
tf.concat([a, [[1, 2]]], 0)
tf.concat([a, a], -1)
tf.concat([a, a], 3)
tf.concat([a], 0)
tf.stack([a, a], 0)
tf.stack([a, a], 1)
tf.stack([a, a], 2)
tf.stack([a, [[1, 2], [3, 4], [5, 6]]], 2)
tf.ragged.stack([a, [[1, 2], [3, 4], [5, 6]]], 1)
tf.expand_dims(a, 0)
tf.expand_dims(a, 1)
tf.expand_dims(a, 2)
tf.expand_dims(a, -1)
tf.squeeze(tf.expand_dims(a, 0), [0])
tf.squeeze(tf.expand_dims(a, 1), [1])
tf.squeeze(tf.expand_dims(a, 2), [2])
tf.squeeze(a)
tf.squeeze(a, [0])
tf.size(a)
tf.rank(b)
tf.tile(a, [2, 1])
tf.tile(a, [1, 2])
tf.tile(b, [2, 1, 2])
tf.tile(b, [1, 2, 1])
tf.tile(a, [0, 1])
tf.gather(a, [2, 0])
tf.gather(a, [[2], [0]])
tf.gather(a, tf.ragged.constant([[2], [0, 1]]))
tf.gather(a, 2)
tf.gather(a, [3])
tf.gather(a, [-1])
tf.gather(b, [0, 2])
tf.gather(b, [[0], [2]])
tf.gather(a, tf.ragged.constant([[0], [], [1]]), axis=1, batch_dims=1)
tf.gather_nd(a, [[0, 1], [2, 0]])
tf.gather_nd(a, [[0], [2]])
tf.gather_nd(b, [[0, 1], [2, 0]])
tf.gather_nd(b, [[[0, 1, 0]], [[2, 0, 2]]])
tf.gather_nd(b, [0, 1])
tf.gather_nd(a, [[0, 9]])
tf.batch_gather(a, tf.ragged.constant([[2], [], [0, 1]]))
tf.ragged.boolean_mask(a, [True, False, True])
tf.ragged.boolean_mask(a, a>2)
tf.ragged.boolean_mask(b, b>2)
tf.ragged.boolean_mask(b, tf.ragged.constant([[True, False], [], [True]]))
tf.ragged.boolean_mask(a, True)
tf.where(a>2)
tf.where(b>2)
tf.where(a>2, a, a*10)
tf.where([True, False, True], a, a*10)
tf.where(a>2, a, 0)
tf.reverse(a, [0])
tf.reverse(a, [1])
tf.one_hot(a, 6)
tf.ragged.stack_dynamic_partitions(a, [0, 2, 0], 3)
a[0]
a[2]
a[3]
a[-1]
a[1:]
a[:, 1:]
a[:, 0]
a[:, -1:]
a[:, :2]
a[0, 1]
a[::2]
a[::-1]
a[:, ::-1]
a[...]
a[..., 1:]
a[tf.newaxis]
a[:, tf.newaxis]
a[..., tf.newaxis]
a[0, 1:]
b[0]
b[0, 1]
b[0, 1, 0]
b[:, :1]
b[:, :, 1:]
b[0, :, 1:]
b[0][1]
b[..., 0:1]
b[:, :, 0]
b[:, 0]
a[tf.constant(1):]
a[tf.constant(0)]
a[1:, 1:]
a['x']
a[0, 5]
a[()]
a+1
1+a
a+a
a+[[1], [2], [3]]
a+[1]
a*tf.constant([[10]])
a+[1, 2]
a/2
a//2
a%2
a**2
f**2
-a
abs(a)
a>1
a<=tf.constant(3)
tf.constant(3)<a
tf.constant(3)+a
~(a>1)
(a>1)&(a<4)
tf.ones([3, 3], tf.int32)+a
tf.ones([2, 3, 1], tf.int32)+a
a+b
tf.equal(a, 1)
tf.maximum(a, [[2], [2], [2]])
tf.add_n([a, a])
tf.cast(a, tf.float32)
tf.nn.relu(-a)
tf.nn.dropout(f, rate=0.)
tf.as_string(a)
tf.strings.join([tf.as_string(a), tf.as_string(a)], '-')
tf.clip_by_value(a, 2, 3)
tf.ones_like(a)
tf.sigmoid(f)
tf.ragged.map_flat_values(tf.add, a, a)
tf.ragged.map_flat_values(tf.reduce_sum, a)
tf.ragged.map_flat_values(tf.one_hot, a, 6)
"""
# Strings.
TEXT = r"""
tf.ragged.stack([[1, 2], [3]]).with_row_splits_dtype(tf.int64)
tf.gather([7, 8, 9], tf.ragged.constant([[2], [0, 1]]))
tf.gather_nd([[1, 2], [3, 4]], tf.ragged.constant([[[0, 1]], [[1, 0], [1, 1]]], ragged_rank=1))
tf.batch_gather(tf.constant([[1, 2], [3, 4]]), tf.ragged.constant([[1], [0, 1]]))
tf.ragged.boolean_mask([[1, 2], [3, 4]], [[True, False], [True, True]])
tf.ragged.boolean_mask([1, 2], [True, False])
tf.ragged.stack_dynamic_partitions(['a', 'b', 'c'], [0, 1, 0], 3)
tf.ragged.stack_dynamic_partitions(['a', 'b', 'c'], [0, 1, 3], 3)
tf.ones([2, 3])+tf.ragged.constant([[1., 2, 3], [4, 5, 6]])
tf.strings.bytes_split('ab')
tf.strings.bytes_split(['ab', '', 'c'])
tf.strings.bytes_split(tf.ragged.constant([['ab'], ['c', '']]))
tf.strings.bytes_split([['ab', 'c'], ['', 'd']])
tf.strings.unicode_decode(['héy', 'x'], 'UTF-8')
tf.strings.unicode_decode('héy', 'UTF-8')
tf.strings.unicode_decode([['héy', 'x']], 'UTF-8')
tf.strings.unicode_decode_with_offsets(['héy', 'x'], 'UTF-8')
tf.strings.unicode_split(['héy', 'x'], 'UTF-8')
tf.strings.unicode_split('héy', 'UTF-8')
tf.strings.unicode_split_with_offsets(['héy', 'x'], 'UTF-8')
tf.strings.unicode_encode(tf.ragged.constant([[72, 233], [120]]), 'UTF-8')
tf.strings.unicode_encode([72, 233], 'UTF-8')
tf.strings.unicode_encode([[72, 233]], 'UTF-16-BE')
tf.strings.unicode_encode(72, 'UTF-8')
tf.strings.unicode_encode(tf.ragged.constant([[[72, 233], [120]], [[65]]]), 'UTF-8')
tf.strings.unicode_decode(tf.ragged.constant([['a'], ['bc', '']]), 'UTF-8')
tf.strings.unicode_decode(['a'], 'UTF-77')
tf.strings.unicode_decode([b'\xff'], 'UTF-8', errors='strict')
tf.strings.unicode_decode([b'\xff'], 'UTF-8', errors='x')
tf.strings.ngrams(['a', 'b', 'c'], 2)
tf.strings.ngrams(tf.ragged.constant([['a', 'b', 'c'], ['d']]), 2)
tf.strings.ngrams(tf.ragged.constant([['a', 'b', 'c'], ['d']]), [1, 2], separator='|')
tf.strings.ngrams(tf.ragged.constant([['a', 'b', 'c'], ['d']]), 3, pad_values=('L', 'R'))
tf.strings.ngrams(tf.ragged.constant([['a', 'b', 'c'], ['d']]), 3, pad_values='P', padding_width=1)
tf.strings.ngrams(tf.ragged.constant([['a', 'b', 'c'], ['d']]), 2, preserve_short_sequences=True)
tf.strings.ngrams([['a', 'b', 'c']], 2)
tf.strings.ngrams(tf.ragged.constant([[['a', 'b'], ['c']], [['d', 'e', 'f']]]), 2)
tf.strings.ngrams(['a'], 0)
tf.strings.ngrams('a', 1)
tf.strings.ngrams(['a', 'b'], 2, pad_values=3)
tf.strings.ngrams(['a', 'b'], 2, padding_width=1)
tf.strings.ngrams(['a', 'b'], 2, pad_values=('a', 'b'), padding_width=-1)
tf.strings.split(['a b', 'c'], result_type='RaggedTensor')
tf.strings.split('a b c', result_type='RaggedTensor')
tf.strings.split([['a b', 'c']], result_type='RaggedTensor')
tf.strings.split(['a b', 'c'], result_type='X')
tf.strings.split(tf.ragged.constant([['a b'], ['c d e', '']]), result_type='RaggedTensor')
tf.strings.split([['a b', 'c']])
tf.string_split(['a b', 'c'], result_type='RaggedTensor')
tf.string_split([['a b', 'c']], result_type='RaggedTensor')
tf.strings.reduce_join(tf.ragged.constant([['a', 'b'], ['c']]), axis=1)
"""


def snippets(text: str) -> dict[str, str]:
    return {line: f"ran({line})" for line in text.strip().splitlines()}


def test_constructors_agree_with_tensorflow(oracle):
    assert differences(oracle, snippets(MADE), SETUP, 1e-6) == {}


def test_functions_agree_with_tensorflow(oracle):
    assert differences(oracle, snippets(FED), SETUP, 1e-6) == {}


def test_strings_agree_with_tensorflow(oracle):
    assert differences(oracle, snippets(TEXT), SETUP, 1e-6) == {}
