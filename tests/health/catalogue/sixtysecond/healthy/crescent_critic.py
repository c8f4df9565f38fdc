import os
from functools import partial

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)

dense = partial(keras.layers.Dense, activation="leaky_relu")
PENALTY, CRITIC_STEPS, NOISE = 5.0, 3, 6


def sample_real(n, rng):
    a = rng.uniform(0, 1.5 * np.pi, n)
    r = 1.5 + 0.1 * rng.normal(size=n)
    return np.stack([r * np.cos(a), r * np.sin(a)], axis=1).astype("float32")


def build_generator():
    return keras.Sequential(
        [keras.Input((NOISE,)), dense(48, name="g1"), dense(48, name="g2"), keras.layers.Dense(2, name="g_out")],
        name="generator",
    )


def build_critic():
    return keras.Sequential(
        [keras.Input((2,)), dense(48, name="c1"), dense(48, name="c2"), keras.layers.Dense(1, name="c_out")],
        name="critic",
    )


class WassersteinTrainer:
    def __init__(self, gen, critic):
        self.gen, self.critic = gen, critic
        self.g_opt = keras.optimizers.Adam(1e-3, beta_1=0.0, beta_2=0.9)
        self.c_opt = keras.optimizers.Adam(2e-3, beta_1=0.0, beta_2=0.9)

    def penalty(self, real, fake):
        mix = tf.random.uniform((tf.shape(real)[0], 1))
        x = mix * real + (1 - mix) * fake
        with tf.GradientTape() as tape:
            tape.watch(x)
            out = self.critic(x, training=True)
        g = tape.gradient(out, x)
        norm = tf.sqrt(tf.reduce_sum(tf.square(g), axis=1) + 1e-8)
        return tf.reduce_mean(tf.square(norm - 1.0))

    @tf.function
    def critic_step(self, real):
        fake = self.gen(tf.random.normal((tf.shape(real)[0], NOISE)))
        with tf.GradientTape() as tape:
            gap = tf.reduce_mean(self.critic(fake)) - tf.reduce_mean(self.critic(real))
            loss = gap + PENALTY * self.penalty(real, fake)
        v = self.critic.trainable_variables
        self.c_opt.apply_gradients(zip(tape.gradient(loss, v), v))
        return loss

    @tf.function
    def gen_step(self, n):
        with tf.GradientTape() as tape:
            loss = -tf.reduce_mean(self.critic(self.gen(tf.random.normal((n, NOISE)), training=True)))
        v = self.gen.trainable_variables
        self.g_opt.apply_gradients(zip(tape.gradient(loss, v), v))
        return loss


def chamfer(a, b):
    d = np.sqrt(((a[:, None] - b[None]) ** 2).sum(-1))
    return d.min(1).mean() + d.min(0).mean()


def main():
    rng = np.random.default_rng(SEED)
    gen, critic = build_generator(), build_critic()
    trainer = WassersteinTrainer(gen, critic)
    watch = gradwatch.watch(gen, critic)
    for step in range(600):
        for _ in range(CRITIC_STEPS):
            c_loss = trainer.critic_step(tf.constant(sample_real(96, rng)))
        g_loss = trainer.gen_step(96)
        watch.log(critic_loss=c_loss, gen_loss=g_loss)
        if step % 150 == 0:
            print(step, float(c_loss), float(g_loss))
    z = np.random.default_rng(5).normal(size=(800, NOISE)).astype("float32")
    print("SCORE", -float(chamfer(gen(z).numpy(), sample_real(800, np.random.default_rng(6)))))


if __name__ == "__main__":
    main()
