"""Views of variables and checkpoints with values that no example has: empty, huge, constant, not finite."""
from __future__ import annotations

import json
import xml.etree.ElementTree as ET

import numpy as np
import pytest

import tfnb as tf
from tfnb import notebook
from tfnb.notebook.state.tables_view import SheetView

VALUES = {
    "empty": np.zeros((3, 0), np.float32), "empty4": np.zeros((3, 3, 0, 5), np.float32), "none": np.zeros(0, "f"),
    "huge": np.array([[1e300, -1.7e308], [1.7e308, 0]]), "constant": np.full((300, 2), 1e300),
    "nearly": np.array([1, 1 + 2 ** -52]), "least": np.array([5e-324, 0]), "float32": np.full(7, 3e38, np.float32),
    "nan": np.full((2, 2), np.nan, np.float32), "bad": np.array([np.inf, -np.inf, np.nan, 1]),
    "complex": np.array([1e300 + 1e300j, complex(np.nan, np.inf)]), "ends": np.array([2 ** 63 - 1, -2 ** 63]),
    "words": np.array(["a", "b"]), "truths": np.array([[True, False]]), "one": np.float32(1), "word": np.array("é")}


def look_at(view: SheetView) -> None:
    json.dumps(view.widget_state(), allow_nan=False)
    forms = view.forms()
    if view.panels:
        ET.fromstring(forms.get("image/svg+xml") or forms["text/html"][forms["text/html"].index("<svg"):])


@pytest.mark.parametrize("name", VALUES)
def test_every_value_has_its_views(name, tmp_path):
    value = VALUES[name]
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.Variable(value, name=name)
        session.run(v.initializer)
        view = notebook.variables(how="mean")
        for change in (value[::-1] if value.ndim else value, np.zeros_like(value)):
            notebook.save_checkpoint(tmp_path / "model", session=session, step=1)
            v.load(change, session)
            look_at(view.refresh().heat() if value.dtype.kind != "U" else view.refresh())
            compared = notebook.checkpoint_diff(tmp_path / "model-1", session=session)
            compared.hear({"type": "pick", "table": "both", "row": name})
            look_at(compared)
            look_at(notebook.checkpoint(tmp_path / "model-1"))
            assert value.dtype.kind == "U" or compared.note == "" and len(compared.panels) == 3 - (value.dtype == bool)
        if value.dtype.kind != "U":
            look_at(notebook.slots(v))
