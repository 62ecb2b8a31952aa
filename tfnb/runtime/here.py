"""The part of a remote run that stays in this process, on tfnb's engine."""
from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from tfnb.compile.planning.structure import build
from tfnb.graph.parts.operation import Tensor
from tfnb.runtime.executor import Executor
from tfnb.runtime.remote.split import Split
from tfnb.runtime.state.store import Store


class Here:
    """Runs the ops of a split that stay here, and all that they take."""

    def __init__(self, split: Split, feeds: Sequence[Tensor], store: Store) -> None:
        self.split = split
        wanted = list(dict.fromkeys([*split.fetches, *split.crossing]))
        self._places = [wanted.index(t) for t in (*split.fetches, *split.crossing)]
        self._feeds = list(feeds)
        self._executor = Executor(build(wanted, split.targets, self._feeds), store)

    def run(self, feeds: Mapping[Tensor, np.ndarray]) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """Return the values of the fetches here, and of the tensors that the server takes."""
        values = self._executor.run([feeds[t] for t in self._feeds])
        found = [values[i] for i in self._places]
        return found[:len(self.split.fetches)], found[len(self.split.fetches):]
