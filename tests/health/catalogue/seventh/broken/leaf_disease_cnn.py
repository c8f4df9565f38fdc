"""Small CNN that tells four kinds of leaf spots apart (synthetic 24x24 patches)."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

EPOCHS = 10
BATCH = 32
N_TRAIN = 1000
N_VAL = 200


def make_patches(n):
    yy, xx = np.mgrid[0:24, 0:24] / 24.0
    images = np.zeros((n, 24, 24, 3), "float32")
    labels = rng.integers(0, 4, n)
    for i, lab in enumerate(labels):
        base = np.stack([0.2 + 0 * xx, 0.5 + 0.1 * yy, 0.2 + 0 * xx], -1)
        for _ in range(3 + lab):
            cx, cy = rng.uniform(0.15, 0.85, 2)
            r = 0.05 + 0.025 * lab
            spot = np.exp(-((xx - cx) ** 2 + (yy - cy) ** 2) / (2 * r * r))
            tint = np.array([0.5, -0.2, 0.05 * lab])
            base = base + spot[..., None] * tint
        images[i] = base + rng.normal(0, 0.05, base.shape)
    return np.clip(images, 0, 1), labels.astype("int32")


class PolyDecay(keras.optimizers.schedules.LearningRateSchedule):
    """lr = base * (1 - step / total) ** power, as used by DeepLab."""

    def __init__(self, base, total_steps, power=0.9):
        self.base = base
        self.total_steps = float(total_steps)
        self.power = power

    def __call__(self, step):
        progress = tf.cast(step, tf.float32) / self.total_steps
        return self.base * tf.pow(1.0 - progress, self.power)

    def get_config(self):
        return {"base": self.base, "total_steps": self.total_steps, "power": self.power}


x_train, y_train = make_patches(N_TRAIN)
x_val, y_val = make_patches(N_VAL)

model = keras.Sequential(
    [
        keras.Input((24, 24, 3)),
        layers.Conv2D(16, 3, activation="relu", padding="same"),
        layers.MaxPooling2D(),
        layers.Conv2D(24, 3, activation="relu", padding="same"),
        layers.MaxPooling2D(),
        layers.Flatten(),
        layers.Dense(48, activation="relu"),
        layers.Dense(4),
    ]
)

steps_per_epoch = N_TRAIN // BATCH
schedule = PolyDecay(0.02, total_steps=steps_per_epoch * EPOCHS)
model.compile(
    optimizer=keras.optimizers.SGD(schedule, momentum=0.9),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
gradwatch.watch(model)
model.fit(x_train, y_train, validation_data=(x_val, y_val), epochs=EPOCHS, batch_size=BATCH, verbose=2)
print("final", model.evaluate(x_val, y_val, verbose=0))
