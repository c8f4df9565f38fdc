import os
from dataclasses import dataclass

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)


@dataclass
class PinnConfig:
    damping: float = 0.4
    stiffness: float = 9.0
    horizon: float = 3.0
    collocation: int = 64
    hidden: int = 32
    depth: int = 3
    steps: int = 800
    lr: float = 0.005


def exact(cfg, t):
    g = cfg.damping / 2
    w = np.sqrt(cfg.stiffness - g**2)
    return np.exp(-g * t) * (np.cos(w * t) + g / w * np.sin(w * t))


def build_net(cfg):
    inp = keras.Input((1,))
    h = keras.layers.Rescaling(2.0 / cfg.horizon, offset=-1.0)(inp)
    for i in range(cfg.depth):
        h = keras.layers.Dense(cfg.hidden, activation="tanh", name=f"tanh_{i}")(h)
    return keras.Model(inp, keras.layers.Dense(1, name="position")(h), name="pinn")


class Oscillator:
    def __init__(self, net, cfg):
        self.net, self.cfg = net, cfg
        self.opt = keras.optimizers.Adam(learning_rate=cfg.lr)

    def derivatives(self, t):
        with tf.GradientTape() as second:
            second.watch(t)
            with tf.GradientTape() as first:
                first.watch(t)
                x = self.net(t)
            dx = first.gradient(x, t)
        return x, dx, second.gradient(dx, t)

    def losses(self, t, t_obs, x_obs):
        x, dx, ddx = self.derivatives(t)
        residual = ddx + self.cfg.damping * dx + self.cfg.stiffness * x
        x0, v0, _ = self.derivatives(tf.zeros((1, 1)))
        return {
            "residual": 0.02 * tf.reduce_mean(tf.square(residual)),
            "initial": tf.reduce_mean(tf.square(x0 - 1.0)) + 0.1 * tf.reduce_mean(tf.square(v0)),
            "data": tf.reduce_mean(tf.square(self.net(t_obs) - x_obs)),
        }

    @tf.function
    def train_step(self, t, t_obs, x_obs):
        with tf.GradientTape() as tape:
            parts = self.losses(t, t_obs, x_obs)
            loss = tf.add_n(list(parts.values()))
        variables = self.net.trainable_variables
        self.opt.apply_gradients(zip(tape.gradient(loss, variables), variables))
        return loss, parts


def main():
    cfg = PinnConfig()
    net = build_net(cfg)
    solver = Oscillator(net, cfg)
    watch = gradwatch.watch(net)
    rng = np.random.default_rng(4)
    t_obs = rng.uniform(0, cfg.horizon, (12, 1)).astype("float32")
    x_obs = (exact(cfg, t_obs) + 0.02 * rng.normal(size=t_obs.shape)).astype("float32")
    for step in range(cfg.steps):
        t = tf.random.uniform((cfg.collocation, 1), 0.0, cfg.horizon)
        loss, parts = solver.train_step(t, t_obs, x_obs)
        watch.log(loss=loss, **parts)
        if step % 200 == 0:
            print(step, float(loss))
    grid = np.linspace(0, cfg.horizon, 200, dtype="float32")[:, None]
    truth = exact(cfg, grid)
    err = np.mean((net(grid).numpy() - truth) ** 2) / np.var(truth)
    print("SCORE", float(1 - err))


if __name__ == "__main__":
    main()
