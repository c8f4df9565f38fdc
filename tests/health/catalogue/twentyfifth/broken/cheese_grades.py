"""Grade (1 to 5) of a wheel of hard cheese from tapping sounds: spectra of three taps and the weight."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

BANDS, GRADES = 32, 5
f = np.arange(BANDS)
SHARE = [0.08, 0.14, 0.2, 0.26, 0.32]


def make(n):
    grade = rng.choice(np.arange(1, GRADES + 1), n, p=SHARE)
    pitch = 6 + 3.6 * grade + rng.normal(scale=0.6, size=n)
    holes = rng.poisson(6 - grade)
    taps = []
    for _ in range(3):
        p = pitch + rng.normal(scale=1.0, size=n)
        s = np.exp(-(((f - p[:, None]) / 2.5) ** 2))
        s += 0.2 * holes[:, None] * np.exp(-f / 4.0) + rng.gamma(1.0, 0.12, (n, BANDS))
        taps.append(s)
    x = np.log1p(np.stack(taps, axis=1))
    weight = 30 + 0.4 * grade + rng.normal(scale=1.5, size=n)
    return x.astype("float32"), weight.astype("float32")[:, None], grade.astype("int32")


x_train, w_train, g_train = make(6000)
x_test, w_test, g_test = make(1500)
middle, width = w_train.mean(), w_train.std()
w_train, w_test = (w_train - middle) / width, (w_test - middle) / width


def target(grade):
    return tf.one_hot(grade, GRADES)


def pipeline(x, w, g):
    data = tf.data.Dataset.from_tensor_slices(((x, w), g)).shuffle(len(x), seed=seed)
    return data.map(lambda inputs, grade: (inputs, target(grade))).batch(64).prefetch(2)


taps = keras.Input((3, BANDS))
weight = keras.Input((1,))
h = layers.TimeDistributed(layers.Dense(32, activation="relu"))(taps)
h = layers.GlobalAveragePooling1D()(h)
h = layers.Concatenate()([h, weight])
h = layers.Dense(48, activation="relu")(h)
out = layers.Dense(GRADES, activation="softmax")(h)
model = keras.Model([taps, weight], out, name="cheese")

model.compile(optimizer=keras.optimizers.Adamax(4e-3), loss="categorical_crossentropy", metrics=["accuracy"])
gradwatch.watch(model)

model.fit(pipeline(x_train, w_train, g_train), epochs=10, verbose=2)

probability = model.predict([x_test, w_test], verbose=0)
grade = np.argmax(probability, axis=1)
print("SCORE test_accuracy", round(float(np.mean(grade == g_test)), 4))
