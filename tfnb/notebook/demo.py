"""`python -m tfnb.notebook.demo`: run a tutorial without a browser, keep what it shows, report its accuracy."""
from __future__ import annotations

import argparse
import re
import sys
import time
from pathlib import Path
from typing import Any

from tfnb.core.lazy import lazy_module

nbclient = lazy_module("nbclient")
nbconvert = lazy_module("nbconvert")
nbformat = lazy_module("nbformat")
tqdm = lazy_module("tqdm")

QUIET = "--Application.log_level=40"        # else ipykernel 7 warns of its port of the loopback address
ACCURACY = re.compile(r"test accuracy\b[^\d\n]*(\d+(?:\.\d+)?)\s*(%?)", re.IGNORECASE)


def texts(notebook: Any) -> list[str]:
    """The plain text of every output of an executed notebook, in order."""
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    found = [output.get("text") or output.get("data", {}).get("text/plain", "") for output in outputs]
    return [str(text) for text in found]


def accuracies(notebook: Any) -> list[float]:
    """Every "test accuracy: 0.98" or "test accuracy 98.1 %" among the outputs, as a fraction."""
    return [float(number) / (100 if percent else 1) for text in texts(notebook)
            for number, percent in ACCURACY.findall(text)]


def execute(notebook: Any, folder: Path, timeout: float, allow_errors: bool = False) -> None:
    """Run all cells, in place, with a progress bar. Raises nbclient's CellExecutionError, unless `allow_errors`."""
    cells = sum(cell.cell_type == "code" for cell in notebook.cells)
    form = "{l_bar}{bar}| {n}/{total} [{elapsed}]"
    with tqdm.tqdm(total=cells, file=sys.stderr, bar_format=form) as bar:
        def started(cell: Any, cell_index: int) -> None:
            """Show the first line of the cell that begins."""
            first = next((line for line in cell.source.splitlines() if line.strip()), "")
            bar.set_description(f"{first[:40]:40}")

        def executed(cell: Any, cell_index: int, execute_reply: Any) -> None:
            """Count a cell."""
            bar.update()

        client = nbclient.NotebookClient(notebook, timeout=timeout, resources={"metadata": {"path": str(folder)}},
                                         allow_errors=allow_errors, store_widget_state=False,
                                         extra_arguments=[QUIET],
                                         on_cell_start=started, on_cell_executed=executed)
        client.execute()


def write(notebook: Any, name: str, folder: Path) -> list[Path]:
    """The executed notebook and its HTML page, in `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    page, _ = nbconvert.HTMLExporter().from_notebook_node(notebook)
    paths = [folder / f"{name}.ipynb", folder / f"{name}.html"]
    paths[0].write_text(nbformat.writes(notebook), encoding="utf-8")
    paths[1].write_text(page, encoding="utf-8")
    return paths


def main(arguments: list[str] | None = None) -> int:
    """Exit status 0: all cells ran and the last test accuracy printed is at least `--least`."""
    parser = argparse.ArgumentParser(prog="python -m tfnb.notebook.demo", description=__doc__)
    parser.add_argument("notebook", nargs="?", type=Path, default=Path("notebooks/01_first_graph.ipynb"))
    parser.add_argument("--out", type=Path, default=Path("build"), help="where to put what was executed (%(default)s)")
    parser.add_argument("--least", type=float, default=0.97, help="the test accuracy to reach (%(default)s)")
    parser.add_argument("--timeout", type=float, default=600, help="seconds for one cell (%(default)s)")
    options = parser.parse_args(arguments)
    notebook = nbformat.read(options.notebook, as_version=4)
    began, failure = time.monotonic(), None
    try:
        execute(notebook, options.notebook.parent, options.timeout)
    except nbclient.exceptions.CellExecutionError as error:
        failure = str(error)
    paths = write(notebook, options.notebook.stem, options.out)
    found = accuracies(notebook)
    print(f"{options.notebook}: {time.monotonic() - began:.0f} s")
    print(f"  test accuracy   {', '.join(f'{a:.4f}' for a in found) or 'none printed'}")
    print(f"  notebook        {paths[0]}\n  page            {paths[1]}\nTo open it in JupyterLab: make lab")
    if failure:
        print(f"\nA cell failed:\n{failure}", file=sys.stderr)
        return 1
    if not found or found[-1] < options.least:
        print(f"\nThe last test accuracy should be at least {options.least}.", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
