"""What stays in a notebook that was run without a browser and without cell ids, by nbclient as nbconvert does."""
import os
from pathlib import Path

import nbclient
import nbformat
import pytest

ROOT = Path(__file__).resolve().parents[2]
CELLS = [
    "import tfnb as tf\n%load_ext tfnb\nimport sys; sys.path.insert(0, '')",
    "x = tf.placeholder(tf.float32, [], name='x')\ntf.summary.scalar('cost', x)\nmerged = tf.summary.merge_all()",
    "%live cost",
    "sess = tf.Session()\nfor i in range(30): sess.run(merged, {x: 1.0 / (i + 1)})",
    "%graph",
]


@pytest.mark.slow
def test_a_saved_notebook_shows_plots_and_badges(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep))
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code) for code in CELLS])
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": tmp_path}},
                            store_widget_state=False).execute()
    nbformat.validate(notebook)
    outputs = [[output["data"] for output in cell.outputs if "data" in output] for cell in notebook.cells]
    assert outputs[0] == [] and "fresh" in outputs[1][0]["text/html"] and outputs[3] == []
    assert len(outputs[2]) == 1, "the board is shown once"
    plot = outputs[2][0]
    assert "<path" in plot["image/svg+xml"] and "0.03333" in plot["text/plain"], "brought up to date by a later cell"
    assert "image/svg+xml" in outputs[4][0]
