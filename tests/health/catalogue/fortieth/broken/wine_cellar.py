"""Learns ratings of wines by members of a tasting club from member, wine and grape identities plus price and age."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

MEMBERS, WINES, GRAPES, K = 240, 160, 15, 12
taste = rng.normal(0, 1, (MEMBERS, 3))
trait = rng.normal(0, 1, (WINES, 3))
grape_of = rng.integers(0, GRAPES, WINES)
grape_like = rng.normal(0, 0.5, GRAPES)
price = rng.uniform(5, 60, WINES)
age = rng.uniform(0, 15, WINES)

n = 14000
who = rng.integers(0, MEMBERS, n)
what = rng.integers(0, WINES, n)
score = (
    0.6 * np.sum(taste[who] * trait[what], axis=1)
    + 0.6 * rng.normal(0, 1, MEMBERS)[who]
    + 0.5 * rng.normal(0, 1, WINES)[what]
    + grape_like[grape_of[what]]
    + 0.4 * np.log(price[what] / 20)
    + rng.normal(0, 0.3, n)
).astype("float32")
facts = np.stack([np.log(price / 20), (age - 7.5) / 5], axis=1).astype("float32")[what]
grape = grape_of[what]
cut = 12000


class Sommelier(keras.Model):
    def __init__(self):
        super().__init__()
        self.member = layers.Embedding(MEMBERS, K)
        self.wine = layers.Embedding(WINES, K)
        self.grape = layers.Embedding(GRAPES, 4)
        self.head = keras.Sequential(
            [
                keras.Input((3 * K + 4 + 2,)),
                layers.Dense(64, activation="relu"),
                layers.Dense(32, activation="relu"),
                layers.Dense(1),
            ]
        )

    def call(self, inputs):
        member, wine, grape, facts = inputs
        m, w = self.member(member), self.wine(wine)
        return self.head(tf.concat([m, w, m * w, self.grape(grape), facts], axis=-1))[:, 0]


model = Sommelier()
optimizer = keras.optimizers.Adam(3e-3)
weights = model.trainable_variables
model((who[:2], what[:2], grape[:2], facts[:2]))
gradwatch.watch(model)


@tf.function
def step(member, wine, grp, fct, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model((member, wine, grp, fct), training=True) - y))
    grads = tape.gradient(loss, weights)
    optimizer.apply_gradients(zip(grads, weights))
    return loss


data = tf.data.Dataset.from_tensor_slices((who[:cut], what[:cut], grape[:cut], facts[:cut], score[:cut]))
for batch in data.shuffle(cut, seed=seed).repeat().batch(128).take(1000):
    step(*batch)

p = model((who[cut:], what[cut:], grape[cut:], facts[cut:])).numpy()
print("SCORE r2", round(float(1 - np.mean((p - score[cut:]) ** 2) / np.var(score[cut:])), 4))
