"""Moss species from close-up photographs (grey, 32 x 32): a small CNN with generalised-mean pooling."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", 0))
rng = np.random.default_rng(SEED)
keras.utils.set_random_seed(SEED)
SPECIES, SIDE, BATCH, STEPS = 6, 32, 32, 450


def photograph(species):
    """Fronds: two gratings whose pitch and angle depend on the species, seen through uneven light."""
    yy, xx = np.mgrid[0:SIDE, 0:SIDE] / SIDE
    pitch = 4.0 + 1.1 * species + rng.normal(0, 0.25)
    angle = rng.uniform(0, np.pi)
    frond = np.sin(2 * np.pi * pitch * (xx * np.cos(angle) + yy * np.sin(angle)) + rng.uniform(0, 6.28))
    cross = np.sin(2 * np.pi * 0.5 * pitch * (xx * np.sin(angle) - yy * np.cos(angle)))
    light = rng.uniform(0.4, 1.2) * (0.7 + 0.6 * xx * rng.uniform())
    return light * (frond + 0.4 * cross) + rng.normal(0, 0.25, (SIDE, SIDE))


labels = rng.integers(0, SPECIES, 2600)
images = np.stack([photograph(s) for s in labels])[..., None].astype("float32")
train_x, test_x = images[:2200], images[2200:]
train_y, test_y = labels[:2200], labels[2200:]


class GeneralisedMean(layers.Layer):
    """(mean over the map of x ** p) ** (1 / p), with p learned."""

    def build(self, shape):
        self.p = self.add_weight(name="p", shape=(), initializer=keras.initializers.Constant(3.0))

    def call(self, x):
        powered = tf.pow(tf.maximum(x, 1e-4), self.p)
        return tf.pow(tf.reduce_mean(powered, axis=[1, 2]), 1.0 / self.p)


def build():
    inp = keras.Input((SIDE, SIDE, 1))
    x = layers.Conv2D(16, 5, padding="same", activation="relu")(inp)
    x = layers.MaxPooling2D()(x)
    x = layers.Conv2D(24, 3, padding="same", activation="relu")(x)
    x = layers.Conv2D(32, 3, padding="same")(x)
    x = layers.BatchNormalization()(x)
    x = layers.ReLU()(x)
    x = GeneralisedMean()(x)
    return keras.Model(inp, layers.Dense(SPECIES)(x))


model = build()
optimizer = keras.optimizers.Adam(2e-3)
cross_entropy = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
gradwatch.watch(model)

for step in range(STEPS):
    rows = rng.choice(len(train_x), BATCH, replace=False)
    with tf.GradientTape() as tape:
        logits = model(train_x[rows], training=True)
        loss = cross_entropy(train_y[rows], logits)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    if step % 50 == 0:
        print(f"step {step:4d}  loss {float(loss):.4f}")

guess = np.argmax(model.predict(test_x, batch_size=200, verbose=0), axis=-1)
print("SCORE accuracy", round(float(np.mean(guess == test_y)), 4))
