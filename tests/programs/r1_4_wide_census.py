# A wide model on census-like data: columns of all kinds, tf.Example protos, FTRL, checkpoints of a monitored session.
import sys

import numpy as np
import tensorflow as tf

fc = tf.feature_column
folder = sys.argv[1]
EDUCATION = ["Bachelors", "HS-grad", "Masters", "Doctorate", "Some-college"]
JOBS = ["Exec", "Craft", "Sales", "Farming", "Tech"]
COUNTRIES = ["US", "Mexico", "India", "Cuba"]
rng = np.random.RandomState(5)


def person():
    row = {"age": rng.randint(17, 80), "hours": rng.randint(10, 60), "education": EDUCATION[rng.randint(5)],
           "occupation": JOBS[rng.randint(5)], "country": COUNTRIES[rng.randint(4)], "relationship": rng.randint(6),
           "skills": ["s%d" % i for i in rng.choice(20, rng.randint(0, 4), replace=False)]}
    wealth = 1.5 * (30 < row["age"] < 60) + 0.05 * (row["hours"] - 35) + 1.5 * (row["education"] in EDUCATION[2:4])
    wealth += 2.0 * (row["occupation"] == "Exec" and row["education"] == "Bachelors") + 0.7 * ("s3" in row["skills"])
    return row, int(wealth + 0.1 * rng.randn() > 1.4)


def proto(row, label):
    example = tf.train.Example()
    feature = example.features.feature
    feature["income"].int64_list.value.append(label)
    feature["relationship"].int64_list.value.append(row["relationship"])
    for name in ("age", "hours"):
        feature[name].float_list.value.append(row[name])
    for name in ("education", "occupation", "country"):
        feature[name].bytes_list.value.append(row[name].encode())
    feature["skills"].bytes_list.value.extend([skill.encode() for skill in row["skills"]])
    feature["level"].float_list.value.extend([0.5 + 0.1 * i for i in range(len(row["skills"]))])
    return example.SerializeToString()


with open(folder + "/countries.txt", "w") as file:
    file.write("\n".join(COUNTRIES[:3]) + "\n")
age, hours = fc.numeric_column("age"), fc.numeric_column("hours", normalizer_fn=lambda x: (x - 35.0) / 10.0)
groups = fc.bucketized_column(age, boundaries=[18, 25, 30, 35, 40, 45, 50, 55, 60, 65])
education = fc.categorical_column_with_vocabulary_list("education", EDUCATION)
occupation = fc.categorical_column_with_hash_bucket("occupation", hash_bucket_size=100)
country = fc.categorical_column_with_vocabulary_file("country", folder + "/countries.txt", num_oov_buckets=1)
relationship = fc.categorical_column_with_identity("relationship", num_buckets=6, default_value=0)
skills = fc.weighted_categorical_column(fc.categorical_column_with_hash_bucket("skills", 50), "level")
crosses = [fc.crossed_column(["education", "occupation"], 1000), fc.crossed_column([groups, "education"], 1000)]
wide = [hours, groups, education, occupation, country, relationship, skills] + crosses
spec = fc.make_parse_example_spec(wide)
spec["income"] = tf.FixedLenFeature([], tf.int64)


def batches(protos, repeat):
    data = tf.data.Dataset.from_tensor_slices(protos).repeat(repeat).batch(50)
    return tf.parse_example(data.make_one_shot_iterator().get_next(), spec)


def model(features):
    labels = features.pop("income")
    weights = {}
    with tf.variable_scope("linear", reuse=tf.AUTO_REUSE):
        logits = fc.linear_model(features, wide, cols_to_vars=weights)[:, 0]
    return labels, logits, weights


train, test = [[proto(*person()) for _ in range(n)] for n in (1000, 300)]
with tf.Graph().as_default():
    tf.set_random_seed(1)
    step = tf.train.get_or_create_global_step()
    labels, logits, weights = model(batches(train, 3))
    loss = tf.losses.sigmoid_cross_entropy(labels, logits) + 1e-3 * tf.add_n(
        [tf.nn.l2_loss(v) for column in wide for v in weights[column]])
    op = tf.train.FtrlOptimizer(0.5, l1_regularization_strength=0.01).minimize(loss, step)
    names = sorted(v.op.name for v in tf.trainable_variables())
    assert len(names) == len(wide) + 1 and "linear/linear_model/education_X_occupation/weights" in names, names
    with tf.train.MonitoredTrainingSession(checkpoint_dir=folder + "/wide", save_summaries_steps=None,
                                           save_checkpoint_secs=None, save_checkpoint_steps=1000) as sess:
        while not sess.should_stop():
            sess.run(op)

with tf.Graph().as_default():
    tf.train.get_or_create_global_step()
    labels, logits, _ = model(batches(test, 1))
    right, total = tf.equal(logits > 0, labels > 0), 0
    hits = []
    with tf.train.MonitoredTrainingSession(checkpoint_dir=folder + "/wide", save_checkpoint_secs=None,
                                           save_summaries_steps=None) as sess:
        while not sess.should_stop():
            hits.extend(sess.run(right))
    print("score", np.mean(hits))
