"""Read heart rhythms of a new clinic without its labels: features that do not betray the clinic."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", 0))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)
LENGTH = 96


def beat(kind, clinic):
    t = np.arange(LENGTH)
    centre = 48 + rng.integers(-8, 9)
    wave = 1.2 * np.exp(-((t - centre) ** 2) / 8) + 0.3 * np.exp(-((t - centre - 22) ** 2) / 60)
    if kind == 0:
        wave = wave + 0.25 * np.exp(-((t - centre + 16) ** 2) / 20)
    elif kind == 1:
        wave = wave - 0.6 * np.exp(-((t - centre - 7) ** 2) / 14)
    else:
        wave = wave + 0.7 * np.exp(-((t - centre - 12) ** 2) / 30)
    if clinic == 1:  # other amplifier: hum, drift, gain
        wave = 0.7 * wave + 0.2 * np.sin(2 * np.pi * t / 9 + rng.uniform(0, 6)) + 0.3 * (t / LENGTH - 0.5)
    return wave + 0.1 * rng.normal(size=LENGTH)


def collect(n, clinic):
    kinds = rng.integers(0, 3, n)
    return np.stack([beat(k, clinic) for k in kinds])[..., None].astype("float32"), kinds.astype("int32")


home_x, home_y = collect(4000, 0)
away_x, _ = collect(4000, 1)
test_x, test_y = collect(1000, 1)


@tf.custom_gradient
def turn_back(x, strength):
    return tf.identity(x), lambda g: (-strength * g, None)


class Adversarial(keras.Model):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.features = keras.Sequential(
            [
                layers.Conv1D(16, 7, activation="relu", name="f1"),
                layers.MaxPooling1D(2),
                layers.Conv1D(24, 5, activation="relu", name="f2"),
                layers.MaxPooling1D(2),
                layers.Flatten(),
                layers.Dense(32, activation="relu", name="f3"),
            ],
            name="features",
        )
        self.rhythm = layers.Dense(3, name="rhythm")
        self.clinic = keras.Sequential(
            [layers.Dense(24, activation="relu", name="c1"), layers.Dense(1, name="c2")], name="clinic"
        )

    def call(self, x, strength=0.0):
        h = self.features(x)
        return self.rhythm(h), self.clinic(turn_back(h, strength))


model = Adversarial(name="two_clinics")
model(home_x[:2])
optimizer = keras.optimizers.Adam(1e-3)


@tf.function
def train_step(a, labels, b, strength):
    with tf.GradientTape() as tape:
        rhythm, clinic = model(tf.concat([a, b], axis=0), strength=strength)
        n = tf.shape(a)[0]
        loss_rhythm = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=rhythm[:n]))
        where = tf.concat([tf.zeros((n, 1)), tf.ones((n, 1))], axis=0)
        loss_clinic = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=where, logits=clinic))
        loss = loss_rhythm + loss_clinic
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss_rhythm, loss_clinic


gradwatch.watch(model)

steps, batch = 900, 64
for step in range(steps):
    i, j = rng.integers(0, 4000, batch), rng.integers(0, 4000, batch)
    strength = tf.constant(2 / (1 + np.exp(-5 * step / steps)) - 1, tf.float32) * 0.3
    r, c = train_step(tf.constant(home_x[i]), tf.constant(home_y[i]), tf.constant(away_x[j]), strength)
    if step % 100 == 0:
        print(f"step {step:5d}  rhythm {float(r):.4f}  clinic {float(c):.4f}")

accuracy = np.mean(model(test_x)[0].numpy().argmax(axis=1) == test_y)
print(f"SCORE other_clinic_accuracy {accuracy:.4f}")
