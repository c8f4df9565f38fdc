"""Learn a reorder policy for a small warehouse with delivery delay by REINFORCE on a simulated demand."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

N_ENV, HORIZON, N_ACTION, DELAY = 32, 24, 6, 2


def observe(stock, pipeline, t):
    season = np.full_like(stock, np.sin(2 * np.pi * t / 12))
    return np.stack(
        [stock / 10 - 0.5, pipeline[:, 0] / 5, pipeline[:, 1] / 5, season, np.full_like(stock, t / HORIZON)], axis=1
    ).astype("float32")


def roll_out(policy, n_env, greedy=False):
    stock, pipeline = np.full(n_env, 5.0), np.full((n_env, DELAY), 2.0)
    states, actions, rewards = [], [], []
    for t in range(HORIZON):
        state = observe(stock, pipeline, t)
        logits = policy(tf.constant(state)).numpy()
        if greedy:
            action = logits.argmax(1)
        else:
            action = (logits + rng.gumbel(size=logits.shape)).argmax(1)
        stock = np.minimum(stock + pipeline[:, 0], 15.0)
        pipeline = np.concatenate([pipeline[:, 1:], action[:, None].astype(float)], axis=1)
        demand = rng.poisson(2.5 + 1.2 * np.sin(2 * np.pi * (t + 1) / 12), n_env)
        sold = np.minimum(stock, demand)
        reward = 3.0 * sold - 1.0 * action - 0.15 * stock - 1.0 * (demand - sold)
        stock = stock - sold
        states.append(state)
        actions.append(action)
        rewards.append(reward)
    return np.stack(states, 1), np.stack(actions, 1), np.stack(rewards, 1)


def rewards_to_go(rewards):
    return np.cumsum(rewards[::-1], axis=0)[::-1]


model = keras.Sequential(
    [
        keras.Input((5,)),
        layers.Dense(48, activation="tanh"),
        layers.Dense(48, activation="tanh"),
        layers.Dense(N_ACTION),
    ]
)
gradwatch.watch(model)
optimizer = keras.optimizers.Adam(3e-3)
policy = tf.function(lambda s: model(s), reduce_retracing=True)


@tf.function
def train_step(states, actions, advantage):
    with tf.GradientTape() as tape:
        logits = model(states, training=True)
        nll = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=actions, logits=logits)
        logp = tf.nn.log_softmax(logits)
        entropy = -tf.reduce_sum(tf.exp(logp) * logp, axis=1)
        loss = tf.reduce_mean(nll * advantage) - 0.01 * tf.reduce_mean(entropy)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for update in range(400):
    states, actions, rewards = roll_out(policy, N_ENV)
    returns = rewards_to_go(rewards)
    advantage = returns - returns.mean(axis=0, keepdims=True)
    advantage = advantage / (advantage.std() + 1e-6)
    train_step(
        tf.constant(states.reshape(-1, 5)),
        tf.constant(actions.reshape(-1)),
        tf.constant(advantage.reshape(-1), tf.float32),
    )
    if update % 50 == 0:
        print("update", update, "profit", rewards.sum(1).mean())

_, _, rewards = roll_out(policy, 500, greedy=True)
print("SCORE profit", float(rewards.sum(1).mean()))
