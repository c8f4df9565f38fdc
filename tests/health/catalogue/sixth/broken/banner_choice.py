"""Policy gradient that picks which banner to show to which visitor."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

ARMS, D = 5, 6
taste = rng.normal(size=(D, ARMS))

policy = keras.Sequential([layers.Input((D,)), layers.Dense(32, activation="tanh"), layers.Dense(ARMS)])
optimizer = keras.optimizers.Adam(5e-3)


@tf.function
def act(state):
    return tf.random.categorical(policy(state), 1)


def train_step(state, action, reward):
    baseline = tf.reduce_mean(reward, axis=1, keepdims=True)
    advantage = reward - baseline
    with tf.GradientTape() as tape:
        log_probs = tf.nn.log_softmax(policy(state))
        chosen = tf.gather(log_probs, action, batch_dims=1)
        entropy = -tf.reduce_mean(tf.reduce_sum(tf.exp(log_probs) * log_probs, axis=1))
        loss = -tf.reduce_mean(chosen * advantage) - 0.01 * entropy
    grads = tape.gradient(loss, policy.trainable_variables)
    optimizer.apply_gradients(zip(grads, policy.trainable_variables))
    return loss, entropy


rewards = []
gradwatch.watch(policy)
for step in range(250):
    state = rng.normal(size=(64, D)).astype("float32")
    action = act(state)
    click = (state @ taste)[np.arange(64), action.numpy()[:, 0]] + rng.normal(0, 0.5, 64)
    reward = click.astype("float32")[:, None]
    loss, entropy = train_step(state, action, reward)
    rewards.append(reward.mean())
    if (step + 1) % 50 == 0:
        print(step + 1, "loss", float(loss), "entropy", float(entropy), "reward", np.mean(rewards[-50:]))
