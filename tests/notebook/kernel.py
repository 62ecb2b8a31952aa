"""A real kernel, driven as a front end would: cells with ids, deleted cells, outputs with their display ids."""
from __future__ import annotations

import json
import os
import re
import sys
import tempfile
from pathlib import Path

from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import KernelManager

ROOT = Path(__file__).resolve().parents[2]


def by_jupyterlab(cell, deleted=()):
    """What JupyterLab and Notebook tell of a cell with the request to run it."""
    return {"cellId": cell, "deletedCells": list(deleted), "recordTiming": False}


def by_vscode(cell, deleted=()):
    """What VS Code's Jupyter extension tells: a URI and the cell's metadata; nothing of deleted cells."""
    return {"cellId": f"vscode-notebook-cell:net.ipynb#{cell}", "tags": ["model"]}


def by_colab(cell, deleted=()):
    """What Colab tells (its history manager reads it there)."""
    return {"colab": {"cell_id": cell, "base_uri": "https://localhost:8080"}}


def started(python, environment, cwd=None):
    """The manager of a kernel that this interpreter runs, in the folder `cwd`."""
    spec = {"argv": [python, "-m", "ipykernel_launcher", "-f", "{connection_file}"], "display_name": "tested",
            "language": "python"}
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "tested").mkdir()
        Path(folder, "tested", "kernel.json").write_text(json.dumps(spec))
        manager = KernelManager(kernel_name="tested", kernel_spec_manager=KernelSpecManager(kernel_dirs=[folder]))
        manager.start_kernel(env=environment, cwd=cwd)
    return manager


class Page:
    """A notebook page: what each cell shows now, by cell id. python: the interpreter of the kernel; cwd: its folder."""

    def __init__(self, tells=by_jupyterlab, python=sys.executable, path=(), cwd=None):
        self.tells = tells
        path = os.pathsep.join([str(ROOT), *path, os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
        self._folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)     # trainings keep their runs there
        environment = {**os.environ, "PYTHONPATH": path, "JUPYTER_PLATFORM_DIRS": "1"}
        self.manager = started(python, environment, cwd or self._folder.name)
        self.client = self.manager.blocking_client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=60)
        self.outputs: dict[str | None, list[dict]] = {}
        self.messages: list[dict] = []          # everything that was published
        self._cells: dict[str, str | None] = {}     # request -> cell: what is said later under it shows there too
        self._clear: set[str | None] = set()        # cells that the next output clears

    def close(self):
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)
        self._folder.cleanup()

    def send(self, code, cell=None, deleted=(), silent=False):
        """Ask for a run, with what the front end tells of the cell; cell None: as nbclient, which tells nothing."""
        content = {"code": code, "silent": silent, "store_history": not silent, "user_expressions": {},
                   "allow_stdin": False, "stop_on_error": True}
        known = self.tells(cell, deleted) if cell else {}
        message = self.client.session.msg("execute_request", content, metadata=known)
        self.client.shell_channel.send(message)
        self.outputs[cell] = []
        request: str = message["header"]["msg_id"]
        self._cells = {known: its for known, its in self._cells.items() if its != cell} | {request: cell}
        return request

    def run(self, code, cell=None, deleted=(), silent=False, timeout=60):
        """Run a cell to its end and return the text of its outputs. timeout: seconds without a message."""
        self.wait(self.send(code, cell, deleted, silent), cell, timeout)
        return self.text(cell)

    def wait(self, request, cell, timeout=60):
        while True:
            message = self.client.get_iopub_msg(timeout=timeout)
            self.messages.append(message)
            content, kind = message["content"], message["msg_type"]
            parent = message["parent_header"].get("msg_id")
            if kind == "update_display_data":
                self._update(content)
            elif kind == "clear_output":
                self._clear.add(self._cells.get(parent))
            elif kind in ("stream", "error", "execute_result", "display_data") and parent in self._cells:
                self._append(self._cells[parent], {**content, "kind": kind})
            elif parent == request and kind == "status" and content["execution_state"] == "idle":
                return

    def _append(self, cell, output):
        if cell in self._clear:
            self._clear.remove(cell)
            self.outputs[cell] = []
        if cell in self.outputs:
            self.outputs[cell].append(output)

    def _update(self, content):
        wanted = content["transient"]["display_id"]
        for outputs in self.outputs.values():
            for output in outputs:
                if output.get("transient", {}).get("display_id") == wanted:
                    output["data"] = content["data"]

    def text(self, cell):
        """What a cell shows, as plain text; an error as "Name: message"."""
        lines, printed = [], False
        for output in self.outputs.get(cell, ()):
            before, printed = printed, output["kind"] == "stream"
            if printed and before:                 # one print may come in two messages, cut anywhere
                lines[-1] += output["text"]
            elif printed:
                lines.append(output["text"])
            elif output["kind"] == "error":
                lines.append(f"{output['ename']}: {output['evalue']}")
            else:
                lines.append(output["data"]["text/plain"])
        return "\n".join(line.rstrip() for line in lines)

    def traceback(self, cell):
        """The traceback of the cell's error, without colours."""
        lines = [line for output in self.outputs[cell] if output["kind"] == "error" for line in output["traceback"]]
        return re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(lines))
