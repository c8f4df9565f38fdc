"""Clean up low-light pictures from two noisy exposures of each scene."""

import numpy as np
import tensorflow as tf

import gradwatch

tf.keras.utils.set_random_seed(29)
S, NOISE = 20, 0.6


def scenes(n, seed):
    g = np.random.default_rng(seed)
    yy, xx = np.mgrid[:S, :S]
    clean = np.zeros((n, S, S))
    for i in range(n):
        a = g.uniform(0, np.pi)
        clean[i] = 0.5 * np.tanh((np.cos(a) * (xx - g.uniform(4, 16)) + np.sin(a) * (yy - g.uniform(4, 16))) / 1.5)
        clean[i] += g.uniform(-1, 1) * (np.hypot(xx - g.uniform(0, S), yy - g.uniform(0, S)) < g.uniform(4, 9))
    clean = clean[..., None].astype("float32")
    shot = lambda: clean + g.normal(0, NOISE, clean.shape).astype("float32")
    return shot(), shot(), clean


class Cleaner(tf.keras.Model):
    def __init__(self, width=12):
        super().__init__()
        conv = lambda w: tf.keras.layers.Conv2D(w, 3, padding="same")
        self.convs = [conv(width) for _ in range(3)]
        self.norms = [tf.keras.layers.BatchNormalization() for _ in range(3)]
        self.out = tf.keras.layers.Conv2D(1, 3, padding="same", kernel_initializer="zeros")

    def call(self, x, training=False):
        h = x
        for c, n in zip(self.convs, self.norms):
            h = tf.nn.relu(n(c(h), training=training))
        return x + self.out(h)

    def train_step(self, data):
        first, second = data
        with tf.GradientTape() as tape:
            loss = 0.5 * (
                tf.reduce_mean(tf.square(self(first, training=True) - second))
                + tf.reduce_mean(tf.square(self(second, training=True) - first))
            )
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        return {"loss": loss, "seen": tf.sqrt(loss)}


a, b, _ = scenes(1600, 1)
av, _, clean = scenes(200, 2)
rate = tf.keras.optimizers.schedules.CosineDecay(0.0, 290, alpha=0.02, warmup_target=3e-3, warmup_steps=60)
net = Cleaner()
net.compile(optimizer=tf.keras.optimizers.AdamW(rate, weight_decay=1e-4))
net(a[:2])
gradwatch.watch(net)
run = net.fit(a, b, batch_size=32, epochs=7, verbose=2)
rms = lambda d: float(np.sqrt(np.mean(d**2)))
print(
    f"loss {run.history['loss'][-1]:.4f}  held-out RMS to the clean scene {rms(net.predict(av, verbose=0) - clean):.4f}"
    f" (input {rms(av - clean):.4f})"
)
