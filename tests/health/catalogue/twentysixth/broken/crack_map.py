"""Segment thin cracks (a few percent of the pixels) in concrete tiles; each update sums the gradients of four micro-batches."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)
SIZE, MICRO, ACCUM, UPDATES = 32, 8, 4, 150


def make_tiles(n):
    tiles = rng.normal(0.6, 0.08, size=(n, SIZE, SIZE, 1))
    masks = np.zeros((n, SIZE, SIZE, 1))
    for i in range(n):
        row = rng.uniform(4, SIZE - 4)
        slope = rng.normal(0, 0.3)
        for col in range(int(rng.integers(0, 8)), SIZE - int(rng.integers(0, 8))):
            row = row + slope + rng.normal(0, 0.5)
            if 0 <= row < SIZE:
                masks[i, int(row), col, 0] = 1.0
        if rng.random() < 0.5:
            masks[i] = masks[i].transpose(1, 0, 2)
        for _ in range(12):
            r, c = rng.integers(0, SIZE, size=2)
            tiles[i, r, c, 0] -= 0.25
        tiles[i] -= 0.3 * masks[i]
    return tiles.astype("float32"), masks.astype("float32")


x_train, y_train = make_tiles(1200)
x_test, y_test = make_tiles(200)
positive = y_train.mean()
print("crack pixels: %.3f" % positive)

inputs = keras.Input((SIZE, SIZE, 1))
c1 = keras.layers.Conv2D(12, 3, padding="same", activation="relu")(inputs)
p1 = keras.layers.MaxPooling2D()(c1)
c2 = keras.layers.Conv2D(20, 3, padding="same", activation="relu")(p1)
c2 = keras.layers.Conv2D(20, 3, padding="same", activation="relu")(c2)
up = keras.layers.UpSampling2D()(c2)
c3 = keras.layers.Conv2D(12, 3, padding="same", activation="relu")(keras.layers.Concatenate()([c1, up]))
model = keras.Model(inputs, keras.layers.Conv2D(1, 1)(c3))
optimizer = keras.optimizers.Adam(4e-3)

sums = [tf.Variable(tf.zeros(v.shape), trainable=False) for v in model.trainable_variables]


@tf.function
def accumulate(x, y):
    with tf.GradientTape() as tape:
        logits = model(x, training=True)
        pixel = tf.nn.weighted_cross_entropy_with_logits(y, logits, pos_weight=3.0)
        loss = tf.reduce_mean(pixel)
    grads = tape.gradient(loss, model.trainable_variables)
    for total, g in zip(sums, grads):
        total.assign_add(g / ACCUM)
    return loss


@tf.function
def apply_update():
    grads, norm = tf.clip_by_global_norm([total.read_value() for total in sums], 1.0)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return norm


gradwatch.watch(model)
micro = iter(tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(1200, seed=seed).repeat().batch(MICRO))
for update in range(UPDATES):
    loss = np.mean([float(accumulate(*next(micro))) for _ in range(ACCUM)])
    norm = apply_update()
    if update % 20 == 0 or update == UPDATES - 1:
        print("update %3d  loss %.4f  gradient norm %.3f" % (update, loss, float(norm)))

found = model.predict(x_test, batch_size=100, verbose=0) > 0
dice = 2 * (found * y_test).sum() / (found.sum() + y_test.sum())
print("SCORE dice %.4f" % dice)
