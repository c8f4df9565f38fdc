"""Finds the rare coughs in short sound envelopes with a fixed echo-state layer and a small head."""

import os

import keras
import numpy as np
from keras import layers
from sklearn.metrics import average_precision_score, roc_auc_score

import gradwatch

SEED = int(os.environ.get("SEED", 0))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

STEPS, BANDS = 30, 6


def envelope(cough):
    """Band energies: room noise, speech-like humps, and for a cough a burst with a decay."""
    clock = np.arange(STEPS)
    x = 0.25 * rng.gamma(2.0, 0.5, (STEPS, BANDS))
    for _ in range(rng.integers(1, 3)):
        centre, width = rng.uniform(0, STEPS), rng.uniform(2, 5)
        x += np.exp(-0.5 * ((clock - centre) / width) ** 2)[:, None] * rng.dirichlet(np.ones(BANDS)) * 3
    if cough:
        onset = rng.integers(4, STEPS - 12)
        fall = np.where(clock >= onset, np.exp(-(clock - onset) / rng.uniform(3, 5)), 0.0)
        shape = np.array([0.3, 0.5, 0.8, 1.0, 1.0, 0.8]) * rng.uniform(0.8, 1.5, BANDS)
        x += 2.4 * fall[:, None] * shape
    elif rng.random() < 0.3:
        onset = rng.integers(4, STEPS - 4)
        x[onset : onset + 2] += 1.5 * rng.uniform(0.5, 1.5, BANDS)
    return np.log1p(x)


labels = (rng.random(5000) < 0.06).astype("float32")
sounds = np.stack([envelope(c > 0) for c in labels]).astype("float32")
cut = 3600
sounds = (sounds - sounds[:cut].mean((0, 1))) / sounds[:cut].std((0, 1))


class EchoState(layers.Layer):
    """A fixed random recurrent layer with spectral radius below one."""

    def __init__(self, units, leak=0.4, radius=0.9, **kwargs):
        super().__init__(trainable=False, **kwargs)
        self.units, self.leak, self.radius = units, leak, radius

    def build(self, shape):
        draw = np.random.default_rng(5)
        inner = draw.normal(size=(self.units, self.units)) * (draw.random((self.units, self.units)) < 0.1)
        inner *= self.radius / np.abs(np.linalg.eigvals(inner)).max()
        outer = draw.uniform(-0.5, 0.5, (shape[-1], self.units))
        self.inner = self.add_weight(shape=inner.shape, initializer=keras.initializers.Constant(inner), trainable=False)
        self.outer = self.add_weight(shape=outer.shape, initializer=keras.initializers.Constant(outer), trainable=False)

    def call(self, x):
        state = keras.ops.zeros((keras.ops.shape(x)[0], self.units))
        states = []
        for t in range(x.shape[1]):
            push = keras.ops.tanh(x[:, t] @ self.outer + state @ self.inner)
            state = (1 - self.leak) * state + self.leak * push
            states.append(state)
        return keras.ops.stack(states, axis=1)


inputs = keras.Input((STEPS, BANDS))
echo = EchoState(80)(inputs)
x = layers.Concatenate()([layers.GlobalMaxPooling1D()(echo), layers.GlobalAveragePooling1D()(echo)])
x = layers.Dense(24, activation="relu")(x)
model = keras.Model(inputs, layers.Dense(1, activation="sigmoid")(x))
watch = gradwatch.watch(model)
model.compile(
    optimizer=keras.optimizers.Adam(5e-3),
    loss=keras.losses.BinaryFocalCrossentropy(gamma=2.0),
)
model.fit(
    sounds[:cut],
    labels[:cut],
    batch_size=128,
    epochs=9,
    class_weight={0: 1.0, 1: 8.0},
    validation_data=(sounds[cut:], labels[cut:]),
    verbose=2,
)

chance = model.predict(sounds[cut:], verbose=0)[:, 0]
print("auc", round(float(roc_auc_score(labels[cut:], chance)), 4), "base rate", labels[cut:].mean())
print("score", round(float(average_precision_score(labels[cut:], chance)), 4))
