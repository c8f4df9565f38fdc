"""Finds the cross-shaped marker on a plate photo (position in pixels) and says whether there is one at all."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

SIDE, BATCH, STEPS = 24, 32, 500


def plates(count):
    images = rng.normal(0, 0.15, (count, SIDE, SIDE, 1))
    present = rng.random(count) < 0.8
    position = rng.integers(3, SIDE - 3, (count, 2))
    for image, there, (r, c) in zip(images, present, position):
        for _ in range(3):
            a, b = rng.integers(2, SIDE - 4, 2)
            image[a : a + 3, b : b + 3] += 0.9
        if there:
            image[r - 2 : r + 3, c] += 1.0
            image[r, c - 2 : c + 3] += 1.0
    return images.astype("float32"), position.astype("float32"), present.astype("float32")


inputs = keras.Input((SIDE, SIDE, 1))
h = keras.layers.Conv2D(16, 5, padding="same", activation="relu")(inputs)
h = keras.layers.Conv2D(16, 3, padding="same", activation="relu")(h)
heat = keras.layers.Conv2D(1, 3, padding="same", name="heat")(h)
p = keras.layers.Conv2D(8, 5, padding="same", activation="relu")(inputs)
p = keras.layers.Dense(16, activation="relu")(keras.layers.GlobalMaxPooling2D()(p))
presence = keras.layers.Dense(1, name="presence")(p)
model = keras.Model(inputs, [heat, presence])
offset = keras.layers.Dense(2, kernel_initializer="identity", name="calibration")
offset.build((None, 2))
optimizer = keras.optimizers.Adam(2e-3)
variables = model.trainable_variables + offset.trainable_variables


def locate(heat):
    rows = tf.reduce_max(heat[..., 0], axis=2)
    columns = tf.reduce_max(heat[..., 0], axis=1)
    row = tf.cast(tf.argmax(rows, axis=1), tf.float32)
    column = tf.cast(tf.argmax(columns, axis=1), tf.float32)
    return offset(tf.stack([row, column], axis=-1))


@tf.function
def train_step(image, position, present):
    with tf.GradientTape() as tape:
        heat, presence = model(image, training=True)
        distance = tf.reduce_sum(tf.abs(locate(heat) - position), axis=-1)
        place_loss = tf.reduce_sum(present * distance) / tf.reduce_sum(present)
        there_loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(present, presence[:, 0]))
        loss = 0.2 * place_loss + there_loss
    gradients = tape.gradient(loss, variables)
    optimizer.apply_gradients(zip(gradients, variables))
    return place_loss, there_loss


images, positions, present = plates(4000)
gradwatch.watch(model)
for step in range(STEPS):
    pick = rng.integers(0, len(images), BATCH)
    place_loss, there_loss = train_step(images[pick], positions[pick], present[pick])
    if step % 100 == 0:
        print(f"step {step} place {float(place_loss):.3f} presence {float(there_loss):.3f}")

images, positions, present = plates(600)
heat, _ = model.predict(images, verbose=0)
error = np.abs(locate(heat).numpy() - positions).max(axis=1)[present > 0]
print("SCORE found_within_2px", round(float(np.mean(error <= 2.0)), 4))
