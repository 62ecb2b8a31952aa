"""The classes of accumulators: `tf.ConditionalAccumulator`, and for rows `tf.SparseConditionalAccumulator`."""
from __future__ import annotations

from typing import Any, ClassVar

from tfnb.core import dtypes
from tfnb.core.dtypes import DType
from tfnb.core.shape import TensorShape
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.ops.composite.indexed_slices import IndexedSlices
from tfnb.ops.data_flow import accumulator_ops as ops
from tfnb.ops.declaration.construct import Constructor
from tfnb.ops.math.casting import cast


class ConditionalAccumulatorBase:
    """An accumulator of the graph: adds up gradients of its own step or later ones, and gives their mean.

    dtype, shape: of the gradients (shape: None if it is unknown); accumulator_ref: the tensor that holds it. Programs
    make one of the subclasses.

    >>> accumulator = tf.ConditionalAccumulator(tf.float32, shape=[2])
    >>> isinstance(accumulator, tf.ConditionalAccumulatorBase), accumulator.dtype.name
    (True, 'float32')
    """

    _count_op: ClassVar[Constructor]
    _step_op: ClassVar[Constructor]

    def __init__(self, dtype: Any, shape: Any, accumulator_ref: Tensor) -> None:
        self._dtype = dtypes.as_dtype(dtype)
        self._shape = TensorShape(shape)
        self._accumulator_ref = accumulator_ref
        self._name = accumulator_ref.op.name.split("/")[-1]

    @property
    def accumulator_ref(self) -> Tensor:
        """Tensor that holds the accumulator."""
        return self._accumulator_ref

    @property
    def name(self) -> str:
        """The name of the accumulator's op, without the scopes before it."""
        return self._name

    @property
    def dtype(self) -> DType:
        """The dtype of the gradients."""
        return self._dtype

    def num_accumulated(self, name: str | None = None) -> Tensor:
        """Return the number of gradients accumulated so far, an int32 scalar."""
        made: Tensor = self._count_op(self._accumulator_ref, name=name or f"{self._name}_NumAccumulated")
        return made

    def set_global_step(self, new_global_step: Any, name: str | None = None) -> Operation:
        """Return an operation that sets the accumulator's step. Going back is allowed, with a warning."""
        op: Operation = self._step_op(
            self._accumulator_ref, cast(convert_to_tensor(new_global_step), dtypes.int64), name=name)
        return op


class ConditionalAccumulator(ConditionalAccumulatorBase):
    """Accumulator of gradients that are tensors.

    shared_name: accumulators of one shared name are one in a session. reduction_type: "MEAN" or "SUM". dtype: of the
    gradients; shape: theirs, None: any.

    >>> accumulator = tf.ConditionalAccumulator(tf.float32, shape=[])
    >>> sess.run(accumulator.apply_grad(2.0)), sess.run(accumulator.apply_grad(4.0))
    (None, None)
    >>> sess.run(accumulator.take_grad(2))
    3.0
    """

    _count_op, _step_op = ops.ResourceAccumulatorNumAccumulated, ops.ResourceAccumulatorSetGlobalStep

    def __init__(self, dtype: Any, shape: Any = None, shared_name: str | None = None,
                 name: str = "conditional_accumulator", reduction_type: str = "MEAN") -> None:
        ref = ops.ResourceConditionalAccumulator(dtypes.as_dtype(dtype), shape, shared_name=shared_name or "",
                                                 reduction_type=reduction_type, name=name)
        super().__init__(dtype, shape, ref)

    def apply_grad(self, grad: Any, local_step: Any = 0, name: str | None = None) -> Operation:
        """Return an operation that adds `grad`, computed at `local_step`, unless the accumulator's step is later.

        Raises ValueError for another shape.
        """
        grad = convert_to_tensor(grad, self._dtype)
        grad.shape.assert_is_compatible_with(self._shape)
        step = cast(convert_to_tensor(local_step), dtypes.int64)
        op: Operation = ops.ResourceAccumulatorApplyGradient(self._accumulator_ref, step, grad, name=name)
        return op

    def take_grad(self, num_required: Any, name: str | None = None) -> Tensor:
        """Return the mean of the gradients, once there are `num_required` of them; the next step begins with none.

        Running it raises InvalidArgumentError unless num_required is positive.
        """
        made: Tensor = ops.ResourceAccumulatorTakeGradient(self._accumulator_ref, num_required, self._dtype, name=name)
        made.set_shape(self._shape)
        return made


class SparseConditionalAccumulator(ConditionalAccumulatorBase):
    """Accumulator of gradients that are IndexedSlices: the mean of a row is over the gradients that have it.

    dtype, shape, shared_name, reduction_type: as of ConditionalAccumulator.

    >>> accumulator = tf.SparseConditionalAccumulator(tf.float32, shape=[3, 1])
    >>> sess.run(accumulator.apply_grad([0, 2], [[1.0], [2.0]]))
    >>> sess.run(accumulator.take_indexed_slices_grad(1).indices)
    array([0, 2])
    """

    _count_op, _step_op = ops.AccumulatorNumAccumulated, ops.AccumulatorSetGlobalStep

    def __init__(self, dtype: Any, shape: Any = None, shared_name: str | None = None,
                 name: str = "sparse_conditional_accumulator", reduction_type: str = "MEAN") -> None:
        ref = ops.SparseConditionalAccumulator(dtypes.as_dtype(dtype), shape, shared_name=shared_name or "",
                                               reduction_type=reduction_type, name=name)
        super().__init__(dtype, shape, ref)

    def apply_indexed_slices_grad(self, grad: IndexedSlices, local_step: Any = 0, name: str | None = None) -> Operation:
        """Return an operation that adds `grad`, as `apply_grad`."""
        return self.apply_grad(grad.indices, grad.values, grad.dense_shape, local_step, name)

    def apply_grad(self, grad_indices: Any, grad_values: Any, grad_shape: Any = None, local_step: Any = 0,
                   name: str | None = None) -> Operation:
        """Return an operation that adds the rows `grad_values` at `grad_indices`, unless `local_step` is too old.

        grad_shape: of the whole gradient, if it is known. Running it raises InvalidArgumentError for what does not fit.
        """
        step = cast(convert_to_tensor(local_step), dtypes.int64)
        indices = cast(grad_indices, dtypes.int64)
        shape = cast([] if grad_shape is None else grad_shape, dtypes.int64)
        op: Operation = ops.SparseAccumulatorApplyGradient(
            self._accumulator_ref, step, indices, grad_values, shape,
            has_known_shape=grad_shape is not None, name=name)
        return op

    def take_grad(self, num_required: Any, name: str | None = None) -> Any:
        """Return the mean of the gradients as (indices, values, shape), once there are `num_required` of them."""
        return ops.SparseAccumulatorTakeGradient(self._accumulator_ref, num_required, self._dtype, name=name)

    def take_indexed_slices_grad(self, num_required: Any, name: str | None = None) -> IndexedSlices:
        """Return the same as IndexedSlices."""
        indices, values, shape = self.take_grad(num_required, name)
        return IndexedSlices(values, indices, shape)
