import os
from dataclasses import dataclass

import keras
import numpy as np
import tensorflow as tf
from sklearn.datasets import make_moons

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)


@dataclass
class DiffusionConfig:
    timesteps: int = 50
    hidden: int = 96
    batch: int = 128
    steps: int = 1500
    lr: float = 2e-3


class Schedule:
    def __init__(self, cfg):
        betas = np.linspace(1e-3, 0.15, cfg.timesteps)
        self.betas = betas.astype("float32")
        self.alpha = (1 - betas).astype("float32")
        self.alpha_bar = np.cumprod(1 - betas).astype("float32")

    def q_sample(self, x0, t):
        a = tf.gather(self.alpha_bar, t)[:, None]
        return tf.sqrt(a) * x0 + tf.sqrt(1.0 - a) * tf.random.normal(tf.shape(x0))


def build_denoiser(cfg):
    x = keras.Input((2,), name="x_t")
    t = keras.Input((), dtype="int32", name="t")
    emb = keras.layers.Embedding(cfg.timesteps, 32, name="time_emb")(t)
    h = keras.layers.Concatenate()([x, emb])
    for i in range(3):
        h = keras.layers.Dense(cfg.hidden, activation="silu", name=f"block_{i}")(h)
    return keras.Model([x, t], keras.layers.Dense(2, name="eps_out")(h), name="denoiser")


class DiffusionTrainer:
    def __init__(self, model, schedule, cfg):
        self.model, self.schedule, self.cfg = model, schedule, cfg
        self.optimizer = keras.optimizers.Adam(cfg.lr)

    @tf.function
    def train_step(self, x0):
        t = tf.random.uniform((tf.shape(x0)[0],), 0, self.cfg.timesteps, dtype=tf.int32)
        noise = tf.random.normal(tf.shape(x0))
        x_t = self.schedule.q_sample(x0, t)
        with tf.GradientTape() as tape:
            pred = self.model([x_t, t], training=True)
            loss = tf.reduce_mean(tf.square(noise - pred))
        grads = tape.gradient(loss, self.model.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.model.trainable_variables))
        return loss

    def sample(self, n):
        sch = self.schedule
        x = tf.random.normal((n, 2))
        for i in reversed(range(self.cfg.timesteps)):
            eps = self.model([x, tf.fill((n,), i)])
            x = (x - sch.betas[i] / np.sqrt(1 - sch.alpha_bar[i]) * eps) / np.sqrt(sch.alpha[i])
            if i > 0:
                x += np.sqrt(sch.betas[i]) * tf.random.normal((n, 2))
        return x.numpy()


def chamfer(a, b):
    d = np.sqrt(((a[:, None] - b[None]) ** 2).sum(-1))
    return d.min(1).mean() + d.min(0).mean()


def main():
    cfg = DiffusionConfig()
    pts, _ = make_moons(4000, noise=0.04, random_state=3)
    pts = ((pts - pts.mean(0)) / pts.std(0)).astype("float32")
    model = build_denoiser(cfg)
    trainer = DiffusionTrainer(model, Schedule(cfg), cfg)
    watch = gradwatch.watch(model)
    ds = iter(tf.data.Dataset.from_tensor_slices(pts[:3000]).shuffle(3000, seed=SEED).repeat().batch(cfg.batch))
    for step in range(cfg.steps):
        loss = trainer.train_step(next(ds))
        watch.log(loss=loss)
        if step % 250 == 0:
            print(f"{step:5d} loss {float(loss):.4f}")
    print("SCORE", -float(chamfer(trainer.sample(1000), pts[3000:])))


if __name__ == "__main__":
    main()
