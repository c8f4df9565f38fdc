"""Water level of rooftop cisterns from 192 hours of rain: a bank of linear memories, then an MLP."""

import os

import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", 0))
np.random.seed(SEED)
tf.keras.utils.set_random_seed(SEED)

HOURS, BANK, BATCH, STEPS = 192, 24, 64, 2500


def simulate(n):
    rain = np.random.gamma(0.25, 2.0, (n, HOURS)) * (np.random.rand(n, HOURS) < 0.35)
    heat = 0.5 + 0.5 * np.sin(2 * np.pi * (np.arange(HOURS) / 24 + np.random.rand(n, 1)))
    level = np.zeros(n)
    soil = np.zeros(n)
    for t in range(HOURS):
        soil = 0.93 * soil + 0.07 * rain[:, t]
        level = 0.985 * level + 0.6 * rain[:, t] + 0.8 * soil - 0.05 * heat[:, t]
    x = np.stack([rain, heat], axis=-1)
    y = level + 0.3 * np.random.randn(n)
    return x.astype(np.float32), y.astype(np.float32)[:, None]


x_all, y_all = simulate(6000)
y_all = (y_all - y_all.mean()) / y_all.std()
x_fit, y_fit = x_all[:5000], y_all[:5000]
x_val, y_val = x_all[5000:], y_all[5000:]


class MemoryBank(tf.keras.layers.Layer):
    """h[t] = decay * h[t-1] + W x[t]; only the last state is needed, so the sum is unrolled."""

    def __init__(self, units, **kw):
        super().__init__(**kw)
        self.units = units
        self.feed = tf.keras.layers.Dense(units)

    def build(self, shape):
        self.decay = self.add_weight(
            name="decay", shape=(self.units,), initializer=tf.keras.initializers.RandomUniform(0.70, 0.97)
        )
        self.age = tf.range(shape[1] - 1, -1, -1, dtype=tf.float32)

    def call(self, x):
        kernel = tf.pow(self.decay[None, :], self.age[:, None])
        return tf.einsum("btn,tn->bn", self.feed(x), kernel)


model = tf.keras.Sequential(
    [
        tf.keras.layers.Input((HOURS, 2)),
        MemoryBank(BANK),
        tf.keras.layers.Dense(32, activation="relu"),
        tf.keras.layers.Dense(1),
    ]
)
sgd = tf.keras.optimizers.SGD(learning_rate=0.0004, momentum=0.9)
gradwatch.watch(model)


@tf.function
def train_on(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
    grads = tape.gradient(loss, model.trainable_variables)
    sgd.apply_gradients(zip(grads, model.trainable_variables))
    return loss


running = 0.0
for k in range(STEPS):
    rows = np.random.randint(0, len(x_fit), BATCH)
    running += float(train_on(x_fit[rows], y_fit[rows]))
    if (k + 1) % 100 == 0:
        print(f"{k + 1:5d}  mse {running / 100:.4f}")
        running = 0.0

err = np.mean((model(x_val).numpy() - y_val) ** 2)
print("SCORE r2", round(float(1 - err / y_val.var()), 4))
