"""Arrays that programs give to models: brought into the order of inputs and outputs, and checked against them."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np


def array(value: Any) -> Any:
    """Return a value as an array: lists, pandas' tables and columns, datasets of files too; a vector as a column."""
    value = getattr(value, "values", value) if hasattr(value, "iloc") else value
    made = value if isinstance(value, np.ndarray) else np.asarray(value)
    return made[:, None] if made.ndim == 1 else made


def arranged(data: Any, names: Sequence[str], what: str) -> list[Any]:
    """Return the arrays of a list, a dict by name or a single array in the order of `names`.

    what: "input" or "target", for errors. Raises ValueError for another number of arrays and for absent names.
    """
    if isinstance(data, Mapping):
        lacking = [name for name in names if name not in data]
        if lacking:
            raise ValueError(f"No data provided for {what} {lacking[0]!r}: expected a dict with the keys "
                             f"{list(names)}, got {list(data)}")
        return [array(data[name]) for name in names]
    if isinstance(data, (list, tuple)):
        if len(data) == len(names) and (len(names) > 1 or np.ndim(data[0]) > 1 or isinstance(data[0], np.ndarray)):
            return [array(each) for each in data]
        if len(names) == 1 and not any(isinstance(each, np.ndarray) and each.ndim > 1 for each in data):
            return [array(data)]
        raise ValueError(f"Error when checking model {what}: expected {len(names)} arrays ({', '.join(names)}), got a "
                         f"list of {len(data)}")
    if len(names) != 1:
        raise ValueError(f"Error when checking model {what}: expected a list or dict of {len(names)} arrays "
                         f"({', '.join(names)}), got one of type {type(data).__name__}")
    return [array(data)]


def check_shapes(arrays: list[Any], names: Sequence[str], shapes: Sequence[Any], what: str) -> None:
    """Raise ValueError for the first array that has another shape than expected; None in a shape is any size."""
    for value, name, shape in zip(arrays, names, shapes, strict=True):
        if shape is None:
            continue
        if value.ndim != len(shape):
            raise ValueError(f"Error when checking {what}: expected {name} to have {len(shape)} dimensions (the batch "
                             f"included, shape {_written(shape)}), but got array with shape {value.shape}")
        if any(size not in (None, found) for size, found in zip(shape[1:], value.shape[1:], strict=True)):
            raise ValueError(f"Error when checking {what}: expected {name} to have shape {_written(shape[1:])} for "
                             f"each example, but got array with shape {value.shape[1:]}")


def _written(shape: Any) -> str:
    return str(tuple(shape)).replace("None", "?")


def check_lengths(inputs: list[Any], targets: list[Any], weights: list[Any]) -> None:
    """Raise ValueError unless all arrays have the same number of examples."""
    counts: dict[int, str] = {}
    for what, arrays in (("input", inputs), ("target", targets), ("sample_weight", weights)):
        for value in arrays:
            if value is not None:
                counts.setdefault(len(value), what)
    if len(counts) > 1:
        found = ", ".join(f"{count} {what} samples" for count, what in counts.items())
        raise ValueError(f"Input arrays should have the same number of samples as target arrays. Found {found}.")


def weights_of(given: Any, class_weight: Any, targets: list[Any], names: Sequence[str], modes: Sequence[Any]
               ) -> list[Any]:
    """Return an array of weights of examples for each output, None where there are none.

    given: an array, or a list or dict of arrays for several outputs. class_weight: a dict from class to weight, or of
    such dicts by output.
    """
    by_output = _by_output(given, names, "sample_weight")
    if isinstance(class_weight, Mapping) and len(names) == 1 and not class_weight.keys() & set(names):
        class_weight = {names[0]: class_weight}
    by_class = _by_output(class_weight, names, "class_weight")
    found = []
    for weights, classes, target, name, mode in zip(by_output, by_class, targets, names, modes, strict=True):
        made = None if weights is None else np.asarray(weights, np.float32)
        if made is not None and made.ndim != (2 if mode == "temporal" else 1):
            raise ValueError(f"Found a sample_weight array with shape {made.shape} for output {name}: expected one "
                             "weight for each example" + (", or for each time step with sample_weight_mode="
                                                          '"temporal"' if mode != "temporal" else " and time step"))
        if classes:
            own = _class_weights(target, classes, name)
            made = own if made is None else made * own
        found.append(made)
    return found


def _by_output(given: Any, names: Sequence[str], what: str) -> list[Any]:
    if given is None or (isinstance(given, (list, Mapping)) and len(given) == 0):
        return [None] * len(names)
    if isinstance(given, Mapping):
        unknown = [name for name in given if name not in names]
        if unknown:
            raise ValueError(f"Unknown entries in {what} dictionary: {unknown}. Expected keys among {list(names)}")
        return [given.get(name) for name in names]
    if isinstance(given, (list, tuple)) and len(given) == len(names) and (len(names) > 1 or np.ndim(given[0]) > 0):
        return list(given)
    if len(names) > 1:
        raise ValueError(f"The model has {len(names)} outputs, so `{what}` must be a list or dict of that many")
    return [given]


def _class_weights(target: Any, classes: Mapping[Any, Any], name: str) -> Any:
    """Return the weight of the class of each example. Raises ValueError for a class without a weight."""
    if target.ndim > 2:
        raise ValueError("`class_weight` not supported for 3+ dimensional targets.")
    labels = target.argmax(axis=1) if target.shape[1] > 1 else target[:, 0].astype(np.int64)
    lacking = sorted(set(labels.tolist()) - set(classes))
    if lacking:
        raise ValueError(f"`class_weight` must contain all classes in the data of output {name}. The classes {lacking} "
                         "exist in the data but not in `class_weight`")
    table = {label: float(classes[label]) for label in set(labels.tolist())}
    return np.array([table[label] for label in labels.tolist()], np.float32)


def split(arrays: list[Any], at: int) -> tuple[list[Any], list[Any]]:
    """Cut each array, None left as it is, in two."""
    return ([None if each is None else each[:at] for each in arrays],
            [None if each is None else each[at:] for each in arrays])
