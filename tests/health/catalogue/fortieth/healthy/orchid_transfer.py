"""Reuses a pattern network trained on grasses for a few orchids: first the frozen body with a new head, then gentle fine-tuning."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

SIZE = 20
yy, xx = np.mgrid[0:SIZE, 0:SIZE] / SIZE


def plate(freq, turn, bend):
    a = turn + rng.normal(0, 0.12)
    u = xx * np.cos(a) + yy * np.sin(a)
    v = -xx * np.sin(a) + yy * np.cos(a)
    img = np.sin(2 * np.pi * (freq * rng.normal(1, 0.06) * (u + bend * v**2) + rng.uniform()))
    return (img + rng.normal(0, 0.5, img.shape)).astype("float32")[..., None]


grass_kinds = [(f, a, 0.0) for f in (2, 3.5, 5) for a in (0, 0.8, 1.6, 2.4)]
orchid_kinds = [(2.7, 0.4, 0.3), (2.7, 1.2, 0.0), (4.2, 0.4, 0.0), (4.2, 2.0, 0.3), (3.3, 2.8, 0.2)]
g_lab = rng.integers(0, len(grass_kinds), 2000)
g_img = np.stack([plate(*grass_kinds[k]) for k in g_lab])
o_lab = rng.integers(0, len(orchid_kinds), 700)
o_img = np.stack([plate(*orchid_kinds[k]) for k in o_lab])
cut = 300

body = keras.Sequential(
    [
        keras.Input((SIZE, SIZE, 1)),
        layers.Conv2D(16, 5, use_bias=False),
        layers.BatchNormalization(),
        layers.ReLU(),
        layers.MaxPooling2D(),
        layers.Conv2D(32, 3, use_bias=False),
        layers.BatchNormalization(),
        layers.ReLU(),
        layers.GlobalAveragePooling2D(),
    ]
)
grasses = keras.Sequential([body, layers.Dense(len(grass_kinds))])
ce = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
grasses.compile(optimizer=keras.optimizers.Adam(2e-3), loss=ce)
grasses.fit(g_img, g_lab, batch_size=64, epochs=8, verbose=0)

body.trainable = False
inp = keras.Input((SIZE, SIZE, 1))
model = keras.Model(inp, layers.Dense(len(orchid_kinds))(layers.Dropout(0.2)(body(inp, training=False))))
gradwatch.watch(model)
model.compile(optimizer=keras.optimizers.Adam(5e-3), loss=ce)
model.fit(o_img[:cut], o_lab[:cut], batch_size=16, epochs=25, verbose=0)

body.trainable = True
model.compile(optimizer=keras.optimizers.Adam(2e-5), loss=ce, metrics=["accuracy"])
model.fit(o_img[:cut], o_lab[:cut], batch_size=16, epochs=10, verbose=0)
print("SCORE accuracy", round(float(model.evaluate(o_img[cut:], o_lab[cut:], verbose=0)[1]), 4))
