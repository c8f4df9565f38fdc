# Plant re-identification from leaf outlines: embedding trained with circle loss.
import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

N_PLANTS, POINTS = 24, 48
angle = np.linspace(0, 2 * np.pi, POINTS, endpoint=False)
shape_rng = np.random.default_rng(21)
coef = shape_rng.normal(0, 1, (N_PLANTS, 5)) / np.arange(1, 6)
phase = shape_rng.uniform(0, 2 * np.pi, (N_PLANTS, 5))


def outlines(plants):
    k = np.arange(1, 6)
    turn = rng.normal(0, 0.12, (len(plants), 1, 1))
    r = (coef[plants][:, None] * np.cos(k * (angle[None, :, None] + turn) + phase[plants][:, None])).sum(-1)
    return (r + rng.normal(0, 0.45, r.shape)).astype("float32")[..., None]


class CircleLoss:
    def __init__(self, margin=0.25, gamma=112.0):
        self.m, self.gamma = margin, gamma

    def __call__(self, labels, emb):
        sim = tf.matmul(emb, emb, transpose_b=True)
        same = tf.equal(labels[:, None], labels[None, :])
        upper = tf.linalg.band_part(tf.ones_like(sim), 0, -1) - tf.eye(tf.shape(sim)[0])
        sp = tf.boolean_mask(sim, tf.logical_and(same, upper > 0))
        sn = tf.boolean_mask(sim, tf.logical_and(~same, upper > 0))
        ap = tf.stop_gradient(tf.nn.relu(1 + self.m - sp))
        an = tf.stop_gradient(tf.nn.relu(sn + self.m))
        logit_p = -self.gamma * ap * (sp - (1 - self.m))
        logit_n = self.gamma * an * (sn - self.m)
        return tf.math.log(1.0 + tf.reduce_sum(tf.exp(logit_n)) * tf.reduce_sum(tf.exp(logit_p)))


embedder = keras.Sequential(
    [
        keras.Input((POINTS, 1)),
        layers.Conv1D(16, 5, activation="relu", padding="same"),
        layers.MaxPooling1D(2),
        layers.Conv1D(32, 5, activation="relu", padding="same"),
        layers.Flatten(),
        layers.Dense(32),
        layers.UnitNormalization(),
    ]
)
circle = CircleLoss()
optimizer = keras.optimizers.Adam(1e-3)
gradwatch.watch(embedder)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = circle(y, embedder(x, training=True))
    grads = tape.gradient(loss, embedder.trainable_variables)
    optimizer.apply_gradients(zip(grads, embedder.trainable_variables))
    return loss


losses = []
for step in range(300):
    plants = np.repeat(rng.choice(N_PLANTS, 8, replace=False), 4)
    losses.append(float(train_step(tf.constant(outlines(plants)), tf.constant(plants))))
    if step % 50 == 49:
        print(step + 1, "loss", np.mean(losses[-50:]))

gallery, query = np.repeat(np.arange(N_PLANTS), 3), np.repeat(np.arange(N_PLANTS), 10)
eg, eq = embedder.predict(outlines(gallery), verbose=0), embedder.predict(outlines(query), verbose=0)
print("rank-1 accuracy", np.mean(gallery[(eq @ eg.T).argmax(1)] == query))
