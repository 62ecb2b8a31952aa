"""One call in every way in which a session runs it, and what of that does not agree.

A call is run three times each with its inputs fed, of unknown and of known shapes, as constants, with its numbers fed
and its integers constant, and in a session that has run a valid call before. The first run is interpreted.
"""
from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import tfnb as tf
from tests.safety.guard import PATTERNS, Trespass, guard_variables, guarded
from tests.safety.records import Record
from tfnb.opdef import kinds, registry
from tfnb.opdef.ranks import Single
from tfnb.ops.declaration.raw import raw

RUNS = 3
TOLERANCE = {"float32": 2e-4, "float64": 1e-9, "float16": 2e-2, "complex64": 2e-4, "complex128": 1e-9}
LARGEST = 1 << 27                 # bytes of a result
CLEAN_AT_BUILD = ("ValueError", "TypeError", "NotImplementedError")


@dataclass(frozen=True)
class Outcome:
    """What one run gave: arrays, or the class of an error ("build" when the graph was made)."""

    values: tuple[np.ndarray, ...] = ()
    error: str = ""
    text: str = ""
    stage: str = "run"

    def __str__(self) -> str:
        if self.error:
            return f"{self.stage}: {self.error}: {self.text[:140]!r}"
        parts = (f"{a.dtype.name}{list(a.shape)}={np.array2string(a.reshape(-1)[:4])}" for a in self.values)
        return " ".join(parts)[:200]

    @property
    def unclean(self) -> bool:
        """Whether it is an error of a class that users can't expect."""
        clean = self.stage == "build" and self.error in CLEAN_AT_BUILD
        return bool(self.error) and not clean and not hasattr(tf.errors, self.error)


def outcomes(record: Record, valid: Record) -> dict[str, list[Outcome]]:
    """What each way of running a call gives, three times each. valid: a call of the same op that works."""
    modes = {"fed, shapes unknown": _ways(record, lambda a: "unknown"),
             "fed, shapes known": _ways(record, lambda a: "known"),
             "constant": _ways(record, lambda a: "constant")}
    if len({a.dtype.kind in "iu" for a in record.arrays}) > 1:
        modes["integers constant"] = _ways(record, lambda a: "constant" if a.dtype.kind in "iu" else "unknown")
    if not record.attrs_differ(valid) and [a.dtype for a in record.arrays] == [a.dtype for a in valid.arrays]:
        modes["warm session"] = _warm(record, valid)
    return modes


def _ways(record: Record, way: Callable[[np.ndarray], str]) -> list[Outcome]:
    """Runs of a call whose inputs are given in a way that follows from the array."""
    with tf.Graph().as_default():
        built = _build(record, way)
        if isinstance(built, Outcome):
            return [built] * RUNS
        fetches, placeholders = built
        with tf.Session() as sess:
            first = _initialize(sess)
            if first is not None:
                return [first] * RUNS
            return [_run(sess, fetches, _feeds(placeholders, record, n)) for n in range(RUNS)]


def _warm(record: Record, valid: Record) -> list[Outcome]:
    """Runs in a session that has compiled a valid call, which must give the same after them as before."""
    with tf.Graph().as_default():
        built = _build(valid, lambda a: "unknown")
        if isinstance(built, Outcome):
            return [built] * RUNS
        fetches, placeholders = built
        with tf.Session() as sess:
            first = _initialize(sess)
            if first is not None:
                return [first] * RUNS
            good = _feeds(placeholders, valid)
            before = [_run(sess, fetches, good) for _ in range(2)][-1]
            if before.error or len(placeholders) < len(record.arrays):
                return []
            found = [_run(sess, fetches, _feeds(placeholders, record, n)) for n in range(RUNS)]
            after = _run(sess, fetches, good)
            if not _same(before, after) and not is_random(record.op):
                return [*found[:-1], Outcome(error="SessionChanged", text=f"a valid call gave {before}, then {after}")]
            return found


def _build(record: Record, way: Callable[[np.ndarray], str]) -> Any:
    """The fetches of a call and the placeholders of its inputs (position -> tensor), or the error of building it."""
    spec, placeholders, inputs = registry.find(record.op), dict[int, Any](), list[Any]()
    refs = [arg.is_ref for arg in spec.inputs] if not record.sizes else []
    try:
        for i, array in enumerate(record.arrays):
            if refs and refs[i]:
                inputs.append(tf.Variable(array, validate_shape=False))
                continue
            kind = way(array)
            if kind == "constant":
                inputs.append(tf.constant(array))
            else:
                placeholders[i] = tf.placeholder(_dtype(array), None if kind == "unknown" else array.shape)
                inputs.append(placeholders[i])
        made = getattr(raw, record.op)(*record.given(inputs), **record.attrs)
    except Exception as error:  # noqa: BLE001 (any class is what is looked at)
        return Outcome(error=type(error).__name__, text=str(error), stage="build")
    fetches = list(made) if isinstance(made, (list, tuple)) else [made]
    flat = [t for f in fetches for t in (f if isinstance(f, (list, tuple)) else [f])]
    return flat or [tf.get_default_graph().get_operations()[-1]], placeholders


def _dtype(array: np.ndarray) -> Any:
    return tf.string if array.dtype.kind == "O" else array.dtype


def _feeds(placeholders: dict[int, Any], record: Record, n: int = 0) -> dict[Any, np.ndarray]:
    """The arrays of run `n`, each with another pattern around it than in the run before."""
    return {tensor: guarded(record.arrays[i], PATTERNS[n % len(PATTERNS)]) for i, tensor in placeholders.items()}


def _initialize(sess: Any) -> Outcome | None:
    variables = tf.global_variables()
    if variables:
        sess.run(tf.variables_initializer(variables))
        guard_variables(sess._store)
    return None


def _run(sess: Any, fetches: Sequence[Any], feeds: dict[Any, np.ndarray]) -> Outcome:
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return Outcome(tuple(part for v in sess.run(list(fetches), feeds) for part in _kept(v)))
    except Trespass as error:
        return Outcome(error="Trespass", text=str(error))
    except Exception as error:  # noqa: BLE001 (any class is what is looked at)
        return Outcome(error=type(error).__name__, text=str(error))


def _kept(value: Any) -> tuple[np.ndarray, ...]:
    """Return a fetched array; of one too large to be kept for all runs, its shape and some of its elements."""
    array = np.asarray(value)
    if array.nbytes <= LARGEST:
        return (np.array(array),)
    return np.array(array.shape), array.reshape(-1)[::max(1, array.size >> 20)].copy()


def is_random(op: str) -> bool:
    """Does the op give something else in each run?"""
    # no seed; entropy; a new handle
    others = ("ExtractGlimpse", "ExtractGlimpseV2", "NonDeterministicInts", "GetSessionHandle")
    return isinstance(registry.find(op), kinds.Random) or op in others


def changes(op: str) -> bool:
    """Does the op write to its inputs, so that its second run sees another state?"""
    return isinstance(registry.find(op), kinds.Writer)


def _same(a: Outcome, b: Outcome, exact: bool = False, values: bool = True, coarse: bool = False) -> bool:
    """Return whether two runs gave the same. coarse: doubles may have been computed in single precision."""
    if a.error or b.error:
        return a.error == b.error
    return len(a.values) == len(b.values) and all(
        x.shape == y.shape and x.dtype == y.dtype and (not values or _close(x, y, exact, coarse))
        for x, y in zip(a.values, b.values, strict=True))


def _close(x: np.ndarray, y: np.ndarray, exact: bool, coarse: bool) -> bool:
    if exact or x.dtype.name not in TOLERANCE:
        return x.tobytes() == y.tobytes() if x.dtype.kind != "O" else x.tolist() == y.tolist()
    tolerance = TOLERANCE["float32" if coarse else x.dtype.name]
    finite = np.abs(x[np.isfinite(x)]).max(initial=0.0)
    with np.errstate(all="ignore"):
        wide = x.astype("c16"), y.astype("c16")
        return bool(np.allclose(*wide, tolerance, tolerance * finite + 1e-30, equal_nan=True))


def problems(record: Record, modes: dict[str, list[Outcome]]) -> list[str]:
    """What is wrong with the outcomes of a call, a line each."""
    found = []
    stable = not is_random(record.op) and not changes(record.op) and _comparable(record)
    coarse = any(a.dtype in (np.float32, np.float16) for a in record.arrays)
    for mode, runs in modes.items():
        for n, run in enumerate(runs, 1):
            if run.error in ("Trespass", "SessionChanged"):
                found.append(f"MEMORY {mode}, run {n}: {run}")
            elif run.unclean:
                found.append(f"UNCLEAN {mode}, run {n}: {run}")
        for n, run in enumerate(runs[1:], 2):
            if not _same(runs[0], run, values=stable, coarse=coarse):
                found.append(f"RUNS {mode}: run 1 {runs[0]}; run {n} {run}")
                break
        if len(runs) == RUNS and stable and _same(runs[1], runs[2], values=False) \
                and not _same(runs[1], runs[2], exact=True):
            found.append(f"FOREIGN {mode}: run 2 {runs[1]}; run 3 {runs[2]}")
        if is_random(record.op) and any(_patterned(a) for run in runs for a in run.values):
            found.append(f"FOREIGN {mode}: {runs}")
    taken = {mode: runs for mode, runs in modes.items() if not any(refused_early(record.op, run) for run in runs)}
    found += _across(taken, stable, coarse)
    return list(dict.fromkeys(found))


def _patterned(array: np.ndarray) -> bool:
    return array.dtype.kind != "O" and array.itemsize > 2 and any(
        bytes([p]) * array.itemsize in array.tobytes() for p in PATTERNS)


def _comparable(record: Record) -> bool:
    """Return whether all forms of an op are to give the same numbers.

    Products with padding are left out by some kernels of convolutions: a filter that is not finite shows which.
    Compiled sines of numbers beyond 1e14 have no digit left (docs/accuracy.md).
    """
    if record.op in ("Sin", "Cos"):
        return all(np.abs(a[np.isfinite(a)]).max(initial=0) <= 1e14 for a in record.arrays)
    finite = all(np.isfinite(a).all() for a in record.arrays if a.dtype.kind == "f")
    return finite or not record.op.startswith(("Conv2D", "Conv3D", "DepthwiseConv"))


def refused_early(op: str, outcome: Outcome) -> bool:
    """Is it a graph that TensorFlow refuses too, though runs of the same call give a value?

    Axes of a reduction may be a matrix, but not one whose shape is known before; scalars of a few ops a vector of one.
    """
    if outcome.stage == "build" and "must be rank 0" in outcome.text:
        return any(isinstance(rank, Single) for rank in (registry.find(op).ranks or {}).values())
    return isinstance(registry.find(op), kinds.Reduction) and outcome.stage == "build" \
        and "at most rank 1" in outcome.text


def _across(modes: dict[str, list[Outcome]], stable: bool, coarse: bool) -> list[str]:
    """Ways that do not agree with the first one: value against error, classes of errors at runs."""
    base = modes["fed, shapes unknown"][0]
    found = []
    for mode, runs in modes.items():
        if not runs:
            continue
        other = runs[0]
        if "build" in (other.stage, base.stage) and other.error and base.error:
            continue
        if not _same(base, other, values=stable, coarse=coarse):
            found.append(f"WAYS fed, shapes unknown: {base}; {mode}: {other}")
    return found
