"""Compresses a large gas-sensor classifier into a small one, using mostly unlabelled field records."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

DIM = 24
CLASSES = 6
TEMP = 3.0
ALPHA = 0.9

centers = rng.normal(size=(CLASSES * 5, DIM)) * 0.9
center_class = np.repeat(np.arange(CLASSES), 5)


def records(n):
    c = rng.integers(0, len(centers), n)
    x = centers[c] + rng.normal(0, 0.8, (n, DIM))
    return x.astype("float32"), center_class[c]


x_lab, y_lab = records(6000)
x_field, _ = records(6400)
x_small, y_small = records(48)
x_test, y_test = records(2000)

teacher = keras.Sequential(
    [
        layers.Input((DIM,)),
        layers.Dense(256, activation="relu"),
        layers.Dropout(0.2),
        layers.Dense(256, activation="relu"),
        layers.Dense(CLASSES),
    ]
)
teacher.compile(
    optimizer=keras.optimizers.Adam(1e-3),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
teacher.fit(x_lab, y_lab, batch_size=128, epochs=6, verbose=0)
print("teacher accuracy", teacher.evaluate(x_test, y_test, verbose=0)[1])
teacher.trainable = False

student = keras.Sequential(
    [
        layers.Input((DIM,)),
        layers.Dense(48, activation="relu"),
        layers.Dense(CLASSES),
    ]
)
opt = keras.optimizers.Adam(2e-3)
ce = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
kld = keras.losses.KLDivergence()
gradwatch.watch(student)


@tf.function
def train_step(x, x_l, y_l):
    soft_t = tf.nn.softmax(teacher(x, training=False) / TEMP)
    with tf.GradientTape() as tape:
        soft_s = tf.nn.log_softmax(student(x, training=True) / TEMP)
        distill = kld(soft_t, soft_s) * TEMP**2
        hard = ce(y_l, student(x_l, training=True))
        loss = ALPHA * distill + (1 - ALPHA) * hard
    grads = tape.gradient(loss, student.trainable_variables)
    opt.apply_gradients(zip(grads, student.trainable_variables))
    return distill, hard


field = tf.data.Dataset.from_tensor_slices(x_field).shuffle(6400, seed=seed).batch(64)
small = tf.data.Dataset.from_tensor_slices((x_small, y_small)).shuffle(48, seed=seed).repeat().batch(16)
for epoch in range(10):
    for x, (x_l, y_l) in tf.data.Dataset.zip((field, small)):
        distill, hard = train_step(x, x_l, y_l)
    print("epoch", epoch, "distill", float(distill), "hard", float(hard))

acc = np.mean(np.argmax(student.predict(x_test, verbose=0), axis=1) == y_test)
print("SCORE accuracy", round(float(acc), 4))
