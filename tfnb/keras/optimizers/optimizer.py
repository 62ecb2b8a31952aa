"""Base of the optimizers of Keras: hyperparameters are variables, so that callbacks change them between steps."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfnb.autodiff.gradients import gradients
from tfnb.core import dtypes
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.stack import control_dependencies, get_default_graph, name_scope
from tfnb.keras.backend.session import track_variable
from tfnb.keras.backend.values import batch_get_value, batch_set_value, get_value, set_value
from tfnb.ops.array.reshape import identity
from tfnb.ops.control.group import group
from tfnb.ops.math.arithmetic import pow as power
from tfnb.ops.math.casting import cast
from tfnb.ops.reductions.clip import clip_by_norm, clip_by_value
from tfnb.train.optimizers.declared import DeclaredOptimizer, Slot
from tfnb.train.optimizers.optimizer import Optimizer as TrainOptimizer
from tfnb.train.optimizers.optimizer import _target
from tfnb.train.optimizers.slots import is_alive
from tfnb.variables.initializers import zeros_initializer
from tfnb.variables.variable import Variable

_OPTIONS = {"clipnorm", "clipvalue", "lr", "decay"}


class Optimizer(DeclaredOptimizer):
    """Base of the optimizers of Keras.

    Hyperparameters become variables when they are first needed: `K.set_value(optimizer.lr, 0.1)`, or
    `optimizer.lr = 0.1`, changes the next step. Further arguments of each optimizer: clipnorm, clipvalue: limits of the
    norm, and of the elements, of each gradient; decay: learning_rate is divided by 1 + decay * iterations; lr: another
    name of learning_rate.

    >>> optimizer = tf.keras.optimizers.SGD(lr=0.5, decay=0.1)
    >>> isinstance(optimizer, tf.keras.optimizers.Optimizer)
    True
    >>> optimizer.lr = 0.25
    >>> optimizer.get_config()
    {'name': 'SGD', 'learning_rate': 0.25, 'decay': 0.1, 'momentum': 0.0, 'nesterov': False}
    """

    _settings: tuple[str, ...] = ()             # entries of the config beside the hyperparameters
    _slots_by_variable = False                  # all slots of a variable are made before those of the next one

    def __init__(self, name: str, **kwargs: Any) -> None:
        unknown = kwargs.keys() - _OPTIONS
        if unknown:
            raise TypeError(f"Unexpected keyword argument passed to optimizer: {', '.join(sorted(unknown))}")
        for option, value in kwargs.items():
            if value is not None and not callable(value) and not isinstance(value, Tensor) and value < 0:
                raise ValueError(f"Expected {option} >= 0, got {value}")
        self._given: dict[str, Any] = {}
        self._made: dict[str, Variable] = {}
        TrainOptimizer.__init__(self, False, name)
        self.clipnorm, self.clipvalue = kwargs.get("clipnorm"), kwargs.get("clipvalue")
        self._has_decay = bool(kwargs.get("decay", 0.0))
        self._given["decay"] = kwargs.get("decay", 0.0)
        self._weights: list[Variable] = []
        self._iterations: Variable | None = None

    def _set_hyper(self, name: str, value: Any) -> None:
        """Declare a hyperparameter, or give it another value."""
        self._given[name] = value
        if name in self._made and is_alive(self._made[name]):
            set_value(self._made[name], value)

    def _get_hyper(self, name: str) -> Any:
        """Return the variable of a hyperparameter, or what was given where that is a tensor or a schedule."""
        given = self._given[name]
        if callable(given) or isinstance(given, (Tensor, Variable)):
            return given
        made = self._made.get(name)
        if made is None or not is_alive(made) or made.graph is not get_default_graph():
            with control_dependencies(None):
                made = self._made[name] = self._variable(name, (), float(given))
        return made

    def _variable(self, name: str, shape: Any, start: Any, dtype: Any = dtypes.float32) -> Variable:
        made = Variable(lambda: start(shape, dtype=dtype) if callable(start) else start, trainable=False, name=name,
                        dtype=dtype, use_resource=True)
        track_variable(made)
        return made

    def __getattr__(self, name: str) -> Any:
        """Return a hyperparameter by its name."""
        name = "learning_rate" if name == "lr" else name
        if name in self.__dict__.get("_given", {}):
            return self._get_hyper(name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __setattr__(self, name: str, value: Any) -> None:
        """Set a hyperparameter by its name."""
        name = "learning_rate" if name == "lr" else name
        if name in self.__dict__.get("_given", {}):
            self._set_hyper(name, value)
        else:
            object.__setattr__(self, name, value)

    @property
    def iterations(self) -> Any:
        """The variable that counts steps, an int64 scalar."""
        found = self._iterations
        if found is None or not is_alive(found) or found.graph is not get_default_graph():
            with control_dependencies(None):
                found = self._iterations = self._variable("iter", (), 0, dtypes.int64)
            self._weights = [found]
        return found

    # The step

    def get_gradients(self, loss: Any, params: Any) -> list[Any]:
        """Return the gradients of `loss` with respect to the variables, clipped as the optimizer says.

        Raises ValueError for a variable that the loss does not depend on.
        """
        params = list(params)
        with name_scope("gradients"):
            found = gradients(loss, [_target(v) for v in params])
        lacking = [v.name for v, grad in zip(params, found, strict=True) if grad is None]
        if lacking:
            raise ValueError(f"Expected the loss to depend on all trainable weights, but there is no gradient for "
                             f"{', '.join(lacking)}: is an op without a gradient (argmax, round) between them?")
        if self.clipnorm is not None:
            found = [clip_by_norm(grad, self.clipnorm) for grad in found]
        if self.clipvalue is not None:
            found = [clip_by_value(grad, -self.clipvalue, self.clipvalue) for grad in found]
        return list(found)

    def get_updates(self, loss: Any, params: Any) -> list[Operation]:
        """Return a list of the op that takes a step to minimize `loss` by updating the variables."""
        return [self.apply_gradients(zip(self.get_gradients(loss, params), params, strict=True))]

    def apply_gradients(self, grads_and_vars: Any, name: str | None = None) -> Operation:    # type: ignore[override]
        """Return an op that applies pairs (gradient, variable) and adds 1 to `iterations`."""
        pairs = [(grad, v) for grad, v in grads_and_vars if grad is not None]
        steps = self.iterations
        with control_dependencies(None):
            for hyper in sorted(self._given):
                self._get_hyper(hyper)
        return super().apply_gradients(pairs, steps, name)

    def minimize(self, loss: Any, var_list: Any, grad_loss: Any = None,                 # type: ignore[override]
                 name: str | None = None) -> Operation:
        """Return an op that takes a step to minimize a loss, a tensor or a function that makes it."""
        value = loss() if callable(loss) and not isinstance(loss, Tensor) else loss
        variables = var_list() if callable(var_list) else var_list
        return self.apply_gradients(self.compute_gradients(value, variables, grad_loss=grad_loss), name)

    def _create_slots(self, var_list: Sequence[Variable]) -> None:
        inputs = {arg.name for arg in self._rule.step.spec.inputs} if self._rule else set()
        slots = [slot for name, slot in self._used_slots().items() if not inputs or name in inputs]
        pairs = [(v, slot) for v in var_list for slot in slots] if self._slots_by_variable else \
            [(v, slot) for slot in slots for v in var_list]
        for v, slot in pairs:
            self._make_slot(v, slot, self._slot_start(v, slot), "")

    def _used_slots(self) -> dict[str, Slot]:
        """Return the slots, by the names of the inputs of the step."""
        return dict(self._rule.slots)

    def _make_slot(self, var: Variable, slot: Slot, start: Any, title: str) -> Variable:
        def make() -> Variable:
            made = self._variable(f"{var.op.name}/{slot.name}", var.shape, start or zeros_initializer(),
                                  var.dtype.base_dtype)
            self._weights.append(made)
            return made
        return self._slot(var, slot.name, make)

    def _hyper_value(self, name: str) -> Any:
        if name == "learning_rate":
            return self._decayed_rate()
        return identity(self._get_hyper(name)) if name in self._given else getattr(self, name)

    def _decayed_rate(self) -> Any:
        given = self._get_hyper("learning_rate")
        if callable(given) and not isinstance(given, (Tensor, Variable)):
            given = given(self.iterations) if hasattr(given, "get_config") else given()
        rate = identity(given)
        if self._has_decay:
            rate = rate / (1.0 + self._get_hyper("decay") * cast(self.iterations, rate.dtype))
        return rate

    def _step_input(self, name: str, var: Variable) -> Any:
        if name in self._rule.powers:
            kind = var.dtype.base_dtype
            base = getattr(self, self._rule.tensor(self._rule.powers[name]))
            return power(cast(base, kind), cast(self.iterations + 1, kind))
        return super()._step_input(name, var)

    def _finish(self, update_ops: Sequence[Any], name_scope: str) -> Operation:
        return group(*update_ops, name=name_scope)

    # State

    @property
    def weights(self) -> list[Variable]:
        """The variables of steps and slots, in the order of their making."""
        return [v for v in self._weights if is_alive(v)]

    def variables(self) -> list[Variable]:
        """Return `weights`."""
        return self.weights

    def get_weights(self) -> list[Any]:
        """Return the values of `weights`, arrays."""
        return batch_get_value(self.weights)

    def set_weights(self, weights: Any) -> None:
        """Set `weights` to values. Raises ValueError for another number of arrays or another shape."""
        mine = self.weights
        if len(mine) != len(weights):
            raise ValueError(f"Optimizer {self._name}: expected {len(mine)} arrays for its weights, got {len(weights)}")
        for v, value in zip(mine, weights, strict=True):
            if tuple(v.shape.as_list()) != getattr(value, "shape", ()):
                raise ValueError(f"Optimizer {self._name}: expected shape {tuple(v.shape.as_list())} for {v.op.name}, "
                                 f"got {value.shape}")
        batch_set_value(list(zip(mine, weights, strict=True)))

    def get_config(self) -> dict[str, Any]:
        """Return the arguments of the constructor, hyperparameters with their present values."""
        config: dict[str, Any] = {"name": self._name}
        for option in ("clipnorm", "clipvalue"):
            if getattr(self, option) is not None:
                config[option] = getattr(self, option)
        return {**config, **{name: self._present(name) for name in self._settings}}

    def _present(self, name: str) -> Any:
        if name not in self._given:
            return getattr(self, name)
        given, made = self._given[name], self._made.get(name)
        if hasattr(given, "get_config"):
            return {"class_name": type(given).__name__, "config": given.get_config()}
        if isinstance(given, (Tensor, Variable)):
            return get_value(given)
        if callable(given):
            return given()
        return given if made is None or not is_alive(made) else float(get_value(made))

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:
        """Return an optimizer with these arguments."""
        return cls(**{"learning_rate" if key == "lr" else key: value for key, value in config.items()})
