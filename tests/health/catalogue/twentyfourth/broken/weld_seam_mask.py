"""Segment the weld seam in small thermal images."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

SIZE = 24
BATCH = 32
EPOCHS = 8
DECAY_EPOCHS = 6


def make_images(n):
    rows, cols = np.mgrid[0:SIZE, 0:SIZE]
    angle = rng.uniform(-0.5, 0.5, (n, 1, 1))
    offset = rng.uniform(7, 17, (n, 1, 1))
    width = rng.uniform(1.2, 3.0, (n, 1, 1))
    dist = np.abs(rows[None] - offset - angle * (cols[None] - SIZE / 2))
    mask = dist < width
    image = 0.8 * np.exp(-((dist / width) ** 2)) + rng.normal(0, 0.25, mask.shape)
    return image[..., None].astype("float32"), mask[..., None].astype("float32")


class PolyDecay(keras.optimizers.schedules.LearningRateSchedule):
    def __init__(self, initial, total_steps, power=0.9):
        self.initial = initial
        self.total_steps = total_steps
        self.power = power

    def __call__(self, step):
        progress = tf.cast(step, tf.float32) / self.total_steps
        return self.initial * tf.pow(1.0 - progress, self.power)

    def get_config(self):
        return {"initial": self.initial, "total_steps": self.total_steps, "power": self.power}


x_train, m_train = make_images(1600)
x_test, m_test = make_images(300)

inputs = keras.Input((SIZE, SIZE, 1))
a = layers.Conv2D(8, 3, padding="same", activation="relu")(inputs)
b = layers.MaxPooling2D()(a)
b = layers.Conv2D(16, 3, padding="same", activation="relu")(b)
b = layers.UpSampling2D()(b)
c = layers.Concatenate()([a, b])
c = layers.Conv2D(8, 3, padding="same", activation="relu")(c)
outputs = layers.Conv2D(1, 1, activation="sigmoid")(c)
model = keras.Model(inputs, outputs)

n_val = 160
train_steps = (len(x_train) - n_val) // BATCH * DECAY_EPOCHS
schedule = PolyDecay(0.02, train_steps)
model.compile(
    optimizer=keras.optimizers.SGD(schedule, momentum=0.9, nesterov=True),
    loss="binary_crossentropy",
    metrics=["accuracy"],
)
gradwatch.watch(model)
model.fit(
    x_train[n_val:],
    m_train[n_val:],
    batch_size=BATCH,
    epochs=EPOCHS,
    validation_data=(x_train[:n_val], m_train[:n_val]),
    verbose=2,
)

pred = model.predict(x_test, verbose=0)
inter = np.sum((pred > 0.5) & (m_test > 0.5))
union = np.sum((pred > 0.5) | (m_test > 0.5))
print("SCORE iou", float(inter / union))
