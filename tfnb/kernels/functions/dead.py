"""Dead-code elimination in a specialized kernel function: assignments to names that nothing reads."""
from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Sequence

Pair = tuple[ast.expr, ast.expr]


def without_dead_code(body: Sequence[ast.stmt], helpers: Collection[str]) -> list[ast.stmt]:
    """Return the statements less assignments that change nothing. helpers: functions that may write to arrays."""
    reads: dict[str, set[str]] = {}
    live: set[str] = set()
    count = len(list(_statements(body)))
    for node in _statements(body):
        pairs = _pairs(node, helpers)
        for target, value in pairs or []:
            assert isinstance(target, ast.Name)
            reads.setdefault(target.id, set()).update(_names(value))
        if pairs is None:
            live.update(*(_names(part) for part in ast.iter_child_nodes(node) if isinstance(part, ast.expr)))
    waiting = list(live)
    while waiting:
        found = reads.get(waiting.pop(), set()) - live
        live |= found
        waiting += found
    kept = _kept(body, live, helpers)
    return kept if len(list(_statements(kept))) == count else without_dead_code(kept, helpers)


def _statements(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    for node in body:
        yield from (each for each in ast.walk(node) if isinstance(each, ast.stmt))


def _names(node: ast.expr) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load)}


def _pairs(node: ast.stmt, helpers: Collection[str]) -> list[Pair] | None:
    """Return (name, value) of each assignment; None for another statement, and for values that may have effects."""
    match node:
        case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)):
            pairs = list(zip(targets, values, strict=True))
        case ast.Assign(targets=[target], value=value) if not isinstance(target, ast.Tuple):
            pairs = [(target, value)]
        case ast.AugAssign(target=ast.Name(id=name) as target, value=value):
            pairs = [(target, value), (target, ast.Name(name, ast.Load()))]
        case _:
            return None
    pure = all(isinstance(target, ast.Name) and not _names(value) & set(helpers) for target, value in pairs)
    return pairs if pure else None


def _kept(body: Sequence[ast.stmt], live: set[str], helpers: Collection[str]) -> list[ast.stmt]:
    made: list[ast.stmt] = []
    for node in body:
        pairs = _pairs(node, helpers)
        if isinstance(node, (ast.If, ast.For, ast.While)):
            node.body, node.orelse = _kept(node.body, live, helpers) or [ast.Pass()], _kept(node.orelse, live, helpers)
        elif pairs is not None:
            kept = [(target, value) for target, value in pairs if isinstance(target, ast.Name) and target.id in live]
            if not kept:
                continue
            if isinstance(node, ast.Assign) and len(kept) < len(pairs):
                targets, values = map(list, zip(*kept, strict=True))
                whole = (ast.Tuple(targets, ast.Store()), ast.Tuple(values, ast.Load())) if len(kept) > 1 else kept[0]
                node = ast.Assign([whole[0]], whole[1], lineno=node.lineno)
        if not (isinstance(node, ast.For) and isinstance(node.body[0], ast.Pass)):
            made.append(node)
    return made
