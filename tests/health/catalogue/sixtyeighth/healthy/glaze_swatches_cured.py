import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

TIMESTEPS = 100
BATCH = 64
STEPS = 2500

BETAS = np.linspace(1e-4, 0.08, TIMESTEPS)
ALPHA_BARS = np.cumprod(1.0 - BETAS).astype("float32")
SIGNAL = tf.constant(np.sqrt(ALPHA_BARS))
SPREAD = tf.constant(np.sqrt(1.0 - ALPHA_BARS))


def swatches(n):
    turn = rng.uniform(0.5, 3.0, n)
    angle = turn * np.pi
    points = np.stack([turn * np.cos(angle), turn * np.sin(angle)], axis=1) / 1.5
    return (points + 0.05 * rng.normal(size=points.shape)).astype("float32")


train, test = swatches(5000), swatches(2000)


def time_features(t):
    frequencies = tf.constant(2.0 ** np.arange(5), tf.float32)
    phase = tf.cast(t, tf.float32)[:, None] / TIMESTEPS * np.pi * frequencies[None, :]
    return tf.concat([tf.sin(phase), tf.cos(phase)], axis=1)


def denoiser():
    noisy = keras.Input((2,))
    moment = keras.Input((10,))
    h = keras.layers.Concatenate()([noisy, moment])
    h = keras.layers.Dense(96, activation="swish", name="lift")(h)
    h = h + keras.layers.Dense(96, activation="swish", name="block_a")(h)
    h = h + keras.layers.Dense(96, activation="swish", name="block_b")(h)
    return keras.Model([noisy, moment], keras.layers.Dense(2, name="noise")(h))


model = denoiser()
optimizer = keras.optimizers.Adam(2e-3)
watch = gradwatch.watch(model)


@tf.function
def train_step(clean):
    t = tf.random.uniform((BATCH,), 0, TIMESTEPS, dtype=tf.int32)
    noise = tf.random.normal((BATCH, 2))
    noisy = tf.gather(SIGNAL, t)[:, None] * clean + tf.gather(SPREAD, t)[:, None] * noise
    with tf.GradientTape() as tape:
        predicted = model([noisy, time_features(t)], training=True)
        loss = tf.reduce_mean(tf.square(predicted - noise))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for step in range(STEPS):
    clean = train[rng.integers(0, len(train), BATCH)]
    loss = train_step(tf.constant(clean))
    watch.log(loss=loss)
    if step % 500 == 0:
        print(step, float(loss))

errors = []
for t in range(5, TIMESTEPS, 10):
    noise = rng.normal(size=test.shape).astype("float32")
    noisy = np.sqrt(ALPHA_BARS[t]) * test + np.sqrt(1.0 - ALPHA_BARS[t]) * noise
    moments = time_features(tf.fill((len(test),), t))
    errors.append(np.mean((model([tf.constant(noisy), moments]).numpy() - noise) ** 2))
print("SCORE", float(1.0 - np.mean(errors)))
