"""Recognisers of mistakes that raise an error: each yields the words of its lesson, nothing where it is not certain."""
from __future__ import annotations

import ast
from collections.abc import Iterator

import numpy as np

from tfnb.core.errors import FailedPreconditionError
from tfnb.core.stale import StaleTensorError
from tfnb.graph.closure import upstream
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.parts.python_names import names_in
from tfnb.graph.stack import get_default_graph
from tfnb.notebook.cells.effects import is_variable
from tfnb.notebook.lessons.evidence import UNKNOWN, Evidence, is_session, keyword, names_below
from tfnb.notebook.lessons.lesson import Words

ARRAYS = (np.ndarray, np.generic, float, int)
FUNCTIONS = {"mean": "reduce_mean", "sum": "reduce_sum", "max": "reduce_max", "min": "reduce_min",
             "prod": "reduce_prod", "dot": "matmul", "any": "reduce_any", "all": "reduce_all"}     # of NumPy -> of tfnb
# No gradient passes these.
CUTS = ("ArgMax", "ArgMin", "Equal", "NotEqual", "Greater", "GreaterEqual", "Less", "LessEqual", "Round", "Rint",
        "Floor", "Ceil", "Sign", "StopGradient", "OneHot", "PyFunc", "PyFuncStateless", "Multinomial")


def calls(seen: Evidence) -> list[ast.Call]:
    """Return the calls in the statement that failed."""
    return [node for node in ast.walk(seen.statement) if isinstance(node, ast.Call)] if seen.statement else []


def run_call(seen: Evidence) -> ast.Call | None:
    """Return the call in the statement that failed which runs a session, or might."""
    return next((call for call in calls(seen) if isinstance(call.func, ast.Attribute) and call.func.attr in
                 ("run", "eval")), None)


def fixed(seen: Evidence, old: ast.AST, new: str) -> str:
    """Return the first line of the statement that failed with one expression written otherwise; "" for long ones."""
    text = ast.unparse(seen.statement).partition("\n")[0] if seen.statement is not None else ""
    part = ast.unparse(old)
    return text.replace(part, new, 1) if text.count(part) == 1 and len(text) < 200 else ""


def value_in_place_of_tensor(seen: Evidence) -> Iterator[Words]:
    """`loss = sess.run(loss)`, at the next use of the name."""
    call = run_call(seen)
    if call is None or not (seen.said.startswith("Fetch argument") or "has no attribute 'eval'" in seen.said
                            or "has no attribute 'run'" in seen.said):
        return
    for name in names_below(call):
        now = seen.names.get(name.id, UNKNOWN)
        if issubclass(type(now), ARRAYS) and (name.id in seen.shadowed or seen.said.startswith("Fetch argument")
                                              and any(name is part for part in fetches(call))):
            was, place = seen.shadowed.get(name.id, (None, ""))
            yield {"name": name.id, "kind": type(now).__name__, "place": f" since {place}" if place else "",
                   **rebinding(seen, name.id, was, call)}
            return


def fetches(call: ast.Call) -> list[ast.expr]:
    """The expressions that a call of `run` fetches."""
    first = call.args[0] if call.args else keyword(call, "fetches")
    return list(first.elts) if isinstance(first, (ast.List, ast.Tuple)) else [first] if first is not None else []


def renamed(statement: ast.stmt, names: set[str]) -> str:
    """Return an assignment with `_value` behind those of its targets that are in `names`; "" if none is."""
    if not isinstance(statement, ast.Assign):
        return ""
    targets = [each for target in statement.targets for each in names_below(target) if each.id in names]
    for each in targets:
        each.id += "_value"
    text = ast.unparse(statement).partition("\n")[0] if targets else ""
    for each in targets:
        each.id = each.id.removesuffix("_value")
    return text


def rebinding(seen: Evidence, name: str, was: object, call: ast.Call) -> Words:
    """The code that gives a name its tensor again, for a button; else the line that keeps both."""
    session = call.func.value if isinstance(call.func, ast.Attribute) else None
    graph = f"{ast.unparse(session)}.graph" if session is not None and is_session(seen.value(session)) else \
        f"{seen.tf}.get_default_graph()"
    tensor = was if type(was) is Tensor else None
    if tensor is not None and tensor.op._dead is None:
        again = renamed(seen.statement, {name}) if seen.statement is not None else ""
        return {"fix": f"{name} = {graph}.get_tensor_by_name({tensor.name!r})" + (
            f"\n# and in the cell: {again}" if again else "")}
    return {"fix": f"{name}_value = {ast.unparse(call)}", "runs": ""}


def uninitialized(seen: Evidence) -> Iterator[Words]:
    """A variable that is read before it has a value; `init` may have been made before the variable was."""
    op = getattr(seen.error, "op", None)
    if type(seen.error) is not FailedPreconditionError or not seen.said.startswith("Attempting to use uninitialized") \
            or type(op) is not Operation:
        return
    op = op if is_variable(op) else next((t.op for t in op.inputs if is_variable(t.op)), op)
    names = names_in(seen.names, op.graph)
    name = names.get(op.name, [repr(op.name)])[0]
    made = [(key, value) for key, value in seen.names.items() if type(value) is Operation and value.graph is op.graph
            and value.type == "NoOp" and value.control_inputs and not key.startswith("_")
            and any(each.spec.role == "initializer" for each in value.control_inputs)]
    early = [key for key, value in made if value._id < op._id]
    covers = [key for key, value in made if value._id > op._id]
    why = f"`{covers[0]}` is made, but did not run in this session" if covers else \
        f"`{early[0]}` was made before `{name}`, which it leaves out" if early else "nothing has initialized it"
    call = run_call(seen)
    session = call.func.value if call is not None and isinstance(call.func, ast.Attribute) else None
    given = ast.unparse(session) if session is not None and is_session(seen.value(session)) else ""
    yield {"name": name, "why": why, "fix": f"{seen.tf}.notebook.initialize({given})"}


def closed_session(seen: Evidence) -> Iterator[Words]:
    """A run in a session that was closed, mostly by the end of its `with` block."""
    if seen.said not in ("Attempted to use a closed Session.", "Session has been closed."):
        return
    call = run_call(seen)
    name = ast.unparse(call.func.value) if call is not None and isinstance(call.func, ast.Attribute) and \
        is_session(seen.value(call.func.value)) else "sess"
    yield {"name": name, "tf": seen.tf}


def no_session(seen: Evidence) -> Iterator[Words]:
    """`.eval()` or `.run()` without a default session."""
    if seen.said.startswith("Cannot") and "no default session is registered" in seen.said:
        yield {"tf": seen.tf}


def tensor_as_bool(seen: Evidence) -> Iterator[Words]:
    """`if tensor:`, `while tensor:`, `assert tensor`, `a and b`, `0 < x < 1`."""
    if not seen.said.startswith("Using a `tf.Tensor` as a Python `bool`") or seen.statement is None:
        return
    head = {ast.If: ("if", "tf.cond"), ast.While: ("while", "tf.while_loop"), ast.Assert: ("assert", "tf.Assert")}
    word, instead = head.get(type(seen.statement), ("", ""))
    test = getattr(seen.statement, "test", seen.statement)
    for node in ast.walk(test):
        if isinstance(node, ast.BoolOp):
            word = "and" if isinstance(node.op, ast.And) else "or"
            instead = f"tf.logical_{word}"
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            word, instead = "not", "tf.logical_not"
        elif isinstance(node, ast.Compare) and len(node.ops) > 1:
            word, instead = "a chain of comparisons", "tf.logical_and"
        elif isinstance(node, ast.IfExp):
            word, instead = "if", "tf.where"
    yield {"word": word or "bool", "instead": (instead or "tf.cond").replace("tf.", f"{seen.tf}.", 1)}


def tensor_as_list(seen: Evidence) -> Iterator[Words]:
    """`for row in tensor`, `a, b = tensor`."""
    if seen.said.startswith("Tensor objects are only iterable"):
        yield {"tf": seen.tf}


def numpy_of_tensor(seen: Evidence) -> Iterator[Words]:
    """`np.mean(tensor)`."""
    if not seen.said.startswith("Cannot convert a symbolic Tensor"):
        return
    for call in calls(seen):
        name = seen.function(call)
        if name.startswith("numpy."):
            last = name.rpartition(".")[2]
            ours = FUNCTIONS.get(last, last)
            known = hasattr(seen.names.get(seen.tf), ours)
            yield {"name": f"np.{last}", "fix": fixed(seen, call.func, f"{seen.tf}.{ours}") if known else ""}
            return


def fetch_of_none(seen: Evidence) -> Iterator[Words]:
    """A name that means None is fetched: what a function without `return` gave, or a gradient that there is not."""
    call = run_call(seen)
    if call is not None and seen.said.startswith("Fetch argument None"):
        for part in fetches(call):
            if seen.value(part) is None:
                yield {"name": ast.unparse(part)}
                return


def other_graph(seen: Evidence) -> Iterator[Words]:
    """A session of one graph runs a tensor of another."""
    if "is not an element of this graph" in seen.said and not isinstance(seen.error, StaleTensorError):
        yield {"tf": seen.tf}


def variable_twice(seen: Evidence) -> Iterator[Words]:
    """`tf.get_variable` of a name that there is."""
    if seen.said.startswith("Variable ") and "already exists, disallowed" in seen.said:
        yield {"name": seen.said.split()[1], "tf": seen.tf}


def no_gradients(seen: Evidence) -> Iterator[Words]:
    """A loss that no variable reaches by differentiable ops."""
    if not seen.said.startswith("No gradients provided for any variable"):
        return
    op = get_default_graph()._by_name.get(seen.said.rpartition('loss Tensor("')[2].partition(":")[0])
    cut = _cut(op) if op is not None else None
    where = f"no gradient passes {cut.name!r} ({cut.type}), made at {cut.made_at}" if cut is not None else \
        "none of its variables is on the way to it"
    yield {"why": where}


def _cut(loss: Operation) -> Operation | None:
    """The op nearest to a loss that no gradient passes."""
    return next((op for op in upstream([loss]) if op.type in CUTS
                 or op.type == "Cast" and op.outputs[0].dtype.is_integer), None)


def label_form(seen: Evidence) -> Iterator[Words]:
    """One-hot labels for the sparse cross entropy, or numbers of classes for the other."""
    for call in calls(seen):
        name = seen.function(call)
        labels, logits = (seen.element(keyword(call, each)) for each in ("labels", "logits"))
        if not name.startswith("nn.") or type(labels) is not Tensor or type(logits) is not Tensor:
            continue
        ranks = labels.ndim, logits.ndim
        if name == "nn.sparse_softmax_cross_entropy_with_logits" and None not in ranks and ranks[0] == ranks[1]:
            yield {"what": "the sparse cross entropy takes the number of each class, and these are one-hot",
                   "fix": fixed(seen, call.func, f"{seen.tf}.nn.softmax_cross_entropy_with_logits_v2")}
        elif name.startswith("nn.softmax_cross_entropy_with_logits") and ranks == (1, 2):
            yield {"what": "this cross entropy takes a distribution over the classes, and these are numbers of classes",
                   "fix": fixed(seen, call.func, f"{seen.tf}.nn.sparse_softmax_cross_entropy_with_logits")}


def maximize(seen: Evidence) -> Iterator[Words]:
    """`optimizer.maximize(reward)`."""
    if "has no attribute 'maximize'" in seen.said and "Optimizer" in seen.said:
        call = next((each for each in calls(seen) if isinstance(each.func, ast.Attribute) and each.args
                     and each.func.attr == "maximize"), None)
        given = ast.unparse(call.args[0]) if call is not None else "reward"
        yield {"fix": fixed(seen, call, f"{ast.unparse(call.func).removesuffix('maximize')}minimize(-{given})")
               if call is not None and isinstance(call.args[0], (ast.Name, ast.Call, ast.Attribute)) else ""}


def dtypes_differ(seen: Evidence) -> Iterator[Words]:
    """An op of an int and a float."""
    if " has type " not in seen.said or " that does not match " not in seen.said or seen.statement is None:
        return
    tensors = {name.id: t for name in names_below(seen.statement) if type(t := seen.element(name)) is Tensor}
    floats = {t.dtype.base_dtype.name for t in tensors.values() if t.dtype.is_floating}
    ints = [name for name, t in tensors.items() if t.dtype.is_integer
            and f"type {t.dtype.base_dtype.name} " in seen.said]
    if len(floats) == 1 and len(ints) == 1:
        target = floats.pop()
        node = next(each for each in names_below(seen.statement) if each.id == ints[0])
        line = fixed(seen, node, f"{seen.tf}.cast({ints[0]}, {seen.tf}.{target})") if \
            len(ints[0]) > 1 else ""
        yield {"name": ints[0], "target": target, "fix": line or f"{seen.tf}.cast({ints[0]}, {seen.tf}.{target})"}
