"""The templates of a stage: when shapes change again and again, programs follow from one symbolic compilation."""
from __future__ import annotations

import logging
from collections.abc import Sequence

from tfnb.compile.planning.plan import Stage
from tfnb.compile.programs.template import Axis, Shapes, Template, make_template
from tfnb.compile.trace import Meta
from tfnb.kernels.symbolic import LEAST, MOST
from tfnb.runtime.runners.program import Repointed

BEFORE = 2               # shapes that are compiled each for itself: a full and a last batch pay no template
KEPT = 32                # templates of a stage: other branches of its kernels, other axes that change
ATTEMPTS = 8             # templates that are tried without one that serves a second time
_log = logging.getLogger(__name__)


class Templates:
    """The templates of one stage. Used under the lock of its runner."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._seen = 0
        self._labels: dict[Axis, int] = {}           # axes with one label had equal sizes in all shapes seen
        self._varied: set[Axis] = set()
        self._last: dict[Axis, int] = {}
        self._found: list[Template] = []             # the last used last
        self._left = ATTEMPTS

    def repointed(self, inputs: Sequence[Meta], shapes: Shapes) -> Repointed | None:
        """Return what is compiled for inputs, by a template; None for the first shapes, and where none serves."""
        self._note(inputs)
        if self._seen <= BEFORE or any(m.element is not None for m in inputs):
            return None
        for template in reversed(self._found):
            values = template.values(inputs, shapes)
            if values is not None:
                self._found.remove(template)
                self._found.append(template)
                self._left = ATTEMPTS
                return self._at(template, inputs, values)
        return self._make(inputs, shapes)

    def _note(self, inputs: Sequence[Meta]) -> None:
        """Note which axes change, and which of them together."""
        sizes = {(i, axis): n for i, m in enumerate(inputs) for axis, n in enumerate(m.shape)}
        if sizes.keys() != self._last.keys():        # other ranks: begin anew
            self._labels, self._varied, self._found = dict.fromkeys(sizes, 0), set(), []
        else:
            self._varied |= {axis for axis, n in sizes.items() if n != self._last[axis]}
        numbers: dict[tuple[int, int], int] = {}
        self._labels = {axis: numbers.setdefault((label, sizes[axis]), len(numbers))
                        for axis, label in self._labels.items()}
        self._last = sizes
        self._seen += 1

    def _make(self, inputs: Sequence[Meta], shapes: Shapes) -> Repointed | None:
        """Make a template for the axes that change."""
        groups: dict[int, list[Axis]] = {}
        for axis in sorted(self._varied):
            groups.setdefault(self._labels[axis], []).append(axis)
        if self._left <= 0 or any(not LEAST <= self._last[group[0]] <= MOST for group in groups.values()):
            return None
        self._left -= 1
        try:
            template = make_template(self._stage, inputs, shapes, list(groups.values()))
            values = template.values(inputs, shapes)
        except Exception as error:                   # the stage needs plain sizes, or is wrong: its own build says what
            _log.debug("no template of %s: %r", self._stage.ops[-1].name, error)
            return None
        if values is None:
            return None
        self._found = [*self._found[1 - KEPT:], template]
        return self._at(template, inputs, values)

    @staticmethod
    def _at(template: Template, inputs: Sequence[Meta], values: Sequence[int]) -> Repointed | None:
        try:
            return Repointed(template, tuple(inputs), values)
        except Exception as error:                   # an op of constants refuses these sizes: the build says so
            _log.debug("no sizes for the template of %s: %r", template.stage.ops[-1].name, error)
            return None
