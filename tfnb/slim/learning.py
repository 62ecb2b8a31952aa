"""The training loop of `tf.contrib.slim`, in the session of a tf.train.Supervisor."""
from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Mapping
from typing import Any

from tfnb.core import errors
from tfnb.core.arguments import SLIM, describe
from tfnb.debug.timeline import Timeline
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.stack import get_default_graph, name_scope
from tfnb.ops.composite.indexed_slices import IndexedSlices
from tfnb.ops.math.compare import equal, greater_equal
from tfnb.proto import config_pb2
from tfnb.train.checkpoints.saver import Saver
from tfnb.train.global_step import get_or_create_global_step
from tfnb.train.optimizers import train_op as contrib
from tfnb.train.optimizers.optimizer import Optimizer
from tfnb.train.sessions.supervisor import Supervisor

_log = logging.getLogger("tensorflow")
_USE_DEFAULT = Supervisor.USE_DEFAULT
add_gradients_summaries, clip_gradient_norms = contrib.add_gradients_summaries, contrib.clip_gradient_norms


def multiply_gradients(grads_and_vars: Any, gradient_multipliers: Mapping[Any, Any]) -> list[Any]:
    """Return pairs (gradient, variable) with some gradients multiplied.

    grads_and_vars: a list of pairs. gradient_multipliers: a dict from variables, or names of their ops, to factors.
    Raises ValueError for a list or dict that is empty or another type, and for a variable without a gradient.

    >>> v = tf.Variable(3.0, name="v")
    >>> (doubled, _), = tf.contrib.slim.learning.multiply_gradients([(tf.constant(5.0), v)], {"v": 2.0})
    >>> sess.run(doubled)
    10.0
    """
    if not isinstance(grads_and_vars, list) or not grads_and_vars:
        raise ValueError(f"expected a list of pairs (gradient, variable) in grads_and_vars, got {grads_and_vars!r}")
    if not isinstance(gradient_multipliers, dict) or not gradient_multipliers:
        raise ValueError("expected a dict from variables to factors in gradient_multipliers, got "
                         f"{gradient_multipliers!r}")
    return [(_times(gradient, variable, gradient_multipliers), variable) for gradient, variable in grads_and_vars]


def _times(gradient: Any, variable: Any, factors: Mapping[Any, Any]) -> Any:
    key = variable if variable in factors else variable.op.name
    if key not in factors:
        return gradient
    if gradient is None:
        raise ValueError(f"expected a gradient of each variable with a multiplier, got None for {variable.op.name}")
    values = getattr(gradient, "values", gradient)
    made = values * convert_to_tensor(factors[key], dtype=values.dtype)
    return made if gradient is values else IndexedSlices(made, gradient.indices, gradient.dense_shape)


def create_train_op(total_loss: Any, optimizer: Any, global_step: Any = contrib.USE_GLOBAL_STEP,
                    update_ops: Any = None, variables_to_train: Any = None, clip_gradient_norm: float = 0,
                    summarize_gradients: bool = False, gate_gradients: int = Optimizer.GATE_OP,
                    aggregation_method: Any = None, colocate_gradients_with_ops: bool = False,
                    gradient_multipliers: Any = None, check_numerics: bool = True) -> Any:
    """Return a tensor that trains a step when it is run, and is the loss.

    gradient_multipliers: a dict from variables, or names, to factors of gradients (`multiply_gradients`), which are
    clipped after that, each to the norm clip_gradient_norm (0: not). total_loss, optimizer, global_step, update_ops,
    variables_to_train, summarize_gradients, gate_gradients, aggregation_method, colocate_gradients_with_ops,
    check_numerics: as of tf.contrib.training.create_train_op.

    >>> v = tf.Variable(3.0)
    >>> train_op = tf.contrib.slim.learning.create_train_op(
    ...     v * v, tf.train.GradientDescentOptimizer(0.5), clip_gradient_norm=1.0)
    >>> sess.run(tf.global_variables_initializer())
    >>> sess.run(train_op), sess.run(v)
    (9.0, 2.5)
    """
    def transformed(pairs: Any) -> Any:
        """Gradients multiplied, then clipped."""
        if gradient_multipliers:
            pairs = multiply_gradients(pairs, gradient_multipliers)
        return clip_gradient_norms(pairs, clip_gradient_norm) if clip_gradient_norm > 0 else pairs
    return contrib.create_train_op(
        total_loss, optimizer, global_step, update_ops, variables_to_train, transformed, summarize_gradients,
        gate_gradients, aggregation_method, colocate_gradients_with_ops, check_numerics)


def train_step(sess: Any, train_op: Any, global_step: Any, train_step_kwargs: Mapping[str, Any]) -> tuple[Any, Any]:
    """Run a step and return (its loss, whether to stop).

    sess: the session. train_step_kwargs: tensors "should_stop", "should_log" and "should_trace", each where it is
    wanted, and with the last the "logdir" of timelines and perhaps a "summary_writer".

    >>> v = tf.Variable(3.0)
    >>> train_op = tf.contrib.slim.learning.create_train_op(v * v, tf.train.GradientDescentOptimizer(0.25))
    >>> sess.run(tf.global_variables_initializer())
    >>> tf.contrib.slim.learning.train_step(sess, train_op, tf.train.get_global_step(), {})
    (9.0, False)
    """
    start = time.time()
    options = metadata = None
    if "should_trace" in train_step_kwargs and sess.run(train_step_kwargs["should_trace"]):
        options = config_pb2.RunOptions(trace_level=config_pb2.RunOptions.FULL_TRACE)
        metadata = config_pb2.RunMetadata()
    loss, step = sess.run([train_op, global_step], options=options, run_metadata=metadata)
    seconds = time.time() - start
    if metadata is not None:
        _trace(metadata, step, train_step_kwargs)
    if "should_log" in train_step_kwargs and sess.run(train_step_kwargs["should_log"]):
        _log.info("global step %d: loss = %.4f (%.3f sec/step)", step, loss, seconds)
    return loss, sess.run(train_step_kwargs["should_stop"]) if "should_stop" in train_step_kwargs else False


def _trace(metadata: Any, step: int, options: Mapping[str, Any]) -> None:
    """Write the timeline of a step into the folder, and its metadata into the event file."""
    path = os.path.join(options["logdir"], f"tf_trace-{step}.json")
    _log.info("Writing trace to %s", path)
    with open(path, "w", encoding="utf-8") as file:
        file.write(Timeline(metadata.step_stats).generate_chrome_trace_format())
    if options.get("summary_writer") is not None:
        options["summary_writer"].add_run_metadata(metadata, f"run_metadata-{step}")


def _checked(train_op: Any, logdir: Any, given: Mapping[str, Any], number_of_steps: int | None) -> None:
    """Raise ValueError for arguments that don't go together."""
    if train_op is None:
        raise ValueError("expected a tensor or op as train_op, got None")
    for name, value in given.items():
        if logdir is None and value:
            raise ValueError(f"expected no {name} where logdir is None: nothing is written, got {value!r}")
    if number_of_steps is not None and number_of_steps <= 0:
        raise ValueError(f"expected a positive number_of_steps or None, got {number_of_steps}")


def _step_arguments(step: Any, number_of_steps: int | None, log_every: int, trace_every: int | None,
                    logdir: str | None) -> dict[str, Any]:
    with name_scope("train_step"):
        made: dict[str, Any] = {"should_stop": convert_to_tensor(False) if number_of_steps is None
                                else greater_equal(step, number_of_steps)}
        if log_every > 0:
            made["should_log"] = equal(step % log_every, 0)
        if trace_every is not None:
            made.update(should_trace=equal(step % trace_every, 0), logdir=logdir)
    return made


def train(train_op: Any, logdir: str | None, train_step_fn: Callable[..., tuple[Any, Any]] = train_step,
          train_step_kwargs: Any = _USE_DEFAULT, log_every_n_steps: int = 1, graph: Any = None, master: str = "",
          is_chief: bool = True, global_step: Any = None, number_of_steps: int | None = None,
          init_op: Any = _USE_DEFAULT, init_feed_dict: Any = None, local_init_op: Any = _USE_DEFAULT,
          init_fn: Any = None, ready_op: Any = _USE_DEFAULT, summary_op: Any = _USE_DEFAULT,
          save_summaries_secs: float = 600, summary_writer: Any = _USE_DEFAULT, startup_delay_steps: int = 0,
          saver: Any = None, save_interval_secs: float = 600, sync_optimizer: Any = None, session_config: Any = None,
          session_wrapper: Any = None, trace_every_n_steps: int | None = None,
          ignore_live_threads: bool = False) -> Any:
    """Train until `number_of_steps` steps are counted or the input ends, and return the last loss.

    logdir: the folder of events and checkpoints, which is gone on from; None: nothing is written. train_step_fn: is
    called with (session, train_op, global_step, train_step_kwargs) for each step, returns (loss, stop or not).
    train_step_kwargs: a dict for it; by default as train_step's. log_every_n_steps, trace_every_n_steps: how often a
    step is logged (0: never), or its timeline written (None: never). init_fn: a function of the session, called after
    init_op where there is no checkpoint. startup_delay_steps: steps that a worker which is no chief waits for.
    sync_optimizer: only None (ValueError). session_wrapper: a function from the session to the one used.
    ignore_live_threads: as of Coordinator.join. session_config: a ConfigProto; master: its target. graph, is_chief,
    init_op, init_feed_dict, local_init_op, ready_op, summary_op, save_summaries_secs, summary_writer, saver, and
    save_interval_secs for its save_model_secs: as of tf.train.Supervisor.

    >>> v = tf.Variable(3.0)
    >>> train_op = tf.contrib.slim.learning.create_train_op(v * v, tf.train.GradientDescentOptimizer(0.25))
    >>> tf.contrib.slim.learning.train(train_op, "logs", number_of_steps=2)
    2.25
    >>> tf.train.latest_checkpoint("logs")
    'logs/model.ckpt-2'
    """
    _checked(train_op, logdir, {"summary_op": summary_op not in (_USE_DEFAULT, None), "saver": saver,
                                "trace_every_n_steps": trace_every_n_steps}, number_of_steps)
    if sync_optimizer is not None:
        raise ValueError(f"expected None as sync_optimizer, got {sync_optimizer!r}: give tf.train."
                         "MonitoredTrainingSession the hook of SyncReplicasOptimizer.make_session_run_hook")
    with (graph or get_default_graph()).as_default() as graph:
        step = get_or_create_global_step() if global_step is None else global_step
        if train_step_kwargs is _USE_DEFAULT:
            train_step_kwargs = _step_arguments(step, number_of_steps, log_every_n_steps,
                                                trace_every_n_steps if is_chief else None, logdir)
        supervisor = Supervisor(
            graph, ready_op, is_chief=is_chief, init_op=init_op, init_feed_dict=init_feed_dict,
            local_init_op=local_init_op, logdir=logdir, summary_op=summary_op, saver=saver or Saver(),
            global_step=step, save_summaries_secs=save_summaries_secs, save_model_secs=save_interval_secs,
            summary_writer=summary_writer, init_fn=init_fn)
        if summary_writer is not None and train_step_kwargs is not None:
            train_step_kwargs["summary_writer"] = supervisor.summary_writer
        loop = _Loop(supervisor, train_op, step, train_step_fn, train_step_kwargs, session_wrapper)
        delay = 0 if is_chief else startup_delay_steps
        while not loop.run(master, session_config, bool(logdir), delay, ignore_live_threads):
            _log.info("Retrying training!")
    return loop.loss


class _Loop:
    """The steps of a training, in one session after the other until one is not aborted."""

    def __init__(self, supervisor: Supervisor, train_op: Any, step: Any, train_step_fn: Any, options: Any,
                 wrapper: Any) -> None:
        self._supervisor, self._train_op, self._step, self._wrapper = supervisor, train_op, step, wrapper
        self._train_step, self._options = train_step_fn, options
        self.loss: Any = None

    def run(self, master: str, config: Any, saves: bool, delay: int, ignore_live_threads: bool) -> bool:
        """Train in a new session; return whether it came to its end."""
        supervisor = self._supervisor
        try:
            with supervisor.managed_session(master, config, start_standard_services=False) as session:
                session = self._wrapper(session) if self._wrapper else session
                if saves and supervisor.is_chief:
                    supervisor.start_standard_services(session)
                while delay and session.run(self._step) < delay:
                    time.sleep(1)
                threads = supervisor.start_queue_runners(session)
                self._steps(session)
                supervisor.stop(threads, close_summary_writer=False, ignore_live_threads=ignore_live_threads)
                if saves and supervisor.is_chief:           # last, or the thread that saves the first step comes after
                    _log.info("Finished training! Saving model to disk.")
                    supervisor.saver.save(session, supervisor.save_path, global_step=supervisor.global_step)
        except errors.AbortedError:
            return False
        return True

    def _steps(self, session: Any) -> None:
        try:
            while not self._supervisor.should_stop():
                self.loss, stop = self._train_step(session, self._train_op, self._step, self._options)
                if stop:
                    self._supervisor.request_stop()
        except errors.OutOfRangeError:
            _log.info("Caught OutOfRangeError. Stopping Training.")


describe(globals(), SLIM)
