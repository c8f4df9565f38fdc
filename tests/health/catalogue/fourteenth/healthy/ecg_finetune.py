"""Detect a rare beat type after unsupervised pretraining on unlabelled beats.

One model has a shared encoder, a decoder and a diagnosis head.  Phase 1 trains
only the reconstruction (the head has loss weight 0), phase 2 trains the head
on 600 labelled beats with the encoder frozen, and phase 3 thaws the encoder at
a smaller rate.  The score is the balanced accuracy on new beats.
"""

import os

import keras
import numpy as np

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)
LENGTH = 64


def make_beats(n, rare):
    odd = rng.random(n) < rare
    t = np.linspace(0, 1, LENGTH)[None, :]
    shift = 0.03 * rng.normal(size=(n, 1))
    bump = lambda c, w: np.exp(-(((t - c - shift) / w) ** 2))
    gain = rng.uniform(0.8, 1.2, (n, 3, 1))
    width = np.where(odd, 0.055, 0.035)[:, None] * rng.uniform(0.9, 1.1, (n, 1))
    p_wave = np.where(odd, 0.12, 0.25)[:, None]
    x = gain[:, 0] * p_wave * bump(0.25, 0.05) + gain[:, 1] * bump(0.45, width)
    x = x + gain[:, 2] * 0.4 * bump(0.75, 0.08) + 0.08 * rng.normal(size=x.shape)
    return x.astype("float32"), odd.astype("float32")[:, None]


unlabelled, _ = make_beats(4000, 0.08)
x_lab, y_lab = make_beats(600, 0.15)
x_test, y_test = make_beats(3000, 0.15)

encoder = keras.Sequential(
    [
        keras.layers.Input((LENGTH,)),
        keras.layers.Dense(64, activation="gelu"),
        keras.layers.Dense(12, activation="gelu"),
    ],
    name="encoder",
)
decoder = keras.Sequential(
    [
        keras.layers.Input((12,)),
        keras.layers.Dense(64, activation="gelu"),
        keras.layers.Dense(LENGTH),
    ],
    name="beat",
)
head = keras.Sequential(
    [
        keras.layers.Input((12,)),
        keras.layers.Dense(16, activation="gelu"),
        keras.layers.Dense(1, activation="sigmoid"),
    ],
    name="odd",
)
inputs = keras.Input((LENGTH,))
code = encoder(inputs)
model = keras.Model(inputs, {"beat": decoder(code), "odd": head(code)})


def compile_for(rate, beat, odd):
    model.compile(
        optimizer=keras.optimizers.Adam(rate),
        loss={"beat": "mse", "odd": "binary_crossentropy"},
        loss_weights={"beat": beat, "odd": odd},
    )


watch = gradwatch.watch(model)

noisy = unlabelled + 0.1 * rng.normal(size=unlabelled.shape).astype("float32")
compile_for(2e-3, 1.0, 0.0)
model.fit(noisy, {"beat": unlabelled, "odd": np.zeros((4000, 1), "float32")}, batch_size=64, epochs=7, verbose=2)

weight = np.where(y_lab[:, 0] > 0, 3.0, 1.0).astype("float32")
targets = {"beat": x_lab, "odd": y_lab}
weights = {"beat": np.ones(600, "float32"), "odd": weight}

encoder.trainable = decoder.trainable = False
compile_for(3e-3, 0.0, 1.0)
model.fit(x_lab, targets, sample_weight=weights, batch_size=32, epochs=20, verbose=2)

encoder.trainable = True
compile_for(3e-4, 0.0, 1.0)
model.fit(x_lab, targets, sample_weight=weights, batch_size=32, epochs=15, verbose=2)

pred = model.predict(x_test, batch_size=500, verbose=0)["odd"] > 0.5
truth = y_test > 0.5
score = float((pred[truth].mean() + 1 - pred[~truth].mean()) / 2)
print(f"score (balanced accuracy) {score:.3f} chance 0.500")
