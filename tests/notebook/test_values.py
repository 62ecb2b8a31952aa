"""What counts as a plain value, and which changes of one count."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf
from tfnb.core.source import set_cell_label
from tfnb.notebook.cells.statements import Text
from tfnb.notebook.cells.values import MOST, Values, written


@pytest.mark.parametrize("value", [3, True, 2.5, 1j, "relu", b"x", None, np.float32(3), tf.float32, [64, 32],
                                   (1, ("a",)), {"units": [3, 4], "name": "d"}, [0] * (MOST - 1), "x" * MOST])
def test_plain_values(value):
    assert written(value) == repr(value)


@pytest.mark.parametrize("value", [np.zeros(3), object(), len, {3}, [0] * MOST, "x" * (MOST + 1), [[0] * 99] * 3,
                                   {"a": np.zeros(2)}, dict.fromkeys(range(MOST + 1))])
def test_what_is_none(value):
    assert written(value) is None


def test_a_list_that_holds_itself_is_none():
    value = []
    value.append(value)
    assert written(value) is None


@pytest.fixture
def run():
    """run(key, source, names) -> what is outdated then; all code that is run here counts for cells."""
    values, readings, graph = Values(), {}, tf.Graph()
    set_cell_label(lambda file: f"cell {file}" if file.startswith("c") else None)

    def run(key, source, names):
        count = len(graph.get_operations())
        with graph.as_default():
            exec(compile(source, f"c{key}", "exec"), names)
        text = Text(source)
        values.observe(names, key, f"[{key}]", text)
        readings[key] = values.read(graph.get_operations()[count:], names, text)
        return {each: reason.why for each, reason in values.outdated(readings).items()}

    run.values = values
    yield run
    set_cell_label(None)


def test_a_deleted_cell_is_a_new_one_where_it_comes_again(run):
    names = {"tf": tf}
    run(1, "n = 3", names)
    run(2, "x = tf.zeros([n])", names)
    assert run(1, "n = 4", names) == {2: "n changed from 3 to 4 in [1]"}
    run.values.forget(1)
    assert run(1, "n = 5", names) == {}, "below the other one"


def test_a_new_cell_is_below_all_others_however_many_were_deleted(run):
    names = {"tf": tf}
    for key in (1, 2, 3):
        run(key, "pass", names)
    run(4, "n = 3\nm = 2", names)
    run(5, "x = tf.zeros([n])", names)
    for key in (1, 2, 3):
        run.values.forget(key)
    assert run(6, "n = 4", names) == {}
    assert run(4, "n = 5", names) == {5: "n changed from 3 to 5 in [4]"}


def test_what_a_cell_or_its_function_sets_is_not_read(run):
    names = {"tf": tf}
    run(1, "a, b, c = 1, 2, 3", names)
    run(2, "b = 5\ndef f(c):\n    return tf.constant([b, c])\nx = f(4)", names)
    assert run(1, "a, b, c = 2, 9, 9", names) == {}
    run(3, "y = [tf.constant(a + i) for i in range(2)]", names)
    assert run(1, "a, b, c = 8, 9, 9", names) == {3: "a changed from 2 to 8 in [1]"}


def test_only_later_changes_above_count(run):
    names = {"tf": tf}
    run(1, "n = 3", names)
    run(2, "x = tf.zeros([n])", names)
    assert run(3, "n = 9", names) == {}
    assert run(1, "n = 3", names) == {}
    assert run(1, "n = 4", names) == {2: "n changed from 3 to 4 in [1]"}
    assert run(3, "n = 3", names) == {2: "n changed from 3 to 4 in [1]"}, "a cell below changes nothing of that"
    assert run(2, "x = tf.zeros([n])", names) == {}
    assert run(1, "del n", names) == run(1, "n = tf", names) == {}
    assert run(1, "n = 'a long word, and some more of it'", names) == {
        2: "n changed from 3 to 'a long word, and some … in [1]"}
