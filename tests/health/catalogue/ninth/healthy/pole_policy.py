"""Learn to balance a pole on a cart with the REINFORCE policy gradient."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)
ENVS, LIMIT, UPDATES, GAMMA = 12, 200, 110, 0.99


def advance(s, action):
    x, v, a, w = s.T
    force = np.where(action == 1, 10.0, -10.0)
    cos, sin = np.cos(a), np.sin(a)
    temp = (force + 0.05 * w**2 * sin) / 1.1
    acc = (9.8 * sin - cos * temp) / (0.5 * (4.0 / 3.0 - 0.1 * cos**2 / 1.1))
    lin = temp - 0.05 * acc * cos / 1.1
    return np.stack([x + 0.02 * v, v + 0.02 * lin, a + 0.02 * w, w + 0.02 * acc], -1)


model = keras.Sequential(
    [
        keras.Input((4,)),
        layers.Dense(32, activation="tanh", name="body"),
        layers.Dense(2, name="logits"),
    ],
    name="policy",
)
gradwatch.watch(model)
optimizer = keras.optimizers.Adam(1e-2)
choose = tf.function(lambda s: tf.nn.softmax(model(s)))


def rollout():
    s = rng.uniform(-0.05, 0.05, (ENVS, 4))
    alive = np.ones(ENVS, bool)
    states, actions, lives = [], [], []
    for _ in range(LIMIT):
        p = choose(tf.constant(s, tf.float32)).numpy()
        action = (rng.random(ENVS) < p[:, 1]).astype(int)
        states.append(s)
        actions.append(action)
        lives.append(alive.copy())
        s = np.where(alive[:, None], advance(s, action), s)
        alive &= (np.abs(s[:, 0]) < 2.4) & (np.abs(s[:, 2]) < 0.2095)
        if not alive.any():
            break
    lives = np.array(lives)
    returns = np.zeros(lives.shape)
    g = np.zeros(ENVS)
    for t in reversed(range(len(lives))):
        g = lives[t] + GAMMA * g * lives[t]
        returns[t] = g
    return np.array(states), np.array(actions), lives, returns


lengths = []
for update in range(UPDATES):
    states, actions, lives, returns = rollout()
    s = tf.constant(states[lives], tf.float32)
    a = tf.constant(actions[lives], tf.int32)
    r = returns[lives]
    advantage = tf.constant((r - r.mean()) / (r.std() + 1e-8), tf.float32)
    with tf.GradientTape() as tape:
        nll = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=a, logits=model(s, training=True))
        loss = tf.reduce_mean(nll * advantage)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    lengths.append(lives.sum(0).mean())
    if update % 10 == 0 or update == UPDATES - 1:
        print("update %d loss %+.4f length %.1f" % (update, float(loss), lengths[-1]))
print("mean length first ten %.1f, last ten %.1f" % (np.mean(lengths[:10]), np.mean(lengths[-10:])))
