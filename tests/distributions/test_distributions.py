"""tf.distributions against TensorFlow's: statistics, samples for the same seeds, gradients, errors."""
from __future__ import annotations

import numpy as np

import tfnb as tf
from tests.differential import differences
from tests.restored import assert_restores

SETUP = "D = tf.distributions\n"
MADE = """
a, b, c = (tf.placeholder(tf.{type}, [None]) for _ in range(3))
fed = {{a: [0.7, 1.0, 2.5], b: [1.3, 3.0, 4.0], c: [0.5, 2.0, 9.0]}}
d = D.{made}
"""
ALL = MADE + """
x = {value}
values = [getattr(d, name)(x) for name in {of_value}]
stats = [getattr(d, name)() for name in {stats}]
sample = d.sample([2, 3], seed=5)
slopes = [g for t in {slopes} for g in [tf.gradients(t, [p])[0] for p in {parameters}] if g is not None]
sess.run([values, stats, sample, slopes, d.batch_shape_tensor(), d.event_shape_tensor(), d.is_scalar_batch()], fed)
"""
FULL = ["log_prob", "prob", "cdf", "log_cdf", "survival_function", "log_survival_function"]
MOMENTS = ["mean", "variance", "stddev", "mode", "entropy"]


def program(made, value, of_value=FULL, stats=MOMENTS, parameters="[a, b]", slopes="[values[0], sample, d.entropy()]",
            type="float64"):
    return ALL.format(made=made, value=value, of_value=of_value, stats=stats, parameters=parameters, slopes=slopes,
                      type=type)


P = "[[0.1, 0.6, 0.3], [0.2, 0.2, 0.6]]"
CLASSES = {"of_value": ["log_prob", "prob"], "slopes": "[values[0], d.entropy()]"}
SNIPPETS = {
    **{f"Normal {t}": program("Normal(a - 2, b)", "c - 2", [*FULL, "log_cdf"], type=t) for t in (
        "float32", "float64")},
    "Normal quantile": MADE.format(made="Normal(a, b)", type="float64") +
    "sess.run(d.quantile([[0.1], [0.5], [0.99]]), fed)",
    "tails": "d = D.Normal(np.float64(0), np.float64(1))\nx = np.float64([-40, -21, -19, -3, 0, 4, 7.9, 8.1, 30])\n"
             "sess.run([f(x) for f in (d.log_cdf, d.cdf, d.log_survival_function)])",
    "Laplace": program("Laplace(a, b)", "c", stats=MOMENTS[:5]),
    "Uniform": program("Uniform(a, a + b)", "c", FULL[:3], [*MOMENTS[:3], "entropy", "range"], slopes="[sample]"),
    "Exponential": program("Exponential(a)", "c", parameters="[a]"),
    "Gamma": program("Gamma(a, b)", "c"),
    "Beta": program("Beta(a, b)", "c / 10", FULL[:4]),
    "StudentT": program("StudentT(b, a, 2.0 + 0 * a)", "c", FULL[:3], parameters="[a]", type="float32"),
    "StudentT moments": "d = D.StudentT([0.5, 1.0, 1.5, 2.0, 3.0], 1.0, 2.0)\nsess.run([d.mean(), d.variance()])",
    "Bernoulli": program("Bernoulli(logits=a)", "tf.cast(c > 1, tf.float64)", parameters="[a]", **CLASSES),
    "Bernoulli of probabilities": program("Bernoulli(probs=a / 3, dtype=tf.float32)", "[0.0, 1.0, 1.0]",
                                          parameters="[a]", **CLASSES),
    "Categorical": program("Categorical(logits=tf.stack([a, b], 0))", "[0, 2]", stats=["mode", "entropy"],
                           parameters="[a, b]", **CLASSES),
    "one Categorical": f"d = D.Categorical(probs={P}[0])\nsess.run([d.log_prob([0, 1, 1]), d.prob(2), d.entropy(), "
                       "d.sample(9, seed=3), d.mode()])",
    "Categorical over batches": f"d = D.Categorical(probs={P}, dtype=tf.int64)\nsess.run([d.log_prob([[0, 1], [2, 2], "
                                "[1, 1]]), d.sample([2, 2], seed=3)])",
    "Dirichlet": program("Dirichlet(tf.stack([a, b], 0))", P, stats=["mean", "variance", "stddev",
        "entropy", "covariance"], **CLASSES),
    "modes of Dirichlet": "sess.run([D.Dirichlet(a).mode() for a in ([2.0, 3.0], [1.0, 3.0])])",
    "Multinomial": program(f"Multinomial([4.0, 3.0], probs={P})", "[[1., 2., 1.], [0., 1., 2.]]",
                           of_value=["log_prob", "prob"], stats=["mean", "variance", "stddev", "covariance"],
                           slopes="[]").replace(" sample,", " tf.shape(sample),"),
    "Multinomial of one count": "d = D.Multinomial(5.0, logits=[0.5, 1.0])\nsess.run([d.sample(seed=2), d.mean()])",
    "DirichletMultinomial": program("DirichletMultinomial(4.0, tf.cast([a, b], tf.float32))",
                                    "[[1., 2., 1.], [0., 2., 2.]]", of_value=["log_prob", "prob"], stats=[
                                        "mean", "variance", "stddev", "covariance"], slopes="[values[0]]"),
    **{f"KL {name}": MADE.format(made="Normal(0., 1.)", type="float64") + f"""
p, q = [D.{made} for x, y in ((a, b), (c, b + 1))]
found = [D.kl_divergence(p, q), p.kl_divergence(q), p.cross_entropy(q), D.kl_divergence(p, p, allow_nan_stats=False)]
sess.run([found, tf.gradients(found[0], [a, c])], fed)""" for name, made in {
        "Normal": "Normal(x, y)", "Gamma": "Gamma(x, y)", "Beta": "Beta(x, y)", "Exponential": "Exponential(x)",
        "Bernoulli": "Bernoulli(logits=x)", "Categorical": "Categorical(logits=tf.stack([x, y]))",
        "Dirichlet": "Dirichlet(tf.stack([x, y]))"}.items()},
    "properties": """
d = D.Normal([0.0, 1.0], 1.0, name="mine")
e = d.copy(loc=3.0)
[d.name, e.name, d.dtype.name, str(d), repr(d), d.batch_shape.as_list(), d.event_shape.as_list(), d.allow_nan_stats,
 d.validate_args, sorted(d.parameters), e.loc.op.name, e.batch_shape.as_list(), d.sample([4, 2]).shape.as_list(),
 {k: v.as_list() for k, v in D.Normal.param_static_shapes([2, 3]).items()}, repr(d.reparameterization_type),
 d.reparameterization_type == D.FULLY_REPARAMETERIZED, D.Bernoulli(0.5).reparameterization_type ==
 D.FULLY_REPARAMETERIZED, repr(D.Normal(tf.placeholder(tf.float32), 1.0)), d.mean().op.name.split("/")[0:2]]""",
    **{f"error {i}": f"outcome(lambda: {call})" for i, call in enumerate([
        "sess.run(D.Normal(0.0, -1.0, validate_args=True).sample())", "D.Normal(0, 1)",
        "D.Normal(0.0, tf.constant(1.0, tf.float64))", "D.Bernoulli(logits=0.0, probs=1.0)", "D.Bernoulli()",
        "D.Bernoulli(probs=1)", "D.Gamma(1.0, 1.0).quantile(0.5)",
        "D.kl_divergence(D.Normal(0.0, 1.0), D.Gamma(1.0, 1.0))",
        "sess.run(D.StudentT(1.0, 0.0, 1.0, allow_nan_stats=False).mean())", "D.RegisterKL(D.Normal, D.Normal)(max)",
        "sess.run(D.Categorical(probs=[0.2, 0.3], validate_args=True).probs)", "D.RegisterKL(D.Normal, int)(3)",
        "sess.run(D.Bernoulli(probs=1.5, validate_args=True).probs)", "D.Normal(0.0, 1.0).covariance()",
        "sess.run(D.Beta(2.0, 2.0, validate_args=True).prob(1.5))",
        "D.Distribution(tf.float32, None, False, 1).sample()",
        "sess.run(D.Uniform(2.0, 1.0, validate_args=True).mean())",
        "D.Normal([1.0, 2.0], [1.0, 2.0, 3.0]).batch_shape",
        "sess.run(D.Bernoulli(0.5, validate_args=True).log_prob(0.5))", "D.Dirichlet(1.0)",
        "sess.run(D.Multinomial(3.0, [0.1, 0.2], validate_args=True).prob([1.0, 1.0]))",
        "sess.run(D.Gamma([0.5, 2.0], 1.0, allow_nan_stats=False).mode())"])},
}


def test_like_tensorflow(oracle):           # (iterations that draw counts run in any order there)
    assert not differences(oracle, SNIPPETS, SETUP, 2e-6, modes=("always",))


def bars(count):
    """Return images of one bright row or column each, with some noise: (count, 64)."""
    random = np.random.default_rng(0)
    images = (random.random((count, 8, 8)) < 0.03).astype(np.float32)
    for image, place, upright in zip(images, random.integers(0, 8, count), random.random(count) < 0.5, strict=True):
        image[(slice(None), place) if upright else place] = 1
    return images.reshape(count, 64)


def test_a_variational_autoencoder_learns(tmp_path):
    tf.set_random_seed(2)
    data = bars(256)
    x = tf.placeholder(tf.float32, [None, 64])
    hidden = tf.layers.dense(x, 48, tf.nn.relu)
    posterior = tf.distributions.Normal(tf.layers.dense(hidden, 4), tf.layers.dense(hidden, 4, tf.nn.softplus) + 1e-4)
    prior = tf.distributions.Normal(tf.zeros([4]), tf.ones([4]))
    code = posterior.sample(seed=3)
    decoded = tf.layers.dense(tf.layers.dense(code, 48, tf.nn.relu), 64)
    likelihood = tf.reduce_sum(tf.distributions.Bernoulli(logits=decoded).log_prob(x), 1)
    divergence = tf.reduce_sum(tf.distributions.kl_divergence(posterior, prior), 1)
    bound = tf.reduce_mean(likelihood - divergence)
    step = tf.train.AdamOptimizer(0.01).minimize(-bound)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        before = sess.run(bound, {x: data})
        for _ in range(200):
            sess.run(step, {x: data})
        after, kl = sess.run([bound, tf.reduce_mean(divergence)], {x: data})
        assert_restores(sess, divergence, {x: data}, tmp_path)
    assert before < -40 and after > -24 and kl > 1, (before, after, kl)
