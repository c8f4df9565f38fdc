"""Small digits with ternary weights, for a microcontroller."""

import os

import numpy as np
import tensorflow as tf
from tensorflow import keras

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)


@tf.custom_gradient
def ternary(w):
    cut = 0.7 * tf.reduce_mean(tf.abs(w), axis=0, keepdims=True)
    kept = tf.cast(tf.abs(w) > cut, w.dtype)
    size = tf.reduce_sum(tf.abs(w) * kept, axis=0, keepdims=True) / (tf.reduce_sum(kept, axis=0, keepdims=True) + 1e-6)

    def back(g):
        return g

    return tf.sign(w) * kept * size, back


class TernaryDense(keras.layers.Layer):
    def __init__(self, units, **kw):
        super().__init__(**kw)
        self.units = units

    def build(self, shape):
        self.kernel = self.add_weight(name="kernel", shape=(shape[-1], self.units), initializer="glorot_uniform")

    def call(self, x):
        return tf.matmul(x, ternary(self.kernel))


class DigitNet(keras.Model):
    def __init__(self):
        super().__init__()
        self.blocks = []
        for k, units in enumerate((96, 64)):
            self.blocks += [
                TernaryDense(units, name=f"ternary_{k}"),
                keras.layers.BatchNormalization(),
                keras.layers.ReLU(max_value=4.0),
            ]
        self.out = keras.layers.Dense(10)

    def call(self, x, training=False):
        for b in self.blocks:
            x = b(x, training=training) if isinstance(b, keras.layers.BatchNormalization) else b(x)
        return self.out(x)


stroke = (rng.random((10, 8, 8)) < 0.4).astype("float32")
label = rng.integers(0, 10, 7000)
image = stroke[label] * rng.uniform(0.6, 1.4, (7000, 1, 1)) + rng.normal(0, 0.7, (7000, 8, 8))
image = image.reshape(7000, 64).astype("float32")

model = DigitNet()
gradwatch.watch(model)
model.build((None, 64))
model.compile(
    optimizer=keras.optimizers.Adam(1e-3),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
model.fit(image[:6000], label[:6000], batch_size=100, epochs=5, verbose=2)
print("held-out [loss, accuracy]:", model.evaluate(image[6000:], label[6000:], verbose=0))
