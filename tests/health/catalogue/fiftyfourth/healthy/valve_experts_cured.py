"""A valve behaves differently in each regime: mixture of small experts with a learned gate."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", 0))
tf.keras.utils.set_random_seed(SEED)

EXPERTS = 4


def valve(n, rng):
    """Flow through a valve from six gauges; the law changes with opening and temperature."""
    x = rng.uniform(-1, 1, (n, 6)).astype("float32")
    opening, temp, p1, p2, wear, speed = x.T
    drop = p1 - p2
    laminar = 1.5 * drop * (1 + opening)
    choked = 1.2 * np.sin(3 * p1) + 0.5 * speed
    flutter = np.sin(5 * speed + 2 * wear) * (0.5 + drop**2)
    stuck = -0.8 * wear * p2 + 0.6 * temp
    flow = np.where(opening > 0, np.where(temp > 0, laminar, choked), np.where(speed > wear, flutter, stuck))
    return x, (flow + rng.normal(0, 0.03, n)).astype("float32")[:, None]


rng = np.random.default_rng(SEED + 90)
x_train, y_train = valve(20000, rng)
x_test, y_test = valve(4000, rng)


class ExpertBank(layers.Layer):
    """Several small networks of the same form, evaluated side by side."""

    def __init__(self, count, hidden):
        super().__init__()
        self.hidden = [layers.Dense(hidden, activation="relu") for _ in range(count)]
        self.second = [layers.Dense(hidden, activation="relu") for _ in range(count)]
        self.out = [layers.Dense(1) for _ in range(count)]

    def call(self, x):
        answers = [o(s(h(x))) for h, s, o in zip(self.hidden, self.second, self.out)]
        return tf.concat(answers, axis=-1)


class ValveModel(keras.Model):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.bank = ExpertBank(EXPERTS, 24)
        self.gate_hidden = layers.Dense(24, activation="relu")
        self.gate = layers.Dense(EXPERTS, activation="softmax")

    def call(self, x):
        share = self.gate(self.gate_hidden(x))
        return tf.reduce_sum(share * self.bank(x), axis=-1, keepdims=True)

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            y_pred = self(x, training=True)
            loss = self.compute_loss(x=x, y=y, y_pred=y_pred)
        weights = self.trainable_variables
        self.optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
        for metric in self.metrics:
            if metric.name == "loss":
                metric.update_state(loss)
            else:
                metric.update_state(y, y_pred)
        return {m.name: m.result() for m in self.metrics}


model = ValveModel()
model(x_train[:2])
model.compile(optimizer=keras.optimizers.Adam(3e-3), loss="mse", metrics=["mae"])
gradwatch.watch(model)

model.fit(x_train, y_train, batch_size=128, epochs=7, verbose=2, validation_data=(x_test, y_test))

pred = model.predict(x_test, verbose=0)
print("SCORE r2", float(1 - np.mean((pred - y_test) ** 2) / np.var(y_test)))
