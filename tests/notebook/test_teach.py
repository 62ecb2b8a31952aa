"""Tutorials for a class: released without solutions, as nbgrader's sources, and graded."""
from __future__ import annotations

import csv
import json
import os
import re
import subprocess
from pathlib import Path

import nbformat
import pytest

from tests.notebook.test_tutorials import NOTEBOOKS, kernel_environment
from tfnb.notebook import check, teach

v4 = nbformat.v4
TABLE = (Path(__file__).parents[2] / "docs" / "teaching.md").read_text(encoding="utf-8")
SETUP = "import tfnb as tf\nfrom tfnb.notebook import check"


def tutorial():
    """Three exercises; the middle one has a function, letters beyond ASCII, and text below its solution."""
    def exercise(name, source):
        return v4.new_code_cell(source, id=name, metadata={"tags": ["exercise"]},
                                outputs=[v4.new_output("stream", text="seen")], execution_count=1)

    def solution(text, after=""):
        details = f"<details><summary>Solution</summary>\n\n```python\n{text}\n```\nA word.\n</details>"
        return v4.new_markdown_cell(f"{details}{after}")

    return v4.new_notebook(cells=[
        v4.new_code_cell(SETUP, id="c0"),
        exercise("c1", "# Exercise 1.\nten = ...\n\ncheck(ten, 10, 'Twice 5.')"), solution("ten = 10"),
        exercise("c2", "# Double it.\ndouble = ...\n\ncheck(double, lambda f: f(3) == 6 and '×',\n"
                       "      'A × B')                # the end"),
        solution("def double(x):\n    return 2 * x", "\n\n## More\n\nText."),
        exercise("c3", "given = 4\nroot = ...\n\ncheck(root, 2)\n# check(root, 3)"), solution("root = 2"),
        v4.new_markdown_cell("The end.")])


def test_released_notebooks_have_no_solutions():
    student = teach.release(tutorial())
    nbformat.validate(student)
    text = nbformat.writes(student)
    for word in ("Solution", "return 2 * x", "SOLUTION", "ten = 10", "root = 2", "seen"):
        assert word not in text
    assert [cell.source for cell in student.cells if cell.cell_type == "markdown"] == ["## More\n\nText.", "The end."]
    assert [cell.source for cell in student.cells if "nbgrader" in cell.metadata] == [
        "# Exercise 1.\nten = ...", "check(ten, 10, 'Twice 5.').points(1)",
        "# Double it.\ndouble = ...",
        "check(double, lambda f: f(3) == 6 and '×',\n      'A × B').points(1)                # the end",
        "given = 4\nroot = ...", "check(root, 2).points(1)\n# check(root, 3)"]


def test_metadata_are_those_of_nbgrader():
    cells = [cell.metadata["nbgrader"] for cell in teach.release(tutorial()).cells if "nbgrader" in cell.metadata]
    assert cells[:2] == [
        {"schema_version": 3, "grade_id": "exercise-1", "grade": False, "solution": True, "locked": False,
         "task": False},
        {"schema_version": 3, "grade_id": "exercise-1-test", "grade": True, "solution": False, "locked": True,
         "task": False, "points": 1}]
    assert len({each["grade_id"] for each in cells}) == 6


def test_sources_keep_solutions_between_marks():
    given = tutorial()
    before = nbformat.writes(given)
    source = teach.release(given, solutions=True)
    assert nbformat.writes(given) == before
    assert source.cells[3].source == ("# Double it.\ndouble = ...\n### BEGIN SOLUTION\ndef double(x):\n"
                                      "    return 2 * x\n### END SOLUTION")
    assert teach.solved(given).cells[1].source.startswith("# Exercise 1.\nten = 10\n")


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_each_tutorial_can_be_released(path):
    notebook = nbformat.read(path, as_version=4)
    text = nbformat.writes(teach.release(notebook))
    assert "<summary>Solution" not in text and len(teach.exercises(notebook)) >= 2
    for exercise in teach.exercises(notebook):
        assert json.dumps(exercise.solution)[1:-1] not in text or len(exercise.solution) < 20


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_exercises_are_named_at_the_top_and_in_the_table(path):
    notebook = nbformat.read(path, as_version=4)
    named = re.search(r"\*\*Exercises\.\*\* (.*?)\n\((\d+) minutes", notebook.cells[0].source, re.DOTALL)
    numbers = [re.search(r"^# Exercise (\d+)\.", each.task, re.MULTILINE)[1] for each in teach.exercises(notebook)]
    assert re.findall(r"(?:^| )(\d): ", named[1]) == numbers == [str(n + 1) for n in range(len(numbers))]
    row = next(line for line in TABLE.splitlines() if path.name in line)
    assert row.startswith(f"| [{int(path.name[:2])}]") and row.endswith(f"| {named[2]} | {named[1]} |")


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_lessons_lead_to_their_neighbours(path):
    last = nbformat.read(path, as_version=4).cells[-1].source
    place = NOTEBOOKS.index(path)
    for neighbour in NOTEBOOKS[max(place - 1, 0):place] + NOTEBOOKS[place + 1:place + 2]:
        assert f"]({neighbour.name})" in last


@pytest.mark.parametrize("change, message", [
    (lambda cells: cells.pop(2), "a solution below"),
    (lambda cells: cells[1].update(source="ten = 10\ncheck(ten, 10)"), "answer = ..."),
    (lambda cells: cells[1].update(source="a = ...\nb = ...\ncheck(a, 10)"), "got 2"),
    (lambda cells: cells[1].update(source="ten = ...\nprint(check(ten, 10))"), "one call of `check`")])
def test_exercises_made_otherwise_are_refused(change, message):
    notebook = tutorial()
    change(notebook.cells)
    with pytest.raises(teach.ExerciseError, match=message):
        teach.release(notebook)


def test_points_are_numbers_and_show_what_was_said():
    right, wrong, none = check(1, 1).points(2), check(2, 1, "One less.").points(), check(..., 1).points()
    assert [repr(each) for each in (right, wrong, none)] == ["2.0", "0.0", "0.0"]
    assert "One less." in wrong._repr_html_() and "Your turn" in none._repr_html_()


def test_files_are_written_and_never_over_the_tutorial(tmp_path, capsys):
    path = tmp_path / "t.ipynb"
    nbformat.write(tutorial(), path)
    assert teach.main(["release", str(path), "-o", str(tmp_path / "a" / "student")]) == 0
    assert teach.main(["source", str(path), "-o", str(tmp_path / "source")]) == 0
    assert "3 exercises" in capsys.readouterr().out
    assert "SOLUTION" not in (tmp_path / "a" / "student" / "t.ipynb").read_text(encoding="utf-8")
    assert "BEGIN SOLUTION" in (tmp_path / "source" / "t.ipynb").read_text(encoding="utf-8")
    assert teach.main(["release", str(path), "-o", str(tmp_path)]) == 2
    assert teach.main(["release", str(tmp_path / "none.ipynb"), "-o", str(tmp_path)]) == 2
    assert "Solution" in path.read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.filterwarnings("default")          # nbclient's event loop is not ours
def test_grading_runs_answers_and_nothing_else(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(os, "environ", kernel_environment())
    path, handed_in = tmp_path / "t.ipynb", [tmp_path / f"{name}.ipynb" for name in ("good", "cheat", "plain", "lost")]
    nbformat.write(tutorial(), path)
    good = teach.release(tutorial(), answers={
        "exercise-1": "ten = 10", "exercise-2": "double = lambda x: x + x\nopen('mine', 'w').close()",
        "exercise-3": "root = 1 / 0"})
    cheat = teach.release(tutorial(), answers={"exercise-3": "given = 4\nroot = 2"})
    cheat.cells[2].source = "1.0"               # the locked test: not run
    plain = tutorial()                          # worked on as it is in the course
    plain.cells[1].source = plain.cells[1].source.replace("...", "10")
    lost = teach.release(tutorial())
    del lost.cells[1]
    for notebook, target in zip((good, cheat, plain, lost), handed_in, strict=True):
        nbformat.write(notebook, target)
    table = tmp_path / "grades.csv"
    assert teach.main(["grade", str(path), *map(str, handed_in), "--csv", str(table)]) == 0
    with table.open(newline="", encoding="utf-8") as file:
        rows = [row[1:] for row in csv.reader(file)]
    assert rows == [["exercise-1", "exercise-2", "exercise-3", "sum", "note"], ["1", "1", "0", "2", ""],
                    ["0", "0", "1", "1", ""], ["1", "0", "0", "1", ""],
                    ["0", "0", "0", "0", "no answer cell for exercise-1"]]
    assert "good.ipynb" in capsys.readouterr().out and not (tmp_path / "mine").exists()


NBGRADER = """
import sys
from nbgrader.nbgraderformat import read
from nbgrader.preprocessors import CheckCellMetadata, ClearSolutions, ComputeChecksums, LockCells
from nbgrader.utils import determine_grade
source, done = (read(path, as_version=4) for path in sys.argv[1:])
for step in (CheckCellMetadata(), ClearSolutions(), LockCells(), ComputeChecksums()):
    source, _ = step.preprocess(source, {})
text = "".join(cell.source for cell in source.cells)
assert "SOLUTION" not in text and "return 2 * x" not in text and "YOUR CODE HERE" in text
print([determine_grade(cell) for cell in done.cells if cell.metadata.get("nbgrader", {}).get("grade")])
"""


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
def test_nbgrader_takes_sources_and_grades(tmp_path, monkeypatch):
    python = os.environ.get("TFNB_NBGRADER_PYTHON")
    if not python or not Path(python).exists():
        pytest.skip("TFNB_NBGRADER_PYTHON names no Python with nbgrader")
    monkeypatch.setattr(os, "environ", kernel_environment())
    done = teach.release(tutorial(), answers={"exercise-1": "ten = 10", "exercise-2": "double = 7"})
    teach.demo.execute(done, tmp_path, 60, allow_errors=True)
    paths = [tmp_path / "source.ipynb", tmp_path / "done.ipynb"]
    nbformat.write(teach.release(tutorial(), solutions=True), paths[0])
    nbformat.write(done, paths[1])
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    result = subprocess.run([python, "-c", NBGRADER, *map(str, paths)], capture_output=True, text=True, env=environment)
    assert result.stdout.strip() == "[(1.0, 1.0), (0.0, 1.0), (0.0, 1.0)]", result.stderr
