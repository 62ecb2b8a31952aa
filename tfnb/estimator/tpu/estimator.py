"""TPUEstimator, on CPUs: an Estimator that tells its functions the size of a batch."""
from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from tfnb.core.program.hparams import HParams
from tfnb.estimator import calls
from tfnb.estimator.estimator import Estimator
from tfnb.estimator.spec import EstimatorSpec, ModeKeys
from tfnb.estimator.tpu.config import RunConfig
from tfnb.estimator.tpu.spec import TPUEstimatorSpec

_RESERVED = ("batch_size", "context")


class TPUEstimator(Estimator):
    """An Estimator for models that were written for TPUs, with `use_tpu=False`: it runs on the CPU.

    model_fn: as of `tf.estimator.Estimator`, takes `params` and may return a TPUEstimatorSpec; an input_fn takes
    `params`, too. In both `params["batch_size"]` is the one of the mode, in model_fn `params["use_tpu"]` is False.
    model_dir, warm_start_from: as of `tf.estimator.Estimator`. config: a `tf.contrib.tpu.RunConfig`. params: a dict
    or HParams without "batch_size" and "context". use_tpu: True raises RuntimeError. train_batch_size,
    eval_batch_size, predict_batch_size: examples of a batch. batch_axis, eval_on_tpu, export_to_tpu, export_to_cpu,
    experimental_export_device_assignment, embedding_config_spec, export_saved_model_api_version: of TPUs, make no
    difference. Raises ValueError for another config and for reserved params.

    >>> def model_fn(features, labels, mode, params):
    ...     w = tf.get_variable("w", [], initializer=tf.zeros_initializer())
    ...     loss = tf.losses.mean_squared_error(labels, w * features)
    ...     train = tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_global_step())
    ...     return tf.contrib.tpu.TPUEstimatorSpec(mode, loss=loss, train_op=train)
    >>> def input_fn(params):
    ...     data = tf.data.Dataset.from_tensors((np.float32(1), np.float32(3))).repeat()
    ...     return data.batch(params["batch_size"], drop_remainder=True)
    >>> config = tf.contrib.tpu.RunConfig(model_dir="model")
    >>> estimator = tf.contrib.tpu.TPUEstimator(model_fn, config=config, use_tpu=False, train_batch_size=8)
    >>> round(float(estimator.train(input_fn, steps=30).get_variable_value("w")), 1)
    3.0
    """

    def __init__(self, model_fn: Any = None, model_dir: Any = None, config: Any = None, params: Any = None,
                 use_tpu: bool = True, train_batch_size: int | None = None, eval_batch_size: int | None = None,
                 predict_batch_size: int | None = None, batch_axis: Any = None, eval_on_tpu: bool = True,
                 export_to_tpu: bool = True, export_to_cpu: bool = True, warm_start_from: Any = None,
                 experimental_export_device_assignment: bool = False, embedding_config_spec: Any = None,
                 export_saved_model_api_version: Any = None) -> None:
        if not isinstance(config, RunConfig):
            raise ValueError(f"`config` must be provided with type `tf.contrib.tpu.RunConfig`, got {config!r}")
        if use_tpu:
            raise RuntimeError("Cannot find any TPU cores in the system: tfnb runs on no TPU, expected use_tpu=False")
        if reserved := [name for name in _RESERVED if params is not None and name in params]:
            raise ValueError(f"{reserved} are reserved keys but existed in params {params}.")
        super().__init__(model_fn, model_dir, config, params, warm_start_from)
        self._batch_sizes = {ModeKeys.TRAIN: train_batch_size, ModeKeys.EVAL: eval_batch_size,
                             ModeKeys.PREDICT: predict_batch_size}

    def _params_of(self, fn: Callable[..., Any], what: str, mode: str, **more: Any) -> Any:
        """Return the params that a function of the user gets. Raises ValueError for one that takes none."""
        if "params" not in calls.arguments(fn) and not calls.takes_any(fn):
            raise ValueError(f"{what} ({fn}) does not include params argument, required by TPUEstimator to pass batch "
                             "size as params[\"batch_size\"]")
        params = self.params
        size = self._batch_sizes[mode]
        for name, value in {**({} if size is None else {"batch_size": size}), **more}.items():
            if not isinstance(params, HParams):
                params[name] = value
            elif name in params:
                params.set_hparam(name, value)
            else:
                params.add_hparam(name, value)
        return params

    def _given(self, input_fn: Callable[..., Any], mode: str) -> Any:
        params = self._params_of(input_fn, "input_fn", mode)
        return calls.call_input_fn(input_fn, mode, params, self.config)

    def _spec(self, features: Any, labels: Any, mode: str) -> EstimatorSpec:
        def as_spec(**kwargs: Any) -> Any:
            """Return what model_fn made, as an EstimatorSpec."""
            made = model_fn(**kwargs)
            return made.as_estimator_spec() if isinstance(made, TPUEstimatorSpec) else made

        model_fn = self._model_fn
        params = self._params_of(model_fn, "model_fn", mode, use_tpu=False)
        as_spec.__signature__ = inspect.signature(model_fn)     # type: ignore[attr-defined]
        return calls.call_model_fn(as_spec, features, labels, mode, params, self.config)
