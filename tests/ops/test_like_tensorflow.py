"""Functions of mathematics and arrays in unusual uses: values, static shapes and errors as in TensorFlow.

Axes, ranks and sizes as tensors, tensors of unknown rank, rare dtypes, arguments that other functions refuse.
"""
from __future__ import annotations

from tests.differential import differences

# answer(x): its value and static shapes; fed(v): a placeholder that is fed v, of unknown rank unless a shape is given.
SETUP = '''
X = np.arange(24.0).reshape(2, 3, 4) / 7
M = np.array([[1.0, 2.0], [3.0, 4.0]])
feed = {}
def fed(value, shape=None, dt=None):
    value = np.asarray(value)
    dtype = tf.float32 if value.dtype == np.float64 else value.dtype
    placeholder = tf.placeholder(dtype if dt is None else dt, shape)
    feed[placeholder] = value
    return placeholder
def shapes(x):
    return [shapes(y) for y in x] if isinstance(x, (list, tuple)) else str(x.shape)
def answer(x):
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        return sess.run(x, feed), shapes(x)
def after(check):
    with tf.control_dependencies([check]):
        return answer(tf.constant(1))
'''
SNIPPETS = {
    "l2_loss of unknown rank": "answer([tf.nn.l2_loss(fed(M)), tf.nn.l2_loss([fed(M), fed(M)])])",
    "clip_by_norm of integers": "answer(tf.clip_by_norm(fed(M), fed(1)))",
    "polygamma": "answer(tf.polygamma(fed([0.0, 1.0, 0.5, -1.0]), fed([1.5, 2.5, 1.0, 1.0])))",
    "unsorted means of unknown rank":
        "answer([f(fed(M), fed([1, 0]), fed(np.int32(2))) for f in (tf.unsorted_segment_mean, "
        "tf.unsorted_segment_sqrt_n)])",
    "unsorted means of matrices of ids":
        "answer(tf.unsorted_segment_mean(fed(X), fed([[1, 0, 0], [2, 2, 0]]), 4))",
    "cast str": "answer(tf.cast(1.0, tf.string))",
    "cast from str": "answer(tf.cast(['1'], tf.float32))",
    "topk const": "answer(tf.nn.top_k(tf.constant([1., 2.]), k=-7)[0])",
    "as_string": "answer(tf.as_string([1, 2], scientific=True))",
    "as_string 2": "answer(tf.as_string([1, 2], shortest=True))",
    "as_string 3": "answer(tf.as_string([1, 2], precision=3))",
    "as_string 4": "answer(tf.as_string([1.5, 2], scientific=True, shortest=True))",
    "as_string 5": "answer(tf.as_string([1.5, 2], fill='-'))",
    "as_string 6": "answer(tf.as_string([1.5, 2], fill='xx', width=5))",
    "as_string 7": "answer(tf.as_string([True, False], width=7))",
    "eye": "answer(tf.eye(2, batch_shape=tf.constant([2, 3])))",
    "eye 2": "answer(tf.eye(fed(2)))",
    "eye 3": "answer(tf.eye(2, batch_shape=[fed(2), 3]))",
    "eye 4": "answer(tf.eye(3, 2, batch_shape=[], dtype=tf.complex64))",
    "eye 5": "answer(tf.eye(3, 2, batch_shape=(2,), dtype=tf.int32))",
    "scatter_nd b": "answer(tf.scatter_nd([[1], [3]], [True, True], [5]))",
    "softmax": "answer(tf.nn.softmax(tf.constant(X), axis=tf.constant(1)))",
    "lsoftmax": "answer(tf.nn.log_softmax(tf.constant(X), axis=tf.constant(1)))",
    "cross_entropy": "answer(tf.nn.softmax_cross_entropy_with_logits(labels=X, logits=X, dim=0))",
    "cross_entropy 2": "answer(tf.nn.softmax_cross_entropy_with_logits_v2(labels=fed(X), logits=fed(X), axis=1))",
    "cross_entropy 3":
        "answer(tf.nn.softmax_cross_entropy_with_logits_v2(labels=fed(X), logits=fed(X), "
        "axis=tf.constant(1)))",
    "gather_nd": "answer(tf.gather_nd(tf.constant(X), [[[1]], [[0]]], batch_dims=tf.constant(1)))",
    "gather_nd 2": "answer(tf.gather_nd(tf.constant(X), [[[1]], [[0]]], batch_dims=1))",
    "gather_nd 3": "answer(tf.gather_nd(tf.constant(X), [[[1], [2]], [[0], [0]]], batch_dims=1))",
    "gather_nd 4":
        "x=tf.constant(X)\nanswer(tf.gradients(tf.gather_nd(x, [[[1], [2]], [[0], [0]]], batch_dims=1), x))",
    "gather bd": "answer(tf.gather(tf.constant(X), [[1], [0]], batch_dims=tf.constant(1)))",
    "broadcast labels": "answer(tf.nn.softmax_cross_entropy_with_logits(labels=np.ones([1, 4])/4, logits=X[0, :2]))",
    "broadcast labels 2":
        "answer(tf.nn.softmax_cross_entropy_with_logits(labels=X[0, :2], logits=np.ones([1, 4])/4))",
    "broadcast labels 3":
        "l=tf.constant(np.ones([1, 4])/4)\n"
        "answer(tf.gradients(tf.nn.softmax_cross_entropy_with_logits_v2(labels=X[0, :2], logits=l), l))",
    "broadcast labels 4":
        "answer(tf.nn.softmax_cross_entropy_with_logits(labels=fed(np.ones([1, 4])/4), logits=fed(X[0, :2])))",
    "list of tensors":
        "answer(tf.convert_to_tensor([tf.constant(1.), tf.constant(2., tf.float64)], dtype=tf.float64))",
    "list of tensors 2": "answer(tf.stack([tf.constant(1.), tf.constant(2., tf.float64)]))",
    "list of tensors 3": "answer(tf.convert_to_tensor([1, tf.constant(2.)]))",
    "list of tensors 4": "answer(tf.convert_to_tensor([tf.constant(1), tf.constant(2)], dtype=tf.float32))",
    "list of tensors 5": "answer(tf.convert_to_tensor([tf.constant(1), 2.5]))",
    "list of tensors 6": "answer(tf.convert_to_tensor([[tf.constant(1.), 2], [3, 4]], dtype=tf.float64))",
    "hessians": "x=fed(np.ones([3, 2]), [3, None])\nanswer(tf.hessians(tf.reduce_sum(x*x*x), x))",
    "hessians 2": "x=fed(np.ones([3, 2]))\nanswer(tf.hessians(tf.reduce_sum(x*x*x), x))",
    "hessians 3": "x=fed(np.ones([3, 2]), [3, 2])\nanswer(tf.hessians(tf.reduce_sum(x*x*x), x))",
    "hessians 4": "x=fed(np.ones([3]), [None])\nanswer(tf.hessians(tf.reduce_sum(x*x*x), x))",
    "matmul of bfloat16": "answer(tf.matmul(tf.cast(M, tf.bfloat16), tf.cast(M, tf.bfloat16), b_is_sparse=True))",
    "matmul of bfloat16 2":
        "answer(tf.matmul(tf.constant(M, tf.float32), tf.constant(M, tf.float32), a_is_sparse=True, "
        "b_is_sparse=True))",
    "string_to_number": "answer(tf.string_to_number(['0xF', '0x1A']))",
    "string_to_number 2": "answer(tf.string_to_number(['0xF'], tf.int32))",
    "string_to_number 3":
        "answer(tf.string_to_number(['0x1p3', '1e3', '-0X1.8p1', ' 5 ', 'nan', 'inf', '-INF', '+3', "
        "'infinity', '1e400']))",
    "string_to_number 4": "answer(tf.string_to_number(['1_0']))",
    "string_to_number 5": "answer(tf.string_to_number(['1_0'], tf.int32))",
    "string_to_number 6": "answer(tf.string_to_number(['  7 ', '-3', '+4'], tf.int64))",
    "string_to_number 7": "answer(tf.string_to_number(['1.5'], tf.int32))",
    "string_to_number 8": "answer(tf.string_to_number(['3000000000'], tf.int32))",
    "string_to_number 9": "answer(tf.string_to_number(['0x'], tf.float64))",
    "norm": "answer(tf.norm(tf.constant(M), ord=2, axis=[0, 1]))",
    "norm 2": "x=tf.constant(M)\nanswer(tf.gradients(tf.norm(x, ord=2, axis=[0, 1]), x))",
    "norm 3": "answer(tf.norm(tf.constant(X), ord=1, axis=[0, 2]))",
    "norm 4": "answer(tf.norm(tf.constant(X), ord=np.inf, axis=[0, 2], keepdims=True))",
    "norm 5": "answer(tf.norm(tf.constant(X), ord=3, axis=[0, 2]))",
    "norm 6": "answer(tf.norm(tf.constant(X), ord='fro'))",
    "norm 7": "answer(tf.norm(tf.constant(X), ord='fro', axis=1))",
    "norm 8": "answer(tf.norm(tf.constant(X), axis=[0, 1, 2]))",
    "norm 9": "answer(tf.norm(tf.constant(X), ord=2, axis=[0, 0]))",
    "norm 10": "answer(tf.norm(fed(X), ord=2, axis=[0, 2]))",
    "norm 11": "answer(tf.norm(fed(X), axis=[0, 2]))",
    "norm 12": "answer(tf.norm(tf.constant(X), axis=(0,)))",
    "norm 13": "answer(tf.norm(tf.constant(X), axis=tf.constant([0, 2])))",
    "gradient of diag_part": "x=fed(X, [2, 3, 4])\nanswer(tf.gradients(tf.matrix_diag_part(x), x))",
    "gradient of diag_part 2": "x=fed(X)\nanswer(tf.gradients(tf.matrix_diag_part(x), x))",
    "gradient of diag_part 3":
        "x=fed(X.transpose(0, 2, 1), [None, 4, 3])\nanswer(tf.gradients(tf.matrix_diag_part(x), x))",
    "assign to a slice": "v=tf.Variable([1., 2., 3.])\na=tf.assign(v[1:], [5., 6.])\nanswer(a)",
    "assign to a slice 2": "v=tf.Variable([1., 2., 3.])\nanswer(tf.assign(v[1], 5.))",
    "assign to a slice 3": "v=tf.Variable([1., 2., 3.])\nanswer(v[1:].assign([5., 6.]))",
    "slice": "t=tf.constant(X)\nd=tf.Dimension(None)\nanswer(t[d:d:d])",
    "slice 2": "t=tf.constant(X)\nanswer(t[tf.Dimension(1):])",
    "ru": "answer(tf.random_uniform([0], 0, 0, tf.int32))",
    "ru 2": "answer(tf.random_uniform([0], 5, 3, tf.int64))",
    "name": "answer(tf.constant(1., name=b'e'))",
    "name 2": "answer(tf.placeholder_with_default(1., [], name=b'e'))",
    "name 3": "answer(tf.identity(1., name=b'e'))",
    "prec": "answer(tf.metrics.precision(fed([True, False]), fed([True, True]), weights=fed([1., 2.]))[1])",
    "rec": "answer(tf.metrics.recall(fed([True, False]), fed([True, True]), weights=fed([1., 2.]))[1])",
    "acc": "answer(tf.metrics.accuracy(fed([1, 0]), fed([1, 1]), weights=fed([1., 2.]))[1])",
    "auc": "answer(tf.metrics.auc(fed([1, 0]), fed([.3, .4]), weights=fed([1., 2.]))[1])",
    "mean": "answer(tf.metrics.mean(fed([1., 0]), weights=fed([1., 2.]))[1])",
    "fn": "answer(tf.metrics.false_negatives(fed([1, 0]), fed([1, 1]), weights=fed([1., 2.]))[1])",
    "mse": "answer(tf.metrics.mean_squared_error(fed([1., 0]), fed([1., 1]), weights=fed([1., 2.]))[1])",
    "cov":
        "answer(tf.metrics.mean_relative_error(fed([1., 0]), fed([1., 1]), fed([1., 1]), weights=fed([1., "
        "2.]))[1])",
    "pat": "answer(tf.metrics.precision_at_thresholds(fed([1, 0]), fed([.3, .4]), [.35], weights=fed([1., 2.]))[1])",
    "sens": "answer(tf.metrics.sensitivity_at_specificity(fed([1, 0]), fed([.3, .4]), .5, weights=fed([1., 2.]))[1])",
    "cos": "answer(tf.metrics.mean_cosine_distance(fed([[1., 0]]), fed([[1., 1]]), 1, weights=fed([[1.]]))[1])",
    "pb": "answer(tf.metrics.percentage_below(fed([1., 0]), .5, weights=fed([1., 2.]))[1])",
    "gray": "answer(tf.image.rgb_to_grayscale(fed(np.ones([2, 3, 3]))))",
    "matrix_diag": "answer(tf.matrix_diag([1., 2.], k=1))",
    "matrix_diag 2": "answer(tf.matrix_diag([[1., 2.], [3., 4.]], k=(0, 1), padding_value=9.))",
    "matrix_diag 3": "answer(tf.matrix_diag([1., 2.], num_rows=4, num_cols=5))",
    "matrix_diag 4":
        "answer(tf.matrix_diag([[1., 2., 3.], [4., 5., 0.]], k=(-1, 0), num_rows=3, num_cols=4, "
        "padding_value=7.))",
    "matrix_diag_part": "answer(tf.matrix_diag_part(X, k=1))",
    "matrix_diag_part 2": "answer(tf.matrix_diag_part(X, k=(-1, 2), padding_value=9.))",
    "matrix_diag_part 3": "answer(tf.matrix_diag_part(X, k=(-1, 1), padding_value=9., align='LEFT_LEFT'))",
    "matrix_diag_part 4": "answer(tf.matrix_diag_part(X, k=7))",
    "gradient of matrix_diag_part": "x=tf.constant(X)\nanswer(tf.gradients(tf.matrix_diag_part(x, k=(-1, 1)), x))",
    "gradient of matrix_diag":
        "x=tf.constant([[1., 2., 3.], [4., 5., 0.]])\nanswer(tf.gradients(tf.matrix_diag(x, k=(-1, 0)), x))",
    "qint": "answer(tf.cast(tf.cast(tf.constant([1., 200., -3.]), tf.qint8), tf.float32))",
    "quint":
        "answer([tf.cast(tf.cast(tf.constant([1, 200, 3]), t), tf.int32) for t in (tf.qint8, tf.quint8, "
        "tf.qint32)])",
    "quint 2": "answer([tf.cast(tf.cast(tf.constant([1, 200, 3]), t), tf.int32) for t in (tf.qint16, tf.quint16)])",
    "unsorted segments":
        "answer([f(tf.cast([1., 2., 3.], tf.bfloat16), [0, 0, 2], 3) for f in (tf.unsorted_segment_max, "
        "tf.unsorted_segment_min, tf.unsorted_segment_sum, tf.unsorted_segment_prod)])",
    "unsorted segments 2":
        "answer([f(tf.cast([1., 2., 3.], tf.float16), [0, 0, 2], 3) for f in (tf.unsorted_segment_max, "
        "tf.unsorted_segment_min, tf.unsorted_segment_sum, tf.unsorted_segment_prod, "
        "tf.unsorted_segment_mean)])",
    "unsorted segments 3":
        "answer([f(tf.cast([1., 2., 3.], tf.int8), [0, 0, 2], 3) for f in (tf.unsorted_segment_max, "
        "tf.unsorted_segment_min, tf.unsorted_segment_sum, tf.unsorted_segment_prod)])",
    "unsorted segments 4":
        "answer([f(tf.cast([1., 2., 3.], tf.uint16), [0, 0, 2], 3) for f in (tf.unsorted_segment_max, "
        "tf.unsorted_segment_min, tf.unsorted_segment_sum, tf.unsorted_segment_prod)])",
    "segments":
        "answer([f(tf.cast([1., 2., 3.], tf.bfloat16), [0, 0, 2]) for f in (tf.segment_max, tf.segment_min, "
        "tf.segment_sum, tf.segment_prod, tf.segment_mean)])[0]",
    "sparse segments":
        "answer([f(tf.cast([1., 2., 3.], tf.bfloat16), [0, 2], [0, 2]) for f in (tf.sparse_segment_sum, "
        "tf.sparse_segment_mean, tf.sparse_segment_sqrt_n)])[0]",
    "sparse segments 2":
        "answer([f(tf.cast([1., 2., 3.], tf.float16), [0, 2], [0, 2]) for f in (tf.sparse_segment_sum, "
        "tf.sparse_segment_mean, tf.sparse_segment_sqrt_n)])[0]",
    "matrix_solve_ls slow":
        "answer(tf.matrix_solve_ls(tf.constant(X[0].T), tf.constant(X[0].T[:, :1]+1), fast=False))",
    "matrix_solve_ls slow 2":
        "answer(tf.matrix_solve_ls(tf.constant(X[:, :2]), tf.constant(X[:, :2, :2]), fast=False))",
    "matrix_solve_ls slow 3":
        "a, b=tf.constant(M), tf.constant(M+1)\nanswer(tf.matrix_solve_ls(a, b, l2_regularizer=.3, "
        "fast=False))",
    "svd":
        "x=tf.constant(np.random.RandomState(0).rand(4, 3))\ns, u, v=tf.svd(x, full_matrices=True)\n"
        "answer(tf.gradients([s, tf.abs(u[:, :3]), tf.abs(v)], x))",
    "svd 2":
        "x=tf.constant(np.random.RandomState(0).rand(2, 3))\ns, u, v=tf.svd(x, full_matrices=True)\n"
        "answer(tf.gradients([s, tf.abs(u)], x))",
    "svd 3":
        "x=tf.constant(np.random.RandomState(0).rand(3, 4))\ns, u, v=tf.svd(x, full_matrices=True)\n"
        "answer(tf.gradients([s, tf.abs(u), tf.abs(v[:, :3])], x))",
    "svd 4":
        "x=tf.constant(np.random.RandomState(0).rand(6, 3))\ns, u, v=tf.svd(x, full_matrices=True)\n"
        "answer(tf.gradients([s, tf.abs(u[:, :3]), tf.abs(v)], x))",
    "max_pool over channels":
        "answer(tf.nn.max_pool(np.arange(16.).reshape(1, 2, 2, 4)%5, [1, 1, 1, 2], [1, 1, 1, 2], 'VALID'))",
    "max_pool over channels 2":
        "answer(tf.nn.max_pool(np.arange(16.).reshape(1, 2, 2, 4)%5, [1, 1, 1, 2], [1, 1, 1, 2], 'SAME'))",
    "max_pool over channels 3":
        "answer(tf.nn.max_pool(np.arange(16.).reshape(1, 2, 2, 4)%5, [1, 2, 2, 2], [1, 1, 1, 2], 'SAME'))",
    "max_pool over channels 4":
        "answer(tf.nn.max_pool(np.arange(16.).reshape(1, 2, 2, 4)%5, [1, 1, 1, 3], [1, 1, 1, 3], 'SAME'))",
    "pool": "answer(tf.nn.pool(np.arange(16.).reshape(1, 4, 4, 1), [2, 2], 'MAX', 'VALID', dilation_rate=[2, 2]))",
    "pool 2": "answer(tf.nn.pool(np.arange(6.).reshape(1, 6, 1), [2], 'AVG', 'VALID', dilation_rate=[2]))",
    "pool 3": "answer(tf.nn.pool(np.arange(25.).reshape(1, 5, 5, 1), [2, 2], 'AVG', 'SAME', dilation_rate=[2, 2]))",
    "pool 4": "answer(tf.nn.pool(np.arange(25.).reshape(1, 5, 5, 1), [3, 2], 'MAX', 'SAME', dilation_rate=[2, 1]))",
    "pool 5":
        "answer(tf.nn.pool(fed(np.arange(25.).reshape(1, 5, 5, 1), [1, None, None, 1]), [3, 2], 'MAX', "
        "'SAME', dilation_rate=[2, 1]))",
    "pool 6":
        "x=tf.constant(np.arange(25.).reshape(1, 5, 5, 1))\nanswer(tf.gradients(tf.nn.pool(x, [2, 2], 'AVG', "
        "'VALID', dilation_rate=[2, 2]), x))",
    "pool 7":
        "answer(tf.nn.pool(np.arange(25.).reshape(1, 5, 5, 1), [3, 2], 'MAX', 'SAME', dilation_rate=[2, 1], "
        "strides=[2, 2]))",
    "pool 8":
        "answer(tf.nn.pool(np.arange(27.).reshape(1, 3, 3, 3, 1), [2, 2, 2], 'MAX', 'VALID', "
        "dilation_rate=[2, 1, 2]))",
    "dropout": "answer(tf.nn.dropout(X, keep_prob=[.5, .5]))",
    "dropout 2": "answer(tf.nn.dropout(X, keep_prob=1.5))",
    "dropout 3": "answer(tf.nn.dropout(X, keep_prob=0.))",
    "dropout 4": "answer(tf.nn.dropout(tf.constant([1, 2]), keep_prob=.5))",
    "dropout 5": "answer(tf.nn.dropout(X, keep_prob=fed(1.)))",
    "dropout 6": "answer(tf.nn.dropout(X, keep_prob='a'))",
    "dropout 7": "answer(tf.nn.dropout(X, rate=tf.constant([.5, .5])))",
    "conv2d_transpose": "answer(tf.nn.conv2d_transpose(np.ones([1, 2, 2, 1]), None, [1, 4, 4, 1], [1, 2, 2, 1]))",
    "conv2d_transpose 2": "answer(tf.nn.conv2d_transpose(None, np.ones([2, 2, 1, 1]), [1, 4, 4, 1], [1, 2, 2, 1]))",
    "conv2d_transpose 3":
        "answer(tf.nn.conv2d_transpose(np.ones([1, 2, 2, 1]), np.ones([2, 2, 1, 1]), None, [1, 2, 2, 1]))",
    "conj": "answer(tf.conj(['a']))",
    "conj 2": "answer(tf.conj([True]))",
    "conj 3": "answer(tf.conj([1]))",
    "real": "answer(tf.real(['a']))",
    "real 2": "answer(tf.real([1]))",
    "imag": "answer(tf.imag([1]))",
    "imag 2": "answer(tf.imag([1.]))",
    "assert_near": "answer(tf.angle(['a']))",
    "assert_near 2": "answer(tf.angle([1., -1.]))",
    "assert_rank": "answer(tf.assert_rank(X, []))",
    "assert_rank 2": "answer(tf.assert_rank(X, [1, 2]))",
    "assert_rank 3": "answer(tf.assert_rank(X, .5))",
    "assert_rank 4": "answer(tf.assert_rank_in(X, [[1], 2]))",
    "assert_rank 5": "answer(tf.assert_rank_at_least(X, []))",
    "assert_near 3": "after(tf.assert_near(np.array([1+1j]), np.array([1+1j])))",
    "assert_near 4": "after(tf.assert_near(np.array([1+1j]), np.array([1+1.1j])))",
    "assert_near 5": "after(tf.assert_near([1], [1]))",
    "assert_near 6": "after(tf.assert_near(np.array([1+1j]), np.array([1+1.1j]), atol=.2))",
    "clip_by_norm": "answer(tf.clip_by_norm(tf.constant(2.), [1., 2.]))",
    "clip_by_norm 2": "answer(tf.clip_by_norm(tf.constant([2., 3.]), [1., 2.]))",
    "clip_by_norm 3": "answer(tf.clip_by_norm(tf.constant([2., 3.]), [[1.], [2.]]))",
    "clip_by_norm 4": "answer(tf.clip_by_norm(tf.constant([[2., 3.]]), [[1.]]))",
    "clip_by_norm 5": "answer(tf.clip_by_norm(tf.constant([[2., 3.]]), 1., axes=[1]))",
    "clip_by_norm 6": "answer(tf.clip_by_norm(tf.constant([0., 0.]), 1.))",
    "clip_by_norm 7": "x=tf.constant([0., 0.])\nanswer(tf.gradients(tf.clip_by_norm(x, 1.), x))",
    "clip_by_norm 8": "answer(tf.clip_by_average_norm(tf.constant(2.), [1., 2.]))",
    "clip_by_norm 9": "answer(tf.clip_by_value(tf.constant(2.), [1., 2.], [3., 3.]))",
    "clip_by_norm 10": "answer(tf.clip_by_value(tf.constant([2., 3.]), [1., 2.], [3., 3.]))",
    "clip_by_norm 11": "answer(tf.clip_by_value(tf.constant([2., 3.]), [[1., 2.]], 3.))",
    "tile": "answer(tf.tile(fed(M), fed([1, 1, 1, 2], [4])))",
    "tile 2": "answer(tf.tile(fed(M, [2, None]), [3, fed(2)]))",
    "tile 3": "answer(tf.tile(fed(M), [3, fed(2)]))",
    "pad": "answer(tf.pad(fed(M, [2, 2]), tf.stack([[1, 2], fed([1, 1])])))",
    "pad 2": "answer(tf.pad(fed(M), [[1, 2], [3, 4]]))",
    "pad 3": "answer(tf.pad(fed(M, [2, None]), [[1, 2], [3, 4]]))",
    "pad 4": "answer(tf.pad(fed(M, [2, 2]), [[1, fed(2)], [3, 4]]))",
    "pad 5": "answer(tf.pad(fed(M), fed([[1, 2], [3, 4]], [2, 2])))",
    "pad 6": "answer(tf.pad(fed(M), [[1, 1], [1, 1]], 'REFLECT'))",
    "pad 7": "answer(tf.pad(fed(M, [2, 2]), tf.stack([[1, 1], fed([1, 1])]), 'SYMMETRIC'))",
    "pad 8": "answer(tf.pad(fed(M), [[1, 1], [1, 1]], constant_values=3))",
    "diag_part": "answer(tf.diag_part(fed(M)))",
    "diag_part 2": "answer(tf.diag_part(fed(M, [None, 2])))",
    "diag_part 3": "answer(tf.diag_part(fed(np.ones([2, 3, 2, 3]), [None, 3, 2, None])))",
    "diag": "answer(tf.diag(fed(M, [None, 2])))",
}


def test_unusual_uses(oracle):
    assert not differences(oracle, SNIPPETS, SETUP, tolerance=2e-5, modes=("never", "always"))
