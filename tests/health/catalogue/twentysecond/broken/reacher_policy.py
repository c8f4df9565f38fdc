# Maximum-entropy policy (squashed Gaussian, as in SAC) for a one-step 2-D reaching arm with a known cost.
import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

OBS, ACT, BATCH, STEPS, ALPHA = 6, 2, 128, 500, 0.02
MIX = np.random.default_rng(11).normal(0, 0.9, (OBS, ACT)).astype("float32")


def observe(n):
    return rng.normal(0, 1, (n, OBS)).astype("float32")


def reward(obs, act):
    # far targets are reached by full torque
    target = tf.tanh(2.5 * tf.matmul(obs, MIX))
    return -tf.reduce_sum(tf.square(act - target), -1)


policy = keras.Sequential(
    [
        keras.Input((OBS,)),
        keras.layers.Dense(64, activation="tanh"),
        keras.layers.Dense(64, activation="tanh"),
        keras.layers.Dense(2 * ACT),
    ]
)
optimizer = keras.optimizers.Adam(3e-3)
gradwatch.watch(policy)


def act_and_log_prob(obs):
    mean, log_std = tf.split(policy(obs), 2, axis=-1)
    std = tf.exp(tf.clip_by_value(log_std, -5.0, 1.0))
    noise = tf.random.normal(tf.shape(mean))
    u = mean + std * noise
    a = tf.tanh(u)
    log_p = -0.5 * tf.square(noise) - tf.math.log(std) - 0.5 * np.log(2 * np.pi)
    log_p -= tf.math.log(1.0 - tf.square(a))  # change of variables
    return a, tf.reduce_sum(log_p, -1), tf.tanh(mean)


@tf.function
def update(obs):
    with tf.GradientTape() as tape:
        a, log_p, _ = act_and_log_prob(obs)
        loss = tf.reduce_mean(ALPHA * log_p - reward(obs, a))
    grads = tape.gradient(loss, policy.trainable_variables)
    optimizer.apply_gradients(zip(grads, policy.trainable_variables))
    return loss


test_obs = observe(1000)
for step in range(STEPS):
    loss = update(tf.constant(observe(BATCH)))
    if step % 50 == 49:
        print(f"step {step + 1} loss {float(loss):.4f}")

_, _, greedy = act_and_log_prob(test_obs)
print(
    "mean reward of the greedy policy",
    float(tf.reduce_mean(reward(test_obs, greedy))),
    "zero policy",
    float(tf.reduce_mean(reward(test_obs, tf.zeros_like(greedy)))),
)
