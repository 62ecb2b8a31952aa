"""Functions of float64 that the C library and SciPy take one element at a time, as polynomials: atanh, erfc, integrals.

There is no call and no branch, so that loops over them become vector instructions. The rows of coefficients
interpolate at Chebyshev points, made for tfnb with mpmath, to 1e-17 of the result. Errors are in docs/accuracy.md;
those of Dawson's integral and of Ei are at most 4 units of the last place.
"""
from __future__ import annotations

from math import inf, nan
from typing import Any

from tfnb.kernels.scalar.polynomials import Definition, horner
from tfnb.kernels.scalar.symbols import primitive

absolute, bits, exp_of_sum, float64, fma, from_bits, int32, log, where = map(
    primitive, "abs bits exp_of_sum float64 fma from_bits int32 log where".split())

# atanh: (atanh(s) / s - 1) / s**2 in s**2, |s| <= 1/2. erfc: erf(x) / x in x**2, |x| <= 1/2; (1 + 2 x) exp(x**2)
# erfc(x) in (x - 2) / (x + 2) moved to [-1, 1], x up to 27.5. Dawson: F(x) (1 + 2 x**2) / x in x**2 / 8 - 1 up to 4,
# x F(x) in 32 / x**2 - 1. Ei: (Ei(x) - log(x / root)) / (x - root) in x up to 6, all coefficients above 0;
# x exp(-x) Ei(x) in 1 / x moved to [-1, 1] up to 14, up to 40 and beyond.
_ATANH = (0.3333333333333333, 0.20000000000000004, 0.1428571428571254, 0.11111111111344721, 0.09090909074527982,
    0.0769230838513147, 0.06666647490420531, 0.05882718325703025, 0.05258211453330088, 0.048103469904924666,
    0.04002294193211757, 0.057870424750724646, -0.02875409135934642, 0.20015283269854273, -0.23045844937957918,
    0.24428228668665405)
_ERF = (1.1283791670955126, -0.37612638903183754, 0.11283791670955123, -0.026866170645130034, 0.005223977625403192,
    -0.0008548327016159163, 0.00012055332131175981, -1.4925586560096415e-05, 1.6459034327218912e-06,
    -1.6273138761686977e-07, 1.3214378238338438e-08)
_ERFC = (1.2621750734547712, -0.09414151251689801, -0.05725602152046883, 0.052754057134551426, -0.016433390757196752,
    -0.00017929264068289308, 0.0014044383143129852, -5.452630038855044e-05, -0.00014703857023967113,
    -2.782291231325075e-06, 1.7573267442427917e-05, 2.9247960237865294e-06, -1.8637209281921062e-06,
    -8.190698858902218e-07, 7.766021358451612e-08, 1.486385254226753e-07, 3.195333829276694e-08,
    -1.4758785651328835e-08, -1.0658216912600356e-08, -9.567720713842577e-10, 1.6327561830920646e-09,
    6.214395964255991e-10, -8.622490481947534e-11, -7.960739013453752e-11, -7.419199921737391e-12)
_DAWSN_NEAR = (1.1491842572069588, -0.18648100300554138, 0.23310329824745546, -0.2688498747865398, 0.2632230147555887,
    -0.1961935951105776, 0.07611999427290597, 0.061977512087436785, -0.17619392209656268, 0.23924856670947156,
    -0.24749953294442084, 0.21567877653870868, -0.16504965424160706, 0.11346268014588856, -0.07109278462149735,
    0.0410194583752468, -0.021964402428715588, 0.010982193688156986, -0.005153410594236825, 0.0022792172629755828,
    -0.0009535372642888133, 0.00037853000499931376, -0.00014301112050850765, 5.158186979710664e-05,
    -1.7770719051502003e-05, 5.830111115767555e-06, -1.8501422072718834e-06, 5.878719427925674e-07,
    -1.7116946151635014e-07, 3.7656134715484965e-08, -1.0634455679565879e-08, 5.67930524785147e-09,
    -1.4073741399762691e-09)
_DAWSN_FAR = (0.5082109864490417, 0.00864607314481505, 0.00047683227376092534, 4.7925937075319446e-05,
    7.50767778802512e-06, 1.7379293454821974e-06, 5.968210937960574e-07, 2.970628267907262e-07,
    1.6491588370222652e-07, 3.640907866923954e-08, -9.108057010726723e-08, -1.2626120169896614e-07,
    -2.0026130045420668e-08, 9.833005575096903e-08, 5.582507478888916e-08, -6.98320417879098e-08,
    -5.57651209395617e-08, 5.2836290766173274e-08, 4.187683964850072e-08, -3.887122433238358e-08,
    -2.430308661549634e-08, 2.3830744414930158e-08, 1.0151928071607169e-08, -1.062338551584534e-08,
    -2.6744682238557077e-09, 2.96227874971224e-09, 3.299754567725612e-10, -3.826474280465616e-10)
_EI_NEAR = (1.1014081059037335, 0.2722311099556949, 0.059679644786296324, 0.01107116022763004, 0.001756994738964302,
    0.0002424866449957621, 2.954347554038019e-05, 3.218202277327005e-06, 3.167832036942021e-07,
    2.8430285338708983e-08, 2.344185137906211e-09, 1.7859490222262038e-10, 1.2712246361287647e-11,
    8.206201709439376e-13, 5.775817537879027e-14, 1.6460284891514234e-15, 4.467057722413503e-16,
    -3.4495681948997915e-17, 5.6615401490144645e-18, -4.5109010431994315e-19, 3.1402728761562146e-20,
    -1.2356722762654718e-21, 2.9416490028251816e-23)
_EI_MID = (1.1690676168895002, 0.10044014599292081, 0.014949948321194473, -0.003936305666969023,
    -0.002345076591919741, 0.0006164108017524296, 0.0002058323399649206, -0.0001386408388651833,
    1.6934949121386364e-05, 1.3244890708469516e-05, -8.054465811383346e-06, 1.7638979717853996e-06,
    3.228898809842071e-07, -4.254935151930884e-07, 1.7814911697395884e-07, -3.4199155235625495e-08,
    -7.399610408931854e-09, 9.25155852899584e-09, -4.3559325108399664e-09, 1.3983014413675335e-09,
    -1.8436848146766727e-10, -2.1019059393732336e-10, 1.5248789416714967e-10, -2.4388512604403073e-11,
    -4.1924958919785035e-12)
_EI_FAR = (1.0537113582093396, 0.029034294969155803, 0.0018651133302843308, 0.00022458136727906497,
    4.7168544564044045e-05, 1.1677522131355018e-05, 1.5552743705100968e-08, -2.3121214367225522e-06,
    -8.020097966419353e-07, 3.1595681152344985e-07, 1.93813229779926e-07, -6.881402244445527e-08,
    -3.494856286278842e-08, 2.030911229575829e-08, 3.1601245129867156e-09, -5.352635881838674e-09,
    9.397868635043738e-10, 9.76354784138839e-10, -5.397762829039799e-10, -8.662539482218402e-11,
    1.2475354070725794e-10, -9.762074663443284e-13, -1.2536671907535844e-11)
_EI_ASYMPTOTIC = (1.0128248443226306, 0.013162701487828781, 0.0003515851200925039, 1.4493677093169101e-05,
    8.207668844447394e-07, 5.99480875525656e-08, 5.430579845124849e-09, 5.943164662433508e-10, 7.714059947648318e-11,
    1.1743802167989389e-11, 2.073717073743631e-12, 3.8985468954457947e-13, 8.595791116145458e-14,
    4.3277795491917964e-14, 1.5091794197200737e-14)
_ROOT = (0.3725074107813666, 1.3140183414386028e-17)                # of Ei, in two parts, as ln(2) / 2 and 16 ln(2)
_HALF_LN2 = (0.3465735900681466, 2.118260682904642e-10)
_LN_65536 = (11.090354888699949, 2.59176162986505e-10)
_SQRT_HALF_BITS = 0x3fe6a09e667f3bcd


def _limited(x: Any, low: float, high: float) -> Any:
    """Return x within limits; NaN stays NaN."""
    x = where(x < low, low, x)
    return where(x > high, high, x)


def _atanh(x: Any) -> Any:
    """Return s + s**3 P for s = |x|; above 1/2 k ln(2) / 2 + that of (m - 1) / (m + 1): (1 + x) / (1 - x) = 2**k m.

    There 1 - x and 2**k times it are exact, so m's rounding has no part in it.
    """
    size = absolute(x)
    rest = 1 - size
    near = size <= 0.5
    k = (bits((1 + size) / rest) - _SQRT_HALF_BITS) >> 52
    scaled = from_bits((k + 1023) << 52) * rest
    s = where(near, size, (size + (1 - scaled)) / (size + (1 + scaled)))
    n = where(near, 0, float64(int32(k)))
    z = s * s
    y = fma(n, _HALF_LN2[0], s + fma(s * z, horner(_ATANH)(z), n * _HALF_LN2[1]))
    y = where(size < 1, y, where(size == 1, inf, nan))
    return where(x < 0, -y, where(x == 0, x, y))


def _erfc(x: Any) -> Any:
    """Return 1 - erf(x) for |x| <= 1/2; beyond exp(-x**2), of which both parts count, times a ratio."""
    size = _limited(absolute(x), 0.5, 27.5)
    square = size * size
    over = horner(_ERFC)(fma((size - 2) / (size + 2), 1.3657407407407407, -0.18055555555555555))
    under = 1 + 2 * size
    part = 1 / under
    ratio = over * part
    rest = (fma(-ratio, under, over) - ratio * (2 * size - (under - 1))) * part       # what roundings took from it
    power = exp_of_sum(-square, -fma(size, size, -square))
    far = fma(power, ratio, power * rest)
    near = fma(-x, horner(_ERF)(x * x), 1)
    return where(absolute(x) <= 0.5, near, where(x < 0, 2 - far, far))


def _dawson(x: Any) -> Any:
    size = absolute(x)
    low, inverse = _limited(size, 0, 4), 1 / where(size < 4, 4, size)
    square = low * low
    y = x * horner(_DAWSN_NEAR)(square / 8 - 1) / (1 + 2 * square)
    z = horner(_DAWSN_FAR)(fma(32 * inverse, inverse, -1)) * inverse
    return where(size <= 4, y, where(x < 0, -z, z))


def _exponential_integral(x: Any) -> Any:
    """Return Ei; NaN for x < 0, as TensorFlow has it. Up to 6 no term cancels another, also beside the root."""
    low, high = where(x > 6, 6, x), _limited(x, 6, 720)
    ratio = low / _ROOT[0]
    rest = (fma(-ratio, _ROOT[0], low) - ratio * _ROOT[1]) / low
    distance = (low - _ROOT[0]) - _ROOT[1]
    y = log(ratio) + fma(distance, horner(_EI_NEAR)(low), where(low > 0, rest, 0))
    inverse = 1 / high
    series = where(high <= 14, horner(_EI_MID)(fma(inverse, 21, -2.5)), where(
        high <= 40, horner(_EI_FAR)(fma(inverse, 43.07692307692308, -2.076923076923077)),
        horner(_EI_ASYMPTOTIC)(_limited(fma(inverse, 80, -1), -1, 1))))
    large = high > 700                    # exp of it may be infinite where the quotient is not
    z = exp_of_sum(where(large, high - _LN_65536[0], high), where(large, -_LN_65536[1], 0)) * inverse
    z = z * series * where(large, 65536, 1)
    return where(x < 0, nan, where(x <= 6, y, z))


def doubles() -> dict[str, Definition]:
    """Return the bodies by primitive."""
    return {"atanh": _atanh, "erfc": _erfc, "dawsn": _dawson, "expint": _exponential_integral}
