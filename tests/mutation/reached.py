"""Which test reaches which line of tfnb: recorded once for each test file, kept, and asked for each mutant."""
from __future__ import annotations

import hashlib
import json
import subprocess
from collections.abc import Collection
from pathlib import Path
from typing import Any

from tests.mutation.points import Mutant, functions_of_lines
from tests.mutation.worker import Server, copy_tree, record

SLOWEST = 60.0                                          # seconds; tests that take longer are left out
ORACLE_START = 6.0                                      # seconds until TensorFlow is imported
DEFAULTS = ("tests/interop/test_defaults.py",)
VAGUE = 5.0                                             # seconds that a test comes later which may not reach the line
STARTED = 0.5                                           # seconds that a test takes at least which starts a process
FOREIGN = 1.5                                           # how much a test of another folder must be faster to come first


def test_files(root: Path, chosen: list[str]) -> list[str]:
    """Return the test files below the chosen paths, without those of browsers, tutorials, this tool and the house."""
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "tests"], cwd=root, capture_output=True,
                            text=True, check=True).stdout.splitlines()
    left_out = ("tests/browser/", "tests/mutation/", "tests/notebook/test_tutorials.py", "tests/test_")
    return sorted({name for name in listed if Path(name).name.startswith("test_") and name.endswith(".py")
                   and not name.startswith(left_out)
                   and any(name == start or name.startswith(start.rstrip("/") + "/") for start in chosen)})


class Reached:
    """The recordings of test files. Lines are kept by function and offset, so that edits elsewhere don't move them."""

    def __init__(self, root: Path, cache: Path, files: list[str], scratch: str) -> None:
        self.root, self.cache, self.files, self.scratch = root, cache, files, scratch
        self.recordings: dict[str, dict[str, Any]] = {}

    def record(self, stale: bool = False) -> None:
        """Load the recordings, and make those that are missing or of a test file that has changed, by folders.

        stale: only load them, of changed files too.
        """
        missing: dict[str, list[str]] = {}
        for file in self.files:
            if not self._load(file, stale) and not stale:
                alone = file.startswith(("tests/notebook/", "tests/core/"))  # for the lines of kernels
                missing.setdefault(file if alone else str(Path(file).parent), []).append(file)
        tree, server = self.cache / f"{self.scratch}-recorded", Server()
        if missing:
            copy_tree(self.root, tree)
        for number, (group, files) in enumerate(missing.items(), 1):
            code, report = server.run(tree, record, 3600, files=files)
            tests = report.get("tests", {})
            seconds = sum(entry["seconds"] for entry in tests.values())
            print(f"recorded {number}/{len(missing)}: {group}, {len(tests)} tests, {seconds:.0f} s"
                  + (f" (exit code {code})" if code else ""), flush=True)
            lines = by_function(self.root, report.get("lines", {}))
            for file in files if code == 0 else []:
                self._place(file).parent.mkdir(parents=True, exist_ok=True)
                self._place(file).write_text(json.dumps({"digest": self._digest(file), **_part(tests, lines, file)}))
                self._load(file)

    def tests(self, mutant: Mutant, budget: float) -> dict[str, float]:
        """Return the tests to run with a mutant, in order, each with the seconds after which it hangs.

        Those that reach its line; else, as code may be read and not run, those that reach its function, or its file.
        """
        for level in ("line", "function", "file"):
            found = {}
            for recording in self.recordings.values():
                bits = _bits(recording["lines"].get(mutant.path, {}), mutant.function, str(mutant.offset), level)
                # All tests of a file: most probably because of a process that one of them has started.
                slowest = max((entry["seconds"] for entry in recording["tests"].values()), default=0.0)
                vague = bits == (1 << len(recording["tests"])) - 1 and len(recording["tests"]) > 3 and slowest > STARTED
                for number, (test, entry) in enumerate(recording["tests"].items()):
                    if bits >> number & 1 and entry["passed"] and entry["seconds"] < SLOWEST:
                        found[test] = entry["seconds"], ORACLE_START * bool(entry.get("oracle")) + VAGUE * vague
            if found:
                chosen = _first(found, mutant, budget)
                return chosen | self._of_defaults() if mutant.kind == "default" else chosen
        return {}

    def _of_defaults(self) -> dict[str, float]:
        """Return the tests that look at signatures, which reach no line."""
        return {test: 300.0 for file in DEFAULTS if file in self.recordings for test in self.recordings[file]["tests"]}

    def forget(self, tests: Collection[str]) -> None:
        """Leave tests out from now on."""
        for recording in self.recordings.values():
            for test in recording["tests"].keys() & set(tests):
                recording["tests"][test]["passed"] = False

    def _place(self, file: str) -> Path:
        return self.cache / "reached" / (file.removesuffix(".py").replace("/", ".") + ".json")

    def _digest(self, file: str) -> str:
        return hashlib.sha256((self.root / file).read_bytes()).hexdigest()

    def _load(self, file: str, stale: bool = False) -> bool:
        place = self._place(file)
        recording = json.loads(place.read_text()) if place.exists() else {}
        if not recording or recording["digest"] != self._digest(file) and not stale:
            return False
        self.recordings[file] = recording
        return True


def by_function(root: Path, lines: dict[str, dict[str, int]]) -> dict[str, dict[str, dict[int, int]]]:
    """Turn file -> line -> tests into file -> function -> offset -> tests."""
    found: dict[str, dict[str, dict[int, int]]] = {}
    for file, reached in lines.items():
        if not (root / file).exists():
            continue
        places = functions_of_lines((root / file).read_text(encoding="utf-8"))
        for line, bits in reached.items():
            if bits and int(line) in places:
                function, offset = places[int(line)]
                found.setdefault(file, {}).setdefault(function, {})[offset] = bits
    return found


def _part(tests: dict[str, Any], lines: dict[str, dict[str, dict[int, int]]], file: str) -> dict[str, Any]:
    """Return what a recording of many test files says of one; its tests are numbered from 0."""
    chosen = [number for number, test in enumerate(tests) if test.startswith(file + "::")]
    if not chosen:
        return {"tests": {}, "lines": {}}
    first, mask = chosen[0], sum(1 << number for number in chosen)
    kept = {path: {function: {offset: (bits & mask) >> first for offset, bits in offsets.items() if bits & mask}
                   for function, offsets in functions.items()} for path, functions in lines.items()}
    return {"tests": {test: entry for test, entry in tests.items() if test.startswith(file + "::")}, "lines": kept}


def _bits(functions: dict[str, dict[str, int]], function: str, offset: str, level: str) -> int:
    """Return the tests, as bits, that reach a line, a function or the file."""
    if level == "line":
        return functions.get(function, {}).get(offset, 0)
    chosen = [functions.get(function, {})] if level == "function" else list(functions.values())
    bits = 0
    for lines in chosen:
        for found in lines.values():
            bits |= found
    return bits


def _first(found: dict[str, tuple[float, float]], mutant: Mutant, budget: float) -> dict[str, float]:
    """Return the tests to run within `budget` seconds: fast ones first, those of the mutant's folder preferred."""
    home = "tests/" + mutant.path.split("/", 1)[1].rsplit("/", 1)[0] + "/"

    def cost(test: str) -> float:
        return (sum(found[test]) + 0.1) * (1 if test.startswith(home) else FOREIGN)

    chosen: dict[str, float] = {}
    spent = 0.0
    for test in sorted(found, key=cost):
        spent += found[test][0]
        if spent > budget and chosen:
            break
        chosen[test] = 60 + 10 * found[test][0]
    return chosen
