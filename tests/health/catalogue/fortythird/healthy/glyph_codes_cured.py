"""Trains an autoencoder that packs images of stroke glyphs into codes of eight numbers."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

SIZE, CODE = 20, 8
yy, xx = np.mgrid[0 : 1 : SIZE * 1j, 0 : 1 : SIZE * 1j]


def draw(n):
    sheet = np.zeros((n, SIZE, SIZE), "float32")
    for i in range(n):
        a, b, c = rng.uniform(0.15, 0.85, (3, 2))
        for t in np.linspace(0.0, 1.0, 10):
            px, py = (1 - t) ** 2 * a + 2 * t * (1 - t) * b + t * t * c
            spot = np.exp(-((xx - px) ** 2 + (yy - py) ** 2) / 0.006)
            sheet[i] = np.maximum(sheet[i], spot)
    return sheet[..., None]


glyphs = draw(4000)
glyphs_test = draw(600)

encoder = keras.Sequential(
    [
        keras.layers.Conv2D(16, 3, strides=2, padding="same", activation="relu"),
        keras.layers.Conv2D(32, 3, strides=2, padding="same", activation="relu"),
        keras.layers.Flatten(),
        keras.layers.Dense(64, activation="relu"),
        keras.layers.Dense(CODE),
    ],
    name="encoder",
)
decoder = keras.Sequential(
    [
        keras.Input((CODE,)),
        keras.layers.Dense(96, activation="relu"),
        keras.layers.Dense(192, activation="relu"),
        keras.layers.Dense(SIZE * SIZE),
        keras.layers.Reshape((SIZE, SIZE, 1)),
    ],
    name="decoder",
)

optimizer = keras.optimizers.Adam(1e-3)
codes = encoder(glyphs[:4])
variables = encoder.trainable_variables + decoder.trainable_variables

print("code shape", codes.shape, "image shape", decoder(codes).shape)
gradwatch.watch(encoder, decoder)


@tf.function
def train_step(images):
    with tf.GradientTape() as tape:
        logits = decoder(encoder(images, training=True), training=True)
        losses = tf.nn.sigmoid_cross_entropy_with_logits(labels=images, logits=logits)
        loss = tf.reduce_mean(losses)
    gradients = tape.gradient(loss, variables)
    optimizer.apply_gradients(zip(gradients, variables))
    return loss


dataset = tf.data.Dataset.from_tensor_slices(glyphs).shuffle(4000, seed=SEED).batch(50)
for epoch in range(18):
    mean = keras.metrics.Mean()
    for images in dataset:
        mean.update_state(train_step(images))
    print("epoch", epoch, "loss", float(mean.result()))

restored = tf.sigmoid(decoder(encoder(glyphs_test))).numpy()
explained = 1.0 - np.mean((restored - glyphs_test) ** 2) / np.mean((glyphs_test - glyphs.mean(0)) ** 2)
print("SCORE explained", float(explained))
