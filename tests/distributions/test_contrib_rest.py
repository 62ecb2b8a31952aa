"""The rest of tf.contrib.distributions, against scipy.stats, NumPy and sums over grids; bijectors of matrices."""
from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, stats

import tfnb as tf
from tests.modes import compiling

RANDOM = np.random.default_rng(1)
tfd = tf.contrib.distributions
tfb = tfd.bijectors
wide = np.float64


def values(*fetches, feed=None):
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return sess.run(list(fetches), feed)


def test_normal_with_a_low_rank_scale():
    loc, diag = wide([1, 2, 3]), wide([1, 2, 3])
    factor, update = RANDOM.normal(size=(3, 2)), wide([0.5, -0.2])
    scale = np.diag(diag) + factor * update @ factor.T
    wanted = stats.multivariate_normal(loc, scale @ scale.T)
    low = tfd.MultivariateNormalDiagPlusLowRank(loc, diag, None, factor, update)
    full = tfd.MultivariateNormalLinearOperator(loc, tf.linalg.LinearOperatorFullMatrix(scale, is_non_singular=True))
    tril = tfd.MultivariateNormalTriL(loc, np.linalg.cholesky(scale @ scale.T))
    lone = tfd.MultivariateNormalDiagPlusLowRank(scale_perturb_factor=factor)
    x = RANDOM.normal(size=(4, 3))
    fetches = [low.log_prob(x), full.log_prob(x), low.covariance(), low.variance(), low.entropy(),
               tfd.kl_divergence(low, tril), tfd.kl_divergence(low, tfd.MultivariateNormalDiag(loc, diag)),
               lone.scale.to_dense(), low.sample(5000, seed=3)]
    with compiling("always"):
        one, other, covariance, variance, entropy, none, kl, dense, drawn = values(*fetches)
    np.testing.assert_allclose(one, wanted.logpdf(x))
    np.testing.assert_allclose(other, wanted.logpdf(x))
    np.testing.assert_allclose(covariance, scale @ scale.T)
    np.testing.assert_allclose(variance, np.diag(scale @ scale.T))
    np.testing.assert_allclose([entropy, none], [wanted.entropy(), 0], atol=1e-9)
    inverse = np.diag(diag ** -2)
    np.testing.assert_allclose(kl, 0.5 * (np.trace(inverse @ scale @ scale.T) - 3 + 2 * np.log(diag).sum()
                                          - np.linalg.slogdet(scale @ scale.T)[1]))
    np.testing.assert_allclose(dense, np.eye(3) + factor @ factor.T)
    np.testing.assert_allclose(np.cov(drawn.T), scale @ scale.T, rtol=0.15, atol=0.3)
    with pytest.raises(ValueError, match="Missing required `scale`"):
        tfd.MultivariateNormalLinearOperator(loc)
    with pytest.raises(tf.errors.InvalidArgumentError, match="[Ss]ingular"):
        tfd.MultivariateNormalDiag(loc, wide([1, 0, 1]), validate_args=True)


@pytest.mark.parametrize("kind, z", [("VectorExponentialDiag", stats.expon()), ("VectorLaplaceDiag", stats.laplace())])
def test_vectors_of_independent_elements(kind, z):
    loc, diag = wide([1, -1]), wide([[1, 2], [3, 4]])
    d = getattr(tfd, kind)(loc, diag, scale_identity_multiplier=wide(0.5))
    assert d.batch_shape.as_list() == [2] and d.event_shape.as_list() == [2]
    x = loc + (diag + 0.5) * wide([[0.1, 0.2], [0.3, 1.0]])
    log_prob, entropy, mean, variance, covariance, mode, drawn = values(
        d.log_prob(x), d.entropy(), d.mean(), d.variance(), d.covariance(), d.mode(), d.sample(3000, seed=1))
    np.testing.assert_allclose(log_prob, (z.logpdf((x - loc) / (diag + 0.5)) - np.log(diag + 0.5)).sum(-1))
    np.testing.assert_allclose(entropy, 2 * z.entropy() + np.log(diag + 0.5).sum(-1))
    np.testing.assert_allclose(mean, loc + (diag + 0.5) * z.mean())
    np.testing.assert_allclose(variance, (diag + 0.5) ** 2 * z.var())
    np.testing.assert_allclose(covariance[1], np.diag(variance[1]))
    np.testing.assert_allclose(mode, np.broadcast_to(loc, (2, 2)))
    np.testing.assert_allclose(drawn.mean(0), mean, atol=0.3)


def test_kumaraswamy_and_sinh_arcsinh():
    a, b = wide(2.5), wide(3.5)
    k = tfd.Kumaraswamy(a, b)
    grid = np.linspace(1e-9, 1 - 1e-9, 20001)
    density = a * b * grid ** (a - 1) * (1 - grid ** a) ** (b - 1)
    mean = integrate.trapezoid(grid * density, grid)
    found = values(k.prob(grid[1:-1:2000]), k.cdf(wide(0.3)), k.mean(), k.variance(), k.entropy(), k.mode(),
                   k.sample(2000, seed=1))
    np.testing.assert_allclose(found[0], density[1:-1:2000], rtol=1e-6, atol=1e-12)
    spread = integrate.trapezoid((grid - mean) ** 2 * density, grid)
    entropy = -integrate.trapezoid(np.where(density > 0, density * np.log(np.maximum(density, 1e-300)), 0), grid)
    np.testing.assert_allclose(found[1:5], [1 - (1 - 0.3 ** a) ** b, mean, spread, entropy], rtol=1e-5)
    assert abs(found[5] - grid[density.argmax()]) < 1e-3 and abs(found[6].mean() - mean) < 0.02
    loc, scale, skew, tail = wide(1), wide(2), wide(0.3), wide(1.4)
    d = tfd.SinhArcsinh(loc, scale, skew, tail)
    x = np.linspace(-5, 6, 7)
    factor = 2 / np.sinh(np.arcsinh(2) * tail)
    z = np.sinh(np.arcsinh((x - loc) / (scale * factor)) / tail - skew)
    v = tfd.VectorSinhArcsinhDiag(wide([1, 1]), wide([2, 2]), None, skew, tail)
    cdf, total, joint, single, drawn = values(d.cdf(x), d.prob(np.linspace(-400, 400, 160001)),
                                              v.log_prob(np.stack([x, x], -1)), d.log_prob(x), v.sample([3, 4], seed=1))
    np.testing.assert_allclose(cdf, stats.norm.cdf(z), rtol=1e-6)
    np.testing.assert_allclose(total.sum() * 800 / 160000, 1, rtol=1e-4)
    np.testing.assert_allclose(joint, 2 * single)
    assert drawn.shape == (3, 4, 2)


@pytest.mark.parametrize("full", [True, False])
def test_wishart(full):
    scale = wide([[2, 0.5], [0.5, 1]])
    wanted = stats.wishart(6.5, scale)
    d = tfd.WishartFull(wide(6.5), scale) if full else tfd.WishartCholesky(wide(6.5), np.linalg.cholesky(scale))
    x = wanted.rvs(3, random_state=0)
    factors = tfd.WishartFull(wide(6.5), scale, cholesky_input_output_matrices=True)
    found = values(d.log_prob(x), d.entropy(), d.mean(), d.variance(), d.mode(), d.mean_log_det(), d.scale(),
                   d.sample(4000, seed=1), factors.log_prob(np.linalg.cholesky(x)), factors.sample(2, seed=1),
                   d.stddev(), factors.mean())
    log_prob, entropy, mean, variance, mode, log_det, given, drawn, of_factors, lower, stddev, root = found
    np.testing.assert_allclose(log_prob, wanted.logpdf(x.transpose(1, 2, 0)))
    np.testing.assert_allclose(of_factors, log_prob)
    np.testing.assert_allclose(entropy, wanted.entropy())
    np.testing.assert_allclose([mean, variance, mode], [wanted.mean(), wanted.var(), wanted.mode()])
    np.testing.assert_allclose([given, stddev ** 2, root @ root.T], [scale, variance, mean])
    np.testing.assert_allclose(drawn.mean(0), mean, rtol=0.1)
    np.testing.assert_allclose(drawn.var(0), variance, rtol=0.25)
    np.testing.assert_allclose(np.linalg.slogdet(drawn)[1].mean(), log_det, atol=0.05)
    assert (lower[:, 0, 1] == 0).all() and d.event_shape.as_list() == [2, 2] and d.batch_shape.as_list() == []
    with pytest.raises(ValueError, match="std. dev."):
        factors.stddev()
    with pytest.raises(tf.errors.InvalidArgumentError, match="cannot be less than"):
        values(tfd.WishartFull(wide(1.5), scale, validate_args=True).mean())


def test_batches_of_another_shape():
    inner = tfd.MultivariateNormalDiag(RANDOM.normal(size=(6, 2)), np.ones((6, 2)))
    d = tfd.BatchReshape(inner, [2, -1])
    size = tf.placeholder(tf.int32, [2])
    late = tfd.BatchReshape(inner, size, validate_args=True)
    assert d.batch_shape.as_list() == [2, 3] and late.batch_shape.as_list() == [None, None]
    x = RANDOM.normal(size=(4, 2, 3, 2))
    drawn, same, log_prob, wanted, covariance, mean, entropy, other = values(
        d.sample(5, seed=1), inner.sample(5, seed=1), d.log_prob(x), inner.log_prob(x.reshape(4, 6, 2)),
        d.covariance(), d.mean(), d.entropy(), late.log_prob(x), feed={size: [2, 3]})
    np.testing.assert_array_equal(drawn, same.reshape(5, 2, 3, 2))
    np.testing.assert_allclose(log_prob, wanted.reshape(4, 2, 3))
    np.testing.assert_allclose(other, log_prob)
    assert covariance.shape == (2, 3, 2, 2) and mean.shape == (2, 3, 2) and entropy.shape == (2, 3)
    assert d.log_prob(x).shape.as_list() == [4, 2, 3]
    with pytest.raises(ValueError, match="must match"):
        tfd.BatchReshape(inner, [4])
    with pytest.raises(tf.errors.InvalidArgumentError, match="do not match"):
        values(late.mean(), feed={size: [2, 2]})


def test_quantized_values():
    d = tfd.QuantizedDistribution(tfd.Normal(wide(0.5), wide(2)), low=wide(-2), high=wide(4))
    places = np.arange(-4.0, 7)
    prob, log_prob, cdf, above, drawn = values(d.prob(places), d.log_prob(places), d.cdf(places),
                                               d.survival_function(places + 0.5), d.sample(3000, seed=1))
    inside = (places >= -2) & (places <= 4)
    upper = np.where(places >= 4, np.inf, places)
    lower = np.where(places <= -2, -np.inf, places - 1)
    wanted = np.where(inside, stats.norm.cdf(upper, 0.5, 2) - stats.norm.cdf(lower, 0.5, 2), 0)
    np.testing.assert_allclose(prob, wanted, atol=1e-12)
    np.testing.assert_allclose(np.exp(log_prob), wanted, atol=1e-12)
    np.testing.assert_allclose(cdf, np.cumsum(wanted), atol=1e-12)
    np.testing.assert_allclose(above, 1 - cdf, atol=1e-12)
    np.testing.assert_allclose([(drawn == place).mean() for place in places], wanted, atol=0.04)
    far = tfd.QuantizedDistribution(tfd.Normal(wide(0), wide(1)))
    np.testing.assert_allclose(values(far.log_prob(wide(-20)))[0], stats.norm.logcdf(-20), rtol=1e-3)


def test_autoregression_draws_as_its_density_says():
    def after(x=None):
        before = tf.zeros([3], tf.float64) if x is None else tf.concat([tf.zeros_like(x[..., :1]), x[..., :-1]], -1)
        return tfd.Independent(tfd.Normal(0.5 * before, wide(1)), 1)
    d = tfd.Autoregressive(after)
    x = RANDOM.normal(size=3)
    log_prob, drawn = values(d.log_prob(x), d.sample(8000, seed=4))
    np.testing.assert_allclose(log_prob, stats.norm.logpdf(x, [0, 0.5 * x[0], 0.5 * x[1]]).sum())
    steps = np.linalg.inv(np.eye(3) - np.diag([0.5, 0.5], -1))
    np.testing.assert_allclose(np.cov(drawn.T), steps @ steps.T, atol=0.1)
    assert d.num_steps == 3 and values(d.sample(2))[0].shape == (2, 3)
    with pytest.raises(ValueError, match="at least 1"):
        tfd.Autoregressive(after, num_steps=0)


def test_compounds_by_quadrature():
    places = np.arange(60.0)
    d = tfd.PoissonLogNormalQuadratureCompound(wide(0.5), wide(0.6), 40, tfd.quadrature_scheme_lognormal_gauss_hermite)
    even = tfd.PoissonLogNormalQuadratureCompound(wide([0.5, 0.1]), wide(0.6), 50)
    prob, mean, variance, nearly, drawn = values(d.prob(places), d.mean(), d.variance(), even.mean(),
                                                 even.sample(1000, seed=1))
    logs = np.linspace(-5, 6, 1001)
    joint = stats.poisson.pmf(places[:, None], np.exp(logs)) * stats.norm.pdf(logs, 0.5, 0.6)
    wanted = integrate.trapezoid(joint, logs)
    np.testing.assert_allclose(prob, wanted, rtol=1e-4, atol=1e-9)
    np.testing.assert_allclose([mean, variance], [(wanted * places).sum(), (wanted * (places - mean) ** 2).sum()],
                               rtol=1e-4)
    np.testing.assert_allclose(nearly, np.exp([0.68, 0.28]), rtol=0.06)
    np.testing.assert_allclose(drawn.mean(0), nearly, atol=0.25)

    tril = wide([[1, 0], [0.5, 2]])
    v = tfd.VectorDiffeomixture(
        wide([[0.2]]), wide([[0.7]]), tfd.Normal(wide(0), wide(1)), [None, wide([3, -1])],
        [tf.linalg.LinearOperatorDiag(wide([1, 0.5]), is_non_singular=True),
         tf.linalg.LinearOperatorLowerTriangular(tril, is_non_singular=True)], 12)
    side = np.linspace(-14, 16, 76)
    grid = np.stack(np.meshgrid(side, side, indexing="ij"), -1).reshape(-1, 1, 2)
    prob, mean, variance, covariance, drawn = values(v.prob(grid), v.mean(), v.variance(), v.covariance(),
                                                     v.sample(2000, seed=2))
    weights = prob[:, 0] * 0.4 ** 2
    np.testing.assert_allclose(weights.sum(), 1, rtol=1e-2)
    center = weights @ grid[:, 0]
    np.testing.assert_allclose(mean[0], center, atol=1e-2)
    np.testing.assert_allclose(covariance[0], (grid[:, 0] - center).T * weights @ (grid[:, 0] - center), atol=0.1)
    np.testing.assert_allclose(variance[0], np.diag(covariance[0]))
    np.testing.assert_allclose(np.cov(drawn[:, 0].T), covariance[0], atol=0.6)
    assert v.batch_shape.as_list() == [1] and v.event_shape.as_list() == [2]
    with pytest.raises(ValueError, match="bimixtures"):
        tfd.VectorDiffeomixture([0.0], [1.0], tfd.Normal(0.0, 1.0), scale=[tf.linalg.LinearOperatorIdentity(2)] * 3)


def test_conditions_and_functions_that_are_not_injective():
    class Times(tfb.ConditionalBijector):
        def __init__(self):
            super().__init__(forward_min_event_ndims=0)

        def _forward(self, x, factor):
            return x * factor

        def _inverse(self, y, factor):
            return y / factor

        def _forward_log_det_jacobian(self, x, factor):
            return tf.log(factor) * tf.ones_like(x)
    d = tfd.ConditionalTransformedDistribution(tfd.Normal(wide(0), wide(1)), Times())
    three = {"bijector_kwargs": {"factor": wide(3)}}
    folded = tfd.TransformedDistribution(tfd.Normal(wide(0.5), wide(2)), tfb.AbsoluteValue())
    found = values(d.log_prob(wide(1), **three), d.cdf(wide(1), **three), d.sample(2000, seed=1, **three),
                   folded.prob(wide(1.2)), folded.sample(5, seed=1))
    np.testing.assert_allclose(found[:2], [stats.norm.logpdf(1, 0, 3), stats.norm.cdf(1, 0, 3)])
    assert 2.7 < found[2].std() < 3.3 and (found[4] >= 0).all()
    np.testing.assert_allclose(found[3], stats.norm.pdf([1.2, -1.2], 0.5, 2).sum())
    for method in ("cdf", "log_cdf", "survival_function"):
        with pytest.raises(NotImplementedError, match="not injective"):
            getattr(folded, method)(wide(1))
    with pytest.raises(NotImplementedError, match="non-injective"):
        tfb.AbsoluteValue().forward_log_det_jacobian(1.0, 0)


def test_bijectors_of_matrices_and_constrained_vectors():
    ordered, unit = np.sort(RANDOM.normal(size=(4, 3))), RANDOM.uniform(0.1, 0.9, (4, 3))
    tril = np.linalg.cholesky(np.eye(2) + np.einsum("bij,bkj->bik", *[RANDOM.normal(size=(4, 2, 2))] * 2))
    flat = tril.reshape(4, 4)[:, [0, 2, 3]]                         # the coordinates of a triangle
    triangle = tfb.Chain([tfb.TransformDiagonal(tfb.Softplus()), tfb.FillTriangular()])
    cases = {
        "Ordered": (tfb.Ordered(), ordered, 1, None), "Softsign": (tfb.Softsign(), ordered, 1, None),
        "Gumbel": (tfb.Gumbel(wide(0.3), wide(2)), ordered, 1, None),
        "Kumaraswamy": (tfb.Kumaraswamy(wide(2), wide(3)), unit, 1, None),
        "Weibull": (tfb.Weibull(wide(2), wide(1.5)), unit, 1, None),
        "SoftmaxCentered": (tfb.SoftmaxCentered(), ordered, 1, lambda y: y[:, :3]),
        "ScaleTriL": (tfb.ScaleTriL(diag_shift=wide(1e-5)), ordered, 1, tfd.fill_triangular_inverse),
        "FillTriangular": (tfb.FillTriangular(upper=True), ordered, 1, lambda y: tfd.fill_triangular_inverse(y, True)),
        "triangle": (triangle, ordered, 1, tfd.fill_triangular_inverse),
        "low rank": (tfb.Affine(wide([1, 2, 3]), wide(2), scale_perturb_factor=RANDOM.normal(size=(3, 1)),
                                scale_perturb_diag=wide([0.5])), ordered, 1, None),
        "operator": (tfb.AffineLinearOperator(None, tf.linalg.LinearOperatorFullMatrix(
            np.eye(3) + np.diag([1.0, 2.0], 1), is_non_singular=True)), ordered, 1, None),
    }
    fed = tf.placeholder(tf.float64, [None, 3])
    for name, (b, x, ndims, reduced) in cases.items():
        y = b.forward(fed)
        coordinates = y if reduced is None else reduced(y)
        jacobian = tf.stack([tf.gradients(coordinates[:, i], fed)[0] for i in range(3)], 1)
        copy = tf.identity(y)
        out = b.inverse_min_event_ndims - b.forward_min_event_ndims + 1
        back, forward, inverse, slopes = values(b.inverse(copy), b.forward_log_det_jacobian(fed, ndims),
                                                b.inverse_log_det_jacobian(copy, out), jacobian, feed={fed: x})
        np.testing.assert_allclose(back, x, rtol=1e-6, atol=1e-9, err_msg=name)
        np.testing.assert_allclose(forward + np.zeros(4), np.linalg.slogdet(slopes)[1], atol=1e-7, err_msg=name)
        np.testing.assert_allclose(inverse, -forward, atol=1e-7, err_msg=name)
        assert b.forward_event_shape([3]).as_list() == y.shape.as_list()[1:], name
        assert b.inverse_event_shape(y.shape[1:]).as_list() == [3], name
        shape, = values(b.forward_event_shape_tensor([3]))
        assert shape.tolist() == y.shape.as_list()[1:], name
        shape, = values(b.inverse_event_shape_tensor(y.shape.as_list()[1:]))
        assert shape.tolist() == [3], name
    for b in (tfb.CholeskyOuterProduct(), tfb.MatrixInverseTriL()):
        into = tf.reshape(tf.stack([fed[:, 0], tf.zeros_like(fed[:, 0]), fed[:, 1], fed[:, 2]], 1), [-1, 2, 2])
        y = b.forward(into)
        cells = [y[:, 0, 0], y[:, 1, 0], y[:, 1, 1]]
        slopes = tf.stack([tf.gradients(each, fed)[0] for each in cells], 1)
        back, forward, inverse, jacobian = values(
            b.inverse(tf.identity(y)), b.forward_log_det_jacobian(into, 2),
            b.inverse_log_det_jacobian(tf.identity(y), 2), slopes, feed={fed: flat})
        np.testing.assert_allclose(back, tril, atol=1e-9)
        np.testing.assert_allclose(forward, np.linalg.slogdet(jacobian)[1], atol=1e-7)
        np.testing.assert_allclose(inverse, -forward, atol=1e-7)
    with pytest.raises(ValueError, match="triangular"):
        tfd.fill_triangular([1.0, 2.0])
    with pytest.raises(ValueError, match="non-singular"):
        tfb.AffineLinearOperator(scale=tf.linalg.LinearOperatorDiag([1.0]))
    checked = tfb.Ordered(validate_args=True).forward(fed)
    with pytest.raises(tf.errors.InvalidArgumentError, match="strictly increasing"):
        values(checked, feed={fed: -ordered})


def test_batch_normalization_as_a_bijector():
    y = RANDOM.normal(2.0, 3.0, (50, 3)).astype(np.float32)
    b = tfb.BatchNormalization()
    d = tfd.TransformedDistribution(tfd.MultivariateNormalDiag(tf.zeros([3])), b)
    x, slope, log_prob, drawn = b.inverse(y), b.inverse_log_det_jacobian(y, 1), d.log_prob(y), d.sample(1000, seed=1)
    back = b.forward(tf.constant(y))
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        normal, slopes, logs = sess.run([x, slope, log_prob])
        for _ in range(700):
            sess.run(tf.get_collection(tf.GraphKeys.UPDATE_OPS))
        samples, restored = sess.run([drawn, back])
        forward = sess.run(b.forward_log_det_jacobian(y, 1))
    np.testing.assert_allclose(normal, (y - y.mean(0)) / np.sqrt(y.var(0) + 1e-3), rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(slopes, np.full(50, -0.5 * np.log(y.var(0) + 1e-3).sum()), rtol=1e-4)
    np.testing.assert_allclose(logs, stats.norm.logpdf(normal).sum(1) + slopes, rtol=1e-4)
    np.testing.assert_allclose(forward, -slopes, rtol=1e-2)
    np.testing.assert_allclose(samples.mean(0), y.mean(0), atol=0.4)
    np.testing.assert_allclose(restored, y * np.sqrt(y.var(0) + 1e-3) + y.mean(0), rtol=1e-2, atol=0.05)
    with pytest.raises(ValueError, match="must be an instance"):
        tfb.BatchNormalization(batchnorm_layer=tf.layers.Dense(1))


def test_statistics():
    x = RANDOM.normal(size=(3, 4, 5))
    logs, weights = RANDOM.normal(size=(3, 4)), RANDOM.normal(size=(3, 4))
    mean, variance = tf.Variable(tf.zeros([4], tf.float64)), tf.Variable(tf.zeros([4], tf.float64))
    average = tf.Variable(tf.zeros([], tf.float64))
    fed = tf.placeholder(tf.float64, [4])
    step = tfd.assign_moving_mean_variance(mean, variance, fed, 0.9)
    log_step = tfd.assign_log_moving_mean_exp(average, tf.reduce_sum(fed), 0.9)
    held = tfd.moving_mean_variance(fed, 0.9, name="held")
    m, v, log_mean = np.zeros(4), np.zeros(4), 0.0
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for row in x[0].T:
            found = sess.run([*step, *held, log_step], {fed: row})
            v = 0.9 * (v + 0.1 * (row - m) ** 2)
            m = 0.9 * m + 0.1 * row
            log_mean = np.log(0.9 * np.exp(log_mean) + 0.1 * np.exp(row.sum()))
        np.testing.assert_allclose(found[0], m)
        np.testing.assert_allclose(found[1:4], [v, m, v])
        np.testing.assert_allclose(found[4], log_mean)
        places = sess.run([tfd.percentile(x, 30.0, axis, kind, keep) for axis, kind, keep in
                           [(None, None, False), (1, "lower", False), ([0, 2], "higher", True)]])
        total, sign = sess.run(tfd.reduce_weighted_logsumexp(logs, weights, axis=1, return_sign=True))
        correlation = sess.run([tfd.auto_correlation(x, axis=1), tfd.auto_correlation(
            x, max_lags=2, center=False, normalize=False), tfd.auto_correlation(x[0] + 1j, max_lags=1)])
        banded = sess.run(tfd.tridiag(wide([1, 2]), wide([3, 4, 5]), wide([6, 7])))
    assert [v.op.name for v in tf.global_variables()][-2:] == ["held/mean", "held/variance"]
    np.testing.assert_allclose(places[0], np.percentile(x, 30, method="nearest"))
    np.testing.assert_allclose(places[1], np.percentile(x, 30, axis=1, method="lower"))
    np.testing.assert_allclose(places[2], np.percentile(x, 30, axis=(0, 2), method="higher", keepdims=True))
    np.testing.assert_allclose(sign * np.exp(total), (weights * np.exp(logs)).sum(1))
    centered = x - x.mean(1, keepdims=True)
    lags = np.stack([(centered[:, :4 - k] * centered[:, k:]).mean(1) for k in range(4)], 1)
    np.testing.assert_allclose(correlation[0], lags / lags[:, :1])
    np.testing.assert_allclose(correlation[1], np.stack([(x[..., :5 - k] * x[..., k:]).mean(-1) for k in range(3)], -1))
    assert correlation[2].dtype == np.complex128 and correlation[2].shape == (4, 2)
    np.testing.assert_array_equal(banded, np.diag([3, 4, 5]) + np.diag([1, 2], -1) + np.diag([6, 7], 1))
    with pytest.raises(ValueError, match="interpolation"):
        tfd.percentile(x, 30.0, interpolation="linear")


def test_parameters_of_any_sign_are_copied():
    d = tfd.StudentTWithAbsDfSoftplusScale(-4.5, 1.0, -1.0)
    other = d.copy(scale=3.0)
    df, scale, mean = values(other.df, other.scale, tfd.Chi2WithAbsDf(-3.2).mean())
    np.testing.assert_allclose([df, scale, mean], [4, np.log1p(np.exp(3)), 3], rtol=1e-6)
    half = tfd.kl_divergence(tfd.HalfNormal(wide(2)), tfd.HalfNormal(wide(3)))
    np.testing.assert_allclose(values(half)[0], np.log(3 / 2) + 0.5 * (4 / 9 - 1))
