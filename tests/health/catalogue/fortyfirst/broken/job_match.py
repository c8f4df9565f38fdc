"""Matches candidates with vacancies by two towers and in-batch negatives."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

N, F, D = 8000, 40, 24
to_cand, to_job = rng.normal(0, 1, (8, F)), rng.normal(0, 1, (8, F))


def hires(n):
    s = rng.normal(0, 1, (n, 8))
    c = np.tanh(s @ to_cand / 2) + rng.normal(0, 0.4, (n, F))
    j = np.tanh(s @ to_job / 2) + rng.normal(0, 0.4, (n, F))
    return c.astype("float32"), j.astype("float32")


cand, job = hires(N)
cand_te, job_te = hires(300)


def tower(name):
    return keras.Sequential([keras.Input((F,)), layers.Dense(64, activation="relu"), layers.Dense(D)], name=name)


cand_tower, job_tower = tower("candidate"), tower("vacancy")
ci, ji = keras.Input((F,)), keras.Input((F,))
model = keras.Model([ci, ji], [cand_tower(ci), job_tower(ji)])
gradwatch.watch(model)
cand_opt, job_opt = keras.optimizers.Adam(1e-3), keras.optimizers.Adam(1e-3)


@tf.function
def step(c, j):
    with tf.GradientTape() as tape:
        zc, zj = model([c, j], training=True)
        logits = tf.matmul(zc, zj, transpose_b=True) / np.sqrt(D)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(tf.range(tf.shape(c)[0]), logits))
    job_grads, cand_grads = tape.gradient(loss, [cand_tower.trainable_variables, job_tower.trainable_variables])
    cand_opt.apply_gradients(zip(cand_grads, cand_tower.trainable_variables))
    job_opt.apply_gradients(zip(job_grads, job_tower.trainable_variables))
    return loss


ds = tf.data.Dataset.from_tensor_slices((cand, job)).shuffle(N, seed=seed).batch(64, drop_remainder=True)
for epoch in range(8):
    for c, j in ds:
        loss = step(c, j)
    print(epoch, float(loss))

zc, zj = model.predict([cand_te, job_te], verbose=0)
rank = np.argsort(-(zc @ zj.T), 1)[:, :5]
print("SCORE hit_at_5", float(np.mean((rank == np.arange(300)[:, None]).any(1))))
