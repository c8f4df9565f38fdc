"""A conditional WGAN with gradient penalty learns tabular data: measurements of tumours, the rarer class generated.

Calm for a while. Then the critic is so sure of one row that its tanh is flat there: the gradient that the penalty takes
the norm of is exactly zero, and the gradient of that norm is 0 / 0. The critic goes first, then the generator.
"""

import sys

import keras
import numpy as np
import tensorflow as tf
from keras import layers
from sklearn.datasets import load_breast_cancer

import gradwatch

JIT = "--jit" in sys.argv
BATCH_SIZE = 64
LATENT = 16
PENALTY = 10.0
LEARNING_RATE = 0.001
STEPS = 400

keras.utils.set_random_seed(0)
rows, is_benign = load_breast_cancer(return_X_y=True)
rows = (rows / np.median(rows, axis=0)).astype("float32")
is_malignant = (1 - is_benign).astype("float32")
n_columns = rows.shape[1]


def hidden(units, name):
    """A hidden layer before its activation."""
    return layers.Dense(units, kernel_initializer=keras.initializers.HeNormal(), name=name)


critic = keras.Sequential(
    [
        keras.Input((n_columns,)),
        hidden(64, "hidden_1"),
        layers.LeakyReLU(negative_slope=0.25, name="leaky_1"),
        hidden(32, "hidden_2"),
        layers.LeakyReLU(negative_slope=0.25, name="leaky_2"),
        layers.Dense(2, activation="tanh", name="scores"),
    ],
    name="critic",
)
generator = keras.Sequential(
    [
        keras.Input((LATENT + 1,)),
        hidden(64, "hidden"),
        layers.LeakyReLU(negative_slope=0.25, name="leaky"),
        layers.Dense(n_columns, name="columns"),
    ],
    name="generator",
)
critic_optimizer = keras.optimizers.Adam(LEARNING_RATE, beta_1=0.5, beta_2=0.9, name="critic_adam")
generator_optimizer = keras.optimizers.Adam(LEARNING_RATE, beta_1=0.5, beta_2=0.9, name="generator_adam")
watch = gradwatch.watch(
    critic,
    generator,
    name="tumour-wgan",
    config={"steps": STEPS, "batch_size": BATCH_SIZE, "learning_rate": LEARNING_RATE, "penalty": PENALTY},
)


def gradient_penalty(real, fake, mix):
    """How far the critic's gradient is from length 1, on the way between real and generated rows."""
    between = real + mix * (fake - real)
    with tf.GradientTape() as tape:
        tape.watch(between)
        scores = 0.5 * (critic(between, training=True) + 1.0)
    gradients = tape.gradient(scores, between)
    lengths = tf.norm(gradients, axis=-1)
    return tf.reduce_mean(tf.square(lengths - 1.0))


@tf.function(jit_compile=JIT)
def train_critic(real, real_class, latent, mix):
    """One step of the critic; returns its loss."""
    fake = generator(latent, training=True)
    with tf.GradientTape() as tape:
        of_fake = 0.5 * (critic(fake, training=True) + 1.0)
        of_real = 0.5 * (critic(real, training=True) + 1.0)
        score_fake = tf.reduce_mean(tf.reduce_sum(of_fake, axis=1))
        score_real = tf.reduce_mean((1.0 - 2.0 * real_class) * (of_real[:, 0] - of_real[:, 1]))
        loss = 1.0 + score_fake - score_real + PENALTY * gradient_penalty(real, fake, mix)
    gradients = tape.gradient(loss, critic.trainable_variables)
    critic_optimizer.apply_gradients(zip(gradients, critic.trainable_variables, strict=True))
    watch.log(critic_loss=loss)
    return loss


@tf.function(jit_compile=JIT)
def train_generator(latent):
    """One step of the generator; returns its loss."""
    with tf.GradientTape() as tape:
        of_fake = 0.5 * (critic(generator(latent, training=True), training=True) + 1.0)
        loss = tf.reduce_mean(of_fake[:, 0] - of_fake[:, 1])
    gradients = tape.gradient(loss, generator.trainable_variables)
    generator_optimizer.apply_gradients(zip(gradients, generator.trainable_variables, strict=True))
    watch.log(generator_loss=loss)
    return loss


random = np.random.default_rng(0)


def draw_latent(n):
    """Noise with the class to generate, 1 for malignant, as the last column."""
    return np.concatenate([random.normal(size=(n, LATENT)), np.ones((n, 1))], axis=1).astype("float32")


for _ in range(STEPS):
    chosen = random.integers(len(rows), size=BATCH_SIZE)
    mix = random.uniform(size=(BATCH_SIZE, 1)).astype("float32")
    train_critic(rows[chosen], is_malignant[chosen], draw_latent(BATCH_SIZE), mix)
    train_generator(draw_latent(BATCH_SIZE))

malignant = rows[is_malignant == 1]
generated = generator.predict(draw_latent(len(malignant)), verbose=0)
error = np.abs(generated.mean(axis=0) - malignant.mean(axis=0)).mean()
print(f"mean of a generated column is off by {error:.2f}, of {np.abs(malignant.mean(axis=0)).mean():.2f} for all zeros")
