"""Trains a policy by REINFORCE to share out thinking time over the moves of a timed chess game."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

GAMES, MOVES, BUDGET = 48, 12, 16.0
SPEND = np.array([0.5, 1.0, 2.0, 4.0])


def observe(left, move, difficulty):
    time_part = left / BUDGET * 2 - 1
    move_part = np.full_like(left, move / MOVES * 2 - 1)
    per_move = left / np.maximum(MOVES - move, 1) - 1.0
    return np.stack([time_part, move_part, per_move, difficulty], axis=1).astype("float32")


def play(choose, games):
    """Hard positions pay for long thought; an empty clock loses the rest of the game."""
    left = np.full(games, BUDGET)
    seen, acts, rewards = [], [], []
    for move in range(MOVES):
        difficulty = rng.normal(size=games)
        obs = observe(left, move, difficulty)
        act = choose(obs)
        spend = np.minimum(SPEND[act], left)
        left = left - spend
        need = np.exp(0.9 * difficulty)
        gain = need * (1 - np.exp(-spend / need)) / 1.5 - 0.5 * (spend < 0.25)
        seen.append(obs)
        acts.append(act)
        rewards.append(gain)
    return np.stack(seen), np.stack(acts), np.stack(rewards)


policy = keras.Sequential(
    [
        keras.Input((4,)),
        keras.layers.Dense(48, activation="tanh"),
        keras.layers.Dense(48, activation="tanh"),
        keras.layers.Dense(len(SPEND)),
    ],
    name="clock_policy",
)
optimizer = keras.optimizers.Adam(2e-3)


@tf.function(reduce_retracing=True)
def logits_of(obs):
    return policy(obs)


def sample(obs):
    logits = logits_of(tf.constant(obs)).numpy()
    return np.argmax(logits + rng.gumbel(size=logits.shape), axis=1)


@tf.function
def update(obs, act, advantage):
    with tf.GradientTape() as tape:
        logits = policy(obs, training=True)
        log_p = -tf.nn.sparse_softmax_cross_entropy_with_logits(act, logits)
        p = tf.nn.softmax(logits)
        entropy = -tf.reduce_mean(tf.reduce_sum(p * tf.nn.log_softmax(logits), axis=-1))
        loss = -tf.reduce_mean(log_p * advantage) - 0.005 * entropy
    grads = tape.gradient(loss, policy.trainable_variables)
    optimizer.apply_gradients(zip(grads, policy.trainable_variables))
    return loss, entropy


start = play(sample, 2000)[2].sum(axis=0).mean()
gradwatch.watch(policy)

for it in range(800):
    obs, act, reward = play(sample, GAMES)
    to_go = np.cumsum(reward[::-1], axis=0)[::-1]
    advantage = to_go - to_go.mean(axis=1, keepdims=True)
    advantage = advantage / (advantage.std() + 1e-6)
    loss, entropy = update(obs.reshape(-1, 4), act.reshape(-1).astype("int32"), advantage.reshape(-1).astype("float32"))
    if it % 100 == 99:
        print(f"it {it + 1} loss {float(loss):+.4f} entropy {float(entropy):.3f} return {reward.sum(0).mean():.3f}")

final = play(sample, 2000)[2].sum(axis=0).mean()
print(f"return before {start:.3f} after {final:.3f}")
print("SCORE mean_return", float(final))
