"""Names that programs of TensorFlow 1's time had of Python, NumPy and SciPy, and that later releases took away.

`tfnb run` puts them back in its own process, where nothing else has the name.
"""
from __future__ import annotations

import collections.abc
import importlib
import inspect
import math
import string
import sys
import time
import warnings
from collections import namedtuple
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from tfnb.core.lazy import lazy_module
from tfnb.core.version import VERSION

Image = lazy_module("PIL.Image")
ArgSpec = namedtuple("ArgSpec", ["args", "varargs", "keywords", "defaults"])


def getargspec(function: Callable[..., Any]) -> ArgSpec:
    """`inspect.getargspec`, which left with Python 3.11: (args, varargs, keywords, defaults) of a function.

    >>> getargspec(lambda a, b=3, *rest: None)
    ArgSpec(args=['a', 'b'], varargs='rest', keywords=None, defaults=(3,))
    """
    return ArgSpec(*inspect.getfullargspec(function)[:4])


def imread(name: Any, flatten: bool = False, mode: str | None = None) -> np.ndarray:
    """`scipy.misc.imread`: a file's image, (height, width, channels) of uint8; flatten: gray, float32."""
    with Image.open(name) as image:
        return np.array(image.convert("F" if flatten else mode or ("RGB" if image.mode == "P" else image.mode)))


def toimage(arr: Any, high: int = 255, low: int = 0, cmin: float | None = None, cmax: float | None = None,
            mode: str | None = None, channel_axis: int | None = None) -> Any:
    """`scipy.misc.toimage`: an array as an image of Pillow; other values than uint8 are scaled to 0..255."""
    data = np.asarray(arr)
    if channel_axis is not None or (data.ndim == 3 and data.shape[2] not in (3, 4) and data.shape[0] in (3, 4)):
        data = np.moveaxis(data, channel_axis if channel_axis is not None else 0, -1)
    if data.dtype != np.uint8 or cmin is not None or cmax is not None:
        least = float(data.min()) if cmin is None else cmin
        span = (float(data.max()) if cmax is None else cmax) - least or 1.0
        data = np.clip((data - least) * ((high - low) / span) + low + 0.5, low, high).astype(np.uint8)
    return Image.fromarray(data) if mode is None else Image.fromarray(data).convert(mode)


def imsave(name: Any, arr: Any, format: str | None = None) -> None:
    """`scipy.misc.imsave`: write an array as an image file."""
    toimage(arr).save(name, format)


def imresize(arr: Any, size: Any, interp: str = "bilinear", mode: str | None = None) -> np.ndarray:
    """`scipy.misc.imresize`: to (height, width), to a fraction (float) or to a percentage (int) of the size; uint8."""
    image = toimage(arr, mode=mode)
    if isinstance(size, int | np.integer):
        size = float(size) / 100
    if isinstance(size, float | np.floating):
        wanted = tuple(int(side * size) for side in image.size)
    else:
        wanted = (int(size[1]), int(size[0]))
    filters = {"nearest": 0, "lanczos": 1, "bilinear": 2, "bicubic": 3, "cubic": 3}
    return np.array(image.resize(wanted, filters[interp]))


def imrotate(arr: Any, angle: float, interp: str = "bilinear") -> np.ndarray:
    """`scipy.misc.imrotate`: turned counter-clockwise by degrees, of the same size; uint8."""
    return np.array(toimage(arr).rotate(angle, resample=2 if interp == "bilinear" else 0))


_ABSTRACT = ("Callable Container Hashable ItemsView Iterable Iterator KeysView Mapping MappingView MutableMapping "
             "MutableSequence MutableSet Sequence Set Sized ValuesView").split()
GONE: dict[str, dict[str, Any]] = {
    "numpy": {"int": int, "float": float, "complex": complex, "object": object, "str": str, "float_": np.float64,
              "complex_": np.complex128, "unicode_": np.str_, "string_": np.bytes_, "Inf": np.inf, "infty": np.inf,
              "Infinity": np.inf, "PINF": np.inf, "NINF": -np.inf, "NaN": np.nan, "NAN": np.nan, "product": np.prod,
              "cumproduct": np.cumprod, "alltrue": np.all, "sometrue": np.any, "round_": np.round, "long": int,
              "in1d": np.isin, "row_stack": np.vstack, "asscalar": lambda a: a.item()},
    "time": {"clock": time.perf_counter},
    "collections": {name: getattr(collections.abc, name) for name in _ABSTRACT},
    "inspect": {"getargspec": getargspec},
    "fractions": {"gcd": math.gcd},
    "string": {"letters": string.ascii_letters, "lowercase": string.ascii_lowercase,
               "uppercase": string.ascii_uppercase, "maketrans": str.maketrans,
               "join": lambda words, sep=" ": sep.join(words), "replace": str.replace, "split": str.split,
               "strip": str.strip, "lower": str.lower, "upper": str.upper},
    "scipy.misc": {"imread": imread, "imsave": imsave, "imresize": imresize, "imrotate": imrotate, "toimage": toimage,
                   "fromimage": np.array},
}


def given(module: str, name: str) -> bool:
    """Return whether `tfnb run` gives the name to a program: because the module has it no more, not instead."""
    return name in GONE.get(module, {})


def put_back() -> None:
    """Put back, in this process, the names that its Python, NumPy and SciPy do not have."""
    for module, names in GONE.items():
        try:
            there = importlib.import_module(module)
        except ImportError:                        # scipy.misc, which is gone as a whole
            there = ModuleType(module, f"Names of {module} for programs of TensorFlow {VERSION}'s time.")
            sys.modules[module] = there
            package, _, last = module.rpartition(".")
            setattr(importlib.import_module(package), last, there)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)          # NumPy's, at the question for np.str
            for name, value in names.items():
                if not hasattr(there, name):
                    setattr(there, name, value)
