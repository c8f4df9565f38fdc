"""Attention-pooled multiple-instance learning on pre-extracted slide tiles."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

TILES, FEATURES = 24, 48
STEPS, BATCH = 500, 32

basis, _ = np.linalg.qr(rng.normal(size=(FEATURES, FEATURES)))
tumour_dir, grade_dir = basis[:, 0], basis[:, 1]


def slides(n):
    x = rng.normal(0, 0.6, (n, TILES, FEATURES))
    x += rng.normal(0, 1.2, (n, TILES, 1)) * grade_dir
    high = rng.integers(2, size=n)
    for i in range(n):
        where = rng.choice(TILES, size=rng.integers(1, 3), replace=False)
        x[i, where] -= (x[i, where] @ grade_dir)[:, None] * grade_dir
        x[i, where] += 4.0 * tumour_dir + (2 * high[i] - 1) * 1.5 * grade_dir
    return x.astype("float32"), high.astype("float32")


class GatedAttentionPool(layers.Layer):
    def __init__(self, units, **kw):
        super().__init__(**kw)
        self.value = layers.Dense(units, activation="tanh")
        self.gate = layers.Dense(units, activation="sigmoid")
        self.score = layers.Dense(1, use_bias=False)

    def call(self, tiles):
        score = self.score(self.value(tiles) * self.gate(tiles))
        weight = tf.nn.softmax(score, axis=-1)
        return tf.reduce_sum(weight * tiles, axis=1)


def build():
    tiles = keras.Input((TILES, FEATURES))
    h = layers.Dense(24, name="project")(tiles)
    h = GatedAttentionPool(32, name="pool")(h)
    logit = layers.Dense(1, name="grade")(h)
    return keras.Model(tiles, logit, name="mil")


x_train, y_train = slides(2500)
x_test, y_test = slides(600)
model = build()
optimizer = keras.optimizers.Nadam(2e-3)
optimizer.build(model.trainable_variables)


@tf.function
def step_fn(x, y):
    with tf.GradientTape() as tape:
        logit = model(x, training=True)[:, 0]
        loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=logit))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply(grads)
    return loss


gradwatch.watch(model)
total = 0.0
for step in range(1, STEPS + 1):
    pick = rng.integers(len(x_train), size=BATCH)
    total += float(step_fn(tf.constant(x_train[pick]), tf.constant(y_train[pick])))
    if step % 100 == 0:
        print(f"{step:4d}  bce {total / 100:.4f}")
        total = 0.0

logit = model(x_test).numpy()[:, 0]
print(f"test accuracy {np.mean((logit > 0) == (y_test > 0.5)):.4f}")
