"""Where will the ship be tomorrow?

Dead reckoning with a learned correction of speed and course from wind, draught and
ship type; the error is the great-circle distance to the position reported a day later.
"""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)

EARTH_NM = 3440.07
N = 8000
BATCH = 32
STEPS = 300

r = np.random.RandomState(SEED)
lat = np.radians(r.uniform(-50, 60, N))
lon = np.radians(r.uniform(-170, 170, N))
speed = r.uniform(4, 20, N)  # knots
course = r.uniform(0, 2 * np.pi, N)
kind = np.eye(5)[r.randint(0, 5, N)]
wind = r.normal(0, 1, (N, 2))
draught = r.normal(0, 1, N)

factor = np.clip(0.75 + kind @ np.array([-0.25, -0.1, 0.0, 0.1, 0.15]) - 0.05 * draught, 0.2, 1.1)
turn = 0.5 * wind[:, 0] * (kind @ np.array([1.0, 0.6, 0.3, -0.3, -0.6])) + 0.1 * wind[:, 1]


def sail(lat, lon, way, heading, m=np):
    """Position after `way` radians on a constant heading."""
    new_lat = lat + way * m.cos(heading)
    return new_lat, lon + way * m.sin(heading) / m.cos(lat)


way_true = speed * 24 * factor / EARTH_NM
lat2, lon2 = sail(lat, lon, way_true, course + turn)
lat2 = lat2 + r.normal(0, 0.006, N)
lon2 = lon2 + r.normal(0, 0.006, N)

inputs = np.column_stack([kind, wind, draught, (speed - 12) / 5, np.sin(course), np.cos(course)]).astype("float32")
fix = np.column_stack([lat, lon, speed, course]).astype("float32")
later = np.column_stack([lat2, lon2]).astype("float32")


def great_circle(lat1, lon1, lat2, lon2):
    c = tf.sin(lat1) * tf.sin(lat2) + tf.cos(lat1) * tf.cos(lat2) * tf.cos(lon1 - lon2)
    return EARTH_NM * tf.acos(c)


class Drift(keras.Model):
    def __init__(self):
        super().__init__(name="drift")
        self.h1 = keras.layers.Dense(160, activation="tanh", name="h1")
        self.h2 = keras.layers.Dense(160, activation="tanh", name="h2")
        self.out = keras.layers.Dense(2, name="correction")

    def call(self, x, fix):
        slow, turn = tf.unstack(self.out(self.h2(self.h1(x))), axis=-1)
        lat, lon, speed, course = tf.unstack(fix, axis=-1)
        way = speed * 24.0 / EARTH_NM * tf.exp(slow)
        return sail(lat, lon, way, course + turn, m=tf)


model = Drift()
gradwatch.watch(model)
model(tf.constant(inputs[:1]), tf.constant(fix[:1]))
adam = keras.optimizers.Adam(2e-3)

for step in range(STEPS):
    pick = r.randint(0, N, BATCH)
    target = tf.constant(later[pick])
    with tf.GradientTape() as tape:
        plat, plon = model(tf.constant(inputs[pick]), tf.constant(fix[pick]))
        miss = tf.reduce_mean(great_circle(plat, plon, target[:, 0], target[:, 1]))
    adam.apply(tape.gradient(miss, model.trainable_variables), model.trainable_variables)
    if step % 10 == 0:
        print(f"{step:4d}: miss by {miss.numpy():7.2f} nm")
