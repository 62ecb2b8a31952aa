"""Configuration of an Estimator's runs: folder, seed, and how often it saves and logs (`tf.estimator.RunConfig`)."""
from __future__ import annotations

import copy
import json
import os
from typing import Any, Self

from tfnb.cluster.spec import ClusterSpec
from tfnb.estimator.task import EVALUATOR, Task, task_of

USE_DEFAULT = object()
_REPLACEABLE = frozenset((
    "model_dir", "tf_random_seed", "save_summary_steps", "save_checkpoints_steps", "save_checkpoints_secs",
    "session_config", "keep_checkpoint_max", "keep_checkpoint_every_n_hours", "log_step_count_steps",
    "train_distribute", "device_fn", "protocol", "eval_distribute", "experimental_distribute",
    "experimental_max_worker_delay_secs", "session_creation_timeout_secs"))
_POSITIVE = ("save_summary_steps", "save_checkpoints_steps", "save_checkpoints_secs", "keep_checkpoint_max",
             "keep_checkpoint_every_n_hours", "log_step_count_steps", "session_creation_timeout_secs")
_MAY_BE_0 = ("save_summary_steps", "save_checkpoints_steps", "save_checkpoints_secs", "keep_checkpoint_max")


class RunConfig:
    """Configuration of the runs of an Estimator, in one process or as a task of a cluster.

    The environment variable TF_CONFIG, a JSON object, may describe a cluster ("cluster": job -> addresses, with one
    "chief") and the place of this process in it ("task": {"type": ..., "index": ...}); `train_and_evaluate` trains so.
    model_dir: the folder of checkpoints and event files; also TF_CONFIG may say it. tf_random_seed: of the graphs.
    save_summary_steps: how many steps from summary to summary.
    save_checkpoints_steps, save_checkpoints_secs: steps or seconds (600 by default) from checkpoint to checkpoint, at
    most one of them; None for both: none. session_config: a ConfigProto. keep_checkpoint_max: how many are kept, 0
    for all; keep_checkpoint_every_n_hours: which are kept for ever. log_step_count_steps: how many steps from log line
    to log line. session_creation_timeout_secs: how long a worker waits. experimental_max_worker_delay_secs: the
    longest time after which a worker begins (5 seconds after the one before it otherwise, at most 60). protocol:
    accepted. device_fn, train_distribute, eval_distribute and experimental_distribute: a value other than None raises
    ValueError. Raises ValueError for a TF_CONFIG without a chief, or whose task is not of its cluster.

    >>> config = tf.estimator.RunConfig(model_dir="model", save_checkpoints_steps=500)
    >>> config.save_checkpoints_steps, config.save_checkpoints_secs, config.replace(tf_random_seed=1).tf_random_seed
    (500, None, 1)
    """

    def __init__(self, model_dir: Any = None, tf_random_seed: int | None = None, save_summary_steps: int | None = 100,
                 save_checkpoints_steps: Any = USE_DEFAULT, save_checkpoints_secs: Any = USE_DEFAULT,
                 session_config: Any = None, keep_checkpoint_max: int | None = 5,
                 keep_checkpoint_every_n_hours: float = 10000, log_step_count_steps: int | None = 100,
                 train_distribute: Any = None, device_fn: Any = None, protocol: str | None = None,
                 eval_distribute: Any = None, experimental_distribute: Any = None,
                 experimental_max_worker_delay_secs: Any = None, session_creation_timeout_secs: float = 7200) -> None:
        steps, secs = _chosen(save_checkpoints_steps, save_checkpoints_secs)
        said = json.loads(os.environ.get("TF_CONFIG") or "{}")
        self._task = task_of(said)
        folder = os.fsdecode(model_dir) if model_dir is not None else None
        told = said.get("model_dir")
        if folder and told and folder != told:
            raise ValueError(f"`model_dir` provided in RunConfig construct, if set, must have the same value as the "
                             f"model_dir in TF_CONFIG, {told!r}, got {folder!r}")
        self._values: dict[str, Any] = {}
        self._set(model_dir=folder or told, tf_random_seed=tf_random_seed, save_summary_steps=save_summary_steps,
                  save_checkpoints_steps=steps, save_checkpoints_secs=secs, session_config=session_config,
                  keep_checkpoint_max=keep_checkpoint_max, keep_checkpoint_every_n_hours=keep_checkpoint_every_n_hours,
                  log_step_count_steps=log_step_count_steps, train_distribute=train_distribute, device_fn=device_fn,
                  protocol=protocol, eval_distribute=eval_distribute, experimental_distribute=experimental_distribute,
                  experimental_max_worker_delay_secs=experimental_max_worker_delay_secs,
                  session_creation_timeout_secs=session_creation_timeout_secs)

    def _set(self, **values: Any) -> None:
        for name in _POSITIVE:
            value = values.get(name)
            if value is not None and (value < 0 or (value == 0 and name not in _MAY_BE_0)):
                raise ValueError(f"{name} should be {'>= 0' if name in _MAY_BE_0 else '> 0'}, got {value}")
        for name in ("train_distribute", "eval_distribute", "experimental_distribute", "device_fn"):
            if values.get(name) is not None:
                raise ValueError(f"{name} must be None: strategies that copy a model over devices are not there, got "
                                 f"{values[name]!r}")
        self._values.update(values)

    def __getattr__(self, name: str) -> Any:
        values = self.__dict__.get("_values", {})
        if name not in values:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)
        return values[name]

    def replace(self, **kwargs: Any) -> Self:
        """Return a copy with other values of properties. Raises ValueError for a name that can't be replaced."""
        if unknown := set(kwargs) - _REPLACEABLE:
            raise ValueError(f"Replacing {', '.join(sorted(unknown))} is not supported. Allowed properties: "
                             f"{', '.join(sorted(_REPLACEABLE))}.")
        steps, secs = kwargs.get("save_checkpoints_steps"), kwargs.get("save_checkpoints_secs")
        if steps is not None and secs is not None:
            raise ValueError("`save_checkpoints_steps` and `save_checkpoints_secs` cannot be both set.")
        if steps is not None:
            kwargs["save_checkpoints_secs"] = None
        elif secs is not None:
            kwargs["save_checkpoints_steps"] = None
        made = copy.copy(self)
        made._values = dict(self._values)
        made._set(**kwargs)
        return made

    @property
    def cluster_spec(self) -> ClusterSpec:
        """ClusterSpec of TF_CONFIG; of no tasks for one process, and for an evaluator."""
        return self._task.cluster

    @property
    def is_chief(self) -> bool:
        """Whether this process initializes and saves: True for one process, and for the chief of a cluster."""
        return self._task.type in ("chief", "master") or not self._task.distributed and self._task.type != EVALUATOR

    @property
    def master(self) -> str:
        """Target of sessions: "" for this process, "grpc://host:port" for the server of this task."""
        return self._task.target

    @property
    def evaluation_master(self) -> str:
        """Target of the sessions of evaluations: this process."""
        return ""

    @property
    def task_type(self) -> str:
        """Job of this process."""
        return self._task.type

    @property
    def task_id(self) -> int:
        """Index of this process in its job."""
        return self._task.index

    @property
    def global_id_in_cluster(self) -> int | None:
        """Number of this process among the tasks that train, the chief being 0; None for an evaluator."""
        return self._task.number

    @property
    def task(self) -> Task:
        """Place of this process in the cluster."""
        return self._task

    @property
    def num_ps_replicas(self) -> int:
        """Number of parameter servers."""
        return self._task.count("ps")

    @property
    def num_worker_replicas(self) -> int:
        """Number of workers, the chief among them; 0 for an evaluator."""
        if not self._task.distributed:
            return int(self._task.type != EVALUATOR)
        return sum(map(self._task.count, ("chief", "master", "worker")))

    @property
    def service(self) -> None:
        """Settings of a service in TF_CONFIG: None."""


def _chosen(steps: Any, secs: Any) -> tuple[Any, Any]:
    """Return (steps, seconds) between checkpoints."""
    if steps is USE_DEFAULT and secs is USE_DEFAULT:
        return None, 600
    steps, secs = (None if each is USE_DEFAULT else each for each in (steps, secs))
    if steps is not None and secs is not None:
        raise ValueError("`save_checkpoints_steps` and `save_checkpoints_secs` cannot be both set.")
    return steps, secs

