"""Symbolic sizes: integers of which a computation records all that it decides by them.

A `Size` is a polynomial over unknown sizes, and over quotients, remainders, minima and maxima of such; beside it
stands its value for the sizes at hand. Arithmetic gives Sizes. A comparison answers by the value, and becomes a guard
unless the bounds of the unknowns decide it: for all unknowns that the guards hold of, the same code takes the same
branches. Whatever asks for a plain integer (`int`, `range`, NumPy, formatting) raises Pinned: nothing leaks unseen.

Two things are not seen. A dictionary or set that has integers as keys does not find a Size among them, so only
memoization may use Sizes as keys; and `isinstance(n, int)` is false.
"""
from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence
from math import prod
from typing import Any

import numpy as np

LEAST, MOST = 2, 1 << 31       # of an unknown: sizes of 0 and 1 broadcast and vanish, and have programs of their own

Terms = tuple[tuple[tuple[int, ...], int], ...]        # (indices of atoms, coefficient) of each monomial
Bounds = tuple[int, int]
_RELATIONS: dict[str, Callable[[Any, Any], bool]] = {"==": operator.eq, "<": operator.lt, "<=": operator.le}


class Pinned(Exception):
    """A plain integer was asked for: what is computed holds for the sizes at hand alone."""


class Symbols:
    """The unknown sizes of one computation, with their values at hand, and its guards.

    Not for two threads at a time.
    """

    def __init__(self, values: Sequence[int]) -> None:
        self.values = tuple(values)
        self._atoms: list[tuple[str, Any, Any]] = []   # (its kind, a, b), or ("", index of an unknown, None)
        self._bounds: list[Bounds] = []
        self._worth: list[int] = []                    # their values at hand
        self._found: dict[tuple[Any, ...], int] = {}
        self._guards: dict[tuple[Terms, str], bool] = {}
        self._log: list[int | tuple[Terms, str]] = []  # atoms and guards, in the order in which they were met
        self.conditions: list[tuple[Any, Any, Any]] = []   # arrays, a function, and its result (compile/sized.py)
        self._unknowns = [self.atom("", i, None, (LEAST, MOST), n) for i, n in enumerate(self.values)]

    def __getitem__(self, index: int) -> Any:
        """Return an unknown, as the integer that it represents."""
        return self._unknowns[index]

    def atom(self, kind: str, a: Any, b: Any, bounds: Bounds, value: int) -> Any:
        """Return a quotient ("//"), remainder ("%"), "min" or "max" as an atom of further polynomials."""
        key = kind, getattr(a, "terms", a), getattr(b, "terms", b)
        if key not in self._found:
            self._found[key] = len(self._atoms)
            self._atoms.append((kind, a, b))
            self._bounds.append(bounds)
            self._worth.append(value)
            self._log.append(self._found[key])
        return Size(self, (((self._found[key],), 1),), value)

    def polynomial(self, terms: dict[tuple[int, ...], int]) -> Any:
        """Return a sum of terms: an integer if it has no atoms."""
        found = tuple(sorted((atoms, n) for atoms, n in terms.items() if n))
        value = sum(n * prod(self._worth[atom] for atom in atoms) for atoms, n in found)
        return value if all(not atoms for atoms, _ in found) else Size(self, found, value)

    def bounds(self, terms: Terms) -> Bounds:
        """Return bounds of a polynomial, by those of its atoms."""
        low = high = 0
        for atoms, factor in terms:
            least = most = factor
            for atom in atoms:
                corners = [x * y for x in (least, most) for y in self._bounds[atom]]
                least, most = min(corners), max(corners)
            low, high = low + least, high + most
        return low, high

    def holds(self, terms: Terms, relation: str, value: int) -> bool:
        """Return whether the polynomial, whose value is given, is equal to, less than (or equal to) 0; note a guard."""
        low, high = self.bounds(terms)
        if relation == "==" and (low > 0 or high < 0):
            return False
        if relation != "==" and (least := _RELATIONS[relation](low, 0)) == _RELATIONS[relation](high, 0):
            return least                               # of all values between
        found = _RELATIONS[relation](value, 0)
        if (terms, relation) not in self._guards:
            self._guards[terms, relation] = found
            self._log.append((terms, relation))
        return found

    def function(self, results: Iterable[Any]) -> Callable[..., list[int] | None]:
        """Return a function of the unknowns: the values of `results`, or None where a guard fails.

        Raises Pinned where the guards hold for the values at hand alone.
        """
        results = list(results)
        used = self._used(results)
        lines = [line for i in range(len(self.values))
                 for line in (f"    if not {LEAST} <= n{i} <= {MOST}:", "        return None")]
        for step in self._log:                       # in order: a guard keeps a divisor from being 0
            if isinstance(step, int):
                if step not in used:
                    continue
                kind, a, b = self._atoms[step]
                lines.append(f"    a{step} = n{a}" if not kind else f"    a{step} = {_text(a)} {kind} {_text(b)}"
                             if kind in "//%" else f"    a{step} = {kind}({_text(a)}, {_text(b)})")
            else:
                terms, relation = step
                holds = f"{_polynomial(terms)} {relation} 0"
                lines += [f"    if {'not ' if self._guards[step] else ''}{holds}:", "        return None"]
        lines.append(f"    return [{', '.join(map(_text, results))}]")
        head = f"def sizes({', '.join(f'n{i}' for i in range(len(self.values)))}):"
        scope: dict[str, Any] = {}
        exec(compile("\n".join([head, *lines]), "<sizes>", "exec"), scope)
        found: Callable[..., list[int] | None] = scope["sizes"]
        return found


    def _used(self, results: Iterable[Any]) -> set[int]:
        """Return the atoms that guards and results need."""
        todo = [atom for terms, _ in self._guards for atoms, _ in terms for atom in atoms]
        todo += [atom for n in results for atoms, _ in terms_of(n) for atom in atoms]
        found: set[int] = set()
        while todo:
            atom = todo.pop()
            if atom not in found:
                found.add(atom)
                kind, a, b = self._atoms[atom]
                todo += [each for n in (a, b) if kind for atoms, _ in terms_of(n) for each in atoms]
        return found


class Size:
    """An integer that is a polynomial over unknown sizes; see the module. `value`: it in the run at hand."""

    __slots__ = ("symbols", "terms", "value")
    __array_ufunc__ = None                             # NumPy's integers leave arithmetic to it

    def __init__(self, symbols: Symbols, terms: Terms, value: int) -> None:
        self.symbols, self.terms, self.value = symbols, terms, value

    # --- arithmetic ---

    def __add__(self, other: Any) -> Any:
        if not _is_number(other):
            return NotImplemented
        terms = dict(self.terms)
        for atoms, n in terms_of(other):
            terms[atoms] = terms.get(atoms, 0) + n
        return self.symbols.polynomial(terms)

    __radd__ = __add__

    def __mul__(self, other: Any) -> Any:
        if not _is_number(other):
            return NotImplemented
        terms: dict[tuple[int, ...], int] = {}
        for a, m in self.terms:
            for b, n in terms_of(other):
                key = tuple(sorted((*a, *b)))
                terms[key] = terms.get(key, 0) + m * n
        return self.symbols.polynomial(terms)

    __rmul__ = __mul__

    def __neg__(self) -> Any:
        return self * -1

    def __pos__(self) -> Any:
        return self

    def __sub__(self, other: Any) -> Any:
        return self + -other if _is_number(other) else NotImplemented

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def __abs__(self) -> Any:
        return -self if self < 0 else self

    def __floordiv__(self, other: Any) -> Any:
        return _divided(self, other)[0] if _is_number(other) else NotImplemented

    def __rfloordiv__(self, other: Any) -> Any:
        return _divided(other, self)[0] if _is_number(other) else NotImplemented

    def __mod__(self, other: Any) -> Any:
        return _divided(self, other)[1] if _is_number(other) else NotImplemented

    def __rmod__(self, other: Any) -> Any:
        return _divided(other, self)[1] if _is_number(other) else NotImplemented

    def __divmod__(self, other: Any) -> Any:
        return _divided(self, other)

    def __and__(self, other: Any) -> Any:
        """Clear low bits, with a negative power of two; else of pinned sizes."""
        if isinstance(other, int) and other < 0 and -other & (-other - 1) == 0:
            return self // -other * -other
        return int(self) & int(other)

    def __pow__(self, other: Any) -> Any:
        return int(self) ** int(other)

    def __truediv__(self, other: Any) -> Any:
        return int(self) / other

    def __rtruediv__(self, other: Any) -> Any:
        return other / int(self)

    def __rdivmod__(self, other: Any) -> Any:
        return _divided(other, self)

    # --- decisions ---

    def _compared(self, other: Any, relation: str) -> Any:
        if isinstance(other, (float, np.ndarray, np.floating)):
            raise Pinned
        if not _is_number(other) or isinstance(other, Size) and other.symbols is not self.symbols:
            return NotImplemented
        difference = self - other
        if not isinstance(difference, Size):
            return _RELATIONS[relation](difference, 0)
        return self.symbols.holds(difference.terms, relation, difference.value)

    def __eq__(self, other: object) -> Any:
        return self._compared(other, "==")

    def __lt__(self, other: Any) -> Any:
        return self._compared(other, "<")

    def __le__(self, other: Any) -> Any:
        return self._compared(other, "<=")

    def __gt__(self, other: Any) -> Any:
        found = self._compared(other, "<=")
        return found if found is NotImplemented else not found

    def __ge__(self, other: Any) -> Any:
        found = self._compared(other, "<")
        return found if found is NotImplemented else not found

    def __bool__(self) -> bool:
        return not self == 0

    def __hash__(self) -> int:
        return hash((id(self.symbols), self.terms))

    def bit_length(self) -> int:
        """Return the number of bits of the value, as a plain integer: guards say that it is so."""
        bits = self.value.bit_length()
        if not (1 << bits >> 1) <= self < 1 << bits:
            raise Pinned
        return bits

    # --- what pins ---

    def __index__(self) -> int:
        raise Pinned

    __int__ = __index__

    def __float__(self) -> float:
        raise Pinned

    def __repr__(self) -> str:
        raise Pinned


def is_size(number: Any) -> bool:
    """Return whether an integer is a Size."""
    return type(number) is Size


def plain(number: Any) -> int:
    """Return the value of a Size in the run at hand; other integers as they are."""
    return number.value if isinstance(number, Size) else int(number)


def whole(number: Any) -> int:
    """Return an integer of any kind as a plain one, a Size as it is."""
    return number if isinstance(number, Size) else int(number)  # type: ignore[return-value]


def _is_number(value: object) -> bool:
    return isinstance(value, (int, np.integer, Size))


def terms_of(number: Any) -> Terms:
    """Return an integer or Size as a polynomial."""
    return number.terms if isinstance(number, Size) else (((), int(number)),)


def _divided(a: Any, b: Any) -> tuple[Any, Any]:
    """Return quotient and remainder, as polynomials where the terms of `a` are multiples of `b`.

    Raises ZeroDivisionError; Pinned for a divisor that may be negative.
    """
    if b == 0:
        raise ZeroDivisionError("integer division or modulo by zero")
    if b < 0:
        raise Pinned
    whole_part, rest = _multiples(a, b)
    if not isinstance(rest, Size) and (rest == 0 or not isinstance(b, Size)):
        return (whole_part + rest // b, rest % b) if rest else (whole_part, 0)
    symbols = (a if isinstance(a, Size) else b).symbols
    quotient, left = divmod(plain(rest), plain(b))
    (low, high), (least, most) = symbols.bounds(terms_of(rest)), symbols.bounds(terms_of(b))
    corners = [x // y for x in (low, high) for y in (max(1, least), most)]
    q = symbols.atom("//", rest, b, (min(corners), max(corners)), quotient)
    return whole_part + q, symbols.atom("%", rest, b, (0, most - 1), left)


def _multiples(a: Any, b: Any) -> tuple[Any, Any]:
    """Split `a` into (q, r), a = q b + r, where `b` is one term: q is of the terms of `a` that it divides."""
    (atoms, factor), *more = terms_of(b)
    if more:
        return 0, a
    made: dict[tuple[int, ...], int] = {}
    for monomial, n in terms_of(a):
        left = list(monomial)
        for atom in atoms:
            if atom not in left:
                break
            left.remove(atom)
        else:
            if n % factor == 0:
                made[tuple(left)] = n // factor
    symbols = (a if isinstance(a, Size) else b).symbols
    q = symbols.polynomial(made)
    return q, a - q * b


def _text(number: Any) -> str:
    return _polynomial(number.terms) if isinstance(number, Size) else str(int(number))


def _polynomial(terms: Terms) -> str:
    return "(" + " + ".join("*".join([str(n), *(f"a{i}" for i in atoms)]) for atoms, n in terms) + ")"
