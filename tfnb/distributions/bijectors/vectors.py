"""Bijectors of vectors, and those that are made of other bijectors."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tfnb.core.arguments import DISTRIBUTIONS, describe
from tfnb.core.shape import TensorShape
from tfnb.distributions.bijectors.bijector import Bijector
from tfnb.distributions.linear import scale_operator
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.stack import name_scope
from tfnb.linalg.operators.operator import LinearOperator
from tfnb.ops.array.gather import gather
from tfnb.ops.array.joining import concat
from tfnb.ops.array.reshape import invert_permutation, reshape
from tfnb.ops.array.reshape import shape as shape_of
from tfnb.ops.declaration.raw import raw


class Chain(Bijector):
    """The composition of bijectors: Chain([f, g]) is y = f(g(x)).

    bijectors: a list, the last of which comes first; an empty one is the identity.

    >>> tfb = tf.contrib.distributions.bijectors
    >>> sess.run(tfb.Chain([tfb.Exp(), tfb.AffineScalar(scale=2.0)]).forward([0.0, 1.0]))
    array([1.    , 7.3891], dtype=float32)
    """

    def __init__(self, bijectors: Sequence[Bijector] | None = None, validate_args: bool = False,
                 name: str | None = None) -> None:
        self._bijectors = list(bijectors or ())
        before, change = 0, 0                    # axes of x that are joined; axes that the last bijectors have added
        for each in reversed(self._bijectors):
            before = max(before, each.forward_min_event_ndims - change)
            change += each.inverse_min_event_ndims - each.forward_min_event_ndims
        super().__init__([t for b in self._bijectors for t in b.graph_parents],
                         all(b.is_constant_jacobian for b in self._bijectors), validate_args,
                         forward_min_event_ndims=before, inverse_min_event_ndims=before + change,
                         name=name or "_of_".join(["chain", *(b.name for b in self._bijectors)]))

    @property
    def bijectors(self) -> list[Bijector]:
        """The bijectors."""
        return self._bijectors

    def _forward(self, x: Any) -> Any:
        for each in reversed(self._bijectors):
            x = each.forward(x)
        return x

    def _inverse(self, y: Any) -> Any:
        for each in self._bijectors:
            y = each.inverse(y)
        return y

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        found, ndims = convert_to_tensor(0.0, dtype=x.dtype), self._forward_ndims
        for each in reversed(self._bijectors):
            found = found + each.forward_log_det_jacobian(x, ndims)
            ndims += each.inverse_min_event_ndims - each.forward_min_event_ndims
            x = each.forward(x)
        return found

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        found, ndims = convert_to_tensor(0.0, dtype=y.dtype), self._inverse_ndims
        for each in self._bijectors:
            found = found + each.inverse_log_det_jacobian(y, ndims)
            ndims += each.forward_min_event_ndims - each.inverse_min_event_ndims
            y = each.inverse(y)
        return found

    def _forward_event_shape(self, shape: TensorShape) -> Any:
        for each in reversed(self._bijectors):
            shape = each.forward_event_shape(shape)
        return shape

    def _inverse_event_shape(self, shape: TensorShape) -> Any:
        for each in self._bijectors:
            shape = each.inverse_event_shape(shape)
        return shape

    def _forward_event_shape_tensor(self, shape: Any) -> Any:
        for each in reversed(self._bijectors):
            shape = each.forward_event_shape_tensor(shape)
        return shape

    def _inverse_event_shape_tensor(self, shape: Any) -> Any:
        for each in self._bijectors:
            shape = each.inverse_event_shape_tensor(shape)
        return shape


class Invert(Bijector):
    """The inverse of a bijector, as a bijector.

    bijector: the one whose `inverse` is to be `forward`.

    >>> tfb = tf.contrib.distributions.bijectors
    >>> sess.run(tfb.Invert(tfb.Exp()).forward([1.0, 10.0]))
    array([0.    , 2.3026], dtype=float32)
    """

    def __init__(self, bijector: Bijector, validate_args: bool = False, name: str | None = None) -> None:
        self._bijector = bijector
        super().__init__(bijector.graph_parents, bijector.is_constant_jacobian, validate_args, bijector.dtype,
                         bijector.inverse_min_event_ndims, bijector.forward_min_event_ndims,
                         name or f"invert_{bijector.name}")

    @property
    def bijector(self) -> Bijector:
        """The bijector that is inverted."""
        return self._bijector

    def _forward(self, x: Any) -> Any:
        return self._bijector.inverse(x)

    def _inverse(self, y: Any) -> Any:
        return self._bijector.forward(y)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return self._bijector.inverse_log_det_jacobian(x, self._forward_ndims)

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return self._bijector.forward_log_det_jacobian(y, self._inverse_ndims)

    def _forward_event_shape(self, shape: TensorShape) -> Any:
        return self._bijector.inverse_event_shape(shape)

    def _inverse_event_shape(self, shape: TensorShape) -> Any:
        return self._bijector.forward_event_shape(shape)

    def _forward_event_shape_tensor(self, shape: Any) -> Any:
        return self._bijector.inverse_event_shape_tensor(shape)

    def _inverse_event_shape_tensor(self, shape: Any) -> Any:
        return self._bijector.forward_event_shape_tensor(shape)


class Inline(Bijector):
    """A bijector of functions.

    forward_fn, inverse_fn: of x and of y; inverse_log_det_jacobian_fn, forward_log_det_jacobian_fn: of y and of x, over
    the axes that the functions join, one of them at least; forward_event_shape_fn, inverse_event_shape_fn: of a
    TensorShape, and forward_event_shape_tensor_fn, inverse_event_shape_tensor_fn: of a vector, for functions that
    change shapes; is_constant_jacobian, forward_min_event_ndims, inverse_min_event_ndims: as of `Bijector`.

    >>> b = tf.contrib.distributions.bijectors.Inline(tf.exp, tf.log, lambda y: -tf.log(y), forward_min_event_ndims=0)
    >>> sess.run(b.inverse_log_det_jacobian([1.0, 2.0], event_ndims=0))
    array([-0.    , -0.6931], dtype=float32)
    """

    def __init__(self, forward_fn: Callable[..., Any] | None = None, inverse_fn: Callable[..., Any] | None = None,
                 inverse_log_det_jacobian_fn: Callable[..., Any] | None = None,
                 forward_log_det_jacobian_fn: Callable[..., Any] | None = None,
                 forward_event_shape_fn: Callable[..., Any] | None = None,
                 forward_event_shape_tensor_fn: Callable[..., Any] | None = None,
                 inverse_event_shape_fn: Callable[..., Any] | None = None,
                 inverse_event_shape_tensor_fn: Callable[..., Any] | None = None, is_constant_jacobian: bool = False,
                 validate_args: bool = False, forward_min_event_ndims: int | None = None,
                 inverse_min_event_ndims: int | None = None, name: str = "inline") -> None:
        super().__init__(None, is_constant_jacobian, validate_args, None, forward_min_event_ndims,
                         inverse_min_event_ndims, name)
        given = {"_forward": forward_fn, "_inverse": inverse_fn,
                 "_inverse_log_det_jacobian": inverse_log_det_jacobian_fn,
                 "_forward_log_det_jacobian": forward_log_det_jacobian_fn,
                 "_forward_event_shape": forward_event_shape_fn, "_inverse_event_shape": inverse_event_shape_fn,
                 "_forward_event_shape_tensor": forward_event_shape_tensor_fn,
                 "_inverse_event_shape_tensor": inverse_event_shape_tensor_fn}
        vars(self).update({hook: fn for hook, fn in given.items() if fn is not None})


class Permute(Bijector):
    """A permutation of the elements of vectors.

    permutation: integers; y[i] is x[permutation[i]].

    >>> sess.run(tf.contrib.distributions.bijectors.Permute([2, 0, 1]).forward([1.0, 2.0, 3.0]))
    array([3., 1., 2.], dtype=float32)
    """

    def __init__(self, permutation: Any, validate_args: bool = False, name: str | None = None) -> None:
        self._permutation = convert_to_tensor(permutation, name="permutation")
        if not self._permutation.dtype.is_integer:
            raise TypeError(f"permutation.dtype ({self._permutation.dtype.name}) should be `int`-like.")
        super().__init__([self._permutation], True, validate_args, forward_min_event_ndims=1, name=name or "permute")

    @property
    def permutation(self) -> Any:
        """The permutation."""
        return self._permutation

    def _forward(self, x: Any) -> Any:
        return gather(x, self._permutation, axis=-1)

    def _inverse(self, y: Any) -> Any:
        return gather(y, invert_permutation(self._permutation), axis=-1)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return convert_to_tensor(0.0, dtype=x.dtype)


class Reshape(Bijector):
    """The reshaping of events: from `event_shape_in` to `event_shape_out`.

    event_shape_out: of y; event_shape_in: of x, by default [-1]; lists of integers, one of which may be -1.

    >>> sess.run(tf.contrib.distributions.bijectors.Reshape([2, 2]).forward([1.0, 2.0, 3.0, 4.0]))
    array([[1., 2.],
           [3., 4.]], dtype=float32)
    """

    def __init__(self, event_shape_out: Any, event_shape_in: Any = (-1,), validate_args: bool = False,
                 name: str | None = None) -> None:
        self._out, self._in = list(event_shape_out), list(event_shape_in)
        super().__init__(None, True, validate_args, None, len(self._in), len(self._out), name or "reshape")

    def _forward(self, x: Any) -> Any:
        return self._reshaped(x, self._in, self._out)

    def _inverse(self, y: Any) -> Any:
        return self._reshaped(y, self._out, self._in)

    @staticmethod
    def _reshaped(x: Any, before: list[int], after: list[int]) -> Any:
        ndims = x.shape.ndims
        if ndims is None:
            raise ValueError("Reshape needs a tensor of known rank")
        lead = ndims - len(before)
        if None not in x.shape.as_list()[:lead]:
            return reshape(x, [*x.shape.as_list()[:lead], *after])
        return reshape(x, concat([shape_of(x)[:lead], np.array(after, np.int32)], 0))

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return convert_to_tensor(0.0, dtype=x.dtype)

    def _forward_event_shape(self, shape: TensorShape) -> Any:
        return self._new_shape(shape, self._out)

    def _inverse_event_shape(self, shape: TensorShape) -> Any:
        return self._new_shape(shape, self._in)

    @staticmethod
    def _new_shape(shape: TensorShape, after: list[int]) -> TensorShape:
        count = shape.num_elements()
        known = int(np.prod([n for n in after if n != -1]))
        return TensorShape([n if n != -1 else None if count is None else count // known for n in after])


class AffineLinearOperator(Bijector):
    """The bijector y = scale @ x + shift of vectors, for a linear operator.

    shift: vectors, 0 by default; scale: a LinearOperator (else TypeError) that its hints say to be not singular (else
    ValueError), the identity by default.

    >>> scale = tf.linalg.LinearOperatorDiag([2.0, 3.0], is_non_singular=True)
    >>> b = tf.contrib.distributions.bijectors.AffineLinearOperator(shift=[1.0, 0.0], scale=scale)
    >>> sess.run([b.forward([1.0, 1.0]), b.forward_log_det_jacobian([1.0, 1.0], event_ndims=1)])
    [array([3., 3.], dtype=float32), 1.7918]
    """

    def __init__(self, shift: Any = None, scale: Any = None, validate_args: bool = False,
                 name: str = "affine_linear_operator") -> None:
        if scale is not None and not isinstance(scale, LinearOperator):
            raise TypeError("scale is not an instance of tf.LinearOperator")
        if scale is not None and not scale.is_non_singular:
            raise ValueError("Scale matrix must be non-singular.")
        self._shift = None if shift is None else convert_to_tensor(
            shift, name="shift", dtype=None if scale is None else scale.dtype)
        self._scale = scale
        parents = [] if self._shift is None else [self._shift]
        dtype = scale.dtype if scale is not None else None if self._shift is None else self._shift.dtype
        super().__init__([*parents, *(scale.graph_parents if scale is not None else ())], True, validate_args, dtype,
                         forward_min_event_ndims=1, name=name)

    @property
    def shift(self) -> Any:
        """The shift, or None."""
        return self._shift

    @property
    def scale(self) -> Any:
        """The linear operator, or None."""
        return self._scale

    def _forward(self, x: Any) -> Any:
        y = x if self._scale is None else self._scale.matvec(x)
        return y if self._shift is None else y + self._shift

    def _inverse(self, y: Any) -> Any:
        x = y if self._shift is None else y - self._shift
        return x if self._scale is None else self._scale.solvevec(x)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return convert_to_tensor(0.0, dtype=x.dtype) if self._scale is None else self._scale.log_abs_determinant()


class Affine(AffineLinearOperator):
    """The bijector y = scale @ x + shift of vectors.

    shift: 0 by default; scale_identity_multiplier: a multiple of the identity; scale_diag: a diagonal; scale_tril: a
    lower triangular matrix; scale_perturb_factor: F of an update of low rank, F @ diag(u) @ F^T, and
    scale_perturb_diag: u, 1 by default; of all of which scale is the sum, by default the identity.

    >>> b = tf.contrib.distributions.bijectors.Affine(shift=[1.0, 0.0], scale_diag=[2.0, 3.0])
    >>> sess.run([b.forward([1.0, 1.0]), b.forward_log_det_jacobian([1.0, 1.0], event_ndims=1)])
    [array([3., 3.], dtype=float32), 1.7918]
    """

    def __init__(self, shift: Any = None, scale_identity_multiplier: Any = None, scale_diag: Any = None,
                 scale_tril: Any = None, scale_perturb_factor: Any = None, scale_perturb_diag: Any = None,
                 validate_args: bool = False, name: str = "affine") -> None:
        with name_scope(name):
            self._multiple = None
            if scale_diag is None and scale_tril is None and scale_perturb_factor is None:
                scale = None
                if scale_identity_multiplier is not None:            # the size of vectors comes with x alone
                    self._multiple = convert_to_tensor(scale_identity_multiplier, name="scale_identity_multiplier")
            else:
                like = None if scale_perturb_factor is None else convert_to_tensor(scale_perturb_factor)[..., 0]
                scale = scale_operator(scale_diag, scale_identity_multiplier, scale_tril, like, scale_perturb_factor,
                                       scale_perturb_diag)
            super().__init__(shift, scale, validate_args, name)

    @property
    def scale(self) -> Any:
        """The linear operator, the multiple of the identity if there is nothing else, or None."""
        return self._scale if self._multiple is None else self._multiple

    def _forward(self, x: Any) -> Any:
        return super()._forward(x if self._multiple is None else x * self._multiple[..., None])

    def _inverse(self, y: Any) -> Any:
        x = super()._inverse(y)
        return x if self._multiple is None else x / self._multiple[..., None]

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        if self._multiple is None:
            return super()._forward_log_det_jacobian(x)
        return raw.Cast(shape_of(x)[-1], DstT=x.dtype) * raw.Log(raw.Abs(self._multiple))


describe(globals(), DISTRIBUTIONS)
