"""Water level behind a canal lock three hours ahead, as quantiles: an echo state network and a small readout."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", 0))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

HOURS = 5200
WINDOW = 24
AHEAD = 3
UNITS = 120
QUANTILES = tf.constant([0.1, 0.5, 0.9])
BATCH = 64
STEPS = 480


def make_level():
    hour = np.arange(HOURS)
    rain = np.where(rng.random(HOURS) < 0.05, rng.gamma(1.5, 2.0, HOURS), 0.0)
    inflow = np.convolve(rain, np.arange(40) / 4.0 * np.exp(-np.arange(40) / 6.0))[:HOURS]
    boats = rng.poisson(2.5 * np.clip(np.sin((hour % 24 - 6) / 14 * np.pi), 0, None))
    level = np.zeros(HOURS)
    gate = 0
    for t in range(1, HOURS):
        if level[t - 1] > 1.2:  # the weir opens late and shuts late
            gate = 1
        elif level[t - 1] < -0.3:
            gate = 0
        level[t] = level[t - 1] + 0.035 * inflow[t] - 0.012 * boats[t] - 0.16 * gate + 0.025
        level[t] += rng.normal(0, 0.03)
    day = 2 * np.pi * hour / 24
    return np.column_stack([level, rain / 3, boats / 3, np.sin(day), np.cos(day)]).astype("float32")


series = make_level()
windows = np.lib.stride_tricks.sliding_window_view(series, WINDOW, axis=0).transpose(0, 2, 1)[:-AHEAD].copy()
change = series[WINDOW - 1 + AHEAD :, 0] - series[WINDOW - 1 : -AHEAD, 0]
cut = 4200
centre, spread = change[:cut].mean(), change[:cut].std()
target = ((change - centre) / spread).astype("float32")


class Reservoir(layers.Layer):
    """A fixed random recurrent net; only what reads it is learnt."""

    def __init__(self, units, radius=0.9, leak=0.4, **options):
        super().__init__(trainable=False, **options)
        self.units, self.radius, self.leak = units, radius, leak

    def build(self, shape):
        recurrent = rng.normal(size=(self.units, self.units)) * (rng.random((self.units, self.units)) < 0.1)
        recurrent *= self.radius / np.abs(np.linalg.eigvals(recurrent)).max()
        entry = rng.uniform(-0.6, 0.6, (shape[-1], self.units))
        constant = keras.initializers.Constant
        self.recurrent = self.add_weight(shape=recurrent.shape, initializer=constant(recurrent), trainable=False)
        self.entry = self.add_weight(shape=entry.shape, initializer=constant(entry), trainable=False)

    def call(self, steps):
        state = tf.zeros((tf.shape(steps)[0], self.units))
        for t in range(WINDOW):
            pushed = tf.tanh(tf.matmul(steps[:, t], self.entry) + tf.matmul(state, self.recurrent))
            state = (1 - self.leak) * state + self.leak * pushed
        return tf.concat([state, steps[:, -1]], axis=-1)

    def compute_output_shape(self, shape):
        return (shape[0], self.units + shape[-1])


inputs = keras.Input((WINDOW, series.shape[1]))
echoes = Reservoir(UNITS)(inputs)
hidden = layers.Dense(32, activation="relu")(echoes)
outputs = layers.Dense(3)(hidden)
model = keras.Model(inputs, outputs)

schedule = keras.optimizers.schedules.CosineDecayRestarts(0.15, first_decay_steps=60, t_mul=2.0, m_mul=0.7)
optimizer = keras.optimizers.SGD(schedule, momentum=0.8)
watch = gradwatch.watch(model)


def pinball(y, forecast):
    short = y[:, None] - forecast
    return tf.reduce_mean(tf.maximum(QUANTILES * short, (QUANTILES - 1.0) * short))


@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        loss = pinball(y, model(x, training=True))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    watch.log(loss=loss)
    return loss


total = 0.0
for number in range(STEPS):
    rows = rng.integers(0, cut - WINDOW, BATCH)
    total += float(step(tf.constant(windows[rows]), tf.constant(target[rows])))
    if (number + 1) % 80 == 0:
        print(f"step {number + 1}: pinball {total / 80:.4f}")
        total = 0.0

forecast = model.predict(windows[cut:], batch_size=256, verbose=0)
flat = np.tile(np.quantile(target[:cut], QUANTILES.numpy()), (len(forecast), 1)).astype("float32")
skill = 1 - float(pinball(target[cut:], forecast)) / float(pinball(target[cut:], flat))
inside = np.mean((target[cut:] > forecast[:, 0]) & (target[cut:] < forecast[:, 2]))
print(f"inside the band: {inside:.3f}")
print(f"score {skill:.4f}")
