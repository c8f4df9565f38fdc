"""Trains a stochastic policy that docks a small craft, by policy gradient with a baseline."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

CRAFTS, HORIZON, UPDATES, GAMMA = 32, 40, 400, 0.97
THRUST = np.array([-0.1, 0.0, 0.1])

policy = keras.Sequential(
    [
        keras.Input((2,)),
        layers.Dense(32, activation="tanh"),
        layers.Dense(32, activation="tanh"),
        layers.Dense(3),
    ]
)
baseline = keras.Sequential(
    [
        keras.Input((3,)),
        layers.Dense(32, activation="tanh"),
        layers.Dense(1),
    ]
)
policy_opt = keras.optimizers.Adam(3e-3)
baseline_opt = keras.optimizers.Adam(5e-3)
gradwatch.watch(policy, baseline)


@tf.function
def choose(obs):
    return tf.random.categorical(policy(obs), 1)[:, 0]


def rollout():
    pos, vel = rng.uniform(-1, 1, CRAFTS), rng.uniform(-0.1, 0.1, CRAFTS)
    observations, actions, rewards = [], [], []
    for _ in range(HORIZON):
        obs = np.stack([pos, 5 * vel], 1).astype("float32")
        action = choose(obs).numpy()
        vel = np.clip(vel + THRUST[action] + rng.normal(0, 0.01, CRAFTS), -0.4, 0.4)
        pos = np.clip(pos + vel, -2, 2)
        reward = -np.abs(pos) - 0.05 * (action != 1)
        observations.append(obs)
        actions.append(action)
        rewards.append(reward)
    returns, running = np.zeros((HORIZON, CRAFTS)), np.zeros(CRAFTS)
    for t in reversed(range(HORIZON)):
        running = rewards[t] + GAMMA * running
        returns[t] = running
    clock = np.repeat(np.linspace(-1, 1, HORIZON), CRAFTS)[:, None]
    obs = np.concatenate(observations)
    return (
        obs,
        np.concatenate([obs, clock], 1).astype("float32"),
        np.concatenate(actions),
        (returns.ravel() / 5.0).astype("float32"),
        float(np.sum(rewards, axis=0).mean()),
    )


@tf.function
def update(obs, timed_obs, actions, returns):
    with tf.GradientTape() as tape:
        value = baseline(timed_obs, training=True)[:, 0]
        value_loss = tf.reduce_mean(tf.square(returns - value))
    grads = tape.gradient(value_loss, baseline.trainable_variables)
    baseline_opt.apply_gradients(zip(grads, baseline.trainable_variables))
    advantage = returns - value
    advantage = (advantage - tf.reduce_mean(advantage)) / (tf.math.reduce_std(advantage) + 1e-6)
    with tf.GradientTape() as tape:
        logits = policy(obs, training=True)
        chosen = -tf.nn.sparse_softmax_cross_entropy_with_logits(labels=actions, logits=logits)
        probs = tf.nn.softmax(logits)
        entropy = -tf.reduce_sum(probs * tf.nn.log_softmax(logits), axis=-1)
        loss = -tf.reduce_mean(advantage * chosen) - 0.01 * tf.reduce_mean(entropy)
    grads = tape.gradient(loss, policy.trainable_variables)
    policy_opt.apply_gradients(zip(grads, policy.trainable_variables))
    return loss


scores = []
for episode in range(1, UPDATES + 1):
    obs, timed_obs, actions, returns, score = rollout()
    loss = update(obs, timed_obs, actions, returns)
    scores.append(score)
    if episode % 50 == 0:
        print(f"update {episode} loss {float(loss):+.4f} return {np.mean(scores[-50:]):.2f}")
print("first updates", round(float(np.mean(scores[:10])), 2))
print("SCORE return", float(np.mean(scores[-20:])))
