"""Conventional arguments: `trainable` means the same in 37 functions, so that it is described once.

At its end a module calls `describe(globals(), TABLE)`: the docstrings of its public functions and classes get a line,
before the example, for each argument that they take and don't mention.
"""
from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from pathlib import Path
from types import FunctionType
from typing import Any

from tfnb.core.tables import read_tables

_TABLES = read_tables(Path(__file__).with_name("arguments.txt"))
ASSERTIONS = _TABLES["ASSERTIONS"]
CHECKPOINTS = _TABLES["CHECKPOINTS"]
CONTRIB_LAYERS = _TABLES["CONTRIB_LAYERS"]
CRF = _TABLES["CRF"]
CTC = _TABLES["CTC"]
DATASETS = _TABLES["DATASETS"]
DISTRIBUTIONS = _TABLES["DISTRIBUTIONS"]
ERRORS = _TABLES["ERRORS"]
ESTIMATORS = _TABLES["ESTIMATORS"]
FILES = _TABLES["FILES"]
GRAPHS = _TABLES["GRAPHS"]
IMAGES = _TABLES["IMAGES"]
INITIALIZERS = _TABLES["INITIALIZERS"]
INPUT = _TABLES["INPUT"]
KERAS = _TABLES["KERAS"]
LAYERS = _TABLES["LAYERS"]
LINEAR_OPERATORS = _TABLES["LINEAR_OPERATORS"]
LOGS = _TABLES["LOGS"]
LOOPS = _TABLES["LOOPS"]
LOSSES = _TABLES["LOSSES"]
METRICS = _TABLES["METRICS"]
NN = _TABLES["NN"]
OPTIMIZERS = _TABLES["OPTIMIZERS"]
RECURRENT = _TABLES["RECURRENT"]
SCOPED = _TABLES["SCOPED"]
SESSIONS = _TABLES["SESSIONS"]
SLIM = _TABLES["SLIM"]
SUMMARIES = _TABLES["SUMMARIES"]
TENSORS = _TABLES["TENSORS"]
VARIABLES = _TABLES["VARIABLES"]


def describe(namespace: Mapping[str, Any], table: Mapping[str, str]) -> None:
    """Complete the docstrings of the public functions and classes that a module defines, its `globals()`."""
    for name, value in namespace.items():
        if not name.startswith("_") and isinstance(value, (FunctionType, type)) and value.__doc__ \
                and value.__module__ == namespace["__name__"]:
            value.__doc__ = completed(value, value.__doc__, table)


def completed(value: Any, doc: str, table: Mapping[str, str]) -> str:
    """Return `doc` with a line for each argument of a function or class that `table` has and `doc` does not mention."""
    description, mark, example = doc.partition(">>> ")
    mentioned = set(re.findall(r"\w+", description))
    indent = re.search(r"\n( *)\S", doc)
    start = "\n" + (indent.group(1) if indent else "")
    lines = [f"{argument}: {text}." for argument in _arguments(value)
             if (text := table.get(argument) or table.get("*" + argument[argument.rfind("_"):]))
             and argument not in mentioned]
    if not lines:
        return doc
    return description.rstrip() + "\n" + start + start.join(lines) + ("\n" + start + mark + example if mark else "")


def _arguments(value: Any) -> list[str]:
    """Return the names of the arguments; of a class, those of its constructor."""
    if isinstance(value, type) and hasattr(value, "_fields"):
        return list(value._fields)
    made = value.__init__ if isinstance(value, type) else value     # type: ignore[misc]
    if "__signature__" in getattr(made, "__dict__", {}):
        return list(made.__signature__.parameters)
    code = getattr(inspect.unwrap(made), "__code__", None)
    return list(code.co_varnames[:code.co_argcount]) if code else []
