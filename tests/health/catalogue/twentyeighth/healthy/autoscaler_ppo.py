"""PPO that scales a web service up and down: pay for servers, pay more for requests that are dropped."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)
ENVS, HORIZON, UPDATES, EPOCHS, MINI = 64, 24, 45, 3, 256
GAMMA, LAMBDA, CLIP = 0.95, 0.9, 0.2


class Service:
    """Load follows a noisy daily wave; actions: one server less, keep, one more (they take effect next step)."""

    def __init__(self, n):
        self.n = n
        self.phase = rng.uniform(0, 2 * np.pi, n)
        self.level = rng.uniform(3.0, 7.0, n)
        self.servers = rng.integers(1, 12, n).astype(float)
        self.update_load()

    def update_load(self):
        self.phase = self.phase + 2 * np.pi / 48
        self.load = np.maximum(self.level + 2.5 * np.sin(self.phase) + 0.3 * rng.standard_normal(self.n), 0)

    def observe(self):
        return np.stack(
            [
                self.load / 5 - 1,
                self.servers / 5 - 1,
                (self.servers - self.load) / 3,
                np.sin(self.phase),
                np.cos(self.phase),
            ],
            1,
        ).astype("float32")

    def step(self, action):
        self.servers = np.clip(self.servers + action - 1, 0, 14)
        self.update_load()
        dropped = np.maximum(self.load - self.servers, 0)
        idle = np.maximum(self.servers - self.load, 0)
        return -(1.0 * dropped + 0.25 * idle) / 3


def mlp(outputs, scale):
    init = keras.initializers.Orthogonal
    return keras.Sequential(
        [
            keras.Input((5,)),
            layers.Dense(48, activation="tanh", kernel_initializer=init(1.4)),
            layers.Dense(48, activation="tanh", kernel_initializer=init(1.4)),
            layers.Dense(outputs, kernel_initializer=init(scale)),
        ]
    )


actor, critic = mlp(3, 0.01), mlp(1, 1.0)
rate = keras.optimizers.schedules.PolynomialDecay(3e-3, UPDATES * EPOCHS * ENVS * HORIZON // MINI, 1e-4)
actor_opt = keras.optimizers.Adam(rate, epsilon=1e-5, global_clipnorm=0.5)
critic_opt = keras.optimizers.Adam(rate, epsilon=1e-5, global_clipnorm=0.5)


@tf.function
def act(obs):
    logits = actor(obs)
    action = tf.random.categorical(logits, 1)[:, 0]
    logp = tf.gather(tf.nn.log_softmax(logits), action, axis=1, batch_dims=1)
    return action, logp, critic(obs)[:, 0]


@tf.function
def train_step(obs, action, old_logp, advantage, target):
    advantage = (advantage - tf.reduce_mean(advantage)) / (tf.math.reduce_std(advantage) + 1e-8)
    with tf.GradientTape(persistent=True) as tape:
        logs = tf.nn.log_softmax(actor(obs, training=True))
        ratio = tf.exp(tf.gather(logs, action, axis=1, batch_dims=1) - old_logp)
        surrogate = tf.minimum(ratio * advantage, tf.clip_by_value(ratio, 1 - CLIP, 1 + CLIP) * advantage)
        entropy = -tf.reduce_mean(tf.reduce_sum(tf.exp(logs) * logs, -1))
        actor_loss = -tf.reduce_mean(surrogate) - 0.01 * entropy
        critic_loss = tf.reduce_mean(tf.square(target - critic(obs, training=True)[:, 0]))
    for net, opt, loss in ((actor, actor_opt, actor_loss), (critic, critic_opt, critic_loss)):
        opt.apply_gradients(zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables))
    return actor_loss, critic_loss


env = Service(ENVS)
gradwatch.watch(actor, critic)
for update in range(UPDATES):
    rows = []
    for _ in range(HORIZON):
        obs = env.observe()
        action, logp, value = [v.numpy() for v in act(obs)]
        rows.append((obs, action, logp, value, env.step(action).astype("float32")))
    obs, action, logp, value, reward = [np.stack(c) for c in zip(*rows)]
    following = np.concatenate([value[1:], act(env.observe())[2].numpy()[None]])
    delta, advantage, running = reward + GAMMA * following - value, np.zeros_like(reward), 0.0
    for t in reversed(range(HORIZON)):
        running = delta[t] + GAMMA * LAMBDA * running
        advantage[t] = running
    flat = [a.reshape((-1,) + a.shape[2:]) for a in (obs, action, logp, advantage, advantage + value)]
    for _ in range(EPOCHS):
        for idx in np.split(rng.permutation(ENVS * HORIZON), ENVS * HORIZON // MINI):
            losses = train_step(*[tf.constant(a[idx]) for a in flat])
    if update % 5 == 0:
        print("update %d reward %.4f critic %.4f" % (update, reward.mean(), float(losses[1])))

test, cost = Service(500), []
for _ in range(60):
    cost.append(test.step(actor(test.observe()).numpy().argmax(1)).mean())
print("SCORE mean_reward %.4f" % np.mean(cost[12:]))
