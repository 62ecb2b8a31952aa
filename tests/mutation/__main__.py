"""Mutation testing: plants small faults in tfnb, one at a time, and counts those that the tests see.

    python -m tests.mutation --sample 40 tfnb/graph tfnb/train      40 random mutants of two folders
    python -m tests.mutation --sample 400                           of all folders, in proportion
    python -m tests.mutation --changed main                         all mutants of files that differ from a revision
    python -m tests.mutation --again                                those that survived in the last runs

Run by hand, from the root of the repository, with the Python of the environment that has the packages for tests.
The first run records which test reaches which line (by coverage.py, some 20 minutes, kept in .cache/mutants); a mutant
then meets the tests that reach its line, those of its own folder and the fast ones first.
Judge each survivor: write a test that sees it, or name it in equivalent.tsv with the reason why nobody can.
"""
from __future__ import annotations

import argparse
import collections
import json
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Iterable
from pathlib import Path

from tests.mutation.points import Mutant, mutants
from tests.mutation.reached import Reached, test_files
from tests.mutation.worker import Server, copy_tree, planted, run_tests

ROOT = Path(__file__).resolve().parents[2]
CACHE = ROOT / ".cache" / "mutants"
RESULTS = CACHE / "results.jsonl"
EQUIVALENT = Path(__file__).with_name("equivalent.tsv")
IMPORTS = 300.0                                         # seconds for what comes before and after the tests


def modules(chosen: Iterable[str]) -> list[str]:
    """Return the Python files of tfnb below the chosen files and folders, as git knows them."""
    listed = subprocess.run(["git", "ls-files", "tfnb"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [name for name in listed.splitlines() if name.endswith(".py") and (ROOT / name).exists()
            and any(name == start or name.startswith(start.rstrip("/") + "/") for start in chosen)]


def changed_modules(revision: str) -> list[str]:
    """Return the Python files of tfnb that differ from a revision."""
    command = ["git", "diff", "--name-only", "--diff-filter=d", revision, "--", "tfnb"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [name for name in listed.splitlines() if name.endswith(".py")]


def equivalents(text: str) -> dict[str, str]:
    """Map the keys of mutants that no test can see to the reasons: lines of key, tab, reason; # begins a comment."""
    rows = [line.split("\t") for line in text.splitlines() if line and not line.startswith("#")]
    return {key: reason for key, reason in rows}


def folder(path: str) -> str:
    """Return the room of a file, such as "graph"; "." for tfnb's own files."""
    parts = path.split("/")
    return parts[1] if len(parts) > 2 else "."


def sample(found: list[Mutant], size: int, seed: int) -> list[Mutant]:
    """Return `size` pseudo-random mutants, each folder with its share of them (at least one)."""
    by_folder = collections.defaultdict(list)
    for mutant in found:
        by_folder[folder(mutant.path)].append(mutant)
    chosen = []
    for members in by_folder.values():
        share = max(1, round(size * len(members) / len(found)))
        chosen += sorted(members, key=lambda mutant: mutant.rank(seed))[:share]
    return chosen


def judge(server: Server, tree: Path, mutant: Mutant, tests: dict[str, float]) -> dict[str, object]:
    """Run tests with a mutant; return what became of it."""
    start = time.monotonic()
    code, report = None, {"test": "no test reaches it"}
    if tests:
        with planted(tree, mutant.path, mutant.planted((tree / mutant.path).read_text(encoding="utf-8"))):
            code, report = server.run(tree, run_tests, sum(tests.values()) + IMPORTS, tests=tests)
    survived = not tests or code in (0, 5)         # 5: pytest found none of them
    return {"key": mutant.key, "kind": mutant.kind, "line": mutant.line, "survived": survived, "tests": len(tests),
            "by": report.get("test", "" if survived else f"exit code {code}"), "code": code,
            "seconds": round(time.monotonic() - start, 1)}


def run(chosen: list[Mutant], reached: Reached, budget: float, workers: int, scratch: str) -> list[dict[str, object]]:
    """Judge mutants, each worker with a copy of the tree."""
    work: queue.SimpleQueue[Mutant] = queue.SimpleQueue()
    results: list[dict[str, object]] = []
    for mutant in chosen:
        work.put(mutant)

    def labour(number: int) -> None:
        tree = CACHE / f"{scratch}{number}"
        copy_tree(ROOT, tree)
        while True:
            try:
                mutant = work.get_nowait()
            except queue.Empty:
                return
            result = judge(server, tree, mutant, reached.tests(mutant, budget))
            results.append(result)
            with RESULTS.open("a", encoding="utf-8") as file:
                file.write(json.dumps(result) + "\n")
            word = "SURVIVED" if result["survived"] else "seen"
            print(f"{word:8} {result['seconds']:6} s  {mutant.path}:{mutant.line}  {mutant.key.split(': ', 1)[1]}  "
                  f"[{result['tests']} tests: {result['by']}]", flush=True)

    server = Server()
    threads = [threading.Thread(target=labour, args=(number,)) for number in range(workers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    broken = confirm(server, CACHE / f"{scratch}0", results)
    unsure = {result["key"] for result in results if result["by"] in broken}
    again = [mutant for mutant in chosen if mutant.key in unsure]
    if again:
        reached.forget(broken)
        results = [result for result in results if result["key"] not in unsure]
        results += run(again, reached, budget, 1, scratch)
    return results


def confirm(server: Server, tree: Path, results: list[dict[str, object]]) -> set[str]:
    """Return the tests that "saw" a mutant and fail without one too, or hang: they say nothing."""
    killers = {str(result["by"]) for result in results if not result["survived"] and "::" in str(result["by"])}
    broken: set[str] = set()
    while killers - broken:
        left = dict.fromkeys(sorted(killers - broken), 300.0)
        code, report = server.run(tree, run_tests, sum(left.values()) + IMPORTS, tests=left)
        if "test" not in report:
            break
        broken.add(report["test"])
        print(f"fails without a mutant as well (exit code {code}): {report['test']}", flush=True)
    return broken


def last_results() -> dict[str, dict[str, object]]:
    """Return the last result of each mutant that was ever run here, by key."""
    if not RESULTS.exists():
        return {}
    return {row["key"]: row for row in map(json.loads, RESULTS.read_text(encoding="utf-8").splitlines())}


def summary(results: Iterable[dict[str, object]], known: dict[str, str]) -> str:
    """Return a table: mutants, seen, survived, equivalent and the percentage, by folder."""
    rows: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    for result in results:
        what = "equivalent" if result["key"] in known else "survived" if result["survived"] else "seen"
        for row in (folder(str(result["key"]).split(" ")[0]), "all"):
            rows[row][what] += 1
    lines = [f"{'folder':12} {'mutants':>8} {'seen':>8} {'survived':>9} {'equivalent':>11} {'seen of the others':>19}"]
    for name, counts in sorted(rows.items(), key=lambda item: (item[0] == "all", item[0])):
        others = counts["seen"] + counts["survived"]
        lines.append(f"{name:12} {sum(counts.values()):8} {counts['seen']:8} {counts['survived']:9} "
                     f"{counts['equivalent']:11} {100 * counts['seen'] / max(1, others):17.1f} %")
    return "\n".join(lines)


def main(arguments: list[str]) -> int:
    """Return 1 if a mutant survived that is not known as equivalent."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("paths", nargs="*", default=["tfnb"], help="files and folders of tfnb; all by default")
    parser.add_argument("--sample", type=int, help="how many mutants; all by default")
    parser.add_argument("--seed", type=int, default=12, help="which ones; the same for the same number")
    parser.add_argument("--changed", metavar="REVISION", help="only files that differ from a revision")
    parser.add_argument("--again", action="store_true", help="only mutants that survived when they were last run here")
    parser.add_argument("--new", action="store_true", help="only mutants that were not run here")
    parser.add_argument("--report", action="store_true", help="run nothing: print the last results of these mutants")
    parser.add_argument("--record", action="store_true", help="only record which test reaches which line")
    parser.add_argument("--stale", action="store_true", help="record nothing: use what older runs recorded")
    parser.add_argument("--tests", nargs="*", metavar="PATH",
                        help="files and folders of tests; all by default, without tests/browser")
    parser.add_argument("--budget", type=float, default=30, help="seconds of tests for a mutant, as recorded")
    parser.add_argument("--scratch", default="tree", help="names the copies of the tree: one for each run at a time")
    parser.add_argument("--workers", type=int, default=1)
    options = parser.parse_args(arguments)
    CACHE.mkdir(parents=True, exist_ok=True)
    reached = Reached(ROOT, CACHE, test_files(ROOT, options.tests or ["tests"]), options.scratch)
    if options.record:
        reached.record()
        return 0
    names = modules(options.paths)
    if options.changed:
        names = [name for name in changed_modules(options.changed) if name in names]
    found = [mutant for name in names for mutant in mutants(name, (ROOT / name).read_text(encoding="utf-8"))]
    if options.sample:
        found = sample(found, options.sample, options.seed)
    known, last = equivalents(EQUIVALENT.read_text(encoding="utf-8")), last_results()
    if options.report:
        rows = [last[mutant.key] for mutant in found if mutant.key in last]
        for row in rows:
            if row["survived"] and row["key"] not in known:
                print(f"survived: {row['key']} (line {row['line']}, {row['tests']} tests)")
        print(summary(rows, known))
        return 0
    if options.again:
        found = [mutant for mutant in found if last.get(mutant.key, {}).get("survived") and mutant.key not in known]
    if options.new:
        found = [mutant for mutant in found if mutant.key not in last]
    reached.record(stale=options.stale)
    results = run([mutant for mutant in found if mutant.key not in known], reached, options.budget,
                  options.workers, options.scratch)
    print(summary(results, known))
    return int(any(result["survived"] for result in results))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
