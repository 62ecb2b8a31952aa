"""Base of all layers, `tf.layers.Layer`: it makes variables in its own scope and shares them at later calls."""
from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Iterable, Iterator
from typing import Any
from weakref import WeakKeyDictionary

from tfnb.core import nest
from tfnb.core.arguments import LAYERS, describe
from tfnb.core.dtypes import as_dtype, float32
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.graph import Graph
from tfnb.graph.parts.keys import GraphKeys
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.stack import get_collection_ref, get_default_graph, name_scope
from tfnb.layers.weighted import INPUT_OPTIONS, Weighted, converted, snake_case, tensors_in
from tfnb.ops.array.reshape import shape
from tfnb.ops.math.casting import cast
from tfnb.train.checkpoints.trackable import of_attributes, register
from tfnb.variables.helpers import global_variables, trainable_variables
from tfnb.variables.partitioned import PartitionedVariable
from tfnb.variables.scope import VariableScope, get_variable, variable_scope
from tfnb.variables.variable import Variable, VariableAggregation, VariableSynchronization

# Makes a call part of a model of Keras: `tfnb.keras.engine.legacy`, which returns the outputs then.
joined: list[Callable[..., Any]] = [lambda layer, inputs, args, kwargs: None]
_numbers: WeakKeyDictionary[Graph, dict[str, int]] = WeakKeyDictionary()      # layers of each class name so far


class Layer(Weighted):
    """A function of tensors with variables; subclasses make these in `build(input_shape)`, compute in `call(inputs)`.

    The variables stand in a variable scope: `_scope` if given, else `name`, or the class's name in snake case, made
    unique. The first call builds; later calls share the variables. trainable: whether they go to TRAINABLE_VARIABLES.
    dtype: of the variables; by default that of the first input. _reuse: share variables that exist already, as the
    argument of `tf.variable_scope`.

    >>> class Scale(tf.layers.Layer):
    ...     def build(self, shape):
    ...         self.w = self.add_variable("w", [], initializer=tf.ones_initializer())
    ...     def call(self, inputs):
    ...         return self.w * inputs
    >>> layer = Scale()
    >>> y = layer(tf.constant([1.0, 2.0]))
    >>> sess.run(tf.global_variables_initializer())
    >>> sess.run(y)
    array([1., 2.], dtype=float32)
    """

    updates_collection: Any = GraphKeys.UPDATE_OPS          # where `updates` go; None: nowhere

    def __init__(self, trainable: bool = True, name: Any = None, dtype: Any = None, activity_regularizer: Any = None,
                 _scope: Any = None, _reuse: Any = None, **unknown: Any) -> None:
        if unknown.keys() - INPUT_OPTIONS:
            raise TypeError(f"Keyword argument not understood: {', '.join(sorted(unknown.keys() - INPUT_OPTIONS))}")
        super().__init__(trainable, dtype, activity_regularizer)
        self._batch_input_shape = None
        self._settle_input_shape(unknown)
        self._reuse = _reuse
        self._set_name(name)
        self._scope: VariableScope | None = None
        self._own_scope = not _scope                # found at the first call
        self._current_scope: VariableScope | None = None
        if _scope:
            with variable_scope(_scope) as captured:
                self._scope = captured

    def _set_name(self, name: Any) -> None:
        snake = snake_case(type(self).__name__)
        self._name, self._base_name = name, name
        if name is None or isinstance(name, VariableScope):
            taken = _numbers.setdefault(get_default_graph(), {})
            taken[snake] = taken.get(snake, 0) + 1
            self._name = f"{snake}_{taken[snake]}"
            self._base_name = snake if name is None else name.name

    @property
    def graph(self) -> None:
        """None: a layer belongs to no graph, only its variables do."""
        return None

    @property
    def scope_name(self) -> str:
        """The name of the variable scope. Raises ValueError before the first call where no scope was given."""
        if self._scope is None:
            raise ValueError(f"No name available for layer scope because the layer {self._name!r} has not been used "
                             "yet. The scope name is determined the first time the layer instance is called.")
        return self._scope.name

    def add_update(self, updates: Any, inputs: Any = None) -> None:
        """Add ops (or functions that make them) to `updates` and to the collection UPDATE_OPS."""
        for update in updates if isinstance(updates, (list, tuple)) else [updates]:
            made = update() if callable(update) else update
            self._updates.append(made if isinstance(made, Operation) else made.op)

    def add_loss(self, losses: Any, inputs: Any = None) -> None:
        """Add tensors (or functions that make them) to `losses` and to the collection REGULARIZATION_LOSSES.

        inputs: what they depend on, for `get_losses_for`.
        """
        given = losses if isinstance(losses, (list, tuple)) else [losses]
        made = [loss() if callable(loss) else loss for loss in given]
        new = [convert_to_tensor(loss) for loss in made if loss is not None]
        self._losses += new
        for loss in new:
            vars(loss)["_unconditional_loss"] = inputs is None
        _collect(new, GraphKeys.REGULARIZATION_LOSSES)

    def add_weight(self, name: str, shape: Any, dtype: Any = None, initializer: Any = None, regularizer: Any = None,
                   trainable: bool | None = None, constraint: Any = None, use_resource: bool | None = None,
                   synchronization: VariableSynchronization = VariableSynchronization.AUTO,
                   aggregation: VariableAggregation = VariableAggregation.NONE, partitioner: Any = None) -> Any:
        """The variable `name` of the layer's scope: new, or shared where the layer shares.

        dtype: by default the layer's, else float32. initializer: by default the scope's, else Glorot's. regularizer:
        its loss is added by `add_loss`, once for each variable. Raises ValueError as `tf.get_variable`.
        """
        if synchronization == VariableSynchronization.ON_READ:
            if trainable:
                raise ValueError("Synchronization value can be set to VariableSynchronization.ON_READ only for "
                                 "non-trainable variables.")
            trainable = False
        before = set(map(id, global_variables()))
        self._set_scope()
        wanted = trainable is not False and self.trainable
        with variable_scope(self._scope, reuse=self.built or self._reuse, auxiliary_name_scope=False) as scope:
            self._current_scope = scope
            with name_scope(self._name_scope()):
                variable = get_variable(
                    name, shape=shape, dtype=as_dtype(dtype or self._dtype or float32), trainable=wanted,
                    initializer=scope.initializer if initializer is None else initializer, partitioner=partitioner,
                    constraint=constraint, use_resource=use_resource, synchronization=synchronization,
                    aggregation=aggregation)
                if regularizer and all(id(part) not in before for part in _parts(variable)):
                    self._regularize(name, variable, regularizer)
        self._track(variable)
        return variable

    add_variable = add_weight

    def _track(self, variable: Any) -> None:
        trained = {id(each) for each in trainable_variables()}
        kept = all(id(part) in trained for part in _parts(variable))
        weights = self._trainable_weights if kept else self._non_trainable_weights
        if all(variable is not each for each in weights):
            weights.append(variable)

    def _regularize(self, name: str, variable: Any, regularizer: Any) -> None:
        for part in _parts(variable):
            with name_scope(f"{name}/Regularizer"):
                self.add_loss(regularizer(part))

    def _name_scope(self) -> str:
        assert self._current_scope is not None
        return self._current_scope.original_name_scope

    def _set_scope(self, scope: Any = None) -> None:
        if self._scope is not None:
            return
        if self._reuse:
            opened = variable_scope(self._base_name if scope is None else scope)
        else:
            opened = variable_scope(scope, default_name=self._base_name)
        with opened as captured:
            self._scope = captured

    def apply(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """The same as calling the layer."""
        return self(inputs, *args, **kwargs)

    def __call__(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """The outputs; the first call makes the variables.

        scope (keyword): the variable scope to use where none was given. Raises ValueError if the inputs don't fit
        `input_spec`, or if `call` returns None.
        """
        outputs = joined[0](self, inputs, args, kwargs)
        if outputs is not None:
            return outputs
        self._forget_stale()
        self._set_scope(kwargs.pop("scope", None))
        with variable_scope(self._scope, reuse=True if self.built else self._reuse,
                            auxiliary_name_scope=False) as scope:
            self._current_scope = scope
            if "scope" in inspect.signature(self.call).parameters:
                kwargs["scope"] = scope
            inputs = nest.map_structure(converted, inputs)
            with name_scope(self._name_scope()):
                self._build_once(inputs)
                outputs = self.call(inputs, *args, **kwargs)
                if outputs is None:
                    raise ValueError("A layer's `call` method should return a Tensor or a list of Tensors, not None "
                                     f"(layer: {self.name}).")
                self._called_with += tensors_in(inputs)
                self._regularize_activity(outputs, inputs)
        for key in nest.flatten(self.updates_collection or []):
            _collect(self._updates, key)
        return outputs

    def _forget_stale(self) -> bool:
        """Begin anew where the notebook cell that made the variables is run again: they have left the graph."""
        is_stale = self.built and any(part.op._dead is not None for each in self._weights() for part in _parts(each))
        if is_stale:
            self.built = False
            self._trainable_weights, self._non_trainable_weights = [], []
            self._updates, self._losses, self._called_with = [], [], []
            self._scope = None if self._own_scope else self._scope
        return is_stale

    def _weights(self) -> list[Any]:
        return [*vars(self).get("_trainable_weights", []), *vars(self).get("_non_trainable_weights", [])]

    def _regularize_activity(self, outputs: Any, inputs: Any) -> None:
        if self.activity_regularizer is None:
            return
        with name_scope("ActivityRegularizer"):
            for output in nest.flatten(outputs):
                loss = self.activity_regularizer(output)
                count: Any = shape(output)
                self.add_loss(loss / cast(count[0], loss.dtype), inputs)

    def __deepcopy__(self, memo: dict[int, Any]) -> Layer:
        """A layer of its own settings, with the same tensors, variables and scope."""
        made = object.__new__(type(self))
        memo[id(self)] = made
        for key, value in vars(self).items():
            if key == "_keras_layer":               # which stands for the original
                continue
            shared = key in ("_scope", "_current_scope") or _holds_tensors(value)
            setattr(made, key, copy.copy(value) if shared and isinstance(value, list) else
                    value if shared else copy.deepcopy(value, memo))
        return made


def _parts(variable: Any) -> list[Variable]:
    return list(variable) if isinstance(variable, PartitionedVariable) else [variable]


def _holds_tensors(value: Any) -> bool:
    leaves = nest.flatten(value)
    return bool(leaves) and any(isinstance(leaf, (Tensor, Operation, Variable, PartitionedVariable)) for leaf in leaves)


def _collect(elements: Iterable[Any], key: str) -> None:
    """Add to a collection what is not in it yet."""
    collection = get_collection_ref(key)
    for element in elements:
        if all(element is not other for other in collection):
            collection.append(element)


def _children(layer: Layer) -> Iterator[tuple[str, Any]]:
    """(name, variable or layer) of a layer, as tf.train.Checkpoint saves them: its public attributes."""
    yield from ((name, value) for name, value in of_attributes(layer) if not name.startswith("_"))


register(Layer, _children)
describe(globals(), LAYERS)
