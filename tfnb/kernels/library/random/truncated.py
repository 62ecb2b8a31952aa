"""Normal samples between bounds in one native loop: kernels/arrays/truncated.py has the methods and the NumPy form.

    drawn(state, parameters, count)     rows of `count` samples, as one thread draws them: a host call
"""
from __future__ import annotations

import math

import numpy as np

from tfnb.kernels.arrays.truncated import MOST_TRIES, WIDE, failed, misfit
from tfnb.kernels.functions.kernel import kernel_function, type_name
from tfnb.kernels.functions.language import Array, KernelFailure, Type, fail, libm, sqrt, uint64, unrolled
from tfnb.kernels.library.random.draws import normal, philox, uniform

ONE = np.uint64(1)
MISFIT, FAILED = 11, 12         # codes of failures (kernels/launch.py)


@kernel_function(fastmath=())
def draw_truncated(state: Array, parameters: Array, samples: Array, rows: int, count: int, T: Type, item: int) -> None:
    """Draw `count` samples for each (mean, deviation, lower bound, upper bound) by rejection.

    Reports a row of parameters that don't fit, or of which too many samples are rejected.
    """
    key, first_word, second_word, block = state[0], state[2], state[3], uint64(0)
    for row in range(rows):
        mean, deviation = parameters[4 * row], parameters[4 * row + 1]
        low, high = parameters[4 * row + 2], parameters[4 * row + 3]
        if not (deviation > T(0) and low < high and (low > T(-math.inf) or high < T(math.inf))):
            fail(MISFIT, row)
            return
        if low == T(-math.inf) or high < mean:
            low, high, deviation = high, low, T(-deviation)
        low, high = T(T(low - mean) / deviation), T(T(high - mean) / deviation)
        root, span = T(sqrt(T(T(low * low) + T(4)))), T(high - low)
        cutoff = T(T(T(2) * T(libm.exp(T(T(0.5) + T(T(low * T(low - root)) / T(4)))))) / T(low + root))
        alpha = T(T(low + root) / T(2))
        least = T(0) if low < T(0) else T(low * low)
        way = 2
        if low < T(-WIDE) and high >= T(0) or high > T(WIDE) and low <= T(0):
            way = 0
        elif span < cutoff:
            way = 1
        made, tries = 0, 0
        while made < count:
            words = philox(key, first_word, second_word, block)
            block += ONE
            offers = uniform(words, T)
            others = uniform(words, T)
            if way == 0:
                offers = normal(words, T)
            elif way == 1:
                words = philox(key, first_word, second_word, block)
                others = uniform(words, T)
                block += ONE
            for k in unrolled(len(offers)):
                offer, kept = offers[k], False
                if way == 0:
                    kept = offer >= low and offer <= high
                elif way == 1:
                    offer = T(T(offer * span) + low)
                    kept = others[k] <= T(libm.exp(T(T(least - T(offer * offer)) / T(2))))
                elif k % 2 == 0:
                    offer = T(T(-T(libm.log(offers[k])) / alpha) + low)
                    x = T(alpha - offer) if low < alpha else T(low - alpha)
                    kept = offers[k + 1] <= T(libm.exp(T(T(-x * x) / T(2)))) and offer < high
                if way < 2 or k % 2 == 0:
                    tries = 0 if kept else tries + 1
                if kept and made < count:
                    samples[row * count + made] = T(T(offer * deviation) + mean)
                    made += 1
            if tries > MOST_TRIES:
                fail(FAILED, row)
                return


def drawn(state: np.ndarray, parameters: np.ndarray, count: int) -> np.ndarray:
    """Return a row of `count` samples for each row of parameters, float32 or float64; the state is left as it is.

    Raises ValueError for parameters that don't fit, InternalError where too many samples are rejected.
    """
    samples = np.empty((len(parameters), count), parameters.dtype)
    try:
        draw_truncated.run(1, state, parameters, samples, len(parameters), count, T=type_name(parameters.dtype))
    except KernelFailure as failure:
        _, deviation, low, high = parameters[failure.words[0]]
        raise misfit(deviation, low, high) if failure.code == MISFIT else failed(low, high) from None
    return samples
