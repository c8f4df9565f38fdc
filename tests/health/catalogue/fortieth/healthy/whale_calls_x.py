"""Learn an embedding of whale call contours with a triplet loss over all triplets of a batch."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

WHALES, LENGTH = 16, 40
t = np.linspace(0, 1, LENGTH)
slope, bend, wob = rng.normal(0, 2, WHALES), rng.normal(0, 2, WHALES), rng.uniform(1, 4, WHALES)


def calls(who):
    k = len(who)
    c = (
        slope[who][:, None] * t
        + bend[who][:, None] * t**2
        + 0.5 * np.sin(2 * np.pi * (wob[who][:, None] * t + rng.uniform(0, 1, (k, 1))))
    )
    return (c + rng.normal(0, 0.2, (k, 1)) + rng.normal(0, 0.1, (k, LENGTH)))[..., None].astype("float32")


model = keras.Sequential(
    [
        keras.Input((LENGTH, 1)),
        layers.Conv1D(24, 5, activation="relu"),
        layers.MaxPooling1D(2),
        layers.Conv1D(32, 5, activation="relu"),
        layers.Flatten(),
        layers.Dense(12),
        layers.UnitNormalization(),
    ]
)
optimizer = keras.optimizers.Adam(1e-3)
gradwatch.watch(model)


@tf.function
def train_step(x, who):
    with tf.GradientTape() as tape:
        e = model(x, training=True)
        sq = 2.0 - 2.0 * tf.matmul(e, e, transpose_b=True)
        same = tf.equal(who[:, None], who[None, :])
        valid = tf.cast(same[:, :, None] & ~same[:, None, :], tf.float32)
        hinge = valid * tf.nn.relu(sq[:, :, None] - sq[:, None, :] + 0.3)
        loss = tf.reduce_sum(hinge) / tf.reduce_sum(valid)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for it in range(900):
    who = np.repeat(rng.choice(WHALES, 8, replace=False), 4)
    train_step(calls(who), who.astype("int32"))

gallery, query = np.repeat(np.arange(WHALES), 5), rng.integers(0, WHALES, 800)
g, q = model(calls(gallery)).numpy(), model(calls(query)).numpy()
nearest = gallery[(q @ g.T).argmax(1)]
print("SCORE retrieval_accuracy", float(np.mean(nearest == query)))
