"""Learns a compact code of tooth wear profiles with a tied-weight VAE; the code should tell the diet."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers
from sklearn.linear_model import LogisticRegression

import gradwatch

SEED = int(os.environ.get("SEED", 0))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

POINTS, CODE = 64, 6
BATCH, EPOCHS = 64, 16
DIETS = 4


def profile(diet):
    """Cusps worn flat (grass), sharp (insects), double (leaves) or pitted (nuts), off centre."""
    u = np.linspace(-1, 1, POINTS)
    centre, width = rng.normal(0, 0.1), rng.uniform(0.35, 0.5)
    cusp = np.exp(-0.5 * ((u - centre) / width) ** 2)
    if diet == 0:
        cusp = np.minimum(cusp, rng.uniform(0.55, 0.7))
    elif diet == 1:
        cusp = cusp ** rng.uniform(2.0, 3.0)
    elif diet == 2:
        cusp = cusp * (0.75 + 0.25 * np.cos(2 * np.pi * (u - centre) / 0.5 + np.pi))
    else:
        for _ in range(rng.integers(2, 5)):
            cusp = cusp - 0.25 * np.exp(-0.5 * ((u - rng.uniform(-0.5, 0.5)) / 0.05) ** 2)
    return cusp * rng.uniform(0.9, 1.1) + rng.normal(0, 0.04, POINTS)


diets = rng.integers(0, DIETS, 2200)
profiles = np.stack([profile(d) for d in diets]).astype("float32")
cut = 1600
profiles = (profiles - profiles[:cut].mean(0)) / profiles[:cut].std()


class TiedVAE(keras.Model):
    """The decoder uses the encoder's matrices transposed; the KL weight grows from zero."""

    def __init__(self):
        super().__init__()
        glorot = keras.initializers.GlorotUniform
        self.w1 = self.add_weight(shape=(POINTS, 48), initializer=glorot(SEED + 1), name="w1")
        self.b1 = self.add_weight(shape=(48,), initializer="zeros", name="b1")
        self.w2 = self.add_weight(shape=(48, CODE), initializer=glorot(SEED + 2), name="w2")
        self.b2 = self.add_weight(shape=(CODE,), initializer="zeros", name="b2")
        self.c1 = self.add_weight(shape=(48,), initializer="zeros", name="c1")
        self.c0 = self.add_weight(shape=(POINTS,), initializer="zeros", name="c0")
        self.spread = layers.Dense(CODE, bias_initializer=keras.initializers.Constant(-3.0))
        self.spread.build((None, 48))
        self.kl_weight = self.add_weight(shape=(), initializer="zeros", trainable=False, name="kl_weight")
        self.built = True

    def encode(self, x):
        h = tf.nn.elu(x @ self.w1 + self.b1)
        return h @ self.w2 + self.b2, self.spread(h)

    def decode(self, z):
        h = tf.nn.elu(tf.matmul(z, self.w2, transpose_b=True) + self.c1)
        return tf.matmul(h, self.w1, transpose_b=True) + self.c0

    def call(self, x):
        return self.decode(self.encode(x)[0])

    def train_step(self, x):
        self.kl_weight.assign(tf.minimum(self.kl_weight + 1.0 / 250.0, 1.0))
        with tf.GradientTape() as tape:
            mean, log_var = self.encode(x)
            z = mean + tf.exp(0.5 * log_var) * tf.random.normal(tf.shape(mean))
            gap = tf.reduce_sum(tf.square(self.decode(z) - x), axis=1) / (2 * 0.3**2)
            kl = 0.5 * tf.reduce_sum(tf.exp(log_var) + mean**2 - 1.0 - log_var, axis=1)
            loss = tf.reduce_mean(gap + self.kl_weight * kl)
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        return {"loss": loss, "gap": tf.reduce_mean(gap), "kl": tf.reduce_mean(kl)}


model = TiedVAE()
watch = gradwatch.watch(model)
model.compile(optimizer=keras.optimizers.Adam(3e-3))
model.fit(profiles[:cut], batch_size=BATCH, epochs=EPOCHS, verbose=2)

rebuilt = model(profiles[cut:]).numpy()
print("explained", round(float(1 - ((rebuilt - profiles[cut:]) ** 2).mean() / profiles[cut:].var()), 4))
codes = model.encode(profiles)[0].numpy()
probe = LogisticRegression(max_iter=2000).fit(codes[:cut], diets[:cut])
print("score", round(float(probe.score(codes[cut:], diets[cut:])), 4))
