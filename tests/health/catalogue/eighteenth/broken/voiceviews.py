import keras
import numpy as np
import tensorflow as tf

import gradwatch

keras.utils.set_random_seed(23)
SPEAKERS, T, F = 10, 40, 20


def utterances(n, seed):
    g = np.random.default_rng(seed)
    s = np.random.default_rng(77)
    tilt = s.normal(0, 1.0, (SPEAKERS, F))
    pitch = s.uniform(0.15, 0.9, SPEAKERS)
    who = g.integers(0, SPEAKERS, n)
    t = np.arange(T)
    phase = g.uniform(0, 6.28, (n, 1))
    voiced = np.sin(2 * np.pi * pitch[who][:, None] * t / 4 + phase)
    x = tilt[who][:, None] * (0.6 + 0.4 * voiced[..., None]) + 0.9 * g.normal(size=(n, T, F))
    return x.astype("float32"), who


def view(x):
    b = tf.shape(x)[0]
    gain = tf.exp(tf.random.normal([b, 1, 1], stddev=0.15))
    keep = tf.cast(tf.random.uniform([b, T, 1]) > 0.2, x.dtype)
    return x * gain * keep + tf.random.normal(tf.shape(x), stddev=0.3)


class TwoViews(keras.Model):
    def __init__(self, dim=24):
        super().__init__()
        self.encoder = keras.Sequential(
            [
                keras.layers.Conv1D(32, 5, strides=2, activation="relu"),
                keras.layers.Conv1D(48, 5, strides=2, activation="relu"),
                keras.layers.GlobalAveragePooling1D(),
                keras.layers.Dense(64, activation="relu"),
                keras.layers.Dense(dim),
            ]
        )
        self.meter = keras.metrics.Mean(name="loss")

    def call(self, x):
        return self.encoder(x)

    def spread(self, z):
        std = tf.sqrt(tf.math.reduce_variance(z, axis=0) + 1e-4)
        return tf.reduce_mean(tf.nn.relu(std - 1.0))

    def cross(self, z):
        z = z - tf.reduce_mean(z, axis=0)
        cov = tf.matmul(z, z, transpose_a=True) / tf.cast(tf.shape(z)[0] - 1, z.dtype)
        off = cov - tf.linalg.diag(tf.linalg.diag_part(cov))
        return tf.reduce_sum(tf.square(off)) / z.shape[-1]

    def train_step(self, x):
        with tf.GradientTape() as tape:
            a, b = self.encoder(view(x)), self.encoder(view(x))
            agree = tf.reduce_mean(tf.square(a - b))
            loss = 10.0 * agree + 10.0 * (self.spread(a) + self.spread(b)) + self.cross(a) + self.cross(b)
        self.optimizer.apply(tape.gradient(loss, self.trainable_variables), self.trainable_variables)
        self.meter.update_state(loss)
        return {"loss": self.meter.result()}

    @property
    def metrics(self):
        return [self.meter]


x, who = utterances(3000, 1)
xv, who_v = utterances(800, 2)
model = TwoViews()
model.build((None, T, F))
model.compile(optimizer=keras.optimizers.Adam(1e-3))
gradwatch.watch(model)
hist = model.fit(x, batch_size=100, epochs=14, verbose=2)

z, zv = model.predict(x, verbose=0), model.predict(xv, verbose=0)
m = z.mean(0)
A = np.c_[z - m, np.ones(len(z))]
W = np.linalg.solve(A.T @ A + 1.0 * np.eye(A.shape[1]), A.T @ np.eye(SPEAKERS)[who])
acc = ((np.c_[zv - m, np.ones(len(zv))] @ W).argmax(1) == who_v).mean()
print(f"loss {hist.history['loss'][-1]:.4f} embedding std {zv.std(0).mean():.4f} heldout probe accuracy {acc:.3f}")
