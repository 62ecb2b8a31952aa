"""Session of Keras: found or made when a value is asked for; new variables are initialized then."""
from __future__ import annotations

from collections import defaultdict
from typing import Any
from weakref import WeakKeyDictionary

from tfnb.graph.graph import Graph
from tfnb.graph.stack import get_default_graph, get_default_session, owned_by, reset_default_graph
from tfnb.keras.backend.phase import forget_phase, learning_phase
from tfnb.ops.state.assign import is_variable_initialized
from tfnb.runtime.session import Session

_current: list[Any] = [None]
_manual = [False]
_variables: WeakKeyDictionary[Graph, list[Any]] = WeakKeyDictionary()       # in the order of their making
_initialized: WeakKeyDictionary[Any, int] = WeakKeyDictionary()             # session -> how many of them were looked at
_numbers: WeakKeyDictionary[Graph, dict[str, int]] = WeakKeyDictionary()


def get_session() -> Any:
    """Return the session of Keras, in which the variables of layers and optimizers are initialized.

    It is the default session if there is one, else the one that was set, else a new one for the default graph.

    >>> tf.keras.backend.get_session() is sess
    True
    """
    session = get_default_session()
    if session is None:
        graph = get_default_graph()
        if _current[0] is None or _current[0].graph is not graph or _current[0]._closed:
            _current[0] = Session(graph=graph)
        session = _current[0]
    if not _manual[0]:
        _initialize(session)
    return session


def set_session(session: Any) -> None:
    """Make `session` the one that Keras uses where there is no default session.

    session: a tf.Session.

    >>> tf.keras.backend.set_session(sess)
    >>> tf.keras.backend.get_session() is sess
    True
    """
    _current[0] = session


def clear_session() -> None:
    """Drop the default graph, the session of Keras and the counters of layers' names: layers begin anew.

    >>> tf.keras.layers.Layer().name
    'layer'
    >>> tf.keras.layers.Layer().name
    'layer_1'
    >>> tf.keras.backend.reset_uids()
    >>> tf.keras.layers.Layer().name
    'layer'
    """
    reset_default_graph()
    reset_uids()
    _current[0] = None
    forget_phase()
    learning_phase()


def manual_variable_initialization(value: bool) -> None:
    """Set whether variables are left to the program to initialize.

    value: True: `get_session` initializes nothing.

    >>> tf.keras.backend.manual_variable_initialization(False)
    """
    _manual[0] = bool(value)


def get_uid(prefix: str = "") -> int:
    """Return the number of calls with this prefix in the default graph, this one included.

    prefix: a name.

    >>> tf.keras.backend.get_uid("a"), tf.keras.backend.get_uid("a"), tf.keras.backend.get_uid("b")
    (1, 2, 1)
    """
    numbers = _numbers.setdefault(get_default_graph(), defaultdict(int))
    numbers[prefix] += 1
    return numbers[prefix]


def reset_uids() -> None:
    """Begin the numbers of `get_uid` anew.

    >>> tf.keras.backend.get_uid("a"), tf.keras.backend.reset_uids(), tf.keras.backend.get_uid("a")
    (1, None, 1)
    """
    _numbers.clear()


def unique_name(base: str) -> str:
    """Return `base` at first, then "base_1", "base_2"... in the default graph."""
    number = get_uid(base)
    return base if number == 1 else f"{base}_{number - 1}"


def track_variable(variable: Any) -> None:
    """Have `get_session` initialize a variable."""
    _variables.setdefault(variable.graph, []).append(variable)


def _initialize(session: Any) -> None:
    made = _variables.get(session.graph, [])
    seen = _initialized.get(session, 0)
    if seen == len(made):
        return
    new = [variable for variable in made[seen:] if variable.op._dead is None]
    store = getattr(session, "_store", None)            # a wrapper of a session has none
    if store is not None:
        known = [store.peek(variable.op) is not None for variable in new]
    else:
        with session.graph.as_default(), owned_by(None):
            known = session.run([is_variable_initialized(variable) for variable in new])
    session.run([variable.initializer for variable, is_known in zip(new, known, strict=True) if not is_known])
    _initialized[session] = len(made)
