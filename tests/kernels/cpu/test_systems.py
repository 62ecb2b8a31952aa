"""Objects as other systems need them: emitted for each, with no reference that its loader would not find there.

Nothing was run on macOS and Windows; what can be seen from here is what their objects ask for.
"""
from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys

import llvmlite.binding as llvm
import numpy as np
import pytest

from tests.kernels.cpu.other_systems import SYSTEMS, target
from tfnb.kernels import c_library
from tfnb.kernels.llvm import codegen, microkernel

STRESS = bool(os.environ.get("TFNB_STRESS"))
# What libc, libm and libSystem have, and ucrtbase with ntdll: of the names that kernels may ask for.
ONLY_GNU = {"sincos", "sincosf"}
ONLY_WINDOWS, ONLY_MACOS = {"__chkstk", "_fltused"}, {"__sincos_stret", "__sincosf_stret", "bzero", "__bzero"}


def allowed(triple):
    shared = codegen.LIBRARY | set(codegen.SYMBOLS)
    if "windows" in triple:
        return shared - ONLY_GNU | ONLY_WINDOWS
    return shared - ONLY_GNU | ONLY_MACOS if "apple" in triple else shared


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """By the processor's tiles: what the program made there, with all of their systems if TFNB_STRESS is set."""
    found = {}
    for tiles in ("+neon", "+avx2") if STRESS else ("+neon",):
        triples = [triple for triple, (_, features, _) in SYSTEMS.items() if features.startswith(tiles)]
        wanted = triples if STRESS else [triple for triple in triples if "linux" not in triple][-1:]
        environment = {**os.environ, "TFNB_COMPILE": "always", "TFNB_CACHE_DIR": str(tmp_path_factory.mktemp("cache"))}
        done = subprocess.run([sys.executable, "-m", "tests.kernels.cpu.other_systems", *wanted], env=environment,
                              capture_output=True, text=True, timeout=300, check=False)
        assert not done.returncode, done.stderr
        found[tiles] = json.loads(done.stdout)
    return found


def test_objects_ask_for_what_their_system_has(made):
    asked = {triple: set(names) for found in made.values() for triple, names in found["asked"].items()}
    assert min(found["kernels"] for found in made.values()) > 20 and len(asked) == (6 if STRESS else 1)
    assert {triple: names - allowed(triple) for triple, names in asked.items()} == dict.fromkeys(asked, set())


def test_tiles_of_other_processors_compute_the_same(made):
    neon = made["+neon"]["results"]
    np.testing.assert_allclose(neon, made["+avx2" if STRESS else "+neon"]["results"], rtol=1e-5)
    rows = np.arange(40 * 50, dtype=np.float64).reshape(40, 50).sum(1) / 1e3
    np.testing.assert_allclose(neon[2], 30 * np.square(rows).sum(), rtol=1e-5)


@pytest.mark.parametrize("triple", SYSTEMS)
def test_undefined_symbols_are_found_in_objects_of_each_form(triple):
    text = ("define double @kernel(double %x) {\n %y = call double @a_function_with_a_long_name(double %x)\n"
            " %z = call double @short(double %y)\n ret double %z\n}\n"
            "declare double @a_function_with_a_long_name(double)\ndeclare double @short(double)\n"
            "define void @other() { ret void }\n")
    with target(triple):
        code = codegen.machine().emit_object(llvm.parse_assembly(f'target triple = "{triple}"\n{text}'))
    assert c_library.undefined_symbols(code) - ONLY_WINDOWS == {"a_function_with_a_long_name", "short"}


def test_processors_without_a_report_have_what_all_of_their_kind_have(monkeypatch):
    def fails():
        raise RuntimeError
    monkeypatch.setattr(microkernel.llvm, "get_host_cpu_features", fails)
    monkeypatch.setattr(microkernel.platform, "machine", lambda: "arm64")
    assert microkernel.machine_of(microkernel.processor_features()) == microkernel.NEON
    monkeypatch.setattr(microkernel.platform, "machine", lambda: "x86_64")
    assert microkernel.machine_of(microkernel.processor_features()) is None


def test_the_c_library_is_found():
    assert c_library.address("malloc" if sys.platform != "win32" else "free")
    assert c_library.address("no_function_of_this_name") == 0
    function, length = c_library.nap()
    assert function and length >= 0


def test_giving_way_returns():
    way = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int64)(c_library.give_way())
    assert sys.platform == "win32" or way(0) == 0
