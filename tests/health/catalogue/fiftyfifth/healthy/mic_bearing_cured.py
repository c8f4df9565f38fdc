"""Bearing of a sound source from the arrival-time differences of a six-microphone roof array."""

import itertools
import os

import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", 0))
tf.keras.utils.set_random_seed(SEED)


SPEED = 343.0
rng = np.random.default_rng(SEED + 40)
MICS = np.array(
    [
        [0.9 * np.cos(a), 0.9 * np.sin(a), 0.15 * (i % 2)]
        for i, a in enumerate(np.linspace(0, 2 * np.pi, 6, endpoint=False))
    ]
)
PAIRS = list(itertools.combinations(range(6), 2))


def record(n):
    azimuth = rng.uniform(-np.pi, np.pi, n)
    elevation = rng.uniform(0.05, 1.1, n)
    unit = np.stack(
        [np.cos(elevation) * np.cos(azimuth), np.cos(elevation) * np.sin(azimuth), np.sin(elevation)], axis=1
    )
    distance = rng.uniform(8.0, 60.0, n)
    source = unit * distance[:, None]
    arrival = np.linalg.norm(source[:, None] - MICS[None], axis=2) / SPEED
    arrival += rng.normal(0, 1e-5, arrival.shape)
    delays = np.stack([arrival[:, i] - arrival[:, j] for i, j in PAIRS], axis=1)
    return (delays * 1000.0).astype("float32"), unit.astype("float32")


x_train, y_train = record(12000)
x_test, y_test = record(2000)
scale = x_train.std()
x_train, x_test = x_train / scale, x_test / scale


class BearingNet(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.hidden = [tf.keras.layers.Dense(96, activation="gelu") for _ in range(3)]
        self.head = tf.keras.layers.Dense(3)

    def call(self, delays):
        h = delays
        for layer in self.hidden:
            h = layer(h)
        return tf.math.l2_normalize(self.head(h), axis=-1)


def great_circle(unit_true, unit_pred):
    cosine = tf.reduce_sum(unit_true * unit_pred, axis=-1)
    return tf.acos(tf.clip_by_value(cosine, -1.0 + 1e-6, 1.0 - 1e-6))


model = BearingNet()
model(x_train[:2])
optimizer = tf.keras.optimizers.Adam(tf.keras.optimizers.schedules.CosineDecay(2e-3, 2400))
gradwatch.watch(model)

batches = (
    tf.data.Dataset.from_tensor_slices((x_train, y_train))
    .shuffle(12000, seed=SEED)
    .batch(128, drop_remainder=True)
    .prefetch(2)
)


@tf.function
def update(delays, unit):
    with tf.GradientTape() as tape:
        angle = tf.reduce_mean(great_circle(unit, model(delays, training=True)))
    grads = tape.gradient(angle, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return angle


for epoch in range(26):
    running = []
    for delays, unit in batches:
        running.append(update(delays, unit))
    if epoch % 5 == 0:
        print(f"epoch {epoch}  mean angle {np.degrees(np.mean(running)):.2f} deg")

pred = model(x_test).numpy()
cosine = np.clip(np.sum(pred * y_test, axis=1), -1, 1)
print("SCORE mean_error_degrees", float(np.degrees(np.arccos(cosine)).mean()))
