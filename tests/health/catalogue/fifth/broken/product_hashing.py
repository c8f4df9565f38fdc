import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
BITS, KINDS = 8, 16


def load(n=3000):
    rng = np.random.default_rng(25)
    center = rng.normal(0, 1, (KINDS, 12))
    y = rng.integers(0, KINDS, n)
    signal = center[y] + rng.normal(0, 0.4, (n, 12))
    clutter = rng.normal(0, 1.5, (n, 36))
    x = np.concatenate([signal, clutter], 1) @ np.linalg.qr(rng.normal(0, 1, (48, 48)))[0]
    return x.astype("float32"), y.astype("int32")


class BinaryCode(layers.Layer):
    def call(self, z):
        soft = tf.tanh(z)
        hard = tf.sign(soft)
        return hard


def main():
    keras.utils.set_random_seed(SEED)
    x, y = load()
    encoder = keras.Sequential(
        [
            layers.Input((48,)),
            layers.Dense(64, activation="relu", name="enc_hidden"),
            layers.Dense(BITS, name="enc_bits"),
            BinaryCode(name="code"),
        ],
        name="encoder",
    )
    classifier = keras.Sequential(
        [
            layers.Input((BITS,)),
            layers.Dense(64, activation="relu", name="cls_hidden"),
            layers.Dense(KINDS, name="cls_out"),
        ],
        name="classifier",
    )
    optimizer = keras.optimizers.Adam(3e-3)
    variables = encoder.trainable_variables + classifier.trainable_variables

    @tf.function
    def step(xb, yb):
        with tf.GradientTape() as tape:
            logits = classifier(encoder(xb, training=True), training=True)
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=yb, logits=logits))
        grads = tape.gradient(loss, variables)
        optimizer.apply_gradients(zip(grads, variables))
        return loss

    rng = np.random.default_rng(SEED)
    recent = []
    gradwatch.watch(classifier, encoder)
    for i in range(900):
        idx = rng.integers(0, len(x), 64)
        recent.append(float(step(tf.constant(x[idx]), tf.constant(y[idx]))))
        if (i + 1) % 100 == 0:
            print("step", i + 1, "loss", np.mean(recent[-100:]))


if __name__ == "__main__":
    main()
