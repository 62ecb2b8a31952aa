"""Learning phase: whether a run trains (dropout drops, batch normalization takes the batch's moments) or infers."""
from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

from tfnb.graph.graph import Graph
from tfnb.graph.stack import get_default_graph, name_scope, owned_by
from tfnb.ops.control.source import placeholder_with_default

_phases: WeakKeyDictionary[Graph, Any] = WeakKeyDictionary()


def learning_phase() -> Any:
    """Return the learning phase of the default graph: a bool placeholder, False by default, or the set value, 0 or 1.

    >>> phase = tf.keras.backend.learning_phase()
    >>> sess.run([phase, phase], {phase: True})
    [True, True]
    """
    graph = get_default_graph()
    found = _phases.get(graph)
    if found is None or (not isinstance(found, int) and found.op._dead is not None):
        with name_scope(None), owned_by(None):      # of no cell: models of several share it
            _phases[graph] = placeholder_with_default(False, shape=(), name="keras_learning_phase")
    return _phases[graph]


def symbolic_phase() -> Any:
    """Return the placeholder that a run feeds, or None where no op asks for it or its value was set."""
    phase = _phases.get(get_default_graph())
    return None if isinstance(phase, int) else phase


def phase_is_set() -> bool:
    """Return whether `set_learning_phase` gave the default graph a value."""
    return isinstance(_phases.get(get_default_graph()), int)


def set_learning_phase(value: int) -> None:
    """Fix the learning phase of the default graph for layers that are called from now on.

    value: 0 (inference) or 1 (training). Raises ValueError for another one.

    >>> tf.keras.backend.set_learning_phase(1)
    >>> tf.keras.backend.learning_phase()
    1
    """
    if value not in (0, 1):
        raise ValueError(f"Expected learning phase to be 0 or 1, got {value!r}")
    _phases[get_default_graph()] = int(value)


def forget_phase() -> None:
    """Drop the learning phase of the default graph."""
    _phases.pop(get_default_graph(), None)
