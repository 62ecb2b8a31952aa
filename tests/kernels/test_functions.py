"""Kernel functions: plain Python and compiled forms; constants, helpers, failures; errors that name a line."""
# ruff: noqa: F821
from __future__ import annotations

import linecache
import math
import re
from pathlib import Path

import numpy as np
import pytest

from tests.kernels.cpu.conftest import play
from tfnb.kernels.functions import kernel as functions
from tfnb.kernels.functions.definition import KernelSyntaxError
from tfnb.kernels.functions.kernel import kernel_function
from tfnb.kernels.functions.language import (
    Array,
    Ints,
    KernelFailure,
    MaybeOne,
    Static,
    Type,
    array_at,
    fail,
    float64,
    libm,
    stream,
    uint64,
    unrolled,
)
from tfnb.kernels.launch import Call, Meta

SCALE = 3


def twice(value: int, more: Static):
    """Return twice a number, and some more."""
    if more:
        return value * 2 + more
    return value * 2


@kernel_function
def mixed(x: Array, y: Array, n: MaybeOne, offsets: Ints, T: Type, mode: Static, item: int):
    """Everything that a kernel function may hold."""
    total = 0
    for k in unrolled(len(offsets)):
        total += offsets[k] * (k + 1)
    row = x[item * n:]
    if mode == "sum" and T == int32:
        for j in range(n):
            if row[j] < 0:
                continue
            total += twice(int(row[j]), 0)
    elif mode is None:
        total += twice(total, more=SCALE) if n == 1 else twice(int(row[0]), 7)
    else:
        j = n - 1
        while j > 0 and not row[j] == 0:
            j -= 1
        total = j if math.pi > 3 else math.inf
    y[item] = T(total + maximum(item, 1) - min(item, 5))


@kernel_function
def checked(x: Array, y: Array, limit: int, item: int):
    """Fail on a value that is not in [0, limit)."""
    if item == 3:
        return
    for _ in range(2):
        if x[item] < 0 or x[item] >= limit:
            fail(1, item, x[item], limit)
            return
    y[item] = x[item]


def launched(kernel, items, arrays, *args, **constants):
    """The last array after the kernel ran, compiled for the CPU."""
    *inputs, out = arrays

    def lower(call: Call):
        addresses = [call.input(i).reach(a.nbytes) for i, a in enumerate(inputs)]
        return [kernel.launch(call, items, *addresses, call.output().reach(out.nbytes), *args, **constants)]
    return play(lower, inputs, [(out.shape, out.dtype.name)])[0]


@pytest.mark.parametrize("mode", ["sum", None, "scan"])
@pytest.mark.parametrize("n", [1, 4])
@pytest.mark.parametrize("type_", ["int32", "float64"])
def test_python_and_compiled_agree(n, mode, type_):
    x, plain = np.arange(-5, 7 * n - 5, dtype=np.int64), np.zeros(7, type_)
    mixed.python(7, x, plain, n, (2, 5), T=type_, mode=mode)
    assert len(set(plain.tolist())) > 1
    np.testing.assert_array_equal(launched(mixed, 7, [x, plain], n, (2, 5), T=type_, mode=mode), plain)


def test_what_constants_decide_is_not_in_the_source():
    text = mixed.source("cuda", {}, n=1, T="int32", mode="sum", **{"len(offsets)": 2})
    assert "total += offsets_0\n" in text and "while" not in text and "unrolled" not in text and "'sum'" not in text
    assert text.count("def twice") == 1 and "more = 0" in text


def test_what_nothing_reads_is_not_in_the_source():
    @kernel_function
    def named(x: Array, y: Array, sizes: Ints, wanted: Static, item: int):
        height, width = sizes
        row, lane, half = item // 1, item % 1, height * 0.5
        total, places = 0, 0
        unused = twice(width, 0)                                            # noqa: F841
        for k in range(height):
            places = places + k
            total += half if wanted else lane
        for k in range(width):
            half = half + k
        y[row] = x[row] + (total if wanted else width)
    text = named.source("cpu", {"x": "int64", "y": "int64"}, wanted=False, **{"len(sizes)": 2})
    assert not re.search(r"height|lane|places|total|half|\bfor k|//|%", text) and "row = item" in text
    assert "unused = twice(width)" in text                                  # a helper may write to arrays
    wanted = named.source("cpu", {"x": "int64", "y": "int64"}, wanted=True, **{"len(sizes)": 2})
    assert "total += half" in wanted and "places" not in wanted and "lane" not in wanted
    x = np.arange(3)
    np.testing.assert_array_equal(launched(named, 3, [x, x], (2, 5), wanted=False), x + 5)
    np.testing.assert_array_equal(launched(named, 3, [x, x], (2, 5), wanted=True), x + 2)


def test_a_failure_ends_in_the_status():
    x, y = np.array([1, 4, 2, 9, -1]), np.zeros(5, np.int64)
    with pytest.raises(KernelFailure, match=r"indices\[4\] = -1 is not in \[0, 5\)"):
        launched(checked, 5, [x, y], 5)
    with pytest.raises(KernelFailure, match=r"indices\[4\] = -1 is not in \[0, 5\)") as caught:
        checked.python(5, x, y, 5)
    assert caught.value.words == (4, -1, 5) and y.tolist() == [1, 4, 2, 0, 0]
    text = checked.source("cuda", {})
    assert "cuda.atomic.cas(status, 0, 0, 1)" in text and "def kernel(x, y, limit, status, items):" in text


@pytest.mark.parametrize("compiled", [True, False])
def test_a_run_takes_arrays_of_any_layout(compiled, monkeypatch):
    @kernel_function
    def sums(x: Array, y: Array, size: MaybeOne, item: int):
        y[item] = 0
        for k in range(size):
            y[item] = y[item] + x[item * size + k]
    monkeypatch.setattr(functions, "has_compiler", lambda: compiled)
    x, y = np.arange(6.0).reshape(2, 3), np.empty((3, 1))
    sums.run(3, x.T, y, 2)
    np.testing.assert_array_equal(y[:, 0], x.sum(0))
    sums.run(3, x[:, ::-1][0], y, 1)
    np.testing.assert_array_equal(y[:, 0], [2, 1, 0])


def test_rows_go_past_the_caches():
    @kernel_function
    def doubled(x: Array, y: Array, room: Array, n: int, item: int):
        made = room[item * n:]
        row = y[item * n:]
        for j in range(n):
            made[j] = x[item * n + j] * 2
        stream(row, made, n)
    x, plain = np.arange(70, dtype=np.float32), np.zeros(70, np.float32)
    doubled.python(2, x, plain, np.zeros(70, np.float32), 35)

    def lower(call: Call):
        room = call.scratch(280).reach(280).of("float32")
        return [doubled.launch(call, 2, call.input(0).reach(280), call.output().reach(280), room, 35)]
    got, = play(lower, [x], [((70,), "float32")])
    for made in (got, plain):
        np.testing.assert_array_equal(made, 2 * x)
    text = doubled.source("cpu", dict.fromkeys(("x", "y", "room"), "float32"))
    assert text.endswith("    stream_end()\n") and "stream_row(" in text
    with pytest.raises(KernelSyntaxError, match=r"expected stream\(array, array, count\), on the CPU"):
        doubled.source("cuda", {})


def test_names_of_the_function_may_be_those_of_the_source():
    @kernel_function
    def named(x: Array, y: Array, begin: int, item: int):
        args, end, items = begin + 1, begin + 2, begin + 3
        y[item] = x[item] + args * end * items
    x = np.arange(3)
    np.testing.assert_array_equal(launched(named, 3, [x, x], 1), x + 24)
    assert "items_" in named.source("cuda", {"x": "int64", "y": "int64"})


def test_bool_arrays_are_bytes_on_the_cpu():
    @kernel_function
    def flipped(x: Array, y: Array, T: Type, item: int):
        y[item] = T(x[item] == 0)
    x = np.array([True, False, True])
    np.testing.assert_array_equal(launched(flipped, 3, [x, x], T="bool"), ~x)


def in_a_cell(body, name="<cell>"):
    """The function `f` of a cell, whose source IPython keeps in linecache."""
    text = f"def f(x: Array, y: Array, n: int, m: Static, item: int):\n    {body}\n"
    linecache.cache[name] = len(text), None, text.splitlines(keepends=True), name
    scope = {"Array": Array, "Static": Static, "len_": len, "np": np, "math": math}
    exec(compile(text, name, "exec", dont_inherit=True), scope)
    return kernel_function(scope["f"])


ODD = np.uint64(0x9E3779B97F4A7C15)
NARROW = np.float32(0.1)


def mixed_words(x: int, y: int):
    """Return two words of 64 bits."""
    return x * ODD, (x + y) >> np.uint64(3)


def summed(words: Ints, scale: float):
    """Return a sum of all words as a float."""
    total = 0.0
    for i in unrolled(len(words)):
        total += float64(words[i] % uint64(1000)) * scale
    return total


@kernel_function(fastmath=())
def of_words(x: Array, y: Array, item: int):
    """Tuples, arithmetic of uint64 that wraps around, constants with a type."""
    words = mixed_words(x[item], uint64(item))
    for _ in range(3):
        words = mixed_words(words[1], words[0])
    three = words[0], words[1], uint64(item)
    y[item] = summed(words, 0.5) + summed(three, 2.0) + float64(NARROW) + libm.log(2.0)


def test_tuples_and_words_of_64_bits():
    x, plain = np.array([1, 2**63, 2**64 - 1], np.uint64), np.zeros(3)
    of_words.python(3, x, plain)
    assert len(set(plain.tolist())) == 3 and float(NARROW) != 0.1
    np.testing.assert_allclose(launched(of_words, 3, [x, plain]), plain, rtol=1e-15)
    text = of_words.source("cuda", {})
    assert "words_0, words_1 = mixed_words(" in text and "uint64(11400714819323198485)" in text
    assert "math.log(" in text and text.count("def summed") == 2


@kernel_function
def behind(head: Array, y: Array, T: Type, item: int):
    """Count and sum the values behind an address."""
    values = array_at(head[0], T)
    rest = values[1:]
    head[1] += 1
    y[0] = values[0] + 10 * rest[item]


def test_arrays_at_addresses():
    values, plain = np.array([1, 2, 3], np.int16), np.zeros(1, np.int64)
    head = np.array([values.ctypes.data, 0])
    behind.python(1, head, plain, T="int16")
    assert (plain[0], head[1]) == (21, 1)
    np.testing.assert_array_equal(launched(behind, 1, [head, plain], T="int16"), plain)
    behind.native({"head": "int64", "y": "int64"}, T="int16")(
        np.array([head.ctypes.data, plain.ctypes.data]).ctypes.data, 1, 2)
    assert (plain[0], head[1]) == (31, 2)
    with pytest.raises(KernelSyntaxError, match="array_at has no form on this device"):
        behind.source("cuda", {}, T="int16")


def test_a_single_item_has_no_loop_of_items():
    call = Call((), (Meta("int64", (1,)),) * 2)
    one, several = (behind.launch(call, items, call.output(0), call.output(1), T="int16", grain=0) for items in (1, 2))
    assert "for item in range(1):" in one.source and "for item in range(begin, end):" in several.source


def test_functions_of_a_cell():
    x = np.array([1.0, 4.0])
    f = in_a_cell("y[item] = sqrt(x[item]) + math.exp(x[item]) * m + n")
    plain = np.zeros(2)
    f.python(2, x, plain, 1, m=2)
    np.testing.assert_allclose(launched(f, 2, [x, plain], 1, m=2), np.sqrt(x) + 2 * np.exp(x) + 1, rtol=1e-15)
    np.testing.assert_allclose(plain, np.sqrt(x) + 2 * np.exp(x) + 1, rtol=1e-15)


@pytest.mark.parametrize("body, words", [
    ("y[item] = [k for k in range(n)]", "a list comprehension is not allowed"),
    ("y[item] = lambda: 1", "a lambda is not allowed"),
    ("y[item] = nothing(x[item])", "name `nothing` is not known"),
    ("for k in x: pass", "a `for` over anything but range"),
    ("try: pass\n    except ValueError: pass", "`try` is not allowed"),
    ("y[item] = x[item] ** 2", "got \\*\\* or @"),
    ("return x[item]", "`return` with no value"),
    ("for k in range(n):\n        return", "`return` in a loop only after `fail"),
    ("n = 3", "assignment to parameter or constant `n`"),
    ("y[item] = 'a'", "expected a number, got 'a'"),
    ("y[item] = x[1:2]", "is not allowed"),
    ("y[item] = np.linalg.norm(x)", "is not allowed"),
    ("y[item] = x.sum()", "is not allowed"),
    ("y[item] = exp(x[item], n)", "this call is not allowed"),
    ("n3 = n, n; n3 = n, n, n", "expected 2 elements in `n3`, got 3"),
    ("n3 = n, n; y[item] = n3", "expected 1 values, got 2"),
    ("n3 = n, n; y[item] = n3 + 1", "expected a number, got \\(n3_0, n3_1\\)"),
    ("raise ValueError", "`raise` \\(use fail"),
    ("for k in unrolled(n): pass", "a constant in `unrolled"),
])
def test_what_is_not_allowed_names_the_line(body, words):
    f = in_a_cell("pass\n    " + body, f"<cell of {words}>")
    with pytest.raises(KernelSyntaxError, match=f"kernel function 'f', line .*{words}") as caught:
        f.source("cpu", {"x": "float32", "y": "float32"}, m=1)
    assert caught.value.lineno == 3 + body.count("\n        ") and caught.value.filename == f"<cell of {words}>"


def test_parameters_that_are_no_parameters():
    def untyped(x, item: int):
        pass

    def default(x: Array, item: int = 1):
        pass
    with pytest.raises(KernelSyntaxError, match="expected an annotation of parameter `x`, one of Array, int"):
        kernel_function(untyped).source("cpu", {})
    with pytest.raises(KernelSyntaxError, match="expected plain parameters"):
        kernel_function(default).source("cpu", {})
    def real(x: Array, factor: float, item: int):
        pass
    with pytest.raises(KernelSyntaxError, match="as arguments of a kernel, got a float"):
        launched(kernel_function(real), 1, [np.zeros(1)], 0.5)
    with pytest.raises(TypeError, match="mixed: expected the arguments x, y, n"):
        mixed.python(1, np.zeros(1))


def test_a_function_without_source():
    scope = {}
    exec(compile("def f(x, item): pass", "<no file>", "exec"), scope)
    with pytest.raises(KernelSyntaxError, match="whose source is in a file or a cell"):
        kernel_function(scope["f"]).source("cpu", {})


def test_recursion_is_refused():
    with pytest.raises(KernelSyntaxError, match="calls itself"):
        kernel_function(_recursive_user).source("cpu", {"x": "int64"})


def _recursive(n: int):
    return _recursive(n - 1)


def _recursive_user(x: Array, item: int):
    x[item] = _recursive(3)


def test_nothing_is_parsed_before_it_is_needed():
    @kernel_function
    def later(x, item):
        pass
    assert "node" not in vars(later.definition) and isinstance(later, functions.KernelFunction)


def test_the_guide_s_example(tmp_path):
    """The first code of the section "A kernel" of docs/adding_an_op.md, on the CPU, as plain Python and for a GPU."""
    guide = (Path(__file__).resolve().parents[2] / "docs" / "adding_an_op.md").read_text(encoding="utf-8")
    text = guide.split("\n## A kernel\n")[1].split("```python\n")[1].split("```")[0]
    file = tmp_path / "guide.py"
    file.write_text("from math import prod\n" + text, encoding="utf-8")
    scope = {"__name__": "guide"}
    exec(compile(file.read_text(encoding="utf-8"), str(file), "exec"), scope)
    x, shift, axis = np.arange(24, dtype=np.float32).reshape(2, 3, 4), np.array(-2, np.int32), np.array(1, np.int32)
    got, = play(scope["roll"], [x, shift, axis], [(x.shape, "float32")], known=(2,))
    plain = np.zeros(24, np.float32)
    scope["roll_row"].python(2, x.reshape(-1), shift.reshape(1), plain, 3, 4, 12, 1)
    for made in (got, plain.reshape(x.shape)):
        np.testing.assert_array_equal(made, np.roll(x, -2, 1))
    assert "def wrapped(place, size):" in scope["roll_row"].source("cuda", {}, width=1, inner=1)
