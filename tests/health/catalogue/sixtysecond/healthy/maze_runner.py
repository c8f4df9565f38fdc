import collections
import os
from dataclasses import dataclass

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)


@dataclass
class DQNArgs:
    gamma: float = 0.95
    lr: float = 1e-3
    batch: int = 64
    capacity: int = 4000
    sync_every: int = 50
    steps: int = 1000
    envs: int = 8


class Corridor:
    """8 x 8 field, pays 10 at the corner, small fee per move."""

    def __init__(self, n, rng):
        self.n, self.rng = n, rng
        self.pos = rng.integers(0, 8, (n, 2))
        self.age = np.zeros(n, int)

    def obs(self):
        return (self.pos / 7.0 * 2 - 1).astype("float32")

    def step(self, a):
        moves = np.array([[0, 1], [0, -1], [1, 0], [-1, 0]])
        self.pos = np.clip(self.pos + moves[a], 0, 7)
        self.age += 1
        won = (self.pos == 7).all(1)
        reward = np.where(won, 10.0, -0.1).astype("float32")
        nxt = self.obs()
        over = won | (self.age > 40)
        self.pos[over] = self.rng.integers(0, 8, (over.sum(), 2))
        self.age[over] = 0
        return nxt, reward, won.astype("float32")


def make_q(name):
    return keras.Sequential(
        [
            keras.Input((2,)),
            keras.layers.Dense(64, activation="relu", name="q_1"),
            keras.layers.Dense(64, activation="relu", name="q_2"),
            keras.layers.Dense(4, name="q_values"),
        ],
        name=name,
    )


class Agent:
    def __init__(self, args):
        self.args = args
        self.online, self.target = make_q("online"), make_q("target")
        self.target.trainable = False
        self.target.set_weights(self.online.get_weights())
        self.opt = keras.optimizers.Adam(args.lr)
        self.huber = keras.losses.Huber()
        self.forward = tf.function(self.online, reduce_retracing=True)

    @tf.function
    def learn(self, s, a, r, s2, done):
        best = tf.argmax(self.online(s2), axis=1)
        boot = tf.gather(self.target(s2), best, batch_dims=1)
        goal = tf.stop_gradient(r + self.args.gamma * (1.0 - done) * boot)
        with tf.GradientTape() as tape:
            q = tf.gather(self.online(s, training=True), a, batch_dims=1)
            loss = self.huber(goal, q)
        v = self.online.trainable_variables
        self.opt.apply_gradients(zip(tape.gradient(loss, v), v))
        return loss


def play(agent, rng, n=200):
    env, total = Corridor(n, rng), np.zeros(n)
    first = np.ones(n, bool)
    for _ in range(20):
        _, _, won = env.step(agent.forward(env.obs()).numpy().argmax(1))
        total += first * won
        first &= won == 0
    return float((total > 0).mean())


def main():
    args, rng = DQNArgs(), np.random.default_rng(SEED)
    agent = Agent(args)
    memory = collections.deque(maxlen=args.capacity)
    env = Corridor(args.envs, rng)
    watch = gradwatch.watch(agent.online)
    for step in range(args.steps):
        eps = max(0.1, 1.0 - step / 500)
        s = env.obs()
        a = agent.forward(s).numpy().argmax(1)
        explore = rng.random(args.envs) < eps
        a = np.where(explore, rng.integers(0, 4, args.envs), a)
        s2, r, done = env.step(a)
        memory.extend(zip(s, a, r, s2, done))
        if len(memory) < 400:
            continue
        pick = [memory[i] for i in rng.integers(0, len(memory), args.batch)]
        bs, ba, br, bs2, bd = map(np.array, zip(*pick))
        loss = agent.learn(bs, ba.astype("int32"), br, bs2, bd)
        watch.log(loss=loss)
        if step % args.sync_every == 0:
            agent.target.set_weights(agent.online.get_weights())
        if step % 250 == 0:
            print(step, float(loss))
    print("SCORE", play(agent, np.random.default_rng(77)))


if __name__ == "__main__":
    main()
