import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

NOISE = 8


def real_points(n):
    angle = rng.uniform(0, 2 * np.pi, n)
    radius = rng.normal(2.0, 0.1, n)
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1).astype("float32")


data = tf.data.Dataset.from_tensor_slices(real_points(8000)).shuffle(8000, seed=SEED)
data = data.repeat().batch(128, drop_remainder=True)

generator = keras.Sequential(
    [
        keras.Input((NOISE,)),
        keras.layers.Dense(64, activation="relu"),
        keras.layers.Dense(64, activation="relu"),
        keras.layers.Dense(2),
    ],
    name="generator",
)
discriminator = keras.Sequential(
    [
        keras.Input((2,)),
        keras.layers.Dense(64),
        keras.layers.LeakyReLU(0.2),
        keras.layers.Dense(64),
        keras.layers.LeakyReLU(0.2),
        keras.layers.Dense(1),
    ],
    name="discriminator",
)

bce = keras.losses.BinaryCrossentropy(from_logits=True)
gen_opt = keras.optimizers.Adam(1e-3, beta_1=0.5)
disc_opt = keras.optimizers.Adam(1e-3, beta_1=0.5)
watch = gradwatch.watch(generator, discriminator)


@tf.function
def train_step(real):
    noise = tf.random.normal((128, NOISE))
    with tf.GradientTape() as gen_tape, tf.GradientTape() as disc_tape:
        fake = generator(noise, training=True)
        real_score = discriminator(real, training=True)
        fake_score = discriminator(fake, training=True)
        disc_loss = bce(tf.ones_like(real_score), real_score) + bce(tf.zeros_like(fake_score), fake_score)
        gen_loss = bce(tf.ones_like(fake_score), fake_score)
    gen_grads = gen_tape.gradient(gen_loss, generator.trainable_variables)
    disc_grads = disc_tape.gradient(disc_loss, discriminator.trainable_variables)
    gen_opt.apply_gradients(zip(gen_grads, generator.trainable_variables))
    disc_opt.apply_gradients(zip(disc_grads, discriminator.trainable_variables))
    watch.log(loss=disc_loss)
    return gen_loss, disc_loss


for step, batch in enumerate(data.take(2500)):
    g, d = train_step(batch)
    if step % 250 == 0:
        print(f"step {step} gen {float(g):.3f} disc {float(d):.3f}")

fake = generator(rng.normal(size=(2000, NOISE)).astype("float32")).numpy()
real = real_points(2000)
directions = rng.normal(size=(64, 2))
directions /= np.linalg.norm(directions, axis=1, keepdims=True)
gap = np.abs(np.sort(fake @ directions.T, axis=0) - np.sort(real @ directions.T, axis=0)).mean()
print("SCORE", -float(gap))
