"""Running a program with flags: `tf.app`."""
# ruff: noqa: F401, I001
import tfnb.flags as flags
from tfnb.core.absent import explain as _explain
from tfnb.core.program.flags import run

_explain(__name__)
