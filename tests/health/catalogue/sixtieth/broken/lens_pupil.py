import os

import keras
import numpy as np
import tensorflow as tf
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)

digits = load_digits()
x, y = (digits.data / 16.0).astype("float32"), digits.target
x_train, x_test, y_train, y_test = train_test_split(x, y, test_size=0.3, random_state=SEED)


def mlp(units, name):
    return keras.Sequential(
        [keras.Input((64,))] + [keras.layers.Dense(u, activation="relu") for u in units] + [keras.layers.Dense(10)],
        name=name,
    )


teacher = mlp([256, 256], "teacher")
teacher.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
teacher.fit(x_train, y_train, epochs=15, batch_size=32, verbose=0)
print("teacher", teacher.evaluate(x_test, y_test, verbose=0)[1])
teacher.trainable = False


class Distiller(keras.Model):
    def __init__(self, student, teacher, temperature=3.0):
        super().__init__()
        self.student, self.teacher, self.temperature = student, teacher, temperature
        self.kl = keras.losses.KLDivergence()
        self.tracker = keras.metrics.Mean(name="loss")

    @property
    def metrics(self):
        return [self.tracker]

    def call(self, x):
        return self.student(x)

    def train_step(self, x):
        soft = self.teacher(x, training=False)
        with tf.GradientTape() as tape:
            logits = self.student(x, training=True)
            loss = self.temperature**2 * self.kl(
                tf.nn.log_softmax(soft / self.temperature),
                tf.nn.log_softmax(logits / self.temperature),
            )
        variables = self.student.trainable_variables
        self.optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
        self.tracker.update_state(loss)
        return {"loss": self.tracker.result()}


student = mlp([32], "student")
model = Distiller(student, teacher)
model.compile(optimizer=keras.optimizers.Adam(2e-3))
watch = gradwatch.watch(model)

unlabelled = np.concatenate([x_train, x_train + np.random.normal(0, 0.05, x_train.shape).astype("float32")])
model.fit(tf.data.Dataset.from_tensor_slices(unlabelled).shuffle(3000, seed=SEED).batch(32), epochs=15, verbose=2)

pred = student.predict(x_test, verbose=0).argmax(-1)
print("SCORE", float(np.mean(pred == y_test)))
