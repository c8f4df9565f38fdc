"""Train a street sound classifier on crowd-sourced tags, four in ten of them wrong, with a noise-robust loss and weight averaging."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

KINDS, FRAMES, MELS = 8, 24, 32
m, f = np.arange(MELS), np.arange(FRAMES)
pattern = [
    (rng.uniform(4, 28, 3), rng.uniform(1, 4), rng.uniform(0.2, 1.4), rng.uniform(-0.3, 0.3)) for _ in range(KINDS)
]


def recording(kind):
    centres, width, rate, glide = pattern[kind]
    shift, phase = rng.normal(0, 1.0), rng.uniform(0, 6.3)
    pitch = centres[None, :] + shift + glide * f[:, None]
    s = np.exp(-0.5 * ((m[None, :, None] - pitch[:, None]) / width) ** 2).sum(-1)
    s = s * (1 + 0.8 * np.sin(rate * f + phase))[:, None] * rng.uniform(0.6, 1.6)
    return s + rng.gamma(2.0, 0.25, (FRAMES, MELS))


kinds = rng.integers(0, KINDS, 3400)
x = np.log(np.stack([recording(k) for k in kinds])).astype("float32")[..., None]
x = (x - x[:2800].mean()) / x[:2800].std()
tags = kinds.copy()
wrong = rng.random(len(tags)) < 0.4
tags[wrong] = (kinds[wrong] + rng.integers(1, KINDS, wrong.sum())) % KINDS
x_train, tag_train = x[:2800], tags[:2800]
x_test, y_test = x[2800:], kinds[2800:]


def generalised_cross_entropy(y_true, y_pred, q=0.5):
    """(1 - p^q) / q, between cross entropy (q to 0) and mean absolute error (q = 1)."""
    y_true = tf.cast(tf.reshape(y_true, [-1]), tf.int32)
    p = tf.reduce_sum(tf.one_hot(y_true, KINDS) * y_pred, -1)
    return (1 - tf.pow(p + 1e-7, q)) / q


model = keras.Sequential(
    [
        keras.Input((FRAMES, MELS, 1)),
        layers.GaussianNoise(0.5),
        layers.Conv2D(16, 3, padding="same", activation="relu"),
        layers.MaxPooling2D(2),
        layers.SpatialDropout2D(0.25),
        layers.Conv2D(32, 3, padding="same", activation="relu"),
        layers.AveragePooling2D((12, 2)),
        layers.Flatten(),
        layers.Dropout(0.7),
        layers.Dense(96, activation="relu"),
        layers.Dropout(0.7),
        layers.Dense(KINDS, activation="softmax"),
    ]
)
restarts = keras.optimizers.schedules.CosineDecayRestarts(3e-3, 44 * 4, t_mul=1.0, m_mul=0.9, alpha=0.01)
optimizer = keras.optimizers.Adam(restarts, use_ema=True, ema_momentum=0.98)
model.compile(optimizer=optimizer, loss=generalised_cross_entropy, metrics=["accuracy"])
gradwatch.watch(model)
model.fit(
    x_train,
    tag_train,
    batch_size=64,
    epochs=16,
    verbose=2,
    callbacks=[keras.callbacks.SwapEMAWeights(swap_on_epoch=False)],
)

acc = np.mean(model.predict(x_test, verbose=0).argmax(-1) == y_test)
print("SCORE true_label_accuracy", round(float(acc), 4))
