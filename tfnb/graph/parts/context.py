"""Stacks of defaults, one per thread: one of default graphs, one of default sessions."""
from __future__ import annotations

import threading
from typing import Any


class DefaultStack(threading.local):
    """A stack of which the top is the default. Each thread has its own, empty at first."""

    def __init__(self) -> None:
        self.stack: list[Any] = []
        self.enforce_nesting = True

    def get_default(self) -> Any:
        """The top, or None."""
        return self.stack[-1] if self.stack else None

    def is_cleared(self) -> bool:
        """True if nothing is on the stack."""
        return not self.stack

    def reset(self) -> None:
        """Take everything off."""
        self.stack = []

    def get_controller(self, default: Any) -> Controller:
        """A context in which `default` is the top. Raises AssertionError if it is left before an inner one."""
        return Controller(self, default)

    def remove(self, default: Any) -> None:
        """Take `default` off, as leaving its context does."""
        if not self.stack:
            return                          # reset in between
        if self.stack[-1] is default:
            self.stack.pop()
            return
        if self.enforce_nesting:
            raise AssertionError(f"Nesting violated for default stack of {type(default).__name__} objects: "
                                 "contexts must be left in the reverse order of entering")
        if default in self.stack:
            del self.stack[len(self.stack) - 1 - self.stack[::-1].index(default)]


class Controller:
    """The context manager that `DefaultStack.get_controller` returns."""

    __slots__ = ("_stack", "_default")

    def __init__(self, stack: DefaultStack, default: Any) -> None:
        self._stack, self._default = stack, default

    def __enter__(self) -> Any:
        self._stack.stack.append(self._default)
        return self._default

    def __exit__(self, *exc: object) -> None:
        self._stack.remove(self._default)


default_sessions = DefaultStack()


def get_default_session() -> Any:
    """The session of the innermost `with session:` block of this thread, or None.

    >>> tf.get_default_session() is sess
    True
    """
    return default_sessions.get_default()


def session_for(session: Any, graph: Any, what: str) -> Any:
    """`session`, or the default one. Raises ValueError if there is none or it runs another graph."""
    chosen = session if session is not None else default_sessions.get_default()
    if chosen is None:
        raise ValueError(f"Cannot {what}: no default session is registered. Use `with sess.as_default():` or pass "
                         "an explicit session.")
    if chosen.graph is not graph:
        raise ValueError(f"Cannot {what}: the {'given' if session is not None else 'default'} session runs another "
                         "graph than the one it was made in. Pass a session of that graph.")
    return chosen
