"""Domain-adversarial training of a vibration classifier that should carry over to another machine."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

LENGTH, CLASSES = 128, 4


def machine(n, shift, hum):
    """Vibration traces with one of four fault signatures on a machine with its own gain and hum."""
    y = rng.integers(0, CLASSES, n)
    t = np.arange(LENGTH) / LENGTH
    base = np.array([6, 10, 15, 21])[y][:, None]
    x = np.sin(2 * np.pi * base * t + rng.uniform(0, 6.28, (n, 1)))
    x = x + 0.6 * np.sin(2 * np.pi * 2 * base * t + rng.uniform(0, 6.28, (n, 1)))
    x = x + hum * np.sin(2 * np.pi * 40 * t + rng.uniform(0, 6.28, (n, 1))) + shift
    return (x + rng.normal(0, 1.0, x.shape)).astype("float32")[..., None], y


xs, ys = machine(4000, 0.0, 0.0)
xt, yt = machine(4000, 0.5, 0.9)
x_test, y_test = machine(1000, 0.5, 0.9)


@tf.custom_gradient
def reverse_gradient(x, strength):
    def grad(dy):
        return -strength * dy, None

    return tf.identity(x), grad


class ReverseGradient(layers.Layer):
    def __init__(self):
        super().__init__()
        self.strength = self.add_weight(shape=(), initializer="zeros", trainable=False)

    def call(self, x):
        return reverse_gradient(x, tf.convert_to_tensor(self.strength))


inp = keras.Input((LENGTH, 1))
h = layers.Conv1D(24, 9, strides=2, activation="relu", padding="same")(inp)
h = layers.Conv1D(32, 7, strides=2, activation="relu", padding="same")(h)
h = layers.GlobalAveragePooling1D()(h)
feature = layers.Dense(48, activation="relu")(h)
label_out = layers.Dense(CLASSES)(feature)
flip = ReverseGradient()
d = layers.Dense(32, activation="relu")(flip(feature))
domain_out = layers.Dense(1)(d)
model = keras.Model(inp, [label_out, domain_out])

optimizer = keras.optimizers.SGD(0.02, momentum=0.9)
ce = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
bce = keras.losses.BinaryCrossentropy(from_logits=True)
gradwatch.watch(model)


@tf.function
def train_step(a, y, b):
    n = tf.shape(a)[0]
    domain = tf.concat([tf.zeros((n, 1)), tf.ones((tf.shape(b)[0], 1))], axis=0)
    with tf.GradientTape() as tape:
        logits, dom = model(tf.concat([a, b], axis=0), training=True)
        task = ce(y, logits[:n])
        confusion = bce(domain, dom)
        loss = task + confusion
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return task, confusion


STEPS = 1000
for step in range(STEPS):
    flip.strength.assign(1.0 * (2.0 / (1.0 + np.exp(-10 * step / STEPS)) - 1.0))
    i, j = rng.integers(len(xs), size=32), rng.integers(len(xt), size=32)
    task, confusion = train_step(tf.constant(xs[i]), tf.constant(ys[i]), tf.constant(xt[j]))
    if step % 200 == 199:
        print("step", step + 1, "task", round(float(task), 4), "domain", round(float(confusion), 4))

pred = model.predict(x_test, verbose=0)[0].argmax(axis=1)
print("SCORE target_accuracy", round(float(np.mean(pred == y_test)), 4))
