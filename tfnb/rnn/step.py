"""One step of a recurrent network: where sequences have ended, outputs are zero and states stay."""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tfnb.control_flow.cond import cond
from tfnb.control_flow.tensor_array import TensorArray
from tfnb.core import nest
from tfnb.graph.stack import colocate_with
from tfnb.ops.math.compare import where


@dataclass(frozen=True)
class Lengths:
    """The lengths of the sequences of a batch, the shortest and the longest: tensors."""

    each: Any
    shortest: Any
    longest: Any


def initial_state_of(cell: Any, given: Any, batch_size: Any, dtype: Any) -> Any:
    """The state that was given, or the cell's own beginning. Raises ValueError if there is no dtype for that."""
    if given is not None:
        return given
    if not dtype:
        raise ValueError("If no initial_state is provided, argument `dtype` must be specified")
    if getattr(cell, "get_initial_state", None) is not None:
        return cell.get_initial_state(inputs=None, batch_size=batch_size, dtype=dtype)
    return cell.zero_state(batch_size, dtype)


def state_dtype(given: Any, state: Any) -> Any:
    """The dtype that was given, or the one of all parts of the state. Raises ValueError if they have several."""
    if given is not None:
        return given
    found = [part.dtype for part in nest.flatten(state)]
    if not found or any(dtype != found[0] for dtype in found):
        raise ValueError(f"Argument state={state} has tensors of different inferred dtypes. Unable to infer a single "
                         f"representative dtype. Dtypes received: {found}")
    return found[0]


def choose(ended: Any, old: Any, new: Any) -> Any:
    """`old` where sequences have ended, else `new`; TensorArrays and scalars are always new."""
    if isinstance(old, TensorArray) or old.shape.ndims == 0:
        return new
    with colocate_with(new):
        return where(ended, old, new)


def chosen(ended: Any, zero_output: Any, state: Any, output: Any, new_state: Any) -> tuple[Any, Any]:
    """(output, state) of a step: zeros and the old state for examples that have ended."""
    _check(zero_output, state, output, new_state)
    return _result(zero_output, state, _through(ended, zero_output, state, output, new_state))


def chosen_by_branches(time: Any, lengths: Lengths, zero_output: Any, state: Any,
                       call_cell: Callable[[], Any]) -> tuple[Any, Any]:
    """The same for an unrolled step: the cell is not computed beyond the longest sequence."""
    ended = time >= lengths.each
    zeros_and_state = nest.flatten(zero_output) + nest.flatten(state)

    def some() -> Any:
        output, new_state = call_cell()
        _check(zero_output, state, output, new_state)
        return cond(time < lengths.shortest, lambda: nest.flatten(output) + nest.flatten(new_state),
                    lambda: _through(ended, zero_output, state, output, new_state))
    made = cond(time >= lengths.longest, lambda: zeros_and_state, some)
    return _result(zero_output, state, made)


def _check(zero_output: Any, state: Any, output: Any, new_state: Any) -> None:
    nest.assert_same_structure(zero_output, output)
    nest.assert_same_structure(state, new_state)


def _through(ended: Any, zero_output: Any, state: Any, output: Any, new_state: Any) -> list[Any]:
    old, new = (nest.flatten(a) + nest.flatten(b) for a, b in ((zero_output, state), (output, new_state)))
    return [choose(ended, a, b) for a, b in zip(old, new, strict=True)]


def _result(zero_output: Any, state: Any, flat: Any) -> tuple[Any, Any]:
    zeros, before = nest.flatten(zero_output), nest.flatten(state)
    for made, like in zip(flat, zeros + before, strict=True):
        if not isinstance(made, TensorArray):
            made.set_shape(like.shape)
    return (nest.pack_sequence_as(zero_output, flat[:len(zeros)]), nest.pack_sequence_as(state, flat[len(zeros):]))
