"""Bessel functions of orders 0 and 1, Dawson's integral and the exponential integral, of float32 computed in float64.

Each is a polynomial in a variable t in [-1, 1] below a limit and another one beyond it, both computed for each element,
so that loops over them become vector instructions; SciPy's functions take one element at a time. Those of float64 that
are polynomials are in doubles.py.
The rows of coefficients interpolate at Chebyshev points, made for tfnb with mpmath, to 5e-10 of the result or, beside
roots, of 1: less than a hundredth of a last place of float32.
"""
from __future__ import annotations

from math import inf, nan
from typing import Any

from tfnb.kernels.scalar.polynomials import Definition, horner
from tfnb.kernels.scalar.symbols import primitive

absolute, cos, exp, log, sin, sqrt, where = map(primitive, "abs cos exp log sin sqrt where".split())

HIGHEST = 200.0                           # beyond, exp of it has no place in float32, but in float64
QUARTER_PI = 0.7853981633974483
TWO_OVER_PI = 0.6366197723675814
EULER = 0.5772156649015329

# I: exp(-x) I0(x) and exp(-x) I1(x) / x in x / 4 - 1 up to 8, sqrt(x) times the former in 16 / x - 1 from there.
# K: K0(x) + log(x / 2) I0(x), x (K1(x) - log(x / 2) I1(x)), I0(x) and I1(x) / x in x**2 / 2 - 1 up to 2; exp(x) sqrt(x)
# K(x) in 4 / x - 1. J and Y: J0(x), J1(x) / x, Y0(x) - 2 / pi log(x) J0(x), x (Y1(x) - 2 / pi log(x) J1(x)) in
# x**2 / 32 - 1 up to 8; from there modulus and phase, J(x) = M cos(x - c + F / x) / sqrt(x), in 128 / x**2 - 1.
# Dawson: F(x) (1 + 2 x**2) / x in x**2 / 8 - 1 up to 4, x F(x) in 32 / x**2 - 1. Ei: (Ei(x) - log(x) - gamma) / x in
# x / 3 - 1 up to 6, x exp(-x) Ei(x) in 16 / x - 5 / 3 up to 24, in 48 / x - 1 from there.
_I0_NEAR = (0.20700192113298854, -0.1130043268544693, 0.09451564672892827, -0.08904344770455307, 0.08734281771702368,
    -0.08496317214579, 0.07928284334431146, -0.06954385402504584, 0.05672795589861263, -0.04296881129335962,
    0.030358703692477982, -0.019745851414068618, 0.011557353661066808, -0.006651419484491594, 0.004166015653562654,
    -0.0020044758245779414, 0.0004143919060489856, -0.00022722968338111303, 0.00034824109057890804,
    -0.00013152060630607088)
_I1_NEAR = (0.04468770986450251, -0.061124338025990106, 0.06805760212960305, -0.06848260694070092,
    0.06376733064622675, -0.05528001503648954, 0.0446755031610766, -0.03367166370472805, 0.023680016667049938,
    -0.015569320920202672, 0.009606095385955372, -0.005541908244896256, 0.0029563628396675574, -0.001522471036028631,
    0.000812047943412777, -0.0003636452040028463, 9.375809886867844e-05, -4.317720058003002e-05,
    4.7479082033953785e-05, -1.694785151624946e-05)
_I0_FAR = (0.4021765094053054, 0.0033605520313900634, 0.000136217407834547, 1.1141542189580863e-05,
    1.4754756356201013e-06, 3.0383309086686276e-07, 1.0910232941075882e-07, 3.3635802235185296e-08)
_I1_FAR = (0.3893984590744713, -0.009749577241315432, -0.00021923738535629923, -1.5037047143805947e-05,
    -1.8250069387125121e-06, -3.5481954165334105e-07, -1.2318419674047784e-07, -3.7856024793316294e-08)
_I0_TWO = (1.5660829297563506, 0.6358617281918727, 0.07358986836133115, 0.0039285648192054524, 0.00011982068359394859,
    2.3581518403733327e-06, 3.2366718312360185e-08)
_K0_NEAR = (-0.30362077291575545, 0.34049732108582653, 0.07177701034300148, 0.0050533920636324,
    0.00018280555350815847, 4.055665724242694e-06, 6.094316092988099e-08)
_I1_TWO = (0.6358617281560686, 0.14717973672432907, 0.011785695316925773, 0.00047928272548623417,
    1.1787894816684295e-05, 1.9420919945135071e-07, 2.2915190601010533e-09)
_K1_NEAR = (0.885088287730256, -0.3322409552403082, -0.24383852888907726, -0.0278542352199272, -0.0013831687399480262,
    -3.8918689866932117e-05, -7.082840416103486e-07, -9.033370356064144e-09)
_K0_FAR = (1.218595338836143, -0.031071461959649965, 0.0030328757311790058, -0.00047976234505297383,
    9.968673429957002e-05, -2.4787799099408475e-05, 6.663565676599753e-06, -2.0504798608950206e-06,
    1.09510073935353e-06, -4.1419766193259707e-07)
_K1_FAR = (1.363151890371342, 0.10334973866167059, -0.005566730272481506, 0.000735706174561173,
    -0.00013958245269877717, 3.294206322075126e-05, -9.003549987910513e-06, 2.5165641838607544e-06,
    -8.149907604760179e-07, 5.145369895732611e-07, -2.0364072834507022e-07)
_J0_NEAR = (0.04582966485981377, 0.9303012473211072, -0.6484692830882552, -0.8080888083766512, 1.0383794611737254,
    -0.5074680401921778, 0.14598884832758302, -0.02847273799413583, 0.004058079811868427, -0.0004435136325819396,
    3.847182714506406e-05, -2.743554838227825e-06, 1.6065681395474083e-07)
_J1_NEAR = (-0.05814382795914838, 0.08105866038604224, 0.1515166516653869, -0.25959486529631887, 0.15858376167548938,
    -0.054745818091658995, 0.012456825703273885, -0.002029040011536165, 0.00024947277844893697,
    -2.404475203870036e-05, 1.8878117559719668e-06, -1.2055597539040458e-07)
_Y0_NEAR = (-0.382250654459425, -0.8284358904127583, 1.647096478876819, 0.1441263251573273, -1.0775477338852184,
    0.672177066630457, -0.21895747045282105, 0.046367087828301665, -0.007025742801695501, 0.0008060917281464739,
    -7.279251255763767e-05, 5.3747641792928205e-06, -3.2417393050846624e-07)
_Y1_NEAR = (1.627695709912505, -5.523762303064129, -7.040315490497792, 8.270069241215344, 1.2375581946009597,
    -3.7712169402077635, 1.885411574595433, -0.5186005140960549, 0.09531761113439284, -0.01277257895844282,
    0.001314255019062129, -0.00010761070877583969, 7.2631865909743895e-06, -4.0385902347014423e-07)
_DAWSN_NEAR4 = (1.1491842570732256, -0.18648100295990241, 0.23310333059589214, -0.2688498858264316,
    0.26322172384372683, -0.19619315447181923, 0.07614004433923896, 0.06197066601110849, -0.1763532313450699,
    0.2393029899474756, -0.2467634809094948, 0.21542714223766254, -0.16716017484896048, 0.11418496760782404,
    -0.0672332210381639, 0.03969653406253499, -0.026445101908442722, 0.01252173756683822, -0.001998523213944127,
    0.001190708071611809, -0.0021351173391923, 0.0007898028007792308)
_DAWSN_FAR4 = (0.5082109863285881, 0.008646073109072895, 0.0004768383320491384, 4.792777263761995e-05,
    7.457722944782612e-06, 1.7211772891286512e-06, 7.456080025762577e-07, 3.581207488230516e-07,
    -2.5433186606408777e-08, -7.770052946426853e-08)
_EI_NEAR = (2.752668205685258, 3.609177435372498, 3.2526682056845364, 2.215536495430495, 1.2153863253656885,
    0.5591212227405824, 0.22174538466983804, 0.07735021289202974, 0.02409486071783019, 0.006782924061983113,
    0.0017423027903276757, 0.0004117283025717045, 9.004293438349541e-05, 1.819755493350195e-05,
    3.4725252652374283e-06, 7.010037525842019e-07, 1.1698596374821698e-07)
_EI_MID = (1.139236185335263, 0.1184587166405078, 0.029485749167379977, -0.0013032253413143445, -0.008469470199616216,
    -0.00023407923925208228, 0.002573993499937017, -0.0006807457469058752, -0.0005362811005835438,
    0.0004928167907585468, -0.00010226689708720884, -0.00011880070536228076, 0.0001116525027812321,
    -1.5913415420594275e-05, -2.4726137685342975e-05, 1.0255376058052871e-05)
_EI_FAR = (1.0217607035115344, 0.022753071972231174, 0.001063773521020531, 7.863966716492606e-05,
    8.188844170408578e-06, 1.1343620602351646e-06, 2.400219315859708e-07, 6.0006134404758e-08)
_FAR_M0 = (0.797499818629752, -0.00038006959746375905, 4.50673551085937e-06, -1.5582769168657667e-07,
    9.943023635594154e-09)
_FAR_F0 = (-0.12450345869579377, 0.0004850978547306361, -1.0857816428018491e-05, 5.358718813504032e-07,
    -4.45510313971891e-08, 5.17992608731502e-09)
_FAR_M1 = (0.7990442065634052, 0.0011507826355232106, -8.611365168520579e-06, 2.3807196902041882e-07,
    -1.359908026591895e-08)
_FAR_F1 = (0.3737398683093552, -0.0012394706728499618, 1.979020323894801e-05, -8.038715087259187e-07,
    6.028523090677859e-08, -6.620772434140092e-09)


def _at_most(x: Any, limit: float) -> Any:
    return where(x > limit, limit, x)                             # NaN stays NaN


def _at_least(x: Any, limit: float) -> Any:
    return where(x < limit, limit, x)


def _i(near: tuple[float, ...], far: tuple[float, ...], odd: bool) -> Definition:
    """Return the body of I of order 1 (odd) or 0; SciPy's of infinity are NaN."""
    inside, outside = horner(near), horner(far)

    def _modified(x: Any) -> Any:
        size = absolute(x)
        low, high = _at_most(size, 8.0), _at_least(size, 8.0)
        scaled = where(size <= 8, inside(low / 4 - 1) * (x if odd else 1),
                       outside(16 / high - 1) / sqrt(high) * (where(x < 0, -1, 1) if odd else 1))
        return where(size < inf, exp(_at_most(size, HIGHEST)) * scaled, nan)
    return _modified


def _k(order: int, scaled: bool) -> Definition:
    """Return the body of K, or exp(x) K: infinity for x <= 0, as TensorFlow has it."""
    near, of_i, far = ((_K0_NEAR, _I0_TWO, _K0_FAR), (_K1_NEAR, _I1_TWO, _K1_FAR))[order]
    rest, modified, outside = horner(near), horner(of_i), horner(far)

    def _second_modified(x: Any) -> Any:
        low, high = _at_most(x, 2.0), _at_least(x, 2.0)
        t, logarithm = low * low / 2 - 1, log(low / 2)
        y = rest(t) / low + logarithm * low * modified(t) if order else rest(t) - logarithm * modified(t)
        z = outside(4 / high - 1) / sqrt(high)
        if scaled:
            y = exp(low) * y
        else:
            z = exp(-_at_most(high, HIGHEST)) * z
        return where(x > 0, where(x <= 2, y, z), where(x <= 0, inf, nan))
    return _second_modified


def _oscillating(order: int, x: Any, second: bool) -> Any:
    """Return M wave(phase) / sqrt(x) for x >= 8: J with the cosine, Y (second) with the sine."""
    modulus, shift = ((_FAR_M0, _FAR_F0), (_FAR_M1, _FAR_F1))[order]
    high = _at_least(x, 8.0)
    t = 128 / (high * high) - 1
    added = horner(shift)(t) / high - (2 * order + 1) * QUARTER_PI
    phase = high + added
    rest = (high - phase) + added                                 # what rounding lost: 6e-8 at 1e9
    across, along = cos(phase), sin(phase)
    wave = along + rest * across if second else across - rest * along
    return where(x < inf, horner(modulus)(t) * wave / sqrt(high), nan)


def _j(order: int) -> Definition:
    inside = horner((_J0_NEAR, _J1_NEAR)[order])

    def _first(x: Any) -> Any:
        size = absolute(x)
        low = _at_most(size, 8.0)
        y = inside(low * low / 32 - 1)
        z = _oscillating(order, size, False)
        if order:
            y, z = y * x, where(x < 0, -z, z)
        return where(size <= 8, y, z)
    return _first


def _y(order: int) -> Definition:
    """Return the body of Y: minus infinity for x <= 0, as TensorFlow has it."""
    rest, inside = ((horner(_Y0_NEAR), horner(_J0_NEAR)), (horner(_Y1_NEAR), horner(_J1_NEAR)))[order]

    def _second(x: Any) -> Any:
        low = _at_most(x, 8.0)
        t, logarithm = low * low / 32 - 1, TWO_OVER_PI * log(low)
        y = rest(t) / low + logarithm * low * inside(t) if order else rest(t) + logarithm * inside(t)
        return where(x > 0, where(x <= 8, y, _oscillating(order, x, True)), where(x <= 0, -inf, nan))
    return _second


def _dawson(x: Any) -> Any:
    size = absolute(x)
    low, high = _at_most(size, 4.0), _at_least(size, 4.0)
    square, inverse = low * low, 1 / high
    y = x * horner(_DAWSN_NEAR4)(square / 8 - 1) / (1 + 2 * square)
    z = horner(_DAWSN_FAR4)(32 * inverse * inverse - 1) * inverse
    return where(size <= 4, y, where(x < 0, -z, z))


def _exponential_integral(x: Any) -> Any:
    """Ei; NaN for x < 0, as TensorFlow has it."""
    low, high = _at_most(x, 6.0), _at_most(_at_least(x, 6.0), HIGHEST)
    inverse = 1 / high
    y = EULER + log(low) + low * horner(_EI_NEAR)(low / 3 - 1)
    z = exp(high) * inverse * where(x <= 24, horner(_EI_MID)(16 * inverse - 5 / 3),
                                    horner(_EI_FAR)(48 * _at_most(inverse, 1 / 24) - 1))
    return where(x < 0, nan, where(x <= 6, y, z))


def integrals() -> dict[str, Definition]:
    """Return the bodies by primitive, over float64."""
    bodies = {"i0": _i(_I0_NEAR, _I0_FAR, False), "i1": _i(_I1_NEAR, _I1_FAR, True), "j0": _j(0), "j1": _j(1),
              "y0": _y(0), "y1": _y(1), "k0": _k(0, False), "k0e": _k(0, True), "k1": _k(1, False), "k1e": _k(1, True)}
    return {**{f"bessel_{name}": body for name, body in bodies.items()}, "dawsn": _dawson,
            "expint": _exponential_integral}
