"""Objects by name: `{"class_name": ..., "config": ...}` from an object and back, with the classes of the program."""
from __future__ import annotations

import inspect
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

_custom: dict[str, Any] = {}


def get_custom_objects() -> dict[str, Any]:
    """Return the dict of the program's own classes and functions by name, which can be changed.

    >>> tf.keras.utils.get_custom_objects()
    {}
    """
    return _custom


class CustomObjectScope:
    """Context in which classes and functions of the program are known by name.

    args: dicts of name to class or function.

    >>> class Twice(tf.keras.layers.Layer):
    ...     def call(self, inputs):
    ...         return 2 * inputs
    >>> with tf.keras.utils.CustomObjectScope({"Twice": Twice}):
    ...     type(tf.keras.layers.deserialize({"class_name": "Twice", "config": {}})) is Twice
    True
    """

    def __init__(self, *args: Mapping[str, Any]) -> None:
        self._objects = args

    def __enter__(self) -> CustomObjectScope:
        self._before = dict(_custom)
        for objects in self._objects:
            _custom.update(objects)
        return self

    def __exit__(self, *error: object) -> None:
        _custom.clear()
        _custom.update(self._before)


def custom_object_scope(*args: Mapping[str, Any]) -> CustomObjectScope:
    """Return a context in which classes and functions of the program are known by name.

    args: dicts of name to class or function.

    >>> with tf.keras.utils.custom_object_scope({"half": lambda x: x / 2}):
    ...     list(tf.keras.utils.get_custom_objects())
    ['half']
    """
    return CustomObjectScope(*args)


def serialize_keras_object(instance: Any) -> Any:
    """Return `{"class_name": ..., "config": ...}` of an object with `get_config`, the name of a function, None of None.

    instance: the object. Raises ValueError for anything else.

    >>> tf.keras.utils.serialize_keras_object(tf.nn.relu)
    'relu'
    """
    if instance is None:
        return None
    if hasattr(instance, "get_config"):
        return {"class_name": type(instance).__name__, "config": instance.get_config()}
    if hasattr(instance, "__name__"):
        return instance.__name__
    raise ValueError(f"Cannot serialize {instance!r}: expected an object with `get_config` or a function")


def deserialize_keras_object(identifier: Any, module_objects: Any = None, custom_objects: Any = None,
                             printable_module_name: str = "object") -> Any:
    """Return the object that `{"class_name": ..., "config": ...}`, or the name of a function or class, describes.

    identifier: that dict or name; a class is called without arguments. module_objects: dict of name to class or
    function. custom_objects: another one, which comes first. printable_module_name: the word for them in errors.
    Raises ValueError for an unknown name or a dict of another form.

    >>> tf.keras.utils.deserialize_keras_object("relu", {"relu": tf.nn.relu}) is tf.nn.relu
    True
    """
    if identifier is None or (callable(identifier) and not isinstance(identifier, str)):
        return identifier
    if isinstance(identifier, Mapping):
        if "class_name" not in identifier or "config" not in identifier:
            raise ValueError(f"Improper config format: expected keys class_name and config, got {identifier}")
        found = _found(identifier["class_name"], module_objects, custom_objects, printable_module_name)
        return _made(found, dict(identifier["config"]), custom_objects)
    if isinstance(identifier, str):
        found = _found(identifier, module_objects, custom_objects, printable_module_name)
        return found() if inspect.isclass(found) else found
    raise ValueError(f"Could not interpret serialized {printable_module_name}: {identifier!r}")


def _found(name: str, objects: Any, custom: Any, kind: str) -> Any:
    for table in (custom, _custom, objects):
        if table and name in table:
            return table[name]
    near = get_close_matches(name, [*(custom or ()), *_custom, *(objects or ())], 1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    raise ValueError(f"Unknown {kind}: {name}.{hint} A class or function of the program is given by "
                     "`custom_objects` or `tf.keras.utils.custom_object_scope`.")


def _made(cls: Any, config: dict[str, Any], custom: Any) -> Any:
    if not hasattr(cls, "from_config"):
        with CustomObjectScope(custom or {}):
            return cls(**config)
    if "custom_objects" in inspect.signature(cls.from_config).parameters:
        return cls.from_config(config, custom_objects={**_custom, **(custom or {})})
    with CustomObjectScope(custom or {}):
        return cls.from_config(config)
