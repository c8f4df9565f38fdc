"""One-class anomaly detection on bearing vibration spectra: embed normal machines near a fixed centre (Deep SVDD)."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

BINS, BATCH = 64, 64
freq = np.arange(BINS)


def spectra(n, faulty):
    speed = rng.uniform(5.5, 7.5, n)[:, None]
    out = np.zeros((n, BINS))
    for k in range(1, 6):
        out += rng.uniform(0.7, 1.3, (n, 1)) / k * np.exp(-0.5 * ((freq - k * speed) / 0.9) ** 2)
    if faulty:
        side = rng.uniform(2.4, 3.0, n)[:, None]
        strength = rng.uniform(0.3, 0.8, (n, 1))
        for k in (3, 4, 5):
            for s in (-1, 1):
                out += strength * np.exp(-0.5 * ((freq - k * speed + s * side) / 0.9) ** 2)
    return (out + 0.05 * rng.gamma(1.5, 1.0, out.shape)).astype("float32")


x_train = spectra(3200, False)
x_test = np.concatenate([spectra(500, False), spectra(500, True)])
is_fault = np.arange(1000) >= 500
mu, sd = x_train.mean(0), x_train.std(0)
x_train, x_test = (x_train - mu) / sd, (x_test - mu) / sd

# no layer has a bias and no activation is bounded, so that no constant map exists
encoder = keras.Sequential(
    [
        keras.Input((BINS,)),
        layers.Dense(64, use_bias=False),
        layers.LeakyReLU(0.1),
        layers.Dense(32, use_bias=False),
        layers.LeakyReLU(0.1),
        layers.Dense(8, use_bias=False),
    ],
    name="encoder",
)
decoder = keras.Sequential(
    [
        keras.Input((8,)),
        layers.Dense(64, activation="relu"),
        layers.Dense(BINS),
    ],
    name="decoder",
)
inp = keras.Input((BINS,))
code = encoder(inp)
model = keras.Model(inp, [code, decoder(code)])

train = tf.data.Dataset.from_tensor_slices(x_train).shuffle(3200, seed=seed).batch(BATCH, drop_remainder=True)
gradwatch.watch(model)

warm = keras.optimizers.Adam(2e-3)


@tf.function
def pretrain_step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True)[1] - x))
    grads = tape.gradient(loss, model.trainable_variables)
    warm.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for epoch in range(8):
    print(f"pretrain {epoch} loss {np.mean([float(pretrain_step(x)) for x in train]):.4f}")

decoder.trainable = False
centre = encoder.predict(x_train, verbose=0).mean(0)
centre = tf.constant(np.where(np.abs(centre) < 0.1, np.where(centre < 0, -0.1, 0.1), centre).astype("float32"))
slow = keras.optimizers.Adam(1e-3)
weights = encoder.trainable_variables


@tf.function
def svdd_step(x):
    with tf.GradientTape() as tape:
        distance = tf.reduce_sum(tf.square(model(x, training=True)[0] - centre), -1)
        loss = tf.reduce_mean(distance) + 0.5e-6 * tf.add_n([tf.reduce_sum(w * w) for w in weights])
    slow.apply_gradients(zip(tape.gradient(loss, weights), weights))
    return loss


for epoch in range(14):
    print(f"svdd {epoch} loss {np.mean([float(svdd_step(x)) for x in train]):.5f}")

distance = np.sum((encoder.predict(x_test, verbose=0) - centre.numpy()) ** 2, -1)
auc = np.mean(distance[is_fault][:, None] > distance[~is_fault][None])
print("SCORE auc", round(float(auc), 4))
