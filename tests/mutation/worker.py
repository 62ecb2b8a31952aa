"""Runs of pytest in processes of their own over a scratch copy of the tree: for a mutant, for a recording."""
from __future__ import annotations

import contextlib
import faulthandler
import json
import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

# Imported once in the fork server, where the system has one. None of ours: each process imports the mutated tree.
PRELOADED = ["numpy", "numba", "llvmlite.binding", "scipy.special", "scipy.linalg", "google.protobuf.message",
             "PIL.Image", "mpmath", "ml_dtypes", "tqdm", "_pytest.config", "hypothesis", "coverage", "asyncio",
             "unittest.mock", "xml.etree.ElementTree", "concurrent.futures"]
MEMORY = 12 << 30                                       # bytes of address space: a mutant must not take all there are
QUIET = ["-q", "-p", "no:cacheprovider", "-o", "faulthandler_timeout=0", "--tb=line", "--no-header",
         "--color=no"]
Report = dict[str, Any]


def copy_tree(root: Path, tree: Path) -> None:
    """Make `tree` a copy of the files under `root` that git knows or would add, and of what builds make.

    Files keep their time of change, so that bytecode made by an earlier recording stays valid.
    """
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=root, capture_output=True, text=True,
                            check=True).stdout.splitlines()
    made = [*root.glob("tfnb/proto/*_pb2.py*"), *root.glob("tfnb/notebook/static/**/*")]
    names = {*listed, *(str(path.relative_to(root)) for path in made if path.is_file())}
    names = {name for name in names if (root / name).is_file()}
    for name in names:
        source, target = root / name, tree / name
        if not target.exists() or _stamp(source) != _stamp(target):
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)
    for path in [*tree.glob("tfnb/**/*.py"), *tree.glob("tests/**/*.py")]:
        if str(path.relative_to(tree)) not in names:
            path.unlink()


def _stamp(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_size, found.st_mtime_ns


@contextlib.contextmanager
def planted(tree: Path, name: str, text: str) -> Any:
    """Have `text` in the file `name` of the copy for a while; no bytecode of it is read or left."""
    path = tree / name
    old, stamp = path.read_bytes(), path.stat()
    cached = list(path.parent.glob(f"__pycache__/{path.stem}.*.pyc"))
    for file in cached:
        file.rename(file.with_suffix(".kept"))
    try:
        path.write_bytes(text.encode())
        yield
    finally:
        path.write_bytes(old)
        os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
        for file in path.parent.glob(f"__pycache__/{path.stem}.*.pyc"):
            file.unlink()
        for file in cached:
            file.with_suffix(".kept").rename(file)


class Server:
    """Starts processes that have imported what is foreign and slow; elsewhere they are spawned."""

    def __init__(self) -> None:
        forking = "forkserver" in multiprocessing.get_all_start_methods()
        self.context: Any = multiprocessing.get_context("forkserver" if forking else "spawn")
        if forking:
            self.context.set_forkserver_preload(PRELOADED)

    def run(self, tree: Path, target: Callable[..., None], timeout: float,
            **arguments: Any) -> tuple[int | None, Report]:
        """Run `target(tree, path of the report, **arguments)`; return the exit code and the report.

        After `timeout` seconds the process and all that it started are killed: None is the exit code then.
        """
        place = tree.with_suffix(".report")
        place.unlink(missing_ok=True)
        process = self.context.Process(target=_begin, args=(target, tree, place), kwargs=arguments)
        process.start()
        process.join(timeout)
        over = process.is_alive()
        _end(process)
        with contextlib.suppress(OSError, ValueError):
            return None if over else process.exitcode, json.loads(place.read_text())
        return None if over else process.exitcode, {}


def _begin(target: Callable[..., None], tree: Path, place: Path, **arguments: Any) -> None:
    """In the new process: a group of its own, the copy as working directory and first on the path, output to a file."""
    if hasattr(os, "setsid"):
        os.setsid()
    with contextlib.suppress(ImportError, ValueError, OSError):
        resource = __import__("resource")
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    log = os.open(tree.with_suffix(".log"), os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(log, 1)
    os.dup2(log, 2)
    os.chdir(tree)
    sys.path[:] = [str(tree), *(entry for entry in sys.path if entry and not (Path(entry) / "tfnb").is_dir())]
    sys.argv[:] = ["pytest"]
    os.environ.update(PYTHONPATH=str(tree), TFNB_CACHE_DIR=str(tree.with_suffix(".cache")),
                      PYTEST_DISABLE_PLUGIN_AUTOLOAD="1")             # they take seconds, and no test needs one
    target(tree, place, **arguments)


def _end(process: BaseProcess) -> None:
    """Kill the process and what it has started."""
    if process.pid is not None and hasattr(os, "killpg"):
        with contextlib.suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
    elif process.is_alive():
        process.kill()
    process.join()


class Chosen:
    """A pytest plugin: the chosen tests in the chosen order, each with its time; reports the one that failed."""

    def __init__(self, tests: dict[str, float], place: Path) -> None:
        self.tests, self.place = tests, place

    def pytest_configure(self) -> None:
        del os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"]

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        order = {test: number for number, test in enumerate(self.tests)}
        items[:] = sorted((item for item in items if item.nodeid in order), key=lambda item: order[item.nodeid])

    def pytest_runtest_setup(self, item: Any) -> None:
        self.place.write_text(json.dumps({"test": item.nodeid, "late": True}))
        faulthandler.dump_traceback_later(self.tests[item.nodeid], exit=True, file=sys.__stderr__)

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed:
            self.place.write_text(json.dumps({"test": report.nodeid}))


def run_tests(tree: Path, place: Path, tests: dict[str, float]) -> None:
    """Run tests, in order, until one fails. `tests` maps each to the seconds after which it counts as failed."""
    import pytest
    sys.dont_write_bytecode = True
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    files = list(dict.fromkeys(test.split("::")[0] for test in tests))
    code = pytest.main(["-x", *QUIET, *files], plugins=[Chosen(tests, place)])
    if code == 0:
        place.write_text("{}")
    sys.stdout.flush()
    os._exit(int(code))


class Recorder:
    """A pytest plugin that has coverage.py note which test reaches which line, and notes what each test takes."""

    def __init__(self, coverage: Any) -> None:
        self.coverage = coverage
        self.tests: dict[str, dict[str, Any]] = {}

    def pytest_configure(self) -> None:
        del os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"]

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.coverage.switch_context(nodeid)
        self.tests[nodeid] = {"seconds": 0.0, "passed": True}

    def pytest_runtest_setup(self, item: Any) -> None:
        self.tests[item.nodeid]["oracle"] = "oracle" in getattr(item, "fixturenames", ())
        faulthandler.dump_traceback_later(300, exit=True, file=sys.__stderr__)

    def pytest_runtest_logreport(self, report: Any) -> None:
        entry = self.tests[report.nodeid]
        entry["seconds"] = round(entry["seconds"] + report.duration, 3)
        entry["passed"] = entry["passed"] and not report.failed and not report.skipped


def record(tree: Path, place: Path, files: list[str]) -> None:
    """Run test files; report the tests, and for each line of tfnb the numbers of the tests that reach it, as bits.

    Lines that a process started by a test reaches (a kernel, a program) count for all tests of the same file.
    """
    import coverage
    import pytest
    data = place.with_suffix(".coverage")
    for old in data.parent.glob(data.name + ".*"):
        old.unlink()
    settings = data.with_suffix(".settings")
    settings.write_text(f"[run]\nsource = {tree / 'tfnb'}\ndata_file = {data}\nparallel = true\n"
                        "context = ${PYTEST_CURRENT_TEST}\n", encoding="utf-8")
    (tree / "sitecustomize.py").write_text("import coverage\ncoverage.process_startup()\n", encoding="utf-8")
    os.environ["COVERAGE_PROCESS_START"] = str(settings)
    measured = coverage.Coverage(data_file=None, source=[str(tree / "tfnb")], config_file=False)
    recorder = Recorder(measured)
    measured.start()
    try:
        pytest.main([*QUIET, *files], plugins=[recorder])
    finally:
        measured.stop()
        (tree / "sitecustomize.py").unlink(missing_ok=True)
    lines: dict[str, dict[int, int]] = {}
    _add_lines(lines, tree, measured.get_data(), recorder, False)
    for part in data.parent.glob(data.name + ".*"):
        with contextlib.suppress(coverage.exceptions.CoverageException):    # a process that was killed left half of it
            other = coverage.CoverageData(str(part))
            other.read()
            _add_lines(lines, tree, other, recorder, True)
        part.unlink()
    place.write_text(json.dumps({"tests": recorder.tests, "lines": lines}))
    sys.stdout.flush()
    os._exit(0)


def _add_lines(lines: dict[str, dict[int, int]], tree: Path, data: Any, recorder: Recorder, started: bool) -> None:
    """Add file -> line -> numbers of tests, as bits. started: by a process that a test started."""
    numbers = {test: 1 << number for number, test in enumerate(recorder.tests)}
    of_file: dict[str, int] = {}
    for test, bit in numbers.items():
        of_file[test.split("::")[0]] = of_file.get(test.split("::")[0], 0) | bit
    for file in data.measured_files():
        reached = lines.setdefault(Path(file).relative_to(tree).as_posix(), {})
        for line, contexts in data.contexts_by_lineno(file).items():
            for context in contexts:
                bits = of_file.get(context.split("::")[0], 0) if started else numbers.get(context, 0)
                reached[line] = reached.get(line, 0) | bits
