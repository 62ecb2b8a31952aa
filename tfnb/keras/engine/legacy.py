"""Layers of `tf.layers` among those of Keras: called on tensors of Keras, or kept by a model, they are part of it."""
from __future__ import annotations

import inspect
from functools import cached_property
from typing import Any

from tfnb.core import nest
from tfnb.core.absent import explain as _explain
from tfnb.core.program import log
from tfnb.keras.backend.phase import learning_phase
from tfnb.keras.backend.session import track_variable
from tfnb.keras.engine.calls import Call, entered, outer_call
from tfnb.keras.engine.layer import Layer, adapted
from tfnb.keras.engine.node import Node
from tfnb.layers import base
from tfnb.layers.weighted import converted


class LegacyLayer(Layer):
    """A layer of `tf.layers` as one of Keras: it computes by it, and has its name, variables, losses and updates.

    Other attributes (`kernel`, `units`) are those of the layer of `tf.layers`. layer: that layer.
    """

    _layer: base.Layer

    def __init__(self, layer: base.Layer) -> None:
        object.__setattr__(self, "_layer", layer)
        super().__init__(layer.trainable, layer.name, layer.dtype)
        self._batch_input_shape = layer._batch_input_shape
        self._known: set[int] = set()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(object.__getattribute__(self, "_layer"), name)

    @cached_property
    def _arguments(self) -> frozenset[str]:
        return frozenset(inspect.signature(self._layer.call).parameters)

    def _inner_layers(self) -> list[Any]:
        return []

    def _takes(self, argument: str) -> bool:
        return argument in self._arguments

    def _recorded(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        given = {**dict(zip([*inspect.signature(self._layer.call).parameters][1:], args, strict=False)), **kwargs}
        return {key: value for key, value in given.items() if value is not None}

    @property
    def trainable(self) -> bool:
        """Whether its variables are trained."""
        return self._layer.trainable

    @trainable.setter
    def trainable(self, value: bool) -> None:
        self._layer.trainable = value

    @property
    def trainable_weights(self) -> list[Any]:
        """The variables to train."""
        return self._layer.trainable_weights

    @property
    def non_trainable_weights(self) -> list[Any]:
        """The other variables."""
        return self._layer.non_trainable_weights

    @property
    def losses(self) -> list[Any]:
        """The losses that were added to the layer."""
        return self._layer.losses

    @property
    def updates(self) -> list[Any]:
        """The ops that training runs with each step."""
        return self._layer.updates if self.trainable else []

    def __call__(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """Compute the outputs by the layer of `tf.layers`."""
        outer, inputs = outer_call(), nest.map_structure(converted, inputs)
        kwargs = self._in_phase(self._completed(inputs, args, kwargs), bool(args))
        with entered(Call(self, kwargs.get("training"))):
            outputs = self._apart(inputs, self._layer(inputs, *args, **kwargs))
        self.built, self._called_with = True, self._layer._called_with
        for variable in self.weights:
            if id(variable) not in self._known:
                self._known.add(id(variable))
                track_variable(variable)
        if outer is None and self._connected(inputs):
            Node(self, inputs, outputs, self._recorded(args, kwargs))
        return outputs

    def _in_phase(self, kwargs: dict[str, Any], has_more: bool) -> dict[str, Any]:
        """Return the arguments with the phase for `training=None`; warn where none is given: 1.15 takes False then."""
        if not self._takes("training") or has_more or kwargs.get("training") is not None:
            return kwargs
        if "training" in kwargs:
            return {**kwargs, "training": learning_phase()}
        kind = type(self._layer).__name__
        log.warning("Layer %r is tf.layers.%s, which computes with training=False in fit, too: pass training="
                    "tf.keras.backend.learning_phase(), or use tf.keras.layers.%s", self.name, kind, kind)
        return kwargs

    def _forget_stale(self) -> bool:
        return self._layer._forget_stale()

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Return the shape of the outputs for inputs of a shape."""
        return self._layer.compute_output_shape(input_shape)

    def get_config(self) -> dict[str, Any]:
        """Raise NotImplementedError: a layer of `tf.layers` has no config."""
        kind = type(self._layer).__name__
        raise NotImplementedError(f"Layer {self.name!r} is tf.layers.{kind}, which has no config: save the weights "
                                  f"(save_weights), or use tf.keras.layers.{kind}")


def as_keras(layer: Any) -> Any:
    """Return the layer of Keras that stands for one of `tf.layers`, always the same; anything else as it is."""
    if not isinstance(layer, base.Layer):
        return layer
    made = vars(layer).get("_keras_layer")
    if made is None:
        made = LegacyLayer(layer)
        vars(layer)["_keras_layer"] = made
    return made


def join(layer: base.Layer, inputs: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return the outputs of a call on tensors of Keras, or within a call of one of its layers; else None."""
    outer = outer_call()
    if outer is not None and getattr(outer.layer, "_layer", None) is layer:      # its computation
        return None
    made = as_keras(layer)
    return made(inputs, *args, **kwargs) if outer is not None or made._connected(inputs) else None


adapted[0], base.joined[0] = as_keras, join

_explain(__name__)
