"""A small network taught by a large one.

A student learns blurred seven-segment digits from the softened answers of a larger teacher that was trained before.
"""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
BATCH = 64
TEMPERATURE = 5.0
SEGMENTS = ["abcdef", "bc", "abged", "abgcd", "fgbc", "afgcd", "afgedc", "abc", "abcdefg", "abcdfg"]

keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)
strokes = {
    "a": (slice(1, 3), slice(3, 9)),
    "b": (slice(2, 8), slice(8, 10)),
    "c": (slice(8, 14), slice(8, 10)),
    "d": (slice(13, 15), slice(3, 9)),
    "e": (slice(8, 14), slice(2, 4)),
    "f": (slice(2, 8), slice(2, 4)),
    "g": (slice(7, 9), slice(3, 9)),
}


def make_digits(n):
    label = rng.integers(0, 10, n)
    image = np.zeros((n, 16, 12))
    for i in range(n):
        for name in SEGMENTS[label[i]]:
            image[i][strokes[name]] = rng.uniform(0.4, 1.0)
        image[i] = np.roll(image[i], rng.integers(-1, 2, 2), axis=(0, 1))
    image += rng.normal(0, 0.45, image.shape)
    return image.reshape(n, -1).astype("float32"), label.astype("int32")


def dense_net(widths, name):
    stack = [keras.Input((192,))]
    stack += [layers.Dense(w, activation="relu", name=f"{name}_{i}") for i, w in enumerate(widths)]
    return keras.Sequential(stack + [layers.Dense(10, name=f"{name}_logits")], name=name)


class Distiller(keras.Model):
    def __init__(self, student, teacher, **kwargs):
        super().__init__(**kwargs)
        self.student, self.teacher = student, teacher
        self.teacher.trainable = False
        self.loss_tracker = keras.metrics.Mean(name="loss")

    @property
    def metrics(self):
        return [self.loss_tracker]

    def call(self, x, training=False):
        return self.student(x, training=training)

    def train_step(self, data):
        x, y = data
        soft = tf.nn.softmax(self.teacher(x, training=False) / TEMPERATURE)
        with tf.GradientTape() as tape:
            logits = self.student(x, training=True)
            hard_loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits)
            log_student = tf.nn.log_softmax(logits / TEMPERATURE)
            log_teacher = tf.math.log(tf.maximum(soft, 1e-8))
            soft_loss = tf.reduce_sum(soft * (log_teacher - log_student), axis=-1) * TEMPERATURE**2
            loss = tf.reduce_mean(0.1 * hard_loss + 0.9 * soft_loss)
        gradients = tape.gradient(loss, self.student.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.student.trainable_variables))
        self.loss_tracker.update_state(loss)
        return {"loss": self.loss_tracker.result()}


x_train, y_train = make_digits(6400)
x_test, y_test = make_digits(1500)

teacher = dense_net([256, 128], "teacher")
model = Distiller(dense_net([24], "student"), teacher, name="distiller")
gradwatch.watch(model)
model.build((None, 192))

teacher.trainable = True
teacher.compile(optimizer="adam", loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))
teacher.fit(x_train[:3200], y_train[:3200], batch_size=BATCH, epochs=2, verbose=2)
teacher.trainable = False

model.compile(optimizer=keras.optimizers.Adam(3e-3))
model.fit(x_train, y_train, batch_size=BATCH, epochs=3, verbose=2)

accuracy = np.mean(model.predict(x_test, verbose=0).argmax(axis=1) == y_test)
print(f"score accuracy {accuracy:.4f} chance 0.1")
