"""`tf.test.TestCase`: unittest's, plus a session and graph per test and assertions on arrays, protos and devices."""
from __future__ import annotations

import re
import shutil
import tempfile
import threading
import unittest
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import numpy as np

from tfnb.core.device import canonical
from tfnb.core.errors import OpError
from tfnb.core.lazy import lazy_module
from tfnb.graph.graph import Graph
from tfnb.graph.parts.context import get_default_session
from tfnb.graph.parts.operation import Tensor
from tfnb.graph.stack import get_default_graph, reset_default_graph
from tfnb.ops.composite.indexed_slices import IndexedSlices
from tfnb.ops.random.random_ops import set_random_seed
from tfnb.runtime.session import Session

SEED = 87654321
_text_format = lazy_module("google.protobuf.text_format")


class TestCase(unittest.TestCase):
    """Test case whose tests begin with an empty default graph and the random seed 87654321.

    Assertions on arrays also take tensors, which they evaluate. methodName: the test that `run` calls.

    >>> class SquareTest(tf.test.TestCase):
    ...     def test_square(self):
    ...         with self.test_session():
    ...             self.assertAllClose(tf.square([1.0, 2.0]).eval(), [1.0, 4.0])
    >>> sess.close()
    >>> SquareTest("test_square").run().wasSuccessful()
    True
    """

    __test__ = False                               # this class is no test for pytest; those made of it are

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "__test__" not in cls.__dict__:
            cls.__test__ = True

    def __init__(self, methodName: str = "runTest") -> None:  # noqa: N803 (unittest's name)
        super().__init__(methodName)
        self._tfnb_threads: list[_CheckedThread] = []
        self._tfnb_folder: str | None = None
        self._tfnb_cached: tuple[Any, Session] | None = None

    def setUp(self) -> None:
        """Reset the default graph and the seeds."""
        _close_cached(self)
        np.random.seed(SEED % 2 ** 32)
        reset_default_graph()
        set_random_seed(SEED)

    def tearDown(self) -> None:
        """Fail if a `checkedThread` was not joined."""
        for thread in self._tfnb_threads:
            self.assertFalse(thread.is_alive(), "A checkedThread did not terminate")
        _close_cached(self)

    def run(self, result: Any = None) -> Any:
        """Run the test as unittest does, then remove its temporary directory."""
        try:
            return super().run(result)
        finally:
            if self._tfnb_folder is not None:
                shutil.rmtree(self._tfnb_folder, ignore_errors=True)
                self._tfnb_folder = None

    def get_temp_dir(self) -> str:
        """Return this test's temporary directory, which is removed after the test."""
        if self._tfnb_folder is None:
            self._tfnb_folder = tempfile.mkdtemp(prefix=f"{self._testMethodName}_")
        return self._tfnb_folder

    # ---- sessions

    @contextmanager
    def session(self, graph: Graph | None = None, config: Any = None, use_gpu: bool = False,
                force_gpu: bool = False) -> Iterator[Session]:
        """Return a context manager of a new default session. use_gpu, force_gpu: accepted and ignored."""
        with Session(graph=graph, config=config) as made:
            yield made

    @contextmanager
    def cached_session(self, graph: Graph | None = None, config: Any = None, use_gpu: bool = False,
                       force_gpu: bool = False) -> Iterator[Session]:
        """Return a context manager of this test's default session: every block of a test gets the same one.

        Raises ValueError if a later block asks for another graph or config.
        """
        asked = (graph if graph is not None else get_default_graph(), config)
        if self._tfnb_cached is None:
            self._tfnb_cached = (asked, Session(graph=graph, config=config))
        elif self._tfnb_cached[0][1] is not config:
            raise ValueError("The config used to get the cached session is different than the one used to create it.")
        elif self._tfnb_cached[0][0] is not asked[0]:
            raise ValueError("The graph used to get the cached session is different than the one used to create it.")
        made = self._tfnb_cached[1]
        with made.graph.as_default(), made.as_default():
            yield made

    def test_session(self, graph: Graph | None = None, config: Any = None, use_gpu: bool = False,
                     force_gpu: bool = False) -> AbstractContextManager[Session]:
        """Return a new session if `graph` is given, else the cached session of this test."""
        if self._testMethodName == "test_session":     # its name makes unittest take it for a test
            self.skipTest("Not a test.")
        chosen = self.cached_session if graph is None else self.session
        return chosen(graph, config, use_gpu, force_gpu)

    test_session.__test__ = False  # type: ignore[attr-defined]

    def evaluate(self, tensors: Any) -> Any:
        """Return the values of nested tensors, run in the default session or else in this test's session."""
        session = get_default_session()
        if session is not None:
            return session.run(tensors)
        with self.test_session() as made:
            return made.run(tensors)

    # ---- threads

    def checkedThread(self, target: Callable[..., Any], args: Sequence[Any] | None = None,
                      kwargs: Mapping[str, Any] | None = None) -> _CheckedThread:
        """Return a thread that must be joined, which fails the test if the thread raised an exception."""
        made = _CheckedThread(self, target, args or (), kwargs or {})
        self._tfnb_threads.append(made)
        return made

    # ---- arrays

    def assertShapeEqual(self, input_a: Any, input_b: Any, msg: str | None = None) -> None:
        """Assert that two arrays or tensors have the same static shape."""
        first, second = (tuple(x.shape.as_list()) if isinstance(x, Tensor) else np.shape(x) for x in (input_a, input_b))
        self.assertEqual(first, second, msg)

    def assertAllEqual(self, a: Any, b: Any, msg: str | None = None) -> None:
        """Assert that two arrays are equal elementwise. NaN equals NaN."""
        _compare(self, a, b, lambda x, y: (x == y) | _both_nan(x, y), "not equal", msg)

    def assertNotAllEqual(self, a: Any, b: Any, msg: str | None = None) -> None:
        """Assert that two arrays differ in at least one element."""
        try:
            self.assertAllEqual(a, b)
        except AssertionError:
            return
        raise AssertionError(msg or "The two values are equal at all elements.")

    def assertAllClose(self, a: Any, b: Any, rtol: Any = 1e-6, atol: Any = 1e-6, msg: str | None = None) -> None:
        """Assert that |a - b| <= atol + rtol * |b| elementwise, recursively in dicts, lists and tuples.

        The tolerances are at least 1e-3 for float16 arrays and 1e-2 for bfloat16 arrays.
        """
        if isinstance(a, Mapping) or isinstance(b, Mapping):
            self.assertIsInstance(a, Mapping, msg)
            self.assertIsInstance(b, Mapping, msg)
            self.assertEqual(set(a), set(b), msg)
            for key in a:
                self.assertAllClose(a[key], b[key], rtol, atol, f"{msg or ''} at key {key!r}")
            return
        if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)) and _is_ragged(a, b):
            self.assertEqual(len(a), len(b), msg)
            for x, y in zip(a, b, strict=True):
                self.assertAllClose(x, y, rtol, atol, msg)
            return
        a, b = _array(self, a), _array(self, b)
        wide = {"float16": 1e-3, "bfloat16": 1e-2}
        least = max(wide.get(x.dtype.name, 0.0) for x in (a, b))
        rtol, atol = np.maximum(rtol, least), np.maximum(atol, least)
        _compare(self, a, b, lambda x, y: np.isclose(x, y, rtol, atol, equal_nan=True),
                      f"not close at rtol = {rtol}, atol = {atol}", msg)

    def assertNotAllClose(self, a: Any, b: Any, rtol: Any = 1e-6, atol: Any = 1e-6,
                          msg: str | None = None) -> None:
        """Assert that at least one element is not close in the sense of assertAllClose."""
        try:
            self.assertAllClose(a, b, rtol, atol)
        except AssertionError:
            return
        raise AssertionError(msg or "The two values are close at all elements.")

    def assertAllCloseAccordingToType(self, a: Any, b: Any, rtol: float = 1e-6, atol: float = 1e-6,
                                      float_rtol: float = 1e-6, float_atol: float = 1e-6, half_rtol: float = 1e-3,
                                      half_atol: float = 1e-3, bfloat16_rtol: float = 1e-2,
                                      bfloat16_atol: float = 1e-2, msg: str | None = None) -> None:
        """Assert as assertAllClose, with the tolerances of the less precise of the two dtypes."""
        a, b = _array(self, a), _array(self, b)
        for names, r, t in ((("float32", "complex64"), float_rtol, float_atol), (("float16",), half_rtol, half_atol),
                            (("bfloat16",), bfloat16_rtol, bfloat16_atol)):
            if a.dtype.name in names or b.dtype.name in names:
                rtol, atol = max(rtol, r), max(atol, t)
        self.assertAllClose(a, b, rtol, atol, msg)

    def assertAllGreater(self, a: Any, comparison_target: Any) -> None:
        """Assert that all elements are greater than the target."""
        _check_all(self, a, lambda x: x > comparison_target, f"greater than {comparison_target}")

    def assertAllLess(self, a: Any, comparison_target: Any) -> None:
        """Assert that all elements are less than the target."""
        _check_all(self, a, lambda x: x < comparison_target, f"less than {comparison_target}")

    def assertAllGreaterEqual(self, a: Any, comparison_target: Any) -> None:
        """Assert that all elements are greater than or equal to the target."""
        _check_all(self, a, lambda x: x >= comparison_target, f"at least {comparison_target}")

    def assertAllLessEqual(self, a: Any, comparison_target: Any) -> None:
        """Assert that all elements are less than or equal to the target."""
        _check_all(self, a, lambda x: x <= comparison_target, f"at most {comparison_target}")

    def assertAllInRange(self, target: Any, lower_bound: Any, upper_bound: Any, open_lower_bound: bool = False,
                         open_upper_bound: bool = False) -> None:
        """Assert that all elements are within two bounds, inclusive unless open. NaN is outside."""
        _check_all(self, target, lambda x: (x > lower_bound if open_lower_bound else x >= lower_bound)
                  & (x < upper_bound if open_upper_bound else x <= upper_bound),
                  f"in {'(' if open_lower_bound else '['}{lower_bound}, {upper_bound}"
                  f"{')' if open_upper_bound else ']'}")

    def assertAllInSet(self, target: Any, expected_set: Any) -> None:
        """Assert that every element is a member of a set."""
        _check_all(self, target, lambda x: np.isin(x, list(expected_set)), f"in {expected_set}")

    def assertDTypeEqual(self, target: Any, expected_dtype: Any) -> None:
        """Assert that an array or tensor has the expected dtype."""
        found = target.dtype if hasattr(target, "dtype") else _array(self, target).dtype
        self.assertEqual(np.dtype(getattr(found, "as_numpy_dtype", found)),
                         np.dtype(getattr(expected_dtype, "as_numpy_dtype", expected_dtype)))

    def assertNear(self, f1: float, f2: float, err: float, msg: str | None = None) -> None:
        """Assert that |f1 - f2| <= err."""
        self.assertTrue(f1 == f2 or abs(f1 - f2) <= err,
                        f"{f1!r} != {f2!r} +/- {err!r}{f' ({msg})' if msg is not None else ''}")

    def assertArrayNear(self, farray1: Any, farray2: Any, err: float, msg: str | None = None) -> None:
        """Assert that corresponding values of two lists differ by at most `err`."""
        self.assertEqual(len(farray1), len(farray2), msg)
        for x, y in zip(farray1, farray2, strict=True):
            self.assertNear(float(x), float(y), err, msg)

    def assertNDArrayNear(self, ndarray1: Any, ndarray2: Any, err: float, msg: str | None = None) -> None:
        """Assert that the Euclidean norm of the difference of two arrays is below `err`."""
        self.assertTrue(np.linalg.norm(_array(self, ndarray1) - _array(self, ndarray2)) < err, msg)

    # ---- text, messages, errors, devices

    def assertStartsWith(self, actual: str, expected_start: str, msg: str | None = None) -> None:
        """Assert that a string starts with a prefix."""
        if not actual.startswith(expected_start):
            self.fail(self._formatMessage(msg, f"{actual!r} does not start with {expected_start!r}"))

    def assertProtoEquals(self, expected_message_maybe_ascii: Any, message: Any, msg: str | None = None) -> None:
        """Assert that a protobuf message equals another one, given as a message or in text format."""
        expected = expected_message_maybe_ascii
        if isinstance(expected, (str, bytes)):
            expected = _parse(expected, type(message))
        self.assertEqual(type(expected).DESCRIPTOR.full_name, type(message).DESCRIPTOR.full_name, msg)
        self.assertEqual(str(expected), str(message), msg)

    @contextmanager
    def assertRaisesWithPredicateMatch(self, exception_type: Any, expected_err_re_or_predicate: Any) -> Iterator[None]:
        """Assert that the block raises an exception of a type that a predicate, or a regex on its message, accepts.

        The message of an OpError includes the op's name and those of the ops it was made from.
        """
        try:
            yield
        except exception_type as error:
            wanted = expected_err_re_or_predicate
            text = str(error)
            if isinstance(error, OpError) and error.op is not None:
                text = f"{error.message}\nCaused by op: {error.op.name}\n{text}"
            if not (wanted(error) if callable(wanted) else re.search(wanted, text)):
                raise AssertionError(f"Exception of type {type(error)} does not fit {wanted!r}: {text}") from error
        else:
            self.fail(f"{getattr(exception_type, '__name__', exception_type)} not raised")

    def assertRaisesOpError(self, expected_err_re_or_predicate: Any) -> Any:
        """Assert that the block raises a matching OpError. See assertRaisesWithPredicateMatch."""
        return self.assertRaisesWithPredicateMatch(OpError, expected_err_re_or_predicate)

    def assertDeviceEqual(self, device1: Any, device2: Any, msg: str | None = None) -> None:
        """Assert that two device names are equal in canonical form."""
        first, second = (canonical(d.decode() if isinstance(d, bytes) else str(d or "")) for d in (device1, device2))
        self.assertEqual(first, second, msg)


class _CheckedThread:
    """Thread of TestCase.checkedThread."""

    def __init__(self, case: TestCase, target: Callable[..., Any], args: Sequence[Any],
                 kwargs: Mapping[str, Any]) -> None:
        self._case = case
        self._work: Callable[[], Any] = lambda: target(*args, **kwargs)
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)

    def _run(self) -> None:
        try:
            self._work()
        except BaseException as error:             # reported in the main thread
            self._error = error

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def join(self) -> None:
        """Wait for the thread, and fail the test if it raised an exception."""
        self._thread.join()
        if self._error is not None:
            self._case.fail(f"Error in checkedThread: {self._error}")

    def is_alive(self) -> bool:
        """Return whether the thread is running."""
        return self._thread.is_alive()


# Functions, not methods: classes of tests have private methods of their own, of any name.

def _close_cached(case: TestCase) -> None:
    if case._tfnb_cached is not None:
        case._tfnb_cached[1].close()
        case._tfnb_cached = None


def _array(case: TestCase, value: Any) -> np.ndarray:
    if isinstance(value, (Tensor, IndexedSlices)) or hasattr(value, "_as_graph_element"):
        value = case.evaluate(value)
    if hasattr(value, "dense_shape") and not isinstance(value, np.ndarray):
        value = (value.indices, value.values, value.dense_shape)
    return np.asarray(value)


def _compare(case: TestCase, a: Any, b: Any, same: Callable[[Any, Any], Any], words: str, msg: str | None) -> None:
    a, b = _array(case, a), _array(case, b)
    if not np.prod(b.shape, dtype=int) and not np.prod(a.shape, dtype=int) and b.ndim == 1:
        return                                     # an empty list represents an empty array of any shape
    case.assertEqual(a.shape, b.shape, f"shape mismatch: {a.shape} and {b.shape}. {msg or ''}")
    right = np.asarray(same(a, b))
    if not right.all():
        wrong = np.argwhere(~right)[:10].tolist()
        raise AssertionError(f"{msg or ''}\n{words} at {wrong}:\n{a[~right][:10] if a.ndim else a}\n"
                             f"{b[~right][:10] if b.ndim else b}")


def _check_all(case: TestCase, a: Any, test: Callable[[np.ndarray], Any], words: str) -> None:
    found = _array(case, a)
    right = np.asarray(test(found))
    if not right.all():
        raise AssertionError(f"not all elements are {words}: {found[~right][:10] if found.ndim else found}")


def _both_nan(x: np.ndarray, y: np.ndarray) -> Any:
    return (x != x) & (y != y) if x.dtype.kind in "fc" and y.dtype.kind in "fc" else False


def _is_ragged(a: Sequence[Any], b: Sequence[Any]) -> bool:
    """Return whether lists hold nested structures, rather than spell arrays."""
    return any(isinstance(x, (Mapping, Tensor)) or np.ndim(x) for x in (*a, *b) if not isinstance(x, (list, tuple))) \
        or any(isinstance(x, Mapping) for y in (*a, *b) if isinstance(y, (list, tuple)) for x in y)


def _parse(text: str | bytes, kind: Any) -> Any:
    return _text_format.Parse(text, kind())
