"""Street scene classifier with a pretrained frozen stem and a small auxiliary depth task."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

S = 20
yy, xx = np.mgrid[0:S, 0:S]


def scene():
    kind = rng.integers(4)
    depth = rng.uniform(0.5, 1.5)
    size = 6.5 / (0.6 + depth)
    cx, cy = rng.uniform(6, 14, 2)
    dx, dy = np.abs(xx - cx), np.abs(yy - cy)
    shape = [
        dx + dy < size,
        (dx < size * 0.75) & (dy < size * 0.75),
        (dx < size * 0.25) | (dy < size * 0.25),
        dx**2 + dy**2 < size**2,
    ][kind]
    if kind == 2:
        shape &= (dx < size) & (dy < size)
    img = 0.3 + 0.4 * shape / np.sqrt(depth) + rng.normal(0, 0.08, (S, S))
    return (img - 0.4) / 0.2, kind, (depth - 1.0) / 0.29


data = [scene() for _ in range(2000)]
x = np.array([d[0] for d in data], "float32")[..., None]
kind = np.array([d[1] for d in data], "int32")
depth = np.array([d[2] for d in data], "float32")[:, None]

# stem learned beforehand as a denoising autoencoder
stem = keras.Sequential(
    [
        keras.Input((S, S, 1)),
        layers.Conv2D(8, 3, padding="same", activation="relu"),
        layers.MaxPooling2D(),
    ],
    name="stem",
)
decoder = keras.Sequential([layers.UpSampling2D(), layers.Conv2D(1, 3, padding="same")])
auto = keras.Sequential([stem, decoder])
auto.compile(keras.optimizers.Adam(5e-3), "mse")
auto.fit(x[:1600] + rng.normal(0, 0.5, x[:1600].shape), x[:1600], batch_size=64, epochs=3, verbose=0)
stem.trainable = False

inp = keras.Input((S, S, 1))
h = stem(inp, training=False)
h = layers.Conv2D(24, 3, activation="relu")(h)
h = layers.MaxPooling2D()(h)
h = layers.Flatten()(h)
h = layers.Dense(48, activation="relu")(h)
h = layers.Dropout(0.3)(h)
out_kind = layers.Dense(4, activation="softmax", name="kind")(h)
out_depth = layers.Dense(1, name="depth")(h)
model = keras.Model(inp, {"kind": out_kind, "depth": out_depth})
model.compile(
    optimizer=keras.optimizers.Adam(2e-3),
    loss={"kind": "sparse_categorical_crossentropy", "depth": "mse"},
    loss_weights={"kind": 1.0, "depth": 0.05},
    metrics={"kind": "accuracy"},
)
gradwatch.watch(model)
model.fit(x[:1600], {"kind": kind[:1600], "depth": depth[:1600]}, batch_size=32, epochs=7, verbose=2)

pred = model.predict(x[1600:], verbose=0)
acc = np.mean(pred["kind"].argmax(1) == kind[1600:])
r2 = 1 - np.mean((pred["depth"] - depth[1600:]) ** 2) / np.var(depth[1600:])
print(f"SCORE test accuracy {acc:.3f}, depth R2 {r2:.3f}")
