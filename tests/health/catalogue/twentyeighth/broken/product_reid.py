"""Product re-identification: embed item photos so that photos of one product lie close together."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)
SIZE, N_TRAIN, N_TEST, SHOTS = 20, 60, 30, 12


def render(proto):
    img = np.roll(proto, rng.integers(-2, 3, size=2), axis=(0, 1))
    img = img * rng.uniform(0.6, 1.4) + 0.25 * rng.standard_normal(img.shape)
    return img


def make_products(n):
    protos = rng.standard_normal((n, 5, 5, 2)).repeat(4, axis=1).repeat(4, axis=2)
    photos = np.stack([[render(p) for _ in range(SHOTS)] for p in protos]).astype("float32")
    for k in rng.choice(n, n // 15, replace=False):  # sellers re-upload a photo they already have
        photos[k, SHOTS - 1] = photos[k, 0]
    return photos


train = make_products(N_TRAIN)
test = make_products(N_TEST)

encoder = keras.Sequential(
    [
        keras.Input((SIZE, SIZE, 2)),
        layers.Conv2D(16, 5, strides=2, activation="relu"),
        layers.Conv2D(32, 3, activation="relu"),
        layers.MaxPooling2D(),
        layers.Flatten(),
        layers.Dense(32),
        layers.UnitNormalization(),
    ]
)
optimizer = keras.optimizers.Adam(1e-3)


def distance(a, b):
    return tf.sqrt(tf.reduce_sum(tf.square(a - b), axis=-1))


def contrastive(anchor, positive, negative, margin=1.0):
    pull = distance(anchor, positive)
    push = tf.nn.relu(margin - distance(anchor, negative))
    return tf.reduce_mean(pull + 2.0 * tf.square(push))


@tf.function
def train_step(anchor, positive, negative):
    with tf.GradientTape() as tape:
        emb = encoder(tf.concat([anchor, positive, negative], 0), training=True)
        loss = contrastive(*tf.split(emb, 3))
    grads = tape.gradient(loss, encoder.trainable_variables)
    optimizer.apply_gradients(zip(grads, encoder.trainable_variables))
    return loss


def sample_batch(size=32):
    ids = rng.integers(0, N_TRAIN, size)
    others = (ids + rng.integers(1, N_TRAIN, size)) % N_TRAIN
    shots = np.array([rng.choice(SHOTS, 2, replace=False) for _ in ids])
    return (train[ids, shots[:, 0]], train[ids, shots[:, 1]], train[others, rng.integers(0, SHOTS, size)])


gradwatch.watch(encoder)
for step in range(600):
    loss = train_step(*map(tf.constant, sample_batch()))
    if step % 50 == 0:
        print("step %d loss %.4f" % (step, float(loss)))

flat = test.reshape(-1, SIZE, SIZE, 2)
ids = np.repeat(np.arange(N_TEST), SHOTS)
emb = encoder.predict(flat, verbose=0)
sims = emb @ emb.T
np.fill_diagonal(sims, -np.inf)
print("SCORE recall_at_1 %.4f" % np.mean(ids[np.argmax(sims, 1)] == ids))
