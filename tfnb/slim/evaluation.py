"""Evaluation of checkpoints by `tf.contrib.slim`: that of tf.contrib.training with summaries and numbers of batches."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tfnb.core.arguments import SLIM, describe
from tfnb.ops.io.summary import merge_all
from tfnb.train.checkpoints.saver import Saver
from tfnb.train.sessions import evaluation as contrib
from tfnb.train.sessions.scaffold import Scaffold

_USE_DEFAULT = 0


def _hooks(logdir: str | None, num_evals: int, summary_op: Any, feed_dict: Any, more: Any) -> list[Any]:
    summary_op = merge_all() if isinstance(summary_op, int) and summary_op == _USE_DEFAULT else summary_op
    hooks: list[Any] = [contrib.StopAfterNEvalsHook(num_evals)]
    if summary_op is not None:
        hooks.append(contrib.SummaryAtEndHook(logdir, summary_op=summary_op, feed_dict=feed_dict))
    return [*hooks, *(more or ())]


def _scaffold(initial_op: Any, feed_dict: Any, variables: Any) -> Scaffold:
    return Scaffold(init_op=initial_op, init_feed_dict=feed_dict, saver=None if variables is None else Saver(variables))


def evaluate_once(master: str, checkpoint_path: Any, logdir: str | None, num_evals: int = 1, initial_op: Any = None,
                  initial_op_feed_dict: Any = None, eval_op: Any = None, eval_op_feed_dict: Any = None,
                  final_op: Any = None, final_op_feed_dict: Any = None, summary_op: Any = _USE_DEFAULT,
                  summary_op_feed_dict: Any = None, variables_to_restore: Any = None, session_config: Any = None,
                  hooks: Sequence[Any] | None = None) -> Any:
    """Restore a checkpoint, run `eval_op` for `num_evals` batches, write summaries and return the value of `final_op`.

    checkpoint_path: its prefix; None: the variables are initialized.

    >>> v = tf.Variable(3.0)
    >>> sess.run(v.initializer)
    >>> path = tf.train.Saver().save(sess, "./model")
    >>> tf.contrib.slim.evaluation.evaluate_once("", path, "logs", final_op=v)
    3.0
    """
    return contrib.evaluate_once(
        checkpoint_path, master, _scaffold(initial_op, initial_op_feed_dict, variables_to_restore), eval_op,
        eval_op_feed_dict, final_op, final_op_feed_dict,
        _hooks(logdir, num_evals, summary_op, summary_op_feed_dict, hooks), session_config)


def evaluation_loop(master: str, checkpoint_dir: Any, logdir: str | None, num_evals: int = 1, initial_op: Any = None,
                    initial_op_feed_dict: Any = None, init_fn: Any = None, eval_op: Any = None,
                    eval_op_feed_dict: Any = None, final_op: Any = None, final_op_feed_dict: Any = None,
                    summary_op: Any = _USE_DEFAULT, summary_op_feed_dict: Any = None, variables_to_restore: Any = None,
                    eval_interval_secs: float = 60, max_number_of_evaluations: int | None = None,
                    session_config: Any = None, timeout: float | None = None,
                    timeout_fn: Callable[[], bool] | None = None, hooks: Sequence[Any] | None = None) -> Any:
    """Evaluate each new checkpoint of a folder as `evaluate_once` does, and return the last value of `final_op`.

    checkpoint_dir: the folder. init_fn: a function of the scaffold and the session. eval_interval_secs: the least time
    from one to the next. max_number_of_evaluations: how many; None: no end. timeout, timeout_fn: as of
    tf.contrib.training.checkpoints_iterator.

    >>> v = tf.Variable(3.0)
    >>> sess.run(v.initializer)
    >>> path = tf.train.Saver().save(sess, "./model")
    >>> tf.contrib.slim.evaluation.evaluation_loop(
    ...     "", ".", "logs", final_op=v, variables_to_restore=[v], max_number_of_evaluations=1)
    3.0
    """
    scaffold = Scaffold(init_op=initial_op, init_feed_dict=initial_op_feed_dict, init_fn=init_fn,
                        saver=None if variables_to_restore is None else Saver(variables_to_restore))
    return contrib.evaluate_repeatedly(
        checkpoint_dir, master, scaffold, eval_op, eval_op_feed_dict, final_op, final_op_feed_dict,
        eval_interval_secs, _hooks(logdir, num_evals, summary_op, summary_op_feed_dict, hooks), session_config,
        max_number_of_evaluations, timeout, timeout_fn)


describe(globals(), SLIM)
