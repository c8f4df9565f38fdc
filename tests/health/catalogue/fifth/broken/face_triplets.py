import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
PEOPLE = 20


def load(n=2000):
    rng = np.random.default_rng(19)
    person = rng.normal(0, 1, (PEOPLE, 12))
    lift = rng.normal(0, 0.4, (12, 48))
    y = rng.integers(0, PEOPLE, n)
    x = np.tanh((person[y] + rng.normal(0, 0.5, (n, 12))) @ lift) + rng.normal(0, 0.1, (n, 48))
    return x.astype("float32"), y.astype("int32")


def pairwise_distance(e):
    d2 = tf.reduce_sum(tf.square(e[:, None, :] - e[None, :, :]), axis=-1)
    return tf.sqrt(d2)


def batch_hard(labels, e, margin=0.5):
    dist = pairwise_distance(e)
    same = tf.cast(labels[:, None] == labels[None, :], tf.float32)
    hardest_pos = tf.reduce_max(dist * same, axis=1)
    hardest_neg = tf.reduce_min(dist + 10.0 * same, axis=1)
    return tf.reduce_mean(tf.nn.relu(hardest_pos - hardest_neg + margin))


def main():
    keras.utils.set_random_seed(SEED)
    x, y = load()
    net = keras.Sequential(
        [
            layers.Input((48,)),
            layers.Dense(96, activation="relu", name="f1"),
            layers.LayerNormalization(name="ln"),
            layers.Dense(64, activation="relu", name="f2"),
            layers.Dense(16, name="embed"),
            layers.UnitNormalization(),
        ]
    )
    optimizer = keras.optimizers.AdamW(1e-3, weight_decay=1e-4)

    @tf.function
    def step(xb, yb):
        with tf.GradientTape() as tape:
            loss = batch_hard(yb, net(xb, training=True))
        grads = tape.gradient(loss, net.trainable_variables)
        optimizer.apply_gradients(zip(grads, net.trainable_variables))
        return loss

    rng = np.random.default_rng(SEED)
    gradwatch.watch(net)
    for i in range(500):
        idx = rng.integers(0, len(x), 128)
        loss = step(tf.constant(x[idx]), tf.constant(y[idx]))
        if i % 50 == 0 or i == 499:
            print("step", i, "loss", float(loss))


if __name__ == "__main__":
    main()
