"""Which ornament marks the highest note of a melody line read from a music sheet? (attention over the notes)"""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers, ops

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

NOTES, ORNAMENTS = 24, 6
BATCH, EPOCHS = 64, 10


def melodies(n):
    start = rng.normal(0, 1.0, (n, 1))
    pitch = start + np.cumsum(rng.normal(0, 0.5, (n, NOTES)), 1)
    length = rng.choice([0.25, 0.5, 1.0, 2.0], (n, NOTES))
    mark = rng.integers(0, ORNAMENTS, (n, NOTES))
    top = pitch.argmax(1)
    x = np.concatenate([pitch[..., None], length[..., None] - 0.9, np.eye(ORNAMENTS)[mark]], 2)
    return x.astype("float32"), mark[np.arange(n), top].astype("int32")


class NotePooling(layers.Layer):
    """Weighs the notes of a line by a learned score and sums their values."""

    def __init__(self, units, **kw):
        super().__init__(**kw)
        self.units = units
        self.hidden = layers.Dense(units, activation="tanh", name="hidden")
        self.score = layers.Dense(1, name="score")
        self.value = layers.Dense(units, name="value")

    def build(self, shape):
        self.hidden.build(shape)
        self.score.build((*shape[:-1], self.units))
        self.value.build(shape)
        super().build(shape)

    def call(self, notes):
        scores = self.score(self.hidden(notes))
        weights = tf.nn.softmax(scores, axis=-1)
        return ops.sum(weights * self.value(notes), axis=1)


x, y = melodies(9000)
x_val, y_val = melodies(1000)
x_test, y_test = melodies(2000)

sheet = keras.Input((NOTES, x.shape[-1]), name="sheet")
h = NotePooling(32, name="note_pooling")(sheet)
h = layers.LayerNormalization()(h)
h = layers.Dense(32, activation="relu")(h)
logits = layers.Dense(ORNAMENTS)(h)
model = keras.Model(sheet, logits, name="ornaments")
model.compile(
    optimizer=keras.optimizers.Adam(3e-3),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
gradwatch.watch(model)

model.fit(x, y, batch_size=BATCH, epochs=EPOCHS, validation_data=(x_val, y_val), verbose=2)

pred = model.predict(x_test, batch_size=500, verbose=0).argmax(1)
print("SCORE ornament_accuracy", round(float((pred == y_test).mean()), 4))
