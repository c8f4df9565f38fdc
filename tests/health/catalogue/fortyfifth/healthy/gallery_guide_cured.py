"""Trains a policy by REINFORCE that proposes the next room to a visitor of a picture gallery."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)

ROOMS, TRAITS = 8, 10
BATCH, ROUNDS = 256, 1500


class Gallery:
    """Visitors with traits; the minutes that they stay in a room depend on both."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.taste = self.rng.normal(0, 1.0, (TRAITS, ROOMS))

    def visitors(self, n):
        return self.rng.normal(0, 1, (n, TRAITS)).astype("float32")

    def expected(self, traits):
        return 3.0 + 2.0 * np.tanh(0.5 * traits @ self.taste)

    def stay(self, traits, room):
        minutes = np.take_along_axis(self.expected(traits), room[:, None], axis=1)
        return (minutes + self.rng.normal(0, 0.5, minutes.shape)).astype("float32")


gallery = Gallery(SEED)
policy = keras.Sequential([keras.Input((TRAITS,)), layers.Dense(64, activation="tanh"), layers.Dense(ROOMS)])
critic = keras.Sequential([keras.Input((TRAITS,)), layers.Dense(64, activation="tanh"), layers.Dense(1)])
policy_optimizer = keras.optimizers.Adam(3e-3)
critic_optimizer = keras.optimizers.Adam(3e-3)
gradwatch.watch(policy, critic)


@tf.function
def act(traits):
    return tf.random.categorical(policy(traits), 1, dtype=tf.int32)[:, 0]


@tf.function
def learn(traits, room, minutes):
    with tf.GradientTape(persistent=True) as tape:
        log_all = tf.nn.log_softmax(policy(traits, training=True))
        log_room = tf.gather(log_all, room, batch_dims=1)
        advantage = minutes - critic(traits, training=True)
        entropy = -tf.reduce_mean(tf.reduce_sum(tf.exp(log_all) * log_all, axis=1))
        gain = tf.reduce_mean(log_room * tf.stop_gradient(advantage[:, 0]))
        policy_loss = -gain - 0.01 * entropy
        critic_loss = tf.reduce_mean(tf.square(advantage))
    grads = tape.gradient(policy_loss, policy.trainable_variables)
    policy_optimizer.apply_gradients(zip(grads, policy.trainable_variables))
    grads = tape.gradient(critic_loss, critic.trainable_variables)
    critic_optimizer.apply_gradients(zip(grads, critic.trainable_variables))
    return critic_loss, entropy


for r in range(ROUNDS):
    traits = gallery.visitors(BATCH)
    room = act(traits).numpy()
    minutes = gallery.stay(traits, room)
    critic_loss, entropy = learn(traits, room, minutes)
    if r % 100 == 0:
        print(
            f"round {r:4d}  minutes {minutes.mean():.3f}  critic {float(critic_loss):.3f}  entropy {float(entropy):.3f}"
        )

traits = gallery.visitors(4000)
expected = gallery.expected(traits)
choice = act(traits).numpy()
reached = np.take_along_axis(expected, choice[:, None], axis=1).mean()
print(f"random room {expected.mean():.3f}, best room {expected.max(axis=1).mean():.3f}")
print(f"SCORE minutes {reached:.4f}")
