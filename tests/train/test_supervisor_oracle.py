"""Supervisor and its loop, clusters and device setters: each snippet gives the same here and in TensorFlow."""
from __future__ import annotations

import pytest

import tfnb as tf
from tests.differential import differences
from tfnb.runtime.targets import Address, Target, find_target

SETUP = """
import glob, os, re, tempfile, time
folder = tempfile.mkdtemp()
step = tf.train.get_or_create_global_step()
v = tf.Variable(1.0, name="v")
train = tf.group(v.assign_add(1.0), tf.assign_add(step, 1), name="train")
files = lambda: sorted(re.sub("tfevents.*", "tfevents", name) for name in os.listdir(folder))

def events():
    found = []
    for name in sorted(glob.glob(os.path.join(folder, "*tfevents*"))):
        for e in tf.train.summary_iterator(name):
            found.append((e.step, e.WhichOneof("what"), [x.tag for x in e.summary.value], e.session_log.status))
    return found
"""
SNIPPETS = {
    "what it makes": """
tf.summary.scalar("v", v)
sv = tf.train.Supervisor(logdir=folder)
[sv.init_op.name, sv.ready_op.name, sv.summary_op.name, sv.global_step.name,
 type(sv.saver).__name__, sv.save_path[len(folder):], sv.is_chief, sv.save_model_secs, sv.save_summaries_secs,
 sv.ready_for_local_init_op, sv.init_feed_dict, type(sv.summary_writer).__name__, type(sv.coord).__name__,
 type(sv.session_manager).__name__, tf.get_default_graph().finalized,
 [len(tf.get_collection(key)) for key in ("init_op", "ready_op", "local_init_op", "summary_op", "savers")]]""",
    "what one does without": """
sv = tf.train.Supervisor(logdir=None, summary_op=None, saver=None, init_op=None, ready_op=None, local_init_op=None,
                         global_step=None, summary_writer=None)
[sv.init_op, sv.ready_op, sv.summary_op, sv.saver, sv.global_step, sv.save_path, sv.summary_writer,
 outcome(lambda: sv.summary_computed(None, b"")), outcome(lambda: sv.start_standard_services(None)),
 outcome(sv.prepare_or_wait_for_session)]""",
    "a managed session": """
sv = tf.train.Supervisor(logdir=folder, save_model_secs=0)
with sv.managed_session() as session:
    while not sv.should_stop():
        session.run(train)
        if session.run(step) >= 5:
            sv.request_stop()
    sv.saver.save(session, sv.save_path, global_step=sv.global_step)
files(), [e for e in events() if e[1] == "session_log"]""",
    "it goes on": """
def run():
    with tf.Graph().as_default():
        count = tf.train.get_or_create_global_step()
        more = tf.assign_add(count, 1)
        sv = tf.train.Supervisor(logdir=folder, save_model_secs=0)
        with sv.managed_session() as session:
            for _ in range(3):
                value = session.run(more)
            sv.saver.save(session, sv.save_path, global_step=count)
        return int(value)
[run(), run(), run()]""",
    "services": """
tf.summary.scalar("v", v)
sv = tf.train.Supervisor(logdir=folder, save_summaries_secs=0.02, save_model_secs=0.02)
with sv.managed_session() as session:
    session.run(train)
    time.sleep(0.5)
found = events()
sorted(set((e[1], tuple(e[2]), e[3]) for e in found)), "checkpoint" in files(), "model.ckpt-1.index" in files()""",
    "errors in the block": """
def run(error):
    sv = tf.train.Supervisor(logdir=None)
    with sv.managed_session("") as session:
        raise error
graph = tf.get_default_graph()
[outcome(lambda: run(KeyError("mine"))), outcome(lambda: run(tf.errors.OutOfRangeError(None, None, "end")))]""",
    "queue runners end": """
taken = tf.train.range_input_producer(3, num_epochs=1, shuffle=False).dequeue()
sv, seen = tf.train.Supervisor(), []
with sv.managed_session() as session:
    while not sv.should_stop():
        seen.append(session.run(taken))
seen""",
    "loops": """
calls = []
sv = tf.train.Supervisor()
def work(x):
    calls.append(x)
    if len(calls) == 3:
        sv.request_stop()
with sv.managed_session() as session:
    thread = sv.loop(None, work, (7,))
    sv.wait_for_stop()
    thread.join()
calls, sv.should_stop(), outcome(lambda: sv.loop(1.0, None, (7,)))""",
    "summaries by hand": """
made = tf.summary.scalar("v", v)
sv = tf.train.Supervisor(logdir=folder, summary_op=None, save_model_secs=0)
with sv.managed_session() as session:
    session.run(train)
    sv.summary_computed(session, session.run(made))
    sv.summary_computed(session, session.run(made), global_step=7)
[e for e in events() if e[1] == "summary" and e[2] == ["v"]]""",
    "a worker": """
sv = tf.train.Supervisor
both = outcome(lambda: sv(is_chief=False))
with tf.Graph().as_default():
    with tf.device("/job:ps/task:0"):
        w = tf.Variable(1.0)
    worker = sv(is_chief=False, logdir=folder, ready_op=None, local_init_op=None, recovery_wait_secs=0.01)
    parts = [worker.save_path, worker.save_model_secs, worker.summary_writer, worker.is_chief]
    services = outcome(lambda: worker.start_standard_services(None))
both, parts, services""",
    "init functions": """
x = tf.placeholder(tf.float32, [])
init = tf.group(v.assign(x), step.initializer)
calls = []
sv = tf.train.Supervisor(init_op=init, init_feed_dict={x: 4.0}, init_fn=lambda s: calls.append(s.run(v)))
with sv.managed_session() as session:
    result = session.run(v)
result, calls""",
    "a loop": """
seen = []
def one(session, sv, by):
    seen.append((session.run(step), by))
    session.run(train)
    if len(seen) == 3:
        sv.request_stop()
sv = tf.train.Supervisor(logdir=folder)
tf.train.basic_train_loop(sv, one, args=(sv,), kwargs={"by": 2})
seen""",
    "clusters": """
spec = tf.train.ClusterSpec({"worker": ["a:1", "b:2"], "ps": {0: "c:3", 2: "d:4"}})
again = tf.train.ClusterSpec(spec.as_cluster_def())
[spec.as_dict(), sorted(spec.jobs), spec.num_tasks("ps"), spec.task_indices("ps"), spec.task_address("ps", 2),
 spec.job_tasks("ps"), spec.job_tasks("worker"), spec == again, spec != again, bool(spec),
 bool(tf.train.ClusterSpec({})), str(spec.as_cluster_def())]""",
    "clusters that can't be": """
spec = tf.train.ClusterSpec({"worker": ["a:1"]})
[outcome(action) for action in (
    lambda: tf.train.ClusterSpec("a:1"), lambda: tf.train.ClusterSpec({"worker": "a:1"}),
    lambda: tf.train.ClusterSpec({"worker": [1]}), lambda: tf.train.ClusterSpec({"worker": {"a": "b:1"}}),
    lambda: spec.num_tasks("ps"), lambda: spec.task_indices("ps"), lambda: spec.task_address("worker", 3),
    lambda: spec.job_tasks("ps"))]""",
    "servers": """
server = tf.train.Server.create_local_server()
definition = server.server_def
one, two = tf.Session(server.target), tf.Session(server.target)
one.run([v.initializer, step.initializer])
two.run(train)
one.close()
result = two.run([v, step])
other = tf.Session(tf.train.Server.create_local_server().target)
(result, definition.job_name, definition.task_index, definition.protocol, outcome(lambda: other.run(v)),
 server.target.startswith("grpc://localhost:"))""",
    "arguments of servers": """
[outcome(make) for make in (
    lambda: tf.train.Server({"a": ["localhost:0"], "b": ["localhost:0"]}, start=False),
    lambda: tf.train.Server({"a": ["localhost:0", "localhost:0"]}, start=False),
    lambda: tf.train.Server(3), lambda: tf.Session("nowhere").run(v))]""",
    "a session waits for its chief": """
server = tf.train.Server.create_local_server()
manager = tf.train.SessionManager(ready_op=tf.report_uninitialized_variables(), recovery_wait_secs=0.01)
early = outcome(lambda: manager.wait_for_session(server.target, max_wait_secs=0.03))
chief = manager.prepare_session(server.target, init_op=tf.global_variables_initializer())
worker = manager.wait_for_session(server.target, max_wait_secs=5)
early, worker.run(v)""",
    "devices of variables": """
def devices(setter):
    with tf.Graph().as_default():
        with tf.device(setter):
            a, b = tf.Variable(1.0, name="a"), tf.Variable(2.0, name="b")
            with tf.device("/job:ps/task:5"):
                c = tf.Variable(3.0, name="c")
            with tf.device("/job:elsewhere"):
                d = tf.Variable(4.0, name="d")
            with tf.device("/cpu:0"):
                e = tf.add(a, b, name="e")
            f = tf.constant(1.0, name="f")
        return [(op.name, op.device) for op in tf.get_default_graph().get_operations()]
setter = tf.train.replica_device_setter
[devices(setter(ps_tasks=2)), devices(setter(cluster={"ps": ["a:1", "b:2"], "worker": ["c:3"]})),
 devices(setter(cluster=tf.train.ClusterSpec({"ps": ["a:1"], "worker": ["c:3"]}),
                worker_device="/job:worker/task:3/gpu:0")),
 devices(setter(ps_tasks=3, merge_devices=False)), devices(setter(ps_tasks=3, ps_strategy=lambda op: 2)),
 devices(setter(ps_tasks=1, ps_ops=["Const"])), setter(), setter(cluster={"worker": ["a:1"]}),
 outcome(lambda: setter(ps_tasks=1, ps_strategy=3)), outcome(lambda: setter(cluster=3))]""",
}


@pytest.mark.slow
def test_as_in_tensorflow(oracle):
    assert not differences(oracle, SNIPPETS, SETUP)


def test_servers_of_this_process():
    server = tf.train.Server({"local": ["localhost:2223"]}, start=False)
    assert find_target(server.target) == Address("localhost:2223")
    server.start()
    assert isinstance(find_target(server.target), Target)
    again = tf.train.Server(server.server_def)
    assert again.target == "grpc://localhost:2223" and again.server_def == server.server_def


def test_a_closed_session_leaves_the_queues_of_its_server():
    queue = tf.FIFOQueue(3, tf.float32, shapes=[[]], shared_name="shared")
    put, take = queue.enqueue(2.0), queue.dequeue()
    target = tf.train.Server.create_local_server().target
    with tf.Session(target) as session:
        session.run(put)
    with tf.Session(target) as session:
        assert session.run(take) == 2.0


def test_a_worker_waits_for_its_chief():
    with tf.device("/cpu:0"):
        tf.Variable(1.0)
    worker = tf.train.Supervisor(is_chief=False, recovery_wait_secs=0.01)
    with pytest.raises(tf.errors.DeadlineExceededError, match="not ready after waiting"):
        worker.prepare_or_wait_for_session(max_wait_secs=0.05)


def test_devices_of_a_server_are_those_of_its_task():
    with tf.device("/job:worker/task:0"):
        v = tf.Variable(3.0)
    with tf.device("/job:ps"):
        other = tf.constant(1.0)
    target = tf.train.Server({"worker": ["localhost:0"]}).target
    with tf.Session(target) as session:
        session.run(v.initializer)
        assert session.list_devices()[0].name == "/job:worker/replica:0/task:0/device:CPU:0"
        with pytest.raises(tf.errors.InvalidArgumentError, match="Cannot assign a device"):
            session.run(other)
        tf.Session.reset(target, ["another"])
        assert session.run(v) == 3.0
        tf.Session.reset(target)
        with pytest.raises(tf.errors.FailedPreconditionError):
            session.run(v)
