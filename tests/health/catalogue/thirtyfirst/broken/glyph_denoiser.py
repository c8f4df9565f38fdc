"""Train a small noise-prediction (diffusion) network on 12x12 drawings of shapes."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

S, STEPS_T, BATCH = 12, 50, 64


def draw(n):
    yy, xx = np.mgrid[:S, :S]
    out = np.empty((n, S, S), "float32")
    for i in range(n):
        cx, cy, r = rng.uniform(3.5, 8.5), rng.uniform(3.5, 8.5), rng.uniform(2, 4)
        kind = rng.integers(3)
        if kind == 0:
            m = (xx - cx) ** 2 + (yy - cy) ** 2 < r * r
        elif kind == 1:
            m = (abs(xx - cx) < r) & (abs(yy - cy) < r)
        else:
            m = (abs(xx - cx) < 1.2) | (abs(yy - cy) < 1.2)
        out[i] = np.where(m, 1.0, -1.0)
    return out.reshape(n, S, S, 1)


train, test = draw(4000), draw(512)
betas = np.linspace(1e-3, 0.12, STEPS_T)
alpha_bar = np.cumprod(1 - betas).astype("float32")
alpha_bar_t = tf.constant(alpha_bar)


def build():
    x = keras.Input((S, S, 1))
    t = keras.Input((), dtype="int32")
    e = layers.Dense(32, activation="swish")(layers.Embedding(STEPS_T, 32)(t))
    h = layers.Conv2D(32, 3, padding="same", activation="swish")(x)
    d = layers.Conv2D(32, 3, strides=2, padding="same")(h)
    d = layers.Activation("swish")(d + layers.Reshape((1, 1, 32))(e))
    d = layers.Conv2D(32, 3, padding="same", activation="swish")(d)
    d = layers.Conv2D(32, 3, padding="same", activation="swish")(d)
    u = layers.UpSampling2D()(d)
    h = layers.Concatenate()([h, u])
    h = layers.Conv2D(32, 3, padding="same", activation="swish")(h)
    return keras.Model([x, t], layers.Conv2D(1, 3, padding="same")(h))


model = build()
opt = keras.optimizers.Adam(2e-3)
gradwatch.watch(model)


def add_noise(x0):
    """Draws a timestep and a noise image per sample; gives x_t, t and the noise."""
    t = np.random.randint(0, STEPS_T, size=(BATCH,)).astype("int32")
    eps = np.random.normal(size=(BATCH, S, S, 1)).astype("float32")
    a = tf.reshape(tf.gather(alpha_bar_t, t), (-1, 1, 1, 1))
    return tf.sqrt(a) * x0 + tf.sqrt(1.0 - a) * eps, tf.convert_to_tensor(t), eps


@tf.function
def train_step(x0):
    xt, t, eps = add_noise(x0)
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model([xt, t], training=True) - eps))
    g = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(g, model.trainable_variables))
    return loss


ds = tf.data.Dataset.from_tensor_slices(train).shuffle(4000, seed=seed).repeat().batch(BATCH)
for step, xb in enumerate(ds.take(800)):
    loss = train_step(xb)
    if step % 150 == 0:
        print("step", step, "loss", float(loss))

t = rng.integers(0, STEPS_T, len(test)).astype("int32")
eps = rng.normal(size=test.shape).astype("float32")
a = alpha_bar[t].reshape(-1, 1, 1, 1)
pred = model.predict([np.sqrt(a) * test + np.sqrt(1 - a) * eps, t], batch_size=128, verbose=0)
print("SCORE heldout_noise_mse", round(float(np.mean((pred - eps) ** 2)), 4))
