"""Primitives for special functions: rows of the table, each with its expansion.

A function that NumPy or SciPy has, and no machine, is a row here: `numpy` for arrays, `expansion` for kernels.
"""
from __future__ import annotations

from math import inf, nan
from typing import Any

import numpy as np

from tfnb.kernels.scalar import numpy_forms as forms
from tfnb.kernels.scalar.polynomials import Definition, horner
from tfnb.kernels.scalar.primitive import Primitive
from tfnb.kernels.scalar.symbols import primitive

absolute, log, sqrt, shift_left, shift_right, where = map(
    primitive, "abs log sqrt shift_left shift_right where".split())

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
    return lambda p: 1.4142135623730951 * _inverse_error(2 * p - 1, 4 * p * (1 - p), pieces)


# Chebyshev series of exp(-x) I0(x) and exp(-x) I1(x) / x in x / 4 - 1 for x <= 8, of both times sqrt(x) in 16 / x - 1.
_I0_NEAR = (
    0.33839763720473803, -0.3046826723431984, 0.17162090152220877, -0.09490109704804764, 0.04930528423967071,
    -0.02373741480589947, 0.010546460394594998, -0.004324309995050576, 0.0016394756169413357,
    -0.0005763755745385824, 0.00018850288509584165, -5.754195010082104e-05, 1.6448448070728896e-05,
    -4.4167383584587505e-06, 1.1173875391201037e-06, -2.670793853940612e-07, 6.046995022541919e-08,
    -1.300025009986248e-08, 2.6598237246823866e-09, -5.189795601635263e-10, 9.675809035373237e-11,
    -1.726826291441556e-11, 2.95505266312964e-12, -4.856446783111929e-13, 7.676185498604936e-14,
    -1.1685332877993451e-14, 1.715391285555133e-15, -2.431279846547955e-16, 3.3307945188222384e-17,
    -4.4153416464793395e-18)
_I0_FAR = (
    0.4022452055070544, 0.0033691164782556943, 6.889758346916825e-05, 2.8913705208347567e-06,
    2.0489185894690638e-07, 2.266668990498178e-08, 3.3962320257083865e-09, 4.94060238822497e-10,
    1.1889147107846439e-11, -3.1499165279632416e-11, -1.3215811840447713e-11, -1.7941785315068062e-12,
    7.180124451383666e-13, 3.8527783827421426e-13, 1.54008621752141e-14, -4.150569347287222e-14,
    -9.554846698828307e-15, 3.8116806693526224e-15, 1.7725601330565263e-15, -3.425485619677219e-16,
    -2.8276239805165836e-16, 3.461222867697461e-17, 4.46562142029676e-17, -4.830504485944182e-18,
    -7.233180487874754e-18)
_I1_NEAR = (
    0.12629359322181682, -0.17641651835783406, 0.1026436586898471, -0.05294598120809499, 0.024726449030626516,
    -0.010564084894626197, 0.004156422944312888, -0.0015135724506312532, 0.0005122859561685758,
    -0.00016176081582589674, 4.781565107550054e-05, -1.3273163656039436e-05, 3.4702513081376785e-06,
    -8.568720264695455e-07, 2.0032947535521353e-07, -4.445059128796328e-08, 9.381537386495773e-09,
    -1.8872497517228294e-09, 3.625590281552117e-10, -6.663489723502027e-11, 1.1736186298890901e-11,
    -1.9839743977649436e-12, 3.223793365945575e-13, -5.042185504727912e-14, 7.600684294735408e-15,
    -1.1055969477353862e-15, 1.5536319577362005e-16, -2.111421214358166e-17, 2.7779141127610464e-18)
_I1_FAR = (
    0.38928811750914005, -0.009761097491361469, -0.00011058893876262371, -3.882564808877691e-06,
    -2.512236237870209e-07, -2.6314688468895196e-08, -3.835380385964237e-09, -5.589743462196584e-10,
    -1.8974958123505413e-11, 3.2526035830154884e-11, 1.4125807436613782e-11, 2.0356285441470896e-12,
    -7.198551776245908e-13, -4.0835511110921974e-13, -2.1015418427726643e-14, 4.272440016711951e-14,
    1.0420276984128802e-14, -3.8144030724370075e-15, -1.8803547755107825e-15, 3.3082023109209285e-16,
    2.96262899764595e-16, -3.209525921993424e-17, -4.6503053684893586e-17, 4.414348323071708e-18,
    7.517296310842105e-18)


def _series(row: tuple[float, ...]) -> Definition:
    """Return the Chebyshev series with these coefficients, by Clenshaw's recurrence."""
    def _sum(u: Any) -> Any:
        first: Any = row[-1]
        second: Any = 0
        for c in row[-2:0:-1]:
            first, second = 2 * u * first - second + c, first
        return u * first - second + row[0]
    return _sum


def _bessel(near: tuple[float, ...], far: tuple[float, ...], odd: bool) -> Definition:
    """Return the body of exp(-|x|) I(x)."""
    inside, outside = _series(near), _series(far)

    def _scaled(x: Any) -> Any:
        size = absolute(x)
        low = where(size < 8, size, 8)
        high = where(size > 8, size, 8)
        y = inside(low / 4 - 1) * (size if odd else 1)
        z = outside(16 / high - 1) / sqrt(high)
        value = where(size <= 8, y, where(size > 8, z, size))
        return where(x < 0, -value, value) if odd else value        # 0 for -0, as SciPy and TensorFlow have it
    return _scaled


def _shift(way: Any) -> dict[str, Definition]:
    """Return the bodies of a shift by y places, of which there are as many as bits but one."""
    def within(bits: int) -> Definition:
        return lambda x, y: way(x, where(y < 0, 0, where(y > bits - 1, bits - 1, y)))
    return {f"{sign}int{bits}": within(bits) for sign in ("", "u") for bits in (8, 16, 32, 64)}


SPECIAL: dict[str, Primitive] = {
    "shifted_left": Primitive(2, "same", forms.shifted(np.left_shift), expansion=_shift(shift_left)),
    "shifted_right": Primitive(2, "same", forms.shifted(np.right_shift), expansion=_shift(shift_right)),
    "erfinv": Primitive(1, "same", forms.erfinv, costly=True, expansion={
        "float32": _erfinv(_ERFINV32[:2]), "float64": _erfinv(_ERFINV64[:3])}),
    "ndtri": Primitive(1, "same", forms.special("ndtri"), costly=True, expansion={
        "float32": _ndtri(_ERFINV32), "float64": _ndtri(_ERFINV64)}),
    "i0e": Primitive(1, "same", forms.special("i0e"), costly=True, expansion={
        "float32": _bessel(_I0_NEAR[:20], _I0_FAR[:9], False), "float64": _bessel(_I0_NEAR, _I0_FAR, False)}),
    "i1e": Primitive(1, "same", forms.special("i1e"), costly=True, expansion={
        "float32": _bessel(_I1_NEAR[:20], _I1_FAR[:9], True), "float64": _bessel(_I1_NEAR, _I1_FAR, True)}),
}
