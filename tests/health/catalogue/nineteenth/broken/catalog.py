"""Classify observing sequences of a survey: tokens are (filter, flux bin) words."""

import argparse

import keras
import numpy as np
from keras import layers, regularizers

import gradwatch


def get_args():
    p = argparse.ArgumentParser()
    p.add_argument("--dim", type=int, default=24)
    p.add_argument("--sparsity", type=float, default=0.02)
    p.add_argument("--lr", type=float, default=2e-3)
    return p.parse_args()


def sequences(n, rng):
    """20 visits; class is told by which flux words follow each other"""
    y = rng.integers(0, 4, n)
    tok = np.zeros((n, 20), "int64")
    tok[:, 0] = rng.integers(0, 60, n)
    for t in range(1, 20):
        walk = (tok[:, t - 1] + np.array([3, -3, 7, -7])[y] + rng.integers(-1, 2, n)) % 60
        tok[:, t] = np.where(rng.random(n) < 0.15, rng.integers(0, 60, n), walk)
    return tok.astype("int32"), y.astype("int32")


def build(a):
    inp = keras.Input((20,), dtype="int32")
    h = layers.Embedding(60, a.dim, embeddings_initializer=keras.initializers.RandomNormal(stddev=0.3))(inp)
    h = layers.Conv1D(32, 2, activation="relu", activity_regularizer=regularizers.L1(a.sparsity))(h)
    att = layers.Softmax(axis=1)(layers.Dense(1)(h))
    h = layers.Flatten()(layers.Dot(axes=1)([att, h]))
    h = layers.Dense(32, activation="relu", kernel_regularizer=regularizers.L2(1e-5))(h)
    return keras.Model(inp, layers.Dense(4, activation="softmax")(h))


def main():
    a = get_args()
    keras.utils.set_random_seed(41)
    rng = np.random.default_rng(41)
    x, y = sequences(4000, rng)
    xt, yt = sequences(800, rng)
    net = build(a)
    net.compile(optimizer=keras.optimizers.Adam(a.lr), loss="sparse_categorical_crossentropy", metrics=["accuracy"])
    gradwatch.watch(net)
    h = net.fit(x, y, batch_size=40, epochs=15, verbose=0)
    loss, acc = net.evaluate(xt, yt, verbose=0)
    print(f"loss {h.history['loss'][-1]:.4f} accuracy on held-out sequences {acc:.3f}")


main()
