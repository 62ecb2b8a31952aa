"""tf.while_loop: loops of the graph, by WhileContext."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfnb.control_flow.while_context import WhileContext
from tfnb.core import nest
from tfnb.core.shape import TensorShape
from tfnb.graph.constant import make_constant
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.keys import GraphKeys
from tfnb.graph.stack import get_default_graph, name_scope
from tfnb.ops.math.compare import logical_and


def while_loop(cond: Callable[..., Any], body: Callable[..., Any], loop_vars: Any, shape_invariants: Any = None,
               parallel_iterations: int = 10, back_prop: bool = True, swap_memory: bool = False,
               name: str | None = None, maximum_iterations: Any = None, return_same_structure: bool = False) -> Any:
    """Call `body` on the loop variables again and again while `cond` of them is true; returns their last values.

    cond(*loop_vars) -> bool scalar; body(*loop_vars) -> the next loop_vars in the same structure: both are called once,
    now. loop_vars: tensors and TensorArrays in lists, tuples, dicts. shape_invariants: a TensorShape for each, where
    sizes that change from round to round are None. maximum_iterations: an int or int scalar. back_prop: gradients may
    be wanted. parallel_iterations and swap_memory go into the graph; here one round runs after the other, in memory.
    return_same_structure: return a list also for a single variable.

    Raises TypeError for functions that can't be called, parallel_iterations below 1, and other structures of another
    kind; ValueError without loop_vars and for a body that changes number, structure or shape of the variables.

    >>> i, total = tf.while_loop(lambda i, total: i < 5, lambda i, total: (i + 1, total + i), [0, 0])
    >>> sess.run([i, total])
    [5, 10]
    """
    with name_scope(name, "while", loop_vars):
        if not loop_vars:
            raise ValueError("'loop_vars' must be provided.")
        if not callable(cond):
            raise TypeError("'cond' must be callable.")
        if not callable(body):
            raise TypeError("'body' must be callable.")
        if parallel_iterations < 1:
            raise TypeError("'parallel_iterations' must be a positive integer.")
        counted = maximum_iterations is not None
        if counted:
            single = len(loop_vars) == 1 and not return_same_structure
            cond, body, loop_vars, maximum_iterations = _counted(cond, body, loop_vars, maximum_iterations, single)
            if shape_invariants is not None:
                inner = shape_invariants[0] if single else shape_invariants
                shape_invariants = (TensorShape([]), inner)
        if shape_invariants is not None:
            _check_invariants(loop_vars, shape_invariants)
        context = WhileContext(maximum_iterations=maximum_iterations, parallel_iterations=parallel_iterations,
                               back_prop=back_prop, swap_memory=swap_memory)
        if context.outer_context is None:
            get_default_graph().add_to_collection(GraphKeys.WHILE_CONTEXT, context)
        else:
            context.outer_context.nested.append(context)
        result = context.build_loop(cond, body, loop_vars, shape_invariants, return_same_structure)
        return result[1] if counted else result


def _counted(cond: Any, body: Any, loop_vars: Any, most: Any, single: bool) -> tuple[Any, Any, Any, Any]:
    """Return the same loop with a counter that stops it after `most` iterations."""
    most = convert_to_tensor(most, name="maximum_iterations")
    if most.static is None or len(most.static):
        raise ValueError(f"maximum_iterations must be a scalar, saw shape: {most.shape}")
    counter = make_constant(0, dtype=most.dtype, name="iteration_counter")
    if single:
        return (lambda i, v: logical_and(i < most, cond(v)), lambda i, v: (i + 1, body(v)),
                (counter, loop_vars[0]), most)
    return (lambda i, v: logical_and(i < most, cond(*v)), lambda i, v: (i + 1, body(*v)), (counter, loop_vars), most)


def _check_invariants(loop_vars: Any, invariants: Any) -> None:
    """Raises ValueError or TypeError unless there is a TensorShape for each variable."""
    nest.assert_same_structure(loop_vars, invariants, check_types=False)
    for shape in nest.flatten(invariants):
        if not isinstance(shape, TensorShape):
            raise TypeError(f"'shape_invariants' must have TensorShapes, but got {shape!r}")
