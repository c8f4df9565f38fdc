"""A small network learns bird-call classes from a larger one, on clips nobody has labelled."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", 0))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

N_SPECIES, N_BANDS, N_FRAMES = 6, 12, 16


def calls(n):
    species = rng.integers(0, N_SPECIES, n)
    t = np.arange(N_FRAMES)[None, :, None]
    band = np.arange(N_BANDS)[None, None, :]
    base = 2 + 1.3 * species + rng.normal(scale=0.6, size=n)
    slope = np.where(species % 2 == 0, 0.25, -0.2) + rng.normal(scale=0.05, size=n)
    speed = 0.5 + 0.15 * (species % 3)
    pitch = base[:, None, None] + slope[:, None, None] * (t - 8)
    pulse = 0.6 + 0.4 * np.sin(speed[:, None, None] * t + rng.uniform(0, 6, (n, 1, 1)))
    spec = 2 * pulse * np.exp(-((band - pitch) ** 2) / 1.5)
    spec = spec + rng.normal(scale=0.35, size=spec.shape)
    return spec.astype("float32"), species.astype("int32")


def convnet(width, name):
    return keras.Sequential(
        [
            keras.Input((N_FRAMES, N_BANDS)),
            keras.layers.Conv1D(width, 3, activation="relu"),
            keras.layers.Conv1D(width, 3, activation="relu"),
            keras.layers.GlobalAveragePooling1D(),
            keras.layers.Dense(N_SPECIES),
        ],
        name=name,
    )


class Lesson(keras.Model):
    def __init__(self, teacher, student, temperature=2.0):
        super().__init__()
        self.teacher, self.student = teacher, student
        self.teacher.trainable = False
        self.temperature = temperature
        self.divergence = keras.losses.KLDivergence()

    def call(self, x, training=False):
        return self.student(x, training=training)

    def train_step(self, data):
        x = data
        taught = self.teacher(x, training=False) / self.temperature
        with tf.GradientTape() as tape:
            said = self.student(x, training=True) / self.temperature
            loss = self.divergence(tf.nn.softmax(taught), tf.nn.softmax(said))
            loss = loss * self.temperature**2
        grads = tape.gradient(loss, self.student.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.student.trainable_variables))
        return {"distill_loss": loss}


labelled_x, labelled_y = calls(4000)
unlabelled_x, _ = calls(8000)
test_x, test_y = calls(2000)

teacher = convnet(64, "teacher")
teacher.compile(
    optimizer=keras.optimizers.Adam(2e-3),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
teacher.fit(labelled_x, labelled_y, batch_size=64, epochs=6, verbose=0)
print("teacher accuracy", round(float(teacher.evaluate(test_x, test_y, verbose=0)[1]), 3))

student = convnet(12, "student")
lesson = Lesson(teacher, student)
lesson.compile(optimizer=keras.optimizers.Adam(3e-3))
gradwatch.watch(lesson)
lesson.fit(unlabelled_x, batch_size=64, epochs=8, verbose=2)

guess = np.argmax(student.predict(test_x, verbose=0), axis=1)
print("SCORE student_accuracy", round(float(np.mean(guess == test_y)), 4))
