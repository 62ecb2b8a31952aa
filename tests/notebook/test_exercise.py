from __future__ import annotations

import numpy as np
import pytest

from tfnb.notebook import check
from tfnb.notebook.exercise import TODO


@pytest.mark.parametrize(("answer", "right", "verdict"), [
    (..., 3, None), (..., lambda answer: 1 / 0, None),
    (3, 3, True), (3, 4, False), (2.3026, np.log(10), True), (2.5, np.log(10), False),
    ("add_1", "add_1", True), ("add", "add_1", False), (3, "3", False),
    ([1, None], [1, None], True), ([1, 2], [1, 2, 3], False), ([[1.0, 2]], np.array([[1, 2]]), True),
    (7, lambda answer: answer > 5, True), (3, lambda answer: answer > 5, False),
])
def test_verdicts(answer, right, verdict):
    assert check(answer, right).right is verdict


def test_what_is_said():
    assert str(check(..., 1)) == TODO
    assert str(check(1, 1, "a hint", why="One is one.")) == "Right. One is one."
    assert str(check(2, 1, "Count again.", why="One is one.")) == "Not yet. Count again."
    assert str(check(None, lambda f: f(1), "Write a function.")) == (
        "Not yet. TypeError: 'NoneType' object is not callable Write a function.")


def test_words_of_others_are_text():
    page = check("<script>", lambda answer: int(answer), "<b>hint</b>")._repr_html_()
    assert "<script>" not in page and "<b>" not in page and "&lt;script&gt;" in page
