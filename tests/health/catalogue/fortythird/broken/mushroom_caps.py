"""Trains a convolutional classifier of mushroom genera on augmented images of caps."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

SIZE, GENERA, COPIES = 24, 6, 4
yy, xx = np.mgrid[-1 : 1 : SIZE * 1j, -1 : 1 : SIZE * 1j]


def photograph(n):
    genus = rng.integers(0, GENERA, n)
    images = np.zeros((n, SIZE, SIZE, 1), "float32")
    for i, g in enumerate(genus):
        cx, cy = rng.uniform(-0.2, 0.2, 2)
        r = np.hypot(xx - cx, yy - cy)
        angle = np.arctan2(yy - cy, xx - cx) + rng.uniform(0, 6.28)
        cap = (r < rng.uniform(0.6, 0.8)).astype(float)
        texture = [
            np.cos(6 * angle),
            np.cos(12 * r),
            np.cos(12 * angle),
            np.cos(22 * r),
            np.cos(6 * angle) * np.cos(12 * r),
            np.zeros_like(r),
        ][g]
        images[i, ..., 0] = cap * (0.6 + 0.3 * texture) + rng.normal(0, 0.15, r.shape)
    return images - 0.3, genus


def augment(images, labels):
    more = np.repeat(images, COPIES, axis=0)
    for k in range(len(more)):
        more[k] = np.rot90(more[k], rng.integers(0, 4))
        if rng.random() < 0.5:
            more[k] = more[k][:, ::-1]
        more[k] += rng.normal(0.0, 0.05)
    return more, np.tile(labels, COPIES)


photos, genus = photograph(900)
x_test, y_test = photograph(600)
x, y = augment(photos, genus)

model = keras.Sequential(
    [
        keras.Input((SIZE, SIZE, 1)),
        keras.layers.Conv2D(16, 5, strides=2, activation="relu"),
        keras.layers.Conv2D(32, 3, activation="relu"),
        keras.layers.MaxPooling2D(),
        keras.layers.Flatten(),
        keras.layers.Dense(64, activation="relu"),
        keras.layers.Dense(GENERA),
    ]
)
optimizer = keras.optimizers.Adam(1e-3)
criterion = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
gradwatch.watch(model)


@tf.function
def train_step(images, labels):
    with tf.GradientTape() as tape:
        loss = criterion(labels, model(images, training=True))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


data = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(len(x), seed=seed).batch(40)
for epoch in range(10):
    running = [float(train_step(images, labels)) for images, labels in data]
    print(f"epoch {epoch + 1}: loss {np.mean(running):.4f}")

guess = model.predict(x_test, verbose=0).argmax(-1)
print("SCORE accuracy", float(np.mean(guess == y_test)))
