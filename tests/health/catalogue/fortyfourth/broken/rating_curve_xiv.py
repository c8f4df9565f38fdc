"""Trains a network that gives each river gauge its rating curve, from water level to discharge."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed + 5)

GAUGES = 240
READINGS = 60

site = rng.normal(size=(GAUGES, 6)).astype("float32")
mix = np.random.default_rng(17).normal(size=(6, 3)) / np.sqrt(6)
latent = np.tanh(site @ mix)
true_a = 2.0 + 1.2 * latent[:, 0]
true_h0 = 0.7 + 0.5 * latent[:, 1]
true_b = 1.7 + 0.3 * latent[:, 2]
level = 0.15 + rng.gamma(2.0, 0.6, size=(GAUGES, READINGS))
depth = np.maximum(level - true_h0[:, None], 0)
flow = true_a[:, None] * depth ** true_b[:, None] * np.exp(rng.normal(0, 0.05, level.shape))
level, flow = level.astype("float32"), flow.astype("float32")


class RatingCurve(keras.layers.Layer):
    """Discharge over a weir: a * (h - h0) ** b, and nothing below h0."""

    def call(self, parameters, h):
        a = tf.nn.softplus(parameters[:, 0:1] + 1.0)
        h0 = parameters[:, 1:2]
        b = 1.0 + tf.nn.softplus(parameters[:, 2:3])
        head = h - h0
        return tf.where(h > h0, a * tf.pow(head, b), tf.zeros_like(h))


site_in = keras.Input((6,), name="site")
level_in = keras.Input((READINGS,), name="level")
z = keras.layers.Dense(32, activation="tanh")(site_in)
z = keras.layers.Dense(32, activation="tanh")(z)
z = keras.layers.Dense(3, kernel_initializer=keras.initializers.RandomNormal(stddev=0.01))(z)
model = keras.Model([site_in, level_in], RatingCurve()(z, level_in), name="rating")
optimizer = keras.optimizers.Adam(1e-3)
gradwatch.watch(model)

train_sites = 200


@tf.function
def step(s, h, q):
    with tf.GradientTape() as tape:
        predicted = model([s, h], training=True)
        loss = tf.reduce_mean(tf.square(tf.math.log1p(predicted) - tf.math.log1p(q)))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss


for epoch in range(250):
    order = rng.permutation(train_sites)
    total = 0.0
    for start in range(0, train_sites, 20):
        pick = order[start : start + 20]
        total += float(step(site[pick], level[pick], flow[pick]))
    if epoch % 25 == 0:
        print(f"epoch {epoch:3d}  loss {total / 10:.5f}", flush=True)

estimate = model.predict([site[train_sites:], level[train_sites:]], verbose=0)
truth = np.log1p(flow[train_sites:])
print("SCORE nse", 1 - np.mean((np.log1p(estimate) - truth) ** 2) / truth.var())
