"""Programs whose variables, collections, names and values TensorFlow 1.15 and tfnb must agree on: name -> text."""
# ruff: noqa: E501
from __future__ import annotations

PROGRAMS: dict[str, str] = {}


def add(kind: str, programs: str, before: str = "", after: str = "") -> None:
    """Add a program for each line, `name: text`, with what all of them have before and after."""
    for line in programs.strip().splitlines():
        name, _, code = line.partition(": ")
        PROGRAMS[f"{kind}/{name}"] = "\n".join(part for part in (before, code.strip().replace("; ", "\n"), after) if part)


add("layers", """
fully_connected: result = L.fully_connected(x2, 3)
fully_connected_3d: result = L.fully_connected(x3, 3, activation_fn=None)
fully_connected_norm: result = L.fully_connected(x2, 3, normalizer_fn=L.batch_norm, weights_regularizer=L.l2_regularizer(0.1))
fully_connected_scope: result = L.fully_connected(x2, 3, scope="out", outputs_collections="outs", variables_collections=["mine"])
fully_connected_layer_norm: result = L.fully_connected(x2, 3, normalizer_fn=L.layer_norm)
linear: result = L.linear(x2, 2, biases_initializer=None)
relu: result = L.relu(x2, 2)
relu6: result = L.relu6(x2, 2)
conv2d: result = L.conv2d(x4, 3, 3)
conv2d_same: result = L.conv2d(x4, 3, [3, 2], stride=2, padding="VALID", activation_fn=None, biases_initializer=None, scope="c")
conv2d_rate: result = L.conv2d(x4, 3, 3, rate=2)
conv2d_nchw: result = L.conv2d(tf.transpose(x4, [0, 3, 1, 2]), 3, 3, data_format="NCHW"); run = False
conv2d_bn: result = L.conv2d(x4, 3, 1, normalizer_fn=L.batch_norm, normalizer_params={"is_training": False, "scale": True}, outputs_collections="e")
conv1d: result = L.conv1d(x3, 3, 2)
conv3d: result = L.conv3d(x5, 3, 2)
conv2d_transpose: result = L.conv2d_transpose(x4, 3, 3, stride=2)
conv2d_transpose_valid: result = L.conv2d_transpose(x4, 3, 2, stride=2, padding="VALID", outputs_collections="e")
convolution2d: result = L.convolution2d(x4, 2, 3, weights_regularizer=L.l1_regularizer(0.2), biases_regularizer=L.l2_regularizer(0.3))
separable_conv2d: result = L.separable_conv2d(x4, 3, 3, 2, stride=2)
separable_conv2d_depth: result = L.separable_conv2d(x4, None, 3, 2)
separable_conv2d_depth_1: result = L.separable_conv2d(x4, 3, 3, 1, normalizer_fn=L.batch_norm, weights_regularizer=L.l2_regularizer(0.1))
avg_pool2d: result = L.avg_pool2d(x4, 2, outputs_collections="e")
max_pool2d: result = L.max_pool2d(x4, [2, 2], 1, padding="SAME")
flatten: result = L.flatten(x4, outputs_collections="e")
dropout_eval: result = L.dropout(x2, is_training=False, outputs_collections="e")
dropout: result = L.dropout(x2, 0.5).op.type; run = False
batch_norm: result = L.batch_norm(x4)
batch_norm_eval: result = L.batch_norm(x4, is_training=False, scale=True, center=False)
batch_norm_fused: result = L.batch_norm(x4, fused=True, scale=True)
batch_norm_2d: result = L.batch_norm(x2, decay=0.9, scale=True, zero_debias_moving_mean=True)
batch_norm_now: result = L.batch_norm(x4, updates_collections=None, activation_fn=tf.nn.relu, scope="bn")
batch_norm_unfused: result = L.batch_norm(x4, fused=False)
batch_norm_switch: result = L.batch_norm(x4, is_training=tf.constant(True))
batch_norm_renorm: result = L.batch_norm(x4, renorm=True, fused=False)
batch_norm_updates: y = L.batch_norm(x4, decay=0.5); steps = tf.get_collection(tf.GraphKeys.UPDATE_OPS); result = tf.global_variables()
batch_norm_fused_updates: y = L.batch_norm(x4, decay=0.5, fused=True); steps = tf.get_collection(tf.GraphKeys.UPDATE_OPS); result = tf.global_variables()
batch_norm_2d_updates: y = L.batch_norm(x2, decay=0.5); steps = tf.get_collection(tf.GraphKeys.UPDATE_OPS); result = tf.global_variables()
batch_norm_debias_updates: y = L.batch_norm(x2, decay=0.5, zero_debias_moving_mean=True); steps = tf.get_collection(tf.GraphKeys.UPDATE_OPS) * 2; result = tf.global_variables(); fill = False
layer_norm: result = L.layer_norm(x4)
layer_norm_axes: result = L.layer_norm(x3, begin_norm_axis=2, scale=False, activation_fn=tf.nn.relu)
bias_add: result = L.bias_add(x4)
unit_norm: result = L.unit_norm(x3, 1)
one_hot_encoding: result = L.one_hot_encoding(tf.constant(ids(5, 3)), 5)
softmax: result = L.softmax(x3)
repeat: result = L.repeat(x2, 2, L.fully_connected, 3, scope="fc")
repeat_conv: result = L.repeat(x4, 2, L.conv2d, 3, [3, 3])
stack: result = L.stack(x2, L.fully_connected, [3, 4], scope="fc")
stack_args: result = L.stack(x4, L.conv2d, [(3, [1, 1]), (2, [3, 3])])
embed_sequence: result = L.embed_sequence(tf.constant(ids(5, 2, 3)), 6, 4)
embed_sequence_scope: result = L.embed_sequence(tf.constant(ids(5, 2, 3)), 6, 4, scope="emb")
regularizers: result = [L.l1_regularizer(0.1)(x2), L.l2_regularizer(0.1)(x2), L.l1_l2_regularizer(0.1, 0.2)(x2), L.sum_regularizer([L.l1_regularizer(0.1), L.l2_regularizer(0.2)])(x2)]
apply_regularization: L.fully_connected(x2, 3); result = L.apply_regularization(L.l2_regularizer(0.1), tf.trainable_variables())
two: L.fully_connected(x2, 3); result = L.fully_connected(x2, 3)
arg_scope: from_ = tf.contrib.framework; result = L.fully_connected(x2, 3, reuse=tf.AUTO_REUSE, scope="s", trainable=False)
optimize_loss: y = tf.reduce_mean(L.linear(x2, 1) ** 2); result = L.optimize_loss(y, tf.train.get_or_create_global_step(), 0.1, "SGD")
optimize_loss_adam: y = tf.reduce_mean(L.linear(x2, 1) ** 2); result = L.optimize_loss(y, tf.train.get_or_create_global_step(), 0.1, "Adam", clip_gradients=1., summaries=L.OPTIMIZER_SUMMARIES); fill = False; run = False
optimize_loss_decay: y = tf.reduce_mean(L.linear(x2, 1) ** 2); s = tf.train.get_or_create_global_step(); result = L.optimize_loss(y, s, 0.1, tf.train.MomentumOptimizer(0.1, 0.9), learning_rate_decay_fn=lambda r, g: tf.train.exponential_decay(r, g, 10, 0.9), gradient_multipliers={"fully_connected/biases": 2.})
avg_pool3d: result = L.avg_pool3d(x5, 2)
max_pool3d: result = L.max_pool3d(x5, 2, outputs_collections="e")
conv3d_transpose: result = L.conv3d_transpose(x5, 2, 2, stride=2)
elu: result = L.elu(x2, 2)
group_norm: result = L.group_norm(x4b, 2)
group_norm_axes: result = L.group_norm(tf.transpose(x4b, [0, 3, 1, 2]), 4, channels_axis=-3, reduction_axes=(-2, -1), activation_fn=tf.nn.relu, outputs_collections="e", scope="gn")
group_norm_plain: result = L.group_norm(x4b, 2, center=False, scale=False)
group_norm_batch: result = L.group_norm(x4b, 2, mean_close_to_zero=True)
instance_norm: result = L.instance_norm(x4)
instance_norm_nchw: result = L.instance_norm(x4, data_format="NCHW", scale=False, outputs_collections="e", scope="in")
maxout: result = L.maxout(x4b, 2)
maxout_axis: result = L.maxout(x4b, 2, axis=1, scope="m")
spatial_softmax: result = L.spatial_softmax(x4)
spatial_softmax_set: result = L.spatial_softmax(x4, temperature=0.5, name="s")
spatial_softmax_trained: result = L.spatial_softmax(x4, temperature=1., trainable=True)
spatial_softmax_nchw: result = L.spatial_softmax(tf.transpose(x4, [0, 3, 1, 2]), data_format="NCHW")
bow_encoder: result = L.bow_encoder(tf.constant(ids(5, 2, 3)), 6, 4)
bow_encoder_sparse: result = L.bow_encoder(tf.constant(ids(5, 2, 3)), 6, 4, sparse_lookup=False, scope="b", regularizer=L.l2_regularizer(0.1))
conv2d_in_plane: result = L.conv2d_in_plane(x4, 3)
conv2d_in_plane_set: result = L.convolution2d_in_plane(x4, [2, 1], stride=2, padding="VALID", activation_fn=tf.nn.relu, biases_initializer=None, scope="p")
summarize_tensor: result = L.summarize_tensor(x3, "t")
summarize_scalar: result = L.summarize_tensor(tf.constant(3.0, name="n"))
summarize_activation: result = L.summarize_activation(L.fully_connected(x2, 3))
summarize_tensors: result = L.summarize_tensors([tf.constant(3.0, name="n"), tf.constant([3.0], name="m")])
summarize_collection: L.fully_connected(x2, 3); result = L.summarize_collection("trainable_variables", "fully.*")
summarize_activations: L.fully_connected(x2, 3); tf.add_to_collection("activations", x2); result = L.summarize_activations()
summarize_variables: L.fully_connected(x2, 3); result = tf.contrib.layers.summaries.summarize_variables()
scale_gradient: y = L.scale_gradient(x2, 0.5); result = [y, tf.gradients(y, x2)]
embedding_lookup_unique: result = L.embedding_lookup_unique(x2, tf.constant(ids(2, 2, 3)))
safe_embedding_lookup_sparse: w = tf.get_variable("w", [5, 3]); result = L.safe_embedding_lookup_sparse([w], tf.SparseTensor([[0, 0], [2, 1]], tf.constant([1, 3], tf.int64), [3, 3]))
dense_to_sparse: result = L.dense_to_sparse(tf.constant(ids(3, 2, 3)))
images_to_sequence: result = L.images_to_sequence(x4)
sequence_to_images: result = L.sequence_to_images(x3, 2)
legacy_fully_connected: result = L.legacy_fully_connected(x2, 3, activation_fn=tf.nn.relu)
legacy_linear: result = L.legacy_linear(x2, 3)
legacy_relu: result = L.legacy_relu(x3, 3, weight_regularizer=L.l2_regularizer(0.1))
gdn: result = L.gdn(x4); fill = False
gdn_inverse: result = L.gdn(x4, inverse=True); fill = False
""", """L = tf.contrib.layers
x2, x3, x4, x5 = (tf.constant(data(*shape), name="x") for shape in ((2, 4), (2, 4, 3), (2, 6, 5, 2), (1, 4, 4, 4, 2)))
x4b = tf.constant(data(2, 6, 4, 4), name="x4b")""")


add("tf.layers", """
dense: result = tf.layers.dense(x2, 3)
dense_name: result = tf.layers.dense(x2, 3, name="d", activation=tf.nn.relu, kernel_regularizer=tf.contrib.layers.l2_regularizer(0.1))
dense_3d: result = tf.layers.dense(x3, 3, use_bias=False)
conv1d: result = tf.layers.conv1d(x3, 3, 2)
conv2d: result = tf.layers.conv2d(x4, 3, 3, padding="same", activation=tf.nn.relu)
conv3d: result = tf.layers.conv3d(x5, 2, 2)
conv2d_transpose: result = tf.layers.conv2d_transpose(x4, 3, 3, 2)
conv3d_transpose: result = tf.layers.conv3d_transpose(x5, 2, 2)
separable_conv1d: result = tf.layers.separable_conv1d(x3, 3, 2)
separable_conv2d: result = tf.layers.separable_conv2d(x4, 3, 2, depth_multiplier=2)
average_pooling2d: result = tf.layers.average_pooling2d(x4, 2, 2)
max_pooling2d: result = tf.layers.max_pooling2d(x4, 2, 1, "same")
max_pooling1d: result = tf.layers.max_pooling1d(x3, 2, 1)
average_pooling1d: result = tf.layers.average_pooling1d(x3, 2, 1)
max_pooling3d: result = tf.layers.max_pooling3d(x5, 2, 1)
flatten: result = tf.layers.flatten(x4)
dropout: result = tf.layers.dropout(x2)
batch_normalization: result = tf.layers.batch_normalization(x4)
batch_normalization_training: result = tf.layers.batch_normalization(x4, training=True)
batch_normalization_2d: result = tf.layers.batch_normalization(x2, training=True, momentum=0.5, fused=False)
batch_normalization_updates: tf.layers.batch_normalization(x4, training=True, momentum=0.5); steps = tf.get_collection("update_ops"); result = tf.global_variables()
batch_normalization_switch: result = tf.layers.batch_normalization(x4, training=tf.placeholder_with_default(True, []))
batch_normalization_renorm: result = tf.layers.batch_normalization(x4, training=True, renorm=True)
two: tf.layers.dense(x2, 3); result = tf.layers.dense(x2, 3)
objects: d = tf.layers.Dense(3); d(x2); e = tf.layers.Dense(2, name="d"); result = [d(x2), e(x2), d.name, e.name]
""", """x2, x3, x4, x5 = (tf.constant(data(*shape), name="x") for shape in ((2, 4), (2, 4, 3), (2, 6, 5, 2), (1, 4, 4, 4, 2)))""")

add("cells", """
BasicRNNCell: cell = R.BasicRNNCell(4)
BasicLSTMCell: cell = R.BasicLSTMCell(4)
LSTMCell: cell = R.LSTMCell(4)
LSTMCell_projected: cell = R.LSTMCell(4, use_peepholes=True, num_proj=3, cell_clip=0.5, proj_clip=0.3)
LSTMCell_sharded: cell = R.LSTMCell(4, num_unit_shards=2, num_proj=2, num_proj_shards=2, state_is_tuple=False)
GRUCell: cell = R.GRUCell(4)
LSTMBlockCell: cell = R.LSTMBlockCell(4)
LSTMBlockCell_peephole: cell = R.LSTMBlockCell(4, use_peephole=True, cell_clip=0.5)
GRUBlockCell: cell = R.GRUBlockCell(4)
GRUBlockCellV2: cell = R.GRUBlockCellV2(4)
CoupledInputForgetGateLSTMCell: cell = R.CoupledInputForgetGateLSTMCell(4)
CoupledInputForgetGateLSTMCell_all: cell = R.CoupledInputForgetGateLSTMCell(4, use_peepholes=True, num_proj=3, layer_norm=True)
TimeFreqLSTMCell: cell = R.TimeFreqLSTMCell(4, use_peepholes=True, feature_size=3, frequency_skip=1)
GridLSTMCell: cell = R.GridLSTMCell(4, feature_size=2, frequency_skip=1, num_frequency_blocks=[2])
GridLSTMCell_peephole: cell = R.GridLSTMCell(4, use_peepholes=True, share_time_frequency_weights=True, couple_input_forget_gates=True, feature_size=2, frequency_skip=1, num_frequency_blocks=[2], state_is_tuple=False)
BidirectionalGridLSTMCell: cell = R.BidirectionalGridLSTMCell(4, feature_size=2, frequency_skip=1, num_frequency_blocks=[2])
AttentionCellWrapper: cell = R.AttentionCellWrapper(R.GRUCell(4), 3)
AttentionCellWrapper_lstm: cell = R.AttentionCellWrapper(R.BasicLSTMCell(4), 3, attn_size=2, attn_vec_size=5)
HighwayWrapper: cell = R.HighwayWrapper(R.GRUCell(3))
HighwayWrapper_uncoupled: cell = R.HighwayWrapper(R.GRUCell(3), couple_carry_transform_gates=False)
ResidualWrapper: cell = R.ResidualWrapper(R.GRUCell(3))
DropoutWrapper: cell = R.DropoutWrapper(R.GRUCell(3), 1.0, 1.0)
MultiRNNCell: cell = R.MultiRNNCell([R.GRUCell(3), R.BasicLSTMCell(2)])
InputProjectionWrapper: cell = R.InputProjectionWrapper(R.GRUCell(3), 5, activation=tf.nn.relu)
OutputProjectionWrapper: cell = R.OutputProjectionWrapper(R.GRUCell(3), 2)
UGRNNCell: cell = R.UGRNNCell(4)
IntersectionRNNCell: cell = R.IntersectionRNNCell(3)
IntersectionRNNCell_in: cell = R.IntersectionRNNCell(4, num_in_proj=4)
NASCell: cell = R.NASCell(4)
NASCell_projected: cell = R.NASCell(4, num_proj=3, use_bias=True)
PhasedLSTMCell: cell = R.PhasedLSTMCell(4, use_peepholes=True); x = (tf.constant(data(2, 1)), x); fill = True
GLSTMCell: cell = R.GLSTMCell(4, number_of_groups=2); x = x4
GLSTMCell_projected: cell = R.GLSTMCell(4, number_of_groups=2, num_proj=2); x = x4
LayerNormBasicLSTMCell: cell = R.LayerNormBasicLSTMCell(4)
LayerNormBasicLSTMCell_plain: cell = R.LayerNormBasicLSTMCell(4, layer_norm=False)
SRUCell: cell = R.SRUCell(3)
IndRNNCell: cell = R.IndRNNCell(4)
IndyGRUCell: cell = R.IndyGRUCell(4)
IndyLSTMCell: cell = R.IndyLSTMCell(4)
Conv1DLSTMCell: cell = R.Conv1DLSTMCell(input_shape=[5, 2], output_channels=3, kernel_shape=[3]); x = tf.constant(data(2, 5, 2))
Conv2DLSTMCell: cell = R.Conv2DLSTMCell(input_shape=[5, 4, 2], output_channels=3, kernel_shape=[3, 3]); x = tf.constant(data(2, 5, 4, 2))
ConvLSTMCell: cell = R.ConvLSTMCell(1, input_shape=[5, 2], output_channels=3, kernel_shape=[3], use_bias=False); x = tf.constant(data(2, 5, 2))
CudnnCompatibleLSTMCell: cell = tf.contrib.cudnn_rnn.CudnnCompatibleLSTMCell(4)
CudnnCompatibleGRUCell: cell = tf.contrib.cudnn_rnn.CudnnCompatibleGRUCell(4)
EmbeddingWrapper: cell = R.EmbeddingWrapper(R.GRUCell(3), 5, 4); x = tf.constant([1, 3])
CompiledWrapper: cell = R.CompiledWrapper(R.GRUCell(3)); run = False
""", """R = tf.contrib.rnn
x, x4 = tf.constant(data(2, 3)), tf.constant(data(2, 4))""", """
state = cell.zero_state(2, tf.float32)
with tf.variable_scope("first"):
    y, state = cell(x, state)
    tf.get_variable_scope().reuse_variables()
    y, state = cell(x, state)
result = [y, state]""")

add("rnn", """
dynamic_rnn: result = tf.nn.dynamic_rnn(tf.nn.rnn_cell.BasicLSTMCell(3), x, dtype=tf.float32, sequence_length=[2, 4])
dynamic_rnn_multi: result = tf.nn.dynamic_rnn(tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.GRUCell(3), tf.nn.rnn_cell.LSTMCell(2)]), x, dtype=tf.float32)
bidirectional: result = tf.nn.bidirectional_dynamic_rnn(tf.nn.rnn_cell.GRUCell(3), tf.nn.rnn_cell.GRUCell(2), x, dtype=tf.float32)
static_rnn: result = tf.nn.static_rnn(tf.nn.rnn_cell.GRUCell(3), tf.unstack(x, axis=1), dtype=tf.float32)
static_bidirectional: result = tf.nn.static_bidirectional_rnn(tf.nn.rnn_cell.GRUCell(3), tf.nn.rnn_cell.GRUCell(2), tf.unstack(x, axis=1), dtype=tf.float32)
raw_rnn_free: result = tf.contrib.rnn.stack_bidirectional_dynamic_rnn([tf.nn.rnn_cell.GRUCell(3), tf.nn.rnn_cell.GRUCell(2)], [tf.nn.rnn_cell.GRUCell(3), tf.nn.rnn_cell.GRUCell(2)], x, dtype=tf.float32)
stack_bidirectional: result = tf.contrib.rnn.stack_bidirectional_rnn([tf.nn.rnn_cell.GRUCell(3)], [tf.nn.rnn_cell.GRUCell(3)], tf.unstack(x, axis=1), dtype=tf.float32)
fused: result = tf.contrib.rnn.LSTMBlockFusedCell(4)(tf.transpose(x, [1, 0, 2]), dtype=tf.float32, sequence_length=[2, 4])
fused_peephole: result = tf.contrib.rnn.LSTMBlockFusedCell(4, use_peephole=True, cell_clip=0.5)(tf.transpose(x, [1, 0, 2]), dtype=tf.float32)
reversed: result = tf.contrib.rnn.TimeReversedFusedRNN(tf.contrib.rnn.LSTMBlockFusedCell(4))(tf.transpose(x, [1, 0, 2]), dtype=tf.float32)
adaptor: result = tf.contrib.rnn.FusedRNNCellAdaptor(tf.contrib.rnn.GRUCell(4), use_dynamic_rnn=True)(tf.transpose(x, [1, 0, 2]), dtype=tf.float32)
adaptor_static: result = tf.contrib.rnn.FusedRNNCellAdaptor(tf.contrib.rnn.GRUCell(4))(tf.transpose(x, [1, 0, 2]), dtype=tf.float32)
cudnn_lstm: c = tf.contrib.cudnn_rnn.CudnnLSTM(2, 3); c.build([None, 2, 3]); run = False; result = []
cudnn_gru: c = tf.contrib.cudnn_rnn.CudnnGRU(1, 3); c.build([None, 2, 3]); run = False; result = []
""", "x = tf.constant(data(2, 4, 3))")

add("legacy_seq2seq", """
basic_rnn_seq2seq: result = S.basic_rnn_seq2seq(e, d, tf.contrib.rnn.GRUCell(3))
tied_rnn_seq2seq: result = S.tied_rnn_seq2seq(e, d, tf.contrib.rnn.GRUCell(3))
embedding_rnn_seq2seq: result = S.embedding_rnn_seq2seq(ei, di, tf.contrib.rnn.GRUCell(3), 5, 6, 4)
embedding_rnn_seq2seq_projected: result = S.embedding_rnn_seq2seq(ei, di, tf.contrib.rnn.BasicLSTMCell(3), 5, 6, 4, output_projection=(tf.constant(data(3, 6)), tf.constant(data(6))), feed_previous=True)
embedding_tied_rnn_seq2seq: result = S.embedding_tied_rnn_seq2seq(ei, di, tf.contrib.rnn.GRUCell(3), 6, 4)
embedding_attention_seq2seq: result = S.embedding_attention_seq2seq(ei, di, tf.contrib.rnn.GRUCell(3), 5, 6, 4)
embedding_attention_seq2seq_heads: result = S.embedding_attention_seq2seq(ei, di, tf.contrib.rnn.BasicLSTMCell(3), 5, 6, 4, num_heads=2, feed_previous=True)
attention_decoder: result = S.attention_decoder(d, tf.constant(data(2, 3)), tf.stack(e, 1), tf.contrib.rnn.GRUCell(3))
sequence_loss: result = [S.sequence_loss(e, ei, [tf.ones([2])] * 3), S.sequence_loss_by_example(e, ei, [tf.ones([2])] * 3)]
""", """S = tf.contrib.legacy_seq2seq
e = [tf.constant(data(2, 4)) + k for k in range(3)]
d = [tf.constant(data(2, 4)) - k for k in range(3)]
ei = [tf.constant(ids(4, 2) + k % 2) for k in range(3)]
di = [tf.constant(ids(4, 2) + 1) for k in range(3)]""")

add("seq2seq", """
training: h = S.TrainingHelper(x, n); result = S.dynamic_decode(S.BasicDecoder(cell, h, cell.zero_state(2, tf.float32), tf.layers.Dense(5)))
greedy: h = S.GreedyEmbeddingHelper(table, [1, 2], 0); result = S.dynamic_decode(S.BasicDecoder(cell, h, cell.zero_state(2, tf.float32), tf.layers.Dense(5)), maximum_iterations=4)
luong: c = A(S.LuongAttention(4, memory, [2, 5])); h = S.TrainingHelper(x, n); result = S.dynamic_decode(S.BasicDecoder(c, h, c.zero_state(2, tf.float32), tf.layers.Dense(5)))[0]
luong_scaled: c = A(S.LuongAttention(4, memory, scale=True)); h = S.TrainingHelper(x, n); result = S.dynamic_decode(S.BasicDecoder(c, h, c.zero_state(2, tf.float32)))[0]
bahdanau: c = A(S.BahdanauAttention(4, memory, [2, 5])); h = S.TrainingHelper(x, n); result = S.dynamic_decode(S.BasicDecoder(c, h, c.zero_state(2, tf.float32), tf.layers.Dense(5)))[0]
bahdanau_normed: c = A(S.BahdanauAttention(4, memory, normalize=True)); h = S.TrainingHelper(x, n); result = S.dynamic_decode(S.BasicDecoder(c, h, c.zero_state(2, tf.float32)))[0]
bahdanau_monotonic: c = A(S.BahdanauMonotonicAttention(4, memory, normalize=True, score_bias_init=-1.)); h = S.TrainingHelper(x, n); result = S.dynamic_decode(S.BasicDecoder(c, h, c.zero_state(2, tf.float32)))[0]
luong_monotonic: c = A(S.LuongMonotonicAttention(4, memory, scale=True)); h = S.TrainingHelper(x, n); result = S.dynamic_decode(S.BasicDecoder(c, h, c.zero_state(2, tf.float32)))[0]
two_attentions: c = S.AttentionWrapper(cell, [S.LuongAttention(4, memory), S.BahdanauAttention(3, memory)], [5, 6]); h = S.TrainingHelper(x, n); result = S.dynamic_decode(S.BasicDecoder(c, h, c.zero_state(2, tf.float32)))[0]
attention_named: c = S.AttentionWrapper(cell, S.LuongAttention(4, memory, name="Look"), name="wrap", alignment_history=True, output_attention=False); h = S.TrainingHelper(x, n); result = S.dynamic_decode(S.BasicDecoder(c, h, c.zero_state(2, tf.float32)), scope="decode")[0]
beam: b = S.BeamSearchDecoder(cell, table, [1, 2], 0, S.tile_batch(cell.zero_state(2, tf.float32), 3), 3, tf.layers.Dense(5, name="out")); result = S.dynamic_decode(b, maximum_iterations=3)[0].predicted_ids
beam_penalized: b = S.BeamSearchDecoder(cell, table, [1, 2], 0, S.tile_batch(cell.zero_state(2, tf.float32), 3), 3, tf.layers.Dense(5), length_penalty_weight=0.6, coverage_penalty_weight=0.0); result = S.dynamic_decode(b, maximum_iterations=3)[0].beam_search_decoder_output.scores
sequence_loss: result = [S.sequence_loss(x, tf.constant(ids(3, 2, 4)), tf.ones([2, 4])), S.sequence_loss(x, tf.constant(ids(3, 2, 4)), tf.ones([2, 4]), False, True), S.sequence_loss(x, tf.constant(ids(3, 2, 4)), tf.ones([2, 4]), False, False)]
sequence_loss_sums: result = S.sequence_loss(x, tf.constant(ids(3, 2, 4)), tf.ones([2, 4]), False, False, True, True)
sequence_loss_sum_batch: result = S.sequence_loss(x, tf.constant(ids(3, 2, 4)), tf.ones([2, 4]), average_across_timesteps=False, average_across_batch=False, sum_over_timesteps=False, sum_over_batch=True)
hardmax: result = S.hardmax(x)
safe_cumprod: result = S.safe_cumprod(tf.abs(x), axis=1, exclusive=True)
monotonic: result = [S.monotonic_attention(tf.abs(x[:, 0]), tf.nn.softmax(x[:, 1]), mode) for mode in ("recursive", "parallel", "hard")]
gather_tree: result = S.gather_tree(tf.constant(ids(3, 3, 1, 2)), tf.constant(ids(2, 3, 1, 2)), [3], 4)
tile_batch: result = S.tile_batch(x, 2)
""", """S = tf.contrib.seq2seq
x, n, memory, table = tf.constant(data(2, 4, 3)), [3, 4], tf.constant(data(2, 5, 4)), tf.constant(data(5, 3))
cell = tf.nn.rnn_cell.GRUCell(4)
A = lambda mechanism: S.AttentionWrapper(cell, mechanism, attention_layer_size=4)""")

add("crf", """
log_likelihood: result = C.crf_log_likelihood(x, t, n)
log_norm: result = C.crf_log_norm(x, n, w)
decode: result = C.crf_decode(x, w, n)
scores: result = [C.crf_sequence_score(x, t, n, w), C.crf_unary_score(t, n, x), C.crf_binary_score(t, n, w)]
multitag: result = C.crf_multitag_sequence_score(x, x > 0, n, w)
viterbi: result = C.viterbi_decode(data(4, 3), data(3, 3))
""", """C = tf.contrib.crf
x, t, n, w = tf.constant(data(2, 4, 3)), tf.constant(ids(3, 2, 4)), tf.constant([3, 4]), tf.constant(data(3, 3))""")

PREDICTIONS = """p, l, w = tf.constant(np.abs(data(3, 4))), tf.constant(ids(2, 3, 4)), tf.constant(np.abs(data(3, 4)))
f = tf.constant(data(3, 4)[::-1].copy())
k = tf.constant(np.array([[1], [2], [0]], np.int64))"""
METRIC = "\nresult, step = result\nsteps = [step, step]\nresult, named = [result, tf.local_variables()], step\nfill = False"
add("contrib.metrics", """
streaming_accuracy: result = M.streaming_accuracy(l, l[::-1])
streaming_auc: result = M.streaming_auc(p, l, num_thresholds=20)
streaming_auc_pr: result = M.streaming_auc(p, l, curve="PR", num_thresholds=20)
streaming_covariance: result = M.streaming_covariance(p, f)
streaming_false_negatives: result = M.streaming_false_negatives(l, l[::-1])
streaming_false_positives: result = M.streaming_false_positives(l, l[::-1])
streaming_true_positives: result = M.streaming_true_positives(l, l[::-1])
streaming_true_negatives: result = M.streaming_true_negatives(l, l[::-1])
streaming_false_negatives_at_thresholds: result = M.streaming_false_negatives_at_thresholds(p, l, [0.2, 0.6])
streaming_mean: result = M.streaming_mean(p, w)
streaming_mean_absolute_error: result = M.streaming_mean_absolute_error(p, f)
streaming_mean_cosine_distance: result = M.streaming_mean_cosine_distance(p, f, 1)
streaming_mean_iou: result = M.streaming_mean_iou(l, l[::-1], 2)
streaming_mean_relative_error: result = M.streaming_mean_relative_error(p, f, w)
streaming_mean_squared_error: result = M.streaming_mean_squared_error(p, f, w)
streaming_mean_tensor: result = M.streaming_mean_tensor(p)
streaming_pearson_correlation: result = M.streaming_pearson_correlation(p, f)
streaming_percentage_less: result = M.streaming_percentage_less(p, 0.5)
streaming_precision: result = M.streaming_precision(l, l[::-1])
streaming_recall: result = M.streaming_recall(l, l[::-1])
streaming_precision_at_thresholds: result = M.streaming_precision_at_thresholds(p, l, [0.2, 0.6])
streaming_recall_at_thresholds: result = M.streaming_recall_at_thresholds(p, l, [0.2, 0.6])
streaming_recall_at_k: result = M.streaming_recall_at_k(p, k[:, 0], 2)
streaming_root_mean_squared_error: result = M.streaming_root_mean_squared_error(p, f)
streaming_sensitivity_at_specificity: result = M.streaming_sensitivity_at_specificity(p, l, 0.5, num_thresholds=20)
streaming_specificity_at_sensitivity: result = M.streaming_specificity_at_sensitivity(p, l, 0.5, num_thresholds=20)
streaming_sparse_average_precision_at_k: result = M.streaming_sparse_average_precision_at_k(p, k, 2)
streaming_sparse_precision_at_k: result = M.streaming_sparse_precision_at_k(p, k, 2)
streaming_sparse_recall_at_k: result = M.streaming_sparse_recall_at_k(p, k, 2, class_id=1)
count: result = M.count(p, w)
streaming_concat: result = M.streaming_concat(p)
streaming_concat_axis: result = M.streaming_concat(p, axis=1, max_size=10)
cohen_kappa: result = M.cohen_kappa(l[:, 0], l[:, 2], 2)
cohen_kappa_weighted: result = M.cohen_kappa(tf.constant([0, 1, 2, 1]), tf.constant([0, 2, 2, 0]), 3, weights=tf.constant([1., 2., 3., 4.]))
f1_score: result = M.f1_score(l, p, num_thresholds=20)
f1_score_weighted: result = M.f1_score(l, p, w, num_thresholds=7, name="F")
precision_at_recall: result = M.precision_at_recall(l, p, 0.5, num_thresholds=20)
recall_at_precision: result = M.recall_at_precision(l, p, 0.5, num_thresholds=20)
recall_at_precision_strict: result = M.recall_at_precision(l, p, 0.99, num_thresholds=20, strict_mode=True)
streaming_curve_points: result = M.streaming_curve_points(l, p, w, num_thresholds=10)
streaming_curve_points_pr: result = M.streaming_curve_points(l, p, curve="PR", num_thresholds=10)
streaming_dynamic_auc: result = M.streaming_dynamic_auc(tf.reshape(l, [-1]), tf.reshape(p, [-1]))
streaming_dynamic_auc_pr: result = M.streaming_dynamic_auc(tf.reshape(l, [-1]), tf.reshape(p, [-1]), curve="PR")
streaming_false_negative_rate: result = M.streaming_false_negative_rate(l, l[::-1])
streaming_false_positive_rate: result = M.streaming_false_positive_rate(l, l[::-1], w)
streaming_false_negative_rate_at_thresholds: result = M.streaming_false_negative_rate_at_thresholds(p, l, [0.2, 0.6])
streaming_false_positive_rate_at_thresholds: result = M.streaming_false_positive_rate_at_thresholds(p, l, [0.2, 0.6])
streaming_sparse_precision_at_top_k: result = M.streaming_sparse_precision_at_top_k(tf.constant([[1, 2], [0, 3], [0, 1]], tf.int64), k)
streaming_sparse_average_precision_at_top_k: result = M.streaming_sparse_average_precision_at_top_k(tf.constant([[1, 2], [0, 3], [0, 1]], tf.int64), k)
sparse_recall_at_top_k: result = M.sparse_recall_at_top_k(k, tf.constant([[1, 2], [0, 3], [0, 1]], tf.int64))
precision_recall_at_equal_thresholds: result = M.precision_recall_at_equal_thresholds(tf.cast(l, tf.bool), p, num_thresholds=6)
auc_with_confidence_intervals: result = M.auc_with_confidence_intervals(tf.reshape(l, [-1]), tf.reshape(p, [-1]))
auc_using_histogram: result = M.auc_using_histogram(tf.reshape(l > 0, [-1]), tf.reshape(p, [-1]), (0., 1.), nbins=20)
""", "M = tf.contrib.metrics\n" + PREDICTIONS, METRIC)
add("contrib.metrics.plain", """
accuracy: result = M.accuracy(l, l[::-1])
confusion_matrix: result = M.confusion_matrix(k[:, 0], [1, 0, 2])
sets: result = [M.set_size(tf.sparse.from_dense(l)), M.set_intersection(l, l[::-1]), M.set_union(l, l + 1), M.set_difference(l, l + 1)]
""", "M = tf.contrib.metrics\n" + PREDICTIONS)
add("metrics", """
accuracy: result = M.accuracy(l, l[::-1])
auc: result = M.auc(l, p, num_thresholds=20)
auc_careful: result = M.auc(l, p, num_thresholds=20, curve="PR", summation_method="careful_interpolation")
average_precision_at_k: result = M.average_precision_at_k(k, p, 2)
false_negatives: result = M.false_negatives(l, l[::-1])
false_positives_at_thresholds: result = M.false_positives_at_thresholds(l, p, [0.2, 0.6])
mean: result = M.mean(p, w)
mean_cosine_distance: result = M.mean_cosine_distance(p, f, 1)
mean_iou: result = M.mean_iou(l, l[::-1], 2)
mean_per_class_accuracy: result = M.mean_per_class_accuracy(l, l[::-1], 2)
mean_relative_error: result = M.mean_relative_error(p, f, w)
mean_squared_error: result = M.mean_squared_error(p, f)
mean_tensor: result = M.mean_tensor(p)
percentage_below: result = M.percentage_below(p, 0.5)
precision: result = M.precision(l, l[::-1])
precision_at_k: result = M.precision_at_k(k, p, 2)
precision_at_thresholds: result = M.precision_at_thresholds(l, p, [0.2, 0.6])
recall: result = M.recall(l, l[::-1], w)
recall_at_k: result = M.recall_at_k(k, p, 2)
recall_at_thresholds: result = M.recall_at_thresholds(l, p, [0.2, 0.6])
root_mean_squared_error: result = M.root_mean_squared_error(p, f)
sensitivity_at_specificity: result = M.sensitivity_at_specificity(l, p, 0.5, num_thresholds=20)
specificity_at_sensitivity: result = M.specificity_at_sensitivity(l, p, 0.5, num_thresholds=20)
true_negatives: result = M.true_negatives(l, l[::-1])
""", "M = tf.metrics\n" + PREDICTIONS, METRIC)

LOSS = """p, t, l = tf.constant(data(3, 4)), tf.constant(data(4, 3).reshape(3, 4) ** 2), tf.constant(ids(4, 3))
h = tf.one_hot(l, 4)"""
add("losses", """
absolute_difference: result = tf.losses.absolute_difference(t, p)
cosine_distance: result = tf.losses.cosine_distance(t, p, axis=1)
hinge_loss: result = tf.losses.hinge_loss(h, p)
huber_loss: result = tf.losses.huber_loss(t, p, delta=0.5)
log_loss: result = tf.losses.log_loss(h, tf.sigmoid(p))
mean_pairwise_squared_error: result = tf.losses.mean_pairwise_squared_error(t, p)
mean_squared_error: result = tf.losses.mean_squared_error(t, p, weights=[[0.5], [0.], [2.]])
sigmoid_cross_entropy: result = tf.losses.sigmoid_cross_entropy(h, p, label_smoothing=0.1)
softmax_cross_entropy: result = tf.losses.softmax_cross_entropy(h, p, label_smoothing=0.1, scope="xent")
sparse_softmax_cross_entropy: result = tf.losses.sparse_softmax_cross_entropy(l, p, reduction=tf.losses.Reduction.MEAN)
total: tf.losses.mean_squared_error(t, p); tf.layers.dense(p, 2, kernel_regularizer=tf.contrib.layers.l2_regularizer(0.1)); result = tf.losses.get_total_loss()
contrib_absolute_difference: result = C.absolute_difference(p, t)
contrib_cosine_distance: result = C.cosine_distance(p, t, 1)
contrib_hinge_loss: result = C.hinge_loss(p, h)
contrib_log_loss: result = C.log_loss(tf.sigmoid(p), h)
contrib_mean_pairwise_squared_error: result = C.mean_pairwise_squared_error(p, t)
contrib_mean_squared_error: result = C.mean_squared_error(p, t, weights=[0.5, 0., 2.])
contrib_sigmoid_cross_entropy: result = C.sigmoid_cross_entropy(p, h)
contrib_softmax_cross_entropy: result = C.softmax_cross_entropy(p, h, label_smoothing=0.1)
contrib_sparse_softmax_cross_entropy: result = C.sparse_softmax_cross_entropy(p, l)
contrib_total: C.mean_squared_error(p, t); result = [C.get_total_loss(), C.get_losses()]
contrib_compute_weighted_loss: result = C.compute_weighted_loss(p, weights=0.5)
contrastive_loss: result = D.contrastive_loss(tf.constant([0, 1, 0]), p, t)
triplet_semihard_loss: result = D.triplet_semihard_loss(tf.constant([0, 1, 0]), p)
npairs_loss: result = D.npairs_loss(tf.constant([0, 1, 0]), p, t)
npairs_loss_multilabel: result = D.npairs_loss_multilabel([tf.SparseTensor([[0]], [1], [3]), tf.SparseTensor([[1]], [1], [3]), tf.SparseTensor([[0], [1]], [1, 1], [3])], p, t)
lifted_struct_loss: result = D.lifted_struct_loss(tf.constant([0, 1, 0, 1]), tf.constant(data(4, 3)))
cluster_loss: result = D.cluster_loss(tf.constant([0, 1, 0, 1, 2, 2]), tf.constant(data(6, 3)), 1.0)
cluster_loss_gradient: x = tf.constant(data(6, 3)); result = tf.gradients(D.cluster_loss(tf.constant([0, 1, 0, 1, 2, 2]), x, 1.0), x)
lifted_struct_gradient: x = tf.constant(data(6, 3)); result = tf.gradients(D.lifted_struct_loss(tf.constant([0, 1, 0, 1, 2, 2]), x), x)
""", "C, D = tf.contrib.losses, tf.contrib.losses.metric_learning\n" + LOSS)

STEPS = """
x = tf.get_variable("v", [2, 3], initializer=tf.ones_initializer())
y = tf.get_variable("scope/rows", [4, 2], initializer=tf.ones_initializer())
loss = tf.reduce_sum(x ** 2) + tf.reduce_sum(tf.gather(y, [0, 2, 2]) ** 3)
step = tf.train.get_or_create_global_step()
"""
AFTER = """
with tf.control_dependencies(None):
    train = o.minimize(loss, global_step=step)
starts = [tf.assign(x, data(2, 3)), tf.assign(y, data(4, 2))]
fill = False
steps = [starts, train, train, train]
result = tf.global_variables()"""
add("optimizers", """
GradientDescent: o = tf.train.GradientDescentOptimizer(0.1)
Momentum: o = tf.train.MomentumOptimizer(0.1, 0.9)
Nesterov: o = tf.train.MomentumOptimizer(0.1, 0.9, use_nesterov=True)
Adam: o = tf.train.AdamOptimizer(0.1)
Adagrad: o = tf.train.AdagradOptimizer(0.1)
AdagradDA: o = tf.train.AdagradDAOptimizer(0.1, step)
Adadelta: o = tf.train.AdadeltaOptimizer(0.1)
RMSProp: o = tf.train.RMSPropOptimizer(0.1, momentum=0.5)
RMSProp_centered: o = tf.train.RMSPropOptimizer(0.1, centered=True)
Ftrl: o = tf.train.FtrlOptimizer(0.1, l1_regularization_strength=0.01, l2_shrinkage_regularization_strength=0.01)
ProximalGradientDescent: o = tf.train.ProximalGradientDescentOptimizer(0.1, 0.01, 0.01)
ProximalAdagrad: o = tf.train.ProximalAdagradOptimizer(0.1, l1_regularization_strength=0.01)
AdaMax: o = tf.contrib.opt.AdaMaxOptimizer(0.1)
AdamGS: o = tf.contrib.opt.AdamGSOptimizer(step, 0.1)
AdamW: o = tf.contrib.opt.AdamWOptimizer(0.01, 0.1); run = False
AddSign: o = tf.contrib.opt.AddSignOptimizer(0.1)
AddSign_alpha: o = tf.contrib.opt.AddSignOptimizer(0.1, alpha=2.)
LARS: o = tf.contrib.opt.LARSOptimizer(0.1, skip_list=["rows"])
LazyAdam: o = tf.contrib.opt.LazyAdamOptimizer(0.1)
LazyAdamGS: o = tf.contrib.opt.LazyAdamGSOptimizer(step, 0.1)
MomentumW: o = tf.contrib.opt.MomentumWOptimizer(0.01, 0.1, 0.9); run = False
MovingAverage: o = tf.contrib.opt.MovingAverageOptimizer(tf.train.GradientDescentOptimizer(0.1), 0.5)
Nadam: o = tf.contrib.opt.NadamOptimizer(0.1)
PowerSign: o = tf.contrib.opt.PowerSignOptimizer(0.1)
RegAdagrad: o = tf.contrib.opt.RegAdagradOptimizer(0.1)
VariableClipping: o = tf.contrib.opt.VariableClippingOptimizer(tf.train.GradientDescentOptimizer(0.1), {x: [1]}, 0.2)
extended: o = tf.contrib.opt.extend_with_decoupled_weight_decay(tf.train.AdagradOptimizer)(0.01, learning_rate=0.1); run = False
Shampoo: o = tf.contrib.opt.ShampooOptimizer(step, learning_rate=0.1)
GGT: o = tf.contrib.opt.GGTOptimizer(0.1)
Multitask: o = tf.contrib.opt.MultitaskOptimizerWrapper(tf.train.MomentumOptimizer(0.1, 0.9))
""", STEPS, AFTER)
add("averages", """
ema: e = tf.train.ExponentialMovingAverage(0.5); steps = [tf.assign(x, data(2, 3)), e.apply([x])]; result = tf.global_variables()
ema_debias: e = tf.train.ExponentialMovingAverage(0.5, zero_debias=True); z = x * 2; steps = [e.apply([z, x])]; result = [e.average(z), e.average_name(x), sorted(e.variables_to_restore())]
moving: from_ = tf.contrib.distributions; m = tf.get_variable("m", [3], trainable=False, initializer=tf.zeros_initializer()); v = tf.get_variable("va", [3], trainable=False, initializer=tf.zeros_initializer()); result = from_.assign_moving_mean_variance(m, v, tf.constant(data(3)), 0.5)
clip: g = tf.gradients(tf.reduce_sum(x ** 2), [x]); result = tf.contrib.training.clip_gradient_norms(list(zip(g, [x])), 0.1)
create_train_op: loss = tf.reduce_sum(x ** 2); result = tf.contrib.training.create_train_op(loss, tf.train.GradientDescentOptimizer(0.1))
slim_train_op: loss = tf.reduce_sum(x ** 2); result = tf.contrib.slim.learning.create_train_op(loss, tf.train.MomentumOptimizer(0.1, 0.9), clip_gradient_norm=1., summarize_gradients=True)
""", 'x = tf.get_variable("v", [2, 3])', "run = False")

add("nets", """
alexnet: result = N.alexnet.alexnet_v2(x(224), 10, is_training=False)
vgg_a: result = N.vgg.vgg_a(x(224), 10, is_training=False)
vgg_16: result = N.vgg.vgg_16(x(224), 10)
vgg_19: result = N.vgg.vgg_19(x(224), None)
overfeat: result = N.overfeat.overfeat(x(231), 10)
inception_v1: result = N.inception.inception_v1(x(224), 10)
inception_v2: result = N.inception.inception_v2(x(224), 10, is_training=False)
inception_v3: result = N.inception.inception_v3(x(299), 10)
inception_v3_scoped: scope = N.inception.inception_v3_arg_scope(); manager = tf.contrib.slim.arg_scope(scope); manager.__enter__(); result = N.inception.inception_v3(x(299), 10); manager.__exit__(None, None, None)
resnet_v1_50: result = N.resnet_v1.resnet_v1_50(x(224), 10)
resnet_v2_50: result = N.resnet_v2.resnet_v2_50(x(224), 10, output_stride=16, global_pool=False)
resnet_v1_101: scope = N.resnet_utils.resnet_arg_scope(); manager = tf.contrib.slim.arg_scope(scope); manager.__enter__(); result = N.resnet_v1.resnet_v1_101(x(224), 10, is_training=False); manager.__exit__(None, None, None)
""", 'N = nets()\nx = lambda size: tf.placeholder(tf.float32, [2, size, size, 3], name="x")', "run = False")
add("slim", """
arg_scope: manager = slim.arg_scope([slim.conv2d, slim.fully_connected], weights_regularizer=slim.l2_regularizer(0.1), normalizer_fn=slim.batch_norm); manager.__enter__(); result = slim.fully_connected(slim.flatten(slim.conv2d(x, 3, [3, 3], scope="c")), 4, scope="f"); manager.__exit__(None, None, None)
variables: slim.conv2d(x, 2, 1); result = [[v.op.name for v in slim.get_model_variables()], [v.op.name for v in slim.get_variables_to_restore(exclude=["Conv/biases"])], [v.op.name for v in slim.get_variables(scope="Conv")]]
model_variable: v = slim.model_variable("m", [2], regularizer=slim.l2_regularizer(0.1)); w = slim.variable("w", [2]); result = slim.local_variable(tf.ones([2]), name="l")
total: slim.losses.mean_squared_error(x, x * 2); result = slim.losses.get_total_loss()
stack: result = slim.stack(x, slim.conv2d, [(3, 1), (2, 3)], scope="s")
separable: result = slim.separable_conv2d(x, None, [3, 3], 1, scope="dw", normalizer_fn=slim.batch_norm)
""", "slim = tf.contrib.slim\nx = tf.constant(data(2, 4, 4, 2))")

add("framework", """
remove_squeezable_dimensions: result = F.remove_squeezable_dimensions(tf.constant(data(3, 1)), tf.constant(data(3)))
remove_squeezable_dimensions_keywords: result = F.remove_squeezable_dimensions(predictions=tf.constant(data(3)), labels=tf.constant(data(3, 1)))
smart_cond: result = F.smart_cond(tf.constant(True), lambda: tf.constant(1), lambda: tf.constant(2))
reduce_sum_n: result = F.reduce_sum_n([tf.constant(data(3)), tf.constant(data(2, 2))])
variable: v = F.variable("v", [2, 3], initializer=tf.ones_initializer(), collections=["mine", "variables"]); result = v
model_variable: v = F.model_variable("v", [2, 3], initializer=tf.ones_initializer()); result = v
names: F.model_variable("a/v", [2]); F.variable("b/v", [2]); result = [[v.name for v in F.get_variables_by_suffix("v")], F.get_unique_variable("a/v").name]
sort: result = [F.sort(tf.constant(data(5))), F.argsort(tf.constant(data(5)), direction="DESCENDING")]
assert_scalar: result = F.assert_scalar(tf.constant(3))
with_shape: result = F.with_shape([2, 3], tf.constant(data(2, 3)))
with_same_shape: result = F.with_same_shape(tf.constant(data(2, 3)), tf.constant(data(2, 3)))
prepend: result = [F.prepend_name_scope("a", "b"), F.strip_name_scope("b/a", "b")]
""", "F = tf.contrib.framework")

add("contrib.nn", """
alpha_dropout: result = N.alpha_dropout(tf.constant(data(3)), 1.0)
conv1d_transpose: result = N.conv1d_transpose(tf.constant(data(1, 4, 2)), tf.constant(data(3, 3, 2)), [1, 8, 3], 2)
nth_element: result = N.nth_element(tf.constant(data(2, 5)), 1)
scaled_softplus: result = N.scaled_softplus(tf.constant(data(5)), alpha=2.0)
scaled_softplus_clipped: result = N.scaled_softplus(tf.constant(4 * data(5)), alpha=2.0, clip=1.5)
flipped_sigmoid: result = N.deprecated_flipped_sigmoid_cross_entropy_with_logits(tf.constant(data(3)), tf.constant(data(3) ** 2))
flipped_softmax: result = N.deprecated_flipped_softmax_cross_entropy_with_logits(tf.constant(data(2, 3)), tf.constant(data(2, 3) ** 2))
flipped_sparse: result = N.deprecated_flipped_sparse_softmax_cross_entropy_with_logits(tf.constant(data(2, 3)), tf.constant([1, 2]))
""", "N = tf.contrib.nn")
add("contrib.more", """
sparsemax: result = tf.contrib.sparsemax.sparsemax(tf.constant(2 * data(3, 4)))
sparsemax_loss: z = tf.constant(2 * data(3, 4)); result = tf.contrib.sparsemax.sparsemax_loss(z, tf.contrib.sparsemax.sparsemax(z), tf.one_hot([1, 0, 2], 4))
sparsemax_gradient: z = tf.constant(2 * data(3, 4)); result = tf.gradients(tf.contrib.sparsemax.sparsemax(z) ** 2, z)
resampler: result = tf.contrib.resampler.resampler(tf.constant(data(2, 5, 4, 3)), tf.constant(3 * np.abs(data(2, 6, 2))))
resampler_gradient: x, w = tf.constant(data(2, 5, 4, 3)), tf.constant(3 * np.abs(data(2, 6, 2))); result = tf.gradients(tf.contrib.resampler.resampler(x, w) ** 2, [x, w])
resampler_outside: result = tf.contrib.resampler.resampler(tf.constant(data(1, 3, 3, 1)), tf.constant([[-0.5, 0.5], [2.5, 1.0], [5., 5.], [-1., -1.]])[None])
odeint: result = tf.contrib.integrate.odeint(lambda y, t: -y * t, tf.constant([1., 2.]), tf.constant([0., 0.5, 1.]))
odeint_info: result = tf.contrib.integrate.odeint(lambda y, t: -y, tf.constant([1., 2.], tf.float64), tf.constant([0., 0.5, 1.], tf.float64), full_output=True)
odeint_fixed: result = tf.contrib.integrate.odeint_fixed(lambda y, t: -y, tf.constant([1., 2.], tf.float64), tf.constant([0., 0.5, 1.], tf.float64), dt=0.25)
odeint_midpoint: result = tf.contrib.integrate.odeint_fixed(lambda y, t: -y * t, tf.constant([1., 2.]), tf.constant([0., 0.5, 1.]), method="midpoint")
conjugate_gradient: result = solver(tf.contrib.solvers.linear_equations.conjugate_gradient, True)
transform: result = tf.contrib.image.transform(tf.constant(data(2, 4, 5, 1)), [1, 0.1, 0.5, 0, 1, -0.5, 0, 0])
rotate: result = tf.contrib.image.rotate(tf.constant(data(2, 4, 5, 1)), 0.3, "BILINEAR")
translate: result = tf.contrib.image.translate(tf.constant(data(2, 4, 5, 1)), [1., 2.])
dense_image_warp: result = tf.contrib.image.dense_image_warp(tf.constant(data(1, 4, 5, 2)), tf.constant(data(1, 4, 5, 2)))
connected_components: result = tf.contrib.image.connected_components(tf.constant(ids(2, 4, 5)))
bipartite_match: result = tf.contrib.image.bipartite_match(tf.constant(data(3, 4)), 3)
interpolate_spline: result = tf.contrib.image.interpolate_spline(tf.constant(data(1, 5, 2)), tf.constant(data(1, 5, 1)), tf.constant(data(1, 3, 2)), 2)
lookup: t = tf.contrib.lookup.index_table_from_tensor(["a", "b"], num_oov_buckets=2); result = t.lookup(tf.constant(["b", "zz", "a"]))
lookup_back: t = tf.contrib.lookup.index_to_string_table_from_tensor(["a", "b"], "U"); result = t.lookup(tf.constant([1, 7, 0], tf.int64))
percentile: result = tf.contrib.distributions.percentile(tf.constant(data(7)), 20.)
kappa: result = tf.contrib.distributions.kl_divergence(tf.contrib.distributions.Normal(0., 1.), tf.contrib.distributions.Normal(1., 2.))
""", "def solver(solve, *_):\n    a = np.eye(3, dtype=np.float32) * 3 + 1\n    import collections\n    o = collections.namedtuple('LinearOperator', 'shape dtype apply apply_adjoint')(a.shape, tf.float32, lambda v: tf.matmul(a, v), lambda v: tf.matmul(a, v, transpose_a=True))\n    return list(solve(o, tf.constant([1., 2., 3.]), max_iter=5))[:3]")

COLUMNS = """F, L = tf.feature_column, tf.contrib.layers
features = {"n": tf.constant(data(3, 2)), "w": tf.constant([["a"], ["c"], ["b"]]), "i": tf.constant([[1], [3], [2]], tf.int64)}
number, words = F.numeric_column("n", shape=2), F.categorical_column_with_vocabulary_list("w", ["a", "b", "c"])
many, exact = F.categorical_column_with_hash_bucket("w", 7), F.categorical_column_with_identity("i", 5)"""
add("feature_column", """
numeric: result = F.input_layer(features, [number])
indicator: result = F.input_layer(features, [F.indicator_column(words), number])
embedding: result = F.input_layer(features, [F.embedding_column(words, 4), F.embedding_column(exact, 3)])
shared: result = F.input_layer(features, F.shared_embedding_columns([many, F.categorical_column_with_hash_bucket("i2", 7)], 3)[:1])
bucketized: result = F.input_layer(features, [F.bucketized_column(F.numeric_column("n", shape=2), [-0.5, 0.5])])
crossed: result = F.input_layer(features, [F.indicator_column(F.crossed_column(["w", F.categorical_column_with_identity("i", 5)], 6))])
linear_model: result = F.linear_model(features, [number, words, exact, F.bucketized_column(F.numeric_column("n", shape=2), [0.])])
linear_units: result = F.linear_model(features, [number, exact], units=3, sparse_combiner="mean")
contrib_input: result = L.input_from_feature_columns({"n": features["n"]}, [L.real_valued_column("n", 2)])
contrib_embedding: result = L.input_from_feature_columns({"w": sparse}, [L.embedding_column(L.sparse_column_with_hash_bucket("w", 7), 3)])
contrib_linear: result = L.weighted_sum_from_feature_columns({"w": sparse, "n": features["n"]}, [L.sparse_column_with_keys("w", ["a", "b", "c"]), L.real_valued_column("n", 2), L.bucketized_column(L.real_valued_column("n", 2), [0.])], 2)
""", COLUMNS + '\nsparse = tf.SparseTensor([[0, 0], [1, 0], [2, 0]], ["a", "c", "b"], [3, 1])')

add("estimator", """
LinearClassifier: e = E.LinearClassifier([number, words])
LinearRegressor: e = E.LinearRegressor([number, many])
DNNClassifier: e = E.DNNClassifier([4, 3], [number, F.indicator_column(words)], n_classes=3)
DNNClassifier_norm: e = E.DNNClassifier([4], [number], batch_norm=True, optimizer="Adam")
DNNRegressor: e = E.DNNRegressor([4], [number, F.embedding_column(many, 2)])
DNNLinearCombinedClassifier: e = E.DNNLinearCombinedClassifier(linear_feature_columns=[words], dnn_feature_columns=[number], dnn_hidden_units=[3])
BaselineClassifier: e = E.BaselineClassifier()
BaselineRegressor: e = E.BaselineRegressor()
""", COLUMNS.replace("features = ", "features = lambda: ") + """
E = tf.estimator""", """
with tf.Graph().as_default() as g:
    step = tf.train.get_or_create_global_step()
    spec = e.model_fn(features(), tf.constant([[1], [0], [1]]), "train", e.config)
    found = [[v.name, v.shape.as_list()] for v in tf.global_variables()]
    collections = {k: sorted(getattr(i, "name", "") for i in tf.get_collection(k)) for k in ("losses", "summaries", "trainable_variables")}
result = [repr(found), repr(collections)]""")

add("keras", """
dense: m = K.Sequential([K.layers.Dense(3, input_shape=(4,), activation="relu"), K.layers.Dense(2)]); result = m(tf.constant(data(2, 4)))
conv: m = K.Sequential([K.layers.Conv2D(3, 2, input_shape=(5, 5, 2)), K.layers.BatchNormalization(), K.layers.MaxPooling2D(), K.layers.Flatten(), K.layers.Dense(2)]); result = m(tf.constant(data(2, 5, 5, 2)))
lstm: m = K.Sequential([K.layers.LSTM(3, input_shape=(4, 2), return_sequences=True), K.layers.GRU(2)]); result = m(tf.constant(data(2, 4, 2)))
bidirectional: m = K.Sequential([K.layers.Bidirectional(K.layers.LSTM(3), input_shape=(4, 2))]); result = m(tf.constant(data(2, 4, 2)))
simple: m = K.Sequential([K.layers.SimpleRNN(3, input_shape=(4, 2))]); result = m(tf.constant(data(2, 4, 2)))
embedding: m = K.Sequential([K.layers.Embedding(5, 3, input_length=4), K.layers.GlobalAveragePooling1D()]); result = m(tf.constant(ids(5, 2, 4)))
functional: i = K.Input((4,), name="in"); y = K.layers.concatenate([K.layers.Dense(3, name="a")(i), K.layers.Dense(2)(i)]); result = K.Model(i, y)(tf.constant(data(2, 4)))
separable: m = K.Sequential([K.layers.SeparableConv2D(3, 2, input_shape=(5, 5, 2)), K.layers.DepthwiseConv2D(2), K.layers.Conv2DTranspose(2, 2)]); result = m(tf.constant(data(2, 5, 5, 2)))
transpose3d: m = K.Sequential([K.layers.Conv3DTranspose(2, 2, strides=2, output_padding=1, input_shape=(2, 2, 2, 1))]); result = m(tf.constant(data(1, 2, 2, 2, 1)))
layer_norm: m = K.Sequential([K.layers.LayerNormalization(input_shape=(4,)), K.layers.PReLU()]); result = m(tf.constant(data(2, 4)))
attention: result = K.layers.Attention(use_scale=True)([tf.constant(data(2, 3, 4)), tf.constant(data(2, 5, 4))])
additive: result = K.layers.AdditiveAttention()([tf.constant(data(2, 3, 4)), tf.constant(data(2, 5, 4))])
activations: result = [K.activations.get(n)(tf.constant(data(5))) for n in ("elu", "selu", "softplus", "softsign", "hard_sigmoid", "exponential", "tanh")]
losses: result = [K.losses.get(n)(tf.constant(np.abs(data(2, 3))), tf.constant(np.abs(data(3, 2).reshape(2, 3)))) for n in ("mse", "mae", "mape", "msle", "hinge", "squared_hinge", "categorical_hinge", "logcosh", "kld", "poisson", "cosine_similarity", "categorical_crossentropy", "binary_crossentropy")]
""", "K = tf.keras\nK.backend.clear_session()")
