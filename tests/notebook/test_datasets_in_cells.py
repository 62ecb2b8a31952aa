"""Cells that make datasets: functions and iterators follow what their cells were changed to, or say that they don't."""
from __future__ import annotations

from typing import Any

import pytest

import tfnb as tf
from tfnb.notebook.cells.cells import Cells

DATASET = "dataset = tf.data.Dataset.range(4).map(lambda v: v * 2)"
ITERATOR = "iterator = dataset.make_initializable_iterator(); x = iterator.get_next(); y = x + 1"
ONCE = "once = dataset.make_one_shot_iterator().get_next()"


class Notebook:
    def __init__(self, *codes: str) -> None:
        self.cells, self.scope, self.session = Cells(), {"tf": tf}, tf.Session()
        for key, code in enumerate(codes):
            self.run(key, code)

    def run(self, key: int, code: str) -> None:
        self.cells.begin(key, f"[{key}]")
        try:
            exec(code, self.scope)
        except Exception:
            self.cells.rollback()
            raise
        self.cells.commit()

    def elements(self) -> list[Any]:
        self.session.run(self.scope["iterator"].initializer)
        return [self.session.run(self.scope["y"]) for _ in range(4)]


def test_a_changed_function_reaches_the_iterators_of_other_cells() -> None:
    book = Notebook(DATASET, ITERATOR)
    names = [op.name for op in tf.get_default_graph().get_operations()]
    assert book.elements() == [1, 3, 5, 7]
    book.run(0, DATASET)
    assert book.elements() == [1, 3, 5, 7]
    book.run(0, DATASET.replace("* 2", "* 10"))
    assert book.elements() == [1, 11, 21, 31] and not tf.get_default_graph().stale
    assert [op.name for op in tf.get_default_graph().get_operations()] == names


def test_a_function_that_fails_leaves_all_as_it_was() -> None:
    book = Notebook(DATASET, ITERATOR)
    with pytest.raises(AttributeError, match="nothing_of_that_name"):
        book.run(0, DATASET.replace("v * 2", "tf.nothing_of_that_name(v)"))
    assert book.elements() == [1, 3, 5, 7]
    book.run(2, "z = y * 2")
    book.session.run(book.scope["iterator"].initializer)
    assert book.session.run(book.scope["z"]) == 2


def test_one_shot_iterators_hold_copies() -> None:
    book = Notebook(DATASET, ONCE)
    book.run(0, DATASET)
    assert book.session.run(book.scope["once"]) == 0
    book.run(0, DATASET.replace("* 2", "* 10"))
    with pytest.raises(tf.StaleTensorError, match=r"'MapDataset' changed in \[0\]"):
        book.session.run(book.scope["once"])
    book.run(1, ONCE)
    assert [book.session.run(book.scope["once"]) for _ in range(2)] == [0, 10]
