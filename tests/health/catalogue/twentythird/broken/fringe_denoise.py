"""Removes speckle from interference fringes; small pieces of a batch are accumulated before each update."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

SIDE, PIECE, PIECES, UPDATES = 24, 8, 4, 180


def fringes(count):
    yy, xx = np.mgrid[0:SIDE, 0:SIDE] / SIDE
    clean = []
    for _ in range(count):
        a, b, c = rng.uniform(-12, 12, 3)
        bend = rng.uniform(-8, 8)
        clean.append(np.cos(a * xx + b * yy + bend * xx * yy + c))
    clean = np.stack(clean)[..., None]
    noisy = clean * rng.gamma(4.0, 0.25, clean.shape) + rng.normal(0, 0.35, clean.shape)
    return noisy.astype("float32"), clean.astype("float32")


def block(x, filters):
    for _ in range(2):
        x = keras.layers.Conv2D(filters, 3, padding="same", activation="relu")(x)
    return x


inputs = keras.Input((SIDE, SIDE, 1))
top = block(inputs, 12)
deep = block(keras.layers.AveragePooling2D(2)(top), 24)
joined = keras.layers.Concatenate()([top, keras.layers.UpSampling2D(interpolation="bilinear")(deep)])
outputs = keras.layers.Conv2D(1, 3, padding="same")(block(joined, 12))
model = keras.Model(inputs, outputs)
optimizer = keras.optimizers.Adam(2e-3)
sums = [tf.Variable(tf.zeros_like(v), trainable=False) for v in model.trainable_variables]


@tf.function
def accumulate(noisy, clean):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(noisy, training=True) - clean))
    for total, gradient in zip(sums, tape.gradient(loss, model.trainable_variables)):
        total.assign_add(gradient / PIECES)
    return loss


@tf.function
def update():
    optimizer.apply_gradients(zip([s.read_value() for s in sums], model.trainable_variables))


def reset():
    for total in sums:
        total.assign(tf.zeros_like(total))


gradwatch.watch(model)
noisy, clean = fringes(2000)
reset()
for number in range(UPDATES):
    losses = []
    for _ in range(PIECES):
        pick = rng.integers(0, len(noisy), PIECE)
        losses.append(float(accumulate(noisy[pick], clean[pick])))
    update()
    if number % 50 == 0:
        print(f"update {number} loss {np.mean(losses):.4f}")

noisy, clean = fringes(300)
r2 = 1 - np.mean((model.predict(noisy, verbose=0) - clean) ** 2) / np.var(clean)
print("SCORE r2", round(float(r2), 4))
