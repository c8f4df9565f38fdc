"""Heart-beat classification (normal, PVC, LBBB, APC) from single-lead ECG windows with a residual 1-D CNN."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
tf.keras.utils.set_random_seed(SEED)

EPOCHS = 8
BATCH_SIZE = 64
LEN = 128


def beat(kind, r):
    t = np.linspace(-1, 1, LEN) + r.normal(0, 0.04)
    bump = lambda c, w, a: a * np.exp(-(((t - c) / w) ** 2))
    p, qrs_w, qrs_a, tw = 0.18, 0.06, 1.0, 0.3
    if kind == 1:
        p, qrs_w, qrs_a, tw = 0.0, 0.15, 1.2, -0.3
    elif kind == 2:
        qrs_w, qrs_a, tw = 0.11, 0.9, -0.2
    pc = -0.4 if kind != 3 else -0.6
    s = bump(pc, 0.08, p) + bump(0, qrs_w, qrs_a) + bump(0.45, 0.16, tw)
    if kind == 2:
        s += bump(0.13, 0.05, 0.5)
    s = s * r.uniform(0.8, 1.2) + 0.15 * np.sin(3 * t + r.uniform(0, 6)) + r.normal(0, 0.12, LEN)
    return s


def dataset(n, seed):
    r = np.random.RandomState(seed)
    y = r.randint(0, 4, n)
    x = np.stack([beat(k, r) for k in y])[..., None].astype("float32")
    return x, keras.utils.to_categorical(y, 4)


x_train, y_train = dataset(2560, SEED)
x_valid, y_valid = dataset(600, SEED + 1)


@keras.saving.register_keras_serializable()
class ResidualUnit(layers.Layer):
    def __init__(self, width, **kwargs):
        super().__init__(**kwargs)
        self.a = layers.Conv1D(width, 7, padding="same")
        self.na = layers.BatchNormalization(momentum=0.9)
        self.b = layers.Conv1D(width, 7, padding="same")
        self.nb = layers.BatchNormalization(momentum=0.9)

    def call(self, x, training=None):
        h = keras.activations.relu(self.na(self.a(x), training=training))
        h = self.nb(self.b(h), training=training)
        return keras.activations.relu(h + x)


model = keras.Sequential(
    [
        keras.Input((LEN, 1)),
        layers.Conv1D(24, 7, strides=2, padding="same", activation="relu"),
        ResidualUnit(24),
        layers.MaxPooling1D(2),
        ResidualUnit(24),
        layers.GlobalAveragePooling1D(),
        layers.Dense(4, activation="softmax"),
    ]
)
gradwatch.watch(model)

schedule = keras.optimizers.schedules.CosineDecay(initial_learning_rate=0.02, decay_steps=EPOCHS)
model.compile(
    optimizer=keras.optimizers.SGD(schedule, momentum=0.9, nesterov=True),
    loss="categorical_crossentropy",
    metrics=["accuracy"],
)
model.fit(x_train, y_train, batch_size=BATCH_SIZE, epochs=EPOCHS, validation_data=(x_valid, y_valid), verbose=2)
print("validation accuracy:", model.evaluate(x_valid, y_valid, verbose=0)[1])
