import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)
LENGTH, UNITS = 40, 200


def signals(n):
    t = np.arange(LENGTH + 1)
    f1, f2 = rng.uniform(0.1, 0.3, (n, 1)), rng.uniform(0.4, 0.6, (n, 1))
    p1, p2 = rng.uniform(0, 6.28, (n, 1)), rng.uniform(0, 6.28, (n, 1))
    x = np.sin(f1 * t + p1) + 0.5 * np.sin(f2 * t + p2)
    return x[:, :-1, None].astype("float32"), x[:, -1:].astype("float32")


def echo_matrix(shape, dtype=None):
    w = np.random.default_rng(SEED + 7).normal(size=shape)
    return tf.constant(0.9 * w / np.max(np.abs(np.linalg.eigvals(w))), dtype=dtype or "float32")


x_train, y_train = signals(3000)
x_test, y_test = signals(500)

inputs = keras.Input((LENGTH, 1))
pool = keras.layers.SimpleRNN(
    UNITS,
    kernel_initializer=keras.initializers.RandomUniform(-0.5, 0.5),
    recurrent_initializer=echo_matrix,
    trainable=False,
    name="pool",
)
h = pool(inputs)
outputs = keras.layers.Dense(1, name="readout")(h)
model = keras.Model(inputs, outputs)
model.compile(optimizer=keras.optimizers.Adam(5e-3), loss="mse")
watch = gradwatch.watch(model)
model.fit(x_train, y_train, validation_split=0.1, batch_size=32, epochs=12, verbose=2)

pred = model.predict(x_test, verbose=0)
print("SCORE", float(1 - np.mean((pred - y_test) ** 2) / np.var(y_test)))
