"""Estimate readmission risk from the nurses' notes written during a hospital stay.

A stay has up to 12 notes, each a 24-number summary; attention pools them into one vector.
The ward sees the risk at discharge. Judged by accuracy on other stays.
"""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

MAX_NOTES, SUMMARY = 12, 24
BATCH, EPOCHS = 32, 4


def stays(n, mean_notes=7.5):
    """Risk is set by the most alarming note. Short stays have few notes."""
    direction = np.random.default_rng(5).normal(0, 1, SUMMARY) / np.sqrt(SUMMARY)
    count = np.minimum(rng.poisson(mean_notes, n), MAX_NOTES)
    notes = rng.normal(0, 1, (n, MAX_NOTES, SUMMARY))
    written = np.arange(MAX_NOTES)[None] < count[:, None]
    notes = notes * written[..., None]
    alarm = np.where(written, notes @ direction, -3.0).max(1)
    risk = alarm > 1.35
    return notes.astype("float32"), written, risk.astype("float32")


class NotePool(layers.Layer):
    """Attention over the notes that were written."""

    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.key = layers.Dense(units, activation="tanh")
        self.relevance = layers.Dense(1, use_bias=False)
        self.value = layers.Dense(units)

    def call(self, notes, written):
        scores = self.relevance(self.key(notes))[..., 0]
        scores = tf.where(written, scores, float("-inf"))
        weights = tf.nn.softmax(scores, axis=-1)
        return tf.reduce_sum(weights[..., None] * self.value(notes), axis=1)


class RiskModel(keras.Model):
    def __init__(self):
        super().__init__(name="readmission")
        self.pool = NotePool(32, name="note_pool")
        self.hidden = layers.Dense(32, activation="relu", name="hidden")
        self.risk = layers.Dense(1, name="risk_logit")

    def call(self, inputs):
        notes, written = inputs
        return self.risk(self.hidden(self.pool(notes, written)))[:, 0]


x_train, w_train, y_train = stays(5000)
x_test, w_test, y_test = stays(1000)

model = RiskModel()
model((x_train[:2], w_train[:2]))
model.compile(optimizer=keras.optimizers.AdamW(2e-3), loss=keras.losses.BinaryCrossentropy(from_logits=True))
gradwatch.watch(model)
history = model.fit((x_train, w_train), y_train, batch_size=BATCH, epochs=EPOCHS, verbose=0)
print("loss by epoch", history.history["loss"])

logit = model.predict((x_test, w_test), verbose=0)
guess = max(y_test.mean(), 1 - y_test.mean())
print(f"score accuracy {np.mean((logit > 0) == (y_test > 0.5)):.3f} chance {guess:.3f}")
