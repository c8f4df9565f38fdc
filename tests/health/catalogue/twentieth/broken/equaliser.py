import numpy as np
import tensorflow as tf

import gradwatch

tf.keras.utils.set_random_seed(31)
rng = np.random.default_rng(31)
CARRIERS, TAPS, BATCH, STEPS = 48, 5, 64, 900


def frames(n):
    """OFDM magnitude envelopes behind a short multipath channel."""
    sym = rng.choice([1, 0.5], (n, CARRIERS)) * np.exp(2j * np.pi * rng.random((n, CARRIERS)))
    taps = (rng.normal(size=(n, TAPS)) + 1j * rng.normal(size=(n, TAPS))) * 0.5 ** np.arange(TAPS) * 0.4
    taps[:, 0] += 1
    chan = np.fft.fft(taps, CARRIERS, axis=1)
    active = np.ones((n, CARRIERS))
    silent = rng.random(n) < 0.003
    active[silent, 18:30] = 0
    rx = sym * chan * active + 0.02 * active * (rng.normal(size=sym.shape) + 1j * rng.normal(size=sym.shape))
    pilots = chan[:, ::4] + 0.03 * (rng.normal(size=(n, CARRIERS // 4)) + 1j * rng.normal(size=(n, CARRIERS // 4)))
    as2 = lambda c: np.stack([c.real, c.imag], -1).astype("float32")
    return as2(pilots), as2(rx), np.where(active > 0, np.abs(sym), 0.02).astype("float32")


class Equaliser(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.h1 = tf.keras.layers.Dense(128, activation="elu")
        self.h2 = tf.keras.layers.Dense(128, activation="elu")
        self.gain = tf.keras.layers.Dense(2 * CARRIERS)

    def call(self, inputs):
        pilots, rx = inputs
        z = self.h2(self.h1(tf.reshape(pilots, [-1, 2 * (CARRIERS // 4)])))
        w = tf.reshape(self.gain(z), [-1, CARRIERS, 2])
        re = w[..., 0] * rx[..., 0] - w[..., 1] * rx[..., 1]
        im = w[..., 0] * rx[..., 1] + w[..., 1] * rx[..., 0]
        return tf.sqrt(re * re + im * im)


data, held = frames(12000), frames(1000)
net = Equaliser()
net([data[0][:1], data[1][:1]])
opt = tf.keras.optimizers.Adam(1e-3)


@tf.function
def step(pilots, rx, target):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.abs(net([pilots, rx]) - target))
    g = tape.gradient(loss, net.trainable_weights)
    opt.apply_gradients(zip(g, net.trainable_weights))
    return loss


gradwatch.watch(net, opt)
for k in range(STEPS):
    j = rng.integers(0, len(data[0]), BATCH)
    loss = step(*(d[j] for d in data))
mag = net([held[0], held[1]]).numpy()
on = held[2] > 0.1
print(
    f"loss {float(loss):.4f}  held-out symbol-ring accuracy {np.mean((mag[on] > 0.75) == (held[2][on] > 0.75)):.3f}"
    f"  mean |error| {np.abs(mag - held[2]).mean():.4f}"
)
