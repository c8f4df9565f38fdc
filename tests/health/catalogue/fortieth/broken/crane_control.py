"""Learn to position a warehouse crane with deep Q-learning, paying for time and for energy."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

SIZE, HORIZON, GAMMA, ENVS = 6, 16, 0.9, 32
MOVES = np.array([[0, 0], [0, 1], [0, -1], [1, 0], [-1, 0]])


def reset(k):
    return rng.integers(0, SIZE, (k, 2)), rng.integers(0, SIZE, (k, 2))


def observe(pos, goal):
    return (np.concatenate([pos, goal, goal - pos], 1) / 3.0).astype("float32")


def step(pos, goal, action):
    nxt = np.clip(pos + MOVES[action], 0, SIZE - 1)
    done = (nxt == goal).all(1)
    cost = 0.9 + 0.1 * (action > 0)
    return nxt, -cost * ~done, done


model = keras.Sequential(
    [
        keras.Input((6,)),
        layers.Dense(64, activation="relu"),
        layers.Dense(64, activation="relu"),
        layers.Dense(len(MOVES), activation="relu"),
    ]
)
target = keras.models.clone_model(model)
target.set_weights(model.get_weights())
optimizer = keras.optimizers.Adam(2e-3)
gradwatch.watch(model)


@tf.function
def train_step(s, a, r, s2, d):
    best = tf.reduce_max(target(s2), axis=-1)
    goal = r + GAMMA * (1.0 - d) * best
    with tf.GradientTape() as tape:
        q = tf.reduce_sum(model(s, training=True) * tf.one_hot(a, len(MOVES)), axis=-1)
        loss = tf.reduce_mean(keras.losses.huber(goal[:, None], q[:, None]))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


@tf.function
def q_values(s):
    return model(s)


memory = []
pos, goal = reset(ENVS)
age = np.zeros(ENVS, int)
for it in range(1400):
    eps = max(0.1, 1 - it / 600)
    obs = observe(pos, goal)
    act = q_values(obs).numpy().argmax(1)
    explore = rng.random(ENVS) < eps
    act = np.where(explore, rng.integers(0, len(MOVES), ENVS), act)
    pos, reward, done = step(pos, goal, act)
    memory.append((obs, act, reward, observe(pos, goal), done))
    memory = memory[-300:]
    age += 1
    over = done | (age >= HORIZON)
    p, g = reset(ENVS)
    pos, goal = np.where(over[:, None], p, pos), np.where(over[:, None], g, goal)
    age[over] = 0
    if it >= 10:
        picks = [memory[i] for i in rng.integers(0, len(memory), 8)]
        s, a, r, s2, d = (np.concatenate(c)[::2] for c in zip(*picks))
        train_step(s, a.astype("int32"), r.astype("float32"), s2, d.astype("float32"))
    if it % 25 == 0:
        target.set_weights(model.get_weights())

pos, goal = reset(400)
alive, total = np.ones(400, bool), np.zeros(400)
for _ in range(HORIZON):
    nxt, reward, done = step(pos, goal, q_values(observe(pos, goal)).numpy().argmax(1))
    total += reward * alive
    pos = nxt
    alive &= ~done
print("SCORE mean_return", float(total.mean()))
