"""Configuration of a TPUEstimator's runs: what concerns a TPU is taken, and makes no difference on a CPU."""
from __future__ import annotations

import copy
from typing import Any, NamedTuple, Self

from tfnb.estimator import run_config


class InputPipelineConfig:
    """Constants that say where an input_fn is called, for `TPUConfig.per_host_input_for_training`.

    >>> tf.contrib.tpu.InputPipelineConfig.PER_HOST_V2
    3
    """

    PER_SHARD_V1 = 1
    PER_HOST_V1 = 2
    PER_HOST_V2 = 3
    BROADCAST = 4
    SLICED = 5


class _TPUConfig(NamedTuple):
    iterations_per_loop: int = 2
    num_shards: int | None = None
    num_cores_per_replica: int | None = None
    per_host_input_for_training: int = InputPipelineConfig.PER_HOST_V1
    tpu_job_name: str | None = None
    initial_infeed_sleep_secs: int | None = None
    input_partition_dims: Any = None
    eval_training_input_configuration: int = InputPipelineConfig.PER_HOST_V1
    experimental_host_call_every_n_steps: int = 1


class TPUConfig(_TPUConfig):
    """Settings of a TPU, a named tuple: taken, and without a meaning on a CPU.

    iterations_per_loop: steps between two returns to the host, at least 1. num_shards: cores of the job.
    num_cores_per_replica, input_partition_dims: parts of a model on several cores. per_host_input_for_training,
    eval_training_input_configuration: of InputPipelineConfig (True: PER_HOST_V1, False: PER_SHARD_V1). tpu_job_name:
    of the workers. initial_infeed_sleep_secs: before the first input. experimental_host_call_every_n_steps: how often
    a host_call runs. Raises ValueError for iterations_per_loop or num_shards below 1.

    >>> tf.contrib.tpu.TPUConfig(iterations_per_loop=100, num_shards=8).iterations_per_loop
    100
    """

    __slots__ = ()

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        """Check the settings. Raises ValueError."""
        made = super().__new__(cls, *args, **kwargs)
        for name in ("iterations_per_loop", "num_shards"):
            value = getattr(made, name)
            if value is not None and value < 1:
                raise ValueError(f"TPUConfig.{name} must be at least 1, got {value}")
        if isinstance(made.per_host_input_for_training, bool):
            chosen = InputPipelineConfig.PER_HOST_V1 if made.per_host_input_for_training \
                else InputPipelineConfig.PER_SHARD_V1
            made = made._replace(per_host_input_for_training=chosen)
        return made


class RunConfig(run_config.RunConfig):
    """Configuration of the runs of a TPUEstimator: `tf.estimator.RunConfig` with settings of a TPU.

    tpu_config: a TPUConfig. master, evaluation_master: targets of sessions, by default this process. cluster: a
    resolver of a TPU's address: anything but None raises ValueError. kwargs: of `tf.estimator.RunConfig`.

    >>> config = tf.contrib.tpu.RunConfig(model_dir="model", tpu_config=tf.contrib.tpu.TPUConfig(num_shards=8))
    >>> config.tpu_config.num_shards, config.replace(save_summary_steps=5).save_summary_steps
    (8, 5)
    """

    def __init__(self, tpu_config: TPUConfig | None = None, evaluation_master: str | None = None,
                 master: str | None = None, cluster: Any = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if cluster is not None:
            raise ValueError(f"cluster must be None: tfnb runs on no TPU, got {cluster!r}")
        self._tpu_config = tpu_config or TPUConfig()
        self._master, self._evaluation_master = master, evaluation_master

    @property
    def tpu_config(self) -> TPUConfig:
        """Settings of a TPU."""
        return self._tpu_config

    @property
    def master(self) -> str:
        """Target of sessions."""
        return super().master if self._master is None else self._master

    @property
    def evaluation_master(self) -> str:
        """Target of the sessions of evaluations."""
        return self.master if self._evaluation_master is None else self._evaluation_master

    @property
    def cluster(self) -> None:
        """None: there is no resolver of a TPU's address."""

    def replace(self, **kwargs: Any) -> Self:
        """Return a copy with other values. Raises ValueError for a name that can't be replaced."""
        made = super().replace(**{name: value for name, value in kwargs.items() if name != "tpu_config"})
        if "tpu_config" in kwargs:
            made = copy.copy(made)
            made._tpu_config = kwargs["tpu_config"]
        return made
