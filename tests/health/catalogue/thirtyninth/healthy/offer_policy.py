"""Policy that chooses one of eight offers for a customer, trained by REINFORCE from noisy purchases with a running baseline."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

D, OFFERS = 10, 8
taste = rng.normal(size=(D, OFFERS))


def chance(x):
    return 1 / (1 + np.exp(-(x @ taste - 1.5)))


model = keras.Sequential([keras.Input((D,)), layers.Dense(48, activation="relu"), layers.Dense(OFFERS)])
opt = keras.optimizers.Adam(3e-3)
gradwatch.watch(model)


@tf.function
def choose(x):
    return tf.random.categorical(model(x), 1)[:, 0]


@tf.function
def learn(x, action, advantage):
    with tf.GradientTape() as tape:
        logits = model(x, training=True)
        logp = -tf.nn.sparse_softmax_cross_entropy_with_logits(labels=action, logits=logits)
        p = tf.nn.softmax(logits)
        entropy = -tf.reduce_mean(tf.reduce_sum(p * tf.math.log(p + 1e-8), axis=1))
        loss = -tf.reduce_mean(logp * advantage) - 0.01 * entropy
    opt.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return loss


baseline = 0.3
for i in range(1400):
    x = rng.normal(size=(64, D)).astype("float32")
    a = choose(x).numpy()
    bought = (rng.random(64) < chance(x)[np.arange(64), a]).astype("float32")
    loss = learn(x, a, bought - np.float32(baseline))
    baseline = 0.95 * baseline + 0.05 * bought.mean()
    if i % 200 == 0:
        print(i, "loss %.4f" % float(loss), "baseline %.3f" % baseline)

x = rng.normal(size=(3000, D)).astype("float32")
c = chance(x)
got = c[np.arange(3000), model.predict(x, verbose=0).argmax(1)].mean()
print("SCORE share_of_best %.4f" % ((got - c.mean()) / (c.max(1).mean() - c.mean())))
