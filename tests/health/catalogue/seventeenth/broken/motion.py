# Five kinds of motion from a six-channel wrist sensor (windows of 64 samples).
import keras
import numpy as np
from keras import layers, regularizers

import gradwatch

keras.utils.set_random_seed(99)


def windows(n, rng):
    t = np.arange(64) / 32.0
    y = rng.integers(0, 5, n)
    freq = np.array([1.0, 1.8, 2.6, 1.8, 3.4])[y] * rng.uniform(0.85, 1.15, n)
    skew = np.array([0.0, 0.4, 0.1, -0.6, 0.3])[y]
    ph = rng.uniform(0, 2 * np.pi, n)
    w = 2 * np.pi * freq[:, None] * t + ph[:, None]
    x = np.zeros((n, 64, 6), "float32")
    for c in range(6):
        gain = rng.uniform(0.5, 1.2, (n, 1))
        x[:, :, c] = gain * (np.sin(w + c * (0.4 + skew[:, None])) + skew[:, None] * np.sin(2 * w + c))
    return x + 0.7 * rng.standard_normal(x.shape).astype("float32"), y


def conv_block(x, width, kernel):
    x = layers.Conv1D(
        width, kernel, padding="same", kernel_initializer="he_normal", activity_regularizer=regularizers.L1(0.01)
    )(x)
    x = layers.ReLU()(x)
    return layers.MaxPooling1D(2)(x)


rng = np.random.default_rng(99)
xtr, ytr = windows(5000, rng)
xte, yte = windows(1200, rng)

inp = keras.Input((64, 6))
h = conv_block(inp, 32, 7)
h = conv_block(h, 48, 5)
h = layers.GlobalAveragePooling1D()(h)
h = layers.Dense(48, activation="relu")(h)
model = keras.Model(inp, layers.Dense(5, activation="softmax")(h))
model.compile(
    optimizer=keras.optimizers.Nadam(1e-3),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)
gradwatch.watch(model)
hist = model.fit(xtr, ytr, batch_size=40, epochs=16, verbose=2)
loss, acc = model.evaluate(xte, yte, verbose=0)
print(f"final loss {hist.history['loss'][-1]:.4f}  held-out accuracy {acc:.3f} (five kinds)")
