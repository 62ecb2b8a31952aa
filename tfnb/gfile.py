"""Files and folders: `tf.gfile`."""
# ruff: noqa: F401, I001
from tfnb.core.absent import explain as _explain
from tfnb.core.files.gfile import (
    Copy, DeleteRecursively, Exists, FastGFile, GFile, Glob, IsDirectory, ListDirectory, MakeDirs, MkDir, Open, Remove,
    Rename, Stat, Walk,
)

_explain(__name__)
