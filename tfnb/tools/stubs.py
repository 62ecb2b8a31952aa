"""Type stubs of the public modules, for editors: `python -m tfnb.tools.stubs [FOLDER]`.

A public module (`tfnb/__init__.py`, `tfnb/nn.py`, `tfnb/train/__init__.py`...) holds names only, and some of them come
lazily or are made by a decorator; an editor sees neither. Its stub names each: a function or class by an import from
the module that defines it, where the editor reads signature and docstring; an op by its signature; a constant by its
type. Wheels carry the stubs; they are made from the registry of ops and the name lists and not kept in git.
"""
from __future__ import annotations

import ast
import importlib
import inspect
import keyword
import pkgutil
import sys
import types
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from tfnb.core.lazy import LazyModule
from tfnb.opdef.op import Op
from tfnb.ops.declaration.construct import Constructor

HEAD = '"""{doc}"""\nfrom typing import Any as _Any\n\nfrom tfnb.graph.parts.operation import Operation, Tensor\n'
ROOT = Path(__file__).resolve().parents[1]
PUBLIC_FOLDERS = ("tfnb.train", "tfnb.layers", "tfnb.losses", "tfnb.metrics", "tfnb.image", "tfnb.linalg",
                  "tfnb.custom", "tfnb.data", "tfnb.summary", "tfnb.saved_model", "tfnb.contrib", "tfnb.compat",
                  "tfnb.rnn.rnn_cell")


def public_modules() -> list[str]:
    """Return the names of the modules that hold public names only."""
    root = [f"tfnb.{found.name}" for found in pkgutil.iter_modules([str(ROOT)])
            if not found.ispkg and not found.name.startswith("_")]
    contrib = [f"tfnb.contrib.{found.name}" for found in pkgutil.iter_modules([str(ROOT / "contrib")])
               if not found.ispkg]
    names = ["tfnb", *root, *PUBLIC_FOLDERS, *contrib]
    return [name for name in names if is_dynamic(importlib.import_module(name))]


def is_dynamic(module: types.ModuleType) -> bool:
    """Return whether an editor cannot read the names of a module from its source: lazy ones, and ops."""
    values = [value for name, value in vars(module).items() if not name.startswith("_")]
    return hasattr(module, "__getattr__") or any(is_op(value) or isinstance(value, LazyModule) for value in values)


def is_op(value: Any) -> bool:
    """Return whether a value is the public function of an op, or its constructor: both have its record."""
    return isinstance(value, (types.FunctionType, Constructor)) and isinstance(getattr(value, "spec", None), Op)


def stub(module: types.ModuleType) -> str:
    """Return the text of the stub of a module: a line or definition for each of its public names."""
    own = module.__name__
    lines = [line for name in public_names(module) for line in _entry(own, name, getattr(module, name))]
    doc = (module.__doc__ or own).strip().splitlines()[0].replace("\\", "\\\\")
    return HEAD.format(doc=doc) + "".join(f"{line}\n" for line in lines)


def public_names(module: types.ModuleType) -> list[str]:
    """Return the names that a user of a module may take from it.

    A submodule is one if the source binds it: others are attributes only once something imported them.
    """
    bound = _bound(inspect.getsource(module))
    names = (name for name in dir(module) if not name.startswith("_") and not keyword.iskeyword(name))
    return sorted(name for name in names if name != "annotations" and (
        name in bound or not isinstance(getattr(module, name), types.ModuleType)))


@cache
def _bound(source: str) -> frozenset[str]:
    """The names that the top level of a source binds."""
    body = ast.parse(source).body
    names = {alias.asname or alias.name for node in body if isinstance(node, (ast.Import, ast.ImportFrom))
             for alias in node.names}
    return frozenset(names | {target.id for node in body if isinstance(node, ast.Assign) for target in node.targets
                              if isinstance(target, ast.Name)})


def _entry(own: str, name: str, value: Any) -> Iterator[str]:
    """The lines that declare one name."""
    if isinstance(value, types.ModuleType):
        yield from _module(own, name, value)
    elif is_op(value):
        yield _op(name, value)
    elif (place := _defined(value)) == (own, name):
        yield f"def {name}(*args: _Any, **kwargs: _Any) -> _Any: ..."
    elif place is not None:
        module, attribute = place
        if attribute == name:
            yield f"from {module} import {name} as {name}"
        else:
            yield f"from {module} import {attribute} as _{name}"
            yield f"{name} = _{name}"
    else:
        yield f"{name}: {_type_of(value)}"


def _module(own: str, name: str, value: types.ModuleType) -> Iterator[str]:
    full = value.__name__
    if not full.startswith("tfnb"):
        return
    parent, _, last = full.rpartition(".")
    if not parent:
        yield f"import tfnb as _{name}"
    elif last == name:
        yield f"from {parent} import {last} as {last}"
        return
    else:
        yield f"from {parent} import {last} as _{name}"
    yield f"{name} = _{name}"


def _op(name: str, value: Any) -> str:
    """The declaration of an op: its arguments by name, its defaults, how many tensors it makes."""
    arguments = []
    for parameter in value.__signature__.parameters.values():
        default = "" if parameter.default is inspect.Parameter.empty else " = ..."
        kind = "str | None" if parameter.name == "name" else "_Any"
        given = f"{parameter.name}_" if keyword.iskeyword(parameter.name) else parameter.name
        arguments.append(f"{given}: {kind}{default}")
    outputs = value.spec.outputs
    made = "Operation" if not outputs else "Tensor" if len(outputs) == 1 and not outputs[0].is_list else "_Any"
    doc = (value.spec.doc or "").strip().splitlines()
    text = doc[0].replace("\\", "\\\\").replace('"""', "'''") if doc else ""
    return f'def {name}({", ".join(arguments)}) -> {made}:\n    """{text}"""'


def _defined(value: Any) -> tuple[str, str] | None:
    """Return (module, name) where a function or class of ours is defined, if it can be imported from there."""
    module, name = getattr(value, "__module__", None), getattr(value, "__qualname__", "")
    if not isinstance(module, str) or not module.startswith("tfnb") or not name.isidentifier():
        return None
    holder, code = sys.modules.get(module), getattr(value, "__code__", None)
    for own in (name, getattr(code, "co_name", name)):         # `range_` is called `range`
        if getattr(holder, own, None) is value and callable(value):
            return module, own
    return None


def _type_of(value: Any) -> str:
    """Return the annotation of a constant."""
    kind = type(value)
    if kind in (bool, int, float, str, bytes):
        return kind.__name__
    ours = kind.__module__.startswith("tfnb") and "." not in kind.__qualname__ and kind is not LazyModule
    return f"_{kind.__name__}" if ours else "_Any"


def _with_types(text: str, module: types.ModuleType) -> str:
    """The stub with the imports of the classes that constants are of."""
    kinds = {type(getattr(module, name)) for name in public_names(module)}
    used = sorted((kind for kind in kinds if f": _{kind.__name__}\n" in text and kind.__module__.startswith("tfnb")),
                  key=lambda kind: kind.__name__)
    imports = "".join(f"from {kind.__module__} import {kind.__name__} as _{kind.__name__}\n" for kind in used)
    return text.replace(HEAD[HEAD.index("from tfnb"):], HEAD[HEAD.index("from tfnb"):] + imports, 1)


def main(folder: str | None = None) -> list[Path]:
    """Write the stubs and `py.typed` under `folder` (default: beside the modules); return the files."""
    root = Path(folder) if folder else ROOT
    written = []
    for name in public_modules():
        module = importlib.import_module(name)
        inner = Path(*name.split(".")[1:])
        place = root / inner / "__init__.pyi" if hasattr(module, "__path__") else (root / inner).with_suffix(".pyi")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(_with_types(stub(module), module), encoding="utf-8", newline="\n")
        written.append(place)
    (root / "py.typed").touch()
    return [*written, root / "py.typed"]


if __name__ == "__main__":
    print(f"{len(main(*sys.argv[1:2]))} files")
