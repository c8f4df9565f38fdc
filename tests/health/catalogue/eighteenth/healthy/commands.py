import keras
import numpy as np
from keras import layers

import gradwatch

keras.utils.set_random_seed(16)
SR_BINS, T, MEL = 64, 24, 16
OLD, NEW = 12, 5


def clips(n, classes, offset, seed):
    g = np.random.default_rng(seed)
    lib = np.random.default_rng(500)
    tracks = lib.uniform(5, 58, (OLD + NEW, 2, 4))
    y = g.integers(0, classes, n)
    tr = tracks[y + offset]
    pos = np.linspace(0, 3, T)
    f = np.stack([[np.interp(pos, np.arange(4), tr[i, k]) for k in range(2)] for i in range(n)])
    f = f + g.normal(0, 3.0, (n, 2, 1))
    b = np.arange(SR_BINS)
    spec = np.exp(-0.5 * ((b - f[..., None]) / 2) ** 2).sum(1)
    return np.abs(spec + 0.8 * g.normal(size=spec.shape)).astype("float32"), y


def mel_matrix():
    edges = np.geomspace(2, SR_BINS, MEL + 2)
    b = np.arange(SR_BINS)[:, None]
    up = (b - edges[:-2]) / (edges[1:-1] - edges[:-2])
    down = (edges[2:] - b) / (edges[2:] - edges[1:-1])
    return np.clip(np.minimum(up, down), 0, None).astype("float32")


mel = layers.Dense(MEL, use_bias=False, name="mel")
mel.trainable = False
body = keras.Sequential(
    [
        layers.Input((T, SR_BINS)),
        mel,
        layers.Conv1D(48, 5, padding="same", use_bias=False),
        layers.BatchNormalization(),
        layers.ReLU(),
        layers.MaxPooling1D(2),
        layers.Conv1D(64, 5, padding="same", use_bias=False),
        layers.BatchNormalization(),
        layers.ReLU(),
        layers.GlobalAveragePooling1D(),
    ],
    name="body",
)
mel.set_weights([mel_matrix()])

x_old, y_old = clips(3000, OLD, 0, 1)
pre = keras.Sequential([body, layers.Dense(OLD)])
pre.compile(
    keras.optimizers.Adam(2e-3), keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"]
)
pre.fit(x_old, y_old, batch_size=64, epochs=6, verbose=2)

body.trainable = False
inp = keras.Input((T, SR_BINS))
h = body(inp, training=False)
h = layers.Dropout(0.3)(h)
h = layers.Dense(32, activation="relu", name="adapter")(h)
model = keras.Model(inp, layers.Dense(NEW, name="commands")(h))
model.compile(
    keras.optimizers.SGD(keras.optimizers.schedules.PolynomialDecay(0.3, 400, 0.02), momentum=0.8),
    keras.losses.CategoricalCrossentropy(from_logits=True, label_smoothing=0.15),
)
gradwatch.watch(model)
x, y = clips(1500, NEW, OLD, 3)
xv, yv = clips(600, NEW, OLD, 4)
hist = model.fit(x, keras.utils.to_categorical(y, NEW), batch_size=40, epochs=11, verbose=2)
acc = (model.predict(xv, verbose=0).argmax(1) == yv).mean()
print(f"loss {hist.history['loss'][-1]:.4f} heldout accuracy {acc:.3f}")
