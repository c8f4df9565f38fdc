"""Gold grade of a bag of drill chips: multiple-instance regression with gated attention pooling."""

import os

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", 0))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

CHIPS, FEATURES = 24, 10


def bags(n):
    """24 chips a bag; the assay of the bag is decided by the one chip that carries the vein."""
    chips = rng.normal(size=(n, CHIPS, FEATURES))
    vein = rng.integers(CHIPS, size=n)
    rows = np.arange(n)
    chips[:, :, 0] = 0.4 * rng.normal(size=(n, CHIPS)) - 1.0
    chips[rows, vein, 0] = 1.0 + 0.3 * rng.normal(size=n)
    carrier = chips[rows, vein]
    grade = carrier[:, 1] - 0.8 * carrier[:, 2] + 0.6 * carrier[:, 3] + 0.1 * rng.normal(size=n)
    return chips.astype("float32"), grade.astype("float32")[:, None]


train_x, train_y = bags(6000)
test_x, test_y = bags(1500)


class AttentionPool(layers.Layer):
    """Ilse et al. (2018): a_k ~ softmax(w' (tanh(V h_k) * sigm(U h_k)))."""

    def __init__(self, width=32):
        super().__init__()
        self.v = layers.Dense(width, activation="tanh")
        self.u = layers.Dense(width, activation="sigmoid")
        self.w = layers.Dense(1)

    def call(self, h):
        score = self.w(self.v(h) * self.u(h))
        weight = tf.nn.softmax(score)
        return tf.reduce_sum(weight * h, axis=1), weight


class BagModel(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.embed = layers.Dense(24)
        self.pool = AttentionPool()
        self.norm = layers.LayerNormalization()
        self.hidden = layers.Dense(48, activation="relu")
        self.grade = layers.Dense(1)

    def call(self, chips):
        pooled, _ = self.pool(self.embed(chips))
        return self.grade(self.hidden(self.norm(pooled)))


model = BagModel()
model(train_x[:1])
optimizer = tf.keras.optimizers.Adam(4e-3)
mse = tf.keras.losses.MeanSquaredError()
gradwatch.watch(model)

BATCH = 64
order, cursor = rng.permutation(len(train_x)), 0
history = []
for step in range(1, 401):
    if cursor + BATCH > len(order):
        order, cursor = rng.permutation(len(train_x)), 0
    take = order[cursor : cursor + BATCH]
    cursor += BATCH
    with tf.GradientTape() as tape:
        loss = mse(train_y[take], model(train_x[take], training=True))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    history.append(float(loss))
    if step % 50 == 0:
        print(f"step {step}: loss {np.mean(history[-50:]):.4f}")

residual = test_y - model(test_x).numpy()
print("SCORE r2", round(float(1 - np.mean(residual**2) / np.var(test_y)), 4))
