"""Nested structures of values: lists, tuples, namedtuples and dicts (in the order of their sorted keys)."""
from __future__ import annotations

from collections.abc import Callable, Iterator, KeysView, Mapping, Sequence, Set, ValuesView
from typing import Any

Expansion = tuple[Callable[[Any], Sequence[Any]], Callable[[Any, Sequence[Any]], Any]]
_EXPANSIONS: dict[type, Expansion] = {}     # classes that represent several tensors: (parts, join)


_SHAPES: dict[type, Callable[[Any, Any], list[Any]]] = {}


def register_composite(cls: type, parts: Callable[[Any], Sequence[Any]], join: Callable[[Any, Sequence[Any]], Any],
                       shapes: Callable[[Any, Any], list[Any]]) -> None:
    """Register `cls` as a composite that `expand=True` flattens: parts(object) -> tensors, join(object, tensors).

    shapes: see `part_shapes`.
    """
    _EXPANSIONS[cls], _SHAPES[cls] = (parts, join), shapes


def part_shapes(value: Any, shape: Any) -> list[Any]:
    """Return the TensorShapes that the tensors of `value` keep in a loop, if `value` has the shape invariant `shape`.

    shape: None if there is none; None in the result represents the tensor's present shape.
    """
    found = next((rule for cls, rule in _SHAPES.items() if isinstance(value, cls)), None)
    return [shape] if found is None else found(value, shape)


def _composite(value: Any) -> Expansion | None:
    return next((found for cls, found in _EXPANSIONS.items() if isinstance(value, cls)), None)


def is_nested(value: Any) -> bool:
    """Return whether a value is a list, tuple or dict (not a string or an array)."""
    return isinstance(value, (list, tuple, Mapping))


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


def _leaves(value: Any, expand: bool) -> Iterator[Any]:
    if is_nested(value):
        for child in children(value):
            yield from _leaves(child, expand)
        return
    found = _composite(value) if expand else None
    if found is None:
        yield value
    else:
        yield from found[0](value)


def flatten(structure: Any, expand: bool = False) -> list[Any]:
    """Return the leaves in order; a value that is no structure is one leaf. expand: flatten composite tensors too."""
    return list(_leaves(structure, expand))


def pack_sequence_as(structure: Any, flat: Sequence[Any], expand: bool = False) -> Any:
    """Return `flat` packed in the structure of `structure`. Raises ValueError if the numbers of leaves differ."""
    wanted = len(flatten(structure, expand))
    if wanted != len(flat):
        raise ValueError(f"Could not pack sequence. Structure had {wanted} elements, but flat_sequence had "
                         f"{len(flat)} elements. Structure: {structure}, flat_sequence: {list(flat)}.")
    return _pack(structure, iter(flat), expand)


def _pack(structure: Any, values: Iterator[Any], expand: bool) -> Any:
    if not is_nested(structure):
        found = _composite(structure) if expand else None
        if found is None:
            return next(values)
        return found[1](structure, [next(values) for _ in found[0](structure)])
    if isinstance(structure, Mapping):
        made = {key: _pack(structure[key], values, expand) for key in _sorted_keys(structure)}
        ordered = {key: made[key] for key in structure}
        return ordered if type(structure) is dict else type(structure)(ordered)     # type: ignore[call-arg]
    children = [_pack(child, values, expand) for child in structure]
    if isinstance(structure, tuple):
        return type(structure)(*children) if hasattr(structure, "_fields") else tuple(children)
    return children


def map_structure(fn: Callable[..., Any], *structures: Any, expand: bool = False) -> Any:
    """Apply `fn` to corresponding leaves of structures of one form, and return the results in that form."""
    for other in structures[1:]:
        assert_same_structure(structures[0], other, expand=expand)
    leaves = zip(*(flatten(s, expand) for s in structures), strict=True)
    return pack_sequence_as(structures[0], [fn(*values) for values in leaves], expand)


def assert_same_structure(a: Any, b: Any, check_types: bool = True, expand: bool = False) -> None:
    """Raise ValueError if two structures differ in form, TypeError if only in the classes of their parts."""
    if len(flatten(a, expand)) != len(flatten(b, expand)):
        raise ValueError(f"The two structures don't have the same number of elements. First structure: {a}. Second "
                         f"structure: {b}")
    _assert_same(a, b, check_types, expand)


def _assert_same(a: Any, b: Any, check_types: bool, expand: bool) -> None:
    if is_nested(a) != is_nested(b):
        raise ValueError(f"The two structures don't have the same nested structure.\n\nFirst structure: type="
                         f"{type(a).__name__} str={a}\n\nSecond structure: type={type(b).__name__} str={b}")
    if not is_nested(a):
        if expand and type(a) is not type(b) and (_composite(a) or _composite(b)):
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
        raise ValueError(f"The two structures don't have the same number of elements: {a} and {b}")
    for x, y in zip(children(a), children(b), strict=True):
        _assert_same(x, y, check_types, expand)
