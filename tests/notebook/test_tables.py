"""Tables as JSON, text and HTML, and the view that holds them."""
import json

import pytest

from tfnb.notebook.frontend.badge import BAD_COLOR
from tfnb.notebook.state.tables import Cell, Column, Table, bars, number_cell, share_cell, short
from tfnb.notebook.state.tables_view import SheetView

NAN = float("nan")


@pytest.fixture
def table():
    rows = [(name, [Cell(name), number_cell(value)]) for name, value in (("a", 2.0), ("b", NAN), ("c", 10))]
    return Table("t", [Column("name"), Column("x", "the <x>", True)], rows, "Title")


def test_rows_are_sorted_by_value_and_those_without_one_come_last(table):
    def names(sort):
        table.sort = sort
        return [name for name, _ in table.sorted_rows()]
    assert names(None) == ["a", "b", "c"] and names((1, False)) == ["a", "c", "b"]
    assert names((1, True)) == ["c", "a", "b"] and names((0, True)) == ["c", "b", "a"]


def test_forms_escape_and_align(table):
    table.rows = [*table.rows, ("<b>", [Cell("<script>"), Cell("9", 9.0, bad=True)])]
    assert table.as_text().splitlines()[:3] == ["Title", "name       x", "a          2"]
    html = table.as_html()
    assert "<script>" not in html and "&lt;script&gt;" in html and "the &lt;x&gt;" in html and BAD_COLOR in html


def test_json_holds_no_nan_and_leaves_out_what_is_empty(table):
    found = table.as_json()
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert found["rows"][1]["cells"][1] == {}
    assert Cell("0", 0.0).as_json() == {"t": "0", "v": 0.0}, "0 is a value to sort by"
    assert Cell("w", spark=(1.0, NAN, 2.0)).as_json() == {"t": "w", "spark": [1.0, 2.0]}


def test_numbers_in_few_letters():
    assert [short(x) for x in (5.2e-5, 0.25, 1e6, 12345.0)] == ["5.2e-5", "0.25", "1e6", "1.234e4"]
    assert share_cell(0.0).bad is False and share_cell(1e-9).text == "<0.1%" and share_cell(0.25).text == "25.0%"
    assert bars([0, 1, 8]) == "▁▂█"


def test_a_view_keeps_its_state_and_tells_what_it_can_not_do(table):
    view = SheetView("things")
    view.tables = [table]
    view.state = {"sort": {"t": [1, True]}}
    assert view.state == {"sort": {"t": [1, True]}, "picked": {}}
    with pytest.raises(ValueError, match="has sort and picked, not colour"):
        view.state = {"colour": 1}
    with pytest.raises(ValueError, match="columns 0 to 1"):
        view.state = {"sort": {"t": [7, True]}}
    view.hear({"type": "sort", "table": "u", "column": 0})
    assert "no table 'u'" in view.note and "things" in repr(view)
    view.hear({"type": "sort", "table": "t", "column": None})
    assert view.note == "`column` must be an integer, got None"
    view.note = "<img src=x>"
    assert "<img" not in view.forms()["text/html"]
    assert set(view._repr_mimebundle_()) == {"text/plain", "text/html"}
