"""Advantage actor-critic for a single lift serving one call at a time (vectorised simulator)."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

FLOORS, ENVS, HORIZON, GAMMA = 10, 48, 12, 0.9
UP, DOWN, OPEN = 0, 1, 2


class Lifts:
    def __init__(self):
        self.pos = rng.integers(0, FLOORS, ENVS)
        self.call = rng.integers(0, FLOORS, ENVS)

    def obs(self):
        return np.stack([self.pos / FLOORS - 0.5, self.call / FLOORS - 0.5], 1).astype("float32")

    def step(self, action):
        served = (action == OPEN) & (self.pos == self.call)
        before = np.abs(self.pos - self.call)
        self.pos = np.clip(self.pos + (action == UP) - (action == DOWN), 0, FLOORS - 1)
        closer = before - np.abs(self.pos - self.call)
        reward = 1.0 * served + 0.3 * closer - 0.1 * ((action == OPEN) & ~served)
        self.call = np.where(served, rng.integers(0, FLOORS, ENVS), self.call)
        return reward.astype("float32")


actor = keras.Sequential(
    [
        keras.Input((2,)),
        keras.layers.Dense(48, activation="tanh"),
        keras.layers.Dense(48, activation="tanh"),
        keras.layers.Dense(3),
    ],
    name="actor",
)
critic = keras.Sequential(
    [
        keras.Input((2,)),
        keras.layers.Dense(48, activation="tanh"),
        keras.layers.Dense(48, activation="tanh"),
        keras.layers.Dense(1),
    ],
    name="critic",
)
actor_opt = keras.optimizers.Adam(4e-3)
critic_opt = keras.optimizers.Adam(4e-3)
gradwatch.watch(actor, critic)


@tf.function
def act(obs):
    return tf.random.categorical(actor(obs), 1)[:, 0]


@tf.function
def update(obs, actions, returns):
    with tf.GradientTape(persistent=True) as tape:
        values = tf.squeeze(critic(obs), -1)
        advantage = tf.stop_gradient(returns - values)
        log_probs = tf.nn.log_softmax(actor(obs))
        log_prob = tf.gather(log_probs, actions[:, None], axis=1, batch_dims=1)
        entropy = -tf.reduce_mean(tf.reduce_sum(tf.exp(log_probs) * log_probs, -1))
        actor_loss = -tf.reduce_mean(log_prob * advantage) - 0.01 * entropy
        critic_loss = tf.reduce_mean(tf.square(returns - values))
    actor_opt.apply_gradients(zip(tape.gradient(actor_loss, actor.trainable_variables), actor.trainable_variables))
    critic_opt.apply_gradients(zip(tape.gradient(critic_loss, critic.trainable_variables), critic.trainable_variables))
    return actor_loss, critic_loss


lifts, history = Lifts(), []
for it in range(300):
    obs, acts, rews = [], [], []
    for _ in range(HORIZON):
        s = lifts.obs()
        a = act(s).numpy()
        obs.append(s)
        acts.append(a)
        rews.append(lifts.step(a))
    ret = critic(lifts.obs()).numpy()[:, 0]
    rets = []
    for r in reversed(rews):
        ret = r + GAMMA * ret
        rets.append(ret)
    rets = np.stack(rets[::-1])
    al, cl = update(np.concatenate(obs), np.concatenate(acts), rets.reshape(-1))
    history.append(np.mean(rews))
    if it % 50 == 0:
        print(f"{it:4d} reward/step {np.mean(history[-50:]):.3f} actor {float(al):.4f} critic {float(cl):.4f}")
print(f"mean reward per step, last 30 updates: {np.mean(history[-30:]):.3f}")
