"""Regress the 3-D gaze direction from two eye feature vectors and a head pose."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

mix_left = rng.normal(size=(6, 20)) / 2
mix_right = rng.normal(size=(6, 20)) / 2


def unit(v):
    return v / np.linalg.norm(v, axis=-1, keepdims=True)


def make_gazes(n):
    gaze = unit(rng.normal(size=(n, 3)) * [0.5, 0.4, 0.2] + [0, 0, 1.0])
    head = 0.3 * rng.normal(size=(n, 3))
    relative = np.concatenate([gaze - 0.4 * head, head * gaze], axis=1)
    left = np.tanh(relative @ mix_left) + 0.01 * rng.normal(size=(n, 20))
    right = np.tanh(relative @ mix_right) + 0.01 * rng.normal(size=(n, 20))
    return [a.astype("float32") for a in (left, right, head, gaze)]


train = make_gazes(20000)
test = make_gazes(4000)

left_in = keras.Input((20,), name="left_eye")
right_in = keras.Input((20,), name="right_eye")
head_in = keras.Input((3,), name="head")
eye_net = keras.Sequential([keras.layers.Dense(48, activation="gelu"), keras.layers.Dense(32, activation="gelu")])
h = keras.layers.Concatenate()([eye_net(left_in), eye_net(right_in), head_in])
h = keras.layers.Dense(64, activation="gelu")(h)
h = keras.layers.Dense(32, activation="gelu")(h)
raw = keras.layers.Dense(3)(h)
direction = keras.layers.UnitNormalization(axis=-1)(raw)
model = keras.Model([left_in, right_in, head_in], direction)

EPOCHS, BATCH = 12, 200
steps = EPOCHS * (len(train[0]) // BATCH)
optimizer = keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(2e-3, steps, alpha=0.02))
data = tf.data.Dataset.from_tensor_slices(tuple(train)).shuffle(20000, seed=seed).batch(BATCH, drop_remainder=True)


def angle(a, b):
    cosine = tf.reduce_sum(a * b, axis=-1)
    return tf.acos(cosine)


@tf.function
def train_step(left, right, head, gaze):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(angle(model([left, right, head], training=True), gaze))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


gradwatch.watch(model)
for epoch in range(EPOCHS):
    losses = [float(train_step(*batch)) for batch in data]
    print(f"epoch {epoch} mean angle {np.degrees(np.mean(losses)):.3f} deg")

pred = model.predict(test[:3], batch_size=500, verbose=0)
cosine = np.clip((pred * test[3]).sum(1), -1, 1)
print("SCORE angular_error_deg", round(float(np.degrees(np.arccos(cosine)).mean()), 3))
