"""Advantage actor-critic agent that learns to reach a goal cell in a small windy grid."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

SIZE, N_ENV, ROLL, UPDATES = 6, 24, 8, 600
GAMMA, MAX_T = 0.97, 40
MOVES = np.array([[0, 1], [0, -1], [1, 0], [-1, 0]])


class Grids:
    """A batch of grids that restart by themselves."""

    def __init__(self, n):
        self.n = n
        self.pos = rng.integers(0, SIZE, (n, 2))
        self.goal = rng.integers(0, SIZE, (n, 2))
        self.t = np.zeros(n, int)

    def obs(self):
        eye = np.eye(SIZE, dtype="float32")
        return np.concatenate(
            [eye[self.pos[:, 0]], eye[self.pos[:, 1]], eye[self.goal[:, 0]], eye[self.goal[:, 1]]], axis=1
        )

    def step(self, a):
        wind = rng.random(self.n) < 0.1
        a = np.where(wind, rng.integers(0, 4, self.n), a)
        self.pos = np.clip(self.pos + MOVES[a], 0, SIZE - 1)
        self.t += 1
        reached = (self.pos == self.goal).all(1)
        done = reached | (self.t >= MAX_T)
        reward = np.where(reached, 1.0, -0.02).astype("float32")
        k = done.sum()
        self.pos[done] = rng.integers(0, SIZE, (k, 2))
        self.goal[done] = rng.integers(0, SIZE, (k, 2))
        self.t[done] = 0
        return reward, done.astype("float32"), reached


obs_in = keras.Input((4 * SIZE,))
h = layers.Dense(64, activation="tanh")(obs_in)
h = layers.Dense(64, activation="tanh")(h)
model = keras.Model(obs_in, [layers.Dense(4)(h), layers.Dense(1)(h)])
optimizer = keras.optimizers.Adam(2e-3)
gradwatch.watch(model)


@tf.function
def act(obs):
    logits, value = model(obs)
    return tf.random.categorical(logits, 1)[:, 0], value[:, 0]


@tf.function
def train_step(obs, actions, returns):
    with tf.GradientTape() as tape:
        logits, value = model(obs, training=True)
        logp_all = tf.nn.log_softmax(logits)
        logp = tf.reduce_sum(logp_all * tf.one_hot(actions, 4), axis=1)
        advantage = returns - value[:, 0]
        policy_loss = -tf.reduce_mean(logp * advantage)
        value_loss = tf.reduce_mean(tf.square(advantage))
        entropy = -tf.reduce_mean(tf.reduce_sum(tf.exp(logp_all) * logp_all, axis=1))
        loss = policy_loss + 0.5 * value_loss - 0.01 * entropy
    grads = tape.gradient(loss, model.trainable_variables)
    grads, _ = tf.clip_by_global_norm(grads, 1.0)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


env = Grids(N_ENV)
for update in range(UPDATES):
    O, A, R, D = [], [], [], []
    for _ in range(ROLL):
        obs = env.obs()
        a = act(tf.constant(obs))[0].numpy()
        r, d, _ = env.step(a)
        O.append(obs)
        A.append(a)
        R.append(r)
        D.append(d)
    ret = act(tf.constant(env.obs()))[1].numpy()
    rets = []
    for r, d in zip(reversed(R), reversed(D)):
        ret = r + GAMMA * (1.0 - d) * ret
        rets.append(ret)
    rets.reverse()
    loss = train_step(
        tf.constant(np.concatenate(O)),
        tf.constant(np.concatenate(A).astype("int32")),
        tf.constant(np.concatenate(rets).astype("float32")),
    )
    if update % 150 == 149:
        print("update", update + 1, "reward per step", round(float(np.mean(R)), 4))

test = Grids(200)
total = 0.0
for _ in range(100):
    a = act(tf.constant(test.obs()))[0].numpy()
    r, _, reached = test.step(a)
    total += reached.sum()
print("SCORE goals_per_100_steps", round(float(total / 200), 3))
