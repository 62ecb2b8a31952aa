"""tf.test: the TestCase of programs, and gradients beside finite differences."""
from __future__ import annotations

import subprocess
import sys
import unittest

import numpy as np
import pytest

import tfnb as tf
from tests.differential import differences
from tfnb.core.options import options


def outcome_of(case: type, name: str = "test_it") -> unittest.TestResult:
    result = unittest.TestResult()
    case(name).run(result)
    return result


def case(body) -> type:
    return type("Case", (tf.test.TestCase,), {"test_it": body})


PASSES = [
    lambda t: t.assertAllEqual([1, 2], np.array([1, 2])),
    lambda t: t.assertAllEqual(tf.constant([1.0, np.nan]), [1.0, np.nan]),
    lambda t: t.assertAllEqual([b"a"], tf.constant(["a"])),
    lambda t: t.assertNotAllEqual([1, 2], [1, 3]),
    lambda t: t.assertAllClose([1.0], [1.0 + 1e-7]),
    lambda t: t.assertAllClose({"a": [1.0], "b": 2.0}, {"a": [1.0], "b": 2.0}),
    lambda t: t.assertAllClose([[1.0], [2.0, 3.0]], [np.array([1.0]), np.array([2.0, 3.0])]),
    lambda t: t.assertAllClose(np.float16(1.0), np.float16(1.0005)),
    lambda t: t.assertAllCloseAccordingToType(np.ones(2, np.float16), np.full(2, 1.0009, np.float32)),
    lambda t: t.assertNotAllClose([1.0], [1.1]),
    lambda t: t.assertAllGreater([2, 3], 1), lambda t: t.assertAllLessEqual([2, 3], 3),
    lambda t: t.assertAllInRange([1.0, 2.0], 1.0, 2.0), lambda t: t.assertAllInSet([1, 1, 2], {1, 2}),
    lambda t: t.assertNear(1.0, 1.1, 0.2), lambda t: t.assertArrayNear([1.0], [1.05], 0.1),
    lambda t: t.assertNDArrayNear(np.zeros(2), np.full(2, 0.1), 0.2),
    lambda t: t.assertShapeEqual(np.zeros([2, 3]), tf.zeros([2, 3])),
    lambda t: t.assertDTypeEqual(tf.zeros([1]), np.float32), lambda t: t.assertStartsWith("abc", "ab"),
    lambda t: t.assertDeviceEqual("/cpu:0", "/device:CPU:0"),
    lambda t: t.assertProtoEquals("name: 'x'", tf.NodeDef(name="x")),
    lambda t: t.assertEqual(t.evaluate(tf.constant(3)), 3),
]
FAILS = [
    lambda t: t.assertAllEqual([1, 2], [1, 3]), lambda t: t.assertAllEqual([1, 2], [[1, 2]]),
    lambda t: t.assertAllEqual([np.nan], [1.0]), lambda t: t.assertNotAllEqual([1], [1]),
    lambda t: t.assertAllClose([1.0], [1.0001]), lambda t: t.assertAllClose({"a": 1.0}, {"b": 1.0}),
    lambda t: t.assertAllClose([[1.0], [2.0, 3.0]], [np.array([1.0]), np.array([2.0, 4.0])]),
    lambda t: t.assertAllClose({"a": 1.0}, [1.0]), lambda t: t.assertNotAllClose([1.0], [1.0]),
    lambda t: t.assertAllGreater([2, 1], 1), lambda t: t.assertAllLess([2, 3], 3),
    lambda t: t.assertAllInRange([1.0, 2.0], 1.0, 2.0, open_upper_bound=True),
    lambda t: t.assertAllInRange([np.nan], 1.0, 2.0), lambda t: t.assertAllInSet([3], {1, 2}),
    lambda t: t.assertNear(1.0, 1.3, 0.2), lambda t: t.assertArrayNear([1.0], [1.0, 2.0], 0.1),
    lambda t: t.assertShapeEqual(np.zeros([2]), tf.zeros([2, 3])),
    lambda t: t.assertDTypeEqual(tf.zeros([1]), np.float64), lambda t: t.assertStartsWith("abc", "bc"),
    lambda t: t.assertDeviceEqual("/cpu:0", "/cpu:1"),
    lambda t: t.assertProtoEquals("name: 'y'", tf.NodeDef(name="x")),
]


@pytest.mark.parametrize("i", range(len(PASSES)))
def test_what_holds(i):
    result = outcome_of(case(PASSES[i]))
    assert result.wasSuccessful() and result.testsRun == 1, result.failures + result.errors


@pytest.mark.parametrize("i", range(len(FAILS)))
def test_what_does_not_hold(i):
    result = outcome_of(case(FAILS[i]))
    assert len(result.failures) == 1 and not result.errors, result.errors


def test_sessions_of_a_test():
    seen = []

    class Case(tf.test.TestCase):
        def test_it(self):
            v = tf.Variable(2.0)
            with self.test_session() as first:
                v.initializer.run()
            with self.cached_session() as second:
                seen.append((first is second, self.evaluate(v)))
            with self.session() as third:
                with self.assertRaisesOpError("uninitialized"):
                    third.run(v)
            with self.assertRaises(ValueError):
                with self.cached_session(graph=tf.Graph()):
                    pass

        def test_graph(self):
            seen.append(len(tf.get_default_graph().get_operations()))

    tf.constant(1.0)
    for name in ("test_it", "test_graph"):
        result = outcome_of(Case, name)
        assert result.wasSuccessful(), result.failures + result.errors
    assert seen == [(True, 2.0), 0]
    assert outcome_of(Case, "test_session").skipped


def test_threads_of_a_test():
    def fails(t):
        thread = t.checkedThread(target=lambda: t.assertEqual(1, 2))
        thread.start()
        thread.join()
    assert len(outcome_of(case(fails)).failures) == 1
    folders = []
    assert outcome_of(case(lambda t: folders.append(t.get_temp_dir()))).wasSuccessful()
    assert not __import__("os").path.exists(folders[0])


def test_predicates_of_errors():
    def body(t):
        with t.assertRaisesWithPredicateMatch(ValueError, lambda e: "b" in str(e)):
            raise ValueError("abc")
        with t.assertRaisesWithPredicateMatch(ValueError, "^x"):
            raise ValueError("abc")
    assert "does not fit" in outcome_of(case(body)).failures[0][1]


def test_a_program_of_tests(tmp_path):
    path = tmp_path / "program.py"
    path.write_text("import tfnb as tf\n\nclass T(tf.test.TestCase):\n    def testSum(self):\n"
                    "        with self.test_session():\n            self.assertAllEqual(tf.add(1, 2).eval(), 3)\n\n"
                    "if __name__ == '__main__':\n    tf.test.main()\n")
    done = subprocess.run([sys.executable, str(path), "--flag=1"], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "Ran 2 tests" in done.stderr and "skipped=1" in done.stderr, done.stderr


GRADIENTS = {
    "a product": """
x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
y = tf.matmul(x, tf.constant([[5.0], [6.0]]))
with tf.Session():
    pair = tf.test.compute_gradient(x, [2, 2], y, [2, 1], x_init_value=np.ones([2, 2]))
    error = tf.test.compute_gradient_error(x, [2, 2], y, [2, 1])
[np.round(j, 2) for j in pair], bool(error < 1e-2)""",
    "several": """
x, z = tf.constant([3.0, 4.0], tf.float64), tf.constant([1.0, 2.0], tf.float64)
with tf.Session():
    found = tf.test.compute_gradient([x, z], [[2], [2]], x * z * z, [2],
                                     x_init_value=[np.array([3.0, 4.0]), np.array([1.0, 2.0])])
[[np.round(j, 4) for j in pair] for pair in found]""",
    "rows": """
x = tf.constant(np.arange(6.0).reshape(3, 2))
y = tf.gather(x, [2, 0, 2])
with tf.Session():
    pair = tf.test.compute_gradient(x, [3, 2], y, [3, 2])
[np.round(j, 4) for j in pair]""",
    "a variable": """
v = tf.Variable([1.0, 2.0])
with tf.Session():
    error = tf.test.compute_gradient_error(v, [2], tf.square(v), [2], init_targets=[v.initializer], delta=1e-2)
bool(error < 1e-2)""",
    "complex numbers": """
x = tf.placeholder(tf.complex128, [2])
with tf.Session():
    pair = tf.test.compute_gradient(x, [2], x * tf.constant([1 + 2j, 3j], tf.complex128), [2],
                                    x_init_value=np.array([1 + 1j, 2 - 1j]))
[np.round(j, 4) for j in pair]""",
    "other feeds": """
x, k = tf.placeholder(tf.float64, [2]), tf.placeholder(tf.float64, [])
with tf.Session():
    pair = tf.test.compute_gradient(x, [2], x * k, [2], extra_feed_dict={k: 5.0}, x_init_value=np.array([1.0, 2.0]))
[np.round(j, 4) for j in pair]""",
    "equal graphs": """
def described(*names):
    with tf.Graph().as_default() as graph:
        for name in names:
            tf.constant(1.0, name=name)
        return graph.as_graph_def()
check = tf.test.assert_equal_graph_def
[outcome(lambda: check(described("a", "b"), described("a", "b"))),
 outcome(lambda: check(described("a"), described("b"))), outcome(lambda: check(1, described("a")))]""",
}


@pytest.mark.slow
def test_gradients_as_in_tensorflow(oracle):
    assert not differences(oracle, GRADIENTS)


def test_a_wrong_gradient_is_found():
    @tf.RegisterGradient("WrongForTheTest")
    def _(op, dy):
        return dy * 3.0
    with tf.get_default_graph().gradient_override_map({"Square": "WrongForTheTest"}):
        x = tf.constant([1.0, 2.0])
        y = tf.square(x)
    with tf.Session():
        assert tf.test.compute_gradient_error(x, [2], y, [2], x_init_value=np.array([1.0, 2.0])) > 0.5
    with pytest.raises(ValueError, match="default session"):
        tf.test.compute_gradient(x, [2], y, [2])


def test_benchmarks_run_when_they_are_asked_for(capsys):
    class Squares(tf.test.Benchmark):
        def benchmark_square(self):
            x = tf.placeholder(tf.float32, [2])
            with tf.Session() as sess:
                found = self.run_op_benchmark(sess, x * x, {x: [1.0, 2.0]}, min_iters=3, mbs=1, extras={"n": 2})
            assert found["iters"] == 3 and found["wall_time"] > 0 and found["throughput"] == 1 / found["wall_time"]

        def benchmark_other(self):
            self.report_benchmark(iters=1, wall_time=0.5)

    tf.test.main(["program", "--benchmarks=Squares.benchmark_sq"])
    assert "benchmark Squares.benchmark_square: iters: 3, wall_time: " in capsys.readouterr().out
    tf.test.main(["program", "--benchmarks=Squares"])
    assert "benchmark Squares.benchmark_other: iters: 1, wall_time: 0.5\n" in capsys.readouterr().out


def test_classes_of_tests_have_private_methods_of_their_own():
    class Case(tf.test.TestCase):
        def _compare(self, only):
            raise AssertionError("not this one")

        _array = _all = _close_cached = _threads = _tempdir = _cached = _compare

        def test_it(self):
            self.assertAllEqual([1, 2], tf.constant([1, 2]))
            self.assertAllGreater([2, 3], 1)
            self.assertAllClose([1.0, 2.0], [1.1, 2.0], atol=np.array([0.2, 0.0]))
            with self.assertRaises(AssertionError):
                self.assertAllClose([1.0, 2.1], [1.1, 2.0], atol=np.array([0.2, 0.0]))
            assert self.get_temp_dir()
            thread = self.checkedThread(lambda: None)
            thread.start()
            thread.join()
    assert not outcome_of(Case).failures and outcome_of(Case).wasSuccessful()


@pytest.mark.parametrize("mode", ["second", "never", "always"])
def test_differences_of_runs_of_one_kind(mode, monkeypatch):
    monkeypatch.setattr(options, "compile", mode)
    x, c = tf.placeholder(tf.float32, [4]), tf.placeholder(tf.float32, [1000])
    y = 0.0 * x + tf.reduce_sum(tf.sin(c) * 1000.0)        # rounds differently, interpreted and compiled
    numbers = np.random.RandomState(1).rand(1000)
    with tf.Session():
        theory, measured = tf.test.compute_gradient(x, [4], y, [4], extra_feed_dict={c: numbers})
    assert not theory.any() and not measured.any()


def test_gradients_at_a_view():
    x = tf.placeholder(tf.float32, [1, 3, 2])
    start = np.broadcast_to(np.array([1.0, 2.0], np.float32), [1, 3, 2])
    for value in (start, np.asfortranarray(start)):
        with tf.Session():
            theory, measured = tf.test.compute_gradient(x, [1, 3, 2], x * x, [1, 3, 2], x_init_value=value)
        assert np.allclose(theory, np.diag([2, 4] * 3)) and np.allclose(measured, theory, atol=1e-2)
