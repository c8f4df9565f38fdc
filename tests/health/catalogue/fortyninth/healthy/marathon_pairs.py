"""Trains embeddings of marathon runners and races (most seen a few times only) and then, with these frozen, a head for finish times."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed + 26)

RUNNERS, RACES = 3000, 80
form = rng.normal(0, 1, RUNNERS)
heat_pain = rng.normal(0, 1, RUNNERS)
hills = rng.normal(0, 1, RACES)
heat = rng.normal(0, 1, RACES)
popularity = 1.0 / np.arange(1, RUNNERS + 1) ** 0.7
popularity /= popularity.sum()


def results(n):
    who = rng.choice(RUNNERS, n, p=popularity)
    race = rng.integers(0, RACES, n)
    age = rng.uniform(20, 65, n)
    slow = -1.0 * form[who] + 0.6 * hills[race] + 0.5 * heat[race] * heat_pain[who]
    slow += ((age - 32) / 18) ** 2 * 0.5 + rng.normal(0, 0.3, n)
    return who.astype("int32"), race.astype("int32"), ((age - 42) / 13).astype("float32"), slow.astype("float32")


who, race, age, slow = results(60000)
tw, tr, ta, ts = results(6000)
quick = (slow < np.quantile(slow, 0.1)).astype("float32")  # got into the fast pen

w_in, r_in, a_in = keras.Input((), dtype="int32"), keras.Input((), dtype="int32"), keras.Input((1,))
w = layers.Embedding(RUNNERS, 8, name="runner")(w_in)
r = layers.Embedding(RACES, 8, name="race")(r_in)
h = layers.Concatenate()([w, r, layers.Multiply()([w, r]), a_in])
body = keras.Model([w_in, r_in, a_in], layers.Dense(48, activation="relu")(h), name="body")
pen = layers.Dense(1, activation="sigmoid", name="pen")(body.output)
hours = layers.Dense(48, activation="relu", name="hours_hidden")(body.output)
hours = layers.Dense(1, name="hours")(hours)
model = keras.Model(body.inputs, [pen, hours])

inputs = [who, race, age[:, None]]
model.compile(keras.optimizers.Adam(3e-3), loss=["binary_crossentropy", "mse"], loss_weights=[1.0, 0.3])
gradwatch.watch(model)
model.fit(inputs, [quick, slow], batch_size=500, epochs=8, verbose=2)

body.trainable = False
model.get_layer("pen").trainable = False
model.compile(keras.optimizers.Adam(1e-3), loss=["binary_crossentropy", "mse"], loss_weights=[0.0, 1.0])
model.fit(inputs, [quick, slow], batch_size=500, epochs=6, verbose=2)

pred = model.predict([tw, tr, ta[:, None]], batch_size=2000, verbose=0)[1][:, 0]
print("SCORE r2", round(float(1 - np.mean((pred - ts) ** 2) / ts.var()), 4))
