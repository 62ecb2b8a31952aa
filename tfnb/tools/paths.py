"""Modules inside of TensorFlow, and where tfnb has their names; `tests/tools/write_paths.py` writes the table.

MODULES: module below `tensorflow` -> public namespaces ("." is tf itself) in which a name of it is looked for, in turn.
RENAMED: module -> the names in it that are public under another name, "name=public.path".
GENERATED: the modules `python.ops.gen_*`, whose functions are ops.
"""
from __future__ import annotations

from pathlib import Path

from tfnb.core.tables import read_tables

_TABLES = read_tables(Path(__file__).with_name("paths.txt"))
MODULES = {module: spaces.split() for spaces, modules in _TABLES["HELD"].items() for module in modules.split()}
RENAMED = _TABLES["RENAMED"]
GENERATED = frozenset(_TABLES["GENERATED"]["python.ops"].split())
