"""Recognisers of mistakes in what is fed to a run."""
from __future__ import annotations

import ast
from collections.abc import Iterator

import numpy as np

from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.parts.python_names import names_in
from tfnb.notebook.lessons.evidence import Evidence, dicts_below, element, is_session, keyword
from tfnb.notebook.lessons.failures import fixed, rebinding, run_call
from tfnb.notebook.lessons.lesson import Words


def overwritten_placeholder(seen: Evidence) -> Iterator[Words]:
    """`x = next_batch()` and then `{x: x}`: the name of the placeholder means the data."""
    call = run_call(seen)
    if call is None or not seen.said.startswith(("unhashable type: 'numpy.ndarray'", "unhashable type: 'list'")):
        return
    for given in dicts_below(call):
        for key in given.keys:
            if isinstance(key, ast.Name) and issubclass(type(seen.value(key)), (np.ndarray, list)):
                was, place = seen.shadowed.get(key.id, (None, ""))
                yield {"name": key.id, "place": f" since {place}" if place else "",
                       **(rebinding(seen, key.id, was, call) if was is not None else {"fix": "", "runs": ""})}
                return


def missing_feed(seen: Evidence) -> Iterator[Words]:
    """A run without the value of a placeholder."""
    op = getattr(seen.error, "op", None)
    if not seen.said.startswith("You must feed a value for placeholder") or type(op) is not Operation:
        return
    names = [*names_in(seen.names, op.graph).get(op.name, []), repr(f"{op.name}:0")]
    value = example(seen, op.outputs[0])
    call = run_call(seen)
    line = with_feed(call, names[0], value, seen) if call is not None else ""
    yield {"name": names[0], "kind": described(op.outputs[0]), "fix": line or f"feed_dict={{{names[0]}: {value}}}"}


def described(tensor: Tensor) -> str:
    """ "float32 of shape [?, 4]"."""
    shape = tensor.static
    known = "any shape" if shape is None else f"shape [{', '.join('?' if n is None else str(n) for n in shape)}]"
    return f"{tensor.dtype.base_dtype.name} of {known}"


def example(seen: Evidence, tensor: Tensor) -> str:
    """An array of the notebook that fits a placeholder, if there is just one; else zeros in its shape."""
    shape, dtype = tensor.static, tensor.dtype.base_dtype.as_numpy_dtype
    fit = [name for name, value in seen.names.items() if type(value) is np.ndarray and not name.startswith("_")
           and shape is not None and len(shape) == value.ndim and value.ndim
           and all(n in (None, m) for n, m in zip(shape, value.shape, strict=True))
           and np.can_cast(value.dtype, dtype, "same_kind")]
    if len(fit) == 1:
        return fit[0]
    if not shape:
        return {"b": "True", "O": "b''"}.get(np.dtype(dtype).kind, "0.5" if np.dtype(dtype).kind == "f" else "1")
    sizes = ", ".join(str(32 if n is None and not i else 10 if n is None else n) for i, n in enumerate(shape))
    return f"np.zeros([{sizes}], {'object' if np.dtype(dtype).kind == 'O' else 'np.' + np.dtype(dtype).name})"


def with_feed(call: ast.Call, name: str, value: str, seen: Evidence) -> str:
    """The statement that failed, with one more feed; "" where it can't be written."""
    at = 1 if call.func.attr == "run" and is_session(seen.value(call.func.value)) else 0   # type: ignore[attr-defined]
    given = keyword(call, "feed_dict") or (call.args[at] if len(call.args) > at else None)
    if given is None:
        text = ast.unparse(call)
        return fixed(seen, call, f"{text[:-1]}{', ' * (not text.endswith('()'))}feed_dict={{{name}: {value}}})")
    if isinstance(given, ast.Dict):
        inner = ast.unparse(given)[1:-1]
        return fixed(seen, given, "{" + ", ".join(filter(None, [inner, f"{name}: {value}"])) + "}")
    return fixed(seen, given, f"{{**{ast.unparse(given)}, {name}: {value}}}") if isinstance(given, ast.Name) else ""


def fed_tensor(seen: Evidence) -> Iterator[Words]:
    """`{x: images}` where `images` is a tensor."""
    if not seen.said.startswith("The value of a feed cannot be a tf.Tensor"):
        return
    call = run_call(seen)
    for given in dicts_below(seen.statement or seen.tree):
        for key, value in zip(given.keys, given.values, strict=True):
            if key is not None and seen.element(key) is not None and seen.element(value) is not None:
                text = ast.unparse(value)
                run = ast.unparse(call.func) if call is not None else "sess.run"
                yield {"name": text, "fix": fixed(seen, given, ast.unparse(given).replace(
                    f": {text}", f": {run}({text})", 1)) if run.endswith(".run") else ""}
                return


def fed_shape(seen: Evidence) -> Iterator[Words]:
    """A feed that is transposed, lacks the axis of the batch, or is not flat."""
    if not seen.said.startswith("Cannot feed value of shape"):
        return
    for key, name, tensor, array in fed(seen):
        if type(array) is np.ndarray and not fits(tensor, array.shape):
            problem, code = reshaped(tensor, array, name)
            if problem:
                yield {"problem": problem, "name": name, "fix": f"{{{key}: {code}}}", "kind": described(tensor)}
                return


def fed(seen: Evidence) -> Iterator[tuple[str, str, Tensor, object]]:
    """Yield (key as code, value as code, placeholder, value) of the feeds of the statement that failed."""
    call = run_call(seen)
    for given in ast.walk(call) if call is not None else ():
        if isinstance(given, ast.Dict):
            for key, value in zip(given.keys, given.values, strict=True):
                tensor = seen.element(key)
                if key is not None and type(tensor) is Tensor:
                    yield ast.unparse(key), ast.unparse(value), tensor, seen.value(value)
        elif isinstance(given, ast.Name) and type(held := seen.value(given)) is dict:
            for tensor, array in held.items():
                if type(tensor) is Tensor:
                    names = [name for name, value in seen.names.items() if value is array and not name.startswith("_")]
                    name = names_in(seen.names, tensor.graph).get(tensor.op.name, [repr(tensor.name)])[0]
                    yield name, names[0] if names else f"{given.id}[{name}]", tensor, array


def fits(tensor: Tensor, shape: tuple[int, ...]) -> bool:
    """Return whether a placeholder takes an array of this shape."""
    return tensor.static is None or len(tensor.static) == len(shape) and all(
        n in (None, m) for n, m in zip(tensor.static, shape, strict=True))


def reshaped(tensor: Tensor, array: np.ndarray, name: str) -> tuple[str, str]:
    """Return the fault of the shape of a feed, and the code that mends it; ("", "") if that is not certain."""
    shape, want = array.shape, tensor.static or ()
    sizes = ", ".join("-1" if n is None else str(n) for n in want)
    if fits(tensor, (1, *shape)):
        return "lacks the axis of the batch", f"{name}[None]"
    if array.ndim == 2 and fits(tensor, shape[::-1]):
        return "is transposed", name[:-2] if name.endswith(".T") else f"{name}.T"
    for extra, index in ((shape[:1], "0"), (shape[-1:], "..., 0")):
        if extra == (1,) and fits(tensor, shape[1:] if index == "0" else shape[:-1]):
            return "has an axis of size 1 too many", f"{name}[{index}]"
    if fits(tensor, (*shape, 1)):
        return "lacks the last axis, of size 1", f"{name}[..., None]"
    known = int(np.prod([n for n in want if n is not None]))
    if len(want) > 1 and want.count(None) == 1 and want[0] is None and known and shape and \
            int(np.prod(shape[1:])) == known:
        return "has the right elements in another shape", f"{name}.reshape([{sizes}])"
    return "", ""


def ragged_feed(seen: Evidence) -> Iterator[Words]:
    """A list of rows that are not of one length."""
    if seen.said.startswith("Cannot feed") and "inhomogeneous" in seen.said:
        op_name = seen.said.partition("for Tensor '")[2].partition("'")[0]
        yield {"name": op_name, "fix": ""}


def feeds_not_a_dict(seen: Evidence) -> Iterator[Words]:
    """`sess.run(train, loss)`: the second argument is no fetch."""
    call = run_call(seen)
    if call is None or not seen.said.startswith("feed_dict must be a dictionary") or len(call.args) < 2:
        return
    first, second = (ast.unparse(part) for part in call.args[:2])
    if seen.element(call.args[1]) is not None:
        inner = first[1:-1] if isinstance(call.args[0], (ast.List, ast.Tuple)) else first
        rest = ast.unparse(call).replace(f"{first}, {second}", f"[{inner}, {second}]", 1)
        yield {"name": second, "fix": fixed(seen, call, rest)}


def feed_by_string(seen: Evidence) -> Iterator[Words]:
    """`{"x": value}`."""
    if not seen.said.startswith("Cannot interpret feed_dict key as Tensor: The name"):
        return
    text = seen.said.partition("The name '")[2].partition("'")[0]
    if text in seen.names and type(element(seen.names[text])) is Tensor:
        yield {"name": text, "fix": f"{{{text}: ...}}"}
    elif seen.said.find("refers to an Operation, not a Tensor") > 0:
        yield {"name": text, "fix": f"{{{text + ':0'!r}: ...}}"}
