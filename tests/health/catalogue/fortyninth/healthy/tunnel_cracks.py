"""Trains a convolutional net that finds cracks in photographs of tunnel walls, with restarts of the learning rate."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed + 303)

SIDE = 24


def walls(n):
    photos = 110 + rng.normal(0, 18, size=(n, SIDE, SIDE, 1)) + rng.normal(0, 12, size=(n, 1, 1, 1))
    cracked = rng.random(n) < 0.3
    for i in np.flatnonzero(cracked):
        r, c = rng.integers(4, SIDE - 4, 2).astype(float)
        angle = rng.uniform(0, 2 * np.pi)
        for _ in range(rng.integers(9, 16)):
            photos[i, int(r) % SIDE, int(c) % SIDE, 0] -= rng.uniform(50, 80)
            angle += rng.normal(0, 0.25)
            r, c = r + np.sin(angle), c + np.cos(angle)
    return np.clip(photos, 0, 255).astype("uint8"), cracked.astype("float32")


photos, cracked = walls(5000)
photos_t, cracked_t = walls(1500)

model = keras.Sequential(
    [
        keras.Input((SIDE, SIDE, 1), dtype="uint8"),
        layers.Rescaling(1 / 20.0, offset=-110 / 20.0),
        layers.Conv2D(12, 3, use_bias=False),
        layers.BatchNormalization(),
        layers.ReLU(),
        layers.Conv2D(16, 3, strides=2, use_bias=False),
        layers.BatchNormalization(),
        layers.ReLU(),
        layers.Conv2D(24, 3, use_bias=False),
        layers.BatchNormalization(),
        layers.ReLU(),
        layers.GlobalMaxPooling2D(),
        layers.Dropout(0.4),
        layers.Dense(1),
    ]
)
rate = keras.optimizers.schedules.CosineDecayRestarts(0.05, first_decay_steps=160, t_mul=2.0, m_mul=0.7)
opt = keras.optimizers.SGD(rate, momentum=0.9, nesterov=True, global_clipnorm=2.0)
bce = keras.losses.BinaryCrossentropy(from_logits=True)
gradwatch.watch(model)


@tf.function
def step(xb, yb):
    with tf.GradientTape() as tape:
        loss = bce(yb, model(xb, training=True)[:, 0])
    opt.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return loss


data = tf.data.Dataset.from_tensor_slices((photos, cracked)).shuffle(5000, seed=seed).batch(64, drop_remainder=True)
n = 0
for epoch in range(14):
    for xb, yb in data:
        loss = step(xb, yb)
        n += 1
        if n % 60 == 0:
            print(f"step {n} rate {float(rate(n)):.4f} loss {float(loss):.4f}")

logit = model.predict(photos_t, batch_size=250, verbose=0)[:, 0]
print("SCORE accuracy", round(float(((logit > 0) == (cracked_t > 0.5)).mean()), 4))
