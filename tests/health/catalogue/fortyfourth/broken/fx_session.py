"""Trains a recurrent network that predicts the closing move of a currency pair from its session."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 13)

TICKS = 70


def sessions(n):
    """The fixing is announced in the first ticks; the close reverts towards it."""
    gaps = rng.exponential(8.0, size=(n, TICKS)) + 0.2
    returns = rng.standard_t(5, size=(n, TICKS)) * 0.5
    fixing = rng.normal(0, 1, n)
    announced = np.zeros((n, TICKS))
    announced[:, :5] = fixing[:, None]
    late = returns[:, -6:].mean(axis=1)
    close = 0.9 * fixing + 0.8 * late + rng.normal(0, 0.15, n)
    x = np.stack([gaps, returns, announced], axis=-1)
    return x.astype("float32"), close.astype("float32")[:, None]


class TickCell(keras.layers.Layer):
    """Units with their own time constants (seconds) that drift towards a target between ticks."""

    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.units = units
        self.state_size = units
        self.output_size = units

    def build(self, shape):
        slow = np.log(np.geomspace(3.0, 1500.0, self.units))
        self.log_tau = self.add_weight(
            shape=(self.units,), initializer=lambda shape, dtype=None: tf.cast(slow, "float32"), name="log_tau"
        )
        self.w = self.add_weight(shape=(shape[-1] - 1, self.units), name="w")
        self.u = self.add_weight(shape=(self.units, self.units), initializer="orthogonal", name="u")
        self.b = self.add_weight(shape=(self.units,), initializer="zeros", name="b")

    def call(self, x, states):
        h = states[0]
        gap, tick = x[:, :1], x[:, 1:]
        share = gap / tf.exp(self.log_tau)
        target = tf.tanh(tf.matmul(tick, self.w) + tf.matmul(h, self.u) + self.b)
        h = h + share * (target - h)
        return h, [h]


x, y = sessions(5000)
ticks = keras.Input((TICKS, 3), name="session")
last = keras.layers.RNN(TickCell(24), name="tape")(ticks)
model = keras.Model(ticks, keras.layers.Dense(1, name="close")(last))
optimizer = keras.optimizers.Adam(3e-3)
gradwatch.watch(model)

data = tf.data.Dataset.from_tensor_slices((x[:4200], y[:4200]))
data = data.shuffle(4200, seed=SEED).batch(50, drop_remainder=True)


@tf.function
def train_step(batch, close):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(batch, training=True) - close))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for epoch in range(14):
    losses = [float(train_step(a, b)) for a, b in data]
    print(f"epoch {epoch}  loss {np.mean(losses):.4f}", flush=True)

forecast = model.predict(x[4200:], verbose=0)
print("SCORE r2", float(1 - np.mean((forecast - y[4200:]) ** 2) / y[4200:].var()))
