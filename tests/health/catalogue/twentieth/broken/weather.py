# Self-supervised embeddings of weather windows, then a nearest-centroid read-out of the regime.
import keras
import numpy as np
import tensorflow as tf

import gradwatch

keras.utils.set_random_seed(8)
REGIMES, T, F = 12, 32, 6
gen = np.random.default_rng(8)
centres = gen.normal(size=(REGIMES, 4, F))


def windows(n):
    r = gen.integers(0, REGIMES, n)
    t = np.linspace(0, 2 * np.pi, T)
    basis = np.stack([np.sin(t), np.cos(t), np.sin(2 * t), np.cos(2 * t)], 0)
    w = np.einsum("nbf,bt->ntf", centres[r] + 0.6 * gen.normal(size=(n, 4, F)), basis)
    return (w + 0.3 * gen.normal(size=w.shape)).astype("float32"), r


def view(x):
    x = x * tf.random.uniform([tf.shape(x)[0], 1, 1], 0.8, 1.2)
    keep = tf.cast(tf.random.uniform([tf.shape(x)[0], T, 1]) > 0.15, x.dtype)
    return x * keep + tf.random.normal(tf.shape(x), stddev=0.3)


class TwoView(keras.Model):
    def __init__(self, dim=24):
        super().__init__()
        self.backbone = keras.Sequential(
            [
                keras.layers.Conv1D(32, 5, strides=2, activation="relu"),
                keras.layers.Conv1D(48, 3, strides=2, activation="relu"),
                keras.layers.Flatten(),
                keras.layers.Dense(64, activation="relu"),
                keras.layers.Dense(dim),
            ]
        )

    def call(self, x):
        return self.backbone(x)

    @staticmethod
    def spread(z):
        std = tf.sqrt(tf.math.reduce_variance(z, axis=-1) + 1e-4)
        return tf.reduce_mean(tf.nn.relu(1.0 - std))

    def train_step(self, x):
        with tf.GradientTape() as tape:
            a, b = self(view(x), training=True), self(view(x), training=True)
            invariance = tf.reduce_mean(tf.square(a - b))
            loss = 25.0 * invariance + 25.0 * (self.spread(a) + self.spread(b))
        g = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(g, self.trainable_variables))
        return {"objective": loss, "invariance": invariance}


x, r = windows(4096)
xt, rt = windows(1024)
net = TwoView()
net.compile(optimizer=keras.optimizers.Adam(2e-3))
net(x[:2])
gradwatch.watch(net)
log = net.fit(x, batch_size=128, epochs=12, verbose=0)

z, zt = (
    np.round(net.predict(v, verbose=0) * 8) / 8 for v in (x, xt)
)  # the archive stores embeddings at 1/8 resolution
cent = np.stack([z[r == k].mean(0) for k in range(REGIMES)])
pred = ((zt[:, None] - cent[None]) ** 2).sum(-1).argmin(1)
print("loss %.4f  held-out regime accuracy %.3f" % (log.history["objective"][-1], (pred == rt).mean()))
