"""Files of tf.keras.datasets: arrays and lists in them are read, what might run code is not."""
from __future__ import annotations

import os
import pickle

import numpy as np
import pytest

import tfnb as tf
from tfnb.keras.datasets.pickles import unpickled

VALUE = {b"data": np.arange(6, dtype=np.uint8), b"labels": [3, 1], "mean": np.float64(2),
         "rows": np.array([[1], [2]], object), "order": np.asfortranarray(np.eye(2)), "name": "x",
         "size": (1, 2.5, None, True)}


class Evil:
    def __reduce__(self):
        return os.mkdir, ("made",)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_arrays_and_lists_are_read(protocol, tmp_path):
    file = tmp_path / "values"
    file.write_bytes(pickle.dumps(VALUE, protocol))
    with file.open("rb") as opened:
        found = unpickled(opened)
    assert str(found) == str(VALUE)


def test_what_python_2_wrote_is_read(tmp_path):
    # {'data': numpy.array([7], 'uint8')} by protocol 2, whose strings are bytes
    text = (b"\x80\x02}U\x04datacnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85U\x01b\x87R(K\x01K\x01"
            b"\x85cnumpy\ndtype\nU\x02u1K\x00K\x01\x87R(K\x03U\x01|NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb\x89U\x01\x07tbs.")
    (tmp_path / "old").write_bytes(text)
    with (tmp_path / "old").open("rb") as opened:
        assert unpickled(opened, "bytes") == {b"data": np.array([7], np.uint8)}


def test_what_might_run_code_is_not(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = np.empty(1, object)
    rows[0] = Evil()
    np.savez(tmp_path / "imdb.npz", x_train=rows, y_train=[1], x_test=rows, y_test=[1])
    with pytest.raises(pickle.UnpicklingError, match="expected arrays, .* got (posix|nt).mkdir"):
        tf.keras.datasets.imdb.load_data(str(tmp_path / "imdb.npz"))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    folder = tmp_path / ".keras" / "datasets" / "cifar-10-batches-py"
    folder.mkdir(parents=True)
    (folder / "data_batch_1").write_bytes(pickle.dumps({b"data": Evil()}))
    with pytest.raises(pickle.UnpicklingError, match="mkdir"):
        tf.keras.datasets.cifar10.load_data()
    assert not (tmp_path / "made").exists()
