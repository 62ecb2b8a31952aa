"""Tables of numbers with a class each, from CSV files: `tf.contrib.learn.datasets.base`.

iris.csv: R. A. Fisher, The use of multiple measurements in taxonomic problems, 1936; in the public domain.
"""
from __future__ import annotations

import csv
from collections import namedtuple
from pathlib import Path
from typing import Any

import numpy as np

from tfnb.core.files.gfile import GFile

Dataset = namedtuple("Dataset", ["data", "target"])
Dataset.__doc__ = """Rows of features, an array, and the target of each.

    data, target: arrays of one length.

    >>> tf.contrib.learn.datasets.base.Dataset(data=[[1.0]], target=[2]).target
    [2]
"""


def load_csv_with_header(filename: Any, target_dtype: Any, features_dtype: Any, target_column: int = -1) -> Dataset:
    """Return the Dataset of a CSV file whose first line begins with the numbers of rows and features.

    filename: its path; target_dtype, features_dtype: NumPy's; target_column: index of the target's.

    >>> with tf.gfile.Open("table.csv", "w") as file:
    ...     file.write("2,3,no,yes\\n1.0,2.0,3.0,0\\n4.0,5.0,6.0,1\\n")
    >>> table = tf.contrib.learn.datasets.base.load_csv_with_header("table.csv", np.int32, np.float32)
    >>> table.data.shape, table.target
    ((2, 3), array([0, 1], dtype=int32))
    """
    with GFile(filename) as file:
        rows = list(csv.reader(file.read().splitlines()))
    return _table(rows[1:1 + int(rows[0][0])], target_dtype, features_dtype, target_column)


def load_csv_without_header(filename: Any, target_dtype: Any, features_dtype: Any, target_column: int = -1) -> Dataset:
    """Return the Dataset of a CSV file, as `load_csv_with_header` does of one with a header.

    filename, target_dtype, features_dtype, target_column: as there.

    >>> with tf.gfile.Open("table.csv", "w") as file:
    ...     file.write("1.0,2.0,3.0,0\\n4.0,5.0,6.0,1\\n")
    >>> tf.contrib.learn.datasets.base.load_csv_without_header("table.csv", np.int32, np.float32).target
    array([0, 1], dtype=int32)
    """
    with GFile(filename) as file:
        return _table(list(csv.reader(file.read().splitlines())), target_dtype, features_dtype, target_column)


def _table(rows: list[list[str]], target_dtype: Any, features_dtype: Any, column: int) -> Dataset:
    rows = [row for row in rows if row]
    targets = [row.pop(column) for row in rows]
    return Dataset(np.array(rows, features_dtype), np.array(targets, target_dtype))


def load_iris(data_path: Any = None) -> Dataset:
    """Return Fisher's measurements of 150 irises (sepal and petal, length and width in cm), of three species.

    data_path: a CSV file to read instead.

    >>> iris = tf.contrib.learn.datasets.load_iris()
    >>> iris.data.shape, iris.target[:3], iris.target[-1]
    ((150, 4), array([0, 0, 0]), 2)
    """
    return load_csv_with_header(data_path or str(Path(__file__).with_name("iris.csv")), np.int64, np.float64)
