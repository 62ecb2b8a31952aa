"""The line that says that kernels are being compiled."""
from __future__ import annotations

import pytest

from tfnb.notebook.frontend import shell
from tfnb.notebook.frontend.compiling import CompileLine


@pytest.fixture
def shown(monkeypatch):
    """What is shown and updated: (how, text, id)."""
    found = []
    monkeypatch.setattr(shell, "has_front_end", lambda: True)
    monkeypatch.setattr(shell, "show", lambda bundle, id: found.append(("show", bundle["text/plain"], id)))
    monkeypatch.setattr(shell, "update", lambda bundle, id: found.append(("update", bundle["text/plain"], id)))
    return found


def test_short_compilations_say_nothing(shown):
    line = CompileLine()
    for done in (1, 2, 3):
        line(done, 3, 0.1 * done)
    assert shown == []


def test_long_ones_have_one_line_each(shown):
    line = CompileLine()
    for done in (1, 2, 3):
        line(done, 3, 0.4 * done)
    line(1, 1, 1.3)
    line(1, 1, 2.4)
    assert [(how, text) for how, text, _ in shown] == [
        ("show", "compiling kernels: 2 of 3, 0.8 s"),
        ("update", "compiled 3 kernels in 1.2 s, kept for the next time"),
        ("show", "compiled 1 kernel in 1.1 s, kept for the next time")]
    assert shown[0][2] == shown[1][2] != shown[2][2]


def test_terminals_are_left_alone(shown, monkeypatch):
    monkeypatch.setattr(shell, "has_front_end", lambda: False)
    CompileLine()(1, 1, 9.0)
    assert shown == []
