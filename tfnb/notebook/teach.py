"""`python -m tfnb.notebook.teach`: tutorials for a class: without solutions, as nbgrader's sources, graded.

A tutorial has each exercise in a cell tagged "exercise": comments, `answer = ...`, and tests that end in a call of
`check`. Its solution is folded away in the Markdown cell below. Here the cell becomes two, with nbgrader's metadata
(schema 3): the answer, which the student writes, and the test, which is locked and worth a point.
"""
from __future__ import annotations

import argparse
import ast
import copy
import csv
import re
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tfnb.core.lazy import lazy_module
from tfnb.notebook import demo

nbclient = lazy_module("nbclient")
nbformat = lazy_module("nbformat")

SOLUTION = re.compile(r"<details>\s*<summary>Solution</summary>.*?```python\n(.*?)```.*?</details>\s*", re.DOTALL)
PLACE = re.compile(r"^(\w+ = \.\.\.)$", re.MULTILINE)
SCHEMA = 3                  # of nbgrader's metadata
TEST = "-test"              # behind the grade_id of an answer: its test


class ExerciseError(ValueError):
    """An exercise without a single place for an answer, without a solution below it, or without a check at its end."""


@dataclass(frozen=True, slots=True)
class Exercise:
    """An exercise: the cell of the tutorial at `index`, cut into parts."""

    index: int
    name: str               # grade_id of its answer
    task: str               # what stands above the answer
    place: str              # `answer = ...`
    test: str               # what stands below it
    solution: str

    def cell(self, answer: str) -> str:
        """Return the source of the tutorial's cell with `answer` in its place."""
        return self.task + answer + self.test


def exercises(notebook: Any) -> list[Exercise]:
    """Return the exercises of a tutorial, in order. Raises ExerciseError for one that is not made as all are."""
    found: list[Exercise] = []
    for index, cell in enumerate(notebook.cells):
        if "exercise" in cell.metadata.get("tags", ()):
            following = notebook.cells[index + 1].source if index + 1 < len(notebook.cells) else ""
            found.append(_exercise(index, cell, following, f"exercise-{len(found) + 1}"))
    return found


def _exercise(index: int, cell: Any, following: str, name: str) -> Exercise:
    solution, parts = SOLUTION.search(following), PLACE.split(cell.source)
    if not solution:
        raise ExerciseError(f"expected a solution below the exercise in cell {cell.id}, got none")
    if len(parts) != 3:
        raise ExerciseError(f"expected one line `answer = ...` in the exercise in cell {cell.id}, "
                            f"got {len(parts) // 2}")
    task, place, test = parts
    return Exercise(index, name, task, place, test, solution[1].rstrip("\n"))


def solved(notebook: Any) -> Any:
    """Return a copy of a tutorial with each exercise's solution in the place of the dots."""
    result = copy.deepcopy(notebook)
    for exercise in exercises(notebook):
        result.cells[exercise.index].source = exercise.cell(exercise.solution)
    return result


def release(notebook: Any, solutions: bool = False, answers: Mapping[str, str] | None = None) -> Any:
    """Return a tutorial as a class gets it: no outputs, no solutions, answers and tests in cells of their own.

    solutions: keep them between `### BEGIN SOLUTION` and `### END SOLUTION`, as nbgrader's sources have them.
    answers: grade_id -> source of the answer's cell, in the place of the empty one.
    """
    result, found = copy.deepcopy(notebook), exercises(notebook)
    for exercise in reversed(found):
        below = result.cells[exercise.index + 1]
        below.source = SOLUTION.sub("", below.source, count=1).strip("\n")
        end = exercise.index + (1 if below.source else 2)
        result.cells[exercise.index:end] = _two_cells(exercise, solutions, answers or {})
    for cell in result.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    return result


def _two_cells(exercise: Exercise, solutions: bool, answers: Mapping[str, str]) -> list[Any]:
    marked = f"\n### BEGIN SOLUTION\n{exercise.solution}\n### END SOLUTION" if solutions else ""
    source = answers.get(exercise.name, exercise.task + exercise.place + marked)
    return [_cell(exercise.name, source), _cell(exercise.name + TEST, graded(exercise.test), points=1)]


def _cell(name: str, source: str, **points: int) -> Any:
    grade = bool(points)
    metadata = {"nbgrader": {"schema_version": SCHEMA, "grade_id": name, "grade": grade, "solution": not grade,
                             "locked": grade, "task": False, **points}}
    cell = nbformat.v4.new_code_cell(source.strip("\n"), metadata=metadata)
    cell.id = name
    return cell


def graded(test: str) -> str:
    """Return a test whose call of `check` ends in `.points(1)`: a number that nbgrader takes for the points."""
    values = [node.value for node in ast.parse(test).body if isinstance(node, ast.Expr)]
    calls = [value for value in values if isinstance(value, ast.Call) and ast.unparse(value.func) == "check"]
    if len(calls) != 1 or calls[0].end_lineno is None or calls[0].end_col_offset is None:
        raise ExerciseError(f"expected one call of `check` on a line of its own, got {len(calls)} in {test!r}")
    lines = test.encode().split(b"\n")                      # columns of the parser count bytes
    line, column = calls[0].end_lineno - 1, calls[0].end_col_offset
    lines[line] = lines[line][:column] + b".points(1)" + lines[line][column:]
    return b"\n".join(lines).decode()


@dataclass(frozen=True, slots=True)
class Grade:
    """Points of one notebook that was handed in, by exercise; note: what could not be read or run."""

    name: str
    points: dict[str, float]
    note: str = ""


def answers_of(submitted: Any, tutorial: Any) -> dict[str, str]:
    """Return the answers in a notebook that was handed in, by grade_id: a released one, or the tutorial as it is."""
    found = {}
    for cell in submitted.cells:
        name = cell.metadata.get("nbgrader", {}).get("grade_id", "")
        if name and not name.endswith(TEST):
            found[name] = cell.source
    by_id = {cell.get("id"): cell.source for cell in submitted.cells}
    for exercise in exercises(tutorial):
        source = by_id.get(tutorial.cells[exercise.index].id, "")
        if exercise.name not in found and source.endswith(exercise.test):
            found[exercise.name] = source.removesuffix(exercise.test)
    return found


def grade(tutorial: Any, submitted: Any, folder: Path, name: str = "", timeout: float = 120) -> Grade:
    """Run the tutorial with the answers of `submitted`, nothing else of it, and count the points of its tests.

    A cell that fails does not end the run. One that takes longer than `timeout` seconds does: tests below it give none.
    """
    answers = answers_of(submitted, tutorial)
    notebook = release(tutorial, answers=answers)
    wanted = [exercise.name for exercise in exercises(tutorial)]
    lacking = [each for each in wanted if each not in answers]
    notes = [f"no answer cell for {', '.join(lacking)}"] if lacking else []
    try:
        demo.execute(notebook, folder, timeout, allow_errors=True)
    except (nbclient.exceptions.CellTimeoutError, nbclient.exceptions.DeadKernelError) as problem:
        notes.append(str(problem).strip().partition("\n")[0])
    points = {cell.metadata["nbgrader"]["grade_id"].removesuffix(TEST): _points(cell) for cell in notebook.cells
              if cell.metadata.get("nbgrader", {}).get("grade")}
    return Grade(name, points, "; ".join(notes))


def _points(cell: Any) -> float:
    if any(output.output_type == "error" for output in cell.outputs):
        return 0.0
    results = [output.data["text/plain"] for output in cell.outputs if output.output_type == "execute_result"]
    return float(results[-1]) if results else 0.0


def table(grades: Sequence[Grade]) -> list[list[str]]:
    """Return rows of a table of grades: a head, then a row for each notebook."""
    names = list(dict.fromkeys(name for each in grades for name in each.points))
    rows = [["notebook", *names, "sum", "note"]]
    for each in grades:
        points = [each.points.get(name, 0) for name in names]
        rows.append([each.name, *(f"{one:g}" for one in points), f"{sum(points):g}", each.note])
    return rows


def _write(options: argparse.Namespace) -> None:
    options.out.mkdir(parents=True, exist_ok=True)
    for path in options.notebooks:
        target = options.out / path.name
        if target.exists() and target.samefile(path):
            raise ExerciseError(f"expected another folder than that of {path}, got {options.out}")
        tutorial = nbformat.read(path, as_version=4)
        nbformat.write(release(tutorial, solutions=options.command == "source"), target)
        print(f"{target}: {len(exercises(tutorial))} exercises")


def _grade(options: argparse.Namespace) -> None:
    tutorial = nbformat.read(options.tutorial, as_version=4)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:    # answers may write files
        grades = [grade(tutorial, nbformat.read(path, as_version=4), options.folder or Path(scratch), str(path),
                        options.timeout) for path in options.submitted]
    rows = table(grades)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        print("  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip())
    if options.csv:
        with options.csv.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows(rows)


def _parser() -> argparse.ArgumentParser:
    purpose = (__doc__ or "").partition("\n")[0]
    parser = argparse.ArgumentParser(prog="python -m tfnb.notebook.teach", description=purpose)
    commands = parser.add_subparsers(dest="command", required=True)
    for name, purpose in (("release", "tutorials without solutions and outputs, for students"),
                          ("source", "the same with the solutions in nbgrader's marks, for its folder source/")):
        each = commands.add_parser(name, help=purpose)
        each.add_argument("notebooks", nargs="+", type=Path)
        each.add_argument("-o", "--out", type=Path, required=True, help="the folder to write to")
    each = commands.add_parser("grade", help="run answers that were handed in, and count points")
    each.add_argument("tutorial", type=Path, help="the tutorial, with its solutions")
    each.add_argument("submitted", nargs="+", type=Path, help="what students handed in")
    each.add_argument("--folder", type=Path, help="where they run (default: an empty one)")
    each.add_argument("--csv", type=Path, help="a file for the table")
    each.add_argument("--timeout", type=float, default=120, help="seconds for one cell (%(default)s)")
    return parser


def main(arguments: list[str] | None = None) -> int:
    """Exit status 0: done; 2: a file that is not there, no notebook, or not made as a tutorial is."""
    options = _parser().parse_args(arguments)
    try:
        _grade(options) if options.command == "grade" else _write(options)
    except (OSError, ExerciseError, nbformat.reader.NotJSONError, nbformat.ValidationError) as problem:
        print(f"{type(problem).__name__}: {problem}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
