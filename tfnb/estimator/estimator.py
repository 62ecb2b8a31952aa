"""Estimators: training, evaluation, prediction and export of a model in sessions of their own (`tf.estimator`)."""
from __future__ import annotations

import copy
import logging
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Self

import numpy as np

from tfnb.core.arguments import ESTIMATORS, describe
from tfnb.core.lazy import lazy_module
from tfnb.estimator import calls
from tfnb.estimator.receivers import ServingInputReceiver
from tfnb.estimator.results import metric_ops, write_results
from tfnb.estimator.run_config import RunConfig
from tfnb.estimator.saving import export_model
from tfnb.estimator.spec import EstimatorSpec, ModeKeys
from tfnb.estimator.warm_start import WarmStartSettings, settings_of
from tfnb.graph.graph import Graph
from tfnb.graph.parts.keys import GraphKeys
from tfnb.graph.stack import add_to_collection, device
from tfnb.ops.io.summary import scalar as scalar_summary
from tfnb.ops.random.random_ops import set_random_seed
from tfnb.train.checkpoints.reader import list_variables, load_variable
from tfnb.train.checkpoints.saver import Saver
from tfnb.train.checkpoints.state import latest_checkpoint
from tfnb.train.checkpoints.warm_start import warm_start
from tfnb.train.global_step import create_global_step, global_step_before_run
from tfnb.train.sessions.checkpoint_hook import CheckpointSaverHook, CheckpointSaverListener
from tfnb.train.sessions.creator import ChiefSessionCreator
from tfnb.train.sessions.evaluation import StopAfterNEvalsHook, evaluate_once
from tfnb.train.sessions.hook import SessionRunHook
from tfnb.train.sessions.logging_hooks import LoggingTensorHook
from tfnb.train.sessions.monitored_session import MonitoredSession, MonitoredTrainingSession
from tfnb.train.sessions.stop_hooks import NanTensorHook, StopAtStepHook

_log = logging.getLogger("tensorflow")
_config_pb2 = lazy_module("tfnb.proto.config_pb2")
Hooks = Sequence[SessionRunHook] | None


class Estimator:
    """Model that is trained, evaluated, asked and exported by methods, each in a graph and a session of its own.

    model_fn(features, labels, mode, params, config) builds the model and returns an EstimatorSpec; it may leave out
    labels, mode, params and config. model_dir: the folder of checkpoints and event files, also that of `config`, or
    else a temporary one; a checkpoint in it goes on. config: a RunConfig. params: passed to model_fn as they are.
    warm_start_from: a checkpoint, a SavedModel or a WarmStartSettings, where variables begin. Raises ValueError for a
    model_fn of other arguments, or another model_dir than that of config.

    >>> def model_fn(features, labels, mode):
    ...     w = tf.get_variable("w", [], initializer=tf.zeros_initializer())
    ...     predictions = w * features["x"]
    ...     if mode == tf.estimator.ModeKeys.PREDICT:
    ...         return tf.estimator.EstimatorSpec(mode, predictions={"y": predictions})
    ...     loss = tf.losses.mean_squared_error(labels, predictions)
    ...     optimizer = tf.train.GradientDescentOptimizer(0.1)
    ...     train_op = optimizer.minimize(loss, global_step=tf.train.get_global_step())
    ...     return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)
    >>> x = np.array([1.0, 2.0], np.float32)
    >>> input_fn = tf.estimator.inputs.numpy_input_fn({"x": x}, 3 * x, num_epochs=None, shuffle=False)
    >>> estimator = tf.estimator.Estimator(model_fn, model_dir="model")
    >>> estimator = estimator.train(input_fn, steps=50)
    >>> estimator.get_variable_value("w")
    3.0
    """

    def __init__(self, model_fn: Callable[..., Any], model_dir: Any = None, config: RunConfig | None = None,
                 params: Any = None, warm_start_from: Any = None) -> None:
        calls.check_model_fn(model_fn, params)
        self._config = _config(config, model_dir)
        self._model_fn, self._params = model_fn, copy.deepcopy(params if params is not None else {})
        self._warm_start: WarmStartSettings | None = settings_of(warm_start_from)
        _log.info("Using config: %s", {f"_{key}": value for key, value in self._config._values.items()})

    @property
    def model_dir(self) -> str:
        """Folder of checkpoints and event files."""
        folder: str = self._config.model_dir
        return folder

    @property
    def config(self) -> RunConfig:
        """RunConfig of its sessions, a copy."""
        return copy.copy(self._config)

    @property
    def params(self) -> Any:
        """Copy of `params`, which model_fn gets."""
        return copy.deepcopy(self._params)

    @property
    def model_fn(self) -> Callable[..., Any]:
        """Function (features, labels, mode, config) that calls model_fn with params."""
        def public_model_fn(features: Any, labels: Any, mode: str, config: Any) -> EstimatorSpec:
            return calls.call_model_fn(self._model_fn, features, labels, mode, self.params, config)
        return public_model_fn

    def get_variable_value(self, name: str) -> Any:
        """Return the value of a variable in the newest checkpoint. Raises ValueError without one."""
        self._require_checkpoint()
        return load_variable(self.model_dir, name)

    def get_variable_names(self) -> list[str]:
        """Return the names of the variables in the newest checkpoint. Raises ValueError without one."""
        self._require_checkpoint()
        return [name for name, _ in list_variables(self.model_dir)]

    def latest_checkpoint(self) -> str | Any:
        """Return the newest checkpoint's prefix, or None."""
        return latest_checkpoint(self.model_dir)

    def eval_dir(self, name: str | None = None) -> str:
        """Return the folder of the event files of `evaluate(name=name)`."""
        return os.path.join(self.model_dir, f"eval_{name}" if name else "eval")

    def _require_checkpoint(self) -> str:
        found = self.latest_checkpoint()
        if not found:
            raise ValueError(f"Could not find trained model in model_dir: {self.model_dir}.")
        return str(found)

    def _inputs(self, input_fn: Callable[..., Any], mode: str) -> tuple[Any, Any, list[SessionRunHook]]:
        return calls.features_and_labels(self._given(input_fn, mode))

    def _given(self, input_fn: Callable[..., Any], mode: str) -> Any:
        """Return what an input_fn returns."""
        return calls.call_input_fn(input_fn, mode, self.params, self.config)

    def _spec(self, features: Any, labels: Any, mode: str) -> EstimatorSpec:
        return calls.call_model_fn(self._model_fn, features, labels, mode, self.params, self.config)

    # ---- training ---------------------------------------------------------------------------------------------------

    def train(self, input_fn: Callable[..., Any], hooks: Hooks = None, steps: int | None = None,
              max_steps: int | None = None, saving_listeners: Sequence[CheckpointSaverListener] | None = None) -> Self:
        """Train from the newest checkpoint, for `steps` steps or up to the global step `max_steps`, and return itself.

        Without both it trains until the input ends. Raises ValueError for both, or a number that is not positive.
        """
        _positive(steps=steps, max_steps=max_steps)
        if steps is not None and max_steps is not None:
            raise ValueError("Can not provide both steps and max_steps.")
        found = self.latest_checkpoint()
        if max_steps is not None and found and int(load_variable(found, GraphKeys.GLOBAL_STEP)) >= max_steps:
            _log.info("Skipping training since max_steps has already saved.")
            return self
        hooks = _checked(hooks, SessionRunHook, "Hooks")
        listeners = _checked(saving_listeners, CheckpointSaverListener, "saving_listeners")
        if steps is not None or max_steps is not None:
            hooks.append(StopAtStepHook(steps, max_steps))
        with Graph().as_default(), device(self._config.task.devices):
            set_random_seed(self._config.tf_random_seed)
            global_step = create_global_step()
            global_step_before_run()
            features, labels, input_hooks = self._inputs(input_fn, ModeKeys.TRAIN)
            spec = self._spec(features, labels, ModeKeys.TRAIN)
            loss = self._fit(spec, [*hooks, *input_hooks], listeners, global_step)
        _log.info("Loss for final step: %s.", loss)
        return self

    def _fit(self, spec: EstimatorSpec, hooks: list[SessionRunHook], listeners: list[Any], global_step: Any) -> Any:
        """Run the train op until a hook stops it, and return the last loss."""
        config = self._config
        if self._warm_start is not None:
            _log.info("Warm-starting with WarmStartSettings: %s", self._warm_start)
            warm_start(*self._warm_start)
        graph = spec.loss.graph
        if not any(summary.op.name == "loss" for summary in graph.get_collection(GraphKeys.SUMMARIES)):
            scalar_summary("loss", spec.loss)
        add_to_collection(GraphKeys.LOSSES, spec.loss)
        hooks = [*hooks, NanTensorHook(spec.loss)]
        if config.log_step_count_steps is not None:
            hooks.append(LoggingTensorHook({"loss": spec.loss, "step": global_step}, config.log_step_count_steps))
        hooks += spec.training_hooks
        if not graph.get_collection(GraphKeys.SAVERS) and spec.scaffold.saver is None:
            add_to_collection(GraphKeys.SAVERS, Saver(
                sharded=True, max_to_keep=config.keep_checkpoint_max, defer_build=True, save_relative_paths=True,
                keep_checkpoint_every_n_hours=config.keep_checkpoint_every_n_hours))
        chief = [*self._saving([*hooks, *spec.training_chief_hooks], spec.scaffold, listeners),
                 *spec.training_chief_hooks]
        loss = None
        with MonitoredTrainingSession(
                config.master, config.is_chief, self.model_dir, spec.scaffold, hooks=hooks, chief_only_hooks=chief,
                save_checkpoint_secs=0, save_summaries_steps=config.save_summary_steps, config=self._session_config(),
                log_step_count_steps=config.log_step_count_steps) as session:
            while not session.should_stop():
                _, loss = session.run([spec.train_op, spec.loss])
        if loss is None:
            _log.warning("Training with estimator made no steps. Perhaps input is empty or misspecified.")
        return loss

    def _session_config(self) -> Any:
        """Return the ConfigProto of sessions that train: of a cluster, for this task and the parameter servers."""
        found, task = self._config.session_config, self._config.task
        if not task.distributed or found is not None:
            return found
        return _config_pb2.ConfigProto(device_filters=task.device_filters)

    def _saving(self, hooks: list[SessionRunHook], scaffold: Any, listeners: list[Any]) -> list[SessionRunHook]:
        """Return a hook that saves checkpoints, unless there is one; the listeners join it."""
        config = self._config
        found: list[Any] = [hook for hook in hooks if isinstance(hook, CheckpointSaverHook)]
        if found:
            found[0]._listeners.extend(listeners)
            return []
        if config.save_checkpoints_secs or config.save_checkpoints_steps:
            return [CheckpointSaverHook(self.model_dir, config.save_checkpoints_secs, config.save_checkpoints_steps,
                                        scaffold=scaffold, listeners=listeners)]
        if listeners:
            raise ValueError("There should be a CheckpointSaverHook to use saving_listeners. Please set one of the "
                             "RunConfig.save_checkpoints_steps or RunConfig.save_checkpoints_secs.")
        return []

    # ---- evaluation -------------------------------------------------------------------------------------------------

    def evaluate(self, input_fn: Callable[..., Any], steps: int | None = None, hooks: Hooks = None,
                 checkpoint_path: Any = None, name: str | None = None) -> dict[str, Any]:
        """Evaluate the newest checkpoint, or `checkpoint_path`, for `steps` steps or until the input ends.

        Return the metrics of the model_fn, the mean loss of the steps ("loss") and "global_step", which are also
        written to event files in `eval_dir(name)`. Raises ValueError for a number of steps that is not positive.
        """
        _positive(steps=steps)
        hooks = _checked(hooks, SessionRunHook, "Hooks")
        if steps is not None:
            hooks.append(StopAfterNEvalsHook(steps))
        path = checkpoint_path or self.latest_checkpoint()
        if not path:
            _log.info("Could not find trained model in model_dir: %s, running initialization to evaluate.",
                      self.model_dir)
        with Graph().as_default():
            set_random_seed(self._config.tf_random_seed)
            global_step = create_global_step()
            features, labels, input_hooks = self._inputs(input_fn, ModeKeys.EVAL)
            spec = self._spec(features, labels, ModeKeys.EVAL)
            update, values = metric_ops(spec, global_step)
            if self._warm_start is not None and not path:
                warm_start(*self._warm_start)
            results: dict[str, Any] = evaluate_once(
                path, scaffold=spec.scaffold, eval_ops=update, final_ops=values,
                hooks=[*hooks, *input_hooks, *spec.evaluation_hooks], config=self._config.session_config)
            write_results(self.eval_dir(name), results, path)
        return results

    # ---- prediction -------------------------------------------------------------------------------------------------

    def predict(self, input_fn: Callable[..., Any], predict_keys: Any = None, hooks: Hooks = None,
                checkpoint_path: Any = None, yield_single_examples: bool = True) -> Iterator[Any]:
        """Yield the predictions for each example of an input, until it ends: arrays, or dicts of arrays by name.

        predict_keys: names of those that are wanted. yield_single_examples: False for whole batches. checkpoint_path:
        by default the newest. Raises ValueError for names that model_fn has not, and batches of different sizes.
        """
        hooks = _checked(hooks, SessionRunHook, "Hooks")
        path = checkpoint_path or self.latest_checkpoint()
        if not path:
            _log.info("Could not find trained model in model_dir: %s, running initialization to predict.",
                      self.model_dir)
        with Graph().as_default():
            set_random_seed(self._config.tf_random_seed)
            create_global_step()
            features, input_hooks = calls.features_alone(self._given(input_fn, ModeKeys.PREDICT))
            spec = self._spec(features, None, ModeKeys.PREDICT)
            if self._warm_start is not None and not path:
                warm_start(*self._warm_start)
            wanted = _wanted(spec.predictions, predict_keys)
            creator = ChiefSessionCreator(spec.scaffold, config=self._config.session_config,
                                          checkpoint_filename_with_path=path)
            session = MonitoredSession(creator, [*hooks, *input_hooks, *spec.prediction_hooks])
        with session:                              # whose graph is not the default one of whoever takes an example
            while not session.should_stop():
                values = session.run(wanted)
                if yield_single_examples:
                    yield from _examples(values)
                else:
                    yield values

    # ---- export -----------------------------------------------------------------------------------------------------

    def export_saved_model(self, export_dir_base: Any, serving_input_receiver_fn: Callable[[], ServingInputReceiver],
                           assets_extra: Mapping[str, Any] | None = None, as_text: bool = False,
                           checkpoint_path: Any = None, experimental_mode: str = ModeKeys.PREDICT,
                           strip_default_attrs: bool = True) -> bytes:
        """Write a SavedModel of the newest checkpoint, or `checkpoint_path`, and return its folder.

        That is a new folder in `export_dir_base`, with the time as its name. serving_input_receiver_fn: builds what is
        fed to the model. assets_extra: names of files in its "assets.extra" to files that are copied there. as_text:
        write a text proto. experimental_mode: tf.estimator.ModeKeys.PREDICT; others raise ValueError, as no checkpoint.
        """
        if experimental_mode != ModeKeys.PREDICT:
            raise ValueError(f"experimental_mode must be {ModeKeys.PREDICT!r} (graphs for training are in checkpoints' "
                             f"meta graphs), got {experimental_mode!r}")
        path = checkpoint_path or self.latest_checkpoint()
        if not path:
            raise ValueError(f"Couldn't find trained model at {self.model_dir}.")
        with Graph().as_default():
            create_global_step()
            set_random_seed(self._config.tf_random_seed)
            receiver = serving_input_receiver_fn()
            spec = self._spec(receiver.features, None, ModeKeys.PREDICT)
            return export_model(export_dir_base, receiver, spec, path, assets_extra, as_text, strip_default_attrs,
                                self._config.session_config)

    def export_savedmodel(self, export_dir_base: Any, serving_input_receiver_fn: Callable[[], ServingInputReceiver],
                          assets_extra: Mapping[str, Any] | None = None, as_text: bool = False,
                          checkpoint_path: Any = None, strip_default_attrs: bool = False) -> bytes:
        """Write a SavedModel as `export_saved_model`, with attrs that have their default values, too."""
        return self.export_saved_model(export_dir_base, serving_input_receiver_fn, assets_extra, as_text,
                                       checkpoint_path, strip_default_attrs=strip_default_attrs)


def _config(config: RunConfig | None, model_dir: Any) -> RunConfig:
    """Return a RunConfig that has a folder."""
    if config is not None and not isinstance(config, RunConfig):
        raise ValueError(f"config must be an instance of `RunConfig`, but provided {config}.")
    config = config or RunConfig()
    folder = os.fsdecode(model_dir) if model_dir is not None else None
    if folder and config.model_dir and folder != config.model_dir:
        raise ValueError("`model_dir` are set both in constructor and `RunConfig`, but with different values. In "
                         f"constructor: '{folder}', in `RunConfig`: '{config.model_dir}' ")
    folder = folder or config.model_dir
    if not folder:
        folder = tempfile.mkdtemp()
        _log.warning("Using temporary folder as model directory: %s", folder)
    return config.replace(model_dir=folder)


def _positive(**numbers: int | None) -> None:
    for name, value in numbers.items():
        if value is not None and value <= 0:
            raise ValueError(f"Must specify {name} > 0, given: {value}")


def _checked(values: Any, kind: type, what: str) -> list[Any]:
    found = list(values or ())
    for value in found:
        if not isinstance(value, kind):
            raise TypeError(f"{what} must be a list of {kind.__name__} instances, given: {value}")
    return found


def _wanted(predictions: Any, keys: Any) -> Any:
    """Return those of the predictions that have one of some names."""
    if not keys:
        return predictions
    if not isinstance(predictions, Mapping):
        raise ValueError("predict_keys argument is not valid in case of non-dict predictions.")
    keys = [keys] if isinstance(keys, str) else list(keys)
    found = {key: value for key, value in predictions.items() if key in keys}
    if not found:
        raise ValueError(f"Expected to run at least one output from {list(predictions)}, provided {keys}.")
    return found


def _examples(values: Any) -> Iterator[Any]:
    """Yield the predictions for each example of a batch."""
    if not isinstance(values, Mapping):
        yield from values
        return
    sizes = {key: np.shape(value)[0] for key, value in values.items()}
    if len(set(sizes.values())) > 1:
        raise ValueError(f"Batch length of predictions should be same, got {sizes}")
    for i in range(next(iter(sizes.values()), 0)):
        yield {key: value[i] for key, value in values.items()}


describe(globals(), ESTIMATORS)
