"""Recognisers of mistakes that raise no error, in the code of a cell that has run."""
from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from tfnb.graph.closure import closure, upstream
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.parts.python_names import is_ours
from tfnb.graph.stack import graph_of
from tfnb.notebook.cells.effects import initializes, is_variable
from tfnb.notebook.lessons.evidence import UNKNOWN, Evidence, definition, keyword, names_below, walk
from tfnb.notebook.lessons.failures import renamed
from tfnb.notebook.lessons.lesson import Words

OFTEN = 10              # iterations of a loop that make the same ops
MOST = 500_000          # elements of a feed that are looked at
LOOPS = ast.For, ast.While, ast.AsyncFor
STARTS = ("global_variables_initializer", "initialize_all_variables", "local_variables_initializer",
          "variables_initializer", "tables_initializer")
ASSIGNS = ("assign", "assign_add", "assign_sub")
BUILDERS = ("while_loop", "map_fn", "foldl", "foldr", "scan", "cond", "case")
ONCE = ("numpy.random.", "random.", "time.time", "time.perf_counter", "datetime.")     # functions with a value a call


def shadowing(seen: Evidence) -> Iterator[Words]:
    """`loss = sess.run(loss)`, `a, b = sess.run([a, b])`, `loss = loss.eval()`."""
    for node in seen.nodes:
        if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Call):
            continue
        parts, target = seen.fetched(node.value), node.targets[0]
        if not parts and isinstance(node.value.func, ast.Attribute) and node.value.func.attr == "eval":
            parts = [node.value.func.value]             # its name is no tensor any more
        ran = {part.id for part in parts if isinstance(part, ast.Name)}
        lost = [each.id for each in names_below(target) if each.id in ran
                and not is_ours(seen.names.get(each.id, UNKNOWN))]
        lost = [name for name in lost if seen.names.get(name) is not None]         # of an operation
        if lost:
            yield {"name": lost[0], "line": str(node.lineno), "fix": renamed(node, set(lost))}


def loops(seen: Evidence) -> list[ast.For | ast.While]:
    """Return the loops of the cell, the innermost last."""
    return [node for node in seen.nodes if isinstance(node, LOOPS)]       # type: ignore[misc]


def inside(loop: ast.stmt, line: int) -> bool:
    """Return whether a line is in the body of a loop."""
    return loop.lineno < line <= (loop.end_lineno or 0) or loop.lineno == line == loop.end_lineno


def growing(seen: Evidence) -> Iterator[Words]:
    """Ops that each iteration of a loop adds, while the loop runs the graph."""
    found = loops(seen)
    if not found or len(seen.made) < OFTEN:
        return
    runs = [call.lineno for call in seen.calls if isinstance(call.func, ast.Attribute)
            and (seen.session(call) is not None or call.func.attr == "eval")]
    times: Counter[Any] = Counter((op.graph, op._recorded, op.type) for op in seen.made)
    rounds: dict[Any, int] = {}             # of a place in the code: as often as it makes the op that it makes least
    for (graph, recorded, _), count in times.items():
        rounds[graph, recorded] = min(count, rounds.get((graph, recorded), count))
    lines: dict[int, list[Operation]] = {}
    for op in seen.made:
        if rounds[op.graph, op._recorded] >= OFTEN:
            lines.setdefault(op.frames[-1][1], []).append(op)
    for line, ops in lines.items():
        loop = next((each for each in reversed(found) if inside(each, line)), None)
        if loop is not None and any(inside(loop, run) for run in runs):
            kinds = ", ".join(dict.fromkeys(op.type for op in ops if op.type != "Const"))
            yield {"line": str(line), "count": str(len(ops)), "times": str(rounds[ops[0].graph, ops[0]._recorded]),
                   "types": kinds[:60] or "Const"}
            return


def trains(found: Tensor | Operation | None) -> bool:
    """Return whether a fetch updates variables by an optimizer."""
    op = found.op if type(found) is Tensor else found
    return type(op) is Operation and any(each.spec.role == "optimizer" for each in upstream([op]))


def starts(found: Tensor | Operation | None) -> list[Operation]:
    """Return the variables that running an op gives their first values."""
    op = found.op if type(found) is Tensor else found
    if type(op) is not Operation:
        return []
    ops = closure([op], lambda each: each.control_inputs if each.type == "NoOp" else ())
    return [each.inputs[0].op for each in ops if each.inputs and initializes(each) and _first(each)]


def _first(op: Operation) -> bool:
    """Return whether an op that assigns to a variable is the variable's own initializer."""
    return op.name == f"{op.inputs[0].op.name}/Assign" and op.type in ("Assign", "AssignVariableOp")


def uncounted_steps(seen: Evidence) -> Iterator[Words]:
    """A global step that no op changes, in a graph that is trained."""
    around = loops(seen)
    for call in seen.runs() if around else ():
        element = next((each for part in seen.fetched(call) if trains(each := seen.element(part))), None)
        if element is None or not any(inside(loop, call.lineno) for loop in around):
            continue
        for step in graph_of(element).get_collection("global_step"):
            if not _changes(step.op):
                name = next((name for name, value in seen.names.items() if value is step), "global_step")
                yield {"name": name}
                return


def _changes(variable: Operation) -> bool:
    """Return whether any op but its initializer and a saver writes to a variable."""
    for op in (each for out in variable.outputs for each in out.consumers()):
        if op.type.startswith(("Assign", "Scatter", "CountUpTo")) and op.inputs[0].op is variable:
            if not _first(op) and not any(
                    each.type.startswith("Restore") for each in upstream([op])):
                return True
    return False


def starting_in_loop(seen: Evidence) -> Iterator[Words]:
    """The initializer and a training step in one body of a loop: each step begins anew."""
    for loop in loops(seen):
        direct = [node for statement in loop.body if not isinstance(statement, LOOPS) for node in
                  [statement, *walk(statement)]]
        calls = [node for node in direct if isinstance(node, ast.Call)]
        again = [call for call in calls for part in seen.fetched(call) if starts(seen.element(part))
                 or seen.function(part).endswith(STARTS)]
        inner = [node for node in direct if isinstance(node, LOOPS)]
        trained = [call for call in calls for part in seen.fetched(call) if trains(seen.element(part))
                   and not any(inside(each, call.lineno) for each in inner)]
        if again and trained and again[0].lineno <= trained[0].lineno:
            yield {"line": str(again[0].lineno)}
            return


def starting_after_restore(seen: Evidence) -> Iterator[Words]:
    """`saver.restore(...)`, and then the initializer of what was restored."""
    restored: ast.Call | None = None
    for call in sorted(seen.calls, key=lambda each: each.lineno):
        func = call.func
        if isinstance(func, ast.Attribute) and func.attr == "restore" and is_ours(seen.value(func.value)):
            restored = call
        elif restored is not None and seen.fetched(call):
            whole = [part for part in seen.fetched(call) if seen.function(part).endswith(STARTS[:2])
                     or starts(found := seen.element(part)) and getattr(found, "type", "") == "NoOp"]
            if whole and not _branches(seen, restored, call):
                yield {"line": str(call.lineno), "restored": str(restored.lineno)}
            return


def _branches(seen: Evidence, first: ast.Call, second: ast.Call) -> bool:
    """Return whether two calls are in different branches, or in one that may not be taken."""
    return any(isinstance(node, (ast.If, ast.Try)) and (inside(node, first.lineno) or inside(node, second.lineno))
               for node in seen.nodes)


def made_not_run(seen: Evidence) -> Iterator[Words]:
    """`tf.global_variables_initializer()` or `w.assign(1)` as a statement."""
    last = seen.tree.body[-1] if seen.tree.body else None
    for node in seen.nodes:
        if not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Call):
            continue
        call, name = node.value, seen.function(node.value)
        func = call.func
        method = func.attr if isinstance(func, ast.Attribute) else ""
        held = seen.value(func.value) if isinstance(func, ast.Attribute) else UNKNOWN
        assigns = name in ASSIGNS or method in ASSIGNS and type(op := seen.element(func.value)) is Operation \
            and is_variable(op) if isinstance(func, ast.Attribute) else False
        optimizes = method in ("minimize", "apply_gradients") and isinstance(func, ast.Attribute) and (
            seen.function(func.value).endswith("Optimizer")
            or is_ours(held) and any(base.__name__ == "Optimizer" for base in type(held).__mro__))
        if name in STARTS or (assigns or name == "Print") and node is not last or optimizes:
            session = next((name for name, value in seen.names.items() if is_ours(value)
                            and type(value).__name__ in ("Session", "InteractiveSession")), "sess")
            text = ast.unparse(call)
            line = f"train = {text}" if optimizes else f"{session}.run({text})"
            yield {"name": ast.unparse(func), "line": str(node.lineno), "fix": line if len(line) < 200
                   and name != "Print" else "x = tf.Print(x, [x])" if name == "Print" else ""}
            return


def equal_tensors(seen: Evidence) -> Iterator[Words]:
    """`tensor == other`, which compares the objects, where the values are meant."""
    used = {each.id for call in seen.calls if _of_tfnb(seen, call) for part in call.args for each in names_below(part)}
    for node in seen.nodes:
        places = [node.test] if isinstance(node, (ast.If, ast.While, ast.Assert, ast.IfExp)) else \
            [*node.args] if isinstance(node, ast.Call) and _of_tfnb(seen, node) else \
            [node.value] if isinstance(node, ast.Assign) and any(
                isinstance(each, ast.Name) and each.id in used for each in node.targets) else []
        for part in places:
            if isinstance(part, ast.Compare) and len(part.ops) == 1 and isinstance(part.ops[0], (ast.Eq, ast.NotEq)):
                sides = part.left, part.comparators[0]
                tensors = [side for side in sides if type(seen.element(side)) is Tensor]
                number = any(isinstance(side, ast.Constant) and isinstance(side.value, (int, float)) for side in sides)
                if tensors and (number or not isinstance(node, (ast.If, ast.While, ast.Assert, ast.IfExp))):
                    word = "equal" if isinstance(part.ops[0], ast.Eq) else "not_equal"
                    yield {"text": ast.unparse(part), "line": str(part.lineno),
                           "fix": f"{seen.tf}.{word}({ast.unparse(sides[0])}, {ast.unparse(sides[1])})"}
                    return


def _of_tfnb(seen: Evidence, call: ast.Call) -> bool:
    name = seen.function(call)
    return bool(name) and not name.startswith(("numpy.", "random.", "time.", "datetime."))


def once_for_all(seen: Evidence) -> Iterator[Words]:
    """`print`, random numbers of NumPy, the clock or a counter in a function that is called to build the graph."""
    for call in seen.calls:
        name = seen.function(call)
        func = call.func
        held = seen.value(func.value) if isinstance(func, ast.Attribute) else UNKNOWN
        mapped = isinstance(func, ast.Attribute) and func.attr in ("map", "filter", "flat_map") and is_ours(held)
        if name not in BUILDERS and not mapped:
            continue
        for given in (*call.args, *(each.value for each in call.keywords)):
            body = given if isinstance(given, ast.Lambda) else definition(seen.value(given))
            found = _effect(seen, body) if body is not None else ""
            if found:
                yield {"what": found, "name": ast.unparse(func), "line": str(call.lineno)}
                return


def _effect(seen: Evidence, function: ast.AST) -> str:
    """Return the code in a function that Python runs once and that is meant for each run; "" if there is none."""
    parameters = {each.arg for each in ast.walk(getattr(function, "args", function)) if isinstance(each, ast.arg)}
    outer = {name for node in walk(function) if isinstance(node, (ast.Global, ast.Nonlocal)) for name in node.names}
    for node in walk(function):
        if isinstance(node, ast.Call) and seen.function(node).startswith(ONCE):
            return ast.unparse(node)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print" and \
                any(each.id in parameters for part in node.args for each in names_below(part)):
            return ast.unparse(node)
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name) and node.target.id in outer:
            return ast.unparse(node)
    return ""


def printed_tensor(seen: Evidence) -> Iterator[Words]:
    """`print(loss)` in a loop that runs the graph: the tensor, not its value."""
    runs = [call.lineno for call in seen.runs()]
    stored = {node.id for node in seen.nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    for loop in loops(seen):
        if not any(inside(loop, line) for line in runs):
            continue
        for node in walk(loop):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print":
                for part in _shown(node.args):
                    if isinstance(part, ast.Name) and part.id not in stored and type(seen.element(part)) is Tensor:
                        yield {"name": part.id, "line": str(node.lineno)}
                        return


def _shown(parts: Iterable[ast.expr]) -> Iterator[ast.expr]:
    """The expressions that print shows: those in f-strings too."""
    for part in parts:
        if isinstance(part, ast.JoinedStr):
            yield from (each.value for each in part.values if isinstance(each, ast.FormattedValue))
        else:
            yield part


def cut_feed(seen: Evidence) -> Iterator[Words]:
    """Floats with fractions that are fed to a placeholder of integers, and cut."""
    for call in seen.runs():
        given = keyword(call, "feed_dict") or (call.args[1] if len(call.args) > 1 else None)
        for key, value in zip(given.keys, given.values, strict=True) if isinstance(given, ast.Dict) else ():
            tensor, held = seen.element(key), seen.value(value)
            array = held if type(held) is np.ndarray else _literal(value)
            if type(tensor) is Tensor and tensor.dtype.is_integer and array is not None \
                    and array.dtype.kind == "f" and array.size <= MOST and bool((array != np.trunc(array)).any()):
                yield {"name": ast.unparse(value), "key": ast.unparse(key) if key is not None else "",
                       "dtype": tensor.dtype.name, "kind": str(array.dtype)}
                return


def _literal(node: ast.expr) -> np.ndarray | None:
    """The array of numbers that are written out; None for anything else."""
    try:
        return np.asarray(ast.literal_eval(node))
    except (ValueError, TypeError, SyntaxError):
        return None
