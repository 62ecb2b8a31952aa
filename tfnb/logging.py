"""Messages with levels: `tf.logging`."""
# ruff: noqa: F401, I001
from tfnb.core.program.log import (
    DEBUG, ERROR, FATAL, INFO, TaskLevelStatusMessage, WARN, debug, error, fatal, flush, get_verbosity, info, log,
    log_every_n, log_first_n,
    log_if, set_verbosity, vlog, warn, warning,
)
