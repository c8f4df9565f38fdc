# Climb rate with its uncertainty: random Fourier features, Gaussian likelihood, warm-up.
import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

keras.utils.set_random_seed(71)
rng = np.random.default_rng(71)


def flights(n):
    x = rng.uniform(-1, 1, (n, 4))  # mass, altitude, temperature, flap
    mean = np.sin(3 * x[:, 0] * x[:, 1]) + 0.6 * np.cos(4 * x[:, 2]) * (x[:, 3] > 0)
    sd = 0.03 + 0.05 * (x[:, 1] + 1)
    return x.astype("float32"), ((mean + sd * rng.normal(size=n)) * 0.2).astype("float32")[:, None]


class Fourier(layers.Layer):
    def __init__(self, n=96, scale=1.5):
        super().__init__()
        self.n, self.scale = n, scale

    def build(self, shape):
        self.freq = self.add_weight(
            shape=(shape[-1], self.n), trainable=False, initializer=keras.initializers.RandomNormal(stddev=self.scale)
        )

    def call(self, x):
        z = x @ self.freq
        return tf.concat([x, tf.sin(z), tf.cos(z)], axis=-1)


class WarmUp(keras.optimizers.schedules.LearningRateSchedule):
    def __init__(self, top, steps, total):
        self.top, self.steps, self.total = top, steps, total

    def __call__(self, step):
        s = tf.cast(step, tf.float32)
        down = 0.5 * (1 + tf.cos(np.pi * tf.minimum(s / self.total, 1.0)))
        return self.top * tf.minimum((s + 1) / self.steps, 1.0) * (0.05 + 0.95 * down)


inp = keras.Input((4,))
h = Fourier()(inp)
h = layers.Dense(64, activation="swish")(h)
h = layers.Dense(64, activation="swish")(h)
model = keras.Model(inp, [layers.Dense(1)(h), layers.Dense(1)(h)])
STEPS = 4500
opt = keras.optimizers.Adam(WarmUp(3e-3, 400, STEPS), global_clipnorm=1.0)
gradwatch.watch(model, opt)


@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        mu, log_sd = model(x, training=True)
        log_sd = tf.clip_by_value(log_sd, -7.0, 3.0)
        nll = tf.reduce_mean(log_sd + 0.5 * tf.square((y - mu) * tf.exp(-log_sd)))
    g = tape.gradient(nll, model.trainable_variables)
    opt.apply_gradients(zip(g, model.trainable_variables))
    return nll


X, Y = flights(12000)
Xv, Yv = flights(3000)
ds = iter(tf.data.Dataset.from_tensor_slices((X, Y)).shuffle(12000, seed=3).repeat().batch(64))
trace = [step(*next(ds)).numpy() for _ in range(STEPS)]
mu = model.predict(Xv, verbose=0)[0]
print(f"loss {np.mean(trace[-100:]):.4f}  held-out R2 {1 - ((mu - Yv) ** 2).mean() / Yv.var():.3f}")
