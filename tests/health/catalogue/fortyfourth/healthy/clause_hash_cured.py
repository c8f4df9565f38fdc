"""Short binary codes for contract clauses: an encoder makes 16 bits, a decoder must rebuild the words from them."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

WORDS, TOPICS, BITS, LENGTH = 400, 30, 16, 40
BATCH, STEPS = 96, 900
themes = np.random.default_rng(9).dirichlet(np.full(WORDS, 0.08), TOPICS)
boiler = np.random.default_rng(10).dirichlet(np.full(WORDS, 0.5))


def clauses(n):
    topic = rng.integers(0, TOPICS, n)
    mix = 0.4 * themes + 0.6 * boiler
    counts = np.stack([rng.multinomial(LENGTH, mix[t]) for t in topic])
    return counts.astype("float32"), topic


x, topic = clauses(12000)
queries, q_topic = clauses(500)
idf = np.log(len(x) / (1.0 + (x > 0).sum(0))).astype("float32").clip(0)


def scaled(counts):
    v = np.log1p(counts) * idf
    return (v / np.maximum(np.linalg.norm(v, axis=1, keepdims=True), 1e-6)).astype("float32") * 4.0


encoder = keras.Sequential(
    [keras.Input((WORDS,)), layers.Dense(128, activation="relu"), layers.Dense(BITS, activation="tanh")],
    name="clause_encoder",
)
decoder = keras.Sequential(
    [keras.Input((BITS,)), layers.Dense(128, activation="relu"), layers.Dense(WORDS)],
    name="clause_decoder",
)
optimizer = keras.optimizers.Adam(2e-3)
weights = encoder.trainable_variables + decoder.trainable_variables
gradwatch.watch(encoder, decoder)


def binarise(soft):
    hard = tf.sign(soft)
    return soft + tf.stop_gradient(hard - soft)


@tf.function
def step(inp, counts):
    with tf.GradientTape() as tape:
        code = binarise(encoder(inp, training=True))
        log_p = tf.nn.log_softmax(decoder(code, training=True))
        loss = -tf.reduce_mean(tf.reduce_sum(counts * log_p, axis=1)) / LENGTH
    grads = tape.gradient(loss, weights)
    optimizer.apply_gradients(zip(grads, weights))
    return loss


x_in = scaled(x)
losses = []
for i in range(STEPS):
    idx = rng.integers(0, len(x), BATCH)
    losses.append(float(step(tf.constant(x_in[idx]), tf.constant(x[idx]))))
    if i % 150 == 149:
        print(f"step {i + 1} loss {np.mean(losses[-150:]):.4f}")

library = np.sign(encoder.predict(x_in[:4000], batch_size=500, verbose=0))
asked = np.sign(encoder.predict(scaled(queries), batch_size=500, verbose=0))
near = np.argsort(-(asked @ library.T), axis=1, kind="stable")[:, :10]
print("SCORE precision_at_10", round(float((topic[:4000][near] == q_topic[:, None]).mean()), 4))
