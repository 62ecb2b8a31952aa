"""Index from names of ops and public names to the modules that declare them.

`python tests/opdef/write_index.py` writes the tables, index.txt. `registry.find` imports a module when one of its ops
is first asked for, a public module when one of the names that declarations export to it is
(`ops/declaration/public.py`).
"""
from __future__ import annotations

from pathlib import Path

from tfnb.core.tables import read_tables

_TABLES = read_tables(Path(__file__).with_name("index.txt"))
MODULE_OF = {op: f"tfnb.{module}" for module, ops in _TABLES["DECLARED"].items() for op in ops.split()}
PUBLIC: dict[str, dict[str, str]] = {}              # public module without "tfnb." -> name -> module
for _module, _names in _TABLES["EXPORTED"].items():
    for _dotted in _names.split():
        _place, _, _name = _dotted.rpartition(".")
        PUBLIC.setdefault(_place, {})[_name] = f"tfnb.{_module}"
