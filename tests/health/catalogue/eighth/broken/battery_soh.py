"""State of health of lithium cells from one charging curve."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

POINTS, BATCH, EPOCHS = 40, 48, 8


def charge_curves(n):
    soh = rng.uniform(0.68, 1.0, n)
    resistance = 0.03 + 0.08 * (1 - soh) + rng.normal(0, 0.003, n)
    q = np.linspace(0, 1, POINTS)[None, :]
    volts = 3.3 + 0.75 * (q / soh[:, None]) ** 0.8 + 1.0 * resistance[:, None]
    volts += 0.06 * np.exp(-0.5 * ((q - 0.55 * soh[:, None]) / 0.06) ** 2)
    temp = rng.normal(25, 4, (n, 1))
    volts += 0.0015 * (temp - 25) + rng.normal(0, 0.006, (n, POINTS))
    return np.minimum(volts, 4.2), soh


volts, soh = charge_curves(3000)
x = ((volts - volts.mean(axis=0)) / (volts.std(axis=0) + 1e-3)).astype("float32")
y = ((soh - soh.mean()) / soh.std()).astype("float32")
x_test, y_test = x[2600:], y[2600:]
train = tf.data.Dataset.from_tensor_slices((x[:2600], y[:2600])).shuffle(2600, seed=SEED).batch(BATCH).prefetch(1)


class HealthNet(keras.Model):
    def __init__(self):
        super().__init__()
        self.expand = layers.Reshape((POINTS, 1))
        self.conv_a = layers.Conv1D(16, 5, padding="same", activation="selu")
        self.conv_b = layers.Conv1D(16, 5, strides=4, padding="same", activation="selu")
        self.flat = layers.Flatten()
        self.hidden = layers.Dense(32, activation="selu")
        self.soh = layers.Dense(1)
        self.tracker = keras.metrics.Mean(name="loss")

    @property
    def metrics(self):
        return [self.tracker]

    def call(self, curve):
        h = self.conv_b(self.conv_a(self.expand(curve)))
        return self.soh(self.hidden(self.flat(h)))

    def train_step(self, data):
        curve, target = data
        with tf.GradientTape() as tape:
            estimate = self(curve)
            loss = tf.reduce_mean(tf.square(target - estimate))
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply(grads, self.trainable_variables)
        self.tracker.update_state(loss)
        return {"loss": self.tracker.result()}


model = HealthNet()
model(x[:2])
model.compile(optimizer=keras.optimizers.Adam(1e-3))

gradwatch.watch(model)
history = model.fit(train, epochs=EPOCHS, shuffle=False, verbose=0)

print("training loss", [round(v, 4) for v in history.history["loss"]])
estimate = model.predict(x_test, verbose=0)[:, 0]
mse = float(np.mean((estimate - y_test) ** 2))
print(f"test mse {mse:.4f}  R2 {1 - mse / float(np.var(y_test)):.4f}")
