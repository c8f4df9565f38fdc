"""Models that make what they were shown: numbers of a table, digits, points, words of a dictionary."""

import keras
import numpy as np
import tensorflow as tf
from keras import layers

from tests.health.catalogue.fourth.common import batches, digits
from tests.health.catalogue.play import Watch


class DigitCoder(keras.Model):
    def __init__(self, **kw):
        super().__init__(**kw)
        self.enc = layers.Dense(96, activation="relu", name="enc")
        self.stats = layers.Dense(16, name="stats")
        self.dec = layers.Dense(96, activation="relu", name="dec")
        self.pixels = layers.Dense(64, activation="sigmoid", name="pixels")

    def call(self, x, training=False):
        mean, logvar = tf.split(self.stats(self.enc(x)), 2, axis=-1)
        z = mean
        if training:
            z = mean + tf.exp(0.5 * logvar) * tf.random.normal(tf.shape(mean))
        return self.pixels(self.dec(z)), mean, logvar


def digit_codes(watch: Watch, seed: int) -> None:
    """A VAE whose reconstruction is a mean over 64 pixels and whose KL term is a sum: the posterior collapses."""
    keras.utils.set_random_seed(seed)
    (x, _), _ = digits()
    x = x.reshape(len(x), 64)
    model = DigitCoder()
    model(x[:2])
    optimizer = keras.optimizers.Adam(3e-3)
    w = watch(model, optimizer)

    @tf.function
    def train_step(xb):
        with tf.GradientTape() as tape:
            out, mean, logvar = model(xb, training=True)
            rebuild = keras.losses.binary_crossentropy(xb, out)
            kl = -0.5 * tf.reduce_sum(1 + logvar - tf.square(mean) - tf.exp(logvar), axis=-1)
            loss = tf.reduce_mean(rebuild + kl)
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables, strict=True))
        w.log(loss=loss)
        return loss

    rng = np.random.default_rng(seed)
    for idx in batches(rng, len(x), 64, 400):
        train_step(x[idx])


def ring(rng, n):
    a = rng.uniform(0, 2 * np.pi, n)
    r = 2.0 + 0.1 * rng.normal(size=n)
    return np.stack([r * np.cos(a) + 1.0, r * np.sin(a)], 1).astype("float32")


def point_generator(watch: Watch, seed: int) -> None:
    """The generator is trained with the label of what is made: it learns to be found out, and nobody plays."""
    keras.utils.set_random_seed(seed)
    generator = keras.Sequential(
        [
            keras.Input((8,)),
            layers.Dense(48, activation="relu", name="g1"),
            layers.Dense(48, activation="relu", name="g2"),
            layers.Dense(2, name="g_out"),
        ],
        name="generator",
    )
    critic = keras.Sequential(
        [
            keras.Input((2,)),
            layers.Dense(48, activation="leaky_relu", name="c1"),
            layers.Dense(48, activation="leaky_relu", name="c2"),
            layers.Dense(1, name="c_out"),
        ],
        name="critic",
    )
    both = keras.Sequential([keras.Input((8,)), generator, critic], name="both")
    g_opt = keras.optimizers.Adam(1e-3, beta_1=0.5)
    c_opt = keras.optimizers.Adam(1e-3, beta_1=0.5)
    bce = keras.losses.BinaryCrossentropy(from_logits=True)
    w = watch(both)

    @tf.function
    def train_step(real):
        noise = tf.random.normal((tf.shape(real)[0], 8))
        with tf.GradientTape() as tape:
            on_real = critic(real, training=True)
            on_fake = critic(generator(noise, training=True), training=True)
            c_loss = bce(tf.ones_like(on_real), on_real) + bce(tf.zeros_like(on_fake), on_fake)
        grads = tape.gradient(c_loss, critic.trainable_variables)
        c_opt.apply_gradients(zip(grads, critic.trainable_variables, strict=True))
        noise = tf.random.normal((tf.shape(real)[0], 8))
        with tf.GradientTape() as tape:
            on_fake = critic(generator(noise, training=True), training=True)
            g_loss = bce(tf.zeros_like(on_fake), on_fake)
        grads = tape.gradient(g_loss, generator.trainable_variables)
        g_opt.apply_gradients(zip(grads, generator.trainable_variables, strict=True))
        return c_loss, g_loss

    rng = np.random.default_rng(seed)
    for _ in range(400):
        c_loss, g_loss = train_step(ring(rng, 64))
        w.log(loss=float(g_loss), c_loss=float(c_loss))


def bodies(rng, n):
    height = rng.normal(size=n)
    weight = 0.8 * height + 0.6 * rng.normal(size=n)
    return np.stack([1.5 + height, weight - 0.5, 0.5 * height * weight], 1).astype("float32")


def body_table(watch: Watch, seed: int) -> None:
    """A GAN in balance: the generator's loss rises from 0.66 and stays at 0.8."""
    keras.utils.set_random_seed(seed)
    generator = keras.Sequential(
        [
            keras.Input((8,)),
            layers.Dense(48, activation="relu", name="g1"),
            layers.Dense(48, activation="relu", name="g2"),
            layers.Dense(3, name="g_out"),
        ],
        name="generator",
    )
    critic = keras.Sequential(
        [
            keras.Input((3,)),
            layers.Dense(48, activation="leaky_relu", name="c1"),
            layers.Dense(48, activation="leaky_relu", name="c2"),
            layers.Dense(1, name="c_out"),
        ],
        name="critic",
    )
    both = keras.Sequential([keras.Input((8,)), generator, critic], name="both")
    g_opt = keras.optimizers.Adam(1e-3, beta_1=0.5)
    c_opt = keras.optimizers.Adam(1e-3, beta_1=0.5)
    bce = keras.losses.BinaryCrossentropy(from_logits=True)
    w = watch(both)

    @tf.function
    def train_step(real):
        noise = tf.random.normal((tf.shape(real)[0], 8))
        with tf.GradientTape() as tape:
            on_real = critic(real, training=True)
            on_fake = critic(generator(noise, training=True), training=True)
            c_loss = bce(0.9 * tf.ones_like(on_real), on_real) + bce(tf.zeros_like(on_fake), on_fake)
        grads = tape.gradient(c_loss, critic.trainable_variables)
        c_opt.apply_gradients(zip(grads, critic.trainable_variables, strict=True))
        noise = tf.random.normal((tf.shape(real)[0], 8))
        with tf.GradientTape() as tape:
            on_fake = critic(generator(noise, training=True), training=True)
            g_loss = bce(tf.ones_like(on_fake), on_fake)
        grads = tape.gradient(g_loss, generator.trainable_variables)
        g_opt.apply_gradients(zip(grads, generator.trainable_variables, strict=True))
        return c_loss, g_loss

    rng = np.random.default_rng(seed)
    for _ in range(400):
        c_loss, g_loss = train_step(bodies(rng, 128))
        w.log(loss=float(g_loss), c_loss=float(c_loss))


class TopK(layers.Layer):
    def __init__(self, k, **kw):
        super().__init__(**kw)
        self.k = k

    def call(self, h):
        size = tf.abs(h)
        edge = tf.math.top_k(size, self.k).values[:, -1:]
        return tf.where(size >= edge, h, tf.zeros_like(h))


def recordings(seed, n=3000, atoms=48, size=32):
    rng = np.random.default_rng(seed)
    book = rng.normal(size=(atoms, size))
    book /= np.linalg.norm(book, axis=1, keepdims=True)
    use = np.zeros((n, atoms))
    for row in use:
        row[rng.choice(atoms, 3, replace=False)] = rng.choice([-1, 1], 3) * rng.uniform(1, 3, 3)
    return (use @ book + 0.02 * rng.normal(size=(n, size))).astype("float32")


def spike_dictionary(watch: Watch, seed: int) -> None:
    """The five largest of 64 codes: 92 % of the activations are exactly 0 by design."""
    keras.utils.set_random_seed(seed)
    x = recordings(seed)
    model = keras.Sequential(
        [
            keras.Input((32,)),
            layers.Dense(64, name="shapes"),
            TopK(5, name="strongest"),
            layers.Dense(32, name="trace"),
        ]
    )
    watch(model)
    model.compile(keras.optimizers.Adam(4e-3), loss="mse")
    model.fit(x, x, batch_size=75, epochs=9, verbose=0)
