"""`tf.contrib.slim.python`: the modules inside of slim."""
import sys as _sys

from tfnb.tools.as_tensorflow import find_inside as _find_inside

_find_inside(_sys.modules[__name__], "contrib.slim.python")        # and below
