"""Carries a fruit-ripeness classifier over to a second camera without labels there (domain-adversarial training, reversed gradient)."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

FEAT, CLASSES, BATCH, STEPS = 24, 4, 64, 900
centre = rng.normal(size=(CLASSES, FEAT)) * 0.9
tint = rng.normal(size=FEAT) * 0.9


def fruit(n, camera):
    y = rng.integers(0, CLASSES, n)
    x = centre[y] + rng.normal(0, 0.9, (n, FEAT))
    if camera:
        x = x * 0.8 + tint
    return x.astype("float32"), y.astype("int32")


xs, ys = fruit(3000, 0)
xt, _ = fruit(3000, 1)
x_test, y_test = fruit(1500, 1)


@tf.custom_gradient
def reverse(x, amount):
    return tf.identity(x), lambda g: (-amount * g, None)


class Adapt(keras.Model):
    def __init__(self):
        super().__init__()
        self.feat = keras.Sequential([layers.Dense(64, activation="relu"), layers.Dense(32, activation="relu")])
        self.kind = layers.Dense(CLASSES)
        self.camera = keras.Sequential([layers.Dense(32, activation="relu"), layers.Dense(1)])

    def call(self, x, amount=0.0):
        h = self.feat(x)
        return self.kind(h), self.camera(reverse(h, amount))[:, 0]


model = Adapt()
model(tf.constant(xs[:2]), tf.constant(0.0))
opt = keras.optimizers.Adam(1e-3)
gradwatch.watch(model)


@tf.function
def train_step(a, y, b, amount):
    with tf.GradientTape() as tape:
        kind, camera = model(tf.concat([a, b], 0), amount)
        k = tf.reduce_mean(keras.losses.sparse_categorical_crossentropy(y, kind[:BATCH], from_logits=True))
        side = tf.concat([tf.zeros(BATCH), tf.ones(BATCH)], 0)
        c = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(side, camera))
        loss = k + c
    grads = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(grads, model.trainable_variables))
    return k, c


for step in range(STEPS):
    i, j = rng.integers(0, 3000, BATCH), rng.integers(0, 3000, BATCH)
    amount = 2 / (1 + np.exp(-6 * step / STEPS)) - 1
    k, c = train_step(tf.constant(xs[i]), tf.constant(ys[i]), tf.constant(xt[j]), tf.constant(amount, tf.float32))
    if step % 100 == 0:
        print(step, float(k), float(c))

kind = model(tf.constant(x_test), tf.constant(0.0))[0].numpy()
print("SCORE second_camera_accuracy", round(float(np.mean(kind.argmax(1) == y_test)), 4))
