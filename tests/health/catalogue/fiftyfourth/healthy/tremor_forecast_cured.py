"""Short forecast of hand tremor for an active spoon: a stack of dilated convolutions."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", 0))
tf.keras.utils.set_random_seed(SEED)

HISTORY = 64
AHEAD = 12


def tremor(n, rng):
    """Two wandering oscillators (4-6 Hz and its overtone) driven by noise."""
    steps = HISTORY + 1
    out = np.zeros((n, steps), "float32")
    w = rng.uniform(0.35, 0.6, n)
    phase = rng.uniform(0, 2 * np.pi, n)
    amp = rng.uniform(0.5, 1.5, n)
    for t in range(steps):
        w = np.clip(w + rng.normal(0, 0.004, n), 0.3, 0.65)
        phase = phase + w
        amp = np.clip(amp + rng.normal(0, 0.02, n), 0.3, 1.8)
        out[:, t] = amp * (np.sin(phase) + 0.4 * np.sin(2 * phase + 0.7))
    return out + rng.normal(0, 0.04, out.shape).astype("float32")


rng = np.random.default_rng(SEED + 8)
train = tremor(4000, rng)
test = tremor(1000, rng)


class GatedUnit(layers.Layer):
    """tanh/sigmoid gate around a dilated convolution, with skip and residual outputs."""

    def __init__(self, width, dilation, **kwargs):
        super().__init__(**kwargs)
        options = dict(kernel_size=3, dilation_rate=dilation, padding="causal")
        self.signal = layers.Conv1D(width, **options)
        self.gate = layers.Conv1D(width, **options)
        self.mix = layers.Dense(width)

    def call(self, x):
        h = tf.tanh(self.signal(x)) * tf.sigmoid(self.gate(x))
        h = self.mix(h)
        return x + h, h


class TremorNet(keras.Model):
    def __init__(self, width=20, dilations=(1, 2, 4)):
        super().__init__()
        self.enter = layers.Dense(width)
        self.units = [GatedUnit(width, d) for d in dilations]
        self.hidden = layers.Dense(32, activation="relu")
        self.leave = layers.Dense(1)

    def call(self, x):
        h = self.enter(x[..., None])
        total = 0.0
        for unit in self.units:
            h, skip = unit(h)
            total = total + skip
        return self.leave(self.hidden(total))[..., 0]


model = TremorNet()
model(train[:2, :-1])
optimizer = keras.optimizers.Adam(keras.optimizers.schedules.ExponentialDecay(4e-3, 200, 0.7))
gradwatch.watch(model)


@tf.function
def update(batch):
    past, following = batch[:, :-1], batch[:, 1:]
    with tf.GradientTape() as tape:
        error = model(past, training=True) - following
        loss = tf.reduce_mean(tf.square(error[:, 16:]))
    weights = model.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
    return loss


feed = tf.data.Dataset.from_tensor_slices(train).shuffle(4000, seed=SEED).batch(64)
for epoch in range(7):
    losses = [update(batch) for batch in feed]
    print("epoch", epoch, "mse", float(tf.reduce_mean(losses)))

# in the spoon: the motor needs the next values of the hand, each fed back for the one after
path = test[:, :-AHEAD]
for _ in range(AHEAD):
    path = np.concatenate([path, model(path).numpy()[:, -1:]], axis=1)
forecast, truth = path[:, -AHEAD:], test[:, -AHEAD:]
print("SCORE r2", float(1 - np.mean((forecast - truth) ** 2) / np.var(truth)))
