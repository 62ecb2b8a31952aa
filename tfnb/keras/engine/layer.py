"""Base of all layers of Keras: variables in a name scope, calls as nodes of the graph of layers, masks, phases."""
from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

from tfnb.core import nest
from tfnb.core.arguments import KERAS, describe
from tfnb.core.dtypes import as_dtype
from tfnb.core.lazy import lazy_module
from tfnb.core.shape import TensorShape
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.graph_util import depends_on
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.stack import name_scope
from tfnb.keras.backend.config import floatx
from tfnb.keras.backend.phase import learning_phase, phase_is_set
from tfnb.keras.backend.session import track_variable, unique_name
from tfnb.keras.engine.calls import Call, entered, outer_call
from tfnb.keras.engine.connected import Connected
from tfnb.keras.engine.kept_losses import KeptLoss, Regularization
from tfnb.keras.engine.node import Node, has_history
from tfnb.layers.choices import initializer_of
from tfnb.layers.weighted import INPUT_OPTIONS, Weighted, converted, snake_case, tensors_in
from tfnb.ops.array.reshape import identity, shape
from tfnb.ops.math.casting import cast
from tfnb.variables.initializers import glorot_uniform_initializer, zeros_initializer
from tfnb.variables.variable import Variable, VariableAggregation, VariableSynchronization

_metrics = lazy_module("tfnb.keras.metrics")            # whose classes are layers
# Makes layers of ops between tensors of Keras: `op_layer.connect`, whose layers are of the class below.
connect_ops: list[Callable[[Any], None]] = [lambda tensors: None]
# Makes a layer of `tf.layers` one of Keras: `legacy.as_keras`, whose layers are of the class below.
adapted: list[Callable[[Any], Any]] = [lambda layer: layer]
_OPTIONS = {*INPUT_OPTIONS, "weights", "activity_regularizer"}


class Layer(Connected, Weighted):
    """A function of tensors with variables; subclasses make these in `build(input_shape)`, compute in `call(inputs)`.

    The variables are named by the layer, "dense/kernel", and initialized when Keras first needs them. trainable:
    whether they are trained. name: by default that of the class in snake case, made unique. dtype: of the variables;
    by default that of the first input. dynamic: accepted without effect. Other arguments: input_shape, or
    batch_input_shape, for the first layer of a Sequential; weights, the initial values; activity_regularizer, a
    function from the outputs to a loss.

    >>> class Scale(tf.keras.layers.Layer):
    ...     def build(self, input_shape):
    ...         self.w = self.add_weight("w", [input_shape[-1]], initializer="ones")
    ...     def call(self, inputs):
    ...         return 3 * self.w * inputs
    >>> layer = Scale()
    >>> y = layer(tf.constant([[1.0, 2.0]]))
    >>> [v.name for v in layer.weights]
    ['scale/w:0']
    >>> tf.keras.backend.get_session().run(y)
    array([[3., 6.]], dtype=float32)
    """

    supports_masking = False
    stateful = False
    _expects: frozenset[str]                        # of the arguments training and mask those that `call` takes

    def __init__(self, trainable: bool = True, name: str | None = None, dtype: Any = None, dynamic: bool = False,
                 **kwargs: Any) -> None:
        unknown = kwargs.keys() - _OPTIONS
        if unknown:
            raise TypeError(f"Keyword argument not understood: {', '.join(sorted(unknown))}")
        self._trainable = trainable
        Weighted.__init__(self, trainable, dtype, kwargs.get("activity_regularizer"))
        self._name = name or self._unique_name()
        self._dynamic = dynamic
        self._callable_losses: list[Any] = []
        self._metrics: list[Any] = []
        self._inbound_nodes: list[Node] = []
        self._outbound_nodes: list[Node] = []
        self._initial_weights = kwargs.get("weights")
        if self._settle_input_shape(kwargs):
            self._dtype = self._dtype or floatx()

    def _unique_name(self) -> str:
        return unique_name(snake_case(type(self).__name__))

    # Variables

    @property
    def trainable(self) -> bool:
        """Whether the weights of the layer, and of those in it, are trained."""
        return self._trainable

    @trainable.setter
    def trainable(self, value: bool) -> None:
        self._trainable = value
        for layer in self._inner_layers():
            layer.trainable = value

    def _inner_layers(self) -> list[Any]:
        """Return the layers that attributes hold, in lists and dicts too, in the order of their assignment."""
        found: dict[int, Any] = {}
        for key, value in vars(self).items():
            if key not in ("_inbound_nodes", "_outbound_nodes", "_metrics"):
                for layer in _layers_in(value):
                    found.setdefault(id(layer), layer)
        return list(found.values())

    def _own_and_inner(self, attribute: str, own: list[Any]) -> list[Any]:
        """Return `own` and what the layers inside have, each once."""
        found = {id(each): each for each in own}
        for layer in self._inner_layers():
            found.update({id(each): each for each in getattr(layer, attribute)})
        return list(found.values())

    @property
    def trainable_weights(self) -> list[Any]:
        """The variables to train, those of inner layers last."""
        return self._own_and_inner("trainable_weights", self._trainable_weights) if self.trainable else []

    @property
    def non_trainable_weights(self) -> list[Any]:
        """The other variables."""
        if self.trainable:
            return self._own_and_inner("non_trainable_weights", self._non_trainable_weights)
        return self._own_and_inner("weights", self._trainable_weights + self._non_trainable_weights)

    def __setattr__(self, key: str, value: Any) -> None:
        """Make an assigned variable one of the weights."""
        object.__setattr__(self, key, value)
        if isinstance(value, Variable) and "_trainable_weights" in vars(self):
            self._track(value)

    def _track(self, variable: Any) -> None:
        weights = self._trainable_weights if variable.trainable else self._non_trainable_weights
        if all(variable is not each for each in self._trainable_weights + self._non_trainable_weights):
            weights.append(variable)
            track_variable(variable)

    def add_weight(self, name: str | None = None, shape: Any = None, dtype: Any = None, initializer: Any = None,
                   regularizer: Any = None, trainable: bool | None = None, constraint: Any = None,
                   partitioner: Any = None, use_resource: bool | None = None,
                   synchronization: VariableSynchronization = VariableSynchronization.AUTO,
                   aggregation: VariableAggregation = VariableAggregation.NONE, collections: Any = None) -> Any:
        """Make a variable of the layer.

        shape: of known sizes, () by default. dtype: by default the layer's. initializer: a function of (shape, dtype)
        or a name; by default Glorot's uniform one for floats, else zeros. regularizer: a function from the variable
        to a loss, which joins `losses`. trainable: whether it is trained (None: yes). constraint: a function from the
        variable to the value that an optimizer leaves in it. use_resource: False makes a reference variable.
        collections: keys of those that it joins; None: of the global variables, and of those to train.
        """
        kind = as_dtype(dtype or self._dtype or floatx())
        self._dtype = self._dtype or kind.name
        if synchronization == VariableSynchronization.ON_READ and trainable:
            raise ValueError("Synchronization value can be set to VariableSynchronization.ON_READ only for "
                             "non-trainable variables.")
        sizes = TensorShape(() if shape is None else shape).as_list()
        if None in sizes:
            raise ValueError(f"Weight {name!r} of layer {self.name!r}: expected a shape of known sizes, got {sizes}")
        if initializer is None:
            initializer = glorot_uniform_initializer() if kind.is_floating else zeros_initializer()
        start = initializer_of(initializer)
        variable = Variable(
            lambda: start(sizes, dtype=kind) if callable(start) else start, trainable=trainable, name=name, dtype=kind,
            constraint=constraint, use_resource=use_resource is not False, synchronization=synchronization,
            aggregation=aggregation, collections=collections)
        if regularizer is not None:
            self._callable_losses.append(Regularization(variable, regularizer))
        self._track(variable)
        return variable

    def add_variable(self, *args: Any, **kwargs: Any) -> Any:
        """Make a variable, as `add_weight`."""
        return self.add_weight(*args, **kwargs)

    # Losses and updates

    @property
    def losses(self) -> list[Tensor]:
        """The losses of the layer and of those in it, regularization of weights included."""
        return self._own_and_inner("losses", [*self._losses, *(loss() for loss in self._callable_losses)])

    def add_loss(self, losses: Any, inputs: Any = None) -> None:
        """Add tensors, or functions without arguments that make them, to `losses`, which training minimizes.

        inputs: the tensors that they depend on, or None for a loss of weights alone.
        """
        for loss in nest.flatten(losses):
            if callable(loss) and not isinstance(loss, (Tensor, Variable)):
                self._callable_losses.append(KeptLoss(loss))
            elif loss is not None:
                made = convert_to_tensor(loss)
                vars(made)["_unconditional_loss"] = inputs is None and not depends_on(made.op, self._called_with)
                self._losses.append(made)

    @property
    def updates(self) -> list[Any]:
        """The ops that training runs with each step; none of a layer that is not trained."""
        if not self.trainable and not self.stateful:
            return []
        return self._own_and_inner("updates", self._updates)

    def add_update(self, updates: Any, inputs: Any = None) -> None:
        """Add ops, or functions that make them, to `updates`. inputs: accepted: the graph says what they depend on."""
        for update in updates if isinstance(updates, (list, tuple)) else [updates]:
            made = update() if callable(update) and not isinstance(update, (Tensor, Variable)) else update
            self._updates.append(made if isinstance(made, Operation) else made.op)

    @property
    def metrics(self) -> list[Any]:
        """The metrics that were added to the layer and to those in it."""
        return self._own_and_inner("metrics", self._metrics)

    def add_metric(self, value: Any, aggregation: str | None = None, name: str | None = None) -> None:
        """Report a tensor as a metric of training and evaluation.

        aggregation: "mean" over batches; None for the value of a Metric. Raises ValueError for another one.
        """
        found = getattr(value, "_metric_obj", None)
        if found is None and aggregation != "mean":
            raise ValueError(f"Expected aggregation='mean' for a tensor, or the value of a Metric, got {aggregation!r}")
        metric = _metrics.Mean(name=name) if found is None else found
        metric._value_of_keras = metric(value) if found is None else value
        self._metrics.append(metric)

    # Masks

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """Return the mask of the outputs: `mask` where the layer supports masking, else None."""
        return mask if self.supports_masking else None

    # Calls

    def __call__(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """Compute the outputs; the first call makes the variables.

        Raises ValueError if the inputs don't fit `input_spec`, or if `call` returns None.
        """
        self._forget_stale()
        inputs = nest.map_structure(converted, inputs)
        kwargs = self._completed(inputs, args, kwargs)
        training = kwargs.get("training")
        outer = outer_call()
        if training is None and outer is not None:
            training = outer.training
        with name_scope(self._name_scope()), entered(Call(self, training)):
            self._build_once(inputs)
            outputs = self.call(inputs, *args, **kwargs)
            if outputs is None:
                raise ValueError("A layer's `call` method should return a Tensor or a list of Tensors, not None "
                                 f"(layer: {self.name}).")
            self._called_with += tensors_in(inputs)
            outputs = self._apart(inputs, outputs)
            self._regularize_activity(outputs, inputs)
            self._set_masks(inputs, outputs, kwargs.get("mask"))
        if outer is None and self._connected(inputs):
            Node(self, inputs, outputs, self._recorded(args, kwargs))
        return outputs

    def _forget_stale(self) -> bool:
        """Begin anew where the notebook cell that made the variables is run again: they have left the graph."""
        is_stale = any(v.op._dead is not None for v in self._trainable_weights + self._non_trainable_weights)
        for layer in self._inner_layers():
            is_stale |= layer._forget_stale()
        if is_stale:
            self.built = False
            self._trainable_weights, self._non_trainable_weights = [], []
            self._updates, self._losses, self._called_with = [], [], []
            self._callable_losses = [each for each in self._callable_losses if not isinstance(each, Regularization)]
            self._inbound_nodes = [node for node in self._inbound_nodes if not any(
                output.op._dead for output in nest.flatten(node.output_tensors))]
        return is_stale

    def _connected(self, inputs: Any) -> bool:
        """Return whether the call is part of the graph of layers."""
        if not has_history(inputs):
            connect_ops[0](inputs)
        return has_history(inputs)

    def _name_scope(self) -> str:
        return self._name

    def _takes(self, argument: str) -> bool:
        """Return whether `call` takes `training` or `mask`."""
        if "_expects" not in vars(type(self)):
            names = inspect.signature(type(self).call).parameters
            type(self)._expects = frozenset(names)
        return argument in type(self)._expects

    def _completed(self, inputs: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        """Return the arguments with the mask of the inputs and the phase of an outer call, where `call` takes them."""
        kwargs = dict(kwargs)
        if self._takes("mask") and kwargs.get("mask") is None and not args:
            masks = nest.map_structure(_mask_of, inputs)
            if any(mask is not None for mask in nest.flatten(masks)):
                kwargs["mask"] = masks
        if self._takes("training") and kwargs.get("training") is None and not args:
            outer = outer_call()
            if outer is not None and outer.training is not None:
                kwargs["training"] = outer.training
            elif phase_is_set():
                kwargs["training"] = learning_phase()
        return kwargs

    def _recorded(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        names = [*inspect.signature(self.call).parameters][1:]
        given = {**dict(zip(names, args, strict=False)), **kwargs}
        return {key: value for key, value in given.items() if value is not None and key != "mask"}

    def _build_once(self, inputs: Any) -> None:
        was_built = self.built
        super()._build_once(inputs)
        if not was_built and self._initial_weights is not None:
            self.set_weights(self._initial_weights)
            self._initial_weights = None

    def _apart(self, inputs: Any, outputs: Any) -> Any:
        """Return outputs none of which is an input: a tensor is made by one layer."""
        given = {id(tensor) for tensor in nest.flatten(inputs)}
        return nest.map_structure(lambda made: identity(made) if id(made) in given else made, outputs)

    def _set_masks(self, inputs: Any, outputs: Any, given: Any) -> None:
        if not self.supports_masking and type(self).compute_mask is Layer.compute_mask:
            return
        mask = given if given is not None else nest.map_structure(_mask_of, inputs)
        masks = self.compute_mask(inputs, mask)
        if masks is not None:
            tensors = nest.flatten(outputs)
            listed = nest.flatten(masks) if isinstance(masks, (list, tuple)) else [masks] * len(tensors)
            for tensor, each in zip(tensors, listed, strict=False):
                tensor._keras_mask = each

    def _regularize_activity(self, outputs: Any, inputs: Any) -> None:
        if self.activity_regularizer is not None:
            with name_scope("ActivityRegularizer"):
                for output in nest.flatten(outputs):
                    loss = self.activity_regularizer(output)
                    count: Any = shape(output)
                    self.add_loss(loss / cast(count[0], loss.dtype), inputs)

    # Settings

    @property
    def dynamic(self) -> bool:
        """As given to the constructor."""
        return self._dynamic

    def get_config(self) -> dict[str, Any]:
        """Return the arguments of the constructor that all layers have; subclasses add theirs."""
        config: dict[str, Any] = {"name": self.name, "trainable": self.trainable}
        if hasattr(self, "_batch_input_shape"):
            config["batch_input_shape"] = self._batch_input_shape
        config["dtype"] = self.dtype
        if type(self).get_config is Layer.get_config:
            extra = inspect.signature(type(self).__init__).parameters.keys() - {
                "self", "args", "kwargs", *inspect.signature(Layer.__init__).parameters}
            if extra:
                raise NotImplementedError(f"Layer {type(self).__name__} has arguments in `__init__` "
                                          f"({', '.join(sorted(extra))}): it must override `get_config`.")
        return config


def _mask_of(tensor: Any) -> Any:
    return getattr(tensor, "_keras_mask", None)


def _layers_in(value: Any) -> Iterator[Any]:
    value = adapted[0](value)
    if isinstance(value, Layer):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from _layers_in(each)
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from _layers_in(each)


describe(globals(), KERAS)
