"""Which functions of cells count as the same after their cell ran again."""
from __future__ import annotations

from tfnb.notebook.cells.functions import _same_constant


def code(text: str) -> object:
    """The code of a function whose body is `text`."""
    names: dict[str, object] = {}
    exec(f"def f(x):\n    {text}", names)
    return names["f"].__code__                              # type: ignore[attr-defined]


def test_equal_constants_of_equal_types():
    nan = float("nan")
    for one in (1, True, "a", b"a", None, 1.5, 0.0, nan, 2j, (1, (2.0, "x")), frozenset({1}), {"a": 1, "b": (2,)}):
        assert _same_constant(one, one)
    assert _same_constant(nan, float("nan")) and _same_constant((nan,), (float("nan"),))
    assert _same_constant(object(), object())               # what can't be compared


def test_other_constants():
    for one, other in ((1, 2), (1, True), (1, 1.0), (0.0, -0.0), ("a", b"a"), ("a", "b"), ((1, 2), (1,)),
                       ((1,), (1, 2)), ((1, 2), (1, 3)),
                       ({"a": 1}, {"b": 1}), ({"a": 1}, {"a": 2}), (None, 0), (0j, -0j),
                       (frozenset({1}), frozenset({2})), ([1], (1,))):
        assert not _same_constant(one, other), (one, other)


def test_code_of_functions():
    assert _same_constant(code("return x + 1"), code("return x + 1"))
    assert _same_constant(code("'says'; return x"), code("'says more'; return x"))           # but for the docstring
    for other in ("return x + 2", "return x + 1.0", "return x - 1", "return y + 1", "y = 1; return x + y",
                  "return (lambda: x + 1)()"):
        assert not _same_constant(code("return x + 1"), code(other)), other
    assert not _same_constant(code("return (lambda: 1)()"), code("return (lambda: 2)()"))     # inner functions
