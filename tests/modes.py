"""A session whose plans are compiled, or are not: for tests that want one of the two, or both."""
from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import tfnb as tf
from tfnb.core.options import options


@contextmanager
def compiling(mode: str) -> Iterator[None]:
    """In here `options.compile` is `mode`."""
    before, options.compile = options.compile, mode
    try:
        yield
    finally:
        options.compile = before


def run(fetch: Any, feed: Any = None, mode: str = "always") -> Any:
    """What a new session gives for a fetch: by kernels, or interpreted (mode "never")."""
    with compiling(mode), tf.Session() as sess:
        return sess.run(fetch, feed)
