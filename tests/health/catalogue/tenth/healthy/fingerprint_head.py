"""Fit a new head for five fingerprint pattern classes on a fixed ridge-filter backbone; only a few dozen labelled
prints exist."""

import os

import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

SIDE, CLASSES, PRINTS = 32, 5, 80


def make_prints(n):
    kind = np.arange(n) % CLASSES
    yy, xx = (np.mgrid[0:SIDE, 0:SIDE] - SIDE / 2)[:, None]
    flow = np.array([0.0, 0.6, 1.2, 1.9, 2.5])[kind][:, None, None] + rng.normal(0, 0.12, (n, 1, 1))
    bend = rng.normal(0, 0.01, (n, 1, 1))
    u = np.cos(flow) * xx + np.sin(flow) * yy
    v = -np.sin(flow) * xx + np.cos(flow) * yy
    img = np.sin(1.1 * (u + bend * v * v) + rng.uniform(0, 6.28, (n, 1, 1))) + rng.normal(0, 0.3, (n, SIDE, SIDE))
    return img[..., None].astype("float32"), kind.astype("int32")


def gabor(size, count):
    yy, xx = np.mgrid[0:size, 0:size] - size // 2
    bank = []
    for i in range(count // 2):
        th = np.pi * i / (count // 2)
        u = np.cos(th) * xx + np.sin(th) * yy
        hull = np.exp(-(xx**2 + yy**2) / 8.0)
        bank += [hull * np.cos(1.1 * u), hull * np.sin(1.1 * u)]
    bank = np.stack(bank, -1)
    return (bank - bank.mean((0, 1)))[:, :, None, :].astype("float32") / 3.0


backbone = tf.keras.Sequential(
    [
        tf.keras.Input((SIDE, SIDE, 1)),
        tf.keras.layers.Conv2D(16, 7, padding="same", activation="relu", name="ridge"),
        tf.keras.layers.BatchNormalization(name="ridge_bn"),
        tf.keras.layers.MaxPooling2D(4),
        tf.keras.layers.Conv2D(32, 3, padding="same", activation="relu", name="texture"),
        tf.keras.layers.BatchNormalization(name="texture_bn"),
        tf.keras.layers.GlobalAveragePooling2D(),
    ],
    name="backbone",
)
backbone.get_layer("ridge").set_weights([gabor(7, 16), np.zeros(16, "float32")])
backbone.trainable = False

inp = tf.keras.Input((SIDE, SIDE, 1))
features = backbone(inp, training=False)
h = tf.keras.layers.Dense(64, activation="relu", name="head1")(features)
pattern = tf.keras.layers.Dense(CLASSES, activation="softmax", name="pattern")(h)
model = tf.keras.Model(inp, pattern)
gradwatch.watch(model)

prints, kinds = make_prints(PRINTS)
model.compile(optimizer=tf.keras.optimizers.Adam(1e-2), loss="sparse_categorical_crossentropy", metrics=["accuracy"])
history = model.fit(prints, kinds, batch_size=16, epochs=60, verbose=0)
for e in range(0, 60, 6):
    print(e, round(history.history["loss"][e], 5), round(history.history["accuracy"][e], 3))
print("new prints:", model.evaluate(*make_prints(200), verbose=0), "last loss", history.history["loss"][-1])
