"""Beat classification from single-lead ECG windows with a small patch transformer."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

LENGTH, PATCH, WIDTH, DEPTH = 128, 8, 32, 3
CLASSES = ["N", "PVC", "APB", "LBBB"]
PRIOR = [0.55, 0.15, 0.15, 0.15]


def bump(t, centre, width, height):
    return height * np.exp(-0.5 * ((t - centre) / width) ** 2)


def beat(kind):
    t = np.linspace(0.0, 1.0, LENGTH)
    j = lambda s: rng.normal(0.0, s)
    x = bump(t, 0.68 + j(0.02), 0.05, 0.3 + j(0.04))
    if kind == 0:
        x += bump(t, 0.22 + j(0.01), 0.025, 0.2) + bump(t, 0.42 + j(0.01), 0.012, 1.2 + j(0.1))
        x -= bump(t, 0.45, 0.012, 0.3)
    elif kind == 1:
        x += bump(t, 0.38 + j(0.02), 0.045, 1.3 + j(0.15)) - bump(t, 0.52, 0.05, 0.7)
    elif kind == 2:
        x += bump(t, 0.12 + j(0.015), 0.02, 0.22) + bump(t, 0.33 + j(0.01), 0.012, 1.1 + j(0.1))
    else:
        x += bump(t, 0.22 + j(0.01), 0.025, 0.2) + bump(t, 0.40 + j(0.01), 0.02, 0.8)
        x += bump(t, 0.47 + j(0.01), 0.02, 0.85 + j(0.1))
    x += 0.15 * np.sin(2 * np.pi * (rng.uniform(0.2, 0.6) * t + rng.uniform()))
    return x + rng.normal(0.0, 0.12, LENGTH)


def dataset(n):
    y = rng.choice(len(CLASSES), size=n, p=PRIOR)
    x = np.stack([beat(k) for k in y]).astype("float32")
    x = (x - x.mean(1, keepdims=True)) / x.std(1, keepdims=True)
    return x[..., None], keras.utils.to_categorical(y, len(CLASSES))


class WarmupCosine(keras.optimizers.schedules.LearningRateSchedule):
    def __init__(self, peak, warmup, total):
        self.peak, self.warmup, self.total = peak, warmup, total

    def __call__(self, step):
        s = tf.cast(step, tf.float32)
        up = s / self.warmup
        frac = tf.clip_by_value((s - self.warmup) / (self.total - self.warmup), 0.0, 1.0)
        return self.peak * tf.where(s < self.warmup, up, 0.5 * (1.0 + tf.cos(np.pi * frac)))

    def get_config(self):
        return {"peak": self.peak, "warmup": self.warmup, "total": self.total}


class Positions(layers.Layer):
    def build(self, shape):
        self.table = self.add_weight(shape=shape[1:], initializer=keras.initializers.RandomNormal(stddev=0.02))

    def call(self, x):
        return x + self.table


def build():
    inp = keras.Input((LENGTH, 1))
    h = layers.Conv1D(WIDTH, PATCH, strides=PATCH)(inp)
    h = Positions()(h)
    for _ in range(DEPTH):
        a = layers.LayerNormalization(epsilon=1e-6)(h)
        h = h + layers.MultiHeadAttention(4, WIDTH // 4)(a, a)
        m = layers.LayerNormalization(epsilon=1e-6)(h)
        m = layers.Dense(2 * WIDTH, activation="gelu")(m)
        h = h + layers.Dense(WIDTH)(m)
    h = layers.LayerNormalization(epsilon=1e-6)(h)
    h = layers.GlobalAveragePooling1D()(h)
    return keras.Model(inp, layers.Dense(len(CLASSES))(h))


x_train, y_train = dataset(2048)
x_val, y_val = dataset(512)
epochs, batch = 7, 32
steps = epochs * len(x_train) // batch

model = build()
model.compile(
    optimizer=keras.optimizers.AdamW(WarmupCosine(2e-3, 100, steps), weight_decay=0.01),
    loss=keras.losses.CategoricalCrossentropy(from_logits=True, label_smoothing=0.1),
    metrics=["accuracy"],
)
gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=batch, epochs=epochs, validation_data=(x_val, y_val), verbose=2)
