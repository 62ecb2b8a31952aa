"""Hooks, monitored sessions and session managers: each snippet gives the same here and in TensorFlow.

At which steps TensorFlow writes summaries after the first depends on who is faster, a read or an update of the global
step: these snippets look at the first ones only, tests/train/test_hooks.py at all of ours.
"""
from __future__ import annotations

import pytest

from tests.differential import differences

# What most snippets begin with: a model whose loss falls, files in a folder of their own, a hook that notes its calls.
SETUP = """
import glob, logging, os, re, tempfile
folder = tempfile.mkdtemp()
step = tf.train.get_or_create_global_step()
v = tf.Variable(1.0, name="v")
loss = tf.square(v - 3.0)
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss, global_step=step)
files = lambda: sorted(re.sub("tfevents.*", "tfevents", name) for name in os.listdir(folder))

class Notes(tf.train.SessionRunHook):
    def __init__(self):
        self.said = []
    def begin(self):
        self.said.append("begin")
    def after_create_session(self, session, coord):
        self.said.append("created " + type(coord).__name__ + " %s" % session.graph.finalized)
    def before_run(self, run_context):
        self.said.append("before %s %s" % (run_context.original_args.fetches is train, run_context.stop_requested))
        return tf.train.SessionRunArgs({"step": step.name, "v": [v]})
    def after_run(self, run_context, run_values):
        self.said.append(sorted(run_values.results))
        self.said.append(type(run_values.options).__name__ + type(run_values.run_metadata).__name__)
    def end(self, session):
        self.said.append("end %d" % session.run(step))

class Raises(tf.train.SessionRunHook):
    def __init__(self, error, runs):
        self.error, self.runs, self.made = error, runs, 0
    def after_create_session(self, session, coord):
        self.made += 1
    def before_run(self, run_context):
        self.runs -= 1
        if self.runs == 0:
            raise self.error

class Messages(logging.Handler):
    def __init__(self):
        super().__init__()
        self.said = []
        logger = logging.getLogger("tensorflow")
        logger.addHandler(self)
        logger.setLevel(logging.INFO)
    def emit(self, record):
        self.said.append(re.sub(r"[0-9.]+ sec", "N sec", record.getMessage()))
    def stop(self):
        logger = logging.getLogger("tensorflow")
        logger.removeHandler(self)
        logger.setLevel(logging.WARNING)
        return self.said

def events(path=None):
    found = []
    for name in glob.glob(os.path.join(path or folder, "*tfevents*")):
        for e in tf.train.summary_iterator(name):
            kind = e.WhichOneof("what")
            tags = [value.tag for value in e.summary.value]
            found.append((e.step, kind, tags, e.session_log.status))
    return found

def steps_of(session, n=100):
    count = 0
    while not session.should_stop() and count < n:
        session.run(train)
        count += 1
    return count
"""

SNIPPETS = {
    "calls of a hook": """
notes = Notes()
with tf.train.MonitoredSession(hooks=[notes]) as session:
    session.run(train)
    session.run(loss)
notes.said""",
    "stop after steps": """
with tf.train.MonitoredSession(hooks=[tf.train.StopAtStepHook(num_steps=4)]) as session:
    count = steps_of(session)
    late = outcome(lambda: session.run(train))
count, late, session.should_stop(), outcome(session.close), tf.get_default_graph().finalized""",
    "stop at a step": """
with tf.train.SingularMonitoredSession(hooks=[tf.train.StopAtStepHook(last_step=3)]) as session:
    result = [steps_of(session), session.raw_session().run(step)]
result""",
    "without a global step": """
def begun(hook):
    with tf.Graph().as_default():
        return outcome(hook.begin)
[begun(hook) for hook in (
    tf.train.StopAtStepHook(3), tf.train.CheckpointSaverHook(folder, save_steps=1),
    tf.train.SummarySaverHook(1, summary_op=loss), tf.train.StepCounterHook(), tf.train.GlobalStepWaiterHook(3))]""",
    "arguments of hooks": """
[outcome(make) for make in (
    lambda: tf.train.StopAtStepHook(), lambda: tf.train.StopAtStepHook(1, 2),
    lambda: tf.train.LoggingTensorHook([loss]), lambda: tf.train.LoggingTensorHook([loss], 1, 2.0),
    lambda: tf.train.LoggingTensorHook([loss], 0), lambda: tf.train.LoggingTensorHook([loss], at_end=True),
    lambda: tf.train.CheckpointSaverHook(folder), lambda: tf.train.CheckpointSaverHook(folder, 1, 1),
    lambda: tf.train.CheckpointSaverHook(folder, 1, saver=tf.train.Saver(), scaffold=tf.train.Scaffold()),
    lambda: tf.train.SummarySaverHook(1), lambda: tf.train.SummarySaverHook(1, 1, summary_op=loss),
    lambda: tf.train.SummarySaverHook(summary_op=loss), lambda: tf.train.StepCounterHook(None),
    lambda: tf.train.StepCounterHook(1, 1.0), lambda: tf.train.SecondOrStepTimer(),
    lambda: tf.train.SecondOrStepTimer(1.0, 1), lambda: tf.train.Scaffold(copy_from_scaffold=3))]""",
    "a timer of steps": """
timer = tf.train.SecondOrStepTimer(every_steps=3)
found = [timer.last_triggered_step(), timer.should_trigger_for_step(5)]
found.append(timer.update_last_triggered_step(5))
found += [timer.should_trigger_for_step(s) for s in (5, 6, 7, 8, 9)]
passed, count = timer.update_last_triggered_step(9)
timer.reset()
found + [passed >= 0, count, timer.last_triggered_step(), timer.should_trigger_for_step(9)]""",
    "a timer of seconds": """
timer = tf.train.SecondOrStepTimer(every_secs=1000.0)
timer.update_last_triggered_step(1)
again = tf.train.SecondOrStepTimer(every_secs=0.0)
again.update_last_triggered_step(1)
[timer.should_trigger_for_step(s) for s in (1, 2)] + [again.should_trigger_for_step(s) for s in (1, 2)]""",
    "logged tensors": """
messages = Messages()
hook = tf.train.LoggingTensorHook({"b": loss, "a": "v/read"}, every_n_iter=2)
names = tf.train.LoggingTensorHook(["v/read:0", loss], every_n_iter=3, at_end=True)
end = tf.train.LoggingTensorHook([loss], at_end=True, formatter=lambda d: "the end %.3f" % list(d.values())[0])
with tf.train.MonitoredSession(hooks=[hook, names, end]) as session:
    for _ in range(5):
        session.run(train)
[m for m in messages.stop() if "=" in m or "the end" in m]""",
    "names of tensors": """
tf.split(tf.zeros([4]), 2, name="two")
[outcome(tf.train.LoggingTensorHook([name], 1).begin) for name in ("nothing", "two", "two:0", "v")]""",
    "a loss that is NaN": """
bad = tf.sqrt(-v)
def run(fail):
    with tf.train.SingularMonitoredSession(hooks=[tf.train.NanTensorHook(bad, fail)]) as session:
        session.run(train)
        return session.should_stop()
fine = tf.train.NanTensorHook(loss)
graph = tf.get_default_graph()
first = outcome(lambda: run(True)), str(tf.train.NanLossDuringTrainingError())
first, outcome(lambda: run(False))""",
    "feeds and final ops": """
x = tf.placeholder(tf.float32, [])
final = tf.train.FinalOpsHook([x * 2, v], {x: 4.0})
before, y = final.final_ops_values, x + 1
with tf.train.MonitoredSession(hooks=[tf.train.FeedFnHook(lambda: {x: 3.0}), final]) as session:
    result = session.run(y)
before, result, final.final_ops_values""",
    "a tensor that is fed twice": """
x = tf.placeholder(tf.float32, [])
hooks = [tf.train.FeedFnHook(lambda: {x: 3.0})]
with tf.train.MonitoredSession(hooks=hooks) as session:
    one = outcome(lambda: session.run(x, {x: 1.0}))
tf.train.MonitoredSession(hooks=hooks * 2)
with tf.train.MonitoredSession(hooks=hooks * 2) as session:
    two = outcome(lambda: session.run(x))
one, two""",
    "a training session": """
tf.summary.scalar("loss", loss)
def run(**options):
    with tf.train.MonitoredTrainingSession(
            checkpoint_dir=folder, hooks=[tf.train.StopAtStepHook(num_steps=7)], **options) as session:
        return steps_of(session)
result = [run(save_checkpoint_steps=3, save_summaries_steps=2, log_step_count_steps=None)]
found = [e for e in events() if e[1] == "session_log" or (e[1] == "summary" and e[0] < 2)]
result + [files(), found, tf.train.latest_checkpoint(folder)[len(folder):]]""",
    "a training session goes on": """
def run(n):
    with tf.Graph().as_default():
        w = tf.Variable(0.0, name="w")
        count = tf.train.get_or_create_global_step()
        train = tf.group(tf.assign_add(w, 2.0), tf.assign_add(count, 1))
        with tf.train.MonitoredTrainingSession(
                checkpoint_dir=folder, hooks=[tf.train.StopAtStepHook(num_steps=n)]) as session:
            while not session.should_stop():
                session.run(train)
        with tf.train.SingularMonitoredSession(checkpoint_dir=folder) as session:
            return session.run([w, count])
[run(3), run(4)]""",
    "what is switched off": """
tf.summary.scalar("loss", loss)
with tf.train.MonitoredTrainingSession(checkpoint_dir=folder, save_checkpoint_secs=None, save_summaries_steps=None,
                                       save_summaries_secs=None, log_step_count_steps=0) as session:
    session.run(train)
files()""",
    "summaries go elsewhere": """
tf.summary.scalar("loss", loss)
other = tempfile.mkdtemp()
with tf.train.MonitoredTrainingSession(checkpoint_dir=folder, summary_dir=other, save_graph_def=False) as session:
    session.run(train)
files(), [e[:3] for e in events(other) if e[1] == "summary"]""",
    "listeners": """
class Listener(tf.train.CheckpointSaverListener):
    said = []
    def begin(self):
        self.said.append("begin")
    def before_save(self, session, global_step_value):
        self.said.append("before %d" % global_step_value)
    def after_save(self, session, global_step_value):
        self.said.append("after %d" % global_step_value)
        return global_step_value == 4
    def end(self, session, global_step_value):
        self.said.append("end %d" % global_step_value)
hook = tf.train.CheckpointSaverHook(folder, save_steps=2, saver=tf.train.Saver(), listeners=[Listener()],
                                    checkpoint_basename="c")
with tf.train.MonitoredSession(hooks=[hook]) as session:
    count = steps_of(session)
count, Listener.said, files()""",
    "a saver from the collection": """
hook = tf.train.CheckpointSaverHook(folder, save_steps=2)
def run():
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        hook.begin()
        hook.after_create_session(session, None)
none = outcome(run)
for _ in range(2):
    tf.add_to_collection(tf.GraphKeys.SAVERS, tf.train.Saver())
none, outcome(run)""",
    "summaries by a hook": """
merged = tf.summary.scalar("loss", loss)
writer = tf.summary.FileWriter(folder)
hook = tf.train.SummarySaverHook(save_steps=3, summary_writer=writer, summary_op=[merged, tf.summary.scalar("v", v)])
with tf.train.MonitoredSession(hooks=[hook]) as session:
    steps_of(session, 8)
writer.close()
[e for e in events() if e[1] != "file_version" and e[0] < 2]""",
    "steps a second": """
class Counter(tf.train.StepCounterHook):
    said = []
    def _log_and_record(self, elapsed_steps, elapsed_time, global_step):
        self.said.append((int(elapsed_steps), elapsed_time > 0, int(global_step)))
with tf.train.MonitoredSession(hooks=[Counter(every_n_steps=3)]) as session:
    steps_of(session, 10)
[s[:2] for s in Counter.said]""",
    "steps a second as a summary": """
hook = tf.train.StepCounterHook(every_n_steps=2, output_dir=folder)
with tf.train.MonitoredSession(hooks=[hook]) as session:
    steps_of(session, 6)
tf.summary.FileWriterCache.get(folder).flush()
[e[1:3] for e in events() if e[1] == "summary"][:1]""",
    "waiting for a step": """
hook = tf.train.GlobalStepWaiterHook(0)
with tf.train.MonitoredSession(hooks=[hook]) as session:
    count = steps_of(session, 2)
later = tf.train.GlobalStepWaiterHook(2)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    tf.get_default_graph()._unsafe_unfinalize()
    later.begin()
    session.run([train.name]); session.run(train)
    result = later.before_run(tf.train.SessionRunContext(tf.train.SessionRunArgs(train), session))
count, result""",
    "the end of an input": """
number = tf.train.limit_epochs(tf.constant(1), num_epochs=3)
seen = []
with tf.train.MonitoredSession() as session:
    while not session.should_stop():
        seen.append(session.run(number))
seen""",
    "queue runners": """
queue = tf.train.range_input_producer(5, num_epochs=2, shuffle=False)
taken, seen = queue.dequeue(), []
with tf.train.MonitoredSession() as session:
    while not session.should_stop():
        seen.append(session.run(taken))
seen""",
    "an error in a queue runner": """
queue = tf.FIFOQueue(2, [tf.float32], [[]])
bad = queue.enqueue(tf.check_numerics(tf.log(v - 2.0), "no number"))
tf.train.add_queue_runner(tf.train.QueueRunner(queue, [bad]))
taken = queue.dequeue()
def run():
    with tf.train.MonitoredSession() as session:
        while not session.should_stop():
            session.run(taken)
outcome(run)""",
    "an error of the program": """
notes = Notes()
def run():
    with tf.train.MonitoredSession(hooks=[notes]) as session:
        session.run(train)
        raise KeyError("mine")
outcome(run), notes.said[-1]""",
    "a lost session": """
def run(error, make=tf.train.MonitoredSession):
    hook = Raises(error, 3)
    with make(hooks=[hook]) as session:
        for _ in range(4):
            session.run(train)
        return hook.made, session.run(step)
[outcome(lambda: run(tf.errors.AbortedError(None, None, "gone"))),
 outcome(lambda: run(tf.errors.UnavailableError(None, None, "gone"))),
 outcome(lambda: run(tf.errors.InternalError(None, None, "gone"))),
 outcome(lambda: run(tf.errors.AbortedError(None, None, "gone"), tf.train.SingularMonitoredSession))]""",
    "steps as functions": """
notes = Notes()
def one(step_context):
    before = step_context.session.run(step)
    step_context.run_with_hooks(train)
    return before
def stop(step_context):
    step_context.request_stop()
with tf.train.MonitoredSession(hooks=[notes]) as session:
    result = [session.run_step_fn(one), session.run_step_fn(one)]
    wrong = outcome(lambda: session.run_step_fn(lambda x: x)), outcome(lambda: session.run_step_fn(3))
    session.run_step_fn(stop)
result, wrong, len(notes.said)""",
    "outside of with": """
session = tf.train.MonitoredSession()
session.run(train)
graph = session.graph is tf.get_default_graph()
session.close()
graph, session.should_stop(), outcome(session.close), session.graph is None""",
    "what a scaffold makes": """
scaffold = tf.train.Scaffold()
before = [scaffold.init_op, scaffold.saver, scaffold.ready_op, scaffold.init_fn]
tf.summary.scalar("loss", loss)
scaffold.finalize()
names = [scaffold.init_op.name, scaffold.ready_op.name, scaffold.ready_for_local_init_op.name,
         scaffold.local_init_op.name, scaffold.summary_op.name, type(scaffold.saver).__name__]
before, names, tf.get_default_graph().finalized, [tf.get_collection(key) != [] for key in (
    "init_op", "ready_op", "ready_for_local_init_op", "local_init_op", "summary_op", "savers")]""",
    "a scaffold of one's own": """
x = tf.placeholder(tf.float32, [])
local = tf.Variable(5.0, collections=[tf.GraphKeys.LOCAL_VARIABLES], name="local")
calls = []
scaffold = tf.train.Scaffold(
    init_op=tf.group(v.assign(x), step.initializer), init_feed_dict={x: 7.0},
    init_fn=lambda scaffold, session: calls.append(session.run(v)), local_init_op=local.initializer)
other = tf.train.Scaffold(copy_from_scaffold=scaffold, local_init_op=tf.group(local.assign(x)),
                          local_init_feed_dict={x: 8.0})
with tf.train.MonitoredSession(tf.train.ChiefSessionCreator(other)) as session:
    result = session.run([v, local])
result, calls""",
    "two of one kind": """
tf.add_to_collection(tf.GraphKeys.INIT_OP, tf.no_op())
tf.add_to_collection(tf.GraphKeys.INIT_OP, tf.no_op())
outcome(tf.train.Scaffold().finalize)""",
    "not everything is initialized": """
w = tf.Variable(2.0, name="w")
scaffold = tf.train.Scaffold(init_op=v.initializer)
outcome(tf.train.ChiefSessionCreator(scaffold).create_session)""",
    "a session manager": """
manager = tf.train.SessionManager(ready_op=tf.report_uninitialized_variables(), recovery_wait_secs=0.01)
saver = tf.train.Saver()
init = tf.global_variables_initializer()
session, known = manager.recover_session("", saver, folder)
nothing = outcome(lambda: manager.prepare_session("", saver=saver, checkpoint_dir=folder))
session = manager.prepare_session("", init_op=init, saver=saver, checkpoint_dir=folder,
                                  init_fn=lambda s: s.run(v.assign(9.0)))
path = saver.save(session, os.path.join(folder, "c"))
again, restored = manager.recover_session("", saver, folder)
by_path = manager.prepare_session("", saver=saver, checkpoint_filename_with_path=path)
both = outcome(lambda: manager.prepare_session("", init, saver, folder, path))
known, nothing, session.run(v), again.run(v), restored, by_path.run(v), both""",
    "a session manager that waits": """
manager = tf.train.SessionManager(ready_op=tf.report_uninitialized_variables(), recovery_wait_secs=0.01)
init = tf.global_variables_initializer()
[outcome(lambda: manager.wait_for_session("", max_wait_secs=0.05)),
 outcome(lambda: manager.recover_session("", tf.train.Saver(), folder, wait_for_checkpoint=True,
                                         max_wait_secs=0.05)[1]),
 outcome(lambda: tf.train.SessionManager(ready_op=None).wait_for_session("").run(tf.constant(3)))]""",
    "what makes a model ready": """
local = tf.Variable(v.initialized_value() * 2, collections=[tf.GraphKeys.LOCAL_VARIABLES], name="local")
def manage(**options):
    manager = tf.train.SessionManager(local_init_op=local.initializer, recovery_wait_secs=0.01, **options)
    return manager.prepare_session("", init_op=tf.global_variables_initializer()).run(local)
report = tf.report_uninitialized_variables
[outcome(lambda: manage(ready_op=report(), ready_for_local_init_op=report(tf.global_variables()))),
 outcome(lambda: manage(ready_op=report([v]), ready_for_local_init_op=report())),
 outcome(lambda: manage(ready_op=tf.assert_variables_initialized())),
 outcome(lambda: manage(ready_op=tf.constant(["anything"])))]""",
}


@pytest.mark.slow
def test_as_in_tensorflow(oracle):
    assert not differences(oracle, SNIPPETS, SETUP)
