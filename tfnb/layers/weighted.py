"""Foundation of all layers: the name, weights, losses and updates that `tf.layers` and `tf.keras` layers share."""
from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from tfnb.core import nest
from tfnb.core.dtypes import as_dtype
from tfnb.core.shape import TensorShape
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.graph_util import depends_on
from tfnb.graph.parts.operation import Tensor
from tfnb.layers.input_spec import check_input


def snake_case(name: str) -> str:
    """Return the name of a class as layers are named by it: "Conv2DTranspose" -> "conv2d_transpose"."""
    parted = re.sub(r"([a-z])([A-Z])", r"\1_\2", re.sub(r"(.)([A-Z][a-z0-9]+)", r"\1_\2", name)).lower()
    return parted if parted[0] != "_" else f"private{parted}"


INPUT_OPTIONS = frozenset({"input_shape", "batch_input_shape", "batch_size", "input_dim"})


class Weighted:
    """A named function of tensors with weights, losses and updates.

    trainable: whether its weights are trained. dtype: of the weights; by default that of the first input.
    activity_regularizer: a function from the outputs to a loss.
    """

    _name: str
    _batch_input_shape: tuple[int | None, ...] | None

    def __init__(self, trainable: bool, dtype: Any, activity_regularizer: Any) -> None:
        self._trainable_weights: list[Any] = []
        self._non_trainable_weights: list[Any] = []
        self._updates: list[Any] = []
        self._losses: list[Any] = []
        self._called_with: list[Tensor] = []
        self.built, self.trainable = False, trainable
        self.input_spec: Any = None                 # an InputSpec or a list of them
        self._dtype = None if dtype is None else as_dtype(dtype).name
        self.activity_regularizer = activity_regularizer

    def _settle_input_shape(self, given: Mapping[str, Any]) -> bool:
        """Keep the shape of the inputs that a first layer of a Sequential states; return whether it does."""
        sizes = given.get("batch_input_shape")
        if sizes is None:
            inner = given.get("input_shape")
            if inner is None and given.get("input_dim") is not None:
                inner = (given["input_dim"],)
            if inner is None:
                return False
            sizes = (given.get("batch_size"), *([inner] if isinstance(inner, int) else inner))
        self._batch_input_shape = tuple(TensorShape(sizes).as_list())
        return True

    @property
    def name(self) -> str:
        """The name that was given, or one that no other layer of the graph has."""
        found: str = self._name
        return found

    @property
    def dtype(self) -> str | None:
        """The name of the dtype of the variables; None before the first call, if it was not given."""
        return self._dtype

    @property
    def trainable_weights(self) -> list[Any]:
        """The variables to train."""
        return list(self._trainable_weights) if self.trainable else []

    @property
    def non_trainable_weights(self) -> list[Any]:
        """The other variables."""
        return list(self._non_trainable_weights) + ([] if self.trainable else list(self._trainable_weights))

    @property
    def weights(self) -> list[Any]:
        """All variables, those to train first."""
        return self.trainable_weights + self.non_trainable_weights

    @property
    def trainable_variables(self) -> list[Any]:
        """The same as `trainable_weights`."""
        return self.trainable_weights

    @property
    def non_trainable_variables(self) -> list[Any]:
        """The same as `non_trainable_weights`."""
        return self.non_trainable_weights

    @property
    def variables(self) -> list[Any]:
        """The same as `weights`."""
        return self.weights

    @property
    def updates(self) -> list[Any]:
        """The ops that were added by `add_update`."""
        return self._updates

    @property
    def losses(self) -> list[Tensor]:
        """The losses that were added by `add_loss`."""
        return self._losses

    def get_updates_for(self, inputs: Any) -> list[Any]:
        """Return the updates that depend on any of `inputs`; for None those that depend on no input of a call."""
        sources = tensors_in(self._called_with if inputs is None else inputs)
        return [update for update in self.updates if depends_on(update, sources) is (inputs is not None)]

    def get_losses_for(self, inputs: Any) -> list[Tensor]:
        """Return the losses added for inputs that depend on any of `inputs`; for None those added for none."""
        free = [getattr(loss, "_unconditional_loss", True) for loss in self.losses]
        if inputs is None:
            return [loss for loss, is_free in zip(self.losses, free, strict=True) if is_free]
        sources = tensors_in(inputs)
        return [loss for loss, is_free in zip(self.losses, free, strict=True)
                if not is_free and depends_on(loss.op, sources)]

    def count_params(self) -> int:
        """Count the elements of the variables. Raises ValueError before they are made."""
        if not self.built:
            raise ValueError(f"You tried to call `count_params` on {self.name}, but the layer isn't built.")
        return sum(int(np.prod(variable.shape.as_list())) for variable in self.weights)

    def build(self, input_shape: Any) -> None:
        """Make the variables, by `add_weight`."""
        self.built = True

    def call(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """The outputs."""
        return inputs

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """The shape of the outputs for inputs of a shape."""
        raise NotImplementedError(f"{type(self).__name__} does not say its output shape")

    def get_config(self) -> dict[str, Any]:
        """The arguments of the constructor, as far as a subclass tells them."""
        return {"name": self.name, "trainable": self.trainable, "dtype": self.dtype}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Any:
        """A layer with these arguments."""
        return cls(**config)

    def _build_once(self, inputs: Any) -> None:
        check_input(self.input_spec, inputs, self.name)
        if self.built:
            return
        tensors = nest.flatten(inputs)
        if self._dtype is None and tensors and hasattr(tensors[0], "dtype"):
            self._dtype = tensors[0].dtype.base_dtype.name
        shapes = [getattr(tensor, "shape", None) for tensor in tensors]
        self.build(nest.pack_sequence_as(inputs, shapes))
        check_input(self.input_spec, inputs, self.name)
        self.built = True


def tensors_in(inputs: Any) -> set[Tensor]:
    """Return the tensors of a nested structure."""
    return {each for each in nest.flatten(inputs) if isinstance(each, Tensor)}


def converted(value: Any) -> Any:
    """Numbers and arrays as tensors; everything else as it is."""
    return convert_to_tensor(value) if isinstance(value, (np.ndarray, np.generic, float, int)) else value


def channel_size(shape_: Any, axis: int, what: str) -> int:
    """The size of `axis`, which variables' shapes depend on. Raises ValueError where it is not known."""
    size = None if shape_.ndims is None else shape_.as_list()[axis]
    if size is None:
        raise ValueError(f"The {what} of the inputs should be defined. Found `None` in shape {shape_}.")
    found: int = size
    return found
