"""Matches recipes (bags of ingredients) with their nutrition tables by two towers and in-batch negatives."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

VOCAB, SLOTS, NUTR = 120, 12, 24
food = np.abs(rng.normal(0, 1, (VOCAB, NUTR))) * (rng.random((VOCAB, NUTR)) < 0.3)


def make_recipes(n):
    ids = rng.integers(0, VOCAB, (n, SLOTS))
    table = food[ids].mean(1) + rng.normal(0, 0.03, (n, NUTR))
    return ids.astype("int32"), ((table - 0.24) / 0.12).astype("float32")


ids_train, nut_train = make_recipes(5000)
ids_test, nut_test = make_recipes(400)

ids_in = layers.Input((SLOTS,), dtype="int32")
e = layers.GlobalAveragePooling1D()(layers.Embedding(VOCAB, 32)(ids_in))
e = layers.Dense(64, activation="relu")(e)
e = layers.UnitNormalization()(layers.Dense(24)(e))
nut_in = layers.Input((NUTR,))
g = layers.Dense(64, activation="relu")(nut_in)
g = layers.UnitNormalization()(layers.Dense(24)(g))
model = keras.Model([ids_in, nut_in], [e, g])
gradwatch.watch(model)
opt = keras.optimizers.Adam(1e-3)
TEMPERATURE = 0.01


@tf.function
def step(ids, nut):
    with tf.GradientTape() as tape:
        a, b = model([ids, nut], training=True)
        logits = tf.matmul(a, b, transpose_b=True) / TEMPERATURE
        sims = tf.exp(logits)
        pos = tf.linalg.diag_part(sims)
        loss = tf.reduce_mean(tf.math.log(tf.reduce_sum(sims, axis=1) / pos))
    grads = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(grads, model.trainable_variables))
    return loss


data = (
    tf.data.Dataset.from_tensor_slices((ids_train, nut_train)).shuffle(5000, seed=seed).batch(64, drop_remainder=True)
)
for epoch in range(12):
    print("epoch", epoch, np.mean([float(step(i, n)) for i, n in data]))

a, b = model.predict([ids_test, nut_test], verbose=0)
rank = (a @ b.T > np.sum(a * b, axis=1, keepdims=True) + 1e-6).sum(1)
print("SCORE recall_at_5", float(np.mean((rank < 5) & np.isfinite(a).all(1))))
