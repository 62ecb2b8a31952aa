"""tf.contrib.distributions against scipy.stats, bijectors against their inverses and finite differences."""
from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import tfnb as tf
from tests.modes import compiling

RANDOM = np.random.default_rng(0)
COVARIANCE = np.array([[2.0, 0.5, 0.1], [0.5, 1.0, -0.3], [0.1, -0.3, 1.5]])
MEAN = np.array([1.0, -1.0, 0.5])


def both(kind, *args, **named):
    """The distribution of that class, in double precision."""
    wide = {key: np.asarray(value, np.float64) for key, value in named.items()}
    return getattr(tf.contrib.distributions, kind)(*(np.asarray(arg, np.float64) for arg in args), **wide)


CONTINUOUS = {
    "Logistic": (lambda: both("Logistic", 0.5, 2.0), stats.logistic(0.5, 2.0)),
    "Gumbel": (lambda: both("Gumbel", 0.5, 2.0), stats.gumbel_r(0.5, 2.0)),
    "Cauchy": (lambda: both("Cauchy", 0.5, 2.0), stats.cauchy(0.5, 2.0)),
    "HalfNormal": (lambda: both("HalfNormal", 2.0), stats.halfnorm(0, 2.0)),
    "Chi2": (lambda: both("Chi2", 3.0), stats.chi2(3.0)),
    "InverseGamma": (lambda: both("InverseGamma", 3.5, 2.0), stats.invgamma(3.5, scale=2.0)),
    "LogNormal": (lambda: tf.contrib.distributions.TransformedDistribution(
        both("Normal", 0.5, 0.7), tf.contrib.distributions.bijectors.Exp()), stats.lognorm(0.7, scale=np.exp(0.5))),
    "affine": (lambda: tf.contrib.distributions.TransformedDistribution(
        both("Normal", 0.0, 1.0), tf.contrib.distributions.bijectors.AffineScalar(np.float64(2), np.float64(3))),
        stats.norm(2, 3)),
}
DISCRETE = {
    "Poisson": (lambda: both("Poisson", 3.5), stats.poisson(3.5)),
    "Poisson of a logarithm": (lambda: both("Poisson", log_rate=np.log(3.5)), stats.poisson(3.5)),
    "Geometric": (lambda: both("Geometric", probs=0.3), stats.geom(0.3, loc=-1)),
    "Binomial": (lambda: both("Binomial", 5.0, probs=0.3), stats.binom(5, 0.3)),
    "NegativeBinomial": (lambda: both("NegativeBinomial", 4.0, probs=0.3), stats.nbinom(4, 0.7)),
}


def statistics(d, names, *values):
    return {name: getattr(d, name)(*values) for name in names}


@pytest.mark.parametrize("name", [*CONTINUOUS, *DISCRETE])
def test_like_scipy(name):
    make, wanted = {**CONTINUOUS, **DISCRETE}[name]
    discrete = name in DISCRETE
    d = make()
    x = np.array([0.0, 1.0, 2.0, 5.0]) if discrete else np.array([0.3, 1.0, 4.0])
    fed = tf.placeholder(tf.float64, [None])
    found = {"log_prob": d.log_prob(fed), "prob": d.prob(fed)}
    expected = {"log_prob": (wanted.logpmf if discrete else wanted.logpdf)(x)}
    expected["prob"] = np.exp(expected["log_prob"])
    if name not in ("Binomial", "NegativeBinomial"):
        found["cdf"], expected["cdf"] = d.cdf(fed), wanted.cdf(x)
    if name in ("Logistic", "Gumbel", "Cauchy", "HalfNormal", "Chi2", "InverseGamma", "Geometric", "affine"):
        found["entropy"], expected["entropy"] = d.entropy(), wanted.entropy()
    if name in ("Logistic", "Cauchy", "HalfNormal", "LogNormal", "affine"):
        found["quantile"], expected["quantile"] = d.quantile(np.array([0.1, 0.6])), wanted.ppf([0.1, 0.6])
    if name not in ("Cauchy", "LogNormal"):
        found["mean"], expected["mean"] = d.mean(), wanted.mean()
        if name != "affine":
            found["variance"], expected["variance"] = d.variance(), wanted.var()
    with compiling("always"), tf.Session() as sess:
        for key, value in sess.run(found, {fed: x}).items():
            np.testing.assert_allclose(value, expected[key], rtol=1e-6, atol=1e-12, err_msg=key)
        if name != "Binomial":
            drawn = sess.run(d.sample(2000, seed=3))
            assert drawn.shape == (2000,)
            at = np.array([0.5, 2.5])
            np.testing.assert_allclose([(drawn <= a).mean() for a in at], wanted.cdf(at), atol=0.06)


def test_multivariate_normal():
    tfd = tf.contrib.distributions
    wanted = stats.multivariate_normal(MEAN, COVARIANCE)
    x = RANDOM.normal(size=(4, 3))
    full = tfd.MultivariateNormalFullCovariance(MEAN, COVARIANCE)
    tril = tfd.MultivariateNormalTriL(MEAN, np.linalg.cholesky(COVARIANCE))
    diag = tfd.MultivariateNormalDiag(MEAN, np.sqrt(np.diag(COVARIANCE)))
    other = tfd.MultivariateNormalTriL(np.zeros(3), np.eye(3) * 2 + np.tril(np.ones((3, 3)), -1))
    batch = tfd.MultivariateNormalDiag(np.zeros((2, 3)), scale_identity_multiplier=np.array([1.0, 2.0]))
    fed = tf.placeholder(tf.float64, [None, 3])
    fetches = [full.log_prob(fed), tril.log_prob(fed), diag.log_prob(fed), tril.entropy(), tril.covariance(),
               tfd.kl_divergence(tril, other), tfd.kl_divergence(diag, batch), tril.variance(),
               batch.log_prob(fed[:, None]), tril.sample(4000, seed=1), tf.gradients(tril.log_prob(fed), fed)[0]]
    with compiling("always"), tf.Session() as sess:
        f, t, d, entropy, covariance, kl, kls, variance, of_batch, drawn, slope = sess.run(fetches, {fed: x})
    for found in (f, t):
        np.testing.assert_allclose(found, wanted.logpdf(x))
    np.testing.assert_allclose(d, stats.multivariate_normal(MEAN, np.diag(np.diag(COVARIANCE))).logpdf(x))
    np.testing.assert_allclose([entropy, *variance], [wanted.entropy(), *np.diag(COVARIANCE)])
    np.testing.assert_allclose(covariance, COVARIANCE, atol=1e-12)
    scale = np.eye(3) * 2 + np.tril(np.ones((3, 3)), -1)
    np.testing.assert_allclose(kl, _kl(MEAN, COVARIANCE, np.zeros(3), scale @ scale.T))
    np.testing.assert_allclose(kls, [_kl(MEAN, np.diag(np.diag(COVARIANCE)), np.zeros(3), np.eye(3) * s)
                                     for s in (1, 4)])
    assert of_batch.shape == (4, 2) and batch.batch_shape.as_list() == [2] and batch.event_shape.as_list() == [3]
    np.testing.assert_allclose(np.cov(drawn.T), COVARIANCE, atol=0.15)
    np.testing.assert_allclose(slope, -np.linalg.solve(COVARIANCE, (x - MEAN).T).T)


def _kl(m0, s0, m1, s1):
    inverse = np.linalg.inv(s1)
    return 0.5 * (np.trace(inverse @ s0) + (m1 - m0) @ inverse @ (m1 - m0) - len(m0)
                  + np.log(np.linalg.det(s1) / np.linalg.det(s0)))


def test_mixtures():
    tfd = tf.contrib.distributions
    weights, means, spread = np.array([0.3, 0.7]), np.array([-1.0, 2.0]), np.array([0.5, 1.0])
    same = tfd.MixtureSameFamily(tfd.Categorical(probs=weights), tfd.Normal(means, spread))
    parts = tfd.Mixture(tfd.Categorical(probs=weights), [tfd.Normal(m, s) for m, s in zip(means, spread, strict=True)])
    vectors = tfd.MixtureSameFamily(tfd.Categorical(probs=weights), tfd.MultivariateNormalDiag(
        np.stack([MEAN, -MEAN]), np.ones((2, 3))))
    x = np.array([-1.0, 0.0, 3.0])
    with tf.Session() as sess:
        for d in (same, parts):
            found = sess.run([d.prob(x), d.cdf(x), d.mean(), d.variance(), d.sample(4000, seed=1)])
            np.testing.assert_allclose(found[0], (weights * stats.norm(means, spread).pdf(x[:, None])).sum(1))
            np.testing.assert_allclose(found[1], (weights * stats.norm(means, spread).cdf(x[:, None])).sum(1))
            np.testing.assert_allclose(found[2], 1.1)
            np.testing.assert_allclose(found[3], weights @ (spread ** 2 + means ** 2) - 1.1 ** 2)
            assert abs(found[4].mean() - 1.1) < 0.15 and abs(np.mean(found[4] < 0) - 0.3) < 0.05
        density, mean, drawn = sess.run([vectors.prob(np.zeros((5, 3))), vectors.mean(),
                                         vectors.sample([2, 7], seed=1)])
    np.testing.assert_allclose(density, np.full(5, np.exp(-0.5 * MEAN @ MEAN) / (2 * np.pi) ** 1.5))
    np.testing.assert_allclose(mean, -0.4 * MEAN)
    assert drawn.shape == (2, 7, 3)
    with pytest.raises(TypeError, match="same dtype"):
        tfd.Mixture(tfd.Categorical([0.0, 0.0]), [tfd.Normal(0.0, 1.0), tfd.Normal(np.float64(0), np.float64(1))])


def test_categories_and_their_relaxations():
    tfd = tf.contrib.distributions
    probs = np.float32([[0.1, 0.2, 0.7], [0.5, 0.25, 0.25]])
    hot = tfd.OneHotCategorical(probs=probs)
    x = tf.constant([0.2, 0.3, 0.5])
    hard = tfd.RelaxedOneHotCategorical(0.05, probs=probs)
    soft = tfd.RelaxedOneHotCategorical(0.7, probs=probs)
    switch = tfd.RelaxedBernoulli(0.5, logits=[0.3])
    logits = tf.constant([0.3, 0.1])
    slope = tf.gradients(tfd.RelaxedOneHotCategorical(0.5, logits=logits).sample(seed=1)[0], logits)[0]
    grid = np.linspace(1e-6, 1 - 1e-6, 200001, dtype=np.float64)
    wide = tfd.RelaxedBernoulli(np.float64(0.8), logits=np.float64([0.3]))
    with tf.Session() as sess:
        drawn, mode, log_prob = sess.run([hot.sample(2000, seed=2), hot.mode(), hot.log_prob([0.0, 0.0, 1.0])])
        nearly, dense, s, unit = sess.run([hard.sample(2000, seed=2), soft.log_prob(x), slope, switch.sample(seed=1)])
        area, below = sess.run([wide.prob(grid[:, None]), wide.cdf([[0.4]])])
    assert drawn.dtype == np.int32 and (drawn.sum(-1) == 1).all()
    np.testing.assert_allclose(drawn.mean(0), probs, atol=0.05)
    np.testing.assert_allclose(nearly.mean(0), probs, atol=0.05)
    np.testing.assert_allclose(log_prob, np.log(probs[:, 2]), rtol=1e-5)
    assert mode.tolist() == [[0, 0, 1], [1, 0, 0]] and hot.event_shape.as_list() == [3]
    y, t = np.array([0.2, 0.3, 0.5]), 0.7                           # Maddison et al., 2017, equation 10
    wanted = 2 * t ** 2 * np.prod(probs * y ** (-t - 1), 1) / np.sum(probs * y ** -t, 1) ** 3
    np.testing.assert_allclose(dense, np.log(wanted), rtol=1e-5)
    assert s[0] > 0 > s[1] and 0 < unit[0] < 1
    np.testing.assert_allclose(np.trapezoid(area[:, 0], grid) if hasattr(np, "trapezoid") else 1.0, 1.0, atol=2e-3)
    np.testing.assert_allclose(below[0, 0], area[grid < 0.4, 0].sum() * (grid[1] - grid[0]), atol=2e-3)


def test_independent():
    tfd = tf.contrib.distributions
    d = tfd.Independent(tfd.Normal(tf.zeros([2, 3]), tf.ones([2, 3])), 1)
    e = tfd.Independent(tfd.Normal(tf.ones([2, 3]), tf.ones([2, 3])), 1)
    with tf.Session() as sess:
        log_prob, kl, entropy = sess.run([d.log_prob(tf.zeros([4, 2, 3])), tfd.kl_divergence(d, e), d.entropy()])
    np.testing.assert_allclose(log_prob, np.full((4, 2), 3 * stats.norm.logpdf(0)), rtol=1e-5)
    np.testing.assert_allclose(kl, [1.5, 1.5])
    np.testing.assert_allclose(entropy, np.full(2, 3 * stats.norm.entropy()), rtol=1e-5)
    assert d.sample([5, 1]).shape.as_list() == [5, 1, 2, 3]
    with pytest.raises(ValueError, match="cannot exceed"):
        tfd.Independent(tfd.Normal(0.0, 1.0), 1)


def bijectors():
    tfb, wide = tf.contrib.distributions.bijectors, np.float64
    tril = wide([[1.0, 0.0, 0.0], [0.3, 2.0, 0.0], [0.1, -0.5, 0.7]])
    return {
        "Identity": tfb.Identity(), "AffineScalar": tfb.AffineScalar(wide(1), wide(-2)), "Exp": tfb.Exp(),
        "Sigmoid": tfb.Sigmoid(), "Softplus": tfb.Softplus(), "soft": tfb.Softplus(wide(2)), "Square": tfb.Square(),
        "PowerTransform": tfb.PowerTransform(0.5), "SinhArcsinh": tfb.SinhArcsinh(wide(0.3), wide(1.5)),
        "Permute": tfb.Permute([2, 0, 1]), "Reshape": tfb.Reshape([3, 1], [3]),
        "Affine": tfb.Affine(wide([1, 2, 3]), scale_tril=tril, scale_diag=wide([1, 1, 1])),
        "multiple": tfb.Affine(wide([1, 2, 3]), scale_identity_multiplier=wide(2)),
        "Invert": tfb.Invert(tfb.Exp()), "Chain": tfb.Chain([tfb.Exp(), tfb.Affine(scale_tril=tril), tfb.Softplus()]),
        "Inline": tfb.Inline(tf.exp, tf.log, lambda y: -tf.log(y), forward_min_event_ndims=0),
        "MAF": tfb.MaskedAutoregressiveFlow(tfb.masked_autoregressive_default_template([9])),
        "unrolled": tfb.MaskedAutoregressiveFlow(tfb.masked_autoregressive_default_template([9], True),
                                                 unroll_loop=True),
        "RealNVP": tfb.RealNVP(1, tfb.real_nvp_default_template([8])),
    }


def test_bijectors():
    x = RANDOM.uniform(0.2, 1.5, (4, 3))
    fed = tf.placeholder(tf.float64, [None, 3])
    made, found = bijectors(), {}
    for name, b in made.items():
        y = b.forward(fed)
        ndims = {"Reshape": 2}.get(name, 1)
        copy = tf.identity(y)                                        # not the tensor whose inverse is remembered
        jacobian = tf.stack([tf.gradients(tf.reshape(y, [-1, 3])[:, i], fed)[0] for i in range(3)], 1)
        found[name] = [b.inverse(copy), b.forward_log_det_jacobian(fed, 1) + tf.zeros([4], tf.float64),
                       b.inverse_log_det_jacobian(copy, ndims) + tf.zeros([4], tf.float64), jacobian]
        assert b.inverse(y) is fed
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for name, (back, forward, inverse, jacobian) in sess.run(found, {fed: x}).items():
            np.testing.assert_allclose(back, x, rtol=1e-6, atol=1e-9, err_msg=name)
            np.testing.assert_allclose(forward, np.linalg.slogdet(jacobian)[1], rtol=1e-5, atol=1e-7, err_msg=name)
            np.testing.assert_allclose(inverse, -forward, rtol=1e-5, atol=1e-7, err_msg=name)
    assert made["Reshape"].forward_event_shape([3]).as_list() == [3, 1]
    with pytest.raises(ValueError, match="at least 1"):
        made["Permute"].forward_log_det_jacobian(x, 0)


def test_a_flow_learns_a_banana():
    tfd, tfb = tf.contrib.distributions, tf.contrib.distributions.bijectors
    tf.set_random_seed(1)
    z = RANDOM.normal(size=(512, 2))
    data = np.stack([z[:, 0], 0.5 * z[:, 1] + z[:, 0] ** 2], 1).astype(np.float32)
    flow = tfd.TransformedDistribution(
        tfd.MultivariateNormalDiag(tf.zeros([2])),
        tfb.MaskedAutoregressiveFlow(tfb.masked_autoregressive_default_template([16, 16])))
    x = tf.placeholder(tf.float32, [None, 2])
    loss = -tf.reduce_mean(flow.log_prob(x))
    step = tf.train.AdamOptimizer(0.02).minimize(loss)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        before = sess.run(loss, {x: data})
        for _ in range(150):
            sess.run(step, {x: data})
        after, drawn = sess.run([loss, flow.sample(500, seed=1)], {x: data})
    assert before > 3 and after < 2.5, (before, after)              # 2.14 is the entropy
    assert abs(drawn[:, 1].mean() - 1) < 0.4
