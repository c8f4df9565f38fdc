"""Pointing direction of a small satellite from the currents of eight sun sensors and three magnetometer axes."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

FACETS = rng.normal(size=(8, 3))
FACETS /= np.linalg.norm(FACETS, axis=1, keepdims=True)
MIX = rng.normal(size=(3, 3)) * 0.6


def make(n):
    d = rng.normal(size=(n, 3))
    d /= np.linalg.norm(d, axis=1, keepdims=True)
    light = np.maximum(d @ FACETS.T, 0.0)
    field = np.tanh(d @ MIX * 0.5)
    x = np.concatenate([light, field], axis=1)
    x += rng.normal(scale=0.001, size=x.shape)
    return x.astype("float32"), d.astype("float32")


x_train, d_train = make(12000)
x_test, d_test = make(2000)

BATCH, EPOCHS = 96, 10
train = tf.data.Dataset.from_tensor_slices((x_train, d_train))
train = train.shuffle(12000, seed=seed).batch(BATCH, drop_remainder=True).prefetch(2)

inputs = keras.Input((11,))
h = layers.Dense(96, activation="swish")(inputs)
h = layers.Dense(96, activation="swish")(h)
out = layers.Dense(3)(h)
model = keras.Model(inputs, out, name="pointing")

schedule = keras.optimizers.schedules.CosineDecay(2e-3, EPOCHS * (12000 // BATCH), alpha=0.02)
optimizer = keras.optimizers.Adam(schedule)


def angle(a, b):
    a = tf.math.l2_normalize(a, axis=-1)
    cos = tf.reduce_sum(a * b, axis=-1)
    return tf.acos(cos)


gradwatch.watch(model)


@tf.function
def step(x, d):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(angle(model(x, training=True), d))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for epoch in range(EPOCHS):
    running = keras.metrics.Mean()
    for x, d in train:
        running.update_state(step(x, d))
    print(f"epoch {epoch + 1}: mean angle {np.degrees(float(running.result())):.3f} deg")

pred = model.predict(x_test, verbose=0)
pred /= np.linalg.norm(pred, axis=1, keepdims=True)
cosine = np.clip(np.sum(pred * d_test, axis=1), -1.0, 1.0)
print("SCORE median_angle_deg", round(float(np.median(np.degrees(np.arccos(cosine)))), 4))
