"""Layers of Keras around another layer: over the steps of sequences, in both directions, and functions as layers."""
from __future__ import annotations

import codecs
import importlib
import inspect
import marshal
import types
from typing import Any, ClassVar

from tfnb.core.arguments import KERAS, describe
from tfnb.core.shape import TensorShape
from tfnb.keras.backend import ops
from tfnb.keras.engine.layer import Layer
from tfnb.keras.engine.serialization import deserialize
from tfnb.keras.layers.described import Described, shape_list
from tfnb.keras.utils.registry import deserialize_keras_object


class Wrapper(Layer):
    """Base of layers around another one. layer: that layer.

    >>> wrapper = tf.keras.layers.Wrapper(tf.keras.layers.Dense(2))
    >>> wrapper.get_config()["layer"]["class_name"]
    'Dense'
    """

    def __init__(self, layer: Any, **kwargs: Any) -> None:
        if not isinstance(layer, Layer):
            raise ValueError(f"Please initialize `{type(self).__name__}` layer with a `Layer` instance. You passed: "
                             f"{layer!r}")
        super().__init__(**kwargs)
        self.layer = layer

    def get_config(self) -> dict[str, Any]:
        """Return the arguments of the constructor."""
        return {**super().get_config(), "layer": {"class_name": type(self.layer).__name__,
                                                  "config": self.layer.get_config()}}

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:
        """Return the layer with these arguments."""
        config = dict(config)
        for name in ("layer", "backward_layer"):
            if isinstance(config.get(name), dict):
                config[name] = deserialize(config[name], custom_objects)
        constants = config.pop("num_constants", None)
        made = cls(**config)
        if constants is not None:
            made._num_constants = constants
        return made


class TimeDistributed(Wrapper):
    """A layer that is applied to each step of sequences: (batch, steps, ...).

    >>> tf.keras.layers.TimeDistributed(tf.keras.layers.Dense(8))(tf.ones([2, 10, 16])).shape.as_list()
    [2, 10, 8]
    """

    supports_masking = True

    def build(self, input_shape: Any) -> None:
        """Make the variables of the layer. Raises ValueError for inputs of rank below 3 or an unknown step count."""
        sizes = shape_list(input_shape)
        if len(sizes) < 3:
            raise ValueError("`TimeDistributed` Layer should be passed an `input_shape` with at least 3 dimensions, "
                             f"received: {sizes}")
        if not self.layer.built:
            self.layer._dtype = self.layer._dtype or self.dtype
            self.layer.build(TensorShape([sizes[0], *sizes[2:]]))
            self.layer.built = True
        self.built = True

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """(batch, steps, sizes of the layer's outputs...)."""
        sizes = shape_list(input_shape)
        inner = shape_list(self.layer.compute_output_shape(TensorShape([sizes[0], *sizes[2:]])))
        return TensorShape([inner[0], sizes[1], *inner[1:]])

    def call(self, inputs: Any, training: Any = None, mask: Any = None) -> Any:
        """The layer's outputs for each step; it gets `training` and its part of the mask where it takes them."""
        taken = inspect.signature(self.layer.call).parameters
        known: dict[str, Any] = {"training": training} if "training" in taken else {}
        if "mask" in taken and mask is not None and mask.shape.ndims > 2:
            known["mask"] = _merged_steps(mask)
        made = self.layer(_merged_steps(inputs), **known)
        sizes: Any = ops.shape(inputs)
        inner: Any = ops.shape(made)
        result = ops.reshape(made, ops.concat([sizes[:2], inner[1:]], 0))
        result.set_shape([*inputs.shape.as_list()[:2], *made.shape.as_list()[1:]])
        return result

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """The mask that the layer gives to the steps, else that of the inputs."""
        inner_mask = None if mask is None or mask.shape.ndims <= 2 else _merged_steps(mask)
        found = self.layer.compute_mask(_merged_steps(inputs), inner_mask)
        if found is None:
            return mask if mask is None or mask.shape.ndims == 2 else \
                ops.reduce_any(mask, axis=list(range(2, mask.shape.ndims)))
        sizes: Any = ops.shape(inputs)
        inner: Any = ops.shape(found)
        return ops.reshape(found, ops.concat([sizes[:2], inner[1:]], 0))


def _merged_steps(x: Any) -> Any:
    """(batch, steps, ...) -> (batch * steps, ...)."""
    sizes: Any = ops.shape(x)
    made = ops.reshape(x, ops.concat([[-1], sizes[2:]], 0))
    made.set_shape([None, *x.shape.as_list()[2:]])
    return made


class Bidirectional(Wrapper):
    """A recurrent layer that reads sequences forward, and one that reads them backward.

    merge_mode: "sum", "mul", "concat", "ave", or None for a list of both outputs; else ValueError. weights: initial
    values. backward_layer: the second layer; None: one like the first.

    >>> layer = tf.keras.layers.Bidirectional(tf.keras.layers.LSTM(4))
    >>> layer(tf.ones([2, 3, 5])).shape.as_list(), layer.weights[0].name
    ([2, 8], 'bidirectional/forward_lstm/kernel:0')
    """

    _merges: ClassVar[tuple[Any, ...]] = ("sum", "mul", "ave", "concat", None)
    supports_masking = True

    def __init__(self, layer: Any, merge_mode: Any = "concat", weights: Any = None, backward_layer: Any = None,
                 **kwargs: Any) -> None:
        if merge_mode not in self._merges:
            raise ValueError(f"Invalid merge mode. Merge mode should be one of {list(self._merges)}, got "
                             f"{merge_mode!r}")
        super().__init__(layer, **kwargs)
        config = layer.get_config()
        self.forward_layer = self.layer = type(layer).from_config({**config, "name": _named("forward", layer.name)})
        self._own_backward = backward_layer is not None
        self.backward_layer = backward_layer if backward_layer is not None else type(layer).from_config(
            {**config, "go_backwards": not layer.go_backwards, "name": _named("backward", layer.name)})
        self.merge_mode, self.stateful = merge_mode, layer.stateful
        self.return_sequences, self.return_state = layer.return_sequences, layer.return_state
        if weights is not None:
            half = len(weights) // 2
            self.forward_layer._initial_weights = weights[:half]
            self.backward_layer._initial_weights = weights[half:]

    def __call__(self, inputs: Any, initial_state: Any = None, constants: Any = None, **kwargs: Any) -> Any:
        """Return the merged outputs; initial states of both layers may stand behind the inputs in a list."""
        if isinstance(inputs, (list, tuple)) and len(inputs) > 1:
            inputs, initial_state = inputs[0], [*inputs[1:]]
        if constants is not None:
            raise ValueError("Bidirectional takes no constants")
        if initial_state is None:
            return super().__call__(inputs, **kwargs)
        if len(initial_state) % 2:
            raise ValueError("When passing `initial_state` to a Bidirectional RNN, the state should be a list "
                             f"containing the states of the underlying RNNs. Found: {initial_state}")
        return super().__call__([inputs, *initial_state], **kwargs)

    def call(self, inputs: Any, mask: Any = None, training: Any = None) -> Any:
        """mask: bools (batch, steps). training: for dropout in the cells; None: the learning phase."""
        states: list[Any] = []
        if isinstance(inputs, (list, tuple)):
            inputs, states = inputs[0], list(inputs[1:])
        mask = mask[0] if isinstance(mask, (list, tuple)) else mask
        known = {name: value for name, value in (("training", training), ("mask", mask))
                 if name in inspect.signature(self.forward_layer.call).parameters and value is not None}
        half = len(states) // 2
        forward = self.forward_layer(inputs, initial_state=states[:half] or None, **known)
        backward = self.backward_layer(inputs, initial_state=states[half:] or None, **known)
        after: list[Any] = []
        if self.return_state:
            after = [*forward[1:], *backward[1:]]
            forward, backward = forward[0], backward[0]
        if self.return_sequences:
            backward = ops.reverse(backward, [0 if getattr(self.forward_layer, "time_major", False) else 1])
        made = self._merged(forward, backward)
        if not self.return_state:
            return made
        return [*(made if self.merge_mode is None else [made]), *after]

    def _merged(self, a: Any, b: Any) -> Any:
        if self.merge_mode == "concat":
            return ops.concat([a, b], axis=a.shape.ndims - 1)
        if self.merge_mode == "mul":
            return a * b
        if self.merge_mode is None:
            return [a, b]
        return a + b if self.merge_mode == "sum" else (a + b) / 2

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The shape of the merged outputs; with return_state followed by those of the states."""
        found = self.forward_layer.compute_output_shape(input_shape)
        states = found[1:] * 2 if self.return_state else []
        first = shape_list(found[0] if self.return_state else found)
        if self.merge_mode == "concat":
            first[-1] = None if first[-1] is None else 2 * first[-1]
        shapes = [TensorShape(first)] * (2 if self.merge_mode is None else 1)
        return [*shapes, *states] if states or len(shapes) > 1 else shapes[0]

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """The mask of the steps with return_sequences, else None; None for the states."""
        mask = mask[0] if isinstance(mask, list) else mask
        kept = mask if self.return_sequences else None
        masks = [kept] * (2 if self.merge_mode is None else 1)
        if self.return_state:
            masks += [None] * (2 * len(self.forward_layer._state_sizes))
        return masks if len(masks) > 1 else kept

    def reset_states(self) -> None:
        """Set the states of both layers to 0."""
        self.forward_layer.reset_states()
        self.backward_layer.reset_states()

    def get_config(self) -> dict[str, Any]:
        """Return the arguments of the constructor."""
        config = super().get_config()
        plain = dict(config["layer"]["config"])
        plain["name"] = plain["name"].removeprefix("forward_")
        config.update(layer={**config["layer"], "config": plain}, merge_mode=self.merge_mode)
        if self._own_backward:
            config["backward_layer"] = {"class_name": type(self.backward_layer).__name__,
                                        "config": self.backward_layer.get_config()}
        return config


def _named(direction: str, name: str) -> str:
    return f"{direction}_{name}"


class Lambda(Described):
    """A function as a layer. It has no variables.

    function: of the inputs, and of mask and training where it has such arguments. output_shape: accepted; the graph
    says the shape. mask: a mask, or a function (inputs, mask) -> mask. arguments: a dict of further arguments.

    >>> layer = tf.keras.layers.Lambda(lambda x: x ** 2)
    >>> sess.run(layer(tf.constant([3.0])))
    array([9.], dtype=float32)
    """

    def __init__(self, function: Any, output_shape: Any = None, mask: Any = None, arguments: Any = None,
                 **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.function, self._output_shape, self.mask = function, output_shape, mask
        self.arguments = dict(arguments or {})
        self.supports_masking = mask is not None

    def call(self, inputs: Any, mask: Any = None, training: Any = None) -> Any:
        """The function of the inputs."""
        known = inspect.signature(self.function).parameters
        given = {name: value for name, value in (("mask", mask), ("training", training)) if name in known}
        return self.function(inputs, **{**given, **self.arguments})

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """The mask of the constructor, or that of its function."""
        return self.mask(inputs, mask) if callable(self.mask) else self.mask

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """The output_shape of the constructor, of which a tuple has no batch. Raises NotImplementedError without."""
        if self._output_shape is None:
            raise NotImplementedError(f"We could not infer the output shape of the Lambda layer {self.name!r} without "
                                      "a call: give it output_shape")
        if callable(self._output_shape):
            return TensorShape(self._output_shape(tuple(shape_list(input_shape))))
        return TensorShape([shape_list(input_shape)[0], *self._output_shape])

    def get_config(self) -> dict[str, Any]:
        """Return the arguments of the constructor; functions as bytes of their code, or by name."""
        function, kind = _dumped(self.function)
        shape, shape_kind = _dumped(self._output_shape) if callable(self._output_shape) else (self._output_shape, "raw")
        mask, mask_kind = _dumped(self.mask) if callable(self.mask) else (None, None)
        config = {**super().get_config(), "function": function, "function_type": kind, "module":
                  getattr(self.function, "__module__", None), "output_shape": shape, "output_shape_type": shape_kind,
                  "output_shape_module": None, "arguments": self.arguments}
        return {**config, "mask": mask, "mask_type": mask_kind} if mask is not None else config

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:
        """Return the layer with these arguments."""
        config = dict(config)
        config["function"] = _loaded(config.pop("function"), config.pop("function_type"), custom_objects)
        config["output_shape"] = _loaded(config["output_shape"], config.pop("output_shape_type", "raw"), custom_objects)
        if "mask" in config:
            config["mask"] = _loaded(config["mask"], config.pop("mask_type", "raw"), custom_objects)
        for name in ("module", "output_shape_module"):
            config.pop(name, None)
        return cls(**config)


def _dumped(function: Any) -> tuple[Any, str]:
    """Return a function as (code, defaults, closure), or its name, and which of them it is."""
    if getattr(function, "__name__", "") != "<lambda>":
        return getattr(function, "__name__", type(function).__name__), "function"
    code = codecs.encode(marshal.dumps(function.__code__), "base64").decode("ascii")
    cells = tuple(cell.cell_contents for cell in function.__closure__ or ()) or None
    return (code, function.__defaults__, cells), "lambda"


def _loaded(given: Any, kind: Any, custom_objects: Any) -> Any:
    """Return the function that `_dumped` described. Raises ValueError for an unknown name."""
    if kind == "function":
        return deserialize_keras_object(given, custom_objects=custom_objects, printable_module_name="function in "
                                        "Lambda layer")
    if kind != "lambda":
        return tuple(given) if isinstance(given, list) else given
    code, defaults, closure = given
    made = marshal.loads(codecs.decode(code.encode("ascii"), "base64"))
    cells = tuple(types.CellType(value) for value in closure) if closure else None
    names: dict[str, Any] = {"__builtins__": __builtins__, **importlib.import_module("__main__").__dict__}
    return types.FunctionType(made, names, "<lambda>", tuple(defaults) if defaults else None, cells)


describe(globals(), KERAS)
