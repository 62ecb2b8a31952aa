"""Type stubs of the public modules, for editors: `python -m tfnb.tools.stubs [FOLDER]`.

A public module (`tfnb/__init__.py`, `tfnb/nn.py`, `tfnb/train/__init__.py`...) holds names only, and some of them come
lazily or are made by a decorator; an editor sees neither. Its stub names each: a function or class by an import from
the module that defines it, where the editor reads signature and docstring; an op by its signature; a constant by its
type. Modules inside of TensorFlow (`tfnb.python.ops.math_ops`), which are made when they are imported, have stubs too.
Wheels carry the stubs; they are made from the registry of ops and the name lists and not kept in git.
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
from functools import cache, partial
from pathlib import Path
from typing import Any

from tfnb.core import absent
from tfnb.core.lazy import LazyModule
from tfnb.opdef.op import Op
from tfnb.ops.declaration.construct import Constructor
from tfnb.tools import inside

HEAD = '"""{doc}"""\nfrom typing import Any as _Any\n\nfrom tfnb.graph.parts.operation import Operation, Tensor\n'
ROOT = Path(__file__).resolve().parents[1]
_KERAS = ("activations backend callbacks constraints experimental initializers layers losses metrics models optimizers "
          "optimizers.schedules regularizers utils preprocessing preprocessing.image datasets applications wrappers")
_ARCHITECTURES = ("densenet inception_resnet_v2 inception_v3 mobilenet mobilenet_v2 resnet resnet50 resnet_v2 vgg16 "
                  "vgg19 xception")
PUBLIC_FOLDERS = tuple(f"tfnb.{name}" for name in (
    *("train layers losses metrics image linalg math math.special custom data summary saved_model contrib compat "
      "rnn.rnn_cell distributions lookup feature_column estimator config config.experimental config.threading "
      "estimator.experimental estimator.export keras "
      "ragged train.experimental").split(),
    *(f"keras.{name}" for name in _KERAS.split()), *(f"keras.applications.{name}" for name in _ARCHITECTURES.split())))


def public_modules() -> list[str]:
    """Return the names of the modules that hold public names only."""
    root = [f"tfnb.{found.name}" for found in pkgutil.iter_modules([str(ROOT)])
            if not found.ispkg and not found.name.startswith("_")]
    contrib = [f"tfnb.contrib.{found.name}" for found in pkgutil.iter_modules([str(ROOT / "contrib")])
               if not found.ispkg]
    names = ["tfnb", *root, *PUBLIC_FOLDERS, *contrib]
    # Folders have one either way: what is lazy in them is not any more, once a program has used it.
    return [name for name in names if is_dynamic(importlib.import_module(name)) or name in PUBLIC_FOLDERS]


def is_dynamic(module: types.ModuleType) -> bool:
    """Return whether an editor cannot read the names of a module from its source: lazy ones, and ops."""
    values = [value for name, value in vars(module).items() if not name.startswith("_")]
    finder = getattr(module, "__getattr__", None)          # one that only tells that a name is absent finds nothing
    return (finder is not None and finder.__module__ != absent.__name__) or any(
        is_op(value) or is_made(value) or isinstance(value, LazyModule) for value in values)


def is_op(value: Any) -> bool:
    """Return whether a value is the public function of an op, or its constructor: both have its record."""
    return isinstance(value, (types.FunctionType, Constructor)) and isinstance(getattr(value, "spec", None), Op)


def is_made(value: Any) -> bool:
    """Return whether a value is a function whose signature stands in no source: a declaration made it."""
    if not isinstance(value, types.FunctionType):
        return isinstance(value, partial)
    inner = "<locals>" in inspect.unwrap(value).__code__.co_qualname
    return inner or "__signature__" in vars(value)


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
    elif is_made(value) or (place := _defined(value)) == (own, name):
        yield _definition(name, inspect.signature(value), value.__doc__)
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
    outputs = value.spec.outputs
    made = "Operation" if not outputs else "Tensor" if len(outputs) == 1 and not outputs[0].is_list else "_Any"
    return _definition(name, value.__signature__, value.spec.doc, made)


def _definition(name: str, signature: inspect.Signature, doc: str | None, made: str = "_Any") -> str:
    """The declaration of a function that no source defines under that signature, with the first line of its text."""
    arguments, keywords = [], False
    for parameter in signature.parameters.values():
        stars = "*" if parameter.kind is parameter.VAR_POSITIONAL else "**" if parameter.kind is parameter.VAR_KEYWORD \
            else ""
        if parameter.kind is parameter.KEYWORD_ONLY and not keywords:
            arguments.append("*")
        keywords = keywords or parameter.kind in (parameter.KEYWORD_ONLY, parameter.VAR_POSITIONAL)
        default = "" if parameter.default is inspect.Parameter.empty else " = ..."
        kind = "str | None" if parameter.name == "name" else "_Any"
        given = f"{parameter.name}_" if keyword.iskeyword(parameter.name) else parameter.name
        arguments.append(f"{stars}{given}: {kind}{default}")
    first = (doc or name).strip().splitlines()[0].replace("\\", "\\\\").replace('"""', "'''")
    return f'def {name}({", ".join(arguments)}) -> {made}:\n    """{first}"""'


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


def inside_modules() -> Iterator[tuple[str, str]]:
    """Yield (path below `tfnb`, stub) of each module of `tensorflow.python` that tfnb has, and of the packages."""
    found = {path: made for path in sorted(inside.known()) if path.startswith("python.")
             and (made := inside.inside(path)) is not None}
    packages = {"python"} | {path.rsplit(".", n)[0] for path in found for n in range(1, path.count("."))}
    for path in sorted(found.keys() - packages):
        yield path.replace(".", "/") + ".pyi", _inside_stub(found[path])
    for package in sorted(packages):
        text = _inside_stub(found[package]) if package in found else HEAD.format(doc=package)
        if package == "python":                        # `from tensorflow.python import control_flow_ops`
            homes = {path.rpartition(".")[2]: path.rpartition(".")[0] for path in found
                     if path.rpartition(".")[0].removeprefix("python.") in inside.LIFTED}
            text += "".join(f"from tfnb.{home} import {name} as {name}\n" for name, home in sorted(homes.items()))
        yield package.replace(".", "/") + "/__init__.pyi", text


def _inside_stub(found: inside.Inside) -> str:
    """Return the stub of a module inside of TensorFlow: public modules that have its names, and names of its own."""
    lines = [f"from {space.__name__} import *" for space in found.spaces[::-1]]
    own = f"tfnb.{found.path}"
    for name in sorted(found.names):
        value = found.find(name)
        if value is not inside.ABSENT and name.isidentifier():
            lines += _entry(own, name, value)
    if found.has_ops:                                  # an op by its generated name
        lines.append("def __getattr__(name: str) -> _Any: ...")
    return HEAD.format(doc=found.path) + "".join(f"{line}\n" for line in lines)


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
    for path, text in inside_modules():
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8", newline="\n")
        written.append(place)
    (root / "py.typed").touch()
    return [*written, root / "py.typed"]


if __name__ == "__main__":
    print(f"{len(main(*sys.argv[1:2]))} files")
