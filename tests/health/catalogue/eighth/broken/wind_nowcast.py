import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 11)

N_STATIONS = 6
HOURS = 24 * 330
WINDOW = 18


def simulate_wind():
    t = np.arange(HOURS)
    synoptic = np.zeros((HOURS, 2))
    for i in range(1, HOURS):
        synoptic[i] = 0.985 * synoptic[i - 1] + rng.normal(0, 0.42, 2)
    breeze = 1.6 * np.stack([np.sin(2 * np.pi * t / 24), np.cos(2 * np.pi * t / 24 + 0.7)], -1)
    base = synoptic + breeze + np.array([2.4, 1.1])
    gains = rng.uniform(0.7, 1.2, (N_STATIONS, 1))
    field = np.stack([np.roll(base, k, axis=0) * gains[k] for k in range(N_STATIONS)], axis=1)
    field += rng.normal(0, 0.25, field.shape)
    return field.astype("float32")


class AnemometerStart(layers.Layer):
    """Starting speed of a cup anemometer: components below it read as still air."""

    def __init__(self, start=0.15, **kw):
        super().__init__(**kw)
        self.start = start

    def call(self, uv):
        return tf.sign(uv) * tf.nn.relu(tf.abs(uv) - self.start)


class Nowcaster(keras.Model):
    def __init__(self):
        super().__init__()
        self.body = keras.Sequential(
            [
                layers.Conv1D(64, 3, activation="relu"),
                layers.Conv1D(96, 3, strides=2, activation="relu"),
                layers.Flatten(),
                layers.Dense(96, activation="relu"),
            ]
        )
        self.uv = layers.Dense(2, bias_initializer=lambda shape, dtype: tf.constant([2.4, 1.1], dtype))
        self.sensor = AnemometerStart()
        self.speed_err = keras.metrics.Mean(name="uv_mse")
        self.dir_err = keras.metrics.Mean(name="direction")

    @property
    def metrics(self):
        return [self.speed_err, self.dir_err]

    def call(self, x, training=False):
        return self.sensor(self.uv(self.body(x, training=training)))

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            pred = self(x, training=True)
            uv_mse = tf.reduce_mean(tf.square(pred - y))
            bearing = tf.math.atan2(pred[:, 1], pred[:, 0])
            observed = tf.math.atan2(y[:, 1], y[:, 0])
            strength = tf.reduce_sum(tf.square(y), axis=-1)
            weight = strength / (strength + 1.0)
            direction = tf.reduce_mean(weight * (1.0 - tf.cos(bearing - observed)))
            loss = uv_mse + 0.8 * direction
        variables = self.trainable_variables
        self.optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
        self.speed_err.update_state(uv_mse)
        self.dir_err.update_state(direction)
        return {m.name: m.result() for m in self.metrics}


wind = simulate_wind()
starts = np.arange(HOURS - WINDOW - 1)
rng.shuffle(starts)
X = np.stack([wind[s : s + WINDOW].reshape(WINDOW, -1) for s in starts])
Y = np.stack([wind[s + WINDOW, 0] for s in starts])

model = Nowcaster()
model(X[:1])
model.compile(optimizer=keras.optimizers.Nadam(4e-4))
gradwatch.watch(model)
log = model.fit(X, Y, batch_size=64, epochs=3, shuffle=False, verbose=2)
print({k: round(float(v[-1]), 4) for k, v in log.history.items()})
