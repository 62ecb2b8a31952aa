"""tf.case: the first of several branches whose predicate holds, as a chain of tf.cond."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from typing import Any

from tfnb.control_flow.assertions import Assert
from tfnb.control_flow.cond import completed, cond_steps
from tfnb.core import dtypes
from tfnb.graph.constant import make_constant
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.stack import control_dependencies, name_scope
from tfnb.ops.array.joining import stack
from tfnb.ops.declaration.public import public
from tfnb.ops.math.casting import cast
from tfnb.ops.math.compare import equal, less_equal
from tfnb.ops.reductions.reduce import reduce_sum

Fn = Callable[[], Any]


def case(pred_fn_pairs: Any, default: Fn | None = None, exclusive: bool = False, strict: bool = False,
         name: str = "case") -> Any:
    """Return the result of the function of the first pair whose predicate holds, else that of `default()`.

    pred_fn_pairs: (bool scalar tensor, function) in order, or a dict of them (exclusive=True is advised then: else
    the order is that of the dict). Without default, one of the predicates must hold: InvalidArgumentError otherwise
    when the graph runs; so too if exclusive and several hold. All functions are called now and return the same
    structure, as for tf.cond (strict: see there).

    Raises TypeError for arguments of another kind, ValueError for no pairs at all.

    >>> x = tf.placeholder(tf.int32, [])
    >>> y = tf.case([(tf.less(x, 0), lambda: tf.constant("negative")), (tf.equal(x, 0), lambda: tf.constant("zero"))],
    ...             default=lambda: tf.constant("positive"))
    >>> [sess.run(y, {x: value}) for value in (-3, 0, 5)]
    [b'negative', b'zero', b'positive']
    """
    predicates, actions = _pairs(pred_fn_pairs, default)
    with name_scope(name, "case", [predicates]):
        if default is None:
            default, predicates, actions = _last_as_default(predicates, actions)
        steps: Any = default
        for predicate, action in zip(reversed(predicates), reversed(actions), strict=True):
            steps = cond_steps(predicate, action, steps, strict, None)
        check = [_at_most(predicates, 1, "Input error: exclusive=True")] if exclusive else None
        with control_dependencies(check) if check else nullcontext():
            return completed(steps) if predicates else steps()


@public("switch_case")
def switch_case(branch_index: Any, branch_fns: Any, default: Fn | None = None, name: str = "switch_case") -> Any:
    """Return the result of the function that an index chooses.

    branch_index: a scalar int32 tensor. branch_fns: a list of functions, numbered from 0, a list of (int, function), or
    a dict of them. default: for any other index; without it, the last function. All functions are
    called now and return the same structure, as for tf.cond. Raises TypeError for arguments of another kind, ValueError
    for indices that are not 0, 1, 2...

    >>> x = tf.placeholder(tf.int32, [])
    >>> y = tf.switch_case(x, [lambda: tf.constant("zero"), lambda: tf.constant("one")], lambda: tf.constant("many"))
    >>> [sess.run(y, {x: i}) for i in (0, 1, 7)]
    [b'zero', b'one', b'many']
    """
    found = _numbered(branch_fns, default)
    with name_scope(name, "switch_case", [branch_index]):
        index = convert_to_tensor(branch_index, name="branch_index")
        if index.dtype != dtypes.int32:
            raise TypeError(f"expected branch_index of int32, got {index.dtype.name}")
        *first, last = found
        pairs = [(equal(index, number), fn) for number, fn in (found if default is not None else first)]
        otherwise = last[1] if default is None else default
        return case(pairs, default=otherwise) if pairs else otherwise()


def _numbered(branch_fns: Any, default: Any) -> list[tuple[int, Fn]]:
    """Return the functions with their numbers, in order of these. Raises TypeError, ValueError."""
    if isinstance(branch_fns, Mapping):
        found = list(branch_fns.items())
    elif isinstance(branch_fns, (list, tuple)):
        found = [each if isinstance(each, tuple) else (i, each) for i, each in enumerate(branch_fns)]
    else:
        raise TypeError(f"'branch_fns' must be a list, tuple, or dict, got {type(branch_fns).__name__}")
    for pair in found:
        if len(pair) != 2 or not isinstance(pair[0], int) or not callable(pair[1]):
            raise TypeError(f"Each entry in 'branch_fns' must be a function or an (int, function) pair, got {pair}")
    if default is not None and not callable(default):
        raise TypeError(f"default must be callable, got {default!r}")
    found.sort(key=lambda pair: pair[0])
    numbers = [number for number, _ in found]
    if not found or numbers != list(range(len(found))):
        raise ValueError(f"expected functions for the indices 0, 1, 2... without a gap, got those for {numbers}")
    return found


def _pairs(pairs: Any, default: Any) -> tuple[list[Tensor], list[Fn]]:
    if not isinstance(pairs, (list, tuple, Mapping)):
        raise TypeError("'pred_fn_pairs' must be a list, tuple, or dict. "
                        f"Received: {type(pairs)}")
    if not len(pairs):
        raise ValueError("case: at least one (predicate, function) pair is needed")
    found = list(pairs.items()) if isinstance(pairs, Mapping) else list(pairs)
    for pair in found:
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise TypeError(f"Each entry in 'pred_fn_pairs' must be a 2-tuple. Received {pair}.")
        if not isinstance(pair[0], Tensor) or pair[0].dtype != dtypes.bool:
            raise TypeError(f"pred must be Tensor of bool dtype, got {pair[0]!r}")
        if not callable(pair[1]):
            raise TypeError(f"fn for pred {pair[0].name} must be callable.")
    if default is not None and not callable(default):
        raise TypeError("default must be callable.")
    return [p for p, _ in found], [f for _, f in found]


def _last_as_default(predicates: list[Tensor], actions: list[Fn]) -> tuple[Fn, list[Tensor], list[Fn]]:
    """Use the last branch as the default, once it is known that its predicate holds."""
    k = len(predicates) - 1
    others = predicates[:k]

    def default() -> Any:
        data = ["Input error: None of conditions evaluated as True:", stack(predicates, name="preds_c")]
        checks = [_at_most(others, 0, f"Implementation error: selected default action #{k} was called, but some of "
                                      "other predicates are True: ")] if others else []
        with control_dependencies([*checks, Assert(predicates[k], data)]):
            return actions[k]()
    return default, others, actions[:k]


def _at_most(predicates: Sequence[Tensor], n: int, text: str) -> Operation:
    """Return an operation that raises InvalidArgumentError if more than `n` of the predicates hold."""
    held = stack(predicates, name="preds_c")
    count = reduce_sum(cast(held, dtypes.int32), name="num_true_conds")
    few = less_equal(count, make_constant(n, name="n_true_conds"))
    names = ", ".join(p.name for p in predicates)
    return Assert(few, [f"{text}: more than {n} conditions ({names}) evaluated as True:", held],
                   summarize=len(predicates))
