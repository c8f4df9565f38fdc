"""Ratings of online courses: learner and course factors, with a small network on top."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

LEARNERS, COURSES, FACTORS = 400, 150, 12

taste = rng.normal(size=(LEARNERS, 4))
topic = rng.normal(size=(COURSES, 4))
generous = rng.normal(0, 0.4, LEARNERS)
quality = rng.normal(0, 0.5, COURSES)


def sample(count):
    who = rng.integers(0, LEARNERS, count)
    what = rng.integers(0, COURSES, count)
    stars = 3.2 + generous[who] + quality[what] + 0.5 * np.sum(taste[who] * topic[what], axis=1)
    stars = stars + rng.normal(0, 0.25, count)
    return np.stack([who, what], axis=1).astype("int32"), stars.astype("float32")


class FactorTable(keras.layers.Layer):
    """A row of factors and a bias for each id."""

    def __init__(self, rows, width, **kwargs):
        super().__init__(**kwargs)
        self.factors = tf.Variable(tf.random.normal((rows, width), stddev=0.3), trainable=True, name="factors")
        self.bias = tf.Variable(tf.zeros((rows,)), trainable=True, name="bias")

    def call(self, ids):
        return tf.gather(self.factors, ids), tf.gather(self.bias, ids)


class Recommender(keras.Model):
    def __init__(self):
        super().__init__()
        self.learners = FactorTable(LEARNERS, FACTORS, name="learners")
        self.courses = FactorTable(COURSES, FACTORS, name="courses")
        self.hidden = keras.layers.Dense(24, activation="relu")
        self.out = keras.layers.Dense(1)

    def call(self, pairs):
        learner, learner_bias = self.learners(pairs[:, 0])
        course, course_bias = self.courses(pairs[:, 1])
        mixed = self.out(self.hidden(learner * course))[:, 0]
        return mixed + learner_bias + course_bias


x_train, y_train = sample(24000)
x_test, y_test = sample(4000)

model = Recommender()
model.compile(
    optimizer=keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(8e-3, 1800)),
    loss="mse",
    metrics=["mae"],
)

gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=128, epochs=10, verbose=2)

predicted = model.predict(x_test, batch_size=500, verbose=0)
r2 = 1 - np.mean((predicted - y_test) ** 2) / np.var(y_test)
print("SCORE r2", round(float(r2), 4))
