"""Print the lowest versions of the dependencies that pyproject.toml allows, for `pip install`: `make test-lowest`.

python tests/lowest_versions.py [extra package...]: of those of the extra "test" too, such as pytest.
"""
from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1] / "pyproject.toml"


def lowest(requirement: str) -> str:
    """Return `name==version` of `name>=version,<other`. Raises ValueError for a requirement without lower bound."""
    found = re.match(r"([\w.-]+)(?:\[[\w,-]*\])?\s*>=\s*([\w.]+)", requirement)
    if found is None:
        raise ValueError(f"expected a requirement with a lower bound (name>=version), got {requirement!r}")
    return f"{found[1]}=={found[2]}"


def pinned(extra: list[str]) -> list[str]:
    """Return the pins of all dependencies, of the extras that tests need, and of those of "test" that `extra` has."""
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    tests = [r for r in project["optional-dependencies"]["test"] if re.split(r"[\[<>=;\s]", r)[0] in extra]
    extras = project["optional-dependencies"]
    needed = [r for r in (*project["dependencies"], *extras["numba"], *extras["scipy"]) if "== 'emscripten'" not in r]
    return [lowest(requirement) for requirement in (*needed, *tests)]


if __name__ == "__main__":
    print(*pinned(sys.argv[1:]), sep="\n")
