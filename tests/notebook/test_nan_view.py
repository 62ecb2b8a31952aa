"""%nan behind the magic: names, forms, hostile text; and pills."""
import numpy as np
import pytest

import tfnb as tf
from tfnb.notebook import nan
from tfnb.notebook.debug.nan_view import NanView, report_html
from tfnb.notebook.drawing.value_label import KINDS, pill_of, pill_svg
from tfnb.notebook.frontend.settings import settings

EVIL = "<img src=x onerror=alert(1)><script>alert(1)</script>\"'"


@pytest.fixture
def session():
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [3], name="x")
        tf.reduce_sum(tf.sqrt(x, name="root"), name="loss")
        yield session


def test_names_are_fetched_and_fed(session):
    view = nan("loss", feed={"x": [1.0, -1.0, 4.0]})
    assert isinstance(view, NanView) and view.found and view.report.indices == ((1,),)
    forms = view._repr_mimebundle_()
    assert forms["text/plain"].startswith("NaN comes from 'root' (Sqrt)") and forms["text/plain"] == repr(view)
    html = forms["text/html"]
    assert "<b>root</b>" in html and "-1 at [1]" in html and "1 of 3 bad: at [1]" in html and 'role="alert"' in html
    assert "<b>loss</b>" in html and "test_nan_view.py:" in html
    settings.view_format = "text"
    try:
        assert set(view._repr_mimebundle_()) == {"text/plain"}
    finally:
        settings.view_format = "auto"


def test_finite_runs_say_so(session):
    view = nan("loss", feed={"x": [1.0, 1.0, 4.0]})
    assert not view.found and "All values are finite" in report_html(view.report)


def test_variables_and_feeds_are_said_to_be_so(session):
    assert "was fed for <b>x</b>" in report_html(nan("loss", feed={"x": [np.nan, 1.0, 4.0]}).report)
    with pytest.raises(KeyError, match="did you mean 'loss'"):
        nan("los")


def test_names_and_lines_are_text(monkeypatch, session):
    report = nan("loss", feed={"x": [1.0, -1.0, 4.0]}).report
    monkeypatch.setattr(type(report.op), "name", EVIL)
    monkeypatch.setattr(type(report.op), "made_at", EVIL)
    html = report_html(report)
    assert "<img" not in html and "<script" not in html and "&lt;" in html


def test_a_pill_tells_the_kinds_of_numbers_and_how_they_are_spread():
    pill = pill_of(np.array([np.nan, -np.inf, -1.0, 0.0, 1.0, 2.0, np.inf, np.nan]))
    assert dict(zip(KINDS, pill.shares, strict=True)) == {
        "NaN": 0.25, "-inf": 0.125, "negative": 0.125, "zero": 0.125, "positive": 0.25, "+inf": 0.125}
    assert (pill.low, pill.high, pill.mean, sum(pill.counts)) == (-1, 2, 0.5, 4) and pill.bad == 0.5
    assert "50% bad" in pill.words and "25% NaN" in pill.tip and pill_svg(pill).count("<rect") == 1 + 4 + 6
    assert pill_of(np.array([b"x"], object)) is None
    assert pill_of(np.full(3, np.nan)).words == "nothing finite"
    assert pill_of(np.zeros(0, np.float32)).tip == "float32[0]: empty" and pill_of(np.float32(3)).words == "3"
    assert pill_of(np.array([1e308, -1e308])).counts[0] == 1
