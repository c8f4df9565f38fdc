"""Distil a large gas-sensor classifier into a small one on unlabelled recordings."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

CLASSES, DIM = 10, 24
means = rng.normal(scale=1.0, size=(CLASSES, 2, DIM))


def make_set(n):
    y = rng.integers(0, CLASSES, n)
    mode = rng.integers(0, 2, n)
    x = means[y, mode] + rng.normal(scale=1.0, size=(n, DIM))
    return x.astype("float32"), y


x_lab, y_lab = make_set(3000)
x_unlab, _ = make_set(8000)
x_test, y_test = make_set(2000)

teacher = keras.Sequential(
    [
        keras.Input((DIM,)),
        layers.Dense(256, activation="relu"),
        layers.Dropout(0.3),
        layers.Dense(256, activation="relu"),
        layers.Dropout(0.3),
        layers.Dense(CLASSES),
    ]
)
teacher.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
teacher.fit(x_lab, y_lab, batch_size=64, epochs=8, verbose=0)
print("teacher accuracy", teacher.evaluate(x_test, y_test, verbose=0)[1])

student = keras.Sequential(
    [
        keras.Input((DIM,)),
        layers.Dense(32, activation="relu"),
        layers.Dense(32, activation="relu"),
        layers.Dense(CLASSES),
    ]
)

TEMPERATURE = 3.0
kl = keras.losses.KLDivergence()


def distillation_loss(teacher_logits, student_logits):
    t = teacher_logits / TEMPERATURE
    s = student_logits / TEMPERATURE
    return kl(t, s) * TEMPERATURE**2


student.compile(keras.optimizers.Adam(2e-3), loss=distillation_loss)
gradwatch.watch(student)
soft_targets = teacher.predict(x_unlab, verbose=0)
student.fit(x_unlab, soft_targets, batch_size=64, epochs=8, verbose=2)

pred = student.predict(x_test, verbose=0).argmax(1)
print("SCORE student_accuracy", float(np.mean(pred == y_test)))
