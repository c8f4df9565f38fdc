"""Models the time to failure of irrigation pumps in monthly intervals from their duty, water quality and make."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

MONTHS, n = 24, 4000
duty = rng.uniform(0.2, 1.0, n)
grit = rng.gamma(2, 0.5, n)
depth = rng.uniform(-1, 1, n)
make = rng.integers(0, 5, n)
tough = np.array([1.3, 1.0, 0.8, 1.15, 0.9])
life = 24 * tough[make] / (0.5 + 1.2 * duty + 0.5 * grit * duty + 0.3 * depth**2)
life = life * rng.normal(1, 0.03, n)
watched = rng.uniform(4, MONTHS, n)
event = (life < watched).astype("float32")
month = np.clip(np.floor(np.minimum(life, watched)), 0, MONTHS - 1).astype("int32")
facts = np.stack([duty * 2 - 1.2, grit - 1, depth], axis=1).astype("float32")
cut = 3200


class Hazard(keras.Model):
    def __init__(self):
        super().__init__()
        self.make = layers.Embedding(5, 3)
        self.one = layers.Dense(64, activation="relu")
        self.two = layers.Dense(64, activation="relu")
        self.out = layers.Dense(MONTHS, activation="sigmoid")

    def call(self, inputs):
        facts, make = inputs
        return self.out(self.two(self.one(tf.concat([facts, self.make(make)], axis=-1))))

    def train_step(self, data):
        inputs, (month, event) = data
        before = tf.sequence_mask(month, MONTHS, dtype=tf.float32)
        at = tf.one_hot(month, MONTHS) * event[:, None]
        with tf.GradientTape() as tape:
            h = self(inputs, training=True)
            loglik = before * tf.math.log(1.0 - h) + at * tf.math.log(h)
            loss = -tf.reduce_mean(tf.reduce_sum(loglik, axis=1))
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        return {"nll": loss}


model = Hazard()
model.compile(optimizer=keras.optimizers.Adam(3e-3))
model((facts[:2], make[:2]))
gradwatch.watch(model)
train = tf.data.Dataset.from_tensor_slices(((facts[:cut], make[:cut]), (month[:cut], event[:cut])))
model.fit(train.shuffle(cut, seed=seed).batch(64), epochs=24, verbose=0)

h = model.predict((facts[cut:], make[cut:]), verbose=0)
expect = np.cumprod(1 - h, axis=1).sum(axis=1)
rank = lambda a: a.argsort().argsort()
good = np.isfinite(expect).all()
print(
    "SCORE rank_correlation",
    round(float(np.corrcoef(rank(expect), rank(life[cut:]))[0, 1]) if good else float("nan"), 4),
)
