"""`tf.train.Checkpoint`: saves variables by the objects that keep them, and `tf.train.CheckpointManager`."""
from __future__ import annotations

import os
import time
from collections.abc import Iterator
from typing import Any

from tfnb.core.arguments import CHECKPOINTS, describe
from tfnb.core.dtypes import int64
from tfnb.core.files.paths import local
from tfnb.graph.graph import Graph
from tfnb.ops.declaration.raw import raw
from tfnb.proto.object_graph import ENTRY, encode
from tfnb.runtime.session import Session
from tfnb.train.checkpoints.load_status import (
    CheckpointLoadStatus,
    InitializationOnlyStatus,
    NameBasedSaverStatus,
    session_or_default,
)
from tfnb.train.checkpoints.reader import NewCheckpointReader
from tfnb.train.checkpoints.state import (
    checkpoint_exists,
    get_checkpoint_state,
    remove_checkpoint,
    write_state,
)
from tfnb.train.checkpoints.trackable import Walk, is_trackable, of_attributes, register
from tfnb.variables.variable import Variable

HOUR = 3600.0


class Checkpoint:
    """A group of objects whose variables are saved and restored, each under the names that lead to it.

    **kwargs: the objects, which become attributes: variables, tf.Module, optimizers of tf.train (with their slots),
    layers, models and optimizers of tf.keras, other Checkpoints, lists and dicts of these. Attributes may be set later,
    too. TensorFlow reads what is written, and the other way round. Raises ValueError for an object of another kind.

    >>> v = tf.Variable([1.0, 2.0])
    >>> checkpoint = tf.train.Checkpoint(weights=v)
    >>> sess.run(v.initializer)
    >>> path = checkpoint.save("./model", session=sess)
    >>> v.load([0.0, 0.0], sess)
    >>> checkpoint.restore(path).assert_consumed().run_restore_ops(sess)
    >>> path, sess.run(v)
    ('./model-1', array([1., 2.], dtype=float32))
    """

    def __init__(self, **kwargs: Any) -> None:
        self._save_counter: Variable | None = None
        for name, value in sorted(kwargs.items()):
            if not is_trackable(value) and not (isinstance(value, (list, tuple, dict)) and not value):
                raise ValueError("`Checkpoint` was expecting a trackable object (a variable, a tf.Module, an optimizer "
                                 f"of tf.train, a layer or model of tf.keras), got {value!r} for {name!r}")
            setattr(self, name, value)

    @property
    def save_counter(self) -> Variable:
        """The variable, int64, that counts how often `save` was called."""
        self._make_save_counter()
        assert self._save_counter is not None
        return self._save_counter

    def _make_save_counter(self) -> bool:
        if self._save_counter is not None:
            return False
        self._save_counter = Variable(0, name="save_counter", trainable=False, dtype=int64)
        return True

    def write(self, file_prefix: Any, session: Any = None) -> str:
        """Write the values of `session` (the default one) to a checkpoint of just this prefix, which is returned.

        Raises FailedPreconditionError for a variable without a value, ValueError without a session.
        """
        session, prefix = session_or_default(session), os.fsdecode(file_prefix)
        if self._make_save_counter():
            session.run(self.save_counter.initializer)
        write_objects(self, session, prefix)
        return prefix

    def save(self, file_prefix: Any, session: Any = None) -> str:
        """Write the checkpoint "<file_prefix>-<save_counter>", note it as the newest, and return its prefix.

        Raises as `write`.
        """
        session = session_or_default(session)
        if self._make_save_counter():
            session.run(self.save_counter.initializer)
        number = int(session.run(self.save_counter)) + 1
        self.save_counter.load(number, session)
        path = self.write(f"{os.fsdecode(file_prefix)}-{number}", session)
        write_state(os.path.dirname(path), path, [path], None, True)
        return path

    def restore(self, save_path: Any) -> Any:
        """Return the values of a checkpoint, whose `run_restore_ops(session)` gives them to the variables.

        save_path: a prefix; None: nothing to restore (`initialize_or_restore` initializes). The result has
        `assert_consumed`, `assert_existing_objects_matched`, `assert_nontrivial_match`, `initialize_or_restore`. A
        checkpoint of a Saver is read by the names of variables. Raises NotFoundError if there is none.
        """
        if save_path is None:
            return InitializationOnlyStatus(self)
        reader = NewCheckpointReader(save_path)
        if not reader.has_tensor(ENTRY):
            return NameBasedSaverStatus(self, reader)
        self._make_save_counter()
        return CheckpointLoadStatus(self, reader)


def write_objects(root: Any, session: Any, prefix: str) -> None:
    """Write the values that the variables which `root` reaches have in a session to a checkpoint of this prefix."""
    walk = Walk(root)
    variables = walk.variables()
    values = session.run(list(variables.values()))
    names = [*variables, ENTRY]
    os.makedirs(os.path.dirname(local(prefix)) or ".", exist_ok=True)
    with Graph().as_default(), Session() as writer:
        writer.run(raw.SaveV2(prefix, names, [""] * len(names), [*values, encode(walk.nodes)]))


def _kept(checkpoint: Checkpoint) -> Iterator[tuple[str, Any]]:
    """The attributes of a Checkpoint; the counter, which is made at its first use, is the last of them."""
    yield from (pair for pair in of_attributes(checkpoint) if pair[0] != "_save_counter")
    if checkpoint._save_counter is not None:
        yield "save_counter", checkpoint._save_counter


register(Checkpoint, _kept)


class CheckpointManager:
    """The newest checkpoints of a directory: numbered ones are added, old ones removed.

    checkpoint: a tf.train.Checkpoint; directory: made if it is not there; max_to_keep: the count of checkpoints to
    keep, None for all; keep_checkpoint_every_n_hours: of older ones, one for each that many hours stays;
    checkpoint_name: what their names begin with. Raises ValueError for a count below 1.

    >>> v = tf.Variable(1.0)
    >>> sess.run(v.initializer)
    >>> manager = tf.train.CheckpointManager(tf.train.Checkpoint(v=v), "./saved", max_to_keep=2)
    >>> with sess.as_default():
    ...     paths = [manager.save() for _ in range(3)]
    >>> manager.checkpoints, manager.latest_checkpoint
    (['./saved/ckpt-2', './saved/ckpt-3'], './saved/ckpt-3')
    """

    def __init__(self, checkpoint: Checkpoint, directory: Any, max_to_keep: int | None,
                 keep_checkpoint_every_n_hours: float | None = None, checkpoint_name: str = "ckpt") -> None:
        if max_to_keep is not None and max_to_keep <= 0:
            raise ValueError("Expected a positive integer or `None` for `max_to_keep`, got "
                             f"{max_to_keep}.")
        self._checkpoint, self._directory, self._name = checkpoint, os.fsdecode(directory), checkpoint_name
        self._max_to_keep, self._hours = max_to_keep, keep_checkpoint_every_n_hours
        state = get_checkpoint_state(self._directory)
        now = time.time()
        self._preserved = now
        self._latest: str | None = None
        self._times: dict[str, float] = {}
        if state is not None:
            self._latest = state.model_checkpoint_path
            stamps = list(state.all_model_checkpoint_timestamps) or [now] * len(state.all_model_checkpoint_paths)
            self._times = dict(zip(state.all_model_checkpoint_paths, stamps, strict=False))
            self._preserved = min(state.last_preserved_timestamp or now, now)

    @property
    def directory(self) -> str:
        """The directory of the checkpoints."""
        return self._directory

    @property
    def checkpoint(self) -> Checkpoint:
        """The Checkpoint that is saved."""
        return self._checkpoint

    @property
    def latest_checkpoint(self) -> str | None:
        """The prefix of the newest checkpoint, for `Checkpoint.restore`; None if there is none."""
        return self._latest

    @property
    def checkpoints(self) -> list[str]:
        """The prefixes of the checkpoints that are kept, from old to new."""
        return list(self._times)

    def save(self, checkpoint_number: Any = None) -> str:
        """Save a checkpoint with the values of the default session, and return its prefix.

        checkpoint_number: an int or a variable; by default the Checkpoint's save_counter. Raises as Checkpoint.save.
        """
        session = session_or_default(None)
        prefix = os.path.join(self._directory, self._name)
        if checkpoint_number is None:
            path = self._checkpoint.save(prefix, session)
        else:
            number = session.run(checkpoint_number) if hasattr(checkpoint_number, "op") else checkpoint_number
            path = self._checkpoint.write(f"{prefix}-{int(number)}", session)
        self._latest = path
        self._times.pop(path, None)
        self._times[path] = time.time()
        self._sweep()
        write_state(self._directory, path, self.checkpoints, None, True, list(self._times.values()), self._preserved)
        return path

    def _sweep(self) -> None:
        """Remove the oldest checkpoints beyond the count, but one for each `keep_checkpoint_every_n_hours`."""
        while self._max_to_keep is not None and len(self._times) > self._max_to_keep:
            path = next(iter(self._times))
            made = self._times.pop(path)
            if self._hours is not None and made - self._preserved >= self._hours * HOUR:
                self._preserved = made
            elif checkpoint_exists(path):
                remove_checkpoint(path)


describe(globals(), CHECKPOINTS)
