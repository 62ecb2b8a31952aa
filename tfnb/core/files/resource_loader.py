"""Data files relative to the calling module: `tf.resource_loader`."""
from __future__ import annotations

import os
import sys

from tfnb.core.files.gfile import read_file_to_string


def _folder_of_caller() -> str:
    """Return the directory of the file that called a function of this module, else the current one."""
    frame = sys._getframe(2)
    return os.path.dirname(os.path.abspath(frame.f_code.co_filename)) or os.getcwd()


def get_data_files_path() -> str:
    """Return the directory of the calling file.

    >>> import os
    >>> tf.resource_loader.get_data_files_path() == os.getcwd()
    True
    """
    return _folder_of_caller()


def get_root_dir_with_all_resources() -> str:
    """Return the directory of the calling file: programs here have no other root of their data files.

    >>> import os
    >>> tf.resource_loader.get_root_dir_with_all_resources() == os.getcwd()
    True
    """
    return _folder_of_caller()


def get_path_to_datafile(path: str) -> str:
    """Return `path` relative to the directory of the calling file.

    >>> import os
    >>> tf.resource_loader.get_path_to_datafile("a.txt") == os.path.join(os.getcwd(), "a.txt")
    True
    """
    return os.path.join(_folder_of_caller(), path)


def load_resource(path: str) -> bytes:
    """Return the bytes of a file in the directory of the calling file. Raises NotFoundError.

    path: relative to it.

    >>> with tf.gfile.Open("a.txt", "w") as file:
    ...     file.write("text")
    >>> tf.resource_loader.load_resource("a.txt")
    b'text'
    """
    data: bytes = read_file_to_string(os.path.join(_folder_of_caller(), path), binary_mode=True)
    return data


def readahead_file_path(path: str, readahead: str = "128M") -> str:
    """Return `path`: no file system here reads ahead on request.

    readahead: accepted.

    >>> tf.resource_loader.readahead_file_path("a.txt")
    'a.txt'
    """
    return path
