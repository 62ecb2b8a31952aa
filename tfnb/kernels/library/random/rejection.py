"""Kernels of gamma and Poisson samples, an item each: see kernels/arrays/rejection.py for the methods and the blocks.

    random_gamma(call), random_poisson(call) -> launches        parameters: the last input; state: as of draws.py
"""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from tfnb.kernels.arrays.philox import BLOCKS_PER_ELEMENT
from tfnb.kernels.arrays.rejection import FEW
from tfnb.kernels.functions.kernel import KernelFunction, kernel_function
from tfnb.kernels.functions.language import Array, Ints, Type, float32, float64, floor, libm, sqrt, uint64
from tfnb.kernels.launch import Address, Call, Launch
from tfnb.kernels.library.random.draws import STATE, box_muller, philox, step, unit64

EACH, ONE = np.uint64(BLOCKS_PER_ELEMENT), np.uint64(1)


def uniform_pair(key: int, low: int, high: int, block: int) -> Ints:
    """Return the two doubles in [0, 1) of a block."""
    words = philox(key, low, high, block)
    return unit64(words[0], words[1]), unit64(words[2], words[3])


def normal_pair(key: int, low: int, high: int, block: int) -> Ints:
    """Return the two standard normal doubles of a block."""
    words = philox(key, low, high, block)
    return box_muller(unit64(words[0], words[1]), unit64(words[2], words[3]), float64)


@kernel_function(fastmath=())
def draw_gamma(state: Array, alpha: Array, target: Array, samples: int, alphas: int, T: Type, item: int) -> None:
    """Draw a sample of Gamma(alpha, 1)."""
    key, low, high = state[0], state[2], state[3]
    row, place = item // samples, item % samples
    a, block = float(alpha[row]), uint64(item) * EACH
    d = a + 2.0 / 3.0 if a < 1.0 else a - 1.0 / 3.0
    c = 1.0 / 3.0 / sqrt(d)
    spare_normal, normals, spare, uniforms, found, done = 0.0, 0, 0.0, 0, 0.0, 0
    if a == 1.0:
        pair = uniform_pair(key, low, high, block)
        found = -libm.log1p(-pair[1])
        done = 1
    elif not a > 0.0:
        found = a - a
        found = found / found
        done = 1
    while done == 0:
        x = spare_normal
        if normals == 0:
            drawn = normal_pair(key, low, high, block)
            block += ONE
            spare_normal = drawn[0]
            x = drawn[1]
        normals = 1 - normals
        v = 1.0 + c * x
        if v > 0.0:
            v = v * v * v
            u = spare
            if uniforms == 0:
                pair = uniform_pair(key, low, high, block)
                block += ONE
                spare = pair[0]
                u = pair[1]
            uniforms = 1 - uniforms
            if u < 1.0 - 0.0331 * (x * x) * (x * x) or libm.log(u) < 0.5 * x * x + d * (1.0 - v + libm.log(v)):
                found = d * v
                done = 1
                if a < 1.0:
                    b = spare
                    if uniforms == 0:
                        pair = uniform_pair(key, low, high, block)
                        b = pair[1]
                    found = found * libm.pow(b, 1.0 / a)
    target[place * alphas + row] = T(found)


@kernel_function(fastmath=())
def draw_poisson(state: Array, rates: Array, target: Array, samples: int, count: int, T: Type, item: int) -> None:
    """Draw a Poisson sample: NaN, or -1 as an integer, for a rate that is NaN, negative or infinite."""
    key, low, high = state[0], state[2], state[3]
    row, place = item // samples, item % samples
    rate, block = float(rates[row]), uint64(item) * EACH
    k, done, spare, uniforms = 0.0, 0, 0.0, 0
    if not rate >= 0.0 or rate - rate != 0.0:
        k = -1.0
        if T == float32 or T == float64:
            k = math.nan
        done = 1
    elif rate < FEW:
        product, limit = 1.0, libm.exp(-rate)
        while done == 0:
            u = spare
            if uniforms == 0:
                pair = uniform_pair(key, low, high, block)
                block += ONE
                spare = pair[0]
                u = pair[1]
            uniforms = 1 - uniforms
            product = product * u
            if product <= limit:
                done = 1
            else:
                k += 1.0
    b = 0.931 + 2.53 * sqrt(rate)
    a = -0.059 + 0.02483 * b
    while done == 0:
        pair = uniform_pair(key, low, high, block)
        block += ONE
        u, v = pair[1] - 0.5, pair[0]
        shifted = 0.5 - abs(u)
        k = floor((2.0 * a / shifted + b) * u + rate + 0.43)
        if shifted >= 0.07 and v <= 0.9277 - 3.6224 / (b - 2.0):
            done = 1
        elif k >= 0.0 and not (shifted < 0.013 and v > shifted):
            s = libm.log(v * (1.1239 + 1.1328 / (b - 3.4)) / (a / (shifted * shifted) + b))
            if s <= -rate + k * libm.log(rate) - libm.lgamma(k + 1.0):
                done = 1
    target[place * count + row] = T(k)


def _sampled(call: Call, kernel: KernelFunction, state: Address, **named: Any) -> list[Launch]:
    each, out = call.inputs[-1], call.outputs[0]
    if not out.size:
        return []
    return [kernel.launch(call, out.size, state, call.input(len(call.inputs) - 1).reach(each.size * each.itemsize),
                          call.output().reach(out.size * out.itemsize), out.size // each.size, each.size, **named,
                          T=out.type, cost=20, label="random"),
            *step(call, out.size * BLOCKS_PER_ELEMENT, state)]


def random_gamma(call: Call, state: Address = STATE) -> list[Launch]:
    """Return launches of RandomGamma: samples of Gamma(alpha, 1), for each alpha of the last input."""
    return _sampled(call, draw_gamma, state)


def random_poisson(call: Call, state: Address = STATE) -> list[Launch]:
    """Return launches of RandomPoissonV2: samples for each rate of the last input."""
    return _sampled(call, draw_poisson, state)
