"""Models that are a list of layers: `tf.keras.Sequential`."""
from __future__ import annotations

import copy
from typing import Any

from tfnb.core import nest
from tfnb.core.arguments import KERAS, describe
from tfnb.core.shape import TensorShape
from tfnb.keras.backend.config import floatx
from tfnb.keras.engine.input_layer import InputLayer
from tfnb.keras.engine.layer import Layer
from tfnb.keras.engine.legacy import as_keras
from tfnb.keras.engine.serialization import deserialize, serialize
from tfnb.keras.training.arrays import array
from tfnb.keras.training.model import Model


class Sequential(Model):
    """A model of layers one after the other.

    layers: a list of them. The first says the shape of its inputs (input_shape), or the model is built with the first
    data. name: by default "sequential", made unique.

    >>> model = tf.keras.Sequential([tf.keras.layers.Dense(3, activation="relu", input_shape=(2,))])
    >>> model.add(tf.keras.layers.Dense(1))
    >>> [layer.output_shape for layer in model.layers]
    [(None, 3), (None, 1)]
    >>> model.predict(np.zeros([4, 2])).shape
    (4, 1)
    """

    def __init__(self, layers: Any = None, name: str | None = None) -> None:
        super().__init__(name=name)
        for layer in layers or ():
            self.add(layer)

    @property
    def layers(self) -> list[Any]:
        """The layers, without that of the inputs."""
        return [layer for layer in self._layers if not isinstance(layer, InputLayer)]

    def _inner_layers(self) -> list[Any]:
        return list(self._layers)

    def add(self, layer: Any) -> None:
        """Add a layer at the end.

        Raises TypeError for anything else, ValueError for a layer with several outputs, or of a name that is taken.
        """
        layer = as_keras(layer)
        if not isinstance(layer, Layer):
            raise TypeError(f"The added layer must be an instance of class Layer. Found: {layer!r}")
        if any(layer.name == each.name for each in self.layers):
            raise ValueError(f"All layers added to a Sequential model should have unique names. Name {layer.name!r} is "
                             "already the name of a layer in this model.")
        if not self._layers:
            self._begin(layer)
        elif self.outputs is not None:
            self._layers.append(layer)
            self._extend(layer(self.outputs[0]))
        else:
            self._layers.append(layer)
        self.built = self.outputs is not None

    def _begin(self, layer: Any) -> None:
        """Add the first layer, with an input before it where its shape is known."""
        if isinstance(layer, InputLayer):
            self._layers.append(layer)
            self._extend(layer.output)
            return
        shape = getattr(layer, "_batch_input_shape", None)
        inner = layer
        while shape is None and getattr(inner, "layers", None):             # a model as the first layer
            inner = inner.layers[0]
            shape = getattr(inner, "_batch_input_shape", None)
        if shape is None:
            self._layers.append(layer)
            return
        first = InputLayer(batch_input_shape=shape, dtype=inner.dtype or floatx(), name=f"{layer.name}_input")
        self._layers += [first, layer]
        self._extend(layer(first.output))

    def _extend(self, output: Any) -> None:
        """Take the output of the last layer for that of the model."""
        if len(nest.flatten(output)) != 1:
            raise ValueError("All layers in a Sequential model should have a single output tensor. For multi-output "
                             "layers, use the functional API.")
        first: Any = self._layers[0]
        layers = self._layers
        self._init_graph(first.output, output)
        self._layers = layers
        self._compiled = None

    def pop(self) -> None:
        """Remove the last layer. Raises TypeError if there is none."""
        if not self.layers:
            raise TypeError("There are no layers in the model.")
        self._layers.pop()
        if not self.layers:
            self.inputs = self.outputs = None
            self.built, self._is_graph_network, self._layers = False, False, []
        elif self.outputs is not None:
            self._layers[-1]._outbound_nodes = []
            self._extend(self._layers[-1].get_output_at(len(self._layers[-1]._inbound_nodes) - 1))

    def build(self, input_shape: Any = None) -> None:
        """Make the variables for inputs of a shape, with the batch. Raises ValueError without one."""
        if self.inputs is not None:
            return
        if input_shape is None:
            raise ValueError("Input shape must be defined when calling build() on a model whose first layer does not "
                             "state it.")
        if not self._layers:
            raise ValueError("A Sequential model without layers can't be built")
        layers, self._layers = self._layers, []
        shape = tuple(TensorShape(input_shape).as_list())
        kind = layers[0].dtype or floatx()
        self._layers.append(InputLayer(batch_input_shape=shape, dtype=kind, name=f"{layers[0].name}_input"))
        output = self._layers[0].output
        for layer in layers:
            output = layer(output)
            self._layers.append(layer)
        self._extend(output)
        self._batch_input_shape = shape
        self.built = True

    def call(self, inputs: Any, training: Any = None, mask: Any = None) -> Any:
        """Compute the outputs of the layers, one after the other."""
        if self._is_graph_network:
            return super().call(inputs, training, mask)
        for layer in self.layers:
            inputs = layer(inputs, training=training) if layer._takes("training") else layer(inputs)
        return inputs

    def _build_once(self, inputs: Any) -> None:
        if self.inputs is None:
            self.build(nest.flatten(inputs)[0].shape)

    def _forget_inputs(self) -> None:
        super()._forget_inputs()
        layers, self._layers = self.layers, []
        self.built, self._is_graph_network = False, False
        self._layers = layers

    def _set_inputs(self, x: Any) -> None:
        given = nest.flatten(x)
        if len(given) == 1 and hasattr(given[0], "op"):
            self.build(given[0].shape)
            return
        found = array(given[0] if len(given) == 1 else x)
        self.build((None, *found.shape[1:]))

    def get_config(self) -> dict[str, Any]:
        """Return the name and the layers' configs."""
        config: dict[str, Any] = {"name": self.name, "layers": copy.deepcopy([serialize(each) for each in self.layers])}
        if self.inputs is not None:
            config["build_input_shape"] = tuple(self.inputs[0].shape.as_list())
        return config

    @classmethod
    def from_config(cls, config: Any, custom_objects: Any = None) -> Any:
        """Return a model with new weights from its config, a dict or a list of layers' configs."""
        whole = config if isinstance(config, dict) else {"layers": config}
        model = cls(name=whole.get("name"))
        for each in whole["layers"]:
            model.add(deserialize(each, custom_objects))
        shape = whole.get("build_input_shape")
        if model.inputs is None and shape is not None:
            model.build(shape)
        return model

    def predict_proba(self, x: Any, batch_size: int = 32, verbose: int = 0) -> Any:
        """Return `predict`: the probabilities of the classes."""
        return self.predict(x, batch_size, verbose)

    def predict_classes(self, x: Any, batch_size: int = 32, verbose: int = 0) -> Any:
        """Return the most probable class of each example; for a single output whether it is above 0.5."""
        found = self.predict(x, batch_size, verbose)
        return found.argmax(axis=-1) if found.shape[-1] > 1 else (found > 0.5).astype("int32")


describe(globals(), KERAS)
