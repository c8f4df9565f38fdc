"""Actor-critic that steers a batch of planar drones to their landing pads."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

ENVS, HORIZON, ITERS, GAMMA = 24, 16, 400, 0.9
MOVES = np.array([[0, 0], [1, 0], [-1, 0], [0, 1], [0, -1]], "float32") * 0.15


def reset(n):
    return rng.uniform(-1, 1, (n, 2)).astype("float32"), rng.uniform(-1, 1, (n, 2)).astype("float32")


def observe(pos, pad):
    return np.concatenate([pos, pad], axis=1)


def move(pos, pad, action):
    before = np.linalg.norm(pos - pad, axis=1)
    pos = np.clip(pos + MOVES[action] + rng.normal(0, 0.02, pos.shape), -1.2, 1.2).astype("float32")
    after = np.linalg.norm(pos - pad, axis=1)
    return pos, (5.0 * (before - after) - 0.05).astype("float32")


inp = keras.Input((4,))
h = layers.Dense(64, activation="tanh")(inp)
h = layers.Dense(64, activation="tanh")(h)
logits_out = layers.Dense(len(MOVES), name="policy")(h)
v = layers.Dense(64, activation="tanh")(inp)
value_out = layers.Dense(1, name="value")(v)
model = keras.Model(inp, [logits_out, value_out])
optimizer = keras.optimizers.Adam(3e-3)
gradwatch.watch(model)


@tf.function
def act(obs):
    logits, _ = model(obs)
    return tf.random.categorical(logits, 1)[:, 0], tf.argmax(logits, axis=1)


@tf.function
def train_step(obs, actions, returns):
    with tf.GradientTape() as tape:
        logits, values = model(obs, training=True)
        log_probs = tf.nn.log_softmax(logits)
        one_hot = tf.one_hot(actions, len(MOVES))
        chosen = tf.reduce_sum(one_hot * log_probs, axis=1)
        advantage = tf.stop_gradient(returns - values)
        policy_loss = -tf.reduce_mean(chosen * advantage)
        value_loss = tf.reduce_mean(tf.square(returns - values))
        entropy = -tf.reduce_mean(tf.reduce_sum(tf.exp(log_probs) * log_probs, axis=1))
        loss = policy_loss + 0.5 * value_loss - 0.01 * entropy
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return policy_loss, value_loss, entropy


for it in range(ITERS):
    pos, pad = reset(ENVS)
    obs_l, act_l, rew_l = [], [], []
    for _ in range(HORIZON):
        obs = observe(pos, pad)
        action = act(tf.constant(obs))[0].numpy()
        pos, reward = move(pos, pad, action)
        obs_l.append(obs)
        act_l.append(action)
        rew_l.append(reward)
    ret, acc = np.zeros((HORIZON, ENVS), "float32"), 0.0
    for t in reversed(range(HORIZON)):
        acc = rew_l[t] + GAMMA * acc
        ret[t] = acc
    out = train_step(
        tf.constant(np.concatenate(obs_l)),
        tf.constant(np.concatenate(act_l)),
        tf.constant(ret.reshape(-1, 1)),
    )
    if it % 50 == 0:
        print(it, "reward", float(np.sum(rew_l) / ENVS), [round(float(o), 4) for o in out])

pos, pad = reset(300)
total = np.zeros(300)
for _ in range(HORIZON):
    action = act(tf.constant(observe(pos, pad)))[0].numpy()
    pos, reward = move(pos, pad, action)
    total += reward
print("SCORE mean_episode_reward", round(float(total.mean()), 4))
