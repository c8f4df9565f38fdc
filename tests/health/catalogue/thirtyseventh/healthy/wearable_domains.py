"""Recognise activities and energy use on a new wearable device from labels of an old one, by an adversarial device head."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

ACTIVITIES, D, BATCH, STEPS = 5, 24, 64, 1000
prototypes = rng.normal(0, 1.0, (ACTIVITIES, 8))
mixing = rng.normal(0, 1, (8, D)) / np.sqrt(8)
device_axis = rng.normal(0, 1, D)
device_axis /= np.linalg.norm(device_axis)
device_mix = np.eye(D) + 0.12 * rng.normal(0, 1, (D, D))


def readings(n, device):
    kind = rng.integers(0, ACTIVITIES, n)
    latent = prototypes[kind] + 0.35 * rng.normal(0, 1, (n, 8))
    x = np.tanh(latent @ mixing) + 0.15 * rng.normal(0, 1, (n, D))
    if device == 1:
        x = x @ device_mix + 1.2 * device_axis
    energy = 180 + 60 * latent[:, 0] + 40 * np.abs(latent[:, 1])
    return x.astype("float32"), kind.astype("int32"), energy.astype("float32")


x_old, kind_old, energy_old = readings(3000, 0)
x_new, kind_new, energy_new = readings(3000, 1)
energy_mu, energy_sd = energy_old.mean(), energy_old.std()
x_all = np.concatenate([x_old, x_new[:2000]])
device = np.r_[np.zeros(3000), np.ones(2000)].astype("float32")
kind_all = np.r_[kind_old, np.full(2000, -1)].astype("int32")  # the new device has no labels in training
energy_all = np.r_[(energy_old - energy_mu) / energy_sd, np.full(2000, np.nan)].astype("float32")

strength = tf.Variable(0.0, trainable=False)


@tf.custom_gradient
def reverse(x):
    return tf.identity(x), lambda dy: -strength * dy


class GradientReversal(layers.Layer):
    def call(self, x):
        return reverse(x)


inp = keras.Input((D,))
h = layers.Dense(64, activation="relu")(inp)
h = layers.Dense(32, activation="relu")(h)
kind_out = layers.Dense(ACTIVITIES, name="kind")(h)
energy_out = layers.Dense(1, name="energy")(h)
d = layers.Dense(32, activation="relu")(GradientReversal()(h))
device_out = layers.Dense(1, name="device")(d)
model = keras.Model(inp, [kind_out, energy_out, device_out])
optimizer = keras.optimizers.Adam(1e-3, beta_1=0.5)

train = (
    tf.data.Dataset.from_tensor_slices((x_all, kind_all, energy_all, device))
    .shuffle(len(x_all), seed=seed)
    .repeat()
    .batch(BATCH)
)
gradwatch.watch(model)


@tf.function
def train_step(x, kind, energy, dev):
    known = tf.cast(kind >= 0, tf.float32)
    count = tf.reduce_sum(known) + 1e-6
    safe_kind = tf.maximum(kind, 0)
    safe_energy = tf.where(kind >= 0, energy, tf.zeros_like(energy))
    with tf.GradientTape() as tape:
        k, e, s = model(x, training=True)
        kind_loss = tf.reduce_sum(known * tf.nn.sparse_softmax_cross_entropy_with_logits(safe_kind, k)) / count
        energy_loss = tf.reduce_sum(known * tf.square(e[:, 0] - safe_energy)) / count
        device_loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=dev, logits=s[:, 0]))
        loss = kind_loss + energy_loss + device_loss
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return kind_loss, energy_loss, device_loss


for step, batch in enumerate(train.take(STEPS)):
    progress = step / STEPS
    strength.assign(0.6 * (2 / (1 + np.exp(-10 * progress)) - 1))
    losses = train_step(*batch)
    if step % 100 == 0:
        print(step, " ".join(f"{float(v):.4f}" for v in losses))

k, e, _ = model.predict(x_new[2000:], verbose=0)
print("energy mae kcal", np.mean(np.abs(e[:, 0] * energy_sd + energy_mu - energy_new[2000:])).round(2))
print("SCORE new_device_accuracy", round(float(np.mean(k.argmax(-1) == kind_new[2000:])), 4))
