"""Session targets: this process, a server in it, or the address of another one."""
from __future__ import annotations

from dataclasses import dataclass

from tfnb.core.errors import NotFoundError
from tfnb.runtime.state.store import Store

LOCAL = ("", "local")
GRPC = "grpc://"


@dataclass(frozen=True)
class Target:
    """A server in this process: the store that its sessions share, and its task, "/job:a/replica:0/task:0".

    timeout: milliseconds after which a blocked run fails; 0: never.
    """

    store: Store
    task: str
    timeout: int = 0


@dataclass(frozen=True)
class Address:
    """The address of a server in another process, "host:port"; container: of the state of ops that name none."""

    text: str
    container: str = ""


_targets: dict[str, Target] = {}                   # they live as long as the process, as TensorFlow's do
_default = _container = ""


def set_default_target(name: str, container: str = "") -> None:
    """Set the target of sessions that name none; "" for this process. "local" always is this process.

    container: where sessions on servers in other processes keep the state of ops that name no container; "": theirs.
    """
    global _default, _container
    if name:
        find_target(name)
    _default, _container = name, container


def register(name: str, target: Target) -> None:
    """Make a server of this process known under its target, unless one is."""
    _targets.setdefault(name, target)


def find_target(given: str | bytes | None) -> Target | Address | None:
    """Return the server of a target (a string, bytes, or None for ""); None for a session on its own.

    Raises NotFoundError for a target that is neither this process, nor a server, TypeError for no string.
    """
    if not isinstance(given, (str, bytes, type(None))):
        raise TypeError(f"`target` must be a string, got {given!r} of type {type(given).__name__}")
    target = (given.decode() if isinstance(given, bytes) else given) or _default
    if target in LOCAL:
        return None
    if target in _targets:
        return _targets[target]
    if target.startswith(GRPC) and len(target) > len(GRPC):
        return Address(target.removeprefix(GRPC), _container)
    raise NotFoundError(None, None, "the target of a session must be '' (this process), that of a tf.train.Server, or "
                        f"'grpc://host:port', but is {target!r}")
