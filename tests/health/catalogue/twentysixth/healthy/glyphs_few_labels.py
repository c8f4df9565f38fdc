"""Recognising noisy glyphs with 150 labelled images and many unlabelled ones: mean teacher."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
rng = np.random.default_rng(seed)
keras.utils.set_random_seed(seed)

SIDE, CLASSES, LABELLED = 12, 6, 150
STEPS, EMA = 500, 0.98

glyphs = (np.random.default_rng(7).uniform(size=(CLASSES, 8, 8)) < 0.4).astype("float32")


def make_images(n):
    y = rng.integers(0, CLASSES, n)
    x = np.zeros((n, SIDE, SIDE, 1), "float32")
    for i in range(n):
        r, c = rng.integers(0, SIDE - 8 + 1, 2)
        x[i, r : r + 8, c : c + 8, 0] = glyphs[y[i]] * rng.uniform(0.7, 1.3)
    return x + 0.25 * rng.normal(size=x.shape).astype("float32"), y.astype("int32")


x_lab, y_lab = make_images(LABELLED)
x_unl, _ = make_images(4000)
x_test, y_test = make_images(1500)


def make_net(name):
    return keras.Sequential(
        [
            keras.Input((SIDE, SIDE, 1)),
            layers.Conv2D(24, 3, padding="same", activation="leaky_relu"),
            layers.MaxPooling2D(),
            layers.Conv2D(48, 3, padding="same", activation="leaky_relu"),
            layers.MaxPooling2D(),
            layers.Flatten(),
            layers.Dropout(0.4),
            layers.Dense(64, activation="leaky_relu"),
            layers.Dense(CLASSES),
        ],
        name=name,
    )


student, teacher = make_net("student"), make_net("teacher")
teacher.set_weights(student.get_weights())
teacher.trainable = False
gradwatch.watch(student)
optimizer = keras.optimizers.SGD(0.05, momentum=0.9, nesterov=True, global_clipnorm=2.0)
optimizer.build(student.trainable_variables)


def jitter(x):
    return x + 0.15 * tf.random.normal(tf.shape(x))


@tf.function
def train_step(xl, yl, xu, consistency):
    goal = tf.nn.softmax(teacher(jitter(xu), training=False))
    with tf.GradientTape() as tape:
        logits = student(tf.concat([jitter(xl), jitter(xu)], 0), training=True)
        n = tf.shape(xl)[0]
        supervised = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(yl, logits[:n]))
        agree = tf.reduce_mean(tf.reduce_sum(tf.square(goal - tf.nn.softmax(logits[n:])), -1))
        loss = supervised + consistency * agree
    grads = tape.gradient(loss, student.trainable_variables)
    optimizer.apply_gradients(zip(grads, student.trainable_variables))
    for slow, fast in zip(teacher.variables, student.variables):
        if slow.dtype == "float32":
            slow.assign(EMA * slow + (1.0 - EMA) * fast)
    return supervised, agree


for step in range(STEPS):
    lab, unl = rng.integers(0, LABELLED, 16), rng.integers(0, len(x_unl), 64)
    ramp = 4.0 * np.exp(-5.0 * (1.0 - min(1.0, step / 200)) ** 2)
    sup, agree = train_step(
        tf.constant(x_lab[lab]), tf.constant(y_lab[lab]), tf.constant(x_unl[unl]), tf.constant(ramp, tf.float32)
    )
    if step % 100 == 0 or step == STEPS - 1:
        print(f"step {step:4d}  supervised {float(sup):.4f}  consistency {float(agree):.4f}")

print(
    "SCORE teacher_accuracy",
    round(float(np.mean(teacher.predict(x_test, batch_size=500, verbose=0).argmax(1) == y_test)), 4),
)
