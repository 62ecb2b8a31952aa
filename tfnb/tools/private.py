"""Functions inside of TensorFlow that are public in no release, and that programs import by their path all the same.

`inside.py` says in which modules they are found.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfnb.autodiff.custom_gradient import custom_gradient
from tfnb.autodiff.gradients import UnconnectedGradients, gradients
from tfnb.control_flow.functional import map_fn
from tfnb.core import dtypes, nest
from tfnb.core.shape import TensorShape
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.graph import Graph
from tfnb.graph.parts.operation import Tensor
from tfnb.graph.stack import get_default_graph
from tfnb.ops.array.create import range_
from tfnb.ops.array.joining import concat
from tfnb.ops.array.reshape import expand_dims, reshape, shape, size, stop_gradient, transpose
from tfnb.ops.declaration.raw import raw
from tfnb.ops.math.arithmetic import multiply
from tfnb.ops.math.casting import cast
from tfnb.rnn.cell_shapes import joined, joined_static
from tfnb.rnn.cells import assert_like_rnncell
from tfnb.rnn.linear import linear
from tfnb.variables.scope import get_variable_scope, variable_scope
from tfnb.variables.variable import Variable


class PredictionKeys:
    """Keys of the predictions of canned estimators."""

    CLASSES, CLASS_IDS, LOGISTIC = "classes", "class_ids", "logistic"
    LOGITS, PREDICTIONS, PROBABILITIES = "logits", "predictions", "probabilities"
    TOP_K = "top_k"


class MetricKeys:
    """Names of the metrics of canned estimators."""

    LOSS, LOSS_MEAN, LOSS_REGULARIZATION = "loss", "average_loss", "regularization_loss"
    ACCURACY, ACCURACY_BASELINE, AUC, AUC_PR = "accuracy", "accuracy_baseline", "auc", "auc_precision_recall"
    LABEL_MEAN, PREDICTION_MEAN, PRECISION, RECALL = "label/mean", "prediction/mean", "precision", "recall"


class TpuContext:
    """The cores of a TPU that a model is copied to: none, so `number_of_shards` is None."""

    number_of_shards = None


def get_tpu_context() -> TpuContext:
    """Return the context of the TPU: one without cores."""
    return TpuContext()


class Linear:
    """`rnn_cell_impl._Linear`: an affine map of tensors (batch, size) to (batch, output_size), with its variables.

    args: the tensors of the first call, whose sizes the kernel has. build_bias: whether there is a bias.
    """

    def __init__(self, args: Any, output_size: int, build_bias: bool, bias_initializer: Any = None,
                 kernel_initializer: Any = None) -> None:
        scope = get_variable_scope()
        with variable_scope(scope):
            made = linear(args, output_size, build_bias, bias_initializer, kernel_initializer)
        self._first, self._args = made, nest.flatten(args)
        self._rest = (output_size, build_bias, bias_initializer, kernel_initializer, scope)

    def __call__(self, args: Any) -> Any:
        """Return the map of some tensors."""
        given = nest.flatten(args)
        if len(given) == len(self._args) and all(a is b for a, b in zip(given, self._args, strict=True)):
            return self._first
        output_size, build_bias, bias_initializer, kernel_initializer, scope = self._rest
        with variable_scope(scope, reuse=True):
            return linear(args, output_size, build_bias, bias_initializer, kernel_initializer)


class _Call:
    """A call as an Operation that a gradient function of Defun reads: its inputs and outputs."""

    def __init__(self, inputs: list[Any], outputs: list[Any]) -> None:
        self.inputs, self.outputs = inputs, outputs


class Defun:
    """Decorator of a function of tensors. A call adds the function's ops to the graph.

    input_types: dtypes to which the arguments are converted. python_grad_func: function (op, *gradients of the outputs)
    -> gradients of the inputs, in the place of those of the ops. func_name, grad_func, out_names, shape_func, **kwargs:
    have a meaning for TensorFlow's library of functions alone; ValueError for a grad_func.

    >>> from tfnb.tools.private import Defun
    >>> @Defun(tf.float32, python_grad_func=lambda op, dy: 10.0 * dy)
    ... def double(x):
    ...     return 2.0 * x
    >>> x = tf.constant(3.0)
    >>> sess.run([double(x), tf.gradients(double(x), x)])
    [6.0, [10.0]]
    """

    def __init__(self, *input_types: Any, func_name: str | None = None, grad_func: Any = None,
                 python_grad_func: Callable[..., Any] | None = None, out_names: Any = None, shape_func: Any = None,
                 **kwargs: Any) -> None:
        if grad_func is not None:
            raise ValueError("Defun takes no grad_func here: give the gradient as python_grad_func, a function (op, "
                             "*gradients)")
        self._types, self._gradient = input_types, python_grad_func

    def __call__(self, func: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function."""
        gradient = self._gradient

        def call(*args: Any, **kwargs: Any) -> Any:
            types = [*self._types, *[None] * (len(args) - len(self._types))]
            given = [convert_to_tensor(arg, dtype) for arg, dtype in zip(args, types, strict=True)]
            if gradient is None:
                return func(*given, **kwargs)

            @custom_gradient
            def both(*inputs: Any) -> Any:
                result = func(*inputs, **kwargs)
                op = _Call(list(inputs), nest.flatten(result))
                return result, lambda *grads: gradient(op, *grads)
            return both(*given)
        call.__name__, call.__doc__ = func.__name__, func.__doc__
        return call


def enabled() -> bool:
    """Return whether this is TensorFlow 2: False."""
    return False


def in_graph_mode() -> bool:
    """Return whether ops are added to a graph: True."""
    return True


def in_eager_mode() -> bool:
    """Return whether ops run at once: False."""
    return False


def inside_function() -> bool:
    """Return whether a graph function is being made: False."""
    return False


def is_resource_variable(var: Any) -> bool:
    """Return whether it is a variable that TensorFlow keeps as a resource: those of `use_resource=True`."""
    return isinstance(var, Variable) and bool(getattr(var, "use_resource", False))


def is_dense_tensor_like(t: Any) -> bool:
    """Return whether it is a Tensor or a Variable."""
    return isinstance(t, (Tensor, Variable))


def like_rnncell(cell: Any) -> bool:
    """Return whether it has what an RNNCell has."""
    try:
        assert_like_rnncell("cell", cell)
    except TypeError:
        return False
    return True


def GraphOrParentsInXlaContext(graph: Graph) -> bool:     # noqa: N802  TensorFlow's name
    """Return whether a graph is compiled by XLA: False."""
    return False


def GetContainingXLAContext(ctxt: Any) -> None:     # noqa: N802  TensorFlow's name
    """Return the XLA context around a control flow context: there is none."""


def graph_of(op_input_list: Any, graph: Graph | None = None) -> Graph:
    """Return the graph of some tensors, or `graph`. Raises ValueError if they are of several."""
    found = graph
    for value in nest.flatten(op_input_list):
        own = getattr(value, "graph", None)
        if found is not None and own is not None and own is not found:
            raise ValueError(f"{value} must be from the same graph as the other inputs")
        found = found or own
    return found or get_default_graph()


def name_from_scope_name(name: str) -> str:
    """Return the name of the op that a name scope of this name was made for: without the "/" at the end."""
    return name.removesuffix("/")


def prepend_name_scope(name: str, import_scope: str | None) -> str:
    """Return `name` within a name scope, also for "loc:@name" and "^name".

    >>> from tfnb.tools.private import prepend_name_scope, strip_name_scope
    >>> prepend_name_scope("^a/b", "outer"), strip_name_scope("^outer/a/b", "outer")
    ('^outer/a/b', '^a/b')
    """
    start = next((start for start in ("loc:@", "^") if name.startswith(start)), "")
    return f"{start}{import_scope.rstrip('/')}/{name[len(start):]}" if import_scope else name


def strip_name_scope(name: str, export_scope: str | None) -> str:
    """Return `name` without the name scope at its begin, also for "loc:@name" and "^name"."""
    start = next((start for start in ("loc:@", "^") if name.startswith(start)), "")
    return start + name[len(start):].removeprefix(f"{export_scope.rstrip('/')}/") if export_scope else name


def joined_sizes(prefix: Any, suffix: Any, static: bool = False) -> Any:
    """Return the concatenation of two shapes (integers, lists, tensors): a list if `static`, else a tensor."""
    return joined_static(prefix, suffix) if static else joined(prefix, suffix)


def batch_size_of(flat_input: Any) -> Any:
    """Return the batch size of inputs (time, batch, ...): an integer if one of them knows it, else a tensor."""
    for part in flat_input:
        if part.shape.ndims is not None and part.shape.ndims > 1 and part.shape.as_list()[1] is not None:
            return part.shape.as_list()[1]
    return shape(flat_input[0])[1]


def conv_output_length(input_length: int | None, filter_size: int, padding: str, stride: int, dilation: int = 1
                       ) -> int | None:
    """Return the output size of a convolution along an axis; padding: "same", "valid" or "full".

    >>> from tfnb.tools.private import conv_output_length
    >>> [conv_output_length(10, 3, padding, 2) for padding in ("valid", "same", "full")]
    [4, 5, 6]
    """
    if input_length is None:
        return None
    reach = (filter_size - 1) * dilation + 1
    places = input_length + {"same": 0, "valid": 1 - reach, "full": reach - 1}[padding]
    return -(-places // stride)


def deconv_output_length(input_length: int | None, filter_size: int, padding: str, stride: int) -> int | None:
    """Return the output size of a transposed convolution along an axis; padding: "same", "valid" or "full".

    >>> from tfnb.tools.private import deconv_output_length
    >>> deconv_output_length(4, 3, "valid", 2), deconv_output_length(4, 3, "same", 2)
    (9, 8)
    """
    if input_length is None:
        return None
    more = {"same": 0, "valid": max(filter_size - stride, 0), "full": -(stride + filter_size - 2)}[padding]
    return input_length * stride + more


def _jacobian(output: Tensor, source: Any) -> Any:
    """Return (size of the output, *shape of the source): the gradient of each element of an output."""
    flat = reshape(output, [-1])
    rows = map_fn(lambda i: _gradient(flat[i], source), range_(size(flat)), dtype=source.dtype.base_dtype)
    rows.set_shape(TensorShape([None]).concatenate(source.shape))
    return rows


def _gradient(y: Tensor, source: Any) -> Any:
    return gradients(y, source, unconnected_gradients=UnconnectedGradients.ZERO)[0]


def jacobian(output: Any, inputs: Any, use_pfor: bool = True, parallel_iterations: int | None = None) -> Any:
    """Return d output / d input, of shape output.shape + input.shape, in the structure of `inputs`.

    use_pfor, parallel_iterations: how TensorFlow computes it.

    >>> from tfnb.tools.private import jacobian
    >>> x = tf.constant([1.0, 2.0])
    >>> sess.run(jacobian(x ** 2.0, x))
    array([[2., 0.],
           [0., 4.]], dtype=float32)
    """
    def of(source: Any) -> Any:
        made = reshape(_jacobian(output, source), concat([shape(output), shape(source)], 0))
        made.set_shape(output.shape.concatenate(source.shape))
        return made
    return nest.map_structure(of, inputs)


def batch_jacobian(output: Tensor, inp: Tensor, use_pfor: bool = True, parallel_iterations: int | None = None
                   ) -> Any:
    """Return d output[i] / d inp[i] for each example i of a batch: (batch, *output sizes, *input sizes).

    use_pfor, parallel_iterations: how TensorFlow computes it. Raises ValueError for different batch sizes.

    >>> from tfnb.tools.private import batch_jacobian
    >>> x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    >>> sess.run(batch_jacobian(x ** 2.0, x))[1]
    array([[6., 0.],
           [0., 8.]], dtype=float32)
    """
    if not output.shape[:1].is_compatible_with(inp.shape[:1]):
        raise ValueError(f"Need first dimension of output shape {output.shape} and inp shape {inp.shape} to match.")
    rows = reshape(output, [shape(output)[0], -1])
    made = map_fn(lambda i: _gradient(rows[:, i], inp), range_(shape(rows)[1]), dtype=inp.dtype.base_dtype)
    made = transpose(reshape(made, concat([shape(made)[:2], [-1]], 0)), [1, 0, 2])
    made = reshape(made, concat([shape(output), shape(inp)[1:]], 0))
    made.set_shape(output.shape.concatenate(inp.shape[1:]))
    return made


def hessian_vector_product(ys: Any, xs: list[Any], v: list[Any]) -> list[Any]:
    """Return the product of the Hessian of `ys` by `xs` and a vector, in parts of the shapes of `xs`.

    Raises ValueError if `xs` and `v` differ in length.
    """
    if len(v) != len(xs):
        raise ValueError("xs and v must have the same length.")
    grads = gradients(ys, xs)
    products = [multiply(grad, stop_gradient(part)) for grad, part in zip(grads, v, strict=True)
                if grad is not None]
    return gradients(products, xs)


def _inplace(op: str) -> Callable[..., Any]:
    def call(x: Any, i: Any, v: Any) -> Any:
        x = convert_to_tensor(x)
        v = convert_to_tensor(v, x.dtype)
        if i is None:                              # all rows
            return reshape(getattr(raw, op)(x=reshape(x, [1, -1]), i=[0], v=reshape(v, [1, -1])), shape(x))
        i = cast(convert_to_tensor(i), dtypes.int32)
        if i.shape.ndims == 0:
            i, v = reshape(i, [1]), expand_dims(v, 0)
        return getattr(raw, op)(x=x, i=i, v=v)
    return call


alias_inplace_update = inplace_update = _inplace("InplaceUpdate")
alias_inplace_add = inplace_add = _inplace("InplaceAdd")
alias_inplace_sub = inplace_sub = _inplace("InplaceSub")
