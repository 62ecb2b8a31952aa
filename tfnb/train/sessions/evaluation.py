"""Evaluation of a checkpoint in a monitored session: `tf.contrib.training.evaluate_once` and its hooks."""
from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Sequence
from typing import Any

from tfnb.core import dtypes
from tfnb.core.nest import flatten
from tfnb.graph.parts.keys import GraphKeys
from tfnb.graph.stack import get_default_graph
from tfnb.ops.control.group import group
from tfnb.ops.io.summary import merge_all
from tfnb.ops.state.assign import assign_add
from tfnb.summary.writer import FileWriterCache
from tfnb.train.checkpoints.iterator import checkpoints_iterator
from tfnb.train.global_step import get_global_step
from tfnb.train.sessions.creator import ChiefSessionCreator
from tfnb.train.sessions.feed_hooks import FinalOpsHook
from tfnb.train.sessions.hook import SessionRunArgs, SessionRunContext, SessionRunHook, SessionRunValues
from tfnb.train.sessions.monitored_session import MonitoredSession
from tfnb.variables.initializers import zeros_initializer
from tfnb.variables.scope import get_variable

_log = logging.getLogger("tensorflow")
_MANY = 20                                 # evaluations from which on only each tenth part is logged


def get_or_create_eval_step() -> Any:
    """Return the local variable "eval_step" that counts evaluation steps, created if there is none.

    Raises ValueError if the graph has several.

    >>> step = tf.contrib.training.get_or_create_eval_step()
    >>> step.name, tf.contrib.training.get_or_create_eval_step() is step
    ('eval_step:0', True)
    """
    found = get_default_graph().get_collection(GraphKeys.EVAL_STEP)
    if len(found) > 1:
        raise ValueError("Multiple tensors added to tf.GraphKeys.EVAL_STEP")
    return found[0] if found else get_variable(
        GraphKeys.EVAL_STEP, shape=[], dtype=dtypes.int64, initializer=zeros_initializer(), trainable=False,
        collections=[GraphKeys.LOCAL_VARIABLES, GraphKeys.EVAL_STEP])


class StopAfterNEvalsHook(SessionRunHook):
    """Hook that requests a stop after `num_evals` evaluation steps (None: never).

    log_progress: log each step, or of 20 and more each tenth part.

    >>> x = tf.constant(3.0)
    >>> tf.contrib.training.evaluate_once(
    ...     None, eval_ops=x, final_ops=x, hooks=[tf.contrib.training.StopAfterNEvalsHook(2)])
    3.0
    """

    def __init__(self, num_evals: int | None, log_progress: bool = True) -> None:
        self._num_evals, self._log_progress = num_evals, log_progress
        self._evals_completed: Any = None
        self._every = 1 if num_evals is None or num_evals < _MANY else num_evals // 10

    def count(self, updated: Any) -> None:
        """Take `updated`, the tensor of the steps done, which each run increments."""
        self._evals_completed = updated

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Request the number of steps."""
        return SessionRunArgs({"evals_completed": self._evals_completed})

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Log the step, and request a stop after the last one."""
        done = int(run_values.results["evals_completed"])
        if self._log_progress and (self._num_evals is None or done % self._every == 0 or done == self._num_evals):
            _log.info("Evaluation [%d%s]", done, "" if self._num_evals is None else f"/{self._num_evals}")
        if self._num_evals is not None and done >= self._num_evals:
            run_context.request_stop()


class SummaryAtEndHook(SessionRunHook):
    """Hook that writes summaries once, at the end.

    log_dir: the folder of event files, or summary_writer: a FileWriter. summary_op: by default all summaries of the
    graph; feed_dict: of its run. Raises ValueError without a folder and a writer.

    >>> loss = tf.summary.scalar("loss", 0.5)
    >>> step = tf.train.get_or_create_global_step()
    >>> with tf.train.MonitoredSession(hooks=[tf.contrib.training.SummaryAtEndHook("logs")]) as session:
    ...     session.run(step)
    0
    >>> len(tf.gfile.Glob("logs/events*"))
    1
    """

    def __init__(self, log_dir: str | None = None, summary_writer: Any = None, summary_op: Any = None,
                 feed_dict: Any = None) -> None:
        if not log_dir and summary_writer is None:
            raise ValueError("log_dir and summary_writer cannot both be None: give one of them")
        self._log_dir, self._writer = log_dir, summary_writer
        self._summary_op, self._feed_dict = summary_op, feed_dict

    def begin(self) -> None:
        """Find the summaries, the global step and the writer."""
        self._summary_op = merge_all() if self._summary_op is None else self._summary_op
        self._step = get_global_step()
        self._writer = self._writer or FileWriterCache.get(str(self._log_dir))

    def end(self, session: Any) -> None:
        """Write the summaries."""
        step = None if self._step is None else int(session.run(self._step))
        if self._summary_op is not None:
            self._writer.add_summary(session.run(self._summary_op, self._feed_dict), step)
        self._writer.flush()


def evaluate_once(checkpoint_path: Any, master: str = "", scaffold: Any = None, eval_ops: Any = None,
                  feed_dict: Any = None, final_ops: Any = None, final_ops_feed_dict: Any = None,
                  hooks: Sequence[SessionRunHook] | None = None, config: Any = None) -> Any:
    """Restore a checkpoint, run `eval_ops` until a hook or the end of the input stops it, and return the final ops.

    checkpoint_path: its prefix; None to initialize instead. master: the target of the session; scaffold: a
    tf.train.Scaffold; config: a ConfigProto. eval_ops: ops in any structure, run with feed_dict; None: no steps.
    final_ops: fetches of the one run at the end, with final_ops_feed_dict. hooks: SessionRunHooks.

    >>> predictions, labels = tf.constant([1, 0, 1, 1]), tf.constant([1, 0, 0, 1])
    >>> accuracy, update = tf.metrics.accuracy(labels, predictions)
    >>> tf.contrib.training.evaluate_once(
    ...     None, eval_ops=update, final_ops=accuracy, hooks=[tf.contrib.training.StopAfterNEvalsHook(1)])
    0.75
    """
    hooks = list(hooks or ())
    counted = None if eval_ops is None else counted_ops(eval_ops, hooks)
    if eval_ops is None:
        get_or_create_eval_step()
    path = None if checkpoint_path is None else os.fsdecode(checkpoint_path)
    creator = ChiefSessionCreator(scaffold, master, config, checkpoint_filename_with_path=path)
    return evaluate_by(creator, counted, hooks, feed_dict, final_ops, final_ops_feed_dict)


def counted_ops(eval_ops: Any, hooks: Sequence[SessionRunHook]) -> Any:
    """Return an op that runs `eval_ops` and counts the step, which hooks that stop after some steps look at."""
    updated = assign_add(get_or_create_eval_step(), 1, use_locking=True)
    for hook in hooks:
        if isinstance(hook, StopAfterNEvalsHook):
            hook.count(updated)
    return group(*flatten(eval_ops), updated)


def evaluate_by(creator: ChiefSessionCreator, eval_ops: Any, hooks: Sequence[SessionRunHook], feed_dict: Any = None,
                final_ops: Any = None, final_ops_feed_dict: Any = None) -> Any:
    """Run `eval_ops` in a session of `creator` until a hook or the end of the input stops it; return the final ops."""
    final = FinalOpsHook(final_ops, final_ops_feed_dict)
    _log.info("Starting evaluation at %s", time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()))
    with MonitoredSession(creator, [*hooks, final]) as session:
        while eval_ops is not None and not session.should_stop():
            session.run(eval_ops, feed_dict)
    _log.info("Finished evaluation at %s", time.strftime("%Y-%m-%d-%H:%M:%S", time.gmtime()))
    return final.final_ops_values


def evaluate_repeatedly(checkpoint_dir: Any, master: str = "", scaffold: Any = None, eval_ops: Any = None,
                        feed_dict: Any = None, final_ops: Any = None, final_ops_feed_dict: Any = None,
                        eval_interval_secs: float = 60, hooks: Sequence[SessionRunHook] | None = None,
                        config: Any = None, max_number_of_evaluations: int | None = None,
                        timeout: float | None = None, timeout_fn: Callable[[], bool] | None = None) -> Any:
    """Evaluate each new checkpoint of a directory as `evaluate_once` does, and return the last final ops.

    checkpoint_dir: the directory. eval_interval_secs: the least time from one evaluation to the next.
    max_number_of_evaluations: how many; None: no end. timeout: seconds to wait for a checkpoint; then timeout_fn says
    whether to stop (without it: yes). master, scaffold, eval_ops, feed_dict, final_ops, final_ops_feed_dict, hooks,
    config: as of evaluate_once.

    >>> v = tf.Variable(3.0)
    >>> sess.run(v.initializer)
    >>> path = tf.train.Saver().save(sess, "./model")
    >>> tf.contrib.training.evaluate_repeatedly(".", final_ops=v, max_number_of_evaluations=1)
    3.0
    """
    found, done = None, 0
    for path in checkpoints_iterator(checkpoint_dir, eval_interval_secs, timeout, timeout_fn):
        found = evaluate_once(path, master, scaffold, eval_ops, feed_dict, final_ops, final_ops_feed_dict, hooks,
                              config)
        done += 1
        if max_number_of_evaluations is not None and done >= max_number_of_evaluations:
            break
    return found
