"""Typical lines of TensorFlow 1 programs: pyright must know every name and find no fault (test_stubs.py)."""
# ruff: noqa: UP031
import numpy as np

import tfnb as tf

tf.set_random_seed(1)
flags = tf.app.flags
flags.DEFINE_integer("steps", 10, "Number of steps")
FLAGS = flags.FLAGS
learning_rate = 0.01
x = tf.placeholder(tf.float32, [None, 784], name="x")
y_ = tf.placeholder(tf.float32, shape=(None, 10))
keep_prob = tf.placeholder("float")
W = tf.Variable(tf.zeros([784, 10]), name="W")
b = tf.Variable(tf.random_normal([10], stddev=0.1))
logits = tf.matmul(x, W) + b
y = tf.nn.softmax(logits)
cross_entropy = -tf.reduce_sum(y_ * tf.log(y + 1e-10), axis=1)
loss = tf.reduce_mean(cross_entropy)
loss2 = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(labels=y_, logits=logits))
train_op = tf.train.GradientDescentOptimizer(learning_rate).minimize(loss)
global_step = tf.train.get_or_create_global_step()
rate = tf.train.exponential_decay(0.1, global_step, 100, 0.96, staircase=True)
optimizer = tf.train.AdamOptimizer(rate)
grads_and_vars = optimizer.compute_gradients(loss)
clipped = [(tf.clip_by_value(g, -1., 1.), v) for g, v in grads_and_vars]
apply_op = optimizer.apply_gradients(clipped, global_step=global_step)
correct = tf.equal(tf.argmax(y, 1), tf.argmax(y_, 1))
accuracy = tf.reduce_mean(tf.cast(correct, tf.float32))
tf.summary.scalar("loss", loss)
tf.summary.histogram("W", W)
merged = tf.summary.merge_all()
with tf.name_scope("conv"):
    image = tf.reshape(x, [-1, 28, 28, 1])
    kernel = tf.get_variable("kernel", [5, 5, 1, 32], initializer=tf.truncated_normal_initializer(stddev=0.1))
    h = tf.nn.relu(tf.nn.conv2d(image, kernel, strides=[1, 1, 1, 1], padding="SAME"))
    p = tf.nn.max_pool(h, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="SAME")
    flat = tf.layers.flatten(p)
    d = tf.layers.dense(flat, 64, activation=tf.nn.relu)
    dropped = tf.nn.dropout(d, keep_prob=keep_prob)
with tf.variable_scope("model", reuse=tf.AUTO_REUSE) as scope:
    w2 = tf.get_variable("w", shape=[64, 10], dtype=tf.float32)
    print(scope.name)
cell = tf.nn.rnn_cell.BasicLSTMCell(16)
seq = tf.placeholder(tf.float32, [None, 5, 3])
outputs, state = tf.nn.dynamic_rnn(cell, seq, dtype=tf.float32)
last = outputs[:, -1]
embedding = tf.get_variable("emb", [100, 8])
looked = tf.nn.embedding_lookup(embedding, [1, 2])
nce = tf.nn.nce_loss(weights=embedding, biases=tf.zeros([100]), labels=[[1], [2]], inputs=looked, num_sampled=3,
                     num_classes=100)
saver = tf.train.Saver(max_to_keep=3)
init = tf.global_variables_initializer()
config = tf.ConfigProto(allow_soft_placement=True)
config.gpu_options.allow_growth = True
with tf.Session(config=config) as sess:
    sess.run(init)
    writer = tf.summary.FileWriter("logs", sess.graph)
    for step in range(10):
        batch = np.random.rand(32, 784).astype(np.float32)
        feed = {x: batch, y_: np.zeros((32, 10), np.float32), keep_prob: 0.5}
        _, value, summary = sess.run([train_op, loss, merged], feed_dict=feed)
        writer.add_summary(summary, step)
        if step % 5 == 0:
            print("step %d loss %.3f" % (step, value))
    saver.save(sess, "model", global_step=10)
    print(accuracy.eval(feed_dict={x: np.zeros((1, 784)), y_: np.zeros((1, 10))}))
    print(W.eval(), W.name, W.op.name, W.get_shape().as_list(), loss.op.type)
dataset = tf.data.Dataset.from_tensor_slices(np.arange(10)).map(lambda v: v * 2).batch(3).repeat()
iterator = dataset.make_one_shot_iterator()
item = iterator.get_next()
counter = tf.constant(0)
result = tf.while_loop(lambda i: i < 10, lambda i: i + 1, [counter])
z = tf.cond(loss > 1.0, lambda: loss * 2, lambda: loss - 1)
q = tf.FIFOQueue(10, [tf.float32], shapes=[[]])
enqueue = q.enqueue([1.0])
coord = tf.train.Coordinator()
threads = tf.train.start_queue_runners(coord=coord)
coord.request_stop()
coord.join(threads)
a = tf.constant([[1., 2.], [3., 4.]])
c = a[0, 1] + a[:, tf.newaxis] * 2 - 1 / a ** 2
c2 = tf.transpose(a) @ a
m = -a
mask = (a > 1) & (a < 3)
n = tf.concat([a, a], axis=0)
s = tf.stack([a, a])
u = tf.unstack(s)
e = tf.expand_dims(a, 0)
sq = tf.squeeze(e)
print(a.shape, a.dtype, a.get_shape(), a.graph, tf.get_default_graph().get_operations())
for v in tf.trainable_variables():
    print(v.name, v.shape)
ema = tf.train.ExponentialMovingAverage(0.99)
maintain = ema.apply([W])
with tf.control_dependencies([train_op]):
    done = tf.no_op(name="done")
update = tf.assign(W, W * 0.9)
add = W.assign_add(tf.ones([784, 10]))
g = tf.gradients(loss, [W, b])
norm, _n = tf.clip_by_global_norm(g, 5.0)
sparse = tf.SparseTensor(indices=[[0, 0]], values=[1.0], dense_shape=[2, 2])
dense = tf.sparse_tensor_to_dense(sparse)
oh = tf.one_hot([1, 2], depth=5)
feature = tf.train.Feature(int64_list=tf.train.Int64List(value=[1]))
ex = tf.train.Example(features=tf.train.Features(feature={"a": feature}))
with tf.python_io.TFRecordWriter("x.tfrecord") as w3:
    w3.write(ex.SerializeToString())
graph = tf.Graph()
with graph.as_default():
    k = tf.constant(3.0)
try:
    pass
except tf.errors.OutOfRangeError:
    pass
tf.logging.set_verbosity(tf.logging.INFO)
tf.logging.info("hello %s", "x")
reg = tf.contrib.layers.l2_regularizer(0.1)
xav = tf.contrib.layers.xavier_initializer()
fc = tf.contrib.layers.fully_connected(a, 3, activation_fn=tf.nn.tanh)
gl = tf.global_variables()
lv = tf.local_variables()
init2 = tf.group(tf.global_variables_initializer(), tf.local_variables_initializer())
with tf.train.MonitoredTrainingSession(checkpoint_dir=None) as mon:
    while not mon.should_stop():
        mon.run(train_op)
        break

# --- regression, with feeds
points = np.linspace(0, 1, 20).astype(np.float32)
px = tf.placeholder("float")
py = tf.placeholder("float")
slope = tf.Variable(np.random.randn(), name="weight")
offset = tf.Variable(np.random.randn(), name="bias")
pred = tf.add(tf.multiply(px, slope), offset)
cost = tf.reduce_sum(tf.pow(pred - py, 2)) / (2 * 20)
fit = tf.train.RMSPropOptimizer(0.01).minimize(cost)
# --- embedding and sampled losses
words = tf.placeholder(tf.int32, shape=[16])
targets = tf.placeholder(tf.int64, shape=[16, 1])
vectors = tf.Variable(tf.random_uniform([50, 8], -1.0, 1.0))
embed = tf.nn.embedding_lookup(vectors, words)
length = tf.sqrt(tf.reduce_sum(tf.square(vectors), 1, keepdims=True))
normalized = vectors / length
similarity = tf.matmul(normalized, normalized, transpose_b=True)
values, indices = tf.nn.top_k(similarity, k=3)
# --- adversarial networks
noise = tf.placeholder(tf.float32, [None, 4])
with tf.variable_scope("generator"):
    fake = tf.layers.dense(tf.layers.dense(noise, 8, tf.nn.relu), 2, name="out")
with tf.variable_scope("discriminator"):
    verdict = tf.layers.dense(fake, 1)
own = [v for v in tf.trainable_variables() if v.name.startswith("generator")]
own2 = tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, scope="discriminator")
g_loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=tf.ones_like(verdict), logits=verdict))
g_step = tf.train.AdamOptimizer(2e-4, beta1=0.5).minimize(g_loss, var_list=own)
# --- recurrent networks
cells = [tf.nn.rnn_cell.DropoutWrapper(tf.nn.rnn_cell.LSTMCell(8), output_keep_prob=0.9) for _ in range(2)]
stacked = tf.nn.rnn_cell.MultiRNNCell(cells, state_is_tuple=True)
zero = stacked.zero_state(4, tf.float32)
steps = tf.placeholder(tf.float32, [4, 5, 3])
with tf.variable_scope("stacked"):
    hidden, final = tf.nn.dynamic_rnn(stacked, steps, initial_state=zero, sequence_length=[5, 4, 3, 2])
weights = tf.sequence_mask([5, 4, 3, 2], 5, dtype=tf.float32)
ids = tf.zeros([4, 5], tf.int32)
seq_loss = tf.contrib.seq2seq.sequence_loss(tf.layers.dense(hidden, 7), ids, weights)
# --- input
names = tf.train.string_input_producer(["a.csv", "b.csv"], num_epochs=1)
reader = tf.TextLineReader()
key, row = reader.read(names)
columns = tf.decode_csv(row, record_defaults=[[0.0], [0.0]])
batch_x, batch_y = tf.train.shuffle_batch(columns, batch_size=4, capacity=20, min_after_dequeue=5)
parsed = tf.parse_single_example(tf.constant(b""), {"a": tf.FixedLenFeature([], tf.int64)})
picture = tf.image.resize_images(tf.zeros([1, 4, 4, 3]), [8, 8])
flipped = tf.image.random_flip_left_right(picture[0])
# --- state and control
best = tf.get_variable("best", [], initializer=tf.constant_initializer(0.0), trainable=False)
better = tf.cond(tf.greater(loss, best), lambda: tf.assign(best, loss), lambda: tf.identity(best))
array = tf.TensorArray(tf.float32, size=3)
array = array.write(0, 1.0)
sums = tf.scan(lambda total, v: total + v, tf.range(5))
squares = tf.map_fn(lambda v: v * v, tf.range(5))
called = tf.py_func(lambda v: v + 1, [loss], tf.float32)
checked = tf.Print(loss, [loss], message="loss: ")
with tf.device("/cpu:0"), tf.control_dependencies([tf.assert_equal(1, 1)]):
    kept = tf.identity(loss)
bounded = tf.minimum(tf.maximum(kept, 0.0), 1.0)
chosen = tf.where(tf.less(a, 2.0), a, tf.zeros_like(a))
table = tf.reshape(tf.range(12), [3, 4])
picked = tf.gather(table, [0, 2])
parts = tf.split(table, 2, axis=1)
tiled = tf.tile(table, [2, 1])
padded = tf.pad(table, [[0, 1], [0, 0]])
turned = tf.reverse(table, axis=[1])
partial = tf.stop_gradient(kept)
hooks = [tf.train.StopAtStepHook(last_step=5), tf.train.LoggingTensorHook({"loss": loss}, every_n_iter=2)]
restored = tf.train.latest_checkpoint("models")
meta = tf.train.import_meta_graph("model.meta") if restored else None
total = np.sum([np.prod(v.get_shape().as_list()) for v in tf.trainable_variables()])
if __name__ == "__main__":
    tf.app.run()
