"""Files and folders: `tf.io.gfile`, the later names of `tf.gfile`."""
# ruff: noqa: F401, I001
from tfnb.core.absent import explain as _explain
from tfnb.core.files.gfile import GFile
from tfnb.core.files.io_gfile import (
    copy, exists, glob, isdir, listdir, makedirs, mkdir, remove, rename, rmtree, stat, walk,
)

_explain(__name__)
