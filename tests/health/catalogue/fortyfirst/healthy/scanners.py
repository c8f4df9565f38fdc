"""Trains a lesion classifier whose features do not tell the scanner, by reversing the scanner classifier's gradient."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

N, F = 6000, 30
lesion_dir, scan_dir = rng.normal(0, 1, (3, F)), rng.normal(0, 1, (2, F))


def exams(n, link):
    y = rng.integers(0, 2, n)
    d = np.where(rng.random(n) < link, y, 1 - y)
    z = rng.normal(0, 1, (n, 3))
    z[:, 0] += 1.6 * (2 * y - 1)
    x = np.tanh(0.4 * z @ lesion_dir) + (2 * d[:, None] - 1) * 0.15 * scan_dir[0] + rng.normal(0, 0.6, (n, F))
    return x.astype("float32"), y.astype("int32"), d.astype("int32")


x, y, d = exams(N, 0.65)
x_te, y_te, d_te = exams(1500, 0.2)


@tf.custom_gradient
def reverse(x):
    return tf.identity(x), lambda g: -0.5 * g


class Adversarial(keras.Model):
    def __init__(self):
        super().__init__()
        self.body = keras.Sequential([layers.Dense(64, activation="relu"), layers.Dense(32, activation="relu")])
        self.lesion, self.scanner_h, self.scanner = (
            layers.Dense(2),
            layers.Dense(32, activation="relu"),
            layers.Dense(2),
        )

    def call(self, x):
        f = self.body(x)
        return self.lesion(f), self.scanner(self.scanner_h(reverse(f)))


model = Adversarial()
model(x[:2])
gradwatch.watch(model)
opt = keras.optimizers.Adam(1e-3)
ce = keras.losses.SparseCategoricalCrossentropy(from_logits=True)


@tf.function
def step(xb, yb, db):
    with tf.GradientTape() as tape:
        a, b = model(xb, training=True)
        l1, l2 = ce(yb, a), ce(db, b)
        loss = l1 + l2
    opt.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return l1, l2


ds = tf.data.Dataset.from_tensor_slices((x, y, d)).shuffle(N, seed=seed).batch(64, drop_remainder=True)
for epoch in range(10):
    for b in ds:
        l1, l2 = step(*b)
    print(epoch, float(l1), float(l2))
print("SCORE accuracy_other_hospital", float(np.mean(model.predict(x_te, verbose=0)[0].argmax(1) == y_te)))
