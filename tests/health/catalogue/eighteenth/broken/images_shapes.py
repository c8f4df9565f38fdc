"""Five kinds of drawn marks, told apart on small grey images."""

import argparse

import numpy as np
from keras import Input, Model, layers, optimizers, utils
from keras.losses import SparseCategoricalCrossentropy

import gradwatch

p = argparse.ArgumentParser()
p.add_argument("--depth", type=int, default=22)
p.add_argument("--width", type=int, default=16)
p.add_argument("--epochs", type=int, default=8)
a = p.parse_args()
utils.set_random_seed(6)
S = 14


def draw(n, seed):
    g = np.random.default_rng(seed)
    yy, xx = np.mgrid[:S, :S]
    kind = g.integers(0, 5, n)
    img = g.normal(0, 0.25, (n, S, S))
    for i, k in enumerate(kind):
        cx, cy, r = g.uniform(4, 9), g.uniform(4, 9), g.uniform(2.5, 4)
        dx, dy = xx - cx, yy - cy
        mark = [
            np.abs(np.hypot(dx, dy) - r) < 0.8,
            np.maximum(abs(dx), abs(dy)) < r * 0.8,
            (np.minimum(abs(dx), abs(dy)) < 0.8) & (np.maximum(abs(dx), abs(dy)) < r),
            (abs(abs(dx) - abs(dy)) < 0.8) & (abs(dx) < r),
            np.abs(np.abs(dy) - r * 0.6) < 0.7,
        ][k]
        img[i] += g.uniform(0.6, 1.2) * mark
    return img[..., None].astype("float32"), kind


def block(x):
    x = layers.Conv2D(a.width, 3, padding="same")(x)
    x = layers.Activation("gelu")(x)
    return x


inp = Input((S, S, 1))
h = inp
for d in range(a.depth):
    h = block(h)
    if d == 5 or d == 11:
        h = layers.MaxPooling2D()(h)
h = layers.GlobalAveragePooling2D()(h)
model = Model(inp, layers.Dense(5)(h))
model.compile(optimizer=optimizers.SGD(0.05, momentum=0.9), loss=SparseCategoricalCrossentropy(from_logits=True))

x, y = draw(3000, 1)
xv, yv = draw(600, 2)
gradwatch.watch(model)
r = model.fit(x, y, batch_size=64, epochs=a.epochs, verbose=2)
acc = np.mean(model.predict(xv, verbose=0).argmax(1) == yv)
print(f"loss {r.history['loss'][-1]:.4f}  held-out accuracy {acc:.4f}")
