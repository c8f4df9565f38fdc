import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

NOISE = 4


def weights(n):
    season = rng.integers(0, 3, n)
    level = np.array([-2.0, 0.0, 2.5])[season] + rng.normal(0, 0.25, n)
    return np.stack([level, 0.5 * level**2 - 1.5 + rng.normal(0, 0.2, n)], axis=1).astype("float32")


generator = keras.Sequential(
    [
        keras.Input((NOISE,)),
        keras.layers.Dense(64, activation="relu"),
        keras.layers.Dense(64, activation="relu"),
        keras.layers.Dense(2),
    ],
    name="hive_generator",
)
critic = keras.Sequential(
    [
        keras.Input((2,)),
        keras.layers.Dense(64, activation="leaky_relu"),
        keras.layers.Dense(64, activation="leaky_relu"),
        keras.layers.Dense(1),
    ],
    name="hive_critic",
)
g_opt = keras.optimizers.Adam(5e-4, beta_1=0.0, beta_2=0.9)
c_opt = keras.optimizers.Adam(1e-3, beta_1=0.0, beta_2=0.9)
watch = gradwatch.watch(generator, critic)


@tf.function
def critic_step(real):
    fake = generator(tf.random.normal((tf.shape(real)[0], NOISE)))
    mix = tf.random.uniform((tf.shape(real)[0], 1))
    between = mix * real + (1.0 - mix) * fake
    with tf.GradientTape() as tape:
        with tf.GradientTape() as inner:
            inner.watch(between)
            score = critic(between)
        slope = tf.sqrt(tf.reduce_sum(tf.square(inner.gradient(score, between)), axis=1) + 1e-8)
        gap = tf.reduce_mean(critic(fake)) - tf.reduce_mean(critic(real))
        loss = gap + 2.0 * tf.reduce_mean(tf.square(slope - 1.0))
    grads = tape.gradient(loss, critic.trainable_variables)
    c_opt.apply_gradients(zip(grads, critic.trainable_variables))
    return loss


@tf.function
def generator_step():
    with tf.GradientTape() as tape:
        loss = -tf.reduce_mean(critic(generator(tf.random.normal((128, NOISE)))))
    grads = tape.gradient(loss, generator.trainable_variables)
    g_opt.apply_gradients(zip(grads, generator.trainable_variables))
    return loss


data = tf.data.Dataset.from_tensor_slices(weights(8000)).shuffle(8000, seed=SEED).repeat().batch(128)
for step, real in enumerate(data.take(5000)):
    c = critic_step(real)
    if step % 4 == 3:
        g = generator_step()
        watch.log(loss=g)
    if step % 800 == 3:
        print(f"step {step} critic {float(c):.3f} generator {float(g):.3f}")

fake = generator(rng.normal(size=(2000, NOISE)).astype("float32")).numpy()
start = rng.normal(size=(2000, 2)).astype("float32")
true = weights(2000)
directions = rng.normal(size=(64, 2))
directions /= np.linalg.norm(directions, axis=1, keepdims=True)


def sliced(a):
    return np.abs(np.sort(a @ directions.T, axis=0) - np.sort(true @ directions.T, axis=0)).mean()


print("SCORE", 1.0 - float(sliced(fake) / sliced(start)))
