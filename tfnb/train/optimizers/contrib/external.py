"""Minimization by algorithms outside of the graph, SciPy's: `tf.contrib.opt.ScipyOptimizerInterface`."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tfnb.autodiff.gradients import gradients
from tfnb.core.lazy import lazy_module
from tfnb.core.program import log
from tfnb.graph.parts.context import get_default_session
from tfnb.graph.parts.keys import GraphKeys
from tfnb.graph.stack import get_collection
from tfnb.ops.array.create import zeros_like
from tfnb.ops.array.joining import concat
from tfnb.ops.array.reshape import reshape
from tfnb.ops.control.source import placeholder

optimize = lazy_module("scipy.optimize", extra="scipy")
FromVector = Callable[[np.ndarray], list[np.ndarray]]


class ExternalOptimizerInterface:
    """Base class of minimization by an algorithm that calls for the loss and its gradient as often as it needs.

    loss: a scalar tensor; var_list: the variables, by default all trainable ones; equalities, inequalities: tensors
    that are held at 0, and at 0 or above; var_to_bounds: variable -> (lower, upper), each a number or an array of a
    shape that fits the variable; optimizer_kwargs: kept for the algorithm. A subclass defines `_minimize`.

    >>> class Descent(tf.contrib.opt.ExternalOptimizerInterface):
    ...     def _minimize(self, initial_val, loss_grad_func, **others):
    ...         return initial_val - 0.5 * loss_grad_func(initial_val)[1]
    >>> v = tf.Variable([1.0, 2.0])
    >>> optimizer = Descent(tf.reduce_sum(v ** 2))
    >>> sess.run(v.initializer)
    >>> optimizer.minimize(sess)
    >>> sess.run(v)
    array([0., 0.], dtype=float32)
    """

    def __init__(self, loss: Any, var_list: Sequence[Any] | None = None, equalities: Sequence[Any] | None = None,
                 inequalities: Sequence[Any] | None = None, var_to_bounds: Mapping[Any, Any] | None = None,
                 **optimizer_kwargs: Any) -> None:
        self._vars = list(get_collection(GraphKeys.TRAINABLE_VARIABLES) if var_list is None else var_list)
        self._loss = loss
        self._equalities, self._inequalities = list(equalities or ()), list(inequalities or ())
        self.optimizer_kwargs = optimizer_kwargs
        self._sizes = [var.shape.num_elements() for var in self._vars]
        self._gradient = self._flat(loss)
        self._equality_gradients = [self._flat(one) for one in self._equalities]
        self._inequality_gradients = [self._flat(one) for one in self._inequalities]
        self._given = [placeholder(var.dtype.base_dtype, var.shape) for var in self._vars]
        self._updates = [var.assign(given) for var, given in zip(self._vars, self._given, strict=True)]
        self._bounds = None if var_to_bounds is None else self._packed(var_to_bounds)

    def minimize(self, session: Any = None, feed_dict: Mapping[Any, Any] | None = None,
                 fetches: Sequence[Any] | None = None, step_callback: Callable[..., Any] | None = None,
                 loss_callback: Callable[..., Any] | None = None, **run_kwargs: Any) -> None:
        """Give the variables values at which the loss is least.

        session: by default the default one; feed_dict, run_kwargs: of each run; fetches: what is computed with the
        loss, and given to loss_callback, a function of their values; step_callback: called with all variables in one
        vector after each step of the algorithm.
        """
        sess = session or get_default_session()
        fetched, feeds = list(fetches or ()), dict(feed_dict or {})

        def run(values: list[Any], x: np.ndarray) -> list[Any]:
            here = dict(zip(self._vars, self._parts(x), strict=True))
            return sess.run(values, feed_dict={**here, **feeds}, **run_kwargs)   # type: ignore[no-any-return]

        def loss_grad(x: np.ndarray) -> tuple[Any, np.ndarray]:
            loss, gradient, *rest = run([self._loss, self._gradient, *fetched], x)
            if loss_callback is not None:
                loss_callback(*rest)
            return loss, gradient.astype(np.float64)

        def functions(values: list[Any], slopes: list[Any]) -> tuple[list[Any], list[Any]]:
            return ([lambda x, one=one: run([one], x)[0] for one in values],
                    [lambda x, one=one: run([one], x)[0].astype(np.float64) for one in slopes])
        equal, equal_slopes = functions(self._equalities, self._equality_gradients)
        above, above_slopes = functions(self._inequalities, self._inequality_gradients)
        start = np.concatenate([value.ravel() for value in sess.run(self._vars, **run_kwargs)])
        found = self._minimize(
            initial_val=start.astype(np.float64), loss_grad_func=loss_grad, equality_funcs=equal,
            equality_grad_funcs=equal_slopes, inequality_funcs=above, inequality_grad_funcs=above_slopes,
            packed_bounds=self._bounds, step_callback=step_callback, optimizer_kwargs=self.optimizer_kwargs)
        sess.run(self._updates, feed_dict=dict(zip(self._given, self._parts(found), strict=True)), **run_kwargs)

    def _minimize(self, initial_val: Any, loss_grad_func: Any, equality_funcs: Any, equality_grad_funcs: Any,
                  inequality_funcs: Any, inequality_grad_funcs: Any, packed_bounds: Any, step_callback: Any,
                  optimizer_kwargs: Any) -> Any:
        raise NotImplementedError("To use ExternalOptimizerInterface, subclass from it and implement the _minimize() "
                                  "method.")

    def _flat(self, y: Any) -> Any:
        slopes = gradients(y, self._vars)
        return concat([reshape(zeros_like(var) if slope is None else slope, [-1])
                       for var, slope in zip(self._vars, slopes, strict=True)], 0)

    def _parts(self, x: np.ndarray) -> list[np.ndarray]:
        parts = np.split(x, np.cumsum(self._sizes)[:-1])
        return [part.reshape(var.shape.as_list()).astype(var.dtype.base_dtype.as_numpy_dtype)
                for var, part in zip(self._vars, parts, strict=True)]

    def _packed(self, var_to_bounds: Mapping[Any, Any]) -> list[tuple[float, float]]:
        found: list[tuple[float, float]] = []
        for var in self._vars:
            lower, upper = (np.broadcast_to(bound, var.shape.as_list()).ravel()
                            for bound in var_to_bounds.get(var, (-np.inf, np.inf)))
            found += zip(lower.tolist(), upper.tolist(), strict=True)
        return found


class ScipyOptimizerInterface(ExternalOptimizerInterface):
    """Minimization by `scipy.optimize.minimize` (needs the extra `scipy`).

    optimizer_kwargs: of that function, `method` (by default "L-BFGS-B") and `options` among them; `callback`,
    `constraints` and `bounds` come from the other arguments. loss, var_list, equalities, inequalities, var_to_bounds:
    as of ExternalOptimizerInterface.

    >>> v = tf.Variable([7.0, 7.0])
    >>> optimizer = tf.contrib.opt.ScipyOptimizerInterface(tf.reduce_sum((v - [1.0, 3.0]) ** 2),
    ...                                                    var_to_bounds={v: ([2.0, 2.0], np.inf)})
    >>> sess.run(v.initializer)
    >>> optimizer.minimize(sess)
    >>> sess.run(v)
    array([2., 3.], dtype=float32)
    """

    _METHOD = "L-BFGS-B"

    def _minimize(self, initial_val: Any, loss_grad_func: Any, equality_funcs: Any, equality_grad_funcs: Any,
                  inequality_funcs: Any, inequality_grad_funcs: Any, packed_bounds: Any, step_callback: Any,
                  optimizer_kwargs: Any) -> Any:
        kwargs = dict(optimizer_kwargs)
        own = {"fun", "x0", "jac", "callback", "constraints", "bounds"} & kwargs.keys()
        if own:
            raise ValueError(f"ScipyOptimizerInterface gives {', '.join(sorted(own))} itself: equalities, "
                             "inequalities, var_to_bounds and minimize(step_callback) are its arguments for them")
        constraints = [{"type": kind, "fun": fun, "jac": jac}
                       for kind, funs, jacs in (("eq", equality_funcs, equality_grad_funcs),
                                                ("ineq", inequality_funcs, inequality_grad_funcs))
                       for fun, jac in zip(funs, jacs, strict=True)]
        result = optimize.minimize(loss_grad_func, initial_val, jac=True, callback=step_callback,
                                   method=kwargs.pop("method", self._METHOD), constraints=constraints,
                                   bounds=packed_bounds, **kwargs)
        log.info("Optimization terminated with:\n  Message: %s\n  Objective function value: %f\n  Number of "
                 "iterations: %s\n  Number of functions evaluations: %s", result.message, result.fun,
                 result.get("nit"), result.get("nfev"))
        return result.x
