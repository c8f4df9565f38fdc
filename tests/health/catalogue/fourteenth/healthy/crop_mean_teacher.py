"""Classify crops from spectral time series with 32 labels and a mean teacher.

A student is trained on a handful of labelled fields and on the agreement with
an exponential moving average of itself on 3000 unlabelled fields; the weight
of the agreement is ramped up over the first half of training.
The score is the teacher's accuracy on new fields (four crops).
"""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)
DAYS, CROPS, STEPS = 24, 4, 800


def make_fields(n):
    crop = rng.integers(0, CROPS, n)
    t = np.linspace(0, 1, DAYS)
    peak = np.array([0.35, 0.45, 0.6, 0.5])[crop] + 0.04 * rng.normal(size=n)
    width = np.array([0.12, 0.2, 0.14, 0.1])[crop] * rng.uniform(0.85, 1.15, n)
    ndvi = np.exp(-(((t - peak[:, None]) / width[:, None]) ** 2))
    red = 1 - np.roll(ndvi, 2, axis=1) * rng.uniform(0.5, 1.0, (n, 1))
    x = np.stack([ndvi * rng.uniform(0.7, 1.1, (n, 1)), red], -1)
    x += 0.18 * rng.normal(size=x.shape)
    return x.reshape(n, -1).astype("float32"), crop


def build():
    return keras.Sequential(
        [
            keras.layers.Input((DAYS * 2,)),
            keras.layers.GaussianNoise(0.15),
            keras.layers.Dense(96, activation="relu"),
            keras.layers.Dropout(0.3),
            keras.layers.Dense(64, activation="relu"),
            keras.layers.Dense(CROPS),
        ]
    )


x_lab, y_lab = make_fields(32)
x_unl, _ = make_fields(3000)
x_test, y_test = make_fields(2000)

student, teacher = build(), build()
teacher.set_weights(student.get_weights())
teacher.trainable = False
optimizer = keras.optimizers.Adam(2e-3)
optimizer.build(student.trainable_variables)


@tf.function
def train_step(xl, yl, xu, weight, decay):
    both = tf.concat([xl, xu], axis=0)
    target = tf.nn.softmax(teacher(both, training=True))
    with tf.GradientTape() as tape:
        logits = student(both, training=True)
        known = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(yl, logits[: tf.shape(xl)[0]]))
        agree = tf.reduce_mean(tf.reduce_sum(tf.square(tf.nn.softmax(logits) - target), -1))
        loss = known + weight * agree
    grads = tape.gradient(loss, student.trainable_variables)
    optimizer.apply_gradients(zip(grads, student.trainable_variables))
    for t, s in zip(teacher.weights, student.weights):
        if "seed" not in s.path:
            t.assign(decay * t + (1 - decay) * s)
    return loss


watch = gradwatch.watch(student, optimizer)
for step in range(STEPS):
    ramp = min(1.0, step / (STEPS / 2))
    weight = 8.0 * np.exp(-5 * (1 - ramp) ** 2)
    decay = min(0.99, 1 - 1 / (step + 1))
    lab = rng.integers(0, 32, 16)
    unl = rng.integers(0, 3000, 64)
    loss = train_step(
        tf.constant(x_lab[lab]),
        tf.constant(y_lab[lab]),
        tf.constant(x_unl[unl]),
        tf.constant(weight, tf.float32),
        tf.constant(decay, tf.float32),
    )
    watch.log(loss=loss)
    if step % 100 == 0:
        print(f"step {step} loss {float(loss):.4f}")

pred = teacher.predict(x_test, batch_size=500, verbose=0).argmax(1)
score = float(np.mean(pred == y_test))
print(f"score (teacher accuracy) {score:.3f} chance {1 / CROPS:.3f}")
