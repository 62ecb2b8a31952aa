"""Changing a graph that stands: what a notebook does when a cell is run again, fails or is deleted.

The order of the ops is that of a program run from top to bottom: `cursor` says where new ops are put, so that the
ops of a cell that is run again stand where its old ops stood.
"""
from __future__ import annotations

import copy
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from typing import Any

from tfnb.graph.parts.collection import Collections, Entry
from tfnb.graph.parts.names import Names
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.parts.ownership import register


def _replaced(inputs: tuple[Tensor, ...], index: int, tensor: Tensor) -> tuple[Tensor, ...]:
    return *inputs[:index], tensor, *inputs[index + 1:]


@dataclass(frozen=True)
class Edge:
    """The input at `index` of `consumer` is `tensor`."""

    consumer: Operation
    index: int
    tensor: Tensor


@dataclass(frozen=True)
class Detached:
    """Ops that `detach` took out, with their places, and what is needed to put them back.

    position: where the first one stood among the ops that stayed: a value for `cursor`. dangling: inputs of ops that
    stayed which are outputs of ops that left; control: (op that stayed, op that left and that it waits for).
    """

    ops: tuple[Operation, ...]
    places: tuple[int, ...]
    position: int
    dangling: tuple[Edge, ...]
    control: tuple[tuple[Operation, Operation], ...]
    names: dict[str, int] = field(repr=False)
    name_owners: dict[str, Hashable] = field(repr=False)
    entries: tuple[Entry, ...] = field(repr=False)


@dataclass(frozen=True)
class Snapshot:
    """A state of a graph that `rollback` brings back."""

    ops: tuple[Operation, ...] = field(repr=False)
    journal: int
    cursor: int | None
    seed: int | None
    names: Names = field(repr=False)
    collections: Collections = field(repr=False)
    stale: dict[Hashable, str] = field(repr=False)


class Mutation:
    """The ops of a graph in order, and their changes.

    owner: put on every op that is made (any hashable; None: nobody). stale: owner -> why its ops must be made again.
    mutations: how many destructive changes there were; adding ops is none, so that plans made before stay valid.
    """

    def __init__(self) -> None:
        self._ops: list[Operation] = []
        self._by_name: dict[str, Operation] = {}
        self._names = Names()
        self._collections = Collections()
        self._version = 0                           # how many ops were ever made
        self._cursor: int | None = None
        self._later: tuple[tuple[int, int], frozenset[Operation]] | None = None     # what stands behind the cursor
        self._seed: int | None = None
        self._alive: list[int] = []                 # places in the journal of the living snapshots: it is kept for them
        self._journal: list[tuple[Any, str, Any]] = []      # (object, attribute, value before)
        self._forgotten = 0                         # how many entries the journal has dropped at its start
        self.past: list[Any] = []                   # a notebook's: what `%graph undo` needs, oldest first
        self.owner: Hashable = register(self)
        self.stale: dict[Hashable, str] = {}
        self.mutations = 0
        self._flow_context: Any = None              # the branch or loop that ops are made in
        self._has_flow = False                      # was there ever one?

    def _enter(self, op: Operation) -> None:
        """Let a complete op stand in the graph."""
        for t in op.inputs:
            t._consumers.append(op)
        self._by_name[op.name] = op
        self._version += 1
        if self._cursor is None:
            self._ops.append(op)
        else:
            self._ops.insert(self._cursor, op)
            self._cursor += 1

    @property
    def cursor(self) -> int | None:
        """Before how many ops (from the start) new ones are put; None: at the end."""
        return self._cursor

    @cursor.setter
    def cursor(self, place: int | None) -> None:
        """Raises ValueError for a place outside of the graph."""
        if place is not None and not 0 <= place <= len(self._ops):
            raise ValueError(f"cursor {place} is outside of the graph, which has {len(self._ops)} ops")
        self._cursor = place

    def next_seed_index(self) -> int:
        """The number of ops before the next one that is made: op seeds follow from it, as in TensorFlow 1."""
        return len(self._ops) if self._cursor is None else self._cursor

    def _stands_later(self) -> Callable[[Operation], bool] | None:
        """With a cursor, the test whether an op stands behind it."""
        if self._cursor is None or self._cursor == len(self._ops):
            return None
        state = len(self._ops) - self._cursor, self.mutations
        if self._later is None or self._later[0] != state:      # asked for each entry of a collection
            self._later = state, frozenset(self._ops[self._cursor:])
        return self._later[1].__contains__

    def ops_of(self, owner: Hashable) -> list[Operation]:
        """The ops that were made for `owner`, in order."""
        return [op for op in self._ops if op.owner == owner]

    def owns_entries(self, owner: Hashable) -> bool:
        """Some entry of a collection was added for `owner`."""
        return self._collections.has_of(owner)

    def made_since(self, version: int) -> list[Operation]:
        """The ops that were made since `graph.version` was `version` and the cursor was set, in order."""
        end = begin = self.next_seed_index()
        while begin and self._ops[begin - 1]._id > version:
            begin -= 1
        return self._ops[begin:end]

    def detach(self, ops: Iterable[Operation], reason: str = "it was taken out of its graph",
               owners: Iterable[Hashable] = ()) -> Detached:
        """Take `ops` out: their names are free again, their collection entries leave.

        Names of scopes and collection entries that were made for one of `owners` leave too; owners of which all ops
        leave count as such. Ops that stay keep the inputs that left: see `Detached.dangling`. reason: what
        StaleTensorError says to who uses the ops. Raises ValueError for an op that is not in the graph.
        """
        gone = dict.fromkeys(ops)
        places = tuple([i for i, op in enumerate(self._ops) if op in gone])
        if len(places) != len(gone):
            strange = next(op for op in gone if self._by_name.get(op.name) is not op)
            raise ValueError(f"{strange.name!r} is not in this graph, and can't be taken out of it")
        taken = tuple([self._ops[i] for i in places])
        staying = [op for op in self._ops if op not in gone]
        leave = _Leave(taken, gone, self._by_name, reason)
        leaving = (leave.owners - {op.owner for op in staying} - {None}) | set(owners)
        keys = dict.fromkeys([*leave.keys, *self._names.of_owners(leaving)])
        name_owners = {key: self._names.owners[key] for key in keys if key in self._names.owners}
        record = Detached(
            taken, places, places[0] if places else len(self._ops), leave.dangling(),
            tuple([(op, c) for op in staying for c in op.control_inputs if c in gone]),
            self._names.free(keys), name_owners, tuple(self._collections.remove(gone, leaving)))
        if self._cursor is not None:
            self._cursor -= sum(place < self._cursor for place in places)
        self._ops = staying
        for t in leave.sources:
            t._consumers[:] = [c for c in t._consumers if c not in gone]
        self.mutations += 1
        return record

    def reattach(self, record: Detached) -> None:
        """Put back what `detach` took out: to where it stood, with its names and collection entries.

        Ops that stayed and were wired to others in the meantime keep that, unless those others left. Raises
        ValueError if a name is taken by now; then nothing changes.
        """
        for op in record.ops:
            if op.name in self._by_name:
                raise ValueError(f"{op.name!r} can't come back: the graph has another op of that name")
        for place, op in zip(record.places, record.ops, strict=True):
            self._ops.insert(min(place, len(self._ops)), op)
            if self._cursor is not None and place < self._cursor:
                self._cursor += 1
            self._by_name[op.name] = op
            op._dead = None
        for edge in record.dangling:
            if edge.consumer.inputs[edge.index].op._dead is not None:
                self._save(edge.consumer, "inputs")
                edge.consumer.inputs = _replaced(edge.consumer.inputs, edge.index, edge.tensor)
        for op, waited in record.control:
            if any(c._dead is not None for c in op.control_inputs):
                self._save(op, "control_inputs")
                op.control_inputs = [c for c in op.control_inputs if c._dead is None] + [waited]
        self._names.restore(record.names, record.name_owners)
        self._collections.put_back(record.entries)
        self._recount_consumers()
        self.mutations += 1

    def rewire(self, old: Tensor, new: Tensor, consumers: Iterable[Operation]) -> int:
        """Let `consumers` take `new` wherever they take `old`. Returns how many inputs changed.

        The caller answers for equal dtypes and fitting shapes: nothing is inferred again.
        """
        changed = 0
        for op in dict.fromkeys(consumers):
            for i in [i for i, t in enumerate(op.inputs) if t is old]:
                self.replace_input(op, i, new)
                changed += 1
        return changed

    def replace_input(self, op: Operation, index: int, tensor: Tensor) -> None:
        """Let `op` take `tensor` at `index`. Raises ValueError if the tensor is of another graph."""
        if tensor.graph is not self:
            raise ValueError(f"{tensor!r} is not in the graph of {op.name!r}")
        self._save(op, "inputs")
        old = op.inputs[index]
        op.inputs = _replaced(op.inputs, index, tensor)
        old._consumers.remove(op)
        tensor._consumers.append(op)
        self.mutations += 1

    def rewire_control(self, old: Operation, new: Operation, consumers: Iterable[Operation]) -> int:
        """Let `consumers` that wait for `old` wait for `new` in its place. Returns how many did."""
        hit = [op for op in dict.fromkeys(consumers) if old in op.control_inputs]
        for op in hit:
            self._save(op, "control_inputs")
            op.control_inputs = list(dict.fromkeys(new if c is old else c for c in op.control_inputs))
        self.mutations += bool(hit)
        return len(hit)

    def snapshot(self) -> Snapshot:
        """The present state. Give it to `rollback`, or to `forget` when it is not needed any more."""
        place = self._forgotten + len(self._journal)
        self._alive.append(place)
        return Snapshot(tuple(self._ops), place, self._cursor, self._seed, self._names.copy(),
                        self._collections.copy(), dict(self.stale))

    def forget(self, snapshot: Snapshot) -> None:
        """Give a snapshot up: the changes since then stand."""
        if snapshot.journal in self._alive:
            self._alive.remove(snapshot.journal)
        drop = min(self._alive, default=self._forgotten + len(self._journal)) - self._forgotten
        del self._journal[:drop]
        self._forgotten += drop

    def rollback(self, snapshot: Snapshot, reason: str = "its graph was rolled back") -> None:
        """Bring the graph back to `snapshot` and forget it; of several, the newest must go first.

        Ops made since then leave, ops that left come back where they stood; inputs, control inputs, static shapes,
        devices, attrs, names, collections, seed, cursor and stale marks are as they were. `version` keeps growing.
        Objects of ops that leave raise StaleTensorError, with the reason, when they are used.
        """
        place = snapshot.journal - self._forgotten
        for target, attribute, value in reversed(self._journal[place:]):
            setattr(target, attribute, value)
        del self._journal[place:]
        before = set(snapshot.ops)
        for op in self._ops:
            if op not in before:
                op._dead = reason
        for op in snapshot.ops:
            op._dead = None
        self._ops = list(snapshot.ops)
        self._by_name = {op.name: op for op in self._ops}
        self._names = snapshot.names.copy()
        self._collections.restore(snapshot.collections)
        self._cursor, self._seed = snapshot.cursor, snapshot.seed
        self.stale.clear()
        self.stale.update(snapshot.stale)
        self._recount_consumers()
        self.mutations += 1
        self.forget(snapshot)

    def _save(self, target: Any, attribute: str) -> None:
        """Note the value of an attribute of an op or tensor before it changes, for the snapshots that are alive."""
        if self._alive:
            value = getattr(target, attribute)
            self._journal.append((target, attribute, copy.copy(value) if isinstance(value, (list, dict)) else value))

    def _recount_consumers(self) -> None:
        """Make all lists of consumers anew, in the order of the ops."""
        for op in self._ops:
            for t in (*op.outputs, *op.inputs):
                t._consumers.clear()
        for op in self._ops:
            for t in op.inputs:
                t._consumers.append(op)


class _Leave:
    """Facts about ops that leave, gathered while they go.

    owners: whose they are; keys: of their names; sources: tensors of ops that stay which they take. Each op is looked
    at once: of thousands, none is in the processor's caches any more.
    """

    def __init__(self, taken: Iterable[Operation], gone: dict[Operation, None], by_name: dict[str, Operation],
                 reason: str) -> None:
        self.owners: set[Hashable] = set()
        self.keys: list[str] = []
        self.sources: dict[Tensor, None] = {}
        self._edges: dict[tuple[Tensor, Operation], None] = {}
        for op in taken:
            self.owners.add(op.owner)
            name = op.name
            self.keys.append(name.lower())
            del by_name[name]
            op._dead = reason
            for t in op.inputs:
                if t.op not in gone:
                    self.sources[t] = None
            for t in op.outputs:
                for user in t._consumers:
                    if user not in gone:
                        self._edges[t, user] = None

    def dangling(self) -> tuple[Edge, ...]:
        """The inputs of ops that stay which are outputs of these."""
        return tuple(Edge(user, i, t) for t, user in self._edges for i, taken in enumerate(user.inputs) if taken is t)
