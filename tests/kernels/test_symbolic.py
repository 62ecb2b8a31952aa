"""Symbolic sizes: what a template computes by them holds wherever its guards hold."""
from __future__ import annotations

import numpy as np
import pytest

from tfnb.kernels.sizes import exact, highest, lowest, range_of
from tfnb.kernels.symbolic import LEAST, Pinned, Size, Symbols, plain


def _computed(random, a, b):
    """Random arithmetic and branches over two sizes; return the numbers, and which branches were taken."""
    found, taken = [a, b, 1, 3], []
    for _ in range(12):
        x, y = (found[random.randint(len(found))] for _ in range(2))
        kind = random.randint(9)
        if kind < 3:
            found.append((x + y, x - y, x * y)[kind] if kind != 2 or len(found) < 9 else x + 1)
        elif kind < 5:
            divisor = int(random.randint(1, 17)) if kind == 3 else highest(1, y)
            found += divmod(x, divisor)
        elif kind < 7:
            found.append((lowest, highest)[kind - 5](x, y))
        else:
            taken.append(bool((x < y, x == y, x <= 2 * y, x > 40, x >= y)[random.randint(5)]))
            found.append(x if taken[-1] else y)
    return found, taken


@pytest.mark.parametrize("seed", range(40))
def test_numbers_and_branches_are_those_of_integers_wherever_the_guards_hold(seed):
    sizes = np.random.RandomState(seed).randint(LEAST, 60, (30, 2)).tolist()
    symbols = Symbols(sizes[0])
    numbers, _ = _computed(np.random.RandomState(seed), symbols[0], symbols[1])
    function = symbols.function(numbers)
    assert function(*sizes[0]) == [plain(n) for n in numbers]
    for a, b in sizes:
        want, taken = _computed(np.random.RandomState(seed), a, b)
        got = function(a, b)
        assert got is None or got == want
        if taken == _computed(np.random.RandomState(seed), *sizes[0])[1] and got is None:
            continue                               # a guard may be narrower than the branch: exact sizes, divisors


def test_a_branch_becomes_a_guard():
    symbols = Symbols([8])
    n = symbols[0]
    assert n * 4 > 20
    function = symbols.function([n * 4])
    assert function(8) == [32] and function(6) == [24] and function(5) is None


def test_bounds_decide_without_a_guard():
    symbols = Symbols([8])
    n = symbols[0]
    assert n != 1 and n * 10 > 0 and n + 3 != n and not n < 2 and n * 2 // 2 == n and 6 * n % 3 == 0
    assert symbols.function([n])(1000) == [1000]
    assert symbols.function([n])(1) is None and symbols.function([n])(0) is None


@pytest.mark.parametrize("use", [int, float, str, repr, range, np.zeros, np.float32, "{:d}".format, lambda n: 2.5 > n,
                                 lambda n: [0] * n, lambda n: n / 2, lambda n: np.arange(3) == n, lambda n: 4 // -n])
def test_what_needs_an_integer_is_refused(use):
    with pytest.raises((Pinned, TypeError)):
        use(Symbols([8])[0])


def test_exact_numbers_are_guards():
    symbols = Symbols([30])
    assert exact(symbols[0] // 7) == 4 and type(exact(symbols[0] // 7)) is int and exact(5) == 5
    assert symbols[0].bit_length() == 5
    function = symbols.function([])
    assert function(28) == [] and function(31) == [] and function(35) is None and function(32) is None


def test_slices_are_those_of_python():
    for step in (-3, -2, -1, 1, 2, 3):
        for start in (None, -7, -1, 0, 2, 6):
            for stop in (None, -6, -1, 0, 3, 9):
                symbols = Symbols([5])
                function = symbols.function(range_of(start, stop, step, symbols[0]))
                for size in range(2, 10):
                    places = range(size)[slice(start, stop, step)]
                    first, count = range_of(start, stop, step, size)
                    assert (first, count) == (slice(start, stop, step).indices(size)[0], len(places))
                    assert function(size) == [first, count]


def test_equal_polynomials_are_one_key():
    symbols = Symbols([8, 8])
    a, b = symbols[0], symbols[1]
    assert len({a * 3 + b, b + 3 * a, a + a + a + b}) == 1 and isinstance(a + b, Size) and a - a == 0
    assert Symbols([8])[0] != a
