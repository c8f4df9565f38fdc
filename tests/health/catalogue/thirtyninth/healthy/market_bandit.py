"""Learns by REINFORCE which stall to visit on a market; rewards are very noisy and there is no baseline network."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

CONTEXT, STALLS = 6, 5
worth = rng.normal(0, 1, (CONTEXT, STALLS))


def make_days(n):
    return rng.normal(0, 1, (n, CONTEXT)).astype("float32")


model = keras.Sequential(
    [
        layers.Input((CONTEXT,)),
        layers.Dense(32, activation="tanh"),
        layers.Dense(STALLS, kernel_initializer=keras.initializers.RandomNormal(0, 0.01)),
    ]
)
gradwatch.watch(model)
opt = keras.optimizers.Adam(3e-3)


@tf.function
def step(x, pay):
    with tf.GradientTape() as tape:
        logits = model(x, training=True)
        a = tf.random.categorical(tf.stop_gradient(logits), 1, dtype=tf.int32)[:, 0]
        r = tf.gather(pay, a, batch_dims=1)
        adv = r - tf.reduce_mean(r)
        logp = -tf.nn.sparse_softmax_cross_entropy_with_logits(a, logits)
        loss = -tf.reduce_mean(tf.stop_gradient(adv) * logp)
    grads = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(grads, model.trainable_variables))
    return tf.reduce_mean(r)


trace = []
for i in range(1200):
    x = make_days(64)
    pay = x @ worth + rng.normal(0, 3.0, (64, STALLS))
    trace.append(float(step(x, pay.astype("float32"))))
    if i % 200 == 199:
        print(i, np.mean(trace[-200:]))

x = make_days(2000)
got = (x @ worth)[np.arange(2000), model.predict(x, verbose=0).argmax(1)].mean()
print("SCORE share_of_best", float(got / (x @ worth).max(1).mean()))
