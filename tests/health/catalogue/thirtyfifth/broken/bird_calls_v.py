"""Recognizes five bird species from small spectrograms of their calls, streamed by tf.data."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

MELS, FRAMES, SPECIES, PER_SPECIES = 24, 32, 5, 400
mel = np.arange(MELS)[:, None]
frame = np.arange(FRAMES)[None, :] / FRAMES


def make_call(species):
    low, start = rng.uniform(6, 10), rng.uniform(0, 0.3)
    u = np.clip((frame - start) / 0.6, 0, 1)
    pitch = [
        low + 8 * u,
        low + 8 * (1 - u),
        low + 4 + 3 * np.sin(2 * np.pi * 3 * u),
        low + 8 * np.abs(2 * u - 1),
        low + 8 - 8 * np.abs(2 * u - 1),
    ][species]
    active = (u > 0) & (u < 1)
    return np.exp(-((mel - pitch) ** 2) / 2.5) * active * rng.uniform(0.6, 1.2) + 0.25 * rng.normal(size=(MELS, FRAMES))


def load_folders(per_species):
    clips = [make_call(s) for s in range(SPECIES) for _ in range(per_species)]
    labels = np.repeat(np.arange(SPECIES), per_species)
    return np.array(clips, "float32")[..., None], labels


x_train, y_train = load_folders(PER_SPECIES)
x_test, y_test = load_folders(120)

train_ds = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(64).batch(32).prefetch(2)

model = keras.Sequential(
    [
        layers.Input((MELS, FRAMES, 1)),
        layers.Conv2D(12, 3, padding="same", activation="relu"),
        layers.MaxPooling2D(),
        layers.Conv2D(24, 3, padding="same", activation="relu"),
        layers.MaxPooling2D(),
        layers.Flatten(),
        layers.Dense(48, activation="relu"),
        layers.Dense(SPECIES),
    ]
)
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
optimizer = keras.optimizers.Adam(1e-3)
gradwatch.watch(model)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = loss_fn(y, model(x, training=True))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for epoch in range(8):
    losses = [float(train_step(x, y)) for x, y in train_ds]
    print("epoch", epoch, "loss", np.mean(losses))

pred = model.predict(x_test, verbose=0).argmax(-1)
print("SCORE accuracy", float((pred == y_test).mean()))
