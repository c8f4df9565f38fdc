"""Semi-supervised mean-teacher classification of leaf outlines with few labelled examples."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)


C, P = 6, 40
coef = rng.normal(size=(C, 5)) * 0.22 / np.arange(1, 6)
ang = np.linspace(0, 2 * np.pi, P, endpoint=False)


def make(n, balanced=False):
    y = np.arange(n) % C if balanced else rng.integers(0, C, n)
    k = coef[y] + 0.035 * rng.normal(size=(n, 5))
    r = 1 + (k[..., None] * np.cos(np.arange(1, 6)[:, None] * ang)[None]).sum(1)
    return (r + 0.05 * rng.normal(size=(n, P)) - 1).astype("float32") * 3, y.astype("int32")


x_lab, y_lab = make(24, balanced=True)
x_unl, _ = make(4000)
x_test, y_test = make(1500)


def make_net():
    return keras.Sequential(
        [
            keras.Input((P,)),
            layers.GaussianNoise(0.15),
            layers.Dense(96, activation="relu"),
            layers.Dropout(0.3),
            layers.Dense(96, activation="relu"),
            layers.Dropout(0.3),
            layers.Dense(C),
        ]
    )


student, teacher = make_net(), make_net()
teacher.set_weights(student.get_weights())
teacher.trainable = False
optimizer = keras.optimizers.Adam(1.5e-3)
ce = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
gradwatch.watch(student)


@tf.function
def train_step(x, y, u, weight, decay):
    goal = tf.stop_gradient(tf.nn.softmax(teacher(u, training=True)))
    with tf.GradientTape() as tape:
        sup = ce(y, student(x, training=True))
        cons = tf.reduce_mean(tf.reduce_sum(tf.square(tf.nn.softmax(student(u, training=True)) - goal), axis=1))
        loss = sup + weight * cons
    grads = tape.gradient(loss, student.trainable_variables)
    optimizer.apply_gradients(zip(grads, student.trainable_variables))
    for t, s in zip(teacher.weights, student.weights):
        if t.dtype == "float32":
            t.assign(decay * t + (1 - decay) * s)
    return sup, cons


STEPS = 1000
for step in range(STEPS):
    ramp = 6.0 * np.exp(-5 * (1 - min(1.0, step / 400)) ** 2)
    decay = min(0.99, 1 - 1 / (step + 1))
    i, j = rng.integers(0, len(x_lab), 18), rng.integers(0, len(x_unl), 96)
    sup, cons = train_step(x_lab[i], y_lab[i], x_unl[j], tf.constant(ramp, tf.float32), tf.constant(decay, tf.float32))
    if step % 100 == 0:
        print("step", step, "supervised", round(float(sup), 4), "consistency", round(float(cons), 5))

acc = (teacher.predict(x_test, verbose=0).argmax(1) == y_test).mean()
print("SCORE teacher_accuracy", round(float(acc), 4))
