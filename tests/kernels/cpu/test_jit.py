"""Compiling, keeping and loading kernels; a cache that nothing can make fatal."""
from __future__ import annotations

import ctypes
import os
import re
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from tfnb.core.options import options
from tfnb.kernels import c_library
from tfnb.kernels.llvm import codegen, jit, objects

SOURCE = """
def kernel(args, begin, end):
    y = float32_array(args[0], end)
    for i in range(begin, end):
        y[i] = y[i] * float32({0}) + math.exp(float32(0))
"""
CALL = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
CHILD = """
import ctypes, sys
import numpy as np
from tfnb.kernels.llvm import jit
{setup}
address = jit.address(sys.stdin.read())
y = np.arange(3, dtype=np.float32)
block = np.array([y.ctypes.data], np.int64)
ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)(address)(block.ctypes.data, 0, 3)
print(y.tolist(), jit.stats().compiled, jit.stats().loaded, "numba" in sys.modules)
"""


def call(address: int, y: np.ndarray) -> None:
    block = np.array([y.ctypes.data], np.int64)
    CALL(address)(block.ctypes.data, 0, y.size)


def child(folder: Path, text: str, setup: str = "", **environment: str) -> str:
    """Compile or load `text` in a new process and run it; what that printed."""
    run = subprocess.run([sys.executable, "-c", CHILD.format(setup=setup)], input=text, capture_output=True, text=True,
                         env={**os.environ, "TFNB_CACHE_DIR": str(folder), **environment}, timeout=60)
    assert run.returncode == 0, run.stderr
    return run.stdout.strip()


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty cache folder."""
    monkeypatch.setattr(options, "cache_dir", tmp_path)
    return tmp_path / "kernels"


def test_compile_and_call():
    y = np.arange(5, dtype=np.float32)
    call(jit.address(SOURCE.format(2)), y)
    assert y.tolist() == [1, 3, 5, 7, 9]
    assert jit.address(SOURCE.format(2)) == jit.address(SOURCE.format(2))


def test_several_at_once_with_progress(cache):
    seen = []
    stop = jit.on_compile(lambda done, total, seconds: seen.append((done, total)))
    texts = [SOURCE.format(i) + "# progress" for i in (11, 12, 11)]
    before = jit.stats()
    one, two, three = jit.addresses(texts)
    stop()
    assert one == three != two
    assert seen == [(1, 2), (2, 2)]
    after = jit.stats()
    assert after.compiled == before.compiled + 2 and after.compile_seconds > before.compile_seconds
    assert len(list(cache.iterdir())) == 2


def test_threads_compile_once(cache):
    text, found = SOURCE.format(21) + "# threads", []
    before = jit.stats().compiled
    threads = [threading.Thread(target=lambda: found.append(jit.address(text))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(found)) == 1 and len(found) == 4
    assert jit.stats().compiled == before + 1


@pytest.mark.slow
@pytest.mark.parametrize("text, numba", [(SOURCE.format(3), False), (SOURCE.format("3 ** 1"), True)])
def test_a_second_process_loads_without_numba(text, numba, tmp_path):
    assert child(tmp_path, text) == f"[1.0, 4.0, 7.0] 1 0 {numba}"
    assert child(tmp_path, text) == "[1.0, 4.0, 7.0] 0 1 False"


def kept(cache: Path) -> Path:
    """The only file in the cache, after a kernel was compiled."""
    objects.save(objects.key("x"), b"payload")
    path, = cache.iterdir()
    return path


def test_kept_and_found(cache):
    kept(cache)
    assert objects.load(objects.key("x")) == b"payload"
    assert objects.load(objects.key("y")) is None


@pytest.mark.parametrize("damage", [
    lambda data: b"", lambda data: data[:-1], lambda data: data + b"x", lambda data: b"\x7fELF" + data[4:],
    lambda data: data[:-1] + bytes([data[-1] ^ 1]), lambda data: data[:3]])
def test_damaged_objects_are_ignored(cache, damage):
    path = kept(cache)
    path.write_bytes(damage(path.read_bytes()))
    assert objects.load(objects.key("x")) is None


def test_an_object_under_a_wrong_name_is_ignored(cache):
    kept(cache).rename(cache / (objects.key("y") + objects.SUFFIX))
    assert objects.load(objects.key("y")) is None


def test_a_damaged_object_is_compiled_anew(cache):
    text = SOURCE.format(31) + "# damaged"
    cache.mkdir(parents=True)
    path = cache / (objects.key(text) + objects.SUFFIX)
    path.write_bytes(b"\0" * 1000)
    y = np.ones(2, np.float32)
    call(jit.address(text), y)
    assert y.tolist() == [32, 32]
    assert objects.load(objects.key(text)) is not None


def test_a_folder_where_a_file_should_be(cache):
    (cache / (objects.key("x") + objects.SUFFIX)).mkdir(parents=True)
    assert objects.load(objects.key("x")) is None
    assert objects.save(objects.key("x"), b"payload") is False
    assert [path.name for path in cache.iterdir()] == [objects.key("x") + objects.SUFFIX]     # nothing left behind


def test_a_cache_folder_that_cannot_be(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(options, "cache_dir", tmp_path / "file" / "below")
    assert objects.save("x", b"payload") is False
    assert objects.load("x") is None


def test_no_home(monkeypatch):
    monkeypatch.setattr(options, "cache_dir", Path("~/.cache/tfnb"))
    assert objects.folder() is None
    assert objects.save("x", b"payload") is False
    assert objects.load("x") is None


def test_read_only_folder(cache, monkeypatch):
    def refuse(*args, **kwargs):
        raise PermissionError("read-only")
    kept(cache)
    monkeypatch.setattr(objects.tempfile, "mkstemp", refuse)
    assert objects.save(objects.key("y"), b"payload") is False
    assert objects.load(objects.key("x")) == b"payload"


def test_full_disk(cache, monkeypatch):
    def full(source, target):
        raise OSError(28, "No space left on device")
    monkeypatch.setattr(objects.os, "replace", full)
    assert objects.save(objects.key("x"), b"payload") is False
    assert list(cache.iterdir()) == []


def test_oldest_go_first(cache, monkeypatch):
    monkeypatch.setattr(objects, "LIMIT", 2500)
    for i in range(3):
        objects.save(f"k{i}", bytes(1000))
        path = cache / f"k{i}{objects.SUFFIX}"
        if path.exists():
            os.utime(path, (i, i))
    assert [objects.load(f"k{i}") is not None for i in range(3)] == [False, True, True]


def test_the_key_depends_on_text_and_environment(monkeypatch):
    one = objects.key("x")
    assert one != objects.key("y")
    monkeypatch.setattr(objects, "environment", lambda: "other processor")
    assert one != objects.key("x")


def imported(folder: Path, name: str) -> set[str]:
    """The files of tfnb/kernels that one of them imports."""
    found = set()
    pattern = r"^from tfnb\.kernels(\S*) import (.+)$"
    for module, names in re.findall(pattern, (folder / name).read_text(), re.MULTILINE):
        base = module.replace(".", "/").strip("/")
        places = [base, *(f"{base}/{word.split()[0]}".strip("/") for word in names.split(","))]
        found |= {f"{place}.py" for place in places if place and (folder / f"{place}.py").is_file()}
    return found


def test_the_key_depends_on_all_that_codegen_imports():
    folder = Path(objects.__file__).parents[1]
    found, todo = set(), {"llvm/codegen.py"}
    while todo:
        name = todo.pop()
        found.add(name)
        todo |= imported(folder, name) - found
    assert found == set(objects.SOURCES)


def test_bad_texts():
    with pytest.raises(codegen.KernelError, match="does not compile"):
        jit.address("def kernel(args, begin, end):\n    undefined_word(args)\n")
    with pytest.raises(codegen.KernelError, match="NRT"):
        jit.address("def kernel(args, begin, end):\n    x = np.zeros(end)\n    args[0] = int64(x[begin:].sum())\n")


def test_calls_that_llvm_makes_are_checked(monkeypatch):
    monkeypatch.setattr(codegen, "LIBRARY", codegen.LIBRARY - {"fmodf"})
    with pytest.raises(codegen.KernelError, match="calls fmodf"):
        codegen.compile_source(SOURCE.format(1).replace("math.exp(float32(0))", "fmod(y[i], y[0])"), "symbol")


def test_intels_vector_library_is_not_called(monkeypatch):
    """Where it is installed numba may have LLVM call it; an object that does would load nowhere else."""
    emit = codegen._emit

    def emit_with_svml(module):
        code, foreign = emit(module)
        return code, ["__svml_expf16"] if " x float> @llvm.exp" in str(module) else foreign
    monkeypatch.setattr(codegen, "_emit", emit_with_svml)
    text = SOURCE.format(1).replace("float32(0)", "y[i]")
    assert " x float> @llvm.exp" in str(codegen.optimised_module(text, "symbol"))
    assert c_library.undefined_symbols(codegen.compile_source(text, "symbol")) <= {"expf"}


def vectors(text: str) -> bool:
    module = str(codegen.optimised_module(text, "symbol"))
    return " x float> " in module and "symbol" in module


IN_PLACE = """
{promise}
def kernel(args, begin, end):
    n = end - begin
    a, b, c, d = (float32_array(args[0], n), float32_array(args[1], n), float32_array(args[2], n),
                  float32_array(args[3], n))
    for i in range(n):
        x, y, z = a[i], b[i], c[i]
        a[i], b[i], c[i], d[i] = y + z, x * z, x - y, x
"""


def test_loops_are_vectorised():
    assert vectors(SOURCE.format(2).replace(" + math.exp(float32(0))", ""))
    assert vectors(IN_PLACE.format(promise="INDEPENDENT = True"))


def test_independent_loops_vectorise_in_place():
    """The vector loop must not stand behind a test that buffers do not overlap."""
    module = str(codegen.optimised_module(IN_PLACE.format(promise="INDEPENDENT = True"), "symbol"))
    assert "vector.memcheck" not in module
    address = jit.address(IN_PLACE.format(promise="INDEPENDENT = True"))
    x = np.arange(100, dtype=np.float32)
    block = np.array([x.ctypes.data] * 4, np.int64)
    CALL(address)(block.ctypes.data, 0, x.size)
    np.testing.assert_array_equal(x, np.arange(100))    # the last store to an element wins


def test_versions_of_packages(tmp_path, monkeypatch):
    """Told apart by their `_version.py`, else by their metadata; absent ones count too."""
    (tmp_path / "one_package").mkdir()
    (tmp_path / "one_package" / "__init__.py").write_text("raise RuntimeError('imported')\n")
    monkeypatch.syspath_prepend(tmp_path)
    file, found = tmp_path / "one_package" / "_version.py", []
    for version in ("1.0", "1.1"):
        file.write_text(f"version = {version!r}\n")
        found.append(objects._version("one_package"))
    assert found[0] != found[1] and objects._version("no_such_package") == ""
    assert objects._version("pytest") == pytest.__version__
