"""State of health of a battery cell from charge curves; network ported from our old TF1 code."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
rng = np.random.default_rng(seed)
keras.utils.set_random_seed(seed)

POINTS = 48
KEEP = 0.9


def make_cells(n):
    t = np.linspace(0, 1, POINTS)
    health = rng.uniform(0.6, 1.0, n)
    resistance = 0.05 + 0.25 * (1.0 - health) + rng.normal(0, 0.01, n)
    temperature = rng.uniform(-1, 1, n)
    soc = np.clip(t[None, :] / health[:, None], 0, 1.3)
    voltage = 3.4 + 0.55 * soc + 0.12 * np.tanh(10 * (soc - 0.95)) - 0.15 * np.exp(-9 * soc)
    voltage += resistance[:, None] * (1 - 0.3 * temperature[:, None]) * (1.2 - t[None, :])
    voltage += 0.08 * temperature[:, None] + rng.normal(0, 0.01, voltage.shape)
    x = np.concatenate([(voltage - 3.75) / 0.2, temperature[:, None]], axis=1)
    y = (health - 0.8) / 0.115
    return x.astype("float32"), y.astype("float32")


x_train, y_train = make_cells(8000)
x_test, y_test = make_cells(1500)


class HealthNet(keras.Model):
    def __init__(self):
        super().__init__()
        self.fc1 = layers.Dense(96, activation="elu")
        self.drop1 = layers.Dropout(KEEP)
        self.fc2 = layers.Dense(64, activation="elu")
        self.drop2 = layers.Dropout(KEEP)
        self.fc3 = layers.Dense(32, activation="elu")
        self.drop3 = layers.Dropout(KEEP)
        self.out = layers.Dense(1)

    def call(self, x, training=False):
        h = self.drop1(self.fc1(x), training=training)
        h = self.drop2(self.fc2(h), training=training)
        h = self.drop3(self.fc3(h), training=training)
        return self.out(h)[:, 0]


model = HealthNet()
model(x_train[:2])
optimizer = keras.optimizers.Adam(learning_rate=1e-3)
huber = keras.losses.Huber()
gradwatch.watch(model)

dataset = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(8000, seed=seed).batch(100)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = huber(y, model(x, training=True))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for epoch in range(15):
    losses = [train_step(x, y) for x, y in dataset]
    print(f"epoch {epoch + 1:2d} loss {float(tf.reduce_mean(losses)):.4f}")

pred = model(x_test, training=False).numpy()
r2 = 1.0 - np.mean((pred - y_test) ** 2) / np.var(y_test)
print("SCORE r2", round(float(r2), 4))
