"""Structures of values, also structures that are deeper than others: `tf.contrib.framework.nest`."""
# ruff: noqa: F401
from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tfnb.core.nest import (
    assert_same_structure,
    children,
    flatten,
    is_nested,
    map_structure,
    pack_sequence_as,
)
from tfnb.core.nest import (
    is_nested as is_sequence,
)


def assert_shallow_structure(shallow_tree: Any, input_tree: Any, check_types: bool = True) -> None:
    """Raise unless `input_tree` has the form of `shallow_tree`, with structures or values in the place of its values.

    Raises TypeError for a value or another class where the shallow tree has a structure (classes if check_types), and
    ValueError for another number of parts or other keys.

    >>> tf.contrib.framework.nest.assert_shallow_structure([0, 1], [[1, 2], 3])
    """
    if not is_nested(shallow_tree):
        return
    if not is_nested(input_tree):
        raise TypeError("If shallow structure is a sequence, input must also be a sequence. Input has type: "
                        f"{type(input_tree)}.")
    if check_types and not isinstance(input_tree, type(shallow_tree)) and \
            not (isinstance(shallow_tree, Mapping) and isinstance(input_tree, Mapping)):
        raise TypeError("The two structures don't have the same sequence type. Input structure has type "
                        f"{type(input_tree)}, while shallow structure has type {type(shallow_tree)}.")
    if len(input_tree) != len(shallow_tree):
        raise ValueError("The two structures don't have the same sequence length. Input structure has length "
                         f"{len(input_tree)}, while shallow structure has length {len(shallow_tree)}.")
    if isinstance(shallow_tree, Mapping) and set(shallow_tree) != set(input_tree):
        raise ValueError(f"The two structures don't have the same keys. Input structure has keys {list(input_tree)}, "
                         f"while shallow structure has keys {list(shallow_tree)}.")
    for shallow, deep in zip(children(shallow_tree), children(input_tree), strict=True):
        assert_shallow_structure(shallow, deep, check_types)


def flatten_up_to(shallow_tree: Any, input_tree: Any, check_types: bool = True) -> list[Any]:
    """Return the parts of `input_tree` at the places of the values of `shallow_tree`, in order.

    check_types: as of `assert_shallow_structure`, which raises for other structures.

    >>> tf.contrib.framework.nest.flatten_up_to([0, 1], [[1, 2], 3])
    [[1, 2], 3]
    """
    assert_shallow_structure(shallow_tree, input_tree, check_types)
    return _parts(shallow_tree, input_tree)


def _parts(shallow: Any, deep: Any) -> list[Any]:
    if not is_nested(shallow):
        return [deep]
    return [part for inner, outer in zip(children(shallow), children(deep), strict=True)
            for part in _parts(inner, outer)]


def map_structure_up_to(shallow_tree: Any, func: Callable[..., Any], *inputs: Any, check_types: bool = True) -> Any:
    """Return `func` of the parts of `inputs` at the places of the values of `shallow_tree`, in the form of that tree.

    Raises ValueError without inputs, and as `assert_shallow_structure`.

    >>> tf.contrib.framework.nest.map_structure_up_to([0, 1], len, [[1, 2], [3]])
    [2, 1]
    """
    if not inputs:
        raise ValueError("Cannot map over no sequences")
    rows = [flatten_up_to(shallow_tree, one, check_types) for one in inputs]
    return pack_sequence_as(shallow_tree, [func(*values) for values in zip(*rows, strict=True)])


def flatten_dict_items(dictionary: Mapping[Any, Any]) -> dict[Any, Any]:
    """Return a dict in which keys that are structures have become one key for each value of them.

    dictionary: the dict. Raises TypeError for another type, ValueError for a key of another structure than its value,
    or a key twice.

    >>> tf.contrib.framework.nest.flatten_dict_items({(4, 5): ("a", "b"), 6: "c"})
    {4: 'a', 5: 'b', 6: 'c'}
    """
    if not isinstance(dictionary, Mapping):
        raise TypeError("input must be a dictionary")
    made: dict[Any, Any] = {}
    for key, value in dictionary.items():
        keys, values = flatten(key), flatten(value) if is_nested(key) else [value]
        if len(keys) != len(values):
            raise ValueError(f"Could not flatten dictionary. Key had {len(keys)} elements, but value had {len(values)} "
                             f"elements. Key: {keys}, value: {values}.")
        for one, of in zip(keys, values, strict=True):
            if one in made:
                raise ValueError(f"Could not flatten dictionary: key {one} is not unique.")
            made[one] = of
    return made
