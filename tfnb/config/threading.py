"""Threads of sessions: `tf.config.threading`."""
# ruff: noqa: F401
from tfnb.core.absent import explain as _explain
from tfnb.runtime.process_config import (
    get_inter_op_parallelism_threads,
    get_intra_op_parallelism_threads,
    set_inter_op_parallelism_threads,
    set_intra_op_parallelism_threads,
)

_explain(__name__)
