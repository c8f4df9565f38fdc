import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

STYLES, NOISE = 6, 8
angles = 2 * np.pi * np.arange(STYLES) / STYLES
centers = np.stack([np.cos(angles), np.sin(angles)], 1) * 1.5
style = rng.integers(0, STYLES, 8000)
points = (centers[style] + 0.15 * rng.normal(size=(8000, 2))).astype("float32")


def conditional(dim_in, dim_out, name):
    x = keras.Input((dim_in,))
    c = keras.Input((), dtype="int32")
    e = keras.layers.Embedding(STYLES, 16)(c)
    h = keras.layers.Concatenate()([x, e])
    for _ in range(2):
        h = keras.layers.LeakyReLU(negative_slope=0.2)(keras.layers.Dense(64)(h))
    return keras.Model([x, c], keras.layers.Dense(dim_out)(h), name=name)


class StyleGAN(keras.Model):
    def __init__(self):
        super().__init__()
        self.gen = conditional(NOISE, 2, "gen")
        self.disc = conditional(2, 1, "disc")
        self.bce = keras.losses.BinaryCrossentropy(from_logits=True)

    def compile(self, g_opt, d_opt):
        super().compile()
        self.g_opt, self.d_opt = g_opt, d_opt

    def call(self, inputs):
        return self.gen(inputs)

    def train_step(self, data):
        real, labels = data
        n = tf.shape(real)[0]
        fake_labels = tf.random.uniform((n,), 0, STYLES, tf.int32)
        fake = self.gen([tf.random.normal((n, NOISE)), fake_labels])
        with tf.GradientTape() as tape:
            real_logits = self.disc([real, labels])
            fake_logits = self.disc([fake, fake_labels])
            d_loss = self.bce(tf.ones_like(real_logits) * 0.9, real_logits)
            d_loss += self.bce(tf.zeros_like(fake_logits), fake_logits)
        grads = tape.gradient(d_loss, self.disc.trainable_variables)
        self.d_opt.apply_gradients(zip(grads, self.disc.trainable_variables))

        with tf.GradientTape() as tape:
            fake = self.gen([tf.random.normal((n, NOISE)), fake_labels])
            logits = self.disc([fake, fake_labels])
            g_loss = self.bce(tf.ones_like(logits), logits)
        grads = tape.gradient(g_loss, self.gen.trainable_variables)
        self.g_opt.apply_gradients(zip(grads, self.gen.trainable_variables))
        return {"d_loss": d_loss, "g_loss": g_loss}


gan = StyleGAN()
gan.compile(keras.optimizers.Adam(1e-3, beta_1=0.5), keras.optimizers.Adam(1e-3, beta_1=0.5))
gan([tf.zeros((1, NOISE)), tf.zeros((1,), tf.int32)])
watch = gradwatch.watch(gan)
ds = tf.data.Dataset.from_tensor_slices((points, style.astype("int32"))).shuffle(8000, seed=SEED)
gan.fit(ds.batch(128, drop_remainder=True), epochs=30, verbose=2)

ask = np.repeat(np.arange(STYLES), 200).astype("int32")
made = gan([tf.random.normal((len(ask), NOISE)), ask]).numpy()
dist = np.linalg.norm(made[:, None] - centers[None], axis=-1)
print("SCORE", float(np.mean((dist.argmin(1) == ask) & (dist.min(1) < 0.6))))
