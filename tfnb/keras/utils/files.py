"""Files of data sets and weights below ~/.keras: `tf.keras.utils.get_file`, HDF5Matrix."""
from __future__ import annotations

import hashlib
import os
import shutil
import tarfile
import urllib.error
import urllib.request
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from tfnb.core.lazy import lazy_module

h5py = lazy_module("h5py")              # an extra


def _digest(path: str, algorithm: str) -> str:
    found = hashlib.new(algorithm)
    with open(path, "rb") as file:
        for chunk in iter(lambda: file.read(1 << 16), b""):
            found.update(chunk)
    return found.hexdigest()


def keras_home() -> str:
    """Return the folder of Keras' files: $KERAS_HOME, by default ~/.keras."""
    return os.environ.get("KERAS_HOME") or os.path.join(os.path.expanduser("~"), ".keras")


def get_file(fname: str, origin: str, untar: bool = False, md5_hash: str | None = None, file_hash: str | None = None,
             cache_subdir: str = "datasets", hash_algorithm: str = "auto", extract: bool = False,
             archive_format: Any = "auto", cache_dir: str | None = None) -> str:
    """Return the path of a file, which is downloaded if it is not there yet.

    fname: its name below cache_dir/cache_subdir, or an absolute path. origin: its URL. untar: whether it is an
    archive, `fname`.tar.gz, to unpack into `fname`. md5_hash, file_hash: the digest that it must have.
    hash_algorithm: "md5", "sha256", or "auto", by the length of the digest. extract: whether to unpack it beside
    itself. archive_format: "tar", "zip", a list of them, None, or "auto" for both. cache_dir: by default ~/.keras.
    Raises OSError where it can't be downloaded, which names the URL and the place to put the file, and ValueError for
    another digest.

    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "a.txt").write_text("abc")
    >>> path = tf.keras.utils.get_file("copy.txt", (folder / "a.txt").as_uri(), cache_dir=str(folder))
    >>> pathlib.Path(path).read_text()
    'abc'
    """
    folder = os.path.join(os.path.expanduser(cache_dir or keras_home()), cache_subdir)
    os.makedirs(folder, exist_ok=True)
    target = os.path.join(folder, fname)
    path = f"{target}.tar.gz" if untar else target
    digest = file_hash or md5_hash
    if hash_algorithm == "auto":
        hash_algorithm = "sha256" if digest is not None and len(digest) == 64 else "md5"
    if untar and os.path.exists(target):
        return target
    if not os.path.exists(path) or (digest is not None and _digest(path, hash_algorithm) != digest):
        _download(origin, path)
        if digest is not None and (got := _digest(path, hash_algorithm)) != digest:
            raise ValueError(f"{path}: expected the {hash_algorithm} digest {digest}, got {got}: the file from "
                             f"{origin} is another one")
    if untar:
        _unpack(path, folder, "tar")
        return target
    if extract:
        _unpack(path, folder, archive_format)
    return path


def _download(origin: str, path: str) -> None:
    part = f"{path}.part"
    try:
        with urllib.request.urlopen(origin) as source, open(part, "wb") as file:
            shutil.copyfileobj(source, file)
        os.replace(part, path)
    except (OSError, urllib.error.URLError) as error:
        Path(part).unlink(missing_ok=True)
        raise OSError(f"{os.path.basename(path)} is not at {path}, and could not be downloaded from {origin}: {error}. "
                      "Download that file where there is a network, and put it there.") from error


def _unpack(path: str, folder: str, archive_format: Any) -> bool:
    formats = {"auto": ["tar", "zip"], None: []}.get(archive_format) if archive_format in ("auto", None) else \
        [archive_format] if isinstance(archive_format, str) else list(archive_format)
    for kind in formats or []:
        if kind == "tar" and tarfile.is_tarfile(path):
            with tarfile.open(path) as archive:
                archive.extractall(folder, filter="data")
            return True
        if kind == "zip" and zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as zipped:
                zipped.extractall(folder)
            return True
    return False


class HDF5Matrix:
    """Rows of an array in an HDF5 file, read when they are asked for. Raises ImportError without h5py.

    datapath: the file. dataset: the name of the array in it. start, end: the range of rows. normalizer: a function of
    what is read.

    >>> import h5py, os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "a.h5")
    >>> with h5py.File(path, "w") as file:
    ...     file["x"] = np.arange(4.0)
    >>> rows = tf.keras.utils.HDF5Matrix(path, "x", start=1)
    >>> len(rows), rows[:2]
    (3, array([1., 2.]))
    """

    def __init__(self, datapath: str, dataset: str, start: int = 0, end: int | None = None,
                 normalizer: Any = None) -> None:
        self.file = h5py.File(datapath, "r")
        self.data = self.file[dataset]
        self.start, self.end, self.normalizer = start, self.data.shape[0] if end is None else end, normalizer

    def __len__(self) -> int:
        return int(self.end - self.start)

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            first, last, step = key.indices(len(self))
            found = self.data[self.start + first:self.start + last:step]
        elif isinstance(key, (int, np.integer)):
            if not -len(self) <= key < len(self):
                raise IndexError(f"row {key} of {len(self)}")
            found = self.data[self.start + key % len(self)]
        else:
            rows = np.asarray(key) + self.start
            if rows.size and not self.start <= rows.min() <= rows.max() < self.end:
                raise IndexError(f"rows {key} of {len(self)}")
            found = np.asarray([self.data[row] for row in rows])
        return found if self.normalizer is None else self.normalizer(found)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape: rows of the range, then the sizes of a row."""
        return len(self), *self.data.shape[1:]

    @property
    def dtype(self) -> Any:
        """The dtype of the array."""
        return self.data.dtype

    @property
    def ndim(self) -> int:
        """The rank."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The count of elements."""
        return int(np.prod(self.shape))
