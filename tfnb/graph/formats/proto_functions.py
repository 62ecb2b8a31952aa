"""Conversion of the items of a collection to protocol buffers and back, by the collection's name."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple


class ProtoFunctions(NamedTuple):
    """proto_type: the message class (or a function that returns it); to_proto(x, export_scope=) -> message or None;
    from_proto(message, import_scope=) -> x."""

    proto_type: Any
    to_proto: Callable[..., Any]
    from_proto: Callable[..., Any]


_BY_COLLECTION: dict[str, ProtoFunctions] = {}


def register_proto_function(collection_name: str, proto_type: Any = None, to_proto: Callable[..., Any] | None = None,
                            from_proto: Callable[..., Any] | None = None) -> None:
    """Enter how meta graphs keep a collection. Raises TypeError without both functions."""
    if not callable(to_proto) or not callable(from_proto):
        raise TypeError(f"to_proto and from_proto of collection {collection_name!r} must be callable")
    _BY_COLLECTION[collection_name] = ProtoFunctions(proto_type, to_proto, from_proto)


def proto_functions(collection_name: Any) -> ProtoFunctions | None:
    """Return the functions registered for a collection, or None."""
    return _BY_COLLECTION.get(collection_name)
