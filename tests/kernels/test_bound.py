"""Scalar definitions bound to shapes: the values of `reference`, bit by bit, and inputs that stay as they are."""
from __future__ import annotations

import numpy as np
import pytest

from tfnb.kernels.scalar.bound import bound
from tfnb.kernels.scalar.definition import Scalar, reference
from tfnb.opdef import kinds, registry

SHAPES = ((3, 4), (4,), (3, 1))


def definitions() -> dict[str, Scalar]:
    """The definitions of ops without attrs."""
    specs = {name: registry.find(name) for name in sorted(registry.names())}
    found = {name: getattr(spec, "body", None) for name, spec in specs.items()
             if isinstance(spec, (kinds.Elementwise, kinds.Update))}
    return {name: body for name, body in found.items() if isinstance(body, Scalar) and not body.keywords}


@pytest.mark.parametrize("same", [True, False])
def test_as_the_reference_and_inputs_are_left_alone(same: bool) -> None:
    compared = 0
    for name, scalar in definitions().items():
        arrays = [np.random.RandomState(i).rand(*(3, 4) if same else SHAPES[i % 3]).astype(np.float32)
                  for i in range(len(scalar.params))]
        before = [a.copy() for a in arrays]
        with np.errstate(all="ignore"):
            try:
                wanted = reference(scalar, arrays, (), "float32", ["float32"] * len(scalar.program().results))
                run = bound(scalar, [a.shape for a in arrays], [a.dtype for a in arrays], (), "float32",
                            ["float32"] * len(scalar.program().results))
            except (TypeError, ValueError, KeyError):
                continue                                     # of other dtypes
            if run is None:
                continue
            for found in run(arrays), run(arrays):
                assert all(np.array_equal(np.broadcast_to(a, b.shape), b, equal_nan=True)
                           for a, b in zip(wanted, found, strict=True)), name
        assert all(np.array_equal(a, b) for a, b in zip(arrays, before, strict=True)), name
        compared += 1
    assert compared > 60
