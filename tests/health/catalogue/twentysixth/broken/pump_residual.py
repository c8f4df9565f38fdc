"""Efficiency of a pump from eight readings, with a residual network made of own layers."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)


def make_readings(n):
    x = rng.uniform(-1.5, 1.5, size=(n, 8))
    y = (
        np.sin(2.0 * x[:, 0] * x[:, 1])
        + 0.6 * np.cos(3.0 * x[:, 2] + x[:, 3])
        + 0.5 * x[:, 4] * np.tanh(2.0 * x[:, 5])
        - 0.3 * x[:, 6] ** 2
    )
    y += rng.normal(0, 0.05, size=n)
    return x.astype("float32"), (y / 0.9).astype("float32")[:, None]


class ResidualBlock(keras.layers.Layer):
    """x + W2 act(W1 norm(x)), with a scale that starts small."""

    def __init__(self, hidden, **kwargs):
        super().__init__(**kwargs)
        self.hidden = hidden
        self.norm = keras.layers.LayerNormalization()

    def build(self, input_shape):
        width = input_shape[-1]
        self.norm.build(input_shape)
        init = keras.initializers.HeNormal(seed=seed)
        self.w1 = tf.Variable(init((width, self.hidden)), name="w1")
        self.b1 = tf.Variable(tf.zeros((self.hidden,)), name="b1")
        self.w2 = tf.Variable(init((self.hidden, width)), name="w2")
        self.scale = self.add_weight(shape=(width,), initializer=keras.initializers.Constant(0.3), name="scale")
        super().build(input_shape)

    def call(self, x):
        h = tf.nn.gelu(tf.matmul(self.norm(x), self.w1) + self.b1)
        return x + self.scale * tf.matmul(h, self.w2)


x_train, y_train = make_readings(5000)
x_test, y_test = make_readings(1500)

inputs = keras.Input((8,))
h = keras.layers.Dense(16)(inputs)
for i in range(3):
    h = ResidualBlock(48, name=f"block_{i}")(h)
outputs = keras.layers.Dense(1)(keras.layers.LayerNormalization()(h))
model = keras.Model(inputs, outputs)

model.compile(optimizer=keras.optimizers.Adam(3e-3), loss="mse", metrics=["mae"])
callbacks = [keras.callbacks.ReduceLROnPlateau(monitor="val_loss", factor=0.5, patience=3)]

gradwatch.watch(model)
model.fit(
    x_train,
    y_train,
    batch_size=64,
    epochs=22,
    validation_data=(x_test, y_test),
    callbacks=callbacks,
    verbose=2,
)

pred = model.predict(x_test, batch_size=500, verbose=0)
r2 = 1.0 - np.mean((pred - y_test) ** 2) / np.var(y_test)
print("SCORE r2 %.4f" % r2)
