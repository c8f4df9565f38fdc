"""Trains a stochastic policy by REINFORCE with a baseline for a feeder that teaches parrots words."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 17)
STATE, ACTIONS, BIRDS, LENGTH = 6, 5, 16, 12
W = rng.normal(size=(STATE, ACTIONS))


def respond(state, action):
    """Reward of a lesson, and the mood of each bird after it."""
    merit = np.tanh(state @ W)
    reward = merit[np.arange(len(state)), action] + rng.normal(0, 0.7, len(state))
    nxt = 0.6 * state + 0.8 * rng.normal(size=state.shape)
    return reward, nxt


policy = keras.Sequential(
    [
        keras.Input((STATE,)),
        keras.layers.Dense(48, activation="tanh"),
        keras.layers.Dense(48, activation="tanh"),
        keras.layers.Dense(ACTIONS, kernel_initializer=keras.initializers.RandomNormal(stddev=0.01)),
    ]
)
opt = keras.optimizers.Adam(3e-3)
gradwatch.watch(policy)


@tf.function
def learn(states, actions, advantage):
    with tf.GradientTape() as tape:
        logp = tf.nn.log_softmax(policy(states, training=True))
        chosen = tf.gather(logp, actions, batch_dims=1)
        entropy = -tf.reduce_sum(tf.exp(logp) * logp, axis=-1)
        loss = -tf.reduce_mean(advantage * chosen) - 0.01 * tf.reduce_mean(entropy)
    grads = tape.gradient(loss, policy.trainable_variables)
    opt.apply_gradients(zip(grads, policy.trainable_variables))
    return loss


@tf.function
def act(states):
    return tf.random.categorical(policy(states), 1)[:, 0]


def play(best=False):
    state = rng.normal(size=(BIRDS, STATE))
    states, actions, rewards = [], [], []
    for _ in range(LENGTH):
        obs = tf.constant(state, tf.float32)
        a = tf.argmax(policy(obs), axis=-1).numpy() if best else act(obs).numpy()
        r, nxt = respond(state, a)
        states.append(state), actions.append(a), rewards.append(r)
        state = nxt
    return np.concatenate(states), np.concatenate(actions), np.concatenate(rewards)


baseline = 0.0
for episode in range(1600):
    s, a, r = play()
    loss = learn(tf.constant(s, tf.float32), tf.constant(a, tf.int32), tf.constant(r - baseline, tf.float32))
    baseline = 0.95 * baseline + 0.05 * r.mean()
    if episode % 200 == 0:
        print(f"episode {episode} loss {float(loss):+.4f} reward {r.mean():+.3f}", flush=True)

final = np.mean([play(best=True)[2].mean() for _ in range(30)])
print("SCORE reward", round(float(final), 4))
