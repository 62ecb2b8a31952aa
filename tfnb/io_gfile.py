"""Files and folders: `tf.io.gfile`, the later names of `tf.gfile`."""
# ruff: noqa: F401, I001
from tfnb.core.files import GFile
from tfnb.core.files import (
    Copy as copy, DeleteRecursively as rmtree, Exists as exists, Glob as glob, IsDirectory as isdir,
    ListDirectory as listdir, MakeDirs as makedirs, MkDir as mkdir, Remove as remove, Rename as rename, Stat as stat,
    Walk as walk,
)
