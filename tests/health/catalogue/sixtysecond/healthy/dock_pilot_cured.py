import collections
import os
from dataclasses import dataclass

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)

Rollout = collections.namedtuple("Rollout", "obs actions weights success")


@dataclass(frozen=True)
class Args:
    episodes: int = 32
    horizon: int = 12
    iterations: int = 200
    lr: float = 5e-3
    entropy: float = 0.005


class DockEnv:
    """A boat on a line; the episode pays when it ends at the dock."""

    def __init__(self, n, horizon, rng):
        self.n, self.horizon, self.rng = n, horizon, rng

    def reset(self):
        self.pos = self.rng.uniform(-5, 5, self.n)
        self.vel = np.zeros(self.n)
        self.t = 0
        return self.observe()

    def observe(self):
        left = np.full(self.n, 1.0 - self.t / self.horizon)
        return np.stack([self.pos / 5.0, self.vel, left], axis=1).astype("float32")

    def step(self, action):
        self.vel = 0.6 * self.vel + 0.5 * (action - 1)
        self.pos = self.pos + self.vel + 0.02 * self.rng.normal(size=self.n)
        self.t += 1
        return self.observe(), self.t >= self.horizon

    def payoff(self):
        return (np.abs(self.pos) < 1.5).astype("float32")


def make_policy():
    return keras.Sequential(
        [
            keras.Input((3,)),
            keras.layers.Dense(32, activation="tanh", name="pi_hidden_1"),
            keras.layers.Dense(32, activation="tanh", name="pi_hidden_2"),
            keras.layers.Dense(3, name="pi_logits"),
        ],
        name="policy",
    )


def collect(env, policy, rng, greedy=False):
    obs, done = env.reset(), False
    all_obs, all_act = [], []
    while not done:
        logits = policy(obs).numpy()
        if greedy:
            act = logits.argmax(1)
        else:
            act = (logits + rng.gumbel(size=logits.shape)).argmax(1)
        all_obs.append(obs)
        all_act.append(act)
        obs, done = env.step(act)
    returns = env.payoff()
    weights = (returns - returns.mean()) / (returns.std() + 1e-6)
    tiled = np.tile(weights, len(all_obs)).astype("float32")
    return Rollout(np.concatenate(all_obs), np.concatenate(all_act).astype("int32"), tiled, returns.mean())


def make_update(policy, optimizer, args):
    @tf.function
    def update(obs, actions, weights):
        with tf.GradientTape() as tape:
            logp = tf.nn.log_softmax(policy(obs, training=True))
            chosen = tf.gather(logp, actions, batch_dims=1)
            entropy = -tf.reduce_mean(tf.reduce_sum(tf.exp(logp) * logp, axis=1))
            loss = -tf.reduce_mean(chosen * weights) - args.entropy * entropy
        grads = tape.gradient(loss, policy.trainable_variables)
        optimizer.apply_gradients(zip(grads, policy.trainable_variables))
        return loss

    return update


def main():
    args = Args()
    rng = np.random.default_rng(SEED)
    env = DockEnv(args.episodes, args.horizon, rng)
    policy = make_policy()
    update = make_update(policy, keras.optimizers.Adam(args.lr), args)
    watch = gradwatch.watch(policy)
    for it in range(args.iterations):
        roll = collect(env, policy, rng)
        loss = update(roll.obs, roll.actions, roll.weights)
        watch.log(loss=loss, success=float(roll.success))
        if it % 50 == 0:
            print(it, float(loss), float(roll.success))
    test_env = DockEnv(500, args.horizon, np.random.default_rng(99))
    print("SCORE", float(collect(test_env, policy, rng, greedy=True).success))


if __name__ == "__main__":
    main()
