"""Lazy imports of modules that are slow to load."""
from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

from tfnb.core.absent import absent
from tfnb.core.interrupts import held_back


class LazyModule(ModuleType):
    """Proxy of the module `name`, imported at the first attribute access; attributes are cached here.

    An absent module raises ImportError at that look, not before. Submodules that were imported by then are
    attributes of the real module and so of this one.
    """

    _extra: str = ""

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("__") and attribute not in ("__version__", "__all__", "__file__", "__pyx_capi__"):
            raise AttributeError(attribute)
        with held_back():
            try:
                module = importlib.import_module(self.__name__)
            except ModuleNotFoundError as error:
                if not self._extra:
                    raise
                raise ImportError(f"{self.__name__}.{attribute} is needed here, and {error.name} is not installed: "
                                  f"pip install 'tfnb[{self._extra}]'", name=error.name) from None
        value = getattr(module, attribute)
        self.__dict__[attribute] = value           # the next access costs nothing
        return value

    def __dir__(self) -> list[str]:
        return dir(importlib.import_module(self.__name__))

    def __repr__(self) -> str:
        return f"<lazy module {self.__name__!r}{'' if self.__name__ in sys.modules else ', not imported yet'}>"


def lazy_module(name: str, extra: str = "") -> Any:
    """Return a proxy of the module `name` (`"numba"`, `"scipy.linalg"`), imported at the first attribute access.

    extra: the extra of tfnb that installs it, which the error names. Returns Any: type checkers see the use of an
    untyped module. Raises ImportError at the first use if it is absent.
    """
    made = LazyModule(name)
    made.__dict__["_extra"] = extra
    return made


def lazy_names(module: str, places: Mapping[str, str]) -> Callable[[str], Any]:
    """Return a `__getattr__` for `module` that imports each name from the module that defines it at first use.

    `dir(module)` lists them from the start: editors complete them.
    """
    def find(name: str) -> Any:
        place = places.get(name)
        if place is None:
            raise absent(module, name)
        with held_back():
            value = getattr(importlib.import_module(place), name)
        setattr(sys.modules[module], name, value)
        return value
    vars(sys.modules[module])["__dir__"] = lambda: sorted({*vars(sys.modules[module]), *places})
    return find
