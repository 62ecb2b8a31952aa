"""Status of `Checkpoint.restore`: values of a checkpoint, to be given to the variables of a session."""
from __future__ import annotations

from typing import Any

import numpy as np

from tfnb.core.errors import InvalidArgumentError, NotFoundError
from tfnb.graph.stack import get_default_session
from tfnb.proto.object_graph import ENTRY, Node, decode
from tfnb.train.checkpoints.reader import CheckpointReader
from tfnb.train.checkpoints.trackable import Walk
from tfnb.variables.variable import Variable


class CheckpointLoadStatus:
    """A restore in progress. Each method looks at what the objects keep at that time: slots may be made after it.

    Methods with `session` take the default session where none is given; they raise ValueError if there is none.
    """

    def __init__(self, root: Any, reader: CheckpointReader) -> None:
        self._root, self._reader = root, reader
        self._saved: list[Node] = decode(reader.get_tensor(ENTRY))

    def match(self) -> tuple[dict[str, Variable], list[Variable], list[str]]:
        """(variables by the keys of their values, variables without a value, names of values without a variable)."""
        walk = Walk(self._root)
        numbers = walk.matched(self._saved)
        found, lacking = {}, []
        for here, value in enumerate(walk.objects):
            if isinstance(value, Variable):
                there = self._saved[numbers[here]].values if here in numbers else []
                if there:
                    found[there[0][2]] = value
                else:
                    lacking.append(value)
        return found, lacking, [key for node in self._saved for _, _, key in node.values if key not in found]

    def assert_consumed(self) -> CheckpointLoadStatus:
        """Return itself. Raises AssertionError for a value without a variable, and a variable without a value."""
        _, _, rest = self.match()
        if rest:
            raise AssertionError(f"Unresolved objects in the checkpoint: {len(rest)} values have no variable in the "
                                 f"program, expected all to be used: {', '.join(rest[:10])}")
        return self.assert_existing_objects_matched()

    def assert_existing_objects_matched(self) -> CheckpointLoadStatus:
        """Return itself. Raises AssertionError for a variable of the program without a value in the checkpoint."""
        _, lacking, _ = self.match()
        if lacking:
            raise AssertionError(f"Found {len(lacking)} Python objects that were not bound to checkpointed values, "
                                 "likely due to changes in the Python program: "
                                 + ", ".join(v.name for v in lacking[:10]))
        return self

    def assert_nontrivial_match(self) -> CheckpointLoadStatus:
        """Return itself. Raises AssertionError if no variable has a value in the checkpoint."""
        found, lacking, rest = self.match()
        if not found and (lacking or rest):
            raise AssertionError(f"Nothing except the root object matches the checkpoint: it has {rest[:10]}, the "
                                 f"program has {[v.name for v in lacking[:10]]}")
        return self

    def expect_partial(self) -> CheckpointLoadStatus:
        """Return itself: there are no warnings of values that are not used."""
        return self

    def run_restore_ops(self, session: Any = None) -> None:
        """Give the variables the checkpoint's values. Raises InvalidArgumentError, before any, for another shape."""
        found, _, _ = self.match()
        _load([(variable, key) for key, variable in found.items()], self._reader, session)

    def initialize_or_restore(self, session: Any = None) -> None:
        """As run_restore_ops; variables without a value in the checkpoint are initialized."""
        _, lacking, _ = self.match()
        initialize(lacking, session)
        self.run_restore_ops(session)


class InitializationOnlyStatus:
    """Status of `restore(None)`: there is nothing to restore."""

    def __init__(self, root: Any) -> None:
        self._root = root

    def _refuse(self) -> Any:
        raise AssertionError("No checkpoint specified (save_path=None); nothing is being restored.")

    def assert_consumed(self) -> Any:
        """Raise AssertionError."""
        return self._refuse()

    assert_existing_objects_matched = assert_nontrivial_match = assert_consumed

    def expect_partial(self) -> InitializationOnlyStatus:
        """Return itself."""
        return self

    def run_restore_ops(self, session: Any = None) -> Any:
        """Raise AssertionError."""
        return self._refuse()

    def initialize_or_restore(self, session: Any = None) -> None:
        """Initialize all variables."""
        initialize(list(Walk(self._root).variables().values()), session)


class NameBasedSaverStatus:
    """The restore of a checkpoint that a Saver wrote: variables are found by the names of their ops."""

    def __init__(self, root: Any, reader: CheckpointReader) -> None:
        self._root, self._reader = root, reader

    def _lacking(self) -> list[Variable]:
        return [v for v in Walk(self._root).variables().values() if not self._reader.has_tensor(v.op.name)]

    def assert_consumed(self) -> NameBasedSaverStatus:
        """Return itself. Raises AssertionError for a variable that the checkpoint lacks."""
        lacking = self._lacking()
        if lacking:
            raise AssertionError("Objects not restored: " + ", ".join(v.name for v in lacking))
        return self

    assert_existing_objects_matched = assert_nontrivial_match = assert_consumed

    def expect_partial(self) -> NameBasedSaverStatus:
        """Return itself."""
        return self

    def run_restore_ops(self, session: Any = None) -> None:
        """Give the variables the checkpoint's values. Raises NotFoundError for one that it lacks."""
        lacking = self._lacking()
        if lacking:
            raise NotFoundError(None, lacking[0].op, f"Key {lacking[0].op.name} not found in checkpoint")
        _load([(v, v.op.name) for v in Walk(self._root).variables().values()], self._reader, session)

    def initialize_or_restore(self, session: Any = None) -> None:
        """As run_restore_ops."""
        self.run_restore_ops(session)


def initialize(variables: list[Variable], session: Any) -> None:
    """Run the initializers of variables. Raises ValueError without a session."""
    session_or_default(session).run([v.initializer for v in variables])


def session_or_default(session: Any) -> Any:
    """Return a session, by default the default one. Raises ValueError if there is none."""
    found = session or get_default_session()
    if found is None:
        raise ValueError("expected a session: pass `session`, or call it in `with tf.Session():`, got None")
    return found


def _load(pairs: list[tuple[Variable, str]], reader: CheckpointReader, session: Any) -> None:
    """Give variables the values of entries, after all are checked. Raises NotFoundError, InvalidArgumentError."""
    values = []
    for variable, key in pairs:
        value = np.asarray(reader.get_tensor(key))
        if not variable.get_shape().is_compatible_with(value.shape):
            raise InvalidArgumentError(None, variable.op, f"Restoring {variable.name} from {key}: expected shape "
                                       f"{variable.get_shape()}, but the checkpoint has {list(value.shape)}")
        values.append((variable, value))
    found = session_or_default(session)
    for variable, value in values:
        variable.load(value, found)
