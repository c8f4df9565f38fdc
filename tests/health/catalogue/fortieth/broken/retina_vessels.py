"""Segments thin vessels in small fundus crops with a little encoder-decoder trained on flipped copies of the crops."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

SIZE = 32


def crop():
    mask = np.zeros((SIZE, SIZE), "float32")
    for _ in range(rng.integers(1, 4)):
        r, c = rng.uniform(0, SIZE, 2)
        ang = rng.uniform(0, 2 * np.pi)
        for _ in range(40):
            ang += rng.normal(0, 0.18)
            r, c = r + np.sin(ang), c + np.cos(ang)
            i, j = round(float(r)), round(float(c))
            mask[max(i, 0) : max(i + 2, 0), max(j, 0) : max(j + 2, 0)] = 1.0
    light = rng.uniform(0.45, 0.65) + 0.15 * np.linspace(-1, 1, SIZE)[None, :] * rng.uniform(-1, 1)
    img = light - rng.uniform(0.2, 0.3) * mask + rng.normal(0, 0.07, mask.shape)
    return img.astype("float32")[..., None], mask[..., None]


imgs, masks = map(np.stack, zip(*[crop() for _ in range(1100)]))


def flips(img, mask):
    img = tf.image.random_flip_up_down(tf.image.random_flip_left_right(img))
    mask = tf.image.random_flip_up_down(tf.image.random_flip_left_right(mask))
    return img, mask


data = tf.data.Dataset.from_tensor_slices((imgs[:900], masks[:900]))
data = data.shuffle(900, seed=seed).repeat().map(flips).batch(24)

inp = keras.Input((SIZE, SIZE, 1))
d1 = layers.Conv2D(12, 3, padding="same", activation="relu")(inp)
d2 = layers.Conv2D(24, 3, strides=2, padding="same", activation="relu")(d1)
d3 = layers.Conv2D(24, 3, padding="same", activation="relu")(d2)
up = layers.Concatenate()([layers.UpSampling2D()(d3), d1])
up = layers.Conv2D(12, 3, padding="same", activation="relu")(up)
model = keras.Model(inp, layers.Conv2D(1, 1, activation="sigmoid")(up))
optimizer = keras.optimizers.Adam(3e-3)
gradwatch.watch(model)


def dice(y, p):
    inter = tf.reduce_sum(y * p, axis=(1, 2, 3))
    return (2 * inter + 1) / (tf.reduce_sum(y, axis=(1, 2, 3)) + tf.reduce_sum(p, axis=(1, 2, 3)) + 1)


@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        p = model(x, training=True)
        loss = tf.reduce_mean(keras.losses.binary_crossentropy(y, p)) + 1 - tf.reduce_mean(dice(y, p))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for x, y in data.take(450):
    step(x, y)

pred = tf.cast(model.predict(imgs[900:], verbose=0) > 0.5, tf.float32)
print("SCORE dice", round(float(tf.reduce_mean(dice(masks[900:], pred))), 4))
