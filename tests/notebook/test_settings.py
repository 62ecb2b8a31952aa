"""The settings: checked, told to who listens, and shown by `%config`."""
import pytest

from tfnb.notebook.drawing.svg import element
from tfnb.notebook.frontend.settings import SETTINGS, Settings
from tfnb.notebook.frontend.widget import View, make_widget, with_widget
from tfnb.notebook.plots.board import LiveBoard


@pytest.fixture
def chosen():
    return Settings()


def test_settings_have_their_defaults_and_tell_changes(chosen):
    told = []
    chosen.listeners.append(lambda *change: told.append(change))
    assert {name: getattr(chosen, name) for name in SETTINGS} == {name: s.default for name, s in SETTINGS.items()}
    chosen.own_cells = False
    chosen.own_cells = False
    chosen.live_hz = 3
    assert told == [("own_cells", False), ("live_hz", 3.0)]
    assert "own_cells = False    Cells own the ops they make" in repr(chosen)


@pytest.mark.parametrize(("name", "value", "error"), [
    ("own_cell", True, AttributeError), ("own_cells", 1, TypeError), ("live_hz", True, TypeError),
    ("live_hz", 11, ValueError), ("undo_depth", -1, ValueError), ("undo_depth", 2.5, TypeError),
    ("view_format", "png", ValueError)])
def test_settings_are_checked(chosen, name, value, error):
    with pytest.raises(error, match=name):
        setattr(chosen, name, value)


def test_views_are_shown_as_chosen(monkeypatch):
    class Small(View):
        kind = "small"

        def forms(self):
            return {"text/plain": "small", "image/svg+xml": element("svg")}

        def widget_state(self):
            return {}

    monkeypatch.setattr("tfnb.notebook.frontend.widget.settings", chosen := Settings())
    chosen.view_format = "text"
    assert Small()._repr_mimebundle_() == {"text/plain": "small"}
    chosen.view_format = "static"
    assert set(Small()._repr_mimebundle_()) == {"text/plain", "image/svg+xml"}
    monkeypatch.setattr("tfnb.notebook.frontend.widget._widget_class", lambda: dict)
    for front_end, looked_at, wanted, there in [(True, True, "static", False), (True, True, "auto", True),
                                                (True, False, "auto", False), (True, False, "widget", True),
                                                (False, False, "widget", False)]:
        monkeypatch.setattr("tfnb.notebook.frontend.widget.has_front_end", lambda answer=front_end: answer)
        monkeypatch.setattr("tfnb.notebook.frontend.widget.interactive", lambda answer=looked_at: answer)
        chosen.view_format = wanted
        assert (make_widget("live", {}) is not None) == there
    chosen.view_format = "text"
    assert set(LiveBoard()._repr_mimebundle_()) == {"text/plain"}


@pytest.mark.parametrize("made, want", [
    (None, {"text/plain": "t"}), ({}, {"text/plain": "t"}), ({"text/plain": "w", "w": 1}, {"text/plain": "t", "w": 1}),
    (({"w": 1}, {}), {"text/plain": "t", "w": 1}), (({"w": 1}, {"w": 2}), ({"text/plain": "t", "w": 1}, {"w": 2}))])
def test_what_a_widget_makes_stands_beside_the_forms(made, want):
    class Widget:
        def _repr_mimebundle_(self):
            return made
    assert with_widget({"text/plain": "t"}, Widget()) == want
