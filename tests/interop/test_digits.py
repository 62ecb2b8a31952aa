"""The network of the first tutorial crosses between tfnb and real TensorFlow as a GraphDef: variables, initializers,
gradients and the training step included. Both give the same losses."""
from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_digits

import tfnb as tf
from tests.graph_rows import rows_here, rows_there
from tfnb.core.options import options

STEPS, BATCH = 5, 100
NETWORK = """
x = tf.placeholder(tf.float32, [None, 64], name="pixels")
labels = tf.placeholder(tf.int64, [None], name="labels")
with tf.name_scope("hidden"):
    w1 = tf.Variable(tf.truncated_normal([64, 32], stddev=0.1, seed=SEEDS[0]), name="weights")
    b1 = tf.Variable(tf.zeros([32]), name="biases")
    hidden = tf.nn.relu(tf.matmul(x, w1) + b1, name="units")
with tf.variable_scope("output"):
    w2 = tf.get_variable("weights", [32, 10], initializer=tf.truncated_normal_initializer(stddev=0.1, seed=SEEDS[1]))
    b2 = tf.get_variable("biases", [10], initializer=tf.zeros_initializer())
    logits = tf.nn.bias_add(tf.matmul(hidden, w2), b2, name="logits")
cross_entropy = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits, name="cross_entropy")
loss = tf.reduce_mean(cross_entropy, name="loss")
right = tf.equal(tf.argmax(logits, 1), labels)
accuracy = tf.reduce_mean(tf.cast(right, tf.float32), name="accuracy")
global_step = tf.Variable(0, trainable=False, name="global_step")
train = tf.train.AdamOptimizer(0.01).minimize(loss, global_step=global_step, name="train")
init = tf.global_variables_initializer()
tf.summary.scalar("loss", loss)
merged = tf.summary.merge_all()
data = tf.get_default_graph().as_graph_def().SerializeToString()
"""
RUN = """
def train_by_name(graph, batches):
    names = ["loss:0", "accuracy:0", "global_step:0", "hidden/weights:0", "output/weights:0"]
    with tf.Session(graph=graph) as sess:
        sess.run("init")
        steps = [sess.run(names[2:])]
        for pixels, digits in batches:
            feed = {"pixels:0": pixels, "labels:0": digits}
            steps.append(sess.run(names[:2], feed))
            sess.run("train", feed)
        steps.append(sess.run(names[2:]))
    return steps
"""
IMPORT = """
graph = tf.Graph()
with graph.as_default():
    tf.import_graph_def(tf.GraphDef.FromString(data), name="")
result = train_by_name(graph, batches)
"""


@pytest.fixture(scope="module")
def batches():
    digits = load_digits()
    pixels = (digits.data / 16).astype(np.float32)
    return [(pixels[i * BATCH:][:BATCH], digits.target[i * BATCH:][:BATCH]) for i in range(STEPS)]


def run(code, **names):
    """Run code here; the scope after it."""
    scope = {"tf": tf, "np": np, **names}
    exec(code, scope)
    return scope


def assert_same(ours, theirs):
    first, *steps, last = zip(ours, theirs, strict=True)
    for mine, other in zip(*first, strict=True):
        np.testing.assert_array_max_ulp(np.asarray(mine), np.asarray(other), 1)
    for mine, other in steps:
        np.testing.assert_allclose(mine, other, rtol=1e-5)
    assert [m[0] for m, _ in steps] != sorted(m[0] for m, _ in steps)       # it learns: losses fall
    for mine, other in zip(*last, strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-4, atol=1e-6)
    assert last[0][0] == STEPS


@pytest.mark.parametrize("seeds", [(1, 2), (None, None)], ids=["op seeds", "graph seed"])
@pytest.mark.parametrize("mode", ["never", "second", "always"])
def test_tensorflow_runs_what_is_written_here(oracle, batches, seeds, mode, monkeypatch):
    monkeypatch.setattr(options, "compile", mode)
    scope = run("tf.set_random_seed(7)\n" + NETWORK + RUN, SEEDS=seeds)
    ours = scope["train_by_name"](tf.get_default_graph(), batches)
    assert_same(ours, oracle(RUN + IMPORT, data=scope["data"], batches=batches))


@pytest.mark.parametrize("mode", ["never", "second", "always"])
def test_what_tensorflow_writes_runs_here(oracle, batches, mode, monkeypatch):
    monkeypatch.setattr(options, "compile", mode)
    theirs = oracle("tf.set_random_seed(7)\n" + NETWORK + RUN + """
result = data, train_by_name(tf.get_default_graph(), batches)
""", SEEDS=(1, 2), batches=batches)
    assert_same(run(RUN + IMPORT, data=theirs[0], batches=batches)["result"], theirs[1])


def test_the_same_program_gives_the_same_numbers(oracle, batches):
    code = "tf.set_random_seed(7)\n" + NETWORK + RUN + "result = train_by_name(tf.get_default_graph(), batches)\n"
    assert_same(run(code, SEEDS=(1, 2), batches=batches)["result"], oracle(code, SEEDS=(1, 2), batches=batches))


def test_a_graph_comes_back_as_it_went(batches):
    scope = run("tf.set_random_seed(7)\n" + NETWORK + RUN, SEEDS=(1, 2))
    with tf.Graph().as_default() as again:
        tf.import_graph_def(tf.GraphDef.FromString(scope["data"]), name="")
        assert again.as_graph_def().SerializeToString(deterministic=True) == \
            tf.GraphDef.FromString(scope["data"]).SerializeToString(deterministic=True)
    np.testing.assert_equal(scope["train_by_name"](again, batches),
                            scope["train_by_name"](tf.get_default_graph(), batches))


def test_names_inputs_and_colocations_are_tensorflows(oracle):
    program = "SEEDS = (1, 2)\ntf.set_random_seed(7)\n" + NETWORK
    ours, theirs = rows_here(program, tf), rows_there(program, oracle)
    assert ours == theirs and len(ours) > 100


def test_tensorboard_reads_the_events_of_a_training(batches, tmp_path):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    scope = run(NETWORK, SEEDS=(1, 2))
    losses = []
    with tf.Session() as sess:
        sess.run(scope["init"])
        with tf.summary.FileWriter(str(tmp_path), sess.graph) as writer:
            for step, (pixels, digits) in enumerate(batches):
                feed = {scope["x"]: pixels, scope["labels"]: digits}
                loss, summary, _ = sess.run([scope["loss"], scope["merged"], scope["train"]], feed)
                losses.append(loss)
                writer.add_summary(summary, step)
    events = EventAccumulator(str(tmp_path)).Reload()
    assert events.Tags()["scalars"] == ["loss_1"] and events.Tags()["graph"]
    assert [(e.step, e.value) for e in events.Scalars("loss_1")] == list(enumerate(losses))
    assert [n.name for n in events.Graph().node] == [op.name for op in tf.get_default_graph().get_operations()]
