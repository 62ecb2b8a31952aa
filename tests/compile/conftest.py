"""What tests of the compiler share: the programs that ran."""
from __future__ import annotations

import pytest

from tfnb.runtime.runners.program import Compiled, Program, Repointed


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> list[Compiled | Repointed]:
    """The compiled programs that ran, in order."""
    found, run = [], Program.run

    def noted(self, inputs, trace=None):                       # type: ignore[no-untyped-def]
        found.append(self.compiled)
        return run(self, inputs, trace)
    monkeypatch.setattr(Program, "run", noted)
    return found
