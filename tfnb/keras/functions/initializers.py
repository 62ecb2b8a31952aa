"""Initializers under Keras' names, defaults and configs: `tf.keras.initializers`."""
from __future__ import annotations

from typing import Any

from tfnb.core import dtypes
from tfnb.core.arguments import INITIALIZERS, KERAS, describe
from tfnb.keras.functions.lookup import getter
from tfnb.keras.utils.registry import deserialize_keras_object, serialize_keras_object
from tfnb.variables import initializers as start
from tfnb.variables.initializers import Initializer


class Zeros(start.zeros_initializer):
    """Zeros.

    >>> sess.run(tf.keras.initializers.Zeros()([2]))
    array([0., 0.], dtype=float32)
    """


class Ones(start.ones_initializer):
    """Ones.

    >>> sess.run(tf.keras.initializers.Ones()([2]))
    array([1., 1.], dtype=float32)
    """


class Constant(start.constant_initializer):
    """A value for all elements, or a list or array in row-major order.

    verify_shape: raise TypeError if the shape of `value` is another than that of the variable.

    >>> sess.run(tf.keras.initializers.Constant(3)([2]))
    array([3., 3.], dtype=float32)
    """

    def get_config(self) -> dict[str, Any]:
        """Return value and dtype."""
        return {"value": self.value, "dtype": self.dtype.name}


class RandomNormal(start.random_normal_initializer):
    """Normally distributed values.

    >>> bool(abs(sess.run(tf.keras.initializers.RandomNormal(seed=1)([1000])).std() - 0.05) < 0.01)
    True
    """

    def __init__(self, mean: float = 0.0, stddev: float = 0.05, seed: int | None = None,
                 dtype: Any = dtypes.float32) -> None:
        super().__init__(mean, stddev, seed, dtype)


class RandomUniform(start.random_uniform_initializer):
    """Uniformly distributed values in [minval, maxval).

    >>> bool(abs(sess.run(tf.keras.initializers.RandomUniform(seed=1)([100]))).max() <= 0.05)
    True
    """

    def __init__(self, minval: float = -0.05, maxval: float = 0.05, seed: int | None = None,
                 dtype: Any = dtypes.float32) -> None:
        super().__init__(minval, maxval, seed, dtype)


class TruncatedNormal(start.truncated_normal_initializer):
    """Normal values, redrawn while more than two standard deviations from the mean.

    >>> bool(abs(sess.run(tf.keras.initializers.TruncatedNormal(seed=1)([100]))).max() <= 0.1)
    True
    """

    def __init__(self, mean: float = 0.0, stddev: float = 0.05, seed: int | None = None,
                 dtype: Any = dtypes.float32) -> None:
        super().__init__(mean, stddev, seed, dtype)


class VarianceScaling(start.variance_scaling_initializer):
    """Random values of variance scale / n, where n is the fan-in, the fan-out, or their mean.

    mode: "fan_in", "fan_out" or "fan_avg"; distribution: "uniform", "truncated_normal" (also called "normal") or
    "untruncated_normal".

    >>> bool(abs(sess.run(tf.keras.initializers.VarianceScaling(distribution="uniform")([3, 2]))).max() <= 1)
    True
    """


class Orthogonal(start.orthogonal_initializer):
    """A matrix with orthonormal rows or columns, times gain.

    >>> q = sess.run(tf.keras.initializers.Orthogonal(seed=1)([3, 2]))
    >>> bool(np.allclose(q.T @ q, np.eye(2), atol=1e-5))
    True
    """


class Identity(start.identity_initializer):
    """gain times the identity matrix. Raises ValueError for a shape that is no matrix's.

    >>> sess.run(tf.keras.initializers.Identity(2.0)([2, 2]))
    array([[2., 0.],
           [0., 2.]], dtype=float32)
    """


class GlorotUniform(start.glorot_uniform_initializer):
    """Uniform values of variance 2 / (fan_in + fan_out) (Glorot and Bengio, 2010).

    >>> bool(abs(sess.run(tf.keras.initializers.glorot_uniform()([2, 4]))).max() <= 1)
    True
    """


class GlorotNormal(start.glorot_normal_initializer):
    """Truncated normal values of variance 2 / (fan_in + fan_out) (Glorot and Bengio, 2010).

    >>> bool(abs(sess.run(tf.keras.initializers.glorot_normal()([2, 4]))).max() <= 1.5)
    True
    """


def he_normal(seed: int | None = None) -> VarianceScaling:
    """Return an initializer of truncated normal values of variance 2 / fan_in (He et al., 2015).

    >>> tf.keras.initializers.he_normal().get_config()["scale"]
    2.0
    """
    return VarianceScaling(2.0, "fan_in", "truncated_normal", seed)


def he_uniform(seed: int | None = None) -> VarianceScaling:
    """Return an initializer of uniform values of variance 2 / fan_in (He et al., 2015).

    >>> tf.keras.initializers.he_uniform().get_config()["distribution"]
    'uniform'
    """
    return VarianceScaling(2.0, "fan_in", "uniform", seed)


def lecun_normal(seed: int | None = None) -> VarianceScaling:
    """Return an initializer of truncated normal values of variance 1 / fan_in (LeCun et al., 1998).

    >>> tf.keras.initializers.lecun_normal().get_config()["scale"]
    1.0
    """
    return VarianceScaling(1.0, "fan_in", "truncated_normal", seed)


def lecun_uniform(seed: int | None = None) -> VarianceScaling:
    """Return an initializer of uniform values of variance 1 / fan_in (LeCun et al., 1998).

    >>> tf.keras.initializers.lecun_uniform().get_config()["mode"]
    'fan_in'
    """
    return VarianceScaling(1.0, "fan_in", "uniform", seed)


_CLASSES: tuple[Any, ...] = (
    Zeros, Ones, Constant, RandomNormal, RandomUniform, TruncatedNormal, VarianceScaling, Orthogonal, Identity,
    GlorotUniform, GlorotNormal)
_KNOWN: dict[str, Any] = {
    **{cls.__name__: cls for cls in _CLASSES}, "Initializer": Initializer,
    "zeros": Zeros, "zero": Zeros, "ones": Ones, "one": Ones,
    "constant": Constant, "normal": RandomNormal, "random_normal": RandomNormal, "uniform": RandomUniform,
    "random_uniform": RandomUniform, "truncated_normal": TruncatedNormal, "orthogonal": Orthogonal,
    "identity": Identity, "glorot_uniform": GlorotUniform, "glorot_normal": GlorotNormal, "he_normal": he_normal,
    "he_uniform": he_uniform, "lecun_normal": lecun_normal, "lecun_uniform": lecun_uniform}
_FUNCTIONS = (he_normal, he_uniform, lecun_normal, lecun_uniform)
_find = getter({name: value() if value in _FUNCTIONS else value for name, value in _KNOWN.items()}, "initializer")


def serialize(initializer: Any) -> Any:
    """Return the class name and config of an initializer, also of one of `tf.initializers`; of a function the name.

    >>> tf.keras.initializers.serialize(tf.zeros_initializer())
    {'class_name': 'Zeros', 'config': {'dtype': 'float32'}}
    """
    if not isinstance(initializer, Initializer):
        return serialize_keras_object(initializer)
    own: type[Any] = type(initializer)
    kind = next((cls for cls in own.__mro__ if cls in _CLASSES), None) or next(
        (cls for cls in _CLASSES if cls.__mro__[1] in own.__mro__), own)
    return {"class_name": kind.__name__, "config": initializer.get_config()}


def deserialize(config: Any, custom_objects: Any = None) -> Any:
    """Return the initializer that `serialize` described. Raises ValueError for an unknown class.

    >>> tf.keras.initializers.deserialize({"class_name": "Ones", "config": {}}).get_config()
    {'dtype': 'float32'}
    """
    return deserialize_keras_object(config, _KNOWN, custom_objects, "initializer")


def get(identifier: Any) -> Any:
    """Return the initializer of a name or config, None for None, a callable itself. Raises ValueError otherwise.

    >>> tf.keras.initializers.get("glorot_uniform").get_config()
    {'seed': None, 'dtype': 'float32'}
    """
    return _find(identifier)


describe(globals(), KERAS)
describe(globals(), INITIALIZERS)
