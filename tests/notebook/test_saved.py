"""What stays in a notebook that was run without a browser and without cell ids, by nbclient as nbconvert does."""
import os
import xml.etree.ElementTree as ET
from pathlib import Path

import nbclient
import nbformat
import pytest
from nbconvert.exporters import HTMLExporter, MarkdownExporter

ROOT = Path(__file__).resolve().parents[2]
CELLS = [
    "import tfnb as tf\n%load_ext tfnb\nimport sys; sys.path.insert(0, '')",
    "x = tf.placeholder(tf.float32, [], name='x')\ntf.summary.scalar('cost', x)\nmerged = tf.summary.merge_all()",
    "%live cost",
    "sess = tf.Session()\nfor i in range(30): sess.run(merged, {x: 1.0 / (i + 1)})",
    "%graph",
    """w = tf.Variable([[1.0, -2.0], [3.0, 4.0]], name="w")
loss = tf.reduce_sum(w * w)
train = tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss)
sess.run(tf.global_variables_initializer())
tf.notebook.save_checkpoint("model", session=sess, step=1);""",
]
# magic -> what its output must have beside text
MAGICS = {
    "%vars": "text/html", "%slots w --loss loss": "image/svg+xml", "%nan loss": "text/html", "%step loss": "text/html",
    "%profile train": "image/svg+xml", "%graph loss --values": "image/svg+xml", "%collections": "text/html",
    "%why train": "text/html", "%queues": "text/html", "%stale": "text/html", "%ckpt .": "text/html",
    "%ckpt show model-1": "text/html", "%ckpt diff model-1": "text/html",
    "%%train --steps 20 --no-live\n_, now = sess.run([train, loss])": "text/html",
}
DRAWN = {"svg", "g", "path", "rect", "circle", "ellipse", "line", "polyline", "polygon", "text", "tspan", "title",
         "desc", "defs", "marker", "style", "clipPath", "image"}


@pytest.fixture(scope="module")
def notebook(tmp_path_factory):
    folder = tmp_path_factory.mktemp("saved")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep))
        notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code) for code in [*CELLS, *MAGICS]])
        nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3",
                                resources={"metadata": {"path": folder}}).execute()
    nbformat.validate(notebook)
    return notebook


def shown(cell):
    return [output["data"] for output in cell.outputs if "data" in output]


@pytest.mark.slow
def test_a_saved_notebook_shows_plots_and_badges(notebook):
    outputs = [shown(cell) for cell in notebook.cells]
    assert outputs[0] == [] and "up to date" in outputs[1][0]["text/html"] and outputs[3] == []
    assert len(outputs[2]) == 1, "the board is shown once"
    plot = outputs[2][0]
    assert "<path" in plot["image/svg+xml"] and "0.03333" in plot["text/plain"], "brought up to date by a later cell"
    assert "image/svg+xml" in outputs[4][0]


@pytest.mark.slow
def test_each_magic_leaves_something_that_shows_without_a_kernel(notebook):
    for cell in notebook.cells[len(CELLS):]:
        last = shown(cell)[-1]
        assert MAGICS[cell.source] in last and last["text/plain"].strip(), cell.source
        assert "<" not in last["text/plain"].splitlines()[0], cell.source


@pytest.mark.slow
def test_no_widget_is_left_in_a_page_that_has_no_kernel(notebook):
    """With the state of widgets in it, a page asks a CDN for the code that shows them, and is blank without one."""
    assert "widgets" not in notebook.metadata
    assert not [kind for cell in notebook.cells for data in shown(cell) for kind in data if "widget" in kind]
    pictures = sum("image/svg+xml" in data for cell in notebook.cells for data in shown(cell))
    page, _ = HTMLExporter().from_notebook_node(notebook)
    scripts = page.count("tfnbPage.show(")              # none where the front end was not built
    assert (scripts or page.count("data:image/svg+xml")) + page.count("<svg ") >= pictures > 4
    assert not scripts or "No description has been provided for this image" not in page, "an image without its text"
    text, files = MarkdownExporter().from_notebook_node(notebook)
    assert sum(name.endswith(".svg") for name in files["outputs"]) == pictures and "up to date" in text


@pytest.mark.slow
def test_drawings_pass_what_cleans_them(notebook):
    """GitHub and others drop SVG with scripts, foreign content or addresses in it."""
    for cell in notebook.cells:
        for data in shown(cell):
            for element in ET.fromstring(data["image/svg+xml"]).iter() if "image/svg+xml" in data else ():
                assert element.tag.removeprefix("{http://www.w3.org/2000/svg}") in DRAWN, element.tag
                for name, value in element.attrib.items():
                    assert not name.startswith("on"), name
                    assert "href" not in name or value.startswith(("data:image/png", "#")), value
                    assert "url(" not in value or value.startswith("url(#"), value
            assert "<script" not in data.get("text/html", "")
