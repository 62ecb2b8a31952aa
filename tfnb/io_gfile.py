"""Files and folders: `tf.io.gfile`, the later names of `tf.gfile`."""
# ruff: noqa: F401, I001
from tfnb.core.files import GFile
from tfnb.core.io_gfile import (
    copy, exists, glob, isdir, listdir, makedirs, mkdir, remove, rename, rmtree, stat, walk,
)
