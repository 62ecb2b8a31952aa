"""Nested structures of values: lists, tuples, namedtuples and dicts (in the order of their sorted keys)."""
from __future__ import annotations

from collections.abc import Callable, Iterator, KeysView, Mapping, Sequence, Set, ValuesView
from typing import Any, NamedTuple

from tfnb.core.text import shown

Parts = Callable[[Any], Sequence[Any] | None]
Shapes = Callable[[Any, Any], list[Any]]
DEEPEST = 10_000                            # levels: a structure of more contains itself


class Rule(NamedTuple):
    """Treatment of a class whose objects represent several tensors. See `register_composite`."""

    parts: Callable[[Any], Sequence[Any]]
    join: Callable[[Any, Sequence[Any]], Any]
    shapes: Shapes
    value: Callable[[Any, Sequence[Any]], Any]
    fed: Callable[[Any], Sequence[Any]]


RULES: dict[type, Rule] = {}                # of the classes that are registered


def register_composite(cls: type, parts: Callable[[Any], Sequence[Any]], join: Callable[[Any, Sequence[Any]], Any],
                       shapes: Shapes, value: Callable[[Any, Sequence[Any]], Any],
                       fed: Callable[[Any], Sequence[Any]] = tuple) -> None:
    """Register `cls` as a composite that `expand_composites=True` flattens, and that can be fetched and fed.

    parts: fn(object) -> tensors; join: fn(object, tensors) -> object; shapes: see `part_shapes`; value: fn(object,
    arrays) -> what is fetched; fed: fn(what is fed) -> arrays.
    """
    RULES[cls] = Rule(parts, join, shapes, value, fed)


def part_shapes(value: Any, shape: Any) -> list[Any]:
    """Return the TensorShapes that the tensors of `value` keep in a loop, if `value` has the shape invariant `shape`.

    shape: None if there is none; None in the result represents the tensor's present shape.
    """
    found = composite(value)
    return [shape] if found is None else found.shapes(value, shape)


def composite(value: Any) -> Rule | None:
    """Return the rule for a value that represents several tensors, None for others."""
    return next((found for cls, found in RULES.items() if isinstance(value, cls)), None)


def is_nested(seq: Any) -> bool:
    """Return whether `seq` is a list, tuple or dict (not a string or an array).

    >>> tf.nest.is_nested([1, 2]), tf.nest.is_nested("ab")
    (True, False)
    """
    return isinstance(seq, (list, tuple, Mapping))


def listed(value: Any) -> Any:
    """Return iterators and views of dicts (lists in Python 2: `d.values()`, `filter(...)`) and sets as lists.

    All else is returned as it is: a tensor or a variable has no elements that a loop could take.
    """
    return list(value) if isinstance(value, (Iterator, KeysView, ValuesView, Set)) else value


def _sorted_keys(mapping: Mapping[Any, Any]) -> list[Any]:
    try:
        return sorted(mapping)
    except TypeError:
        raise TypeError("nest only supports dicts with sortable keys.") from None


def children(value: Any) -> list[Any]:
    """Return the elements of a list or tuple, or the values of a dict in the order of its keys."""
    return [value[key] for key in _sorted_keys(value)] if isinstance(value, Mapping) else list(value)


def parts_of(value: Any) -> list[Any] | None:
    """Return the children of a list, tuple or dict; None for any other value."""
    return children(value) if is_nested(value) else None


def lists(value: Any) -> Sequence[Any] | None:
    """Return a list or tuple itself, the sequence of its children; None for any other value."""
    return value if isinstance(value, (list, tuple)) else None


def leaves(structure: Any, parts: Parts = parts_of, deepest: int = DEEPEST) -> Iterator[Any]:
    """Yield the leaves in order, without recursion. parts: the children of a value, None for a leaf.

    Raises ValueError for a structure of more than `deepest` levels: one that contains itself has no end.
    """
    levels = [iter((structure,))]
    while levels:
        for value in levels[-1]:
            inner = parts(value)
            if inner is not None:
                _check_depth(len(levels), deepest, value)
                levels.append(iter(inner))
                break
            yield value
        else:
            levels.pop()


def _check_depth(level: int, deepest: int, value: Any) -> None:
    if level > deepest:
        raise ValueError(f"expected a structure of at most {deepest} nested levels, got more: {shown(value)}")


def require_levels(value: Any, most: int) -> None:
    """Raise ValueError for lists and tuples nested deeper than `most` levels."""
    for _ in leaves(value, lists, most):
        pass


def rebuilt(structure: Any, leaf: Callable[[Any], Any], join: Callable[[Any, list[Any]], Any],
            parts: Parts = parts_of) -> Any:
    """Return the structure with `leaf(value)` for each leaf and `join(value, new parts)` for all else, innermost first.

    Does not recurse. Raises ValueError for a structure of more than DEEPEST levels.
    """
    levels: list[tuple[Any, Iterator[Any], list[Any]]] = [(None, iter((structure,)), [])]
    while True:
        holder, rest, made = levels[-1]
        for value in rest:
            inner = parts(value)
            if inner is not None:
                _check_depth(len(levels), DEEPEST, value)
                levels.append((value, iter(inner), []))
                break
            made.append(leaf(value))
        else:
            levels.pop()
            if not levels:
                return made[0]
            levels[-1][2].append(join(holder, made))


def flatten(structure: Any, expand_composites: bool = False) -> list[Any]:
    """Return the leaves in order; a value that is no structure is one leaf.

    expand_composites: flatten composite tensors, as SparseTensor, too.

    >>> tf.nest.flatten([1, (2, 3), {"a": 4}])
    [1, 2, 3, 4]
    """
    if not expand_composites:
        return list(leaves(structure))
    found: list[Any] = []
    for value in leaves(structure):
        rule = composite(value)
        if rule is None:
            found.append(value)
        else:
            found.extend(rule.parts(value))
    return found


def pack_sequence_as(structure: Any, flat_sequence: Sequence[Any], expand_composites: bool = False) -> Any:
    """Return `flat_sequence` packed in the structure of `structure`. Raises ValueError if the numbers of leaves differ.

    expand_composites: whether composite tensors are made of theirs.

    >>> tf.nest.pack_sequence_as([0, (0, 0)], [1, 2, 3])
    [1, (2, 3)]
    """
    wanted = len(flatten(structure, expand_composites))
    if wanted != len(flat_sequence):
        raise ValueError(f"Could not pack sequence. Structure had {wanted} elements, but flat_sequence had "
                         f"{len(flat_sequence)} elements. Structure: {shown(structure)}, flat_sequence: "
                         f"{shown(list(flat_sequence))}.")
    return _pack(structure, iter(flat_sequence), expand_composites)


def _pack(structure: Any, values: Iterator[Any], expand_composites: bool) -> Any:
    def leaf(value: Any) -> Any:
        found = composite(value) if expand_composites else None
        return next(values) if found is None else found.join(value, [next(values) for _ in found.parts(value)])
    return rebuilt(structure, leaf, joined)


def joined(structure: Any, parts: list[Any]) -> Any:
    """Return a list, tuple, namedtuple or dict like `structure`, of other parts in the order of its `children`."""
    if isinstance(structure, Mapping):
        made = dict(zip(_sorted_keys(structure), parts, strict=True))
        ordered = {key: made[key] for key in structure}
        return ordered if type(structure) is dict else type(structure)(ordered)     # type: ignore[call-arg]
    if isinstance(structure, tuple):
        return type(structure)(*parts) if hasattr(structure, "_fields") else tuple(parts)
    return parts


def map_structure(func: Callable[..., Any], *structure: Any, check_types: bool = True,
                  expand_composites: bool = False) -> Any:
    """Apply `func` to corresponding leaves of structures of one form, and return the results in that form.

    check_types: whether lists and tuples differ; expand_composites: as of flatten. Raises TypeError if `func` can't be
    called, ValueError without a structure, and as assert_same_structure.

    >>> tf.nest.map_structure(lambda x: 10 * x, [1, (2, 3)])
    [10, (20, 30)]
    """
    if not callable(func):
        raise TypeError(f"func must be callable, got: {func}")
    if not structure:
        raise ValueError("Must provide at least one structure")
    for other in structure[1:]:
        assert_same_structure(structure[0], other, check_types, expand_composites)
    leaves = zip(*(flatten(s, expand_composites) for s in structure), strict=True)
    return pack_sequence_as(structure[0], [func(*values) for values in leaves], expand_composites)


def assert_same_structure(nest1: Any, nest2: Any, check_types: bool = True, expand_composites: bool = False) -> None:
    """Raise ValueError if two structures differ in form, TypeError if only in the classes of their parts.

    nest1, nest2: the structures; check_types: whether lists and tuples differ; expand_composites: as of flatten.

    >>> tf.nest.assert_same_structure([1, (2, 3)], [4, (5, 6)])
    """
    if len(flatten(nest1, expand_composites)) != len(flatten(nest2, expand_composites)):
        raise ValueError("The two structures don't have the same number of elements. First structure: "
                         f"{shown(nest1)}. Second structure: {shown(nest2)}")
    waiting = [(nest1, nest2)]
    while waiting:
        x, y = waiting.pop()
        _assert_same_level(x, y, check_types, expand_composites)
        if is_nested(x):
            waiting.extend(reversed(list(zip(children(x), children(y), strict=True))))


def _assert_same_level(a: Any, b: Any, check_types: bool, expand_composites: bool) -> None:
    """Compare two structures as `assert_same_structure`, without their children."""
    if is_nested(a) != is_nested(b):
        raise ValueError(f"The two structures don't have the same nested structure.\n\nFirst structure: type="
                         f"{type(a).__name__} str={shown(a)}\n\nSecond structure: type={type(b).__name__} "
                         f"str={shown(b)}")
    if not is_nested(a):
        if expand_composites and type(a) is not type(b) and (composite(a) or composite(b)):
            raise TypeError(f"The two structures don't have the same nested structure: {a} and {b}")
        return
    both_maps = isinstance(a, Mapping) and isinstance(b, Mapping)
    if check_types and type(a) is not type(b) and not both_maps:
        raise TypeError(f"The two structures don't have the same sequence type. First structure has type {type(a)}, "
                        f"while second structure has type {type(b)}.")
    if both_maps and set(a) != set(b):
        raise ValueError(f"The two dictionaries don't have the same set of keys. First structure has keys {list(a)}, "
                         f"while second structure has keys {list(b)}")
    if len(a) != len(b):
        raise ValueError(f"The two structures don't have the same number of elements: {shown(a)} and {shown(b)}")
