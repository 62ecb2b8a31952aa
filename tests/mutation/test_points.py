"""The tool that plants faults: which ones it finds, and that each changes one place."""
from __future__ import annotations

import ast

import pytest

from tests.mutation import __main__ as program
from tests.mutation.points import functions_of_lines, mutants


def changes(body: str) -> set[str]:
    text = f"def f(a: int, b, c):\n    {body}\n"
    return {f"{mutant.before} -> {mutant.after}" for mutant in mutants("tfnb/m.py", text)}


@pytest.mark.parametrize("body, expected", [
    ("x = a < b", {"x = a < b -> x = a <= b"}),
    ("x = a is not b", {"x = a is not b -> x = a is b"}),
    ("x = a + 3", {"x = a + 3 -> x = a - 3", "a + 3 -> a + 4", "a + 3 -> a + 2"}),
    ("x = 0", {"x = 0 -> x = 1"}),
    ("x = True", {"x = True -> x = False"}),
    ("x = a and b", {"x = a and b -> x = a or b"}),
    ("return a", {"return a -> return None"}),
    ("return None", set()),
    ("return False", {"return False -> return True"}),
    ("x = 'é', f'{a + 1}', 4096, a[0]", {"a[0] -> a[1]"}),
    ("g(zip(a, b, strict=True), more=True)", {"more=True -> more=False"}),
    ("x: list[3] = a", set()),
    ("if a: g()", {"a -> not a"}),
    ("if not a: g()", {"not a -> a"}),
    ("if a == b: g()", {"a == b -> a != b"}),
    ("x = [b for b in c if b]", {"b -> not b"}),
    ("x = -a % b", {"-a % b -> a % b", "x = -a % b -> x = -a // b"}),
    ("x = '%s' % a", set()),
    ("x = a[-1]", {"x = a[-1] -> x = a[1]", "-1 -> -2", "-1 -> -0", "a[-1] -> a[1]"} - {"x = a[-1] -> x = a[1]"}),
    ("x = a.reshape(-1)", {"-1 -> -0", "a.reshape(-1) -> a.reshape(1)"}),
])
def test_faults_of_a_function(body, expected):
    assert changes(body) == expected


def test_code_outside_of_functions_is_left_alone():
    assert not mutants("tfnb/m.py", "X = 3\nclass C:\n    y = 4 < 5\n")
    nested = "class C:\n  def f(self):\n    def g(a=1): pass\n    return 2"
    assert {mutant.function for mutant in mutants("tfnb/m.py", nested)} == {"C.f", "C.f.g"}


def test_a_fault_changes_one_place():
    text = "def f(é, b):\n    # ß\n    return ('é', (é +\n            1), b - 2 * é, 1)\n"
    for mutant in mutants("tfnb/m.py", text):
        planted = mutant.planted(text)
        assert ast.dump(ast.parse(planted)) != ast.dump(ast.parse(text)) and "# ß" in planted
    assert any("1), (b + 2 * é), 1)" in mutant.planted(text) for mutant in mutants("tfnb/m.py", text))


def test_defaults_are_named_by_their_arguments():
    found = mutants("tfnb/m.py", "def f(a, /, b=1, *c, d=True, e, **g): pass")
    assert {f"{mutant.before} -> {mutant.after}" for mutant in found} == {
        "b=1 -> b=2", "b=1 -> b=0", "d=True -> d=False"}
    found += mutants("tfnb/m.py", "def f(a=(1, 2)): pass")
    assert len(found) == 7 and {mutant.kind for mutant in found} == {"default"}


def test_equal_changes_are_counted_and_keys_outlive_other_edits():
    text = "def f(a):\n    g(a < 1)\n    g(a < 1)\n"
    keys = [mutant.key for mutant in mutants("tfnb/m.py", text)]
    assert "tfnb/m.py f: g(a < 1) -> g(a <= 1)" in keys and "tfnb/m.py f: g(a < 1) -> g(a <= 1) #2" in keys
    assert [mutant.key for mutant in mutants("tfnb/m.py", "# more\n\n" + text)] == keys


def test_lines_belong_to_the_innermost_function():
    text = "class C:\n  def f(self):\n    def g():\n      pass\n    return g\nx = 1\n"
    assert functions_of_lines(text) == {2: ("C.f", 0), 3: ("C.f.g", 0), 4: ("C.f.g", 1), 5: ("C.f", 3)}


def test_a_sample_has_something_of_each_folder():
    found = [mutant for name in ("tfnb/core/a.py", "tfnb/ops/b.py") for mutant in mutants(
        name, "def f(a):\n" + "    a += 1\n" * (3 if "core" in name else 300))]
    chosen = program.sample(found, 20, 1)
    assert {program.folder(mutant.path) for mutant in chosen} == {"core", "ops"} and 20 <= len(chosen) <= 21
    assert program.sample(found, 20, 1) == chosen != program.sample(found, 20, 2)


def test_equivalent_mutants_have_reasons():
    known = program.equivalents(program.EQUIVALENT.read_text(encoding="utf-8"))
    assert all(" -> " in key and reason for key, reason in known.items())
    assert program.equivalents("# c\na f: x -> y\twhy\n") == {"a f: x -> y": "why"}
