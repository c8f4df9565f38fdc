"""Knowledge distillation: a convolutional spectrum classifier teaches a tiny on-device one."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers, ops

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

MINERALS, BINS = 8, 96
PEAKS = rng.uniform(10, 86, (MINERALS, 3))
HEIGHTS = rng.uniform(0.6, 1.4, (MINERALS, 3))


def measure(n):
    """Raman-like spectra: three peaks each, shifted a little, on a sloping background."""
    kind = rng.integers(0, MINERALS, n)
    bins = np.arange(BINS)
    shift = rng.normal(0, 1.0, (n, 1, 1))
    centre = PEAKS[kind][:, :, None] + shift
    height = HEIGHTS[kind][:, :, None] * rng.uniform(0.6, 1.4, (n, 3, 1))
    spectrum = (height * np.exp(-0.5 * ((bins - centre) / 3.0) ** 2)).sum(1)
    spectrum += rng.uniform(-0.5, 0.5, (n, 1)) * bins / BINS + rng.normal(0, 0.25, (n, BINS))
    spectrum = (spectrum - spectrum.mean(1, keepdims=True)) / spectrum.std(1, keepdims=True)
    return spectrum.astype("float32"), kind.astype("int32")


x_train, y_train = measure(3000)
x_test, y_test = measure(1500)

teacher = keras.Sequential(
    [
        keras.Input((BINS,)),
        layers.Reshape((BINS, 1)),
        layers.Conv1D(16, 7, padding="same", activation="relu"),
        layers.MaxPooling1D(2),
        layers.Conv1D(32, 5, padding="same", activation="relu"),
        layers.MaxPooling1D(2),
        layers.Flatten(),
        layers.Dropout(0.3),
        layers.Dense(MINERALS),
    ],
    name="teacher",
)
student = keras.Sequential(
    [keras.Input((BINS,)), layers.Dense(12, activation="tanh"), layers.Dense(MINERALS)], name="student"
)


class Distiller(keras.Model):
    def __init__(self, student, teacher, temperature=4.0, soft_share=0.7):
        super().__init__()
        self.student, self.teacher = student, teacher
        self.temperature, self.soft_share = temperature, soft_share

    def call(self, x, training=False):
        return self.student(x, training=training)

    def train_step(self, data):
        x, y = data
        wisdom = ops.softmax(self.teacher(x, training=False) / self.temperature)
        with tf.GradientTape() as tape:
            logits = self.student(x, training=True)
            hard = self.compute_loss(y=y, y_pred=logits)
            soft = ops.mean(
                ops.categorical_crossentropy(wisdom, logits / self.temperature, from_logits=True)
                - ops.sum(-wisdom * ops.log(wisdom + 1e-9), axis=-1)
            )
            # T^2 keeps the soft gradients as large as the hard ones
            loss = (1 - self.soft_share) * hard + self.soft_share * self.temperature**2 * soft
        grads = tape.gradient(loss, self.student.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.student.trainable_variables))
        for metric in self.metrics:
            metric.update_state(loss) if metric.name == "loss" else metric.update_state(y, logits)
        return {m.name: m.result() for m in self.metrics}


cross_entropy = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
teacher.compile(optimizer=keras.optimizers.Nadam(1e-3), loss=cross_entropy, metrics=["accuracy"])
teacher.fit(x_train, y_train, batch_size=64, epochs=5, verbose=2, validation_data=(x_test, y_test))
_, teacher_accuracy = teacher.evaluate(x_test, y_test, verbose=0)

teacher.trainable = False
distiller = Distiller(student, teacher)
distiller.compile(
    optimizer=keras.optimizers.Adam(3e-3),
    loss=cross_entropy,
    metrics=[keras.metrics.SparseCategoricalAccuracy(name="accuracy")],
)
gradwatch.watch(distiller)
distiller.fit(x_train, y_train, batch_size=64, epochs=8, verbose=2, validation_data=(x_test, y_test))
student_accuracy = np.mean(np.argmax(student.predict(x_test, verbose=0), 1) == y_test)
print(
    f"FINAL student accuracy {student_accuracy:.4f} (teacher {teacher_accuracy:.4f}), "
    f"{student.count_params()} against {teacher.count_params()} parameters"
)
