"""Hyperparameters: named values with types, read from text and JSON: `tf.contrib.training.HParams`."""
from __future__ import annotations

import json
import numbers
import re
from collections.abc import Mapping
from typing import Any

_ASSIGNMENT = re.compile(
    r"\s*(?P<name>[a-zA-Z][\w.]*)\s*(?:\[\s*(?P<index>\d+)\s*\])?\s*=\s*(?:\[(?P<list>[^\]]*)\]|(?P<one>[^,\[]*))\s*(?:,|$)")
_TRUTH = {"true": True, "1": True, "false": False, "0": False}


class HParams:
    """Hyperparameters as attributes; each keeps the type of its first value, or is a list of that type.

    `HParams(rate=0.1, sizes=[4, 8])`. A value of another type raises ValueError (integers become floats), a name that
    is taken already ValueError, an empty list as the first value ValueError. hparam_def: None; model_structure:
    accepted.

    >>> params = tf.contrib.training.HParams(rate=0.1, layers=[8, 4])
    >>> parsed = params.parse("rate=0.01,layers=[16]")
    >>> params.rate, params.layers
    (0.01, [16])
    """

    def __init__(self, hparam_def: None = None, model_structure: Any = None, **kwargs: Any) -> None:
        if hparam_def is not None:
            raise NotImplementedError("HParams of a protocol buffer are not there")
        self._types: dict[str, tuple[type[Any], bool]] = {}
        self._model_structure = model_structure
        for name, value in kwargs.items():
            self.add_hparam(name, value)

    def add_hparam(self, name: str, value: Any) -> None:
        """Add a hyperparameter. Raises ValueError for a name in use, or an empty list."""
        if getattr(self, name, None) is not None:
            raise ValueError(f"Hyperparameter name is reserved: {name}")
        if isinstance(value, (list, tuple)):
            if not value:
                raise ValueError(f"Multi-valued hyperparameters cannot be empty: {name}")
            self._types[name] = type(value[0]), True
        else:
            self._types[name] = type(value), False
        setattr(self, name, value)

    def set_hparam(self, name: str, value: Any) -> None:
        """Set an existing hyperparameter to a value of its type. Raises KeyError for an unknown name."""
        kind, many = self._types[name]
        if many != isinstance(value, list):
            raise ValueError(f"Must {'not ' if not many else ''}pass a list for {'multi' if many else 'single'}-valued "
                             f"parameter: {name}.")
        setattr(self, name, [_cast(name, kind, v) for v in value] if many else _cast(name, kind, value))

    def del_hparam(self, name: str) -> None:
        """Delete a hyperparameter, if it exists."""
        if name in self._types:
            delattr(self, name)
            del self._types[name]

    def parse(self, values: str) -> HParams:
        """Set values from a string such as "rate=0.5,sizes=[1,2],sizes[0]=3,name=x" and return self.

        Raises ValueError for text of another form, unknown names, and values of another type.
        """
        for name, new in _assignments(values, self._types).items():
            kind, many = self._types[name]
            if isinstance(new, dict):
                held = list(getattr(self, name))
                if max(new) >= len(held):
                    raise ValueError(f"{name}[{max(new)}]: {name!r} has {len(held)} values")
                for index, text in new.items():
                    held[index] = _read(name, kind, text)
                self.set_hparam(name, held)
            else:
                self.set_hparam(name, [_read(name, kind, v) for v in new] if many else _read(name, kind, new))
        return self

    def override_from_dict(self, values_dict: Mapping[str, Any]) -> HParams:
        """Set values by name and return self. Raises KeyError for unknown names."""
        for name, value in values_dict.items():
            self.set_hparam(name, value)
        return self

    def parse_json(self, values_json: str) -> HParams:
        """Set values from a JSON object, as `override_from_dict`, and return self."""
        return self.override_from_dict(json.loads(values_json))

    def to_json(self, indent: Any = None, separators: Any = None, sort_keys: bool = False) -> str:
        """Return the values as a JSON object, without functions."""
        plain = {name: value for name, value in self.values().items() if not callable(value)}
        return json.dumps(plain, indent=indent, separators=separators, sort_keys=sort_keys)

    def values(self) -> dict[str, Any]:
        """Return a dict of all values by name."""
        return {name: getattr(self, name) for name in self._types}

    def get(self, key: str, default: Any = None) -> Any:
        """Return the value of a name, or `default`. Raises ValueError for a default of another type."""
        if key not in self._types:
            return default
        if default is not None:
            kind, many = self._types[key]
            if many != isinstance(default, list):
                raise ValueError(f"The default of {key!r} is {'no' if many else 'a'} list, unlike its value")
            for one in default if many else [default]:
                _cast(key, kind, one)
        return getattr(self, key)

    def set_model_structure(self, model_structure: Any) -> None:
        """Store an object for `get_model_structure`."""
        self._model_structure = model_structure

    def get_model_structure(self) -> Any:
        """Return the object given to `set_model_structure`."""
        return self._model_structure

    def __contains__(self, key: str) -> bool:
        return key in self._types

    def __str__(self) -> str:
        return str(sorted(self.values().items()))

    def __repr__(self) -> str:
        return f"HParams({self})"


def _cast(name: str, kind: type[Any], value: Any) -> Any:
    """Convert a value to a type. Raises ValueError if the conversion would change the value."""
    wrong = ValueError(f"Could not cast hparam {name!r} of type {kind.__name__!r} from value {value!r}")
    if value is None or kind is type(None) or isinstance(value, kind) and not isinstance(value, bool):
        return value
    if isinstance(value, bool) != issubclass(kind, bool) or isinstance(value, str) != issubclass(kind, str):
        raise wrong
    if issubclass(kind, numbers.Integral) and not isinstance(value, numbers.Integral):
        raise wrong
    return kind(value)


def _read(name: str, kind: type[Any], text: str) -> Any:
    """Parse a value of a type from text."""
    try:
        return _TRUTH[text.lower()] if issubclass(kind, bool) else kind(text)
    except (KeyError, ValueError, TypeError):
        raise ValueError(f"Could not parse hparam {name!r} of type {kind.__name__!r} with value {text!r}") from None


def _assignments(text: str, types: Mapping[str, tuple[type[Any], bool]]) -> dict[str, Any]:
    """Parse assignments: name -> string, list of strings, or {index: string}. Raises ValueError."""
    found: dict[str, Any] = {}
    place = 0
    while place < len(text):
        match = _ASSIGNMENT.match(text, place)
        if match is None:
            raise ValueError(f"Malformed hyperparameter value: {text[place:]}")
        place, name, index = match.end(), match["name"], match["index"]
        if name not in types:
            raise ValueError(f"Unknown hyperparameter: {name!r}. Known: {', '.join(types)}")
        if index is not None:
            if not types[name][1]:
                raise ValueError(f"{name!r} is no list")
            _once(isinstance(found.setdefault(name, {}), dict) and int(index) not in found[name], text, name)
            found[name][int(index)] = match["one"].strip()
            continue
        _once(name not in found, text, name)
        if (match["list"] is not None) != types[name][1]:
            raise ValueError(f"{name!r} is {'a' if types[name][1] else 'no'} list, unlike the value in {match[0]!r}")
        found[name] = match["one"].strip() if match["list"] is None else _items(match["list"])
    return found


def _items(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _once(fits: bool, text: str, name: str) -> None:
    if not fits:
        raise ValueError(f"Multiple assignments to variable {name!r} in {text}")
