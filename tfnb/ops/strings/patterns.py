"""Regular expressions as automata: what RE2's syntax and Python's have in common, over bytes of ASCII.

A pattern is parsed to a tree, the tree becomes Thompson's NFA with priorities, and this a table for
kernels/library/text/automata.py: by the subset construction (of ordered lists of states, so that matches are leftmost
and of the alternatives the first), or, where groups are asked for, the NFA itself if it is one-pass: if each byte
leaves one way to go on.
"""
from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from tfnb.kernels.library.text.automata import Automaton

ASCII = frozenset(range(128))
DIGIT = frozenset(b"0123456789")
WORD = DIGIT | frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_")
CLASSES = {b"d": DIGIT, b"w": WORD, b"s": frozenset(b"\t\n\f\r ")}
LETTERS = {b"n": 10, b"t": 9, b"r": 13, b"f": 12, b"v": 11, b"a": 7}
STATES, NODES, COPIES, DEPTH = 500, 2000, 100, 40         # of an automaton, of an NFA, of {m,n}, of groups
MATCH = -1
Tree = tuple[Any, ...]


class Unsupported(ValueError):
    """A pattern that has no table."""


class _Parser:
    """A pattern as a tree. wide: it has a class that characters beyond ASCII belong to."""

    def __init__(self, text: bytes) -> None:
        self.text, self.at, self.groups, self.depth, self.wide = text, 0, 0, 0, False

    def parsed(self) -> Tree:
        """Return the tree. Raises Unsupported."""
        tree = self._alternatives()
        if self.at < len(self.text):
            raise Unsupported
        return tree

    def _peek(self) -> bytes:
        return self.text[self.at:self.at + 1]

    def _next(self) -> bytes:
        self.at += 1
        return self.text[self.at - 1:self.at]

    def _alternatives(self) -> Tree:
        found = [self._sequence()]
        while self._peek() == b"|":
            self.at += 1
            found.append(self._sequence())
        return found[0] if len(found) == 1 else ("any", found)

    def _sequence(self) -> Tree:
        found = []
        while self._peek() not in (b"", b"|", b")"):
            found.append(self._repeated(self._atom()))
        return "all", found

    def _atom(self) -> Tree:
        letter = self._next()
        if letter == b"(":
            return self._group()
        if letter == b"[":
            return "set", self._class()
        if letter == b".":
            self.wide = True
            return "set", ASCII - {10}
        if letter == b"\\":
            return "set", self._escape()
        if letter in b"^$*+?{}]" or not 32 <= letter[0] < 127:
            raise Unsupported
        return "set", frozenset(letter)

    def _group(self) -> Tree:
        number, self.depth = None, self.depth + 1
        if self.text.startswith(b"?:", self.at):
            self.at += 2
        elif self._peek() == b"?" or self.depth > DEPTH:
            raise Unsupported
        else:
            self.groups += 1
            number = self.groups
        tree = self._alternatives()
        if self._next() != b")":
            raise Unsupported
        self.depth -= 1
        return tree if number is None else ("group", number, tree)

    def _escape(self) -> frozenset[int]:
        letter = self._next()
        if letter.lower() in CLASSES:
            found = CLASSES[letter.lower()]
            if letter.islower():
                return found
            self.wide = True
            return ASCII - found
        if letter in LETTERS:
            return frozenset([LETTERS[letter]])
        if not letter or letter.isalnum() or not 32 <= letter[0] < 127:
            raise Unsupported
        return frozenset(letter)

    def _class(self) -> frozenset[int]:
        found: frozenset[int] = frozenset()
        negated = self._peek() == b"^"
        self.at += negated
        if self._peek() == b"]":
            raise Unsupported
        while self._peek() != b"]":
            first = self._member()
            if self._peek() == b"-" and self.text[self.at + 1:self.at + 2] != b"]":
                self.at += 1
                last = self._member()
                if len(first) != 1 or len(last) != 1:
                    raise Unsupported
                first = frozenset(range(min(first), min(last) + 1))
            found |= first
        self.at += 1
        self.wide = self.wide or negated
        return ASCII - found if negated else found

    def _member(self) -> frozenset[int]:
        letter = self._next()
        if letter == b"\\":
            return self._escape()
        if letter in (b"", b"[") or not 32 <= letter[0] < 127:
            raise Unsupported
        return frozenset(letter)

    def _repeated(self, tree: Tree) -> Tree:
        mark = self._peek()
        if not mark or mark not in b"*+?{":
            return tree
        self.at += 1
        least, most = {b"*": (0, None), b"+": (1, None), b"?": (0, 1)}.get(mark) or self._bounds()
        lazy = self._peek() == b"?"
        self.at += lazy
        if (self._peek() and self._peek() in b"*+?{") or (most is None and _nullable(tree)):
            raise Unsupported
        return "repeat", tree, least, most, lazy

    def _bounds(self) -> tuple[int, int | None]:
        inside, mark, rest = self.text[self.at:].partition(b"}")
        low, comma, high = inside.partition(b",")
        if not mark or not low.isdigit() or high and not high.isdigit():
            raise Unsupported
        least, most = int(low), int(high) if high else None if comma else int(low)
        if max(least, most or 0) > COPIES:
            raise Unsupported
        self.at = len(self.text) - len(rest)
        return least, most


def _nullable(tree: Tree) -> bool:
    """Return whether the empty string matches."""
    kind = tree[0]
    if kind == "set":
        return False
    if kind in ("all", "any"):
        return (all if kind == "all" else any)(map(_nullable, tree[1]))
    return _nullable(tree[2]) if kind == "group" else tree[2] == 0 or _nullable(tree[1])


class _Nodes:
    """An NFA: nodes ("set", bytes, next), ("split", nexts by priority), ("save", slot, next); MATCH is its end."""

    def __init__(self, tree: Tree) -> None:
        self.nodes: list[Any] = []
        self.entry = self._made(tree, MATCH)

    def _add(self, *node: Any) -> int:
        if len(self.nodes) >= NODES:
            raise Unsupported
        self.nodes.append(node)
        return len(self.nodes) - 1

    def _made(self, tree: Tree, after: int) -> int:
        """Return the node where a tree begins that goes on with `after`."""
        kind = tree[0]
        if kind == "set":
            return self._add("set", tree[1], after)
        if kind == "all":
            for each in reversed(tree[1]):
                after = self._made(each, after)
            return after
        if kind == "any":
            return self._add("split", [self._made(each, after) for each in tree[1]])
        if kind == "group":
            slot = 2 * (tree[1] - 1)
            return self._add("save", slot, self._made(tree[2], self._add("save", slot + 1, after)))
        _, repeated, least, most, lazy = tree
        return self._repeated(repeated, least, most, lazy, after)

    def _repeated(self, tree: Tree, least: int, most: int | None, lazy: bool, after: int) -> int:
        entry, order = after, -1 if lazy else 1
        if most is None:
            entry = self._add("split", [])
            self.nodes[entry] = ("split", [self._made(tree, entry), after][::order])
        for _ in range((most or least) - least):
            entry = self._add("split", [self._made(tree, entry), after][::order])
        for _ in range(least):
            entry = self._made(tree, entry)
        return entry

    def closure(self, entry: int) -> list[tuple[int, int]]:
        """Return the nodes that are reached without a byte, by priority, and the slots (bits) that are set then."""
        found, seen, stack = [], set(), [(entry, 0)]
        while stack:
            node, bits = stack.pop()
            if node in seen:
                continue
            seen.add(node)
            kind = "set" if node == MATCH else self.nodes[node][0]
            if kind == "set":
                found.append((node, bits))
            elif kind == "save":
                stack.append((self.nodes[node][2], bits | 1 << self.nodes[node][1]))
            else:
                stack += [(each, bits) for each in reversed(self.nodes[node][1])]
        return found

    def columns(self) -> tuple[np.ndarray, list[int]]:
        """Return the column of each byte, and a byte of each column: bytes that no node tells apart have one."""
        sets = [node[1] for node in self.nodes if node[0] == "set"]
        numbers: dict[tuple[bool, ...], int] = {}
        found = [numbers.setdefault(tuple(byte in each for each in sets), len(numbers)) for byte in range(256)]
        return np.array(found, np.uint8), [found.index(i) for i in range(len(numbers))]


def _until_match(nodes: list[int]) -> list[int]:
    return nodes[:nodes.index(MATCH) + 1] if MATCH in nodes else nodes


def _subsets(nodes: _Nodes, whole: bool) -> Automaton:
    """Return the automaton of ordered lists of nodes. whole: of whole strings; else what follows a match is cut off."""
    classes, letters = nodes.columns()
    first = [node for node, _ in nodes.closure(nodes.entry)]
    waiting, rows = [tuple(first if whole else _until_match(first))], [[0] * len(letters)]
    numbers: dict[tuple[int, ...], int] = {(): 0, waiting[0]: 1}
    for state in waiting:                                     # (it grows)
        row = []
        for letter in letters:
            reached: dict[int, None] = {}
            for node in state:
                if node != MATCH and letter in nodes.nodes[node][1]:
                    reached.update(dict.fromkeys(each for each, _ in nodes.closure(nodes.nodes[node][2])))
            key = tuple([*reached] if whole else _until_match([*reached]))
            if key not in numbers:
                numbers[key] = len(numbers)
                waiting.append(key)
            row.append(numbers[key])
        rows.append(row)
        if len(numbers) > STATES:
            raise Unsupported
    none = np.zeros(1, np.int64)
    accepts = np.array([0] + [int(MATCH in state) for state in waiting], np.uint8)
    return Automaton(classes, np.array(rows, np.int32), accepts, none, none)


def _one_pass(nodes: _Nodes, groups: int) -> Automaton:
    """Return the NFA as an automaton that sets the slots of groups. Raises Unsupported where it has a choice."""
    classes, letters = nodes.columns()
    entries = [nodes.entry] + [node[2] for node in nodes.nodes if node[0] == "set"]
    state_of = {node: i + 2 for i, node in enumerate(i for i, node in enumerate(nodes.nodes) if node[0] == "set")}
    table, marks = np.zeros((2, len(entries) + 1, len(letters)), np.int64)
    accepts, accept_marks = np.zeros(len(entries) + 1, np.uint8), np.zeros(len(entries) + 1, np.int64)
    for state, entry in enumerate(entries, 1):
        for node, bits in nodes.closure(entry):
            if node == MATCH:
                accepts[state], accept_marks[state] = 1, bits
                break
            for column, letter in enumerate(letters):
                if letter in nodes.nodes[node][1]:
                    if table[state, column]:
                        raise Unsupported
                    table[state, column], marks[state, column] = state_of[node], bits
    return Automaton(classes, table.astype(np.int32), accepts, marks, accept_marks, 2 * groups)


@lru_cache(64)
def automaton(pattern: bytes, whole: bool, groups: bool = False) -> tuple[Automaton, bool] | None:
    """Return the automaton of a valid pattern, and whether it holds for strings of ASCII only; None if it has none.

    whole: for matches of whole strings; else for leftmost ones, of which none is empty. groups: it finds groups, too.
    """
    parser = _Parser(pattern)
    try:
        tree = parser.parsed()
        if not whole and _nullable(tree) or groups and parser.groups > 9:
            return None
        nodes = _Nodes(tree)
        return (_one_pass(nodes, parser.groups) if groups else _subsets(nodes, whole)), parser.wide
    except Unsupported:
        return None
