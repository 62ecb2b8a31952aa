from __future__ import annotations

import nbformat
import pytest

from tfnb.notebook import demo

# nbclient and its kernel: an event loop's socket may outlive the test
pytestmark = pytest.mark.filterwarnings("default")


def notebook(path, *sources):
    cells = [nbformat.v4.new_code_cell(source) for source in sources]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), path)
    return str(path)


@pytest.mark.parametrize("text, found", [
    ("test accuracy: 0.981", [0.981]), ("Test accuracy of the network = 98.1 %", [0.981]),
    ("test accuracy 0.9\nmore\ntest accuracy 1.0", [0.9, 1.0]), ("train accuracy 0.9", []),
])
def test_accuracies_are_read_from_outputs(text, found):
    cell = nbformat.v4.new_code_cell("x", outputs=[nbformat.v4.new_output("stream", text=text)])
    result = nbformat.v4.new_code_cell("x", outputs=[
        nbformat.v4.new_output("display_data", data={"text/plain": text, "image/svg+xml": "<svg/>"})])
    assert demo.accuracies(nbformat.v4.new_notebook(cells=[cell])) == pytest.approx(found)
    assert demo.accuracies(nbformat.v4.new_notebook(cells=[result, nbformat.v4.new_markdown_cell(text)])) == (
        pytest.approx(found))


@pytest.mark.slow
@pytest.mark.parametrize("last, status, says", [
    ("print('test accuracy', 0.98)", 0, ""), ("print('test accuracy', 0.5)", 1, "should be at least 0.97"),
    ("1 / 0", 1, "ZeroDivisionError"),
])
def test_main(tmp_path, capsys, last, status, says):
    path = notebook(tmp_path / "lesson.ipynb", "x = 1", last)
    assert demo.main([path, "--out", str(tmp_path / "build")]) == status
    printed = capsys.readouterr()
    assert says in printed.err
    assert "make lab" in printed.out and str(tmp_path / "build" / "lesson.html") in printed.out
    executed = nbformat.read(tmp_path / "build" / "lesson.ipynb", as_version=4)
    assert executed.cells[0].execution_count == 1
