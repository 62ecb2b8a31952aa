"""%show, and the forms of variables, sessions, feeds and results: their words and sizes, and that nothing runs."""
import re
import sys
import threading
from collections import namedtuple
from html.parser import HTMLParser
from types import SimpleNamespace

import numpy as np
import pytest
from IPython.core.formatters import DisplayFormatter

import tfnb as tf
from tests.notebook.kernel import Page as Notebook
from tests.notebook.test_graph_view import FakeWidget, ask
from tfnb.notebook import ArrayView, GraphView, show, watch
from tfnb.notebook.frontend import shell
from tfnb.notebook.frontend.settings import settings
from tfnb.notebook.show import shown
from tfnb.notebook.show.array_page import SIDE, array_html, sample, words_of
from tfnb.notebook.show.described import show_tree
from tfnb.notebook.show.tree import MOST_PARTS, as_html, as_text, has_arrays

widget_module = sys.modules[GraphView.__mro__[1].__module__]
rng = np.random.RandomState(0)
EVIL = "<img src=x onerror=alert(1)><script>alert(1)</script>\"'\u2028"


class Tags(HTMLParser):
    def __init__(self, html):
        super().__init__()
        self.opened = []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.opened.append((tag, dict(attrs)))


def tags(html):
    return Tags(html).opened


@pytest.mark.parametrize("array", [
    rng.randn(400, 300), rng.randn(SIDE, SIDE), rng.randn(5, 5, 3, 32), rng.randn(8, 28, 28, 3), rng.randn(5000),
    rng.rand(3, 4, 5, 6, 7), np.array([1.0, np.nan, np.inf]), rng.rand(12, 12) > 0.5, rng.rand(9, 9) * 1j,
    np.zeros((2, 0)), np.float32(3), np.array([EVIL, "b"], object), np.array([b"x"] * 9), np.full((4, 4), np.nan),
    rng.rand(40, 9, 9, 40), np.zeros((3, 3, 0, 2)), np.full((2, 2), 1e308)])
def test_an_array_is_a_small_picture_and_a_line(array):
    array = np.asarray(array)
    html, words = array_html(array), words_of(array)
    assert len(html) < 10_000 and words.startswith(array.dtype.name)
    assert bool(html) == (array.size > 1 and array.dtype.kind in "fbc")
    found = [attributes for tag, attributes in tags(html) if tag == "img"]
    assert all(each["src"].startswith("data:image/png;base64,") and each["alt"] for each in found)


def test_figures_are_right_and_say_what_they_are_of():
    assert words_of(np.arange(12.0)) == "float64[12]  12 elements: 0 to 11, mean 5.5, sd 3.452"
    assert words_of(np.array([1.5, np.nan, 2.0])) == "float64[3]  [1.5, nan, 2]"
    assert words_of(np.array([1.0, np.nan] * 6)).endswith("mean 1, sd 0, 50.00% NaN")
    assert words_of(np.float32(0.25)) == "float32  0.25" and words_of(np.zeros((2, 0))) == "float64[2, 0]  []"
    assert "by " in words_of(np.ones((1000, 1000), "f")) and "nothing finite" in words_of(np.full(20, np.inf))


def test_a_huge_array_is_sampled_without_a_copy():
    one = np.zeros(1, np.float32)
    huge = np.lib.stride_tricks.as_strided(one, (10_000, 10_000), (0, 0))        # 400 MB, if something copied it
    for array in (huge, huge.T, huge[:, None], huge.reshape(10_000, 100, 100)[..., ::2]):
        part = sample(array)
        assert part.size <= 1 << 18 and np.shares_memory(part, one)
        assert len(array_html(array)) < 2000 and "100,000,000" in words_of(array) or array.size < 1e8
    assert show(huge).large.array.size <= shown.LARGE


def test_results_fold_and_print_as_lines():
    pair = namedtuple("Pair", "left right")
    value = {"loss": 0.5, "layers": [rng.rand(8, 8), pair(np.zeros(20), None)], EVIL: EVIL}
    page = show(value, "result")
    lines = repr(page).splitlines()
    assert lines[0] == "result  dict: 3 items" and lines[2] == "  layers  list: 2 items"
    assert lines[5].startswith("      left  float64[20]") and lines[6] == "      right  None"
    html = page._repr_mimebundle_()["text/html"]
    assert sum(tag == "details" for tag, _ in tags(html)) == 5 and sum(tag == "img" for tag, _ in tags(html)) == 2
    assert not {tag for tag, _ in tags(html)} & {"script", "style"} and "<img src=x" not in html
    assert all(attributes.get("onerror") is None for _, attributes in tags(html))


def test_trees_are_bounded_and_end():
    loop = [1]
    loop.append(loop)
    deep = []
    for _ in range(50):
        deep = [deep]
    class Rude:
        def __repr__(self):
            raise OSError("no")
    text = repr(show([loop, deep, Rude()]))
    assert "… itself" in text and "<Rude, whose repr raises OSError>" in text and len(text.splitlines()) < 30
    many = show([[rng.randn(90, 90) for _ in range(200)] for _ in range(3)])
    html = as_html(many.root)
    assert len(html) < 300_000 and "… 140 more" in html and len(many.root.parts[0].parts) == MOST_PARTS


@pytest.fixture
def model(monkeypatch):
    names = {}
    monkeypatch.setattr(shell, "current", lambda: SimpleNamespace(user_ns=names))
    with tf.Graph().as_default(), tf.Session() as session:
        w = tf.Variable(np.arange(12.0).reshape(3, 4).astype("f"), name="layer/w")
        b = tf.Variable(tf.zeros([4]), name="b", trainable=False)
        names["sess"] = session
        yield SimpleNamespace(w=w, b=b, sess=session, names=names)


def test_a_variable_has_its_value_as_soon_as_there_is_one(model):
    assert "no value yet" in as_text(show_tree(model.w))
    model.sess.run(tf.global_variables_initializer())
    text = as_text(show_tree(model.w))
    assert "tf.Variable 'layer/w:0'  float32[3, 4]" in text and "made at test_show.py:" in text
    assert "12 elements: 0 to 11" in text and "not trainable" in as_text(show_tree(model.b))
    assert sum(tag == "img" for tag, _ in tags(as_html(show_tree(model.w)))) == 1
    with tf.Session() as other:
        model.names["other"] = other
        lines = as_text(show_tree(model.w)).splitlines()
        assert lines[1].startswith("  sess  float32") and lines[2].startswith("  other  no value yet")
    model.sess.close()
    assert "no session is open" in as_text(show_tree(model.w))


def test_a_session_says_whether_it_is_open_and_what_it_holds(model):
    assert "2 without a value" in as_text(show_tree(model.sess))
    model.sess.run(tf.global_variables_initializer())
    text = as_text(show_tree(model.sess))
    assert re.search(r"Session: open · graph of \d+ ops · 2 variables · 64 B$", text.splitlines()[0])
    assert "layer/w  float32[3, 4]  12 elements" in text
    model.sess.close()
    assert as_text(show_tree(model.sess)).endswith("2 variables") and "closed" in as_text(show_tree(model.sess))


def test_nothing_runs_and_no_lock_is_waited_for(model, monkeypatch):
    model.sess.run(tf.global_variables_initializer())
    monkeypatch.setattr(type(model.sess), "run", None)
    store, ops = model.sess._store, len(model.w.graph.get_operations())
    ready, over, done = threading.Event(), threading.Event(), []

    def hold():
        with store.lock, store.updating:
            ready.set()
            over.wait(60)

    holder = threading.Thread(target=hold)
    reader = threading.Thread(target=lambda: done.append(as_html(show_tree([model.w, model.sess]))), daemon=True)
    holder.start()
    ready.wait(20)
    reader.start()
    reader.join(20)
    over.set()
    holder.join()
    assert done and "12 elements" in done[0] and len(model.w.graph.get_operations()) == ops


def test_feeds_are_told_by_tensor_and_by_what_does_not_fit(model):
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    text = as_text(show_tree({x: np.ones((20, 3)), model.w: np.zeros((3, 5))}))
    assert "feed of 1 tensor" not in text       # a variable is no tensor: a dict of its own
    text = as_text(show_tree({x: np.ones((20, 4))}))
    assert "x:0  float64[20, 4]" in text and "does not fit float32(?, 3)" in text
    assert "does not fit" not in as_text(show_tree({x: np.ones((20, 3))}))


def test_an_array_alone_has_sliders(monkeypatch):
    monkeypatch.setattr(widget_module, "make_widget", FakeWidget)
    view = show(rng.rand(4, 9, 9, 3), "h")
    assert isinstance(view, ArrayView) and not isinstance(show(np.array(["a", "b"])), ArrayView)
    bundle = view._repr_mimebundle_()
    assert "img" in bundle["text/html"] and bundle["text/plain"].startswith("h  float64[4, 9, 9, 3]")
    panels = view.widget_state()["heat"]["panels"]
    assert [panel["title"] for panel in panels] == ["channel 0", "channel 1", "channel 2"]
    assert ask(view, type="slide", name="place", value=3)["heat"]["sliders"][0]["words"] == "3 of 4"
    assert "has no slider" in ask(view, type="slide", name="place", value=4)["note"]
    assert ask(view, type="zoom", panel=1, row=0, column=0)["heat"]["panels"][0]["title"] == "channel 1"


def test_has_arrays_looks_into_containers():
    assert has_arrays({"a": [1, (np.zeros(3),)]}) and not has_arrays([1, "a", np.zeros(1), {"b": 2}])
    assert not has_arrays([[[[[[np.zeros(3)]]]]]]) and has_arrays(np.zeros((2, 2)))


def test_a_shell_shows_our_objects_so_and_others_if_it_is_told_to(model):
    ip = SimpleNamespace(display_formatter=DisplayFormatter())
    ip.display_formatter.active_types = ["text/plain", "text/html"]

    def forms(value):
        return ip.display_formatter.format(value)[0]

    remove = shown.install(ip)
    try:
        model.sess.run(tf.global_variables_initializer())
        assert "tfnb-show" in forms(model.w)["text/html"] and forms(model.w)["text/plain"] == repr(model.w)
        shown_session = forms(model.sess)
        assert shown_session["text/plain"].startswith("Session: open") and "layer/w" in shown_session["text/html"]
        values = watch(model.w * 2.0).values
        assert "tfnb-show" in forms(values)["text/html"] and "<img" in forms(values["mul"])["text/html"]
        assert "text/html" not in forms(np.zeros(9)) and "text/html" not in forms([np.zeros(9)])
        settings.show_arrays = True
        assert "<img" in forms(np.zeros(9))["text/html"] and "<img" in forms({"a": np.zeros(9)})["text/html"]
        assert "text/html" not in forms({"a": 1})
        settings.view_format = "text"
        assert "text/html" not in forms(model.w)
    finally:
        settings.view_format, settings.show_arrays = "auto", False
        remove()
    assert "text/html" not in forms(model.w) and "text/html" not in forms(np.zeros(9))
    assert not any(getattr(listener, "__qualname__", "").startswith("install") for listener in settings.listeners)


def test_the_magic_in_a_kernel():
    page = Notebook()
    try:
        page.run("%load_ext tfnb\nimport numpy as np, tfnb as tf\nw = tf.Variable(np.ones((3, 4), 'f'), name='w')\n"
                 "sess = tf.Session()\n_ = sess.run(w.initializer)", "A")
        assert "<tf.Variable 'w:0'" in page.run("w", "B")
        assert "12 elements: 1 to 1" in str(page.outputs["B"]) and "tfnb-show" in str(page.outputs["B"])
        assert "sess  Session: open" in page.run("%show sess", "C")
        assert "a  float64[2, 2]" in page.run("%show {'a': np.zeros((2, 2))}", "D")
        assert "name what to show" in page.run("%show", "E") and "sess  Session" in page.run("%show sess", "F")
    finally:
        page.close()


@pytest.mark.parametrize(("shape", "wide", "ratio"), [
    ((32, 1), 24, "0.143"), ((1, 64), 168, "14"), ((8, 8), 168, "1"), ((8, 16), 168, "2")])
def test_columns_and_rows_have_a_picture_of_moderate_size(shape: tuple[int, int], wide: int, ratio: str) -> None:
    drawn = array_html(np.arange(np.prod(shape), dtype=np.float32).reshape(shape))
    assert f"width:{wide}px" in drawn and f"aspect-ratio:{ratio}\"" in drawn
