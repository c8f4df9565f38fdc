"""Compresses a spectrum classifier into a small student by distillation on unlabelled spectra."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)


C, D = 8, 48
grid = np.arange(D)
peaks = rng.uniform(4, D - 4, (C, 3))
height = rng.uniform(0.5, 1.2, (C, 3))


def make(n):
    y = rng.integers(0, C, n)
    p = peaks[y] + rng.normal(size=(n, 3)) * 1.2
    s = (height[y][..., None] * np.exp(-0.5 * ((grid - p[..., None]) / 1.8) ** 2)).sum(1)
    return (s * rng.uniform(0.6, 1.3, (n, 1)) + 0.18 * rng.normal(size=(n, D))).astype("float32"), y.astype("int32")


x_lab, y_lab = make(3000)
x_unlab, _ = make(6000)
x_test, y_test = make(1500)
mu, sd = x_lab.mean(0), x_lab.std(0)
x_lab, x_unlab, x_test = [(v - mu) / sd for v in (x_lab, x_unlab, x_test)]

teacher = keras.Sequential(
    [
        keras.Input((D,)),
        layers.Dense(256, activation="relu"),
        layers.Dropout(0.3),
        layers.Dense(256, activation="relu"),
        layers.Dense(C),
    ],
    name="teacher",
)
teacher.compile(
    optimizer="adam", loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"]
)
teacher.fit(x_lab, y_lab, batch_size=64, epochs=6, verbose=0)
print("teacher accuracy", round(teacher.evaluate(x_test, y_test, verbose=0)[1], 4))
teacher.trainable = False

student = keras.Sequential(
    [
        keras.Input((D,)),
        layers.Dense(24, activation="relu"),
        layers.Dense(C),
    ],
    name="student",
)
optimizer = keras.optimizers.Adam(2e-3)
kld = keras.losses.KLDivergence()
T = 3.0
gradwatch.watch(student)


@tf.function
def distill_step(x):
    soft = teacher(x, training=False) / T
    with tf.GradientTape() as tape:
        out = student(x, training=True) / T
        loss = T**2 * kld(soft, out)
    grads = tape.gradient(loss, student.trainable_variables)
    optimizer.apply_gradients(zip(grads, student.trainable_variables))
    return loss


data = tf.data.Dataset.from_tensor_slices(x_unlab).shuffle(6000, seed=seed).batch(64, drop_remainder=True)
for epoch in range(10):
    losses = [float(distill_step(x)) for x in data]
    print("epoch", epoch, "loss", round(float(np.mean(losses)), 4))

acc = (student.predict(x_test, verbose=0).argmax(1) == y_test).mean()
print("SCORE student_accuracy", round(float(acc), 4))
