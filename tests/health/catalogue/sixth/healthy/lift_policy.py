"""REINFORCE for a lift controller with very noisy rewards."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

FLOORS, T, B = 5, 6, 16
policy = keras.Sequential([layers.Input((2 * FLOORS,)), layers.Dense(64, activation="relu"), layers.Dense(3)])
optimizer = keras.optimizers.Adam(1e-2)
eye = np.eye(FLOORS, dtype="float32")


@tf.function
def act(obs):
    return tf.random.categorical(policy(obs), 1)[:, 0]


def train_step(obs, actions, advantage):
    with tf.GradientTape() as tape:
        nll = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=actions, logits=policy(obs))
        loss = tf.reduce_mean(nll * advantage)
    grads = tape.gradient(loss, policy.trainable_variables)
    optimizer.apply_gradients(zip(grads, policy.trainable_variables))
    return loss


history = []
gradwatch.watch(policy)
for step in range(300):
    pos, call = rng.integers(0, FLOORS, B), rng.integers(0, FLOORS, B)
    obs, acts, rews = [], [], []
    for _ in range(T):
        o = np.concatenate([eye[pos], eye[call]], 1)
        a = act(o).numpy()
        pos = np.clip(pos + a - 1, 0, FLOORS - 1)
        obs.append(o), acts.append(a)
        rews.append((pos == call).astype("float32"))
    rews = np.stack(rews)
    noisy = rews + rng.normal(0, 0.5, rews.shape)
    returns = np.cumsum(noisy[::-1], 0)[::-1]
    adv = returns - returns.mean(1, keepdims=True)
    adv = (adv / (adv.std() + 1e-6)).astype("float32")
    loss = train_step(np.concatenate(obs), np.concatenate(acts), adv.reshape(-1))
    history.append(rews.sum(0).mean())
    if (step + 1) % 30 == 0:
        print(step + 1, "loss", float(loss), "mean return", np.mean(history[-30:]))
