"""The program `tfnb` (`python -m tfnb`): files of TensorFlow inspected, compared, converted; programs judged and run.

Exit codes: 0 done (of `diff`: equal), 1 `diff` found differences or `port` a program that is not ready,
2 wrong use, or a file that is not there or damaged.
"""
from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from typing import Any

from tfnb.core.errors import OpError
from tfnb.core.lazy import lazy_module
from tfnb.core.text import counted
from tfnb.core.version import __version__

# The subcommands other than `run` need protobuf; a script that is run need not wait for it.
_convert = lazy_module("tfnb.tools.convert")
_diff = lazy_module("tfnb.tools.diff")
_execute = lazy_module("tfnb.tools.port.execute")
_inspect = lazy_module("tfnb.tools.inspect")
_port = lazy_module("tfnb.tools.port.report")
_report = lazy_module("tfnb.tools.report")
_tensors = lazy_module("tfnb.tools.tensors")
_tqdm = lazy_module("tqdm")


def parser() -> argparse.ArgumentParser:
    """The parser of the command line."""
    made = argparse.ArgumentParser("tfnb", description="Work with the files of TensorFlow, and run its programs.")
    made.add_argument("--version", action="version", version=f"tfnb {__version__}")
    commands = made.add_subparsers(dest="command", required=True, metavar="COMMAND")
    inspect = commands.add_parser("inspect", help="tell what a file holds", description=(
        "Tell what a graph, meta graph, SavedModel, checkpoint, event file, TFRecord, .npz or .safetensors file has."))
    inspect.add_argument("path", help="a file, a checkpoint's prefix, or a directory")
    inspect.add_argument("--tensor", metavar="NAME", help="print the value of one tensor of a checkpoint")
    _add_output(inspect)
    diff = commands.add_parser("diff", help="compare two checkpoints or two graphs",
                               description="Compare two checkpoints or two graphs; exit code 1 if they differ.")
    diff.add_argument("a")
    diff.add_argument("b")
    _add_output(diff)
    convert = commands.add_parser("convert", help="write a checkpoint in another format", description=(
        "Write the tensors of a checkpoint, .npz or .safetensors file in another format; the ending of TARGET tells "
        "which, a name without one is the prefix of a checkpoint (V2)."))
    convert.add_argument("source")
    convert.add_argument("target")
    convert.add_argument("--to", choices=("v1", "v2", "npz", "safetensors"), help="the format, whatever the ending")
    convert.add_argument("--overwrite", action="store_true", help="replace TARGET if it exists")
    port = commands.add_parser("port", help="tell what of TensorFlow programs use that tfnb lacks", description=(
        "Look up the names of TensorFlow that scripts and notebooks use, without running them; with --run, try each in "
        "a copy of its folder up to its first session runs. Exit code 1 if one is not ready, or did not run."))
    port.add_argument("paths", nargs="+", metavar="PATH", help="a script (Python 3 or 2), a notebook, or a folder")
    port.add_argument("--run", action="store_true", help="try the programs that are ready")
    port.add_argument("--seconds", type=float, default=60.0, help="how long to try each (default: 60)")
    port.add_argument("--json", action="store_true", help="print JSON")
    port.add_argument("--html", metavar="FILE", help="write a page with a table as well")
    run = commands.add_parser("run", help="run a program with tfnb as its tensorflow", description=(
        "Run a script (of Python 3 or 2) or the cells of a notebook, in which `import tensorflow` finds tfnb. All "
        "after SCRIPT is the script's."))
    run.add_argument("-m", dest="module", action="store_true", help="SCRIPT is the name of a module, not a file")
    run.add_argument("script")
    run.add_argument("arguments", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    return made


def _add_output(command: argparse.ArgumentParser) -> None:
    command.add_argument("--json", action="store_true", help="print JSON")
    command.add_argument("--all", action="store_true", help="shorten no list")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit code."""
    told = parser().parse_args(arguments)
    try:
        return int(_COMMANDS[told.command](told))
    except OpError as error:
        print(f"tfnb {told.command}: {error.message}", file=sys.stderr)
        return 2
    except BrokenPipeError:                        # `tfnb inspect ... | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _print(found: Any, text: str, as_json: bool) -> None:
    print(json.dumps(found, indent=2) if as_json else text)


def inspect_command(told: argparse.Namespace) -> int:
    """`tfnb inspect`."""
    if told.tensor:
        value = _tensors.open_tensors(told.path).read(told.tensor)
        _print(_listed(value), str(value), told.json)
        return 0
    found = _inspect.inspect(told.path)
    _print(found, _report.report(found, None if told.all else _report.MOST), told.json)
    return 0


def _listed(value: Any) -> Any:
    """An array as JSON holds it."""
    if value.dtype == object:
        return [v.decode("utf-8", "replace") for v in value.reshape(-1)] if value.ndim else value[()].decode()
    return value.tolist() if value.dtype.kind in "fiub" else value.astype(str).tolist()


def diff_command(told: argparse.Namespace) -> int:
    """`tfnb diff`."""
    found = _diff.diff(told.a, told.b)
    _print(found, _report.diff_report(found, None if told.all else _report.MOST), told.json)
    return 1 if found["changed"] or found["only a"] or found["only b"] else 0


def convert_command(told: argparse.Namespace) -> int:
    """`tfnb convert`."""
    size = sum(t.bytes for t in _tensors.open_tensors(told.source).tensors.values())
    with _tqdm.tqdm(total=size, unit="B", unit_scale=True, delay=0.5, disable=None) as bar:
        source = _convert.convert(told.source, told.target, told.to, told.overwrite, bar.update)
    print(f"{told.target}: {counted(len(source.tensors), 'tensor')}, {_report.bytes_text(size)}, from "
          f"{source.path} ({source.format})")
    return 0


def port_command(told: argparse.Namespace) -> int:
    """`tfnb port`."""
    found = _port.Verdicts(told.paths, told.run, told.seconds)
    _print(_port.as_json(found) if told.json else None, str(found), told.json)
    if told.html:
        with open(told.html, "w", encoding="utf-8") as file:
            file.write(_port.page(found))
    return int(not found.good)


def run_command(told: argparse.Namespace) -> int:
    """`tfnb run`: the script's own exit code is that of the process."""
    if told.module:
        _execute.run_module(told.script, told.arguments)
        return 0
    if not os.path.exists(told.script):
        print(f"tfnb run: there is no file {told.script}", file=sys.stderr)
        return 2
    return int(_execute.run_file(told.script, told.arguments))


_COMMANDS = {"inspect": inspect_command, "diff": diff_command, "convert": convert_command, "port": port_command,
             "run": run_command}
