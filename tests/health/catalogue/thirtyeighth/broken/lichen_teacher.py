"""Semi-supervised lichen recognition: a student learns from few labels and from agreement with its moving-average teacher."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

SIDE, CLASSES, BATCH, STEPS, DECAY = 12, 5, 64, 700, 0.98
proto = rng.normal(size=(CLASSES, SIDE, SIDE, 3))
proto = (proto + np.roll(proto, 1, 1) + np.roll(proto, 1, 2)) / 1.7


def photos(n):
    y = rng.integers(0, CLASSES, n)
    light = rng.uniform(0.5, 1.3, (n, 1, 1, 1))
    x = 110 + 25 * light * (0.45 * proto[y] + rng.normal(0, 1.2, (n, SIDE, SIDE, 3)))
    return (x / 100).astype("float32"), y.astype("int32")


x_lab, y_lab = photos(100)
x_unl, _ = photos(3000)
x_test, y_test = photos(1000)


def build():
    return keras.Sequential(
        [
            keras.Input((SIDE, SIDE, 3)),
            layers.Conv2D(16, 3, padding="same", use_bias=False),
            layers.BatchNormalization(momentum=0.9),
            layers.ReLU(),
            layers.Conv2D(24, 3, strides=2, padding="same", use_bias=False),
            layers.BatchNormalization(momentum=0.9),
            layers.ReLU(),
            layers.Flatten(),
            layers.Dropout(0.3),
            layers.Dense(CLASSES),
        ]
    )


student, teacher = build(), build()
teacher.set_weights(student.get_weights())
opt = keras.optimizers.Adam(1e-3)
gradwatch.watch(student)


@tf.function
def train_step(xl, yl, xu, ramp):
    soft = tf.nn.softmax(teacher(xu, training=False))
    with tf.GradientTape() as tape:
        both = tf.concat([xl, xu + 0.1 * tf.random.normal(tf.shape(xu))], 0)
        logits = student(both, training=True)
        sup = tf.reduce_mean(keras.losses.sparse_categorical_crossentropy(yl, logits[:32], from_logits=True))
        agree = tf.reduce_mean(tf.square(tf.nn.softmax(logits[32:]) - soft))
        loss = sup + ramp * agree
    grads = tape.gradient(loss, student.trainable_variables)
    opt.apply_gradients(zip(grads, student.trainable_variables))
    for t, s in zip(teacher.trainable_weights, student.trainable_weights):
        t.assign(DECAY * t + (1 - DECAY) * s)
    return sup, agree


for step in range(STEPS):
    i = rng.integers(0, len(x_lab), 32)
    j = rng.integers(0, len(x_unl), BATCH)
    sup, agree = train_step(
        tf.constant(x_lab[i]),
        tf.constant(y_lab[i]),
        tf.constant(x_unl[j]),
        tf.constant(min(1.0, step / 300) * 8.0, tf.float32),
    )
    if step % 100 == 0:
        print(step, float(sup), float(agree))

hit = teacher.predict(x_test, verbose=0).argmax(1) == y_test
print("SCORE teacher_accuracy", round(float(hit.mean()), 4))
