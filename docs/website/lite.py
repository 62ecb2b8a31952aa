"""JupyterLite with the tutorials, in which Python runs in the browser: `python -m docs.website.lite build/site/lite`.

The site serves the wheel of tfnb, built from this folder, and the wheels of Python alone that Pyodide's distribution
lacks. Pyodide itself, with NumPy, SciPy and the others that are compiled, comes from where JupyterLite's kernel has it,
unless `--pyodide` names a distribution of one's own.
"""
from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jupyter_core.paths import jupyter_path

from docs.website import ROOT

# What tfnb and the notebooks need and Pyodide's distribution lacks: of Python alone, served by the site.
PURE = ("absl-py", "anywidget", "comm", "ipywidgets", "jupyterlab_widgets", "psygnal")
# The browser's side of widgets, of tfnb's completions and links, and the kernel.
EXTENSIONS = ("@jupyter-widgets/jupyterlab-manager", "@jupyterlite/pyodide-kernel-extension", "anywidget", "tfnb")
# Tutorials that a browser can't run, and why.
LEFT_OUT = {"07_queues_coordinators": "queue runners are threads", "12_engine": "nothing is compiled in a browser",
            "13_gpu": "kernels for GPUs are compiled by numba", "16_text_lstm": "it would train for many minutes",
            "21_porting": "programs run in processes of their own", "22_many_machines": "servers are processes",
            "23_training_with_mpi": "ranks are processes"}
INSTALL = "%pip install -q tfnb anywidget matplotlib scikit-learn"
TOLD = ("Python runs in your browser here: nothing is sent to a server, and a reload begins anew. The first cell takes "
        "half a minute. tfnb has no compiler in a browser, so steps take longer than on a machine of your own.")


def tutorials() -> list[Path]:
    """Return the notebooks that run in a browser."""
    return [path for path in sorted((ROOT / "notebooks").glob("*.ipynb")) if path.stem not in LEFT_OUT]


def adapted(notebook: dict[str, Any]) -> dict[str, Any]:
    """Return a notebook that begins by installing tfnb from the site, for the kernel in the browser."""
    def cell(number: int, kind: str, text: str, **more: Any) -> dict[str, Any]:
        return {"cell_type": kind, "id": f"lite-{number}", "metadata": {}, "source": text, **more}
    first = [cell(0, "markdown", TOLD), cell(1, "code", INSTALL, execution_count=None, outputs=[])]
    kernel = {"display_name": "Python (Pyodide)", "language": "python", "name": "python"}
    metadata = {**notebook["metadata"], "kernelspec": kernel}
    return {**notebook, "cells": [*first, *notebook["cells"]], "metadata": metadata}


def write_contents(folder: Path) -> None:
    """Write the adapted tutorials into a folder."""
    folder.mkdir()
    for path in tutorials():
        made = adapted(json.loads(path.read_text("utf-8")))
        (folder / path.name).write_text(json.dumps(made, ensure_ascii=False, indent=1), "utf-8")


def collect_wheels(folder: Path) -> list[Path]:
    """Build tfnb's wheel and download the others of Python alone."""
    pip = [sys.executable, "-m", "pip", "-q", "--disable-pip-version-check"]
    subprocess.run([*pip, "wheel", "--no-deps", "-w", folder, ROOT], check=True)
    subprocess.run([*pip, "download", "--no-deps", "--only-binary", ":all:", "--platform", "any", "--abi", "none",
                    "--implementation", "py", "-d", folder, *PURE], check=True)
    return sorted(folder.glob("*.whl"))


def extensions() -> list[Path]:
    """Return the folders of EXTENSIONS. Raises FileNotFoundError where one is not installed."""
    found = []
    for name in EXTENSIONS:
        places = [Path(place, "labextensions", name) for place in jupyter_path()]
        places += [ROOT / "tfnb" / "notebook" / "static" / "labextensions" / name]
        there = next((place for place in places if (place / "package.json").exists()), None)
        if there is None:
            raise FileNotFoundError(f"no JupyterLab extension {name}: pip install -e '.[notebooks,lite]'")
        found.append(there)
    return found


def build(out: Path, pyodide: Path | None = None, wheels: Sequence[Path] = ()) -> None:
    """Build the site. pyodide: the folder of a distribution, for the site to serve; wheels: served instead of its own.

    Raises RuntimeError where JupyterLite reports a failure.
    """
    with tempfile.TemporaryDirectory() as work:
        contents, wheelhouse, settings = Path(work, "contents"), Path(work, "wheels"), Path(work, "settings")
        write_contents(contents)
        wheelhouse.mkdir()
        settings.mkdir()
        served = [str(wheel) for wheel in wheels or collect_wheels(wheelhouse)]
        config = {"LiteBuildConfig": {
            "contents": [str(contents)], "output_dir": str(out.resolve()), "ignore_sys_prefix": True,
            "federated_extensions": [str(each) for each in extensions()], "no_sourcemaps": True,
            "no_unused_shared_packages": True, "apps": ["lab", "notebooks"]},
            "PipliteAddon": {"piplite_urls": served}}
        if pyodide is not None:
            shutil.copytree(pyodide, settings / "static" / "pyodide")
        (settings / "jupyter_lite_config.json").write_text(json.dumps(config), "utf-8")
        shutil.rmtree(out, ignore_errors=True)
        command = [sys.executable, "-m", "jupyterlite_core", "build", "--lite-dir", str(settings), "--config",
                   str(settings / "jupyter_lite_config.json")]
        done = subprocess.run(command, cwd=settings, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"JupyterLite was not built:\n{done.stdout}\n{done.stderr}")


def main() -> None:
    """Build the site into the folder that is named, and report its size."""
    parser = argparse.ArgumentParser(prog="python -m docs.website.lite", description=__doc__)
    parser.add_argument("out", type=Path, nargs="?", default=ROOT / "build" / "site" / "lite", help="the folder")
    parser.add_argument("--pyodide", type=Path, help="the folder of a Pyodide distribution, for the site to serve")
    parser.add_argument("--wheels", type=Path, nargs="*", default=(), help="serve these instead of building them")
    given = parser.parse_args()
    build(given.out, given.pyodide, given.wheels)
    size = sum(path.stat().st_size for path in given.out.rglob("*") if path.is_file())
    print(f"{len(tutorials())} tutorials, {size >> 20} MB: {given.out}/lab/index.html (served by HTTP)")


if __name__ == "__main__":
    main()
