"""Trains a WGAN with gradient penalty that generates pairs of correlated sensor readings with several operating modes."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

LATENT, N_CRITIC, BATCH, LAMBDA = 4, 4, 128, 1.0


def readings(n):
    """Six operating modes on an ellipse, of unequal frequency and with correlated spread."""
    mode = rng.choice(6, n, p=[0.25, 0.2, 0.2, 0.15, 0.1, 0.1])
    ang = mode * np.pi / 3
    centre = np.stack([20 + 4 * np.cos(ang), 101 + 2 * np.sin(ang)], 1)
    z = rng.normal(size=(n, 2))
    spread = np.stack([0.7 * z[:, 0], 0.2 * z[:, 0] + 0.25 * z[:, 1]], 1)
    return centre + spread


train, held_out, reference = readings(20000), readings(2000), readings(2000)
mean, std = train.mean(0), train.std(0)
train, held_out, reference = (((a - mean) / std).astype("float32") for a in (train, held_out, reference))


def mlp(n_in, n_out, width, name):
    inp = keras.Input((n_in,))
    h = inp
    for _ in range(3):
        h = layers.Dense(width, kernel_initializer="he_normal")(h)
        h = layers.LeakyReLU(negative_slope=0.2)(h)
    return keras.Model(inp, layers.Dense(n_out)(h), name=name)


class WGANGP(keras.Model):
    def __init__(self):
        super().__init__()
        self.generator = mlp(LATENT, 2, 64, "generator")
        self.critic = mlp(2, 1, 96, "critic")
        self.noise = keras.random.SeedGenerator(seed)
        self.w_metric = keras.metrics.Mean(name="wasserstein")
        self.gp_metric = keras.metrics.Mean(name="penalty")

    def call(self, z, training=False):
        return self.generator(z, training=training)

    def compile(self, g_opt, c_opt):
        super().compile()
        self.g_opt, self.c_opt = g_opt, c_opt

    @property
    def metrics(self):
        return [self.w_metric, self.gp_metric]

    def train_step(self, real_group):
        # real_group: (batch, N_CRITIC, 2): one fresh batch for every critic update.
        n = tf.shape(real_group)[0]
        for i in range(N_CRITIC):
            real = real_group[:, i]
            fake = self.generator(keras.random.normal((n, LATENT), seed=self.noise), training=True)
            mix = keras.random.uniform((n, 1), seed=self.noise)
            between = mix * real + (1.0 - mix) * fake
            with tf.GradientTape() as tape:
                with tf.GradientTape() as inner:
                    inner.watch(between)
                    score = self.critic(between, training=True)
                slope = tf.sqrt(tf.reduce_sum(inner.gradient(score, between) ** 2, axis=1) + 1e-12)
                penalty = tf.reduce_mean((slope - 1.0) ** 2)
                w = tf.reduce_mean(self.critic(real, training=True)) - tf.reduce_mean(self.critic(fake, training=True))
                loss = -w + LAMBDA * penalty
            grads = tape.gradient(loss, self.critic.trainable_variables)
            self.c_opt.apply_gradients(zip(grads, self.critic.trainable_variables))
        z = keras.random.normal((n, LATENT), seed=self.noise)
        with tf.GradientTape() as tape:
            g_loss = -tf.reduce_mean(self.critic(self.generator(z, training=True), training=True))
        grads = tape.gradient(g_loss, self.generator.trainable_variables)
        self.g_opt.apply_gradients(zip(grads, self.generator.trainable_variables))
        self.w_metric.update_state(w)
        self.gp_metric.update_state(penalty)
        return {m.name: m.result() for m in self.metrics}


def energy_distance(a, b):
    def mean_dist(p, q):
        return np.sqrt(((p[:, None] - q[None]) ** 2).sum(-1)).mean()

    return 2 * mean_dist(a, b) - mean_dist(a, a) - mean_dist(b, b)


def batches(steps):
    for _ in range(steps):
        yield train[rng.integers(0, len(train), (BATCH, N_CRITIC))]


STEPS = 1400
data = tf.data.Dataset.from_generator(
    lambda: batches(STEPS), output_signature=tf.TensorSpec((BATCH, N_CRITIC, 2), tf.float32)
).prefetch(2)

model = WGANGP()
model(np.zeros((1, LATENT), "float32"))
gradwatch.watch(model)
untrained = model.generator.predict(rng.normal(size=(2000, LATENT)).astype("float32"), verbose=0)
model.compile(
    g_opt=keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(1e-3, STEPS), beta_1=0.0, beta_2=0.9),
    c_opt=keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(2e-3, STEPS * N_CRITIC), beta_1=0.0, beta_2=0.9),
)
model.fit(data.repeat(), epochs=10, steps_per_epoch=STEPS // 10, verbose=2)

made = model.generator.predict(rng.normal(size=(2000, LATENT)).astype("float32"), verbose=0)
gauss = rng.multivariate_normal(train.mean(0), np.cov(train.T), 2000)
print("IDEAL energy_distance (other real readings)", round(float(energy_distance(reference, held_out)), 5))
print("BASELINE energy_distance (untrained generator)", round(float(energy_distance(untrained, held_out)), 5))
print("BASELINE energy_distance (fitted normal)", round(float(energy_distance(gauss, held_out)), 5))
print("SCORE energy_distance", round(float(energy_distance(made, held_out)), 5))
