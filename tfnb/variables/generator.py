"""Random generators whose state is a variable: `tf.random.Generator`."""
from __future__ import annotations

from enum import Enum
from typing import Any

import numpy as np

from tfnb.core import dtypes
from tfnb.core.arguments import TENSORS, describe
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.stack import get_default_graph, name_scope
from tfnb.ops.array.create import zeros
from tfnb.ops.array.joining import concat, stack
from tfnb.ops.array.reshape import reshape
from tfnb.ops.declaration.public import public
from tfnb.ops.declaration.raw import raw
from tfnb.ops.math.casting import cast
from tfnb.ops.random.random_ops import shape_tensor
from tfnb.variables.variable import Variable


@public("random.Algorithm", "random.experimental.Algorithm")
class Algorithm(Enum):
    """Algorithms of `tf.random.Generator`. THREEFRY has a state, but neither here nor in TensorFlow a kernel for CPUs.

    >>> tf.random.Algorithm.PHILOX.value
    1
    """

    PHILOX = 1
    THREEFRY = 2


_STATE_SIZE = {Algorithm.PHILOX: 3, Algorithm.THREEFRY: 2}
_WORD = (1 << 64) - 1


def _algorithm(alg: Any) -> Algorithm:
    """Return an algorithm by itself, its number or its name. Raises ValueError for others."""
    try:
        return Algorithm[alg.upper()] if isinstance(alg, str) else Algorithm(alg)
    except (KeyError, ValueError):
        raise ValueError(f"Argument `alg` got unsupported value {alg!r}: expected 'philox' or 'threefry', their "
                         "numbers 1 and 2, or a tf.random.Algorithm") from None


def _words(seed: Any, size: int) -> Any:
    """Return a seed as int64 words: of an integer those of its two's complement, of a tensor or a list its elements."""
    if isinstance(seed, int):
        return np.array([seed >> 64 * i & _WORD for i in range(size)], np.uint64).view(np.int64)
    words = reshape(convert_to_tensor(seed, dtype=dtypes.int64 if isinstance(seed, (list, tuple)) else None), [-1])
    words = cast(words, dtypes.int64)
    count = words.shape[0].value
    if count is None:
        missing = raw.Maximum(size - raw.Size(words), 0)
        return concat([zeros([missing], dtypes.int64), words], 0)[:size]
    return words[:size] if count >= size else concat([zeros([size - count], dtypes.int64), words], 0)


@public("random.create_rng_state", "random.experimental.create_rng_state")
def create_rng_state(seed: Any, alg: Any) -> Tensor:
    """Make the state of a generator, an int64 vector: of Philox a counter of two words and a key.

    seed: an integer of any size, whose 64-bit words are the state, lowest first, or a tensor of integers: zeros come
    first where it is shorter. alg: "philox", "threefry" or a tf.random.Algorithm (else ValueError).

    >>> sess.run(tf.random.create_rng_state(5, "philox"))
    array([5, 0, 0])
    """
    found = _algorithm(alg)
    return convert_to_tensor(_words(seed, _STATE_SIZE[found]), dtype=dtypes.int64)


@public("random.Generator", "random.experimental.Generator")
class Generator:
    """A generator of random numbers, whose state is a variable of the graph: saved, restored and reset like others.

    copy_from: a generator to start like. state: a vector or variable of int64 (counter and key). alg: "philox" or a
    tf.random.Algorithm. `from_seed` and the other class methods make one of a seed. The state must be initialized
    (tf.global_variables_initializer) before values are drawn; each draw advances it, by 256 blocks for each element.
    Values are TensorFlow's. Raises ValueError for both or none of
    copy_from and state, for unknown algorithms and states of another size.

    >>> generator = tf.random.Generator.from_seed(1)
    >>> x = generator.normal([3])
    >>> sess.run(tf.global_variables_initializer())
    >>> sess.run([x, generator.state])[0]
    array([ 0.4384, -0.5344, -0.0771], dtype=float32)
    """

    def __init__(self, copy_from: Any = None, state: Any = None, alg: Any = None) -> None:
        if (copy_from is None) == (state is None):
            raise ValueError(f"Expected either copy_from or state with alg, got {copy_from} and {state}")
        if copy_from is not None:
            self._algorithm, start = copy_from._algorithm, copy_from.state.initialized_value()
        else:
            self._algorithm, start = _algorithm(alg), convert_to_tensor(state, dtype=dtypes.int64)
            start.shape.assert_is_compatible_with([_STATE_SIZE[self._algorithm]])
        self._variable: Any = Variable(start, trainable=False, name="StateVar", dtype=dtypes.int64, use_resource=True)

    @classmethod
    def from_state(cls, state: Any, alg: Any) -> Generator:
        """Make a generator of a state. state: a vector of int64; alg: the algorithm."""
        return cls(state=state, alg=alg)

    @classmethod
    def from_seed(cls, seed: Any, alg: Any = None) -> Generator:
        """Make a generator of a seed, see `tf.random.create_rng_state`. alg: by default Philox."""
        alg = Algorithm.PHILOX if alg is None else alg
        return cls(state=create_rng_state(seed, alg), alg=alg)

    @classmethod
    def from_non_deterministic_state(cls, alg: Any = None) -> Generator:
        """Make a generator whose state the system's entropy decides. alg: by default Philox."""
        found = _algorithm(Algorithm.PHILOX if alg is None else alg)
        return cls(state=raw.NonDeterministicInts([_STATE_SIZE[found]], dtype=dtypes.int64), alg=found)

    @classmethod
    def from_key_counter(cls, key: Any, counter: Any, alg: Any) -> Generator:
        """Make a generator of a key, an integer, and a counter, of Philox two. alg: the algorithm."""
        return cls(state=_joined(key, counter), alg=alg)

    @property
    def state(self) -> Any:
        """The variable that holds the state."""
        return self._variable

    @property
    def algorithm(self) -> int:
        """The number of the algorithm."""
        return self._algorithm.value

    @property
    def key(self) -> Tensor:
        """The key of the counter-based algorithm."""
        found: Any = self._variable.read_value()
        made: Tensor = found[-1]
        return made

    def reset(self, state: Any) -> Operation:
        """Return an op that assigns a state."""
        return self._assigned(convert_to_tensor(state, dtype=dtypes.int64))

    def reset_from_seed(self, seed: Any) -> Operation:
        """Return an op that assigns the state of a seed."""
        return self._assigned(create_rng_state(seed, self._algorithm))

    def reset_from_key_counter(self, key: Any, counter: Any) -> Operation:
        """Return an op that assigns a key and a counter."""
        return self._assigned(_joined(key, counter))

    def _assigned(self, state: Tensor) -> Operation:
        made: Operation = self._variable.assign(state, read_value=False)
        return made

    def _drawn(self, op: Any, name: str, *args: Any, **attrs: Any) -> Tensor:
        alg = convert_to_tensor(self.algorithm, dtype=dtypes.int64, name="algorithm")
        made: Tensor = op(self._variable.handle, alg, *args, name=name, **attrs)
        return made

    def skip(self, delta: Any) -> Operation:
        """Return an op that advances the state as if `delta` elements had been drawn."""
        made: Any = self._drawn(raw.RngSkip, "RngSkip", convert_to_tensor(delta, dtype=dtypes.int64))
        return made

    def _scaled(self, op: Any, default: str, shape: Any, low: Any, high: Any, dtype: Any, name: str | None,
                names: tuple[str, str]) -> Tensor:
        with name_scope(name, default, [shape, low, high]) as scope:
            kind, sizes = dtypes.as_dtype(dtype), shape_tensor(shape)
            first = convert_to_tensor(low, dtype=kind, name=names[0])
            second: Any = convert_to_tensor(high, dtype=kind, name=names[1])
            drawn = self._drawn(op, op.spec.name, sizes, dtype=kind)
            factor = second - first if names[1] == "max" else second
            made: Tensor = raw.AddV2(drawn * factor, first, name=scope)
            return made

    def normal(self, shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = dtypes.float32,
               name: str | None = None) -> Tensor:
        """Sample from normal distributions. mean, stddev: numbers or tensors to broadcast; dtype: a float."""
        return self._scaled(raw.StatefulStandardNormalV2, "stateful_normal", shape, mean, stddev, dtype, name,
                            ("mean", "stddev"))

    def truncated_normal(self, shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = dtypes.float32,
                         name: str | None = None) -> Tensor:
        """Sample from normal distributions without values two or more standard deviations from the mean."""
        return self._scaled(raw.StatefulTruncatedNormal, "truncated_normal", shape, mean, stddev, dtype, name,
                            ("mean", "stddev"))

    def uniform(self, shape: Any, minval: Any = 0, maxval: Any = None, dtype: Any = dtypes.float32,
                name: str | None = None) -> Tensor:
        """Sample uniformly from [minval, maxval), by default [0, 1). dtype: a float or an integer of 32 or 64 bits.

        Integers need both bounds, or None for both: all that the dtype has (else ValueError).
        """
        kind = dtypes.as_dtype(dtype)
        if not kind.is_integer:
            return self._scaled(raw.StatefulUniform, "stateful_uniform", shape, minval, 1 if maxval is None else maxval,
                                kind, name, ("min", "max"))
        if (minval is None) != (maxval is None):
            raise ValueError(f"For integer dtype {kind!r}, minval and maxval must be both None or both given; got "
                             f"minval={minval} and maxval={maxval}")
        if minval is None:
            return self.uniform_full_int(shape, kind, name)
        with name_scope(name, "stateful_uniform", [shape, minval, maxval]) as scope:
            low = convert_to_tensor(minval, dtype=kind, name="min")
            high = convert_to_tensor(maxval, dtype=kind, name="max")
            return self._drawn(raw.StatefulUniformInt, scope, shape_tensor(shape), low, high)

    def uniform_full_int(self, shape: Any, dtype: Any = dtypes.uint64, name: str | None = None) -> Tensor:
        """Sample integers uniformly from all that the dtype has: int32, int64, uint32 or uint64."""
        with name_scope(name, "stateful_uniform_full_int", [shape]) as scope:
            return self._drawn(raw.StatefulUniformFullInt, scope, shape_tensor(shape), dtype=dtypes.as_dtype(dtype))

    def binomial(self, shape: Any, counts: Any, probs: Any, dtype: Any = dtypes.int32,
                 name: str | None = None) -> Tensor:
        """Sample numbers of successes. shape: ends with that of counts and probs, broadcast; dtype: of the result."""
        with name_scope(name, "binomial", [shape, counts, probs]) as scope:
            probs = convert_to_tensor(probs, name="probs")
            counts = convert_to_tensor(counts, dtype=probs.dtype, name="counts")
            return self._drawn(raw.StatefulRandomBinomial, scope, shape_tensor(shape), counts, probs,
                               dtype=dtypes.as_dtype(dtype))

    def make_seeds(self, count: int = 1) -> Tensor:
        """Draw seeds for stateless random ops, int64 [2, count]: a row of values, and one of zeros."""
        keys = self.uniform_full_int([count], dtypes.int64)
        return stack([keys, raw.ZerosLike(keys)])

    def split(self, count: int = 1) -> list[Generator]:
        """Raise NotImplementedError, as TensorFlow in graphs: the new states would depend on a state of a run."""
        raise NotImplementedError("split needs the state of a run: make generators of several seeds")


def _joined(key: Any, counter: Any) -> Tensor:
    parts = [reshape(convert_to_tensor(part, dtype=dtypes.int64), [-1]) for part in (counter, key)]
    return concat(parts, 0)


_GLOBAL: list[Generator] = []           # the last one: those of other graphs are let go with them


@public("random.get_global_generator", "random.experimental.get_global_generator")
def get_global_generator() -> Generator:
    """Return the generator of the default graph; at the first call one of a non-deterministic state.

    >>> tf.random.get_global_generator() is tf.random.get_global_generator()
    True
    """
    if not _GLOBAL or _GLOBAL[0].state.graph is not get_default_graph():
        _GLOBAL[:] = [Generator.from_non_deterministic_state()]
    return _GLOBAL[0]


@public("random.set_global_generator", "random.experimental.set_global_generator")
def set_global_generator(generator: Generator) -> None:
    """Make a generator the one of the default graph. generator: what `get_global_generator` returns from now on.

    >>> generator = tf.random.Generator.from_seed(3)
    >>> tf.random.set_global_generator(generator)
    >>> tf.random.get_global_generator() is generator
    True
    """
    _GLOBAL[:] = [generator]


describe(globals(), TENSORS)
