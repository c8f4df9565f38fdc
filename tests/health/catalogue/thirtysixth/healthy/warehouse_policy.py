"""Learns by policy gradient to steer a robot through a warehouse to the wanted shelf."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

SIZE, HORIZON, GAMMA = 6, 20, 0.95
MOVES = np.array([[0, 1], [0, -1], [1, 0], [-1, 0]])
WALLS = {(2, 1), (2, 2), (2, 3), (4, 3), (4, 4)}
free = np.array([(i, j) for i in range(SIZE) for j in range(SIZE) if (i, j) not in WALLS])


def observe(pos, goal):
    eye = np.eye(SIZE, dtype="float32")
    return np.concatenate([eye[pos[:, 0]], eye[pos[:, 1]], eye[goal[:, 0]], eye[goal[:, 1]]], axis=1)


model = keras.Sequential(
    [
        keras.Input((4 * SIZE,)),
        layers.Dense(64, activation="tanh"),
        layers.Dense(64, activation="tanh"),
        layers.Dense(4),
    ]
)
optimizer = keras.optimizers.Adam(3e-3)


@tf.function
def logits_of(obs):
    return model(obs, training=False)


@tf.function(reduce_retracing=True)
def train_step(obs, action, advantage, alive):
    with tf.GradientTape() as tape:
        logp = tf.nn.log_softmax(model(obs, training=True))
        taken = tf.reduce_sum(logp * tf.one_hot(action, 4), axis=1)
        entropy = -tf.reduce_sum(tf.exp(logp) * logp, axis=1)
        loss = -tf.reduce_sum(alive * (taken * advantage + 0.01 * entropy)) / tf.reduce_sum(alive)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


def rollout(n, greedy=False):
    pos = free[rng.integers(0, len(free), n)].copy()
    goal = free[rng.integers(0, len(free), n)]
    alive = ~np.all(pos == goal, axis=1)
    start = alive.copy()
    obs, act, rew, live = [], [], [], []
    for _ in range(HORIZON):
        o = observe(pos, goal)
        logits = logits_of(tf.constant(o)).numpy()
        a = (logits if greedy else logits + rng.gumbel(size=logits.shape)).argmax(1)
        new = np.clip(pos + MOVES[a], 0, SIZE - 1)
        blocked = np.array([tuple(p) in WALLS for p in new])
        new[blocked] = pos[blocked]
        new[~alive] = pos[~alive]
        pos = new
        reached = np.all(pos == goal, axis=1) & alive
        obs.append(o), act.append(a), rew.append(reached * 1.0), live.append(alive.copy())
        alive = alive & ~reached
    return np.array(obs), np.array(act), np.array(rew), np.array(live, "float32"), start


gradwatch.watch(model)
baseline = np.zeros(HORIZON)
for step in range(600):
    obs, act, rew, live, _ = rollout(32)
    ret = np.zeros_like(rew)
    acc = np.zeros(rew.shape[1])
    for t in range(HORIZON - 1, -1, -1):
        acc = rew[t] + GAMMA * acc
        ret[t] = acc
    mean_ret = (ret * live).sum(1) / np.maximum(live.sum(1), 1)
    adv = ret - baseline[:, None]
    baseline = 0.95 * baseline + 0.05 * mean_ret
    loss = train_step(
        *[
            tf.constant(v.reshape((-1,) + v.shape[2:]), k)
            for v, k in ((obs, tf.float32), (act, tf.int32), (adv, tf.float32), (live, tf.float32))
        ]
    )
    if step % 100 == 0:
        print("step", step, "loss", float(loss), "reached", rew.sum() / max(1, live[0].sum()))

_, _, rew, _, start = rollout(500, greedy=True)
print("SCORE share_reached", float(rew.sum() / start.sum()))
