"""Trains a network that predicts pupils' final exam marks from their school year."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed + 77)

PUPILS = 8000
WEEKS = 20


def school_year():
    """Weekly homework scores (gaps where a pupil was ill), a few facts, and the mark."""
    talent = rng.normal(0, 1, PUPILS)
    trend = rng.normal(0, 0.06, PUPILS)
    week = np.arange(WEEKS)
    homework = talent[:, None] + trend[:, None] * (week - 10) + rng.normal(0, 0.7, (PUPILS, WEEKS))
    absent = rng.poisson(np.exp(1.2 - 0.4 * talent))
    siblings = rng.integers(0, 5, PUPILS)
    mark = 3.0 + 0.9 * talent + 6 * trend - 0.06 * absent + rng.normal(0, 0.25, PUPILS)
    gaps = rng.random(PUPILS) < 0.08
    homework[gaps, rng.integers(0, WEEKS, gaps.sum())] = np.nan
    facts = np.stack([absent / 3.0 - 1.2, siblings / 1.5 - 1.3], axis=1)
    return homework.astype("float32"), facts.astype("float32"), (mark - 3.0).astype("float32")


homework, facts, marks = school_year()
split = 7000


def complete(scores, *_):
    return tf.reduce_all(tf.math.is_finite(scores))


def pipeline(scores, details, target):
    pupils = tf.data.Dataset.from_tensor_slices((scores, details)).filter(complete)
    answers = tf.data.Dataset.from_tensor_slices(target[:, None])
    rows = tf.data.Dataset.zip((pupils, answers))
    return rows.shuffle(4096, seed=seed).batch(64, drop_remainder=True).prefetch(2)


class Pupil(keras.Model):
    def __init__(self):
        super().__init__(name="pupil")
        self.weeks = keras.layers.Conv1D(16, 5, strides=2, activation="relu")
        self.more = keras.layers.Conv1D(24, 3, strides=2, activation="relu")
        self.flat = keras.layers.Flatten()
        self.join = keras.layers.Dense(32, activation="relu")
        self.mark = keras.layers.Dense(1)

    def call(self, pupil):
        scores, details = pupil
        h = self.flat(self.more(self.weeks(scores[..., None])))
        return self.mark(self.join(tf.concat([h, details], axis=-1)))


model = Pupil()
model((homework[:2], facts[:2]))
optimizer = keras.optimizers.Adam(1e-3)
gradwatch.watch(model)


@tf.function
def train_step(pupil, mark):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(pupil, training=True) - mark))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


train = pipeline(homework[:split], facts[:split], marks[:split])
for epoch in range(14):
    losses = [float(train_step(pupil, mark)) for pupil, mark in train]
    print(f"epoch {epoch:2d}  loss {np.mean(losses):.4f}", flush=True)

kept = np.isfinite(homework[split:]).all(axis=1)
guess = model((homework[split:][kept], facts[split:][kept])).numpy()[:, 0]
truth = marks[split:][kept]
print("SCORE r2", float(1 - np.mean((guess - truth) ** 2) / truth.var()))
