"""The contract of each public function and class mentions all of its arguments."""
from __future__ import annotations

import inspect
import re
from enum import Enum
from typing import Any

from tfnb.core import arguments
from tfnb.tools.names import documentation, documented


def unmentioned(value: Any) -> set[str]:
    """Return the arguments that the description before the example does not name; `name` means the same everywhere."""
    if isinstance(value, type) and issubclass(value, (BaseException, Enum)):       # not made by calls with arguments
        return set()
    description = documentation(value).partition(">>> ")[0]
    return {p.name for p in inspect.signature(value).parameters.values()
            if p.kind is p.POSITIONAL_OR_KEYWORD and p.name != "name" and not p.name.startswith("_")
            and not re.search(rf"\b{p.name}\b", description)}


def test_contracts_mention_each_argument():
    found = {name: sorted(lacking) for name, value in documented().items() if (lacking := unmentioned(value))}
    assert found == {}, "describe them (core/arguments.txt)"


def test_a_planted_argument_is_missed():
    def planted(x, axis=None, name=None):
        """Return the sum of `x`."""
    assert unmentioned(planted) == {"axis"}


def test_descriptions_come_before_the_example_and_only_where_none_is():
    def mean(x, axis, keepdims):
        """Return the mean along `axis`.

        >>> mean([1], 0, False)
        1
        """
    said = arguments.completed(mean, mean.__doc__, {"axis": "an axis", "keepdims": "whether", "other": "no"})
    assert inspect.cleandoc(said).splitlines() == [
        "Return the mean along `axis`.", "", "keepdims: whether.", "", ">>> mean([1], 0, False)", "1"]
    assert arguments.completed(mean, "One line.", {"x": "a list"}).splitlines() == ["One line.", "", "x: a list."]


def test_tables_say_nothing_that_no_function_takes():
    taken = {p for value in documented().values() if not (isinstance(value, type) and issubclass(value, BaseException))
             for p in inspect.signature(value).parameters}
    ends = {"*" + name[name.rfind("_"):] for name in taken}
    for table in arguments._TABLES.values():
        assert set(table) <= taken | ends | {"node_def", "op", "message"}, sorted(set(table) - taken - ends)
