"""`tf.logging`: messages with levels, over the logger "tensorflow" of the standard library."""
from __future__ import annotations

import logging
import sys
from collections import Counter
from typing import Any

from tfnb.core.arguments import LOGS, describe

DEBUG, INFO, WARN, ERROR, FATAL = logging.DEBUG, logging.INFO, logging.WARNING, logging.ERROR, logging.CRITICAL

_logger = logging.getLogger("tensorflow")
_counts: Counter[Any] = Counter()


class _Stderr(logging.StreamHandler[Any]):
    """Log handler that writes to the current sys.stderr, which a notebook replaces."""

    def __init__(self) -> None:
        logging.Handler.__init__(self)

    @property
    def stream(self) -> Any:
        """Output stream of the messages."""
        return sys.stderr

    @stream.setter
    def stream(self, value: Any) -> None:
        """Ignore the value: messages always go to sys.stderr."""
        pass


if not _logger.handlers and not logging.getLogger().handlers:
    _handler = _Stderr()
    _handler.setFormatter(logging.Formatter("%(levelname)s:%(name)s:%(message)s"))
    _logger.addHandler(_handler)
    _logger.setLevel(WARN)


def get_logger() -> logging.Logger:
    """Return the logger "tensorflow" of the standard library, to which all messages go.

    >>> tf.get_logger().name
    'tensorflow'
    """
    return _logger


def set_verbosity(v: Any) -> None:
    """Show messages from this level on: DEBUG, INFO, WARN, ERROR or FATAL.

    >>> tf.logging.set_verbosity(tf.logging.ERROR)
    >>> tf.logging.get_verbosity() == tf.logging.ERROR
    True
    >>> tf.logging.set_verbosity(tf.logging.WARN)
    """
    _logger.setLevel(v)


def get_verbosity() -> int:
    """Return the level from which messages are shown.

    >>> tf.logging.set_verbosity(tf.logging.WARN)
    >>> tf.logging.get_verbosity() == tf.logging.WARN
    True
    """
    return _logger.getEffectiveLevel()


def log(level: int, msg: Any, *args: Any, **kwargs: Any) -> None:
    """Show a message (`msg % args`) at a level.

    >>> tf.logging.log(tf.logging.ERROR, "step %d", 10)  # ERROR:tensorflow:step 10
    """
    _logger.log(level, msg, *args, **kwargs)


vlog = log


def debug(msg: Any, *args: Any, **kwargs: Any) -> None:
    """Show a message at level DEBUG.

    >>> tf.logging.debug("shape %s", [2, 3])  # not shown: the verbosity is WARN
    """
    _logger.debug(msg, *args, **kwargs)


def info(msg: Any, *args: Any, **kwargs: Any) -> None:
    """Show a message at level INFO.

    >>> tf.logging.set_verbosity(tf.logging.INFO)
    >>> tf.logging.info("step %d: loss %.2f", 10, 0.25)  # INFO:tensorflow:step 10: loss 0.25
    >>> tf.logging.set_verbosity(tf.logging.WARN)
    """
    _logger.info(msg, *args, **kwargs)


def warning(msg: Any, *args: Any, **kwargs: Any) -> None:
    """Show a message at level WARN.

    >>> tf.logging.warn("loss is %f", np.nan)  # WARNING:tensorflow:loss is nan
    """
    _logger.warning(msg, *args, **kwargs)


warn = warning


def error(msg: Any, *args: Any, **kwargs: Any) -> None:
    """Show a message at level ERROR.

    >>> tf.logging.error("%s is missing", "data")  # ERROR:tensorflow:data is missing
    """
    _logger.error(msg, *args, **kwargs)


def TaskLevelStatusMessage(msg: Any) -> None:  # noqa: N802 (the public name)
    """Show a message at level ERROR.

    msg: the message.

    >>> tf.logging.TaskLevelStatusMessage("the last step failed")  # ERROR:tensorflow:the last step failed
    """
    _logger.error(msg)


def fatal(msg: Any, *args: Any, **kwargs: Any) -> None:
    """Show a message at level FATAL. The program goes on.

    >>> tf.logging.fatal("%s is missing", "data")  # CRITICAL:tensorflow:data is missing
    """
    _logger.critical(msg, *args, **kwargs)


def log_if(level: int, msg: Any, condition: Any, *args: Any) -> None:
    """Show a message if `condition` is true.

    >>> tf.logging.log_if(tf.logging.INFO, "loss is %f", 0.5 > 1, 0.5)  # not shown
    """
    if condition:
        log(level, msg, *args)


def _count() -> int:
    """Return how many times the caller's caller was at its current line before."""
    frame = sys._getframe(2)
    place = frame.f_code.co_filename, frame.f_lineno
    _counts[place] += 1
    return _counts[place] - 1


def log_every_n(level: int, msg: Any, n: int, *args: Any) -> None:
    """Show a message at the first call from a line, and at every n-th after it.

    >>> for step in range(100):
    ...     tf.logging.log_every_n(tf.logging.ERROR, "step %d", 50, step)  # steps 0 and 50
    """
    log_if(level, msg, _count() % n == 0, *args)


def log_first_n(level: int, msg: Any, n: int, *args: Any) -> None:
    """Show a message at the first `n` calls from a line.

    >>> for step in range(100):
    ...     tf.logging.log_first_n(tf.logging.ERROR, "step %d", 3, step)  # steps 0, 1 and 2
    """
    log_if(level, msg, _count() < n, *args)


def flush() -> None:
    """Flush all handlers.

    >>> tf.logging.flush()
    """
    for handler in _logger.handlers:
        handler.flush()


describe(globals(), LOGS)
