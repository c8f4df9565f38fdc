"""Classifies underwater recordings of passing ships, collecting the gradient of four small batches before every update."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

T, KINDS = 160, 5
n = 2600
kind = rng.integers(0, KINDS, n)
t = np.arange(T) / T


def recording(k):
    base = [9, 13, 18, 24, 31][k] * rng.uniform(0.93, 1.07)
    s = np.sin(2 * np.pi * (base * t + rng.uniform()))
    s += [0.2, 0.8, 0.3, 0.9, 0.5][k] * np.sin(4 * np.pi * (base * t + rng.uniform()))
    swell = 1 + 0.5 * np.sin(2 * np.pi * (rng.uniform(1, 3) * t + rng.uniform()))
    return s * swell * rng.uniform(0.6, 1.4) + rng.normal(0, 0.9, T)


clips = np.stack([recording(k) for k in kind]).astype("float32")[..., None]
cut = 2100

model = keras.Sequential(
    [
        keras.Input((T, 1)),
        layers.Conv1D(16, 17, strides=2, activation="relu"),
        layers.Conv1D(32, 7, strides=2, activation="relu"),
        layers.GlobalAveragePooling1D(),
        layers.Dense(32, activation="relu"),
        layers.Dense(KINDS),
    ]
)
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
optimizer = keras.optimizers.Adam(3e-3)
PARTS = 4
sums = [tf.Variable(tf.zeros(v.shape), trainable=False) for v in model.trainable_variables]
gradwatch.watch(model)


@tf.function
def collect(x, y):
    with tf.GradientTape() as tape:
        loss = loss_fn(y, model(x, training=True))
    for s, g in zip(sums, tape.gradient(loss, model.trainable_variables)):
        s.assign_add(g / PARTS)
    return loss


@tf.function
def update():
    optimizer.apply_gradients(zip([s.read_value() for s in sums], model.trainable_variables))


data = tf.data.Dataset.from_tensor_slices((clips[:cut], kind[:cut]))
for i, (x, y) in enumerate(data.shuffle(cut, seed=seed).repeat().batch(16).take(1480)):
    collect(x, y)
    if (i + 1) % PARTS == 0:
        update()

guess = model.predict(clips[cut:], verbose=0).argmax(-1)
print("SCORE accuracy", round(float((guess == kind[cut:]).mean()), 4))
