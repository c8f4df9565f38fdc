"""Recognise daily activities from windows of a wrist-worn accelerometer."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

ACTIVITIES = ["sitting", "walking", "running", "stairs", "typing", "brushing"]
FREQ = [0.0, 1.8, 2.7, 1.5, 5.0, 4.0]
AMP = [0.0, 0.5, 1.2, 0.55, 0.25, 0.6]
RATE, STEPS = 25, 64


def record(activity, n):
    """n windows of one recording session, gravity included."""
    t = np.arange(STEPS) / RATE
    out = np.empty((n, STEPS, 3), "float32")
    for i in range(n):
        f = FREQ[activity] * rng.uniform(0.85, 1.15)
        a = AMP[activity] * rng.uniform(0.6, 1.4)
        direction = rng.normal(size=3)
        direction /= np.linalg.norm(direction)
        wave = np.sin(2 * np.pi * f * t + rng.uniform(0, 6.28))
        if activity == 3:
            wave += 0.6 * np.sin(4 * np.pi * f * t + rng.uniform(0, 6.28))
        tilt = np.array([0.0, 0.0, 1.0]) + 0.35 * rng.normal(size=3)
        out[i] = a * wave[:, None] * direction + tilt / np.linalg.norm(tilt)
        out[i] += 0.15 * rng.normal(size=(STEPS, 3))
    return out


def sessions(per_activity):
    x = np.concatenate([record(k, per_activity) for k in range(len(ACTIVITIES))])
    y = np.repeat(np.arange(len(ACTIVITIES)), per_activity)
    return x, y


x_train, y_train = sessions(900)
x_test, y_test = sessions(150)

train = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(128).batch(32).prefetch(2)

inputs = keras.Input((STEPS, 3))
h = layers.Conv1D(24, 7, activation="relu")(inputs)
h = layers.MaxPooling1D(2)(h)
h = layers.Conv1D(32, 5, activation="relu")(h)
h = layers.GlobalMaxPooling1D()(h)
h = layers.Dense(32, activation="relu")(h)
logits = layers.Dense(len(ACTIVITIES))(h)
model = keras.Model(inputs, logits)

optimizer = keras.optimizers.Adam(1e-3)
cross_entropy = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
gradwatch.watch(model)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = cross_entropy(y, model(x, training=True))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for epoch in range(7):
    losses = [train_step(x, y).numpy() for x, y in train]
    print(f"epoch {epoch}: loss {np.mean(losses):.4f}")

pred = model.predict(x_test, verbose=0).argmax(-1)
print("SCORE accuracy", round(float((pred == y_test).mean()), 4))
