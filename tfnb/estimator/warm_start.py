"""Settings of an Estimator's warm start: `tf.estimator.WarmStartSettings`."""
from __future__ import annotations

import os
from typing import Any, NamedTuple, Self

from tfnb.saved_model.constants import VARIABLES_DIRECTORY, VARIABLES_FILENAME
from tfnb.saved_model.loader import maybe_saved_model_directory


class _Settings(NamedTuple):
    ckpt_to_initialize_from: Any
    vars_to_warm_start: Any
    var_name_to_vocab_info: Any
    var_name_to_prev_var_name: Any


class WarmStartSettings(_Settings):
    """Settings of a warm start: arguments of tf.train.warm_start.

    ckpt_to_initialize_from: a checkpoint or its directory, or a SavedModel's. vars_to_warm_start: a regular expression
    of trainable variables, or a list. var_name_to_vocab_info: a dict of names to tf.train.VocabInfo.
    var_name_to_prev_var_name: a dict of names to names in the checkpoint. Raises ValueError without a checkpoint.

    >>> tf.estimator.WarmStartSettings("old_model", vars_to_warm_start=".*kernel").vars_to_warm_start
    '.*kernel'
    """

    __slots__ = ()

    def __new__(cls, ckpt_to_initialize_from: Any, vars_to_warm_start: Any = ".*", var_name_to_vocab_info: Any = None,
                var_name_to_prev_var_name: Any = None) -> Self:
        """Check the checkpoint. Raises ValueError if there is none."""
        if not ckpt_to_initialize_from:
            raise ValueError("`ckpt_to_initialize_from` MUST be set in WarmStartSettings")
        return super().__new__(cls, ckpt_to_initialize_from, vars_to_warm_start, var_name_to_vocab_info or {},
                               var_name_to_prev_var_name or {})


def settings_of(warm_start_from: Any) -> WarmStartSettings | None:
    """Return the settings for a path or settings. Raises ValueError for anything else."""
    if warm_start_from is None:
        return None
    if isinstance(warm_start_from, WarmStartSettings):
        return warm_start_from._replace(ckpt_to_initialize_from=_checkpoint(warm_start_from.ckpt_to_initialize_from))
    if isinstance(warm_start_from, (str, bytes, os.PathLike)):
        return WarmStartSettings(_checkpoint(warm_start_from))
    raise ValueError(f"warm_start_from must be a string or a WarmStartSettings, instead got {type(warm_start_from)}")


def _checkpoint(path: Any) -> str:
    """Return the checkpoint that a path means, inside a SavedModel for one."""
    path = os.fsdecode(path)
    return os.path.join(path, VARIABLES_DIRECTORY, VARIABLES_FILENAME) if maybe_saved_model_directory(path) else path
