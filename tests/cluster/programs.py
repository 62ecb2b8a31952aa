"""Cluster scripts as TensorFlow 1's tutorials have them: argv is the task, "job:index", and the cluster as JSON."""
from __future__ import annotations

DATA = """
import json, sys
import numpy as np
import tensorflow as tf

cluster_spec, (job, index) = json.loads(sys.argv[1]), sys.argv[2].split(":")
index = int(index)
cluster = tf.train.ClusterSpec(cluster_spec)
server = tf.train.Server(cluster, job_name=job, task_index=index)
if job == "ps":
    server.join()
is_chief = index == 0
rng = np.random.RandomState(0)
X, Y = rng.rand(256, 20).astype("f"), rng.randint(0, 5, 256)

def network():
    x = tf.placeholder(tf.float32, [None, 20])
    y = tf.placeholder(tf.int64, [None])
    w = tf.get_variable("w", [20, 5], initializer=tf.zeros_initializer())
    b = tf.get_variable("b", [5], initializer=tf.zeros_initializer())
    return x, y, tf.losses.sparse_softmax_cross_entropy(y, tf.matmul(x, w) + b)
"""

# Each worker trains when it can, all with the same variables.
ASYNCHRONOUS = DATA + """
with tf.device(tf.train.replica_device_setter(worker_device="/job:worker/task:%d" % index, cluster=cluster)):
    x, y, loss = network()
    global_step = tf.train.get_or_create_global_step()
    train_op = tf.train.AdagradOptimizer(0.1).minimize(loss, global_step=global_step)

losses = []
with tf.train.MonitoredTrainingSession(master=server.target, is_chief=is_chief, checkpoint_dir=sys.argv[3],
                                       hooks=[tf.train.StopAtStepHook(last_step=60)]) as session:
    while not session.should_stop():
        part = slice(index, None, 2)
        losses.append(session.run([train_op, loss], {x: X[part], y: Y[part]})[1])
print(json.dumps([float(l) for l in losses]))
"""

# One client makes the whole graph, with a copy of the model on each worker; the other tasks only serve.
IN_GRAPH = DATA.replace('if job == "ps":', 'if job == "ps" or index:') + """
x, y = tf.placeholder(tf.float32, [None, 20]), tf.placeholder(tf.int64, [None])
with tf.device("/job:ps/task:0"):
    w = tf.get_variable("w", [20, 5], initializer=tf.zeros_initializer())
towers = []
for i in range(2):
    with tf.device("/job:worker/task:%d" % i):
        towers.append(tf.losses.sparse_softmax_cross_entropy(tf.split(y, 2)[i], tf.matmul(tf.split(x, 2)[i], w)))
loss = tf.add_n(towers) / 2
train_op = tf.train.GradientDescentOptimizer(0.5).minimize(loss, colocate_gradients_with_ops=True)
with tf.Session(server.target) as session:
    session.run(tf.global_variables_initializer())
    losses = [session.run([loss, train_op], {x: X, y: Y})[0] for _ in range(20)]
print(json.dumps([float(l) for l in losses]))
"""

# tf.estimator reads the cluster from TF_CONFIG.
ESTIMATOR = """
import json, os, sys
cluster_spec, (job, index) = json.loads(sys.argv[1]), sys.argv[2].split(":")
names = {"ps:0": ("ps", 0), "worker:0": ("chief", 0), "worker:1": ("worker", 0)}
os.environ["TF_CONFIG"] = json.dumps({
    "cluster": {"ps": cluster_spec["ps"], "chief": cluster_spec["worker"][:1], "worker": cluster_spec["worker"][1:]},
    "task": dict(zip(("type", "index"), names[sys.argv[2]]))})
import numpy as np
import tensorflow as tf

rng = np.random.RandomState(0)
X = rng.rand(256, 4).astype("f")
Y = (X.sum(1) > 2).astype(np.int64)

def input_fn():
    return tf.data.Dataset.from_tensor_slices(({"x": X}, Y)).repeat().batch(64)

estimator = tf.estimator.DNNClassifier([16], [tf.feature_column.numeric_column("x", [4])], sys.argv[3],
                                       config=tf.estimator.RunConfig(tf_random_seed=1, save_checkpoints_steps=50))
tf.estimator.train_and_evaluate(estimator, tf.estimator.TrainSpec(input_fn, max_steps=300),
                                tf.estimator.EvalSpec(input_fn, steps=4, start_delay_secs=0, throttle_secs=1))
print(json.dumps([estimator.get_variable_value("global_step").item()]))
"""

# The gradients of both workers are averaged before each step.
IN_STEP = """
with tf.device(tf.train.replica_device_setter(worker_device="/job:worker/task:%d" % index, cluster=cluster)):
    x, y, loss = network()
    global_step = tf.train.get_or_create_global_step()
    optimizer = tf.train.SyncReplicasOptimizer(tf.train.GradientDescentOptimizer(RATE), replicas_to_aggregate=2,
                                               total_num_replicas=2)
    train_op = optimizer.minimize(loss, global_step=global_step)
"""
SYNCHRONOUS = DATA + IN_STEP.replace("RATE", "0.5") + """
losses = []
with tf.train.MonitoredTrainingSession(master=server.target, is_chief=is_chief,
                                       hooks=[optimizer.make_session_run_hook(is_chief),
                                              tf.train.StopAtStepHook(last_step=20)]) as session:
    while not session.should_stop():
        part = slice(index, None, 2)
        losses.append(session.run([loss, train_op], {x: X[part], y: Y[part]})[0])
print(json.dumps([float(l) for l in losses]))
"""

# Both workers train on the same whole batch, in step, each logging global steps and losses. The chief ends when a file
# is there, the other one never: who waits for the gradients of one that has ended waits for ever, as in TensorFlow.
# A worker that finds no variables looks again soon, not after 30 seconds.
UNTIL_STOPPED = """import faulthandler, functools, os, signal, time

if hasattr(signal, "SIGUSR1"):
    faulthandler.register(signal.SIGUSR1)           # where it waits, for a test that waits for it
""" + DATA.replace("if job", """begin = tf.train.SessionManager.__init__
tf.train.SessionManager.__init__ = functools.partialmethod(begin, recovery_wait_secs=1)
if job""", 1) + IN_STEP.replace("RATE", "0.1") + """
class Until(tf.train.SessionRunHook):
    def after_run(self, context, values):
        if is_chief and os.path.exists("stop"):
            context.request_stop()

with tf.train.MonitoredTrainingSession(
        master=server.target, is_chief=is_chief, checkpoint_dir=sys.argv[3], save_checkpoint_secs=None,
        save_checkpoint_steps=5, save_summaries_steps=None, save_summaries_secs=None, log_step_count_steps=None,
        stop_grace_period_secs=1, hooks=[optimizer.make_session_run_hook(is_chief), Until()]) as session:
    with open("losses%d.txt" % index, "a") as log:
        while not session.should_stop():
            value, step, _ = session.run([loss, global_step, train_op], {x: X, y: Y})
            log.write("%d %.9g\\n" % (step, value))
            log.flush()
            time.sleep(0.01)                    # leave the machine to others
print(json.dumps([int(step)]))
"""
