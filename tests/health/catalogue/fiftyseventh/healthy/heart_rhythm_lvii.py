import os

import keras
import numpy as np

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)


def signals(n, steps=60):
    freq = rng.uniform(1.0, 3.0, n)
    jitter = rng.integers(0, 2, n)
    phase = np.cumsum(freq[:, None] * 0.1 * (1 + jitter[:, None] * 0.5 * rng.normal(size=(n, steps))), axis=1)
    x = np.sin(phase + rng.uniform(0, 6, n)[:, None]) + 0.05 * rng.normal(size=(n, steps))
    return x[..., None].astype("float32"), jitter.astype("float32")


x_train, y_train = signals(2500)
x_test, y_test = signals(800)

reservoir = keras.layers.SimpleRNN(
    150,
    kernel_initializer=keras.initializers.RandomUniform(-0.5, 0.5),
    recurrent_initializer=keras.initializers.Orthogonal(gain=0.95),
    return_sequences=True,
)
reservoir.trainable = False
inp = keras.Input((60, 1))
states = reservoir(inp)
moves = keras.layers.Lambda(lambda s: abs(s[:, 2:] - 2 * s[:, 1:-1] + s[:, :-2]), output_shape=(58, 150))(states)
pooled = keras.layers.Concatenate()(
    [
        keras.layers.GlobalAveragePooling1D()(moves),
        keras.layers.GlobalMaxPooling1D()(moves),
    ]
)
pooled = keras.layers.BatchNormalization()(pooled)
out = keras.layers.Dense(1, activation="sigmoid", kernel_regularizer=keras.regularizers.L1(1e-4))(pooled)
model = keras.Model(inp, out)
model.compile(optimizer=keras.optimizers.Adam(3e-3), loss="binary_crossentropy", metrics=["accuracy"])
watch = gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=64, epochs=15, validation_data=(x_test, y_test), verbose=2)
print("SCORE", float(model.evaluate(x_test, y_test, verbose=0)[1]))
