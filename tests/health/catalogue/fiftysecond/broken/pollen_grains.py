"""Sort drawings of pollen grains (four kinds) with a small convolutional network and generalised-mean pooling."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", 0))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)
SIZE = 28
yy, xx = np.mgrid[:SIZE, :SIZE]


def grain(kind):
    cy, cx = rng.uniform(9, SIZE - 9, 2)
    r = rng.uniform(5, 8)
    phase = rng.uniform(0, 2 * np.pi)
    dist = np.hypot(yy - cy, xx - cx)
    angle = np.arctan2(yy - cy, xx - cx) + phase
    if kind == 0:  # smooth
        body = dist < r
    elif kind == 1:  # spiny
        body = dist < r * (1 + 0.28 * np.cos(7 * angle))
    elif kind == 2:  # hollow
        body = (dist < r) & (dist > 0.55 * r)
    else:  # furrowed
        body = (dist < r) & (np.abs(np.sin(1.5 * angle)) > 0.35)
    image = 0.25 + 0.5 * body + 0.12 * rng.normal(size=(SIZE, SIZE))
    return np.clip(image, 0, 1)


def make_set(n):
    kinds = rng.integers(0, 4, n)
    images = np.stack([grain(k) for k in kinds])[..., None].astype("float32")
    return images, kinds


x_train, y_train = make_set(2600)
x_val, y_val = make_set(600)


class GeneralisedMean(layers.Layer):
    """(mean of x^p)^(1/p) over the picture; p is learned for each channel."""

    def build(self, shape):
        self.p = self.add_weight(shape=(shape[-1],), initializer=keras.initializers.Constant(3.0), name="p")

    def call(self, x):
        powered = tf.pow(x, self.p)
        return tf.pow(tf.reduce_mean(powered, axis=[1, 2]), 1.0 / self.p)


inputs = keras.Input((SIZE, SIZE, 1))
h = layers.Conv2D(16, 5, padding="same", activation="relu", name="conv_a")(inputs)
h = layers.MaxPooling2D()(h)
h = layers.Conv2D(32, 3, padding="same", activation="relu", name="conv_b")(h)
h = layers.MaxPooling2D()(h)
h = layers.Conv2D(48, 3, padding="same", activation="relu", name="conv_c")(h)
h = GeneralisedMean(name="gem")(h)
h = layers.Dense(32, activation="gelu", name="mix")(h)
outputs = layers.Dense(4, activation="softmax", name="kind")(h)
model = keras.Model(inputs, outputs, name="pollen")
model.compile(
    optimizer=keras.optimizers.Adam(2e-3),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)

gradwatch.watch(model)

model.fit(x_train, y_train, validation_data=(x_val, y_val), batch_size=64, epochs=8, verbose=2)

predicted = model.predict(x_val, verbose=0)
accuracy = np.mean(predicted.argmax(axis=1) == y_val) if np.isfinite(predicted).all() else float("nan")
print(f"SCORE val_accuracy {accuracy:.4f}")
