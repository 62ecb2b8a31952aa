"""Where tests sample elementwise ops: the domains that declarations name (`domain="positive"`)."""
from __future__ import annotations

import numpy as np


def points(domain: str, u: np.ndarray, sign: np.ndarray, inside: bool = False) -> np.ndarray:
    """Return a point of a domain for each u in [0.1, 0.9] and sign. inside: away from kinks and poles."""
    near, far = {
        "": (sign * (u + 0.05) * 1.7, sign * u * 4), "positive": (u * 2 + 0.4, u * 3), "unit": (sign * u, sign * u),
        "probability": (u, u), "nonzero": (sign * (u + 0.4), sign * (u + 0.2)), "above one": (u + 1.2, u + 1),
    }[domain]
    return np.asarray(near if inside else far)
