"""Autoencoder for silhouettes of volcanic ash grains (24 x 24 binary images)."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)
S = 24


def grain():
    yy, xx = np.mgrid[0:S, 0:S]
    cy, cx = rng.normal(S / 2 - 0.5, 1.5, 2)
    ang = np.arctan2(yy - cy, xx - cx)
    r = np.hypot(yy - cy, xx - cx)
    edge = rng.uniform(4, 9) * (
        1
        + rng.uniform(0, 0.35) * np.cos(2 * (ang - rng.uniform(0, np.pi)))
        + rng.uniform(0, 0.15) * np.cos(3 * (ang - rng.uniform(0, np.pi)))
    )
    img = (r < edge).astype("float32")
    if rng.random() < 0.4:  # vesicle
        vy, vx = rng.normal(S / 2, 2.5, 2)
        img[np.hypot(yy - vy, xx - vx) < rng.uniform(1, 2.5)] = 0
    return img


grains = np.stack([grain() for _ in range(1500)])[..., None]

encoder = keras.Sequential(
    [
        keras.Input((S, S, 1)),
        layers.Conv2D(24, 3, strides=2, padding="same", activation="relu"),
        layers.Conv2D(48, 3, strides=2, padding="same", activation="relu"),
        layers.Flatten(),
        layers.Dense(16, name="shape_code"),
    ],
    name="encoder",
)
decoder = keras.Sequential(
    [
        keras.Input((16,)),
        layers.Dense(6 * 6 * 48, activation="relu"),
        layers.Reshape((6, 6, 48)),
        layers.Conv2DTranspose(24, 3, strides=2, padding="same", activation="relu"),
        layers.Conv2DTranspose(1, 3, strides=2, padding="same", name="pixels"),
    ],
    name="decoder",
)
inp = keras.Input((S, S, 1))
model = keras.Model(inp, decoder(encoder(inp)), name="tephra_ae")
gradwatch.watch(model)
optimizer = keras.optimizers.SGD(learning_rate=0.02, momentum=0.9, nesterov=True)


@tf.function
def step_fn(batch):
    with tf.GradientTape() as tape:
        logits = model(batch, training=True)
        nats = tf.nn.sigmoid_cross_entropy_with_logits(labels=batch, logits=logits)
        loss = tf.reduce_mean(tf.reduce_sum(nats, axis=[1, 2, 3]))
    grads = tape.gradient(loss, model.trainable_variables)
    grads, norm = tf.clip_by_global_norm(grads, 1e-3)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


ds = tf.data.Dataset.from_tensor_slices(grains).shuffle(1500, seed=SEED).repeat().batch(48)
for i, batch in enumerate(ds.take(350)):
    loss = step_fn(batch)
    if i % 50 == 0 or i == 349:
        print(f"{i:4d}  {float(loss):8.2f} nats per grain")
