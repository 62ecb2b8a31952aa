"""Running a program with flags: `tf.app`."""
# ruff: noqa: F401, I001
from tfnb import flags
from tfnb.core.program.flags import run
