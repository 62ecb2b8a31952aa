# Skip-grams with noise-contrastive estimation: which words stand beside a word.
import collections
import math
import random

import numpy as np
import tensorflow as tf

random.seed(1)
topics = ["cat dog cow pig hen".split(), "red blue green pink grey".split(), "one two three four five".split()]
words = []
for _ in range(400):
    words += random.sample(random.choice(topics), 4)
count = collections.Counter(words).most_common()
dictionary = {word: i for i, (word, _) in enumerate(count)}
data = [dictionary[word] for word in words]
vocabulary_size = len(dictionary)
data_index = 0


def generate_batch(batch_size, num_skips, skip_window):
    global data_index
    batch = np.ndarray(shape=(batch_size), dtype=np.int32)
    labels = np.ndarray(shape=(batch_size, 1), dtype=np.int32)
    for i in range(batch_size // num_skips):
        block = data_index // 4 * 4
        others = [data[block + k] for k in range(4) if block + k != data_index]
        for j, other in enumerate(random.sample(others, num_skips)):
            batch[i * num_skips + j] = data[data_index]
            labels[i * num_skips + j, 0] = other
        data_index = (data_index + 1) % len(data)
    return batch, labels


batch_size, embedding_size, num_sampled = 64, 16, 4
graph = tf.Graph()
with graph.as_default():
    train_inputs = tf.placeholder(tf.int32, shape=[batch_size])
    train_labels = tf.placeholder(tf.int32, shape=[batch_size, 1])
    with tf.device('/cpu:0'):
        embeddings = tf.Variable(tf.random_uniform([vocabulary_size, embedding_size], -1.0, 1.0, seed=1))
        embed = tf.nn.embedding_lookup(embeddings, train_inputs)
        nce_weights = tf.Variable(tf.truncated_normal([vocabulary_size, embedding_size],
                                                      stddev=1.0 / math.sqrt(embedding_size), seed=2))
        nce_biases = tf.Variable(tf.zeros([vocabulary_size]))
    loss = tf.reduce_mean(tf.nn.nce_loss(nce_weights, nce_biases, embed, train_labels, num_sampled, vocabulary_size))
    optimizer = tf.train.GradientDescentOptimizer(1.0).minimize(loss)
    similarity = tf.matmul(embeddings, nce_weights, transpose_b=True) + nce_biases

with tf.Session(graph=graph) as session:
    tf.initialize_all_variables().run()
    average_loss = 0
    for step in range(600):
        batch_inputs, batch_labels = generate_batch(batch_size, 2, 1)
        _, loss_val = session.run([optimizer, loss], feed_dict={train_inputs: batch_inputs, train_labels: batch_labels})
        average_loss += loss_val
        if step % 200 == 199:
            print("Average loss at step", step, ":", average_loss / 200)
            average_loss = 0
    near = similarity.eval()
    hits = 0
    for topic in topics:
        for word in topic:
            best = (-near[dictionary[word]]).argsort()[:4]
            hits += sum(count[k][0] in topic for k in best)
    print("score", hits / 60)
