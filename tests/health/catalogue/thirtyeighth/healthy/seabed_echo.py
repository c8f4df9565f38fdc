"""Learns features of seabed echoes without labels and without negatives (SimSiam), judged by a linear read-out."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

LEN, CLASSES, BATCH, STEPS = 48, 6, 96, 700
form = np.cumsum(rng.normal(size=(CLASSES, LEN)), 1)
form = (form - form.mean(1, keepdims=True)) / form.std(1, keepdims=True)


def echoes(n):
    y = rng.integers(0, CLASSES, n)
    x = rng.uniform(0.6, 1.5, (n, 1)) * form[y] + rng.normal(0, 0.7, (n, LEN)) + rng.normal(0, 1, (n, 1))
    return x.astype("float32"), y


x_train, y_train = echoes(4000)
x_test, y_test = echoes(1000)

backbone = keras.Sequential(
    [
        keras.Input((LEN,)),
        layers.Dense(96),
        layers.BatchNormalization(),
        layers.ReLU(),
        layers.Dense(48),
        layers.BatchNormalization(scale=False, center=False),
    ]
)
predictor = keras.Sequential(
    [keras.Input((48,)), layers.Dense(16), layers.BatchNormalization(), layers.ReLU(), layers.Dense(48)]
)
inp = keras.Input((LEN,))
z = backbone(inp)
model = keras.Model(inp, [z, predictor(z)])
opt = keras.optimizers.SGD(keras.optimizers.schedules.CosineDecay(0.05, STEPS), momentum=0.9)
gradwatch.watch(model)


def view(x):
    n = tf.shape(x)[0]
    keep = tf.cast(tf.random.uniform(tf.shape(x)) > 0.2, tf.float32)
    return keep * (x * tf.random.uniform((n, 1), 0.7, 1.4) + tf.random.normal((n, 1))) + 0.3 * tf.random.normal(
        tf.shape(x)
    )


def closeness(p, z):
    return -tf.reduce_mean(tf.reduce_sum(tf.math.l2_normalize(p, 1) * tf.math.l2_normalize(tf.stop_gradient(z), 1), 1))


@tf.function
def train_step(x):
    with tf.GradientTape() as tape:
        z1, p1 = model(view(x), training=True)
        z2, p2 = model(view(x), training=True)
        loss = 0.5 * closeness(p1, z2) + 0.5 * closeness(p2, z1)
    grads = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for step in range(STEPS):
    loss = train_step(tf.constant(x_train[rng.integers(0, len(x_train), BATCH)]))
    if step % 100 == 0:
        print(step, float(loss))

a, b = backbone.predict(x_train, verbose=0), backbone.predict(x_test, verbose=0)
one = lambda m: np.concatenate([m, np.ones((len(m), 1))], 1)
w = np.linalg.solve(one(a).T @ one(a) + 0.1 * np.eye(49), one(a).T @ np.eye(CLASSES)[y_train])
print("SCORE linear_accuracy", round(float(np.mean((one(b) @ w).argmax(1) == y_test)), 4))
