"""Teaches a delivery robot by policy gradient to reach its door in a windy corridor grid."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

SIDE, HORIZON, ENVS, UPDATES = 7, 20, 8, 700
MOVES = np.array([[0, 1], [0, -1], [1, 0], [-1, 0]])


def observe(pos, goal):
    return np.concatenate([pos, goal, goal - pos], -1).astype("float32") / SIDE


model = keras.Sequential(
    [
        keras.Input((6,)),
        layers.Dense(48, activation="tanh"),
        layers.Dense(48, activation="tanh"),
        layers.Dense(4, kernel_initializer=keras.initializers.RandomNormal(stddev=0.01)),
    ]
)
optimizer = keras.optimizers.Adam(5e-4)
gradwatch.watch(model)


@tf.function(reduce_retracing=True)
def act_logits(obs):
    return model(obs, training=False)


@tf.function(reduce_retracing=True)
def update(obs, action, advantage):
    with tf.GradientTape() as tape:
        logits = model(obs, training=True)
        nll = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=action, logits=logits)
        logp = tf.nn.log_softmax(logits)
        entropy = -tf.reduce_mean(tf.reduce_sum(tf.exp(logp) * logp, -1))
        loss = tf.reduce_mean(nll * advantage) - 0.01 * entropy
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


def rollout(n, greedy=False):
    pos, goal = rng.integers(0, SIDE, (n, 2)), rng.integers(0, SIDE, (n, 2))
    alive = np.ones(n, bool)
    obs_l, act_l, rew_l, live_l = [], [], [], []
    for _ in range(HORIZON):
        obs = observe(pos, goal)
        logits = act_logits(obs).numpy()
        action = (logits if greedy else logits + rng.gumbel(size=logits.shape)).argmax(-1)
        drift = np.where(rng.random(n) < 0.15, rng.integers(0, 4, n), action)
        pos = np.clip(pos + MOVES[drift] * alive[:, None], 0, SIDE - 1)
        reached = alive & (pos == goal).all(-1)
        obs_l.append(obs), act_l.append(action), live_l.append(alive.copy())
        rew_l.append(reached * 1.0 - 0.02 * alive)
        alive = alive & ~reached
    return np.stack(obs_l), np.stack(act_l), np.stack(rew_l), np.stack(live_l), ~alive


baseline = 0.0
for it in range(UPDATES):
    obs, action, reward, live, done = rollout(ENVS)
    togo = np.zeros_like(reward)
    acc = np.zeros(ENVS)
    for t in reversed(range(HORIZON)):
        acc = reward[t] + 0.95 * acc
        togo[t] = acc
    baseline = 0.9 * baseline + 0.1 * togo[live].mean()
    advantage = ((togo - baseline) * live).astype("float32")
    loss = update(obs.reshape(-1, 6), action.reshape(-1), advantage.reshape(-1))
    if (it + 1) % 50 == 0:
        print(f"update {it + 1}  loss {float(loss):+.4f}  reached {done.mean():.2f}")

*_, done = rollout(1000)
print("SCORE reached", float(done.mean()))
