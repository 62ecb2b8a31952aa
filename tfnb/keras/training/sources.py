"""Sources of batches: arrays, generators, Sequences, datasets and iterators of tf.data."""
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tfnb.core import nest
from tfnb.core.errors import OutOfRangeError
from tfnb.core.program import log
from tfnb.data.dataset import Dataset
from tfnb.data.iterator import Iterator as DataIterator
from tfnb.keras.backend.session import get_session
from tfnb.ops.control.source import placeholder

Batch = tuple[list[Any], list[Any], list[Any]]


def is_stream(x: Any) -> bool:
    """Return whether x yields batches with targets: a generator, a Sequence, a dataset or its iterator."""
    return isinstance(x, (Dataset, DataIterator)) or hasattr(x, "__next__") or _is_sequence(x)


def _is_sequence(x: Any) -> bool:
    return hasattr(x, "__getitem__") and hasattr(x, "on_epoch_end") and hasattr(x, "__len__")


def first_inputs(x: Any) -> Any:
    """Return the inputs of the first batch of a Sequence, or tensors like those of a dataset."""
    if _is_sequence(x):
        return x[0][0]
    if isinstance(x, (Dataset, DataIterator)):
        types, shapes = x.output_types, x.output_shapes
        first = (types[0], shapes[0]) if isinstance(types, tuple) else (types, shapes)
        return nest.map_structure(placeholder, *first)
    raise ValueError("The inputs of the model are not known before its first batch: `build` it, or call it on an "
                     "Input, before training on a generator")


class Arrays:
    """Batches of `size` examples of arrays. shuffle: their order, or with "batch" that of the batches.

    counts_steps: False: progress and means are by examples.
    """

    counts_steps = False

    def __init__(self, data: Batch, size: int | None, shuffle: Any = False) -> None:
        self.data, self.size, self.shuffle = data, size or 32, shuffle
        self.samples = len(next(each for part in data for each in part if each is not None))
        self.steps: int | None = None
        if self.size < 1:
            raise ValueError(f"Expected batch_size of at least 1, got {size}")

    @property
    def total(self) -> int:
        """The number of examples."""
        return self.samples

    def epoch(self) -> Iterator[tuple[Batch, int]]:
        """(batch, number of examples) of an epoch."""
        order = self._order()
        for start in range(0, self.samples, self.size):
            where = order[start:start + self.size] if order is not None else slice(start, start + self.size)
            count = min(self.size, self.samples - start)
            inputs, targets, weights = ([None if each is None else each[where] for each in part] for part in self.data)
            yield (inputs, targets, weights), count

    def _order(self) -> Any:
        if not self.shuffle:
            return None
        order = np.arange(self.samples)
        if self.shuffle == "batch":
            whole = self.samples // self.size * self.size
            parts = order[:whole].reshape(-1, self.size)
            np.random.shuffle(parts)
            return np.concatenate([parts.reshape(-1), order[whole:]])
        np.random.shuffle(order)
        return order


class Stream:
    """Batches of a generator, Sequence, dataset or iterator. steps: batches of an epoch (None: until it ends).

    has_targets: False: the elements are inputs alone, or their first parts are.
    """

    counts_steps = True

    def __init__(self, model: Any, x: Any, steps: int | None, class_weight: Any = None, has_targets: bool = True,
                 shuffle: Any = False) -> None:
        self.model, self.x, self.steps, self.class_weight = model, x, steps, class_weight
        self.has_targets, self.shuffle = has_targets, shuffle
        self._elements: Iterator[Any] | None = None
        self._iterator: Any = None
        self._fetch: Any = None
        if _is_sequence(x):
            self.steps = steps = steps or len(x)
        if steps is None and not isinstance(x, (Dataset, DataIterator)):
            raise ValueError("When passing a generator, you should specify the number of steps: `steps_per_epoch` of "
                             "`fit`, `validation_steps`, or `steps` of `evaluate` and `predict`")

    @property
    def total(self) -> int | None:
        """The number of batches."""
        return self.steps

    def epoch(self) -> Iterator[tuple[Batch, int]]:
        """(batch, number of examples) of an epoch."""
        if self._elements is None or self.steps is None or _is_sequence(self.x):
            self._elements = self._begun()
        done = 0
        while self.steps is None or done < self.steps:
            try:
                element = next(self._elements)
            except StopIteration:
                if self.steps is not None:
                    log.warning(f"Your input ran out of data; interrupting training. Make sure that your dataset or "
                                f"generator can generate at least {self.steps} batches in an epoch.")
                break
            done += 1
            batch = self._batch(element)
            yield batch, len(batch[0][0])
        if self.steps is None:
            self.steps = done
            self._elements = None
        if hasattr(self.x, "on_epoch_end"):
            self.x.on_epoch_end()

    def _begun(self) -> Iterator[Any]:
        if isinstance(self.x, Dataset):
            if self._iterator is None:
                self._iterator = self.x.make_initializable_iterator()
            get_session().run(self._iterator.initializer)
            return self._fetched(self._iterator)
        if isinstance(self.x, DataIterator):
            return self._fetched(self.x)
        if hasattr(self.x, "__next__"):
            return iter(self.x)
        order = np.arange(len(self.x))
        if self.shuffle:
            np.random.shuffle(order)
        return (self.x[int(i)] for i in order)

    def _batch(self, element: Any) -> Batch:
        parts = tuple(element) if isinstance(element, tuple) else (element,)
        if not self.has_targets:
            found: Batch = self.model._batch(parts[0], has_targets=False)
            return found
        if len(parts) not in (1, 2, 3):
            raise ValueError(f"Expected batches (inputs, targets[, weights]), got {len(parts)} parts")
        x, y, weights = (*parts, None, None)[:3]
        made: Batch = self.model._batch(x, y, weights, self.class_weight)
        return made

    def _fetched(self, iterator: Any) -> Iterator[Any]:
        """The elements of an iterator of tf.data, fetched one by one."""
        if self._fetch is None:
            self._fetch = get_session().make_callable(iterator.get_next())
        while True:
            try:
                found = self._fetch()
            except OutOfRangeError:
                return
            yield found
