"""The digits of MNIST from their four files: `tf.examples.tutorials.mnist.input_data`.

A file that is not in the directory is downloaded. The format: http://yann.lecun.com/exdb/mnist (big-endian: a magic
number, the sizes of the axes, then bytes).
"""
from __future__ import annotations

import gzip
import os
import tempfile
import urllib.error
import urllib.request
import zlib
from collections import namedtuple
from typing import Any

import numpy as np

from tfnb.core import dtypes
from tfnb.core.dtypes import as_dtype
from tfnb.examples.tables import load_iris
from tfnb.ops.random.random_ops import get_seed

DEFAULT_SOURCE_URL = "https://storage.googleapis.com/cvdf-datasets/mnist/"
FILES = ("train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz", "t10k-images-idx3-ubyte.gz",
         "t10k-labels-idx1-ubyte.gz")
IMAGES, LABELS = 2051, 2049                 # the magic numbers
TIMEOUT = 60                                # seconds without an answer

Datasets = namedtuple("Datasets", ["train", "validation", "test"])
Datasets.__doc__ = """Training, validation and test set of `read_data_sets`.

    train, validation, test: a DataSet each.

    >>> data = tf.contrib.learn.datasets.base.Datasets(train=[1, 2, 3], validation=[4], test=[5])
>>> len(data.train), data.test
(3, [5])
"""


class DataSet:
    """Images and labels that are drawn in batches.

    images: uint8, (number, rows, columns, 1); with `reshape` they become rows of numbers, with dtype float32 numbers
    from 0 to 1 (dtype uint8 leaves them). seed: of NumPy's global generator, which shuffles; by default the graph's
    seed, if it has one. fake_data: ones, as tests want; one_hot: with such labels.

    Raises TypeError for another dtype.

    >>> images, labels = np.full([4, 28, 28, 1], 255, np.uint8), np.array([3, 1, 4, 1])
    >>> data = tf.contrib.learn.datasets.mnist.DataSet(images, labels)
    >>> batch, digits = data.next_batch(2, shuffle=False)
    >>> batch.shape, batch.max(), digits
    ((2, 784), 1.0, array([3, 1]))
    """

    def __init__(self, images: Any, labels: Any, fake_data: bool = False, one_hot: bool = False,
                 dtype: Any = dtypes.float32, reshape: bool = True, seed: int | None = None) -> None:
        graph_seed, op_seed = get_seed(seed)
        np.random.seed(graph_seed if seed is None else op_seed)
        dtype = as_dtype(dtype).base_dtype
        if dtype not in (dtypes.uint8, dtypes.float32):
            raise TypeError(f"Invalid image dtype {dtype!r}, expected uint8 or float32")
        self.one_hot, self._fake = one_hot, fake_data
        self._num_examples = 10000 if fake_data else len(images)
        if not fake_data:
            if len(images) != len(labels):
                raise ValueError(f"images.shape: {images.shape} labels.shape: {labels.shape}")
            if reshape:
                images = images.reshape(len(images), images.shape[1] * images.shape[2])
            if dtype == dtypes.float32:
                images = np.multiply(images.astype(np.float32), 1.0 / 255.0)
        self._images, self._labels = images, labels
        self._epochs_completed = self._index_in_epoch = 0

    @property
    def images(self) -> Any:
        """All images, in the order of the current epoch."""
        return self._images

    @property
    def labels(self) -> Any:
        """Their labels: numbers of classes, or rows with a 1."""
        return self._labels

    @property
    def num_examples(self) -> int:
        """The number of examples."""
        return self._num_examples

    @property
    def epochs_completed(self) -> int:
        """The number of epochs completed."""
        return self._epochs_completed

    def next_batch(self, batch_size: int, fake_data: bool = False, shuffle: bool = True) -> tuple[Any, Any]:
        """The next `batch_size` images and labels; each epoch begins with shuffling, and a batch may span two."""
        if fake_data:
            label = [1] + [0] * 9 if self.one_hot else 0
            return [[1] * 784 for _ in range(batch_size)], [label for _ in range(batch_size)]
        start, end = self._index_in_epoch, self._index_in_epoch + batch_size
        if shuffle and start == 0 and self._epochs_completed == 0:
            self._shuffle()
        if end <= self._num_examples:
            self._index_in_epoch = end
            return self._images[start:end], self._labels[start:end]
        self._epochs_completed += 1
        images, labels = self._images[start:], self._labels[start:]
        if shuffle:
            self._shuffle()
        self._index_in_epoch = end - self._num_examples
        return (np.concatenate((images, self._images[:self._index_in_epoch])),
                np.concatenate((labels, self._labels[:self._index_in_epoch])))

    def _shuffle(self) -> None:
        order = np.arange(self._num_examples)
        np.random.shuffle(order)
        self._images, self._labels = self._images[order], self._labels[order]


def read_data_sets(train_dir: str, fake_data: bool = False, one_hot: bool = False, dtype: Any = dtypes.float32,
                   reshape: bool = True, validation_size: int = 5000, seed: int | None = None,
                   source_url: str = DEFAULT_SOURCE_URL) -> Datasets:
    """The training, validation and test digits of MNIST, from the four files in the directory `train_dir`.

    Files that are not there are downloaded from `source_url`. one_hot: labels as rows of ten numbers, with a 1 at the
    digit. validation_size: how many of the 60,000 training images are set apart, from the front. fake_data, dtype,
    reshape, seed: as of DataSet.

    Raises ConnectionError if a file is absent and can't be downloaded, ValueError for a file that is damaged or not
    of this format, and for a validation_size that is too large.

    Digits of zeros, in files as MNIST has them:

    >>> import gzip
    >>> def write(name, *header):
    ...     with gzip.open(name, "wb") as file:
    ...         file.write(np.array(header, ">u4").tobytes() + bytes(int(np.prod(header[1:]))))
    >>> for part, count in (("train", 60), ("t10k", 10)):
    ...     write(part + "-images-idx3-ubyte.gz", 2051, count, 28, 28)
    ...     write(part + "-labels-idx1-ubyte.gz", 2049, count)
    >>> mnist = tf.contrib.learn.datasets.mnist.read_data_sets(".", one_hot=True, validation_size=10)
    Extracting ...
    >>> images, labels = mnist.train.next_batch(20)
    >>> images.shape, labels.shape, mnist.train.num_examples, mnist.validation.num_examples
    ((20, 784), (20, 10), 50, 10)
    """
    if fake_data:
        return Datasets(*(DataSet([], [], True, one_hot, dtype, seed=seed) for _ in range(3)))
    parts = []
    for name in FILES:
        path = maybe_download(name, train_dir, (source_url or DEFAULT_SOURCE_URL) + name)
        print("Extracting", path)
        with open(path, "rb") as file:
            parts.append(extract_images(file) if "images" in name else extract_labels(file, one_hot))
    images, labels, test_images, test_labels = parts
    if not 0 <= validation_size <= len(images):
        raise ValueError(f"Validation size should be between 0 and {len(images)}. Received: {validation_size}.")
    sets = [(images[validation_size:], labels[validation_size:]), (images[:validation_size], labels[:validation_size]),
            (test_images, test_labels)]
    return Datasets(*(DataSet(*pair, one_hot=one_hot, dtype=dtype, reshape=reshape, seed=seed) for pair in sets))


def load_mnist(train_dir: str = "MNIST-data") -> Datasets:
    """Read the digits of MNIST with labels as integers: `read_data_sets` with its defaults.

    train_dir: the directory.

    >>> import gzip
    >>> def write(name, *header):
    ...     with gzip.open(name, "wb") as file:
    ...         file.write(np.array(header, ">u4").tobytes() + bytes(int(np.prod(header[1:]))))
    >>> for part, count in (("train", 5020), ("t10k", 10)):
    ...     write(part + "-images-idx3-ubyte.gz", 2051, count, 28, 28)
    ...     write(part + "-labels-idx1-ubyte.gz", 2049, count)
    >>> mnist = tf.contrib.learn.datasets.mnist.load_mnist(".")
    Extracting ...
    >>> mnist.train.images.shape, mnist.train.labels.shape
    ((20, 784), (20,))
    """
    return read_data_sets(train_dir)


def load_dataset(name: str, size: str = "small", test_with_fake_data: bool = False) -> Any:
    """Return the data set "iris" as `load_iris` does, or "mnist" as `load_mnist` (`tf.contrib.learn.datasets`).

    Raises ValueError for another name: TensorFlow has a file for "boston", too, and downloads "dbpedia". size,
    test_with_fake_data: of "dbpedia" alone.

    >>> tf.contrib.learn.datasets.load_dataset("iris").data[0]
    array([5.1, 3.5, 1.4, 0.2])
    """
    if name not in ("iris", "mnist"):
        raise ValueError(f"expected the name of a data set that tfnb has, 'iris' or 'mnist', got {name!r}")
    return load_iris() if name == "iris" else load_mnist()


def maybe_download(filename: str, work_directory: str, source_url: str) -> str:
    """Return the path of a file; download it if it is not in the directory. Raises ConnectionError if it can't be.

    filename: its name in work_directory; source_url: where it is.

    >>> with tf.gfile.Open("numbers.txt", "w") as file:
    ...     file.write("1 2 3")
    >>> path = tf.contrib.learn.datasets.base.maybe_download("numbers.txt", ".", "https://example.com/numbers.txt")
    >>> tf.gfile.Exists(path)
    True
    """
    path = os.path.join(work_directory, filename)
    if os.path.exists(path):
        return path
    os.makedirs(work_directory, exist_ok=True)
    handle, partial = tempfile.mkstemp(dir=work_directory, prefix=filename, suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file, urllib.request.urlopen(source_url, timeout=TIMEOUT) as answer:
            while block := answer.read(1 << 20):
                file.write(block)
        os.replace(partial, path)
    except OSError as error:                # urllib's errors, and time-outs, are of this class
        reason = getattr(error, "reason", error)
        raise ConnectionError(
            f"{filename} is not in {os.path.abspath(work_directory)!r}, and {source_url} could not be downloaded "
            f"({reason}). Without a network, put the four files of MNIST there: {', '.join(FILES)}") from error
    finally:
        if os.path.exists(partial):
            os.remove(partial)
    print("Successfully downloaded", filename, os.path.getsize(path), "bytes.")
    return path


def extract_images(f: Any) -> np.ndarray:
    """Return the images of an open gzip file, uint8, (number, rows, columns, 1). Raises ValueError for another file.

    f: the file.

    >>> import gzip, io
    >>> data = np.array([2051, 1, 2, 2], ">u4").tobytes() + bytes([0, 64, 128, 255])
    >>> tf.contrib.learn.datasets.mnist.extract_images(io.BytesIO(gzip.compress(data)))[0, :, :, 0]
    array([[  0,  64],
           [128, 255]], dtype=uint8)
    """
    sizes, data = _read(f, IMAGES, "image", 3)
    return data.reshape(*sizes, 1)


def extract_labels(f: Any, one_hot: bool = False, num_classes: int = 10) -> np.ndarray:
    """Return the labels of an open gzip file, uint8; one_hot: rows of float64. Raises ValueError for another file.

    f: the file; num_classes: the length of such a row.

    >>> import gzip, io
    >>> data = np.array([2049, 3], ">u4").tobytes() + bytes([7, 2, 1])
    >>> tf.contrib.learn.datasets.mnist.extract_labels(io.BytesIO(gzip.compress(data)))
    array([7, 2, 1], dtype=uint8)
    """
    _, labels = _read(f, LABELS, "label", 1)
    return dense_to_one_hot(labels, num_classes) if one_hot else labels


def dense_to_one_hot(labels_dense: np.ndarray, num_classes: int) -> np.ndarray:
    """Rows of `num_classes` numbers with a 1 at the label.

    labels_dense: integers.

    >>> tf.contrib.learn.datasets.mnist.dense_to_one_hot(np.array([2, 0]), num_classes=3)
    array([[0., 0., 1.],
           [1., 0., 0.]])
    """
    made = np.zeros((len(labels_dense), num_classes))
    made[np.arange(len(labels_dense)), labels_dense.ravel()] = 1
    return made


def _read(f: Any, magic: int, kind: str, axes: int) -> tuple[list[int], np.ndarray]:
    """The sizes and the bytes of a file of this magic number."""
    name = getattr(f, "name", f)
    try:
        with gzip.GzipFile(fileobj=f) as stream:
            data = stream.read()
    except (OSError, EOFError, zlib.error) as error:
        raise ValueError(f"{name} is no whole gzip file: {error}. Remove it, to have it downloaded again") from error
    header = np.frombuffer(data[:4 * (axes + 1)], ">u4")
    if len(header) <= axes or header[0] != magic:
        raise ValueError(f"Invalid magic number {header[0] if len(header) else None} in MNIST {kind} file: {name}")
    sizes = [int(n) for n in header[1:]]
    numbers = np.frombuffer(data, np.uint8, offset=4 * (axes + 1))
    if numbers.size != np.prod(sizes, dtype=np.int64):
        raise ValueError(f"MNIST {kind} file {name} has {numbers.size} bytes of data where its header says {sizes}")
    return sizes, numbers
