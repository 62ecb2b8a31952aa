"""Critical sections: functions whose ops only one run of a session at a time executes."""
from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tfnb.core import nest
from tfnb.core.arguments import TENSORS, describe
from tfnb.core.dtypes import resource
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.stack import colocate_with, control_dependencies, get_default_graph, name_scope
from tfnb.ops.array.reshape import Identity
from tfnb.ops.control.group import group, tuple_
from tfnb.ops.data_flow.mutex_ops import ConsumeMutexLock, MutexLock, MutexV2
from tfnb.ops.declaration.public import public

_SECTIONS, _EXECUTIONS = "critical_sections", "critical_section_executions"     # collections of a graph


@dataclass(frozen=True, eq=False)
class _Execution:
    """One call of `execute`: its lock, the mutex, and the resources that its ops take."""

    op: Operation
    handle: Tensor
    resources: frozenset[Tensor]
    exclusive_resource_access: bool


class _Running(threading.local):
    def __init__(self) -> None:
        self.handles: list[Tensor] = []            # of the sections whose functions are called now


_running = _Running()


@public("CriticalSection")
class CriticalSection:
    """A lock around ops: runs of a session, in several threads, execute them one after another.

    name: of the mutex's op, "CriticalSection" by default; shared_name: sections of one shared name have one lock in a
    session. critical_section_def, import_scope: not implemented, as in TensorFlow (NotImplementedError).

    >>> v = tf.Variable(0.0, use_resource=True)
    >>> section = tf.CriticalSection()
    >>> def count():
    ...     before = v.read_value()
    ...     with tf.control_dependencies([before]):
    ...         return v.assign(before + 1.0)
    >>> counted = section.execute(count)
    >>> sess.run(v.initializer)
    >>> sess.run(counted), sess.run(counted)
    (1.0, 2.0)
    """

    def __init__(self, name: str | None = None, shared_name: str | None = None, critical_section_def: Any = None,
                 import_scope: str | None = None) -> None:
        if critical_section_def is not None:
            raise NotImplementedError("a CriticalSection can't be made of a critical_section_def: make it by its name")
        with name_scope(name, "CriticalSection") as scope, control_dependencies(None):
            self._handle: Tensor = MutexV2(shared_name=shared_name or scope, name=scope)
        get_default_graph().add_to_collection(_SECTIONS, self)

    @property
    def name(self) -> str:
        """The name of the mutex's op."""
        return self._handle.op.name

    def execute(self, fn: Callable[[], Any], exclusive_resource_access: bool = True, name: str | None = None) -> Any:
        """Return what `fn()` returns, tensors in any structure, computed while no other run holds the lock.

        fn: a function without arguments; the ops that it makes wait for the lock, and it should read its variables
        itself (`v.read_value()`). exclusive_resource_access: raise ValueError if another section takes a resource
        that `fn` takes. Raises ValueError for a section inside of itself.
        """
        with name_scope(name, "critical_section_execute"):
            if any(handle is self._handle for handle in _running.handles):
                raise ValueError(f"Attempting to lock a CriticalSection ({self.name}) in which we are already running. "
                                 "This is illegal and may cause deadlocks.")
            lock: Tensor = MutexLock(self._handle)
            made, ops = self._called(fn, lock)
            self._note(lock.op, ops, exclusive_resource_access)
            results = [_result(value) for value in nest.flatten(made)]
            with control_dependencies(results), colocate_with(self._handle.op):
                done = ConsumeMutexLock(lock)
            tensors = [value for value in results if isinstance(value, Tensor)]
            together = iter(tuple_(tensors) if tensors else ())
            results = [next(together) if isinstance(value, Tensor) else value for value in results]
            with control_dependencies([done]):
                return nest.pack_sequence_as(made, [
                    Identity(value) if isinstance(value, Tensor) else group(value) for value in results])

    def _called(self, fn: Callable[[], Any], lock: Tensor) -> tuple[Any, list[Operation]]:
        """Return what the function returns, and the ops that it makes."""
        graph = get_default_graph()
        before = len(graph.get_operations())
        _running.handles.append(self._handle)
        try:
            with control_dependencies([lock]):
                return fn(), graph.get_operations()[before:]
        finally:
            _running.handles.pop()

    def _note(self, lock: Operation, ops: list[Operation], exclusive: bool) -> None:
        """Record an execution. Raises ValueError if another section takes one of its resources."""
        inside = {t for op in ops for t in op.outputs}
        taken = frozenset(t for op in ops for t in op.inputs
                          if t.dtype is resource and t not in inside)
        graph = get_default_graph()
        for other in graph.get_collection(_EXECUTIONS):
            shared = taken & other.resources
            if other.handle is not self._handle and (exclusive or other.exclusive_resource_access) and shared:
                names = sorted(t.name for t in shared)
                raise ValueError(f"This execution would access resources: {names}. Either this lock (CriticalSection: "
                                 f"{self.name}) or lock '{other.op.name}' (CriticalSection: "
                                 f"{other.handle.op.name}) requested exclusive resource access of this resource. Did "
                                 "you mean to call execute with keyword argument exclusive_resource_access=False?")
        graph.add_to_collection(_EXECUTIONS, _Execution(lock, self._handle, taken - {self._handle}, exclusive))


def _result(value: Any) -> Any:
    """Return a value that the function returned as a tensor or operation of its own."""
    if isinstance(value, Operation):
        return value
    made: Tensor = Identity(convert_to_tensor(value))
    return made


describe(globals(), TENSORS)
