"""Optimizers of Keras: their hyperparameters, slots and steps (names and defaults of TensorFlow 1.15)."""
from __future__ import annotations

from dataclasses import replace
from typing import Any

from tfnb.core.arguments import OPTIMIZERS, describe
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.stack import control_dependencies
from tfnb.keras.optimizers.optimizer import Optimizer
from tfnb.ops.composite.indexed_slices import IndexedSlices
from tfnb.ops.control.group import group
from tfnb.ops.declaration.raw import raw
from tfnb.ops.math.arithmetic import maximum, square
from tfnb.ops.math.arithmetic import pow as power
from tfnb.ops.math.casting import cast
from tfnb.ops.math.functions import sqrt
from tfnb.ops.state.scatter import scatter_sub
from tfnb.train.optimizers.adadelta import ApplyAdadelta
from tfnb.train.optimizers.adagrad import ApplyAdagradV2
from tfnb.train.optimizers.adam import AdamOptimizer, ApplyAdam, ApplyAdamWithAmsgrad
from tfnb.train.optimizers.contrib.ada_max import AdaMaxOptimizer, ApplyAdaMax
from tfnb.train.optimizers.declared import Hyper, Rule, Slot
from tfnb.train.optimizers.ftrl import ApplyFtrl, ApplyFtrlV2
from tfnb.train.optimizers.gradient_descent import ApplyGradientDescent
from tfnb.train.optimizers.momentum import ApplyKerasMomentum
from tfnb.train.optimizers.rmsprop import ApplyCenteredRMSProp, ApplyRMSProp
from tfnb.variables.initializers import constant_initializer
from tfnb.variables.variable import Variable

_RATE = Hyper("lr", "learning_rate")


class SGD(Optimizer):
    """Gradient descent with momentum: velocity = momentum * velocity - learning_rate * g; w += velocity.

    nesterov: w += momentum * velocity - learning_rate * g. Slot: "momentum", where momentum is not 0.

    >>> x = tf.keras.Input((1,))
    >>> model = tf.keras.Model(x, tf.keras.layers.Dense(1, kernel_initializer="ones")(x))
    >>> model.compile(tf.keras.optimizers.SGD(0.5), "mse")
    >>> model.train_on_batch(np.array([[1.0]]), np.array([[0.5]]))
    0.25
    >>> model.get_weights()
    [array([[0.5]], dtype=float32), array([-0.5], dtype=float32)]
    """

    _settings = "learning_rate", "decay", "momentum", "nesterov"

    def __init__(self, learning_rate: Any = 0.01, momentum: Any = 0.0, nesterov: bool = False, name: str = "SGD",
                 **kwargs: Any) -> None:
        super().__init__(name, **kwargs)
        if isinstance(momentum, (int, float)) and not 0 <= momentum <= 1:
            raise ValueError(f"`momentum` must be between [0, 1], got {momentum}")
        self._set_hyper("learning_rate", kwargs.get("lr", learning_rate))
        self._set_hyper("momentum", momentum)
        self.nesterov = self._use_nesterov = nesterov
        moves = not isinstance(momentum, (int, float)) or momentum != 0
        self._rule = Rule(ApplyKerasMomentum, {"accum": Slot("momentum")}, [_RATE, Hyper("momentum")]) if moves else \
            Rule(ApplyGradientDescent, hyperparameters=[Hyper("alpha", "learning_rate")])

    def _step_rows(self, grad: IndexedSlices, var: Variable) -> Operation:
        if self._rule.slots:
            rate, momentum = self._step_input("lr", var), self._step_input("momentum", var)
            made: Operation = raw.ResourceSparseApplyKerasMomentum(
                var._ref(), self._slot_of(var, "momentum")._ref(), rate, grad.values, grad.indices, momentum,
                use_nesterov=self._use_nesterov)
            return made
        op: Operation = scatter_sub(var, grad.indices, self._step_input("alpha", var) * grad.values).op
        return op

    def _resource_apply_sparse_duplicate_indices(self, grad: Tensor, handle: Any, indices: Tensor) -> Any:
        if self._rule.slots:
            return super()._resource_apply_sparse_duplicate_indices(grad, handle, indices)
        return self._resource_apply_sparse(grad, handle, indices)       # sums do not need their rows added first


class RMSprop(Optimizer):
    """RMSProp: rms = rho * rms + (1 - rho) * g^2; w -= learning_rate * g / (sqrt(rms) + epsilon).

    momentum: of the steps. centered: take the variance of the gradients in place of their second moment. Slots: "rms",
    "momentum" where that is not 0, "mg" if centered.

    >>> tf.keras.optimizers.RMSprop(0.01).get_config()["rho"]
    0.9
    """

    _settings = "learning_rate", "decay", "rho", "momentum", "epsilon", "centered"

    def __init__(self, learning_rate: Any = 0.001, rho: Any = 0.9, momentum: Any = 0.0, epsilon: float = 1e-7,
                 centered: bool = False, name: str = "RMSprop", **kwargs: Any) -> None:
        super().__init__(name, **kwargs)
        if isinstance(momentum, (int, float)) and not 0 <= momentum <= 1:
            raise ValueError(f"`momentum` must be between [0, 1], got {momentum}")
        self._set_hyper("learning_rate", kwargs.get("lr", learning_rate))
        self._set_hyper("rho", rho)
        self._set_hyper("momentum", momentum)
        self.epsilon, self.centered = epsilon or 1e-7, centered
        self._moves = not isinstance(momentum, (int, float)) or momentum != 0
        self._rule = Rule(ApplyCenteredRMSProp if centered else ApplyRMSProp, {
            "ms": Slot("rms"), "mom": Slot("momentum"), "mg": Slot("mg")},
            [_RATE, Hyper("rho"), Hyper("momentum"), Hyper("epsilon")])

    def _used_slots(self) -> dict[str, Slot]:
        return {name: slot for name, slot in super()._used_slots().items() if name != "mom" or self._moves}

    def _step_dense(self, grad: Tensor, var: Variable) -> Operation:
        """Apply the op where there is momentum; else epsilon is added to the root."""
        if self._moves:
            return super()._step_dense(grad, var)
        rho = self._step_input("rho", var)
        spread = mean_square = self._moved(var, "rms", square(grad), rho)
        if self.centered:
            spread = mean_square - square(self._moved(var, "mg", grad, rho))
        step = self._step_input("lr", var) * grad / (sqrt(spread) + cast(self.epsilon, grad.dtype))
        op: Operation = var.assign_sub(step).op
        return op

    def _moved(self, var: Variable, slot: str, value: Any, rho: Any) -> Tensor:
        kept = self._slot_of(var, slot)
        made: Tensor = kept.assign(rho * kept.value() + (1.0 - rho) * value)
        return made

    def _step_rows(self, grad: IndexedSlices, var: Variable) -> Operation:
        if self._moves:
            return super()._step_rows(grad, var)
        rho, rows, values = self._step_input("rho", var), grad.indices, grad.values
        done, spread = self._rows_replaced(var, "rms", rows, lambda rms: rho * rms + (1.0 - rho) * square(values))
        ops = [done]
        if self.centered:
            done, mean = self._rows_replaced(var, "mg", rows, lambda mg: rho * mg + (1.0 - rho) * values)
            ops, spread = [*ops, done], spread - square(mean)
        step = self._step_input("lr", var) * values / (sqrt(spread) + cast(self.epsilon, values.dtype))
        return group(scatter_sub(var, rows, step), *ops)


class Adagrad(Optimizer):
    """Adagrad: accumulator += g^2; w -= learning_rate * g / (sqrt(accumulator) + epsilon).

    initial_accumulator_value: at least 0. Slot: "accumulator".

    >>> tf.keras.optimizers.Adagrad().get_config()["initial_accumulator_value"]
    0.1
    """

    _settings = "learning_rate", "decay", "initial_accumulator_value", "epsilon"

    def __init__(self, learning_rate: Any = 0.001, initial_accumulator_value: float = 0.1, epsilon: float = 1e-7,
                 name: str = "Adagrad", **kwargs: Any) -> None:
        if initial_accumulator_value < 0.0:
            raise ValueError(f"initial_accumulator_value must be non-negative: {initial_accumulator_value}")
        super().__init__(name, **kwargs)
        self._set_hyper("learning_rate", kwargs.get("lr", learning_rate))
        self.initial_accumulator_value, self.epsilon = initial_accumulator_value, epsilon or 1e-7
        self._rule = Rule(ApplyAdagradV2, {
            "accum": Slot("accumulator", constant_initializer(initial_accumulator_value))}, [_RATE, Hyper("epsilon")])


class Adadelta(Optimizer):
    """Adadelta: steps of the size of recent steps, over the size of recent gradients; rho is the decay of both means.

    Slots: "accum_grad", "accum_var".

    >>> tf.keras.optimizers.Adadelta().get_config()["rho"]
    0.95
    """

    _settings = "learning_rate", "decay", "rho", "epsilon"

    def __init__(self, learning_rate: Any = 0.001, rho: Any = 0.95, epsilon: float = 1e-7, name: str = "Adadelta",
                 **kwargs: Any) -> None:
        super().__init__(name, **kwargs)
        self._set_hyper("learning_rate", kwargs.get("lr", learning_rate))
        self._set_hyper("rho", rho)
        self.epsilon = epsilon or 1e-7
        self._rule = Rule(ApplyAdadelta, {"accum": Slot("accum_grad"), "accum_update": Slot("accum_var")},
                          [_RATE, Hyper("rho"), Hyper("epsilon")])


_BETAS = [_RATE, Hyper("beta1", "beta_1"), Hyper("beta2", "beta_2"), Hyper("epsilon")]
_MOMENTS = {"m": Slot("m"), "v": Slot("v")}


class Adam(Optimizer, AdamOptimizer):
    """Adam: w -= learning_rate * sqrt(1 - beta_2^t) / (1 - beta_1^t) * m / (sqrt(v) + epsilon).

    m, v: moving averages of the gradient and of its square with the decays beta_1 and beta_2. amsgrad: divide by the
    largest v so far. Slots: "m", "v", with amsgrad "vhat".

    >>> optimizer = tf.keras.optimizers.Adam(0.01)
    >>> optimizer.get_config()
    {'name': 'Adam', 'learning_rate': 0.01, 'decay': 0.0, 'beta_1': 0.9, 'beta_2': 0.999, 'epsilon': 0.0,
     'amsgrad': False}
    """

    _settings: tuple[str, ...] = "learning_rate", "decay", "beta_1", "beta_2", "epsilon", "amsgrad"

    def __init__(self, learning_rate: Any = 0.001, beta_1: Any = 0.9, beta_2: Any = 0.999, epsilon: float = 1e-7,
                 amsgrad: bool = False, name: str = "Adam", **kwargs: Any) -> None:
        Optimizer.__init__(self, name, **kwargs)
        self._set_betas(kwargs.get("lr", learning_rate), beta_1, beta_2, epsilon)
        self.amsgrad = amsgrad
        self._rule = Rule(ApplyAdam, _MOMENTS, _BETAS, {"beta1_power": "beta_1", "beta2_power": "beta_2"})
        if amsgrad:
            self._rule = replace(self._rule, step=ApplyAdamWithAmsgrad, slots={**_MOMENTS, "vhat": Slot("vhat")})

    def _set_betas(self, learning_rate: Any, beta_1: Any, beta_2: Any, epsilon: float) -> None:
        self._set_hyper("learning_rate", learning_rate)
        self._set_hyper("beta_1", beta_1)
        self._set_hyper("beta_2", beta_2)
        self.epsilon = epsilon or 1e-7

    def _step_rows(self, grad: IndexedSlices, var: Variable) -> Operation:
        if not self.amsgrad:
            return AdamOptimizer._step_rows(self, grad, var)
        first, second, rate, beta1, beta2, epsilon = self._numbers(var)
        mean = self._decayed(var, "m", grad.indices, grad.values * (1 - beta1), beta1)
        spread = self._decayed(var, "v", grad.indices, square(grad.values) * (1 - beta2), beta2)
        kept = self._slot_of(var, "vhat")
        largest = kept.assign(maximum(kept.value(), spread))
        step = rate * sqrt(1 - second) / (1 - first) * mean / (sqrt(largest) + epsilon)
        return group(var.assign_sub(step), mean, spread, largest)


class Adamax(Adam, AdaMaxOptimizer):
    """Adamax: w -= learning_rate / (1 - beta_1^t) * m / (v + epsilon), v = max(beta_2 * v, |g|).

    Slots: "m", "v".

    >>> tf.keras.optimizers.Adamax().get_config()["learning_rate"]
    0.001
    """

    _settings = "learning_rate", "decay", "beta_1", "beta_2", "epsilon"

    def __init__(self, learning_rate: Any = 0.001, beta_1: Any = 0.9, beta_2: Any = 0.999, epsilon: float = 1e-7,
                 name: str = "Adamax", **kwargs: Any) -> None:
        Optimizer.__init__(self, name, **kwargs)
        self._set_betas(kwargs.get("lr", learning_rate), beta_1, beta_2, epsilon)
        self._rule = Rule(ApplyAdaMax, _MOMENTS, _BETAS, {"beta1_power": "beta_1", "beta2_power": "beta_2"})

    def _step_rows(self, grad: IndexedSlices, var: Variable) -> Operation:
        return AdaMaxOptimizer._step_rows(self, grad, var)


class Nadam(Adam):
    """Nadam: Adam with Nesterov momentum, whose schedule is beta_1 * (1 - 0.96^(0.004 t) / 2) (Dozat, 2016).

    beta_2: the decay of v. Slots: "m", "v"; the variable "momentum_cache" is the product of the schedule so far.

    >>> tf.keras.optimizers.Nadam().get_config()["decay"]
    0.004
    """

    _settings = "learning_rate", "decay", "beta_1", "beta_2", "epsilon"

    def __init__(self, learning_rate: Any = 0.001, beta_1: Any = 0.9, beta_2: Any = 0.999, epsilon: float = 1e-7,
                 name: str = "Nadam", **kwargs: Any) -> None:
        decay = kwargs.pop("schedule_decay", kwargs.pop("decay", 0.004))
        Optimizer.__init__(self, name, **kwargs)
        self._given["decay"] = decay
        self._set_betas(kwargs.get("lr", learning_rate), beta_1, beta_2, epsilon)
        self._rule = Rule(ApplyAdam, _MOMENTS, _BETAS, {"beta1_power": "beta_1", "beta2_power": "beta_2"})

    def _create_slots(self, var_list: Any) -> None:
        if len(self._weights) < 2:
            self._cache = self._variable("momentum_cache", (), 1.0)
            self._weights.append(self._cache)
        super()._create_slots(var_list)

    def _prepare(self) -> None:
        super()._prepare()
        beta, step = self._beta_1_tensor, cast(self.iterations + 1, "float32")
        rate = self._get_hyper("decay")
        self._now, self._next = (beta * (1.0 - 0.5 * power(0.96, rate * each)) for each in (step, step + 1.0))
        self._product = self._cache.value() * self._now
        self._product_next = self._product * self._next

    def _ahead(self, grad: Any, mean: Any, spread: Any, var: Variable) -> Any:
        """Return the step for a gradient and the new moments."""
        kind = var.dtype.base_dtype
        now, later, product, product_next = (cast(each, kind) for each in (
            self._now, self._next, self._product, self._product_next))
        _, second, rate, _, _, epsilon = self._numbers(var)
        ahead = (1.0 - now) * grad / (1.0 - product) + later * mean / (1.0 - product_next)
        return rate * ahead / (sqrt(spread / (1.0 - second)) + epsilon)

    def _step_dense(self, grad: Tensor, var: Variable) -> Operation:
        beta1, beta2 = self._step_input("beta1", var), self._step_input("beta2", var)
        m, v = self._slot_of(var, "m"), self._slot_of(var, "v")
        mean = m.assign(beta1 * m.value() + (1.0 - beta1) * grad)
        spread = v.assign(beta2 * v.value() + (1.0 - beta2) * square(grad))
        op: Operation = var.assign_sub(self._ahead(grad, mean, spread, var)).op
        return op

    def _step_rows(self, grad: IndexedSlices, var: Variable) -> Operation:
        beta1, beta2, values = self._step_input("beta1", var), self._step_input("beta2", var), grad.values
        first, mean = self._rows_replaced(var, "m", grad.indices, lambda m: beta1 * m + (1.0 - beta1) * values)
        second, spread = self._rows_replaced(var, "v", grad.indices,
                                             lambda v: beta2 * v + (1.0 - beta2) * square(values))
        return group(scatter_sub(var, grad.indices, self._ahead(values, mean, spread, var)), first, second)

    def _finish(self, update_ops: Any, name_scope: str) -> Operation:
        with control_dependencies(update_ops):
            kept = self._cache.assign(self._product)
        return group(*update_ops, kept, name=name_scope)


class Ftrl(Optimizer):
    """FTRL (McMahan et al., 2013), with L1, L2 and shrinkage of the weights. Slots: "accumulator", "linear".

    learning_rate_power: at most 0. initial_accumulator_value, l1_regularization_strength, l2_regularization_strength,
    l2_shrinkage_regularization_strength: at least 0.

    >>> tf.keras.optimizers.Ftrl().get_config()["learning_rate_power"]
    -0.5
    """

    _settings = ("learning_rate", "decay", "initial_accumulator_value", "learning_rate_power",
                 "l1_regularization_strength", "l2_regularization_strength", "l2_shrinkage_regularization_strength")
    _slots_by_variable = True

    def __init__(self, learning_rate: Any = 0.001, learning_rate_power: float = -0.5,
                 initial_accumulator_value: float = 0.1, l1_regularization_strength: float = 0.0,
                 l2_regularization_strength: float = 0.0, name: str = "Ftrl",
                 l2_shrinkage_regularization_strength: float = 0.0, **kwargs: Any) -> None:
        super().__init__(name, **kwargs)
        strengths = {"initial_accumulator_value": initial_accumulator_value,
                     "l1_regularization_strength": l1_regularization_strength,
                     "l2_regularization_strength": l2_regularization_strength,
                     "l2_shrinkage_regularization_strength": l2_shrinkage_regularization_strength}
        for what, value in strengths.items():
            if value < 0.0:
                raise ValueError(f"{what} {value} needs to be positive or zero")
        if learning_rate_power > 0.0:
            raise ValueError(f"learning_rate_power {learning_rate_power} needs to be negative or zero")
        self._set_hyper("learning_rate", kwargs.get("lr", learning_rate))
        self._set_hyper("learning_rate_power", learning_rate_power)
        self._set_hyper("l1_regularization_strength", l1_regularization_strength)
        self._set_hyper("l2_regularization_strength", l2_regularization_strength)
        self.initial_accumulator_value = initial_accumulator_value
        self.l2_shrinkage_regularization_strength = l2_shrinkage_regularization_strength
        self._rule = Rule(ApplyFtrlV2 if l2_shrinkage_regularization_strength else ApplyFtrl, {
            "accum": Slot("accumulator", constant_initializer(initial_accumulator_value)), "linear": Slot("linear")},
            [_RATE, Hyper("l1", "l1_regularization_strength"), Hyper("l2", "l2_regularization_strength"),
             Hyper("l2_shrinkage", "l2_shrinkage_regularization_strength"), Hyper("lr_power", "learning_rate_power")])


describe(globals(), OPTIMIZERS)
