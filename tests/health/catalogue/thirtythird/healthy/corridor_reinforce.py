"""Plain REINFORCE on a corridor with a rare reward at its far end."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

CELLS, HORIZON, EPISODES, ITERS, GAMMA = 7, 24, 16, 350, 0.95

model = keras.Sequential(
    [
        keras.Input((CELLS,)),
        layers.Dense(32, activation="tanh"),
        layers.Dense(2),
    ]
)
optimizer = keras.optimizers.Adam(5e-3)
gradwatch.watch(model)
eye = np.eye(CELLS, dtype="float32")


@tf.function
def policy(obs):
    return model(obs)


@tf.function
def train_step(obs, actions, returns, alive):
    with tf.GradientTape() as tape:
        log_probs = tf.nn.log_softmax(model(obs, training=True))
        chosen = tf.gather(log_probs, actions, batch_dims=1)
        entropy = -tf.reduce_sum(tf.exp(log_probs) * log_probs, axis=1)
        n = tf.reduce_sum(alive)
        loss = -tf.reduce_sum(alive * (chosen * returns + 0.01 * entropy)) / n
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


def rollout(n):
    pos = np.zeros(n, int)
    alive = np.ones(n, "float32")
    obs_l, act_l, rew_l, alive_l = [], [], [], []
    for _ in range(HORIZON):
        logits = policy(tf.constant(eye[pos])).numpy()
        p_right = 1 / (1 + np.exp(logits[:, 0] - logits[:, 1]))
        action = (rng.random(n) < p_right).astype("int32")
        slip = rng.random(n) < 0.1
        step = np.where(slip, -1, 2 * action - 1)
        obs_l.append(eye[pos])
        act_l.append(action)
        alive_l.append(alive.copy())
        pos = np.clip(pos + step, 0, CELLS - 1)
        reached = (pos == CELLS - 1) & (alive > 0)
        rew_l.append(reached.astype("float32"))
        alive[reached] = 0.0
    return np.array(obs_l), np.array(act_l), np.array(rew_l), np.array(alive_l)


for it in range(ITERS):
    obs, act, rew, alive = rollout(EPISODES)
    ret, acc = np.zeros_like(rew), 0.0
    for t in reversed(range(HORIZON)):
        acc = rew[t] + GAMMA * acc
        ret[t] = acc
    seen = alive > 0
    adv = (ret - ret[seen].mean()) / (ret[seen].std() + 1e-6)
    loss = train_step(
        tf.constant(obs.reshape(-1, CELLS)),
        tf.constant(act.reshape(-1)),
        tf.constant(adv.reshape(-1).astype("float32")),
        tf.constant(alive.reshape(-1)),
    )
    if it % 50 == 0:
        print(it, "loss", float(loss), "success", float(rew.sum() / EPISODES))

_, _, rew, alive = rollout(300)
print("SCORE success_rate", round(float(rew.sum() / 300), 4))
print("mean steps", float(alive.sum(0).mean()))
