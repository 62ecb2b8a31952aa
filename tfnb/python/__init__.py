"""Modules at the paths that programs import from inside of TensorFlow: `from tfnb.python.framework import ops`."""
import sys as _sys

from tfnb.tools.as_tensorflow import find_inside as _find_inside

_find_inside(_sys.modules[__name__], "python")
