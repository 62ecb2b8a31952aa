"""The JupyterLite site: which tutorials it has, and how they begin there. Building it needs the network."""
import json
import re
import tomllib

from packaging.requirements import Requirement

from docs.website import lite

# Of tfnb's dependencies, those that the distribution of Pyodide 314 has (pyodide-lock.json)
PROVIDED = {"google-crc32c", "ml_dtypes", "numpy", "pillow", "protobuf", "scipy", "tqdm"}


def test_what_tfnb_needs_in_a_browser_is_there():
    needed = map(Requirement, tomllib.loads((lite.ROOT / "pyproject.toml").read_text())["project"]["dependencies"])
    browser = {each.name for each in needed if not each.marker or each.marker.evaluate({"sys_platform": "emscripten"})}
    assert browser <= PROVIDED | {*lite.PURE} and "numpy" in browser and "llvmlite" not in browser


def test_tutorials_that_a_browser_can_run():
    there = {path.stem for path in (lite.ROOT / "notebooks").glob("*.ipynb")}
    found = {path.stem for path in lite.tutorials()}
    assert found and lite.LEFT_OUT.keys() <= there and found == there - lite.LEFT_OUT.keys()


def test_tutorials_in_a_browser_start_no_process_and_no_queue_runner():
    absent = re.compile(r"^\s*!|subprocess|%cluster|ipyparallel|start_queue_runners|train\.Server", re.MULTILINE)
    assert [path.stem for path in lite.tutorials() for cell in json.loads(path.read_text("utf-8"))["cells"]
            if cell["cell_type"] == "code" and absent.search("".join(cell["source"]))] == []


def test_a_tutorial_begins_by_installing_tfnb_for_the_kernel_of_the_browser(tmp_path):
    lite.write_contents(tmp_path / "contents")
    path = lite.tutorials()[0]
    before = json.loads(path.read_text("utf-8"))
    after = json.loads((tmp_path / "contents" / path.name).read_text("utf-8"))
    assert [cell["cell_type"] for cell in after["cells"][:2]] == ["markdown", "code"]
    assert "tfnb" in after["cells"][1]["source"].split() and after["cells"][2:] == before["cells"]
    assert after["metadata"]["kernelspec"]["name"] == "python" and "python3" in str(before["metadata"]["kernelspec"])
