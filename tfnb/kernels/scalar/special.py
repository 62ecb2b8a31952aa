"""Primitives for special functions: rows of the table, each with its expansion.

A function that NumPy or SciPy has, and no machine, is a row here: `numpy` for arrays, `expansion` for kernels.
"""
from __future__ import annotations

from math import inf, nan
from typing import Any

from tfnb.kernels.scalar import numpy_forms as forms
from tfnb.kernels.scalar.polynomials import Definition, horner
from tfnb.kernels.scalar.primitive import Primitive
from tfnb.kernels.scalar.symbols import primitive

log, sqrt, where = map(primitive, "log sqrt where".split())

# erfinv(x) / x as polynomials in w = -log(1 - x**2), and beyond the first interval in sqrt(w): (start, middle, row).
_Pieces = tuple[tuple[float, float, tuple[float, ...]], ...]
_ERFINV32: _Pieces = (
    (0.0, 0.0, (
        0.8862269242, 0.2320137128, 0.01154916512, -0.002335270595, -0.0001265394743, 4.404880433e-05,
        4.150663237e-06, -2.008271339e-06, 2.243043015e-07, -8.93192597e-09)),
    (2.23606797749979, 3.218033988749895, (
        3.051757104, 1.00490376, 0.005746553812, -0.004087680581, 0.002774972273, -0.001878138153,
        0.001040837408, -0.0003624810891, -1.546058383e-05, 9.408833765e-05, -3.437390147e-05)),
    (4.2, 7.35, (
        7.221965707, 1.008239994, -0.0005024147656, 1.304596674e-05, 3.867890642e-06, -1.099401906e-06,
        1.692287689e-07, -2.932542741e-08, 9.375960671e-09, -1.352960202e-09)),
)
_ERFINV64: _Pieces = (
    (0.0, 0.0, (
        0.886226925452758, 0.23201366653465072, 0.011549342038391792, -0.0023351016431539234,
        -0.00012804328383146413, 4.661139727165089e-05, 2.0201079084323593e-06, -1.0127864937705417e-06,
        -3.696314839908195e-08, 2.243548568035313e-08, 1.0505903309458064e-09, -7.142978556657569e-10,
        7.87470611019618e-11, -2.461865708877179e-11, 1.1363765048554992e-11, -2.743958959962668e-12,
        3.7622024923259316e-13, -2.8766806444225544e-14, 7.591865313668958e-16, 6.239476950097626e-17,
        -6.099820601275317e-18, 1.64533799430872e-19)),
    (2.23606797749979, 3.118033988749895, (
        2.951328578343118, 1.0036197236537734, 0.007159778431477634, -0.0054079698293443765,
        0.0038831091598962356, -0.002572906916000506, 0.001276570574836056, -0.00032343139778240294,
        -9.821498444994369e-05, 0.00014020963073563684, -5.898222055444604e-05, 1.2069740989174935e-06,
        1.19712614752243e-05, -6.354093723337187e-06, 8.215838970153096e-07, 8.091053384152665e-07,
        -5.716724904409455e-07, 1.3038778878532656e-07, 5.875686036948063e-08, -4.790184679077075e-08,
        2.6139364659964673e-09, 4.192817593746465e-09)),
    (4.0, 5.05, (
        4.90042105144364, 1.0102850175977713, -0.00016985809145229853, -0.00020031200664603828,
        7.1240314425356e-05, -1.8374536573707365e-05, 4.193863060707981e-06, -9.070835471023614e-07,
        2.0157555719899256e-07, -5.4939464203837277e-08, 2.193600376020932e-08, -1.1194623916256623e-08,
        5.629926273472595e-09, -2.6436500138368226e-09, 1.2063669627543017e-09, -3.803325230413569e-10,
        9.251194941591488e-13, 2.7520836691204922e-11)),
    (6.1, 9.05, (
        8.934605858613574, 1.006686625168634, -0.0004058579903432073, 2.0504280822548862e-05,
        -2.735424478478322e-07, -1.4226844662459383e-07, 3.1102803806599516e-08, -4.827120736629287e-09,
        6.593132622159553e-10, -8.417690607823802e-11, 1.0300624427767899e-11, -1.2220359587411538e-12,
        1.4199286597061485e-13, -1.6503820879109467e-14, 1.8529687323816745e-15, -1.7404400444568204e-16,
        1.9234382467144874e-17, -3.8998894444833584e-18, 4.1408222838364443e-19)),
    (12.0, 19.8, (
        19.727581803892836, 1.0023863722132234, -8.85285629007383e-05, 3.3966872576659533e-06,
        -1.3093738337296736e-07, 4.97520462053985e-09, -1.82480674277573e-10, 6.245527864211439e-12,
        -1.845858577824247e-13, 3.476956830101455e-15, 8.86073747181299e-17, -1.6629630047505706e-17,
        1.3917489452571984e-18, -9.169859540102812e-20, 5.797137004683942e-21, -4.31867729140481e-22,
        2.446829317474586e-23, -2.4746110466149306e-25, 1.6112841204942573e-26, -9.099981884247433e-27,
        4.82532316154509e-28)),
)


def _inverse_error(x: Any, distance: Any, pieces: _Pieces) -> Any:
    """Return erfinv(x). distance: 1 - x**2, which the caller has more exactly."""
    w = -log(distance)
    s = sqrt(w)
    (_, middle, row), *beyond = pieces
    ratio = horner(row)(w - middle)
    for start, middle, row in beyond:
        ratio = where(s < start, ratio, horner(row)(s - middle))
    y = ratio * x
    return where(distance > 0, y, where(distance == 0, x * inf, nan))


def _erfinv(pieces: _Pieces) -> Definition:
    """Return the body of the inverse error function: NaN outside of [-1, 1]."""
    return lambda x: _inverse_error(x, (1 - x) * (1 + x), pieces)


def _ndtri(pieces: _Pieces) -> Definition:
    """Return the body of the normal quantile, sqrt(2) erfinv(2 p - 1), exact for the smallest p too."""
    return lambda p: sqrt(2.0) * _inverse_error(2 * p - 1, 4 * p * (1 - p), pieces)


SPECIAL: dict[str, Primitive] = {
    "erfinv": Primitive(1, "same", forms.erfinv, costly=True, expansion={
        "float32": _erfinv(_ERFINV32[:2]), "float64": _erfinv(_ERFINV64[:3])}),
    "ndtri": Primitive(1, "same", forms.special("ndtri"), costly=True, expansion={
        "float32": _ndtri(_ERFINV32), "float64": _ndtri(_ERFINV64)}),
}
