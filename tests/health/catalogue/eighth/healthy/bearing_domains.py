import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

# Bearing faults: labelled test-rig spectra (A), unlabelled plant spectra (B).
BINS, FAULTS, BATCH, STEPS = 48, 4, 64, 500
freq = np.arange(BINS)
CENTRES = np.array([[6, 18], [10, 30], [14, 26], [22, 38]])


def spectra(n, plant):
    y = rng.integers(0, FAULTS, n)
    x = np.zeros((n, BINS))
    for k in range(2):
        c = CENTRES[y, k][:, None] + rng.normal(0, 0.8, (n, 1)) + (1.5 if plant else 0.0)
        x += rng.uniform(0.5, 1.2, (n, 1)) * np.exp(-0.5 * ((freq - c) / 1.8) ** 2)
    if plant:
        x += 0.8 * np.exp(-0.5 * ((freq - 44) / 2.0) ** 2) + 0.5 * np.exp(-freq / 6.0)
    x += rng.normal(0, 0.25, x.shape)
    return x.astype("float32"), y.astype("int32")


xa, ya = spectra(4000, False)
xb, yb = spectra(4000, True)

body = keras.Sequential([keras.Input((BINS,)), layers.Dense(64, activation="elu"), layers.Dense(24, activation="elu")])
fault = keras.Sequential([keras.Input((24,)), layers.Dense(FAULTS)])
domain = keras.Sequential([keras.Input((24,)), layers.Dense(32, activation="elu"), layers.Dense(1)])
opt_main = keras.optimizers.Adam(1e-3, beta_1=0.5)
opt_domain = keras.optimizers.Adam(2e-3, beta_1=0.5)
xent = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
bce = keras.losses.BinaryCrossentropy(from_logits=True)
origin = tf.concat([tf.zeros((BATCH, 1)), tf.ones((BATCH, 1))], 0)


@tf.function
def train(a, y, b, lam):
    with tf.GradientTape(persistent=True) as tape:
        z = body(tf.concat([a, b], 0), training=True)
        task = xent(y, fault(z[:BATCH], training=True))
        dom = bce(origin, domain(z, training=True))
        joint = task - lam * dom
    main = body.trainable_variables + fault.trainable_variables
    g_main = tape.gradient(joint, body.trainable_variables) + tape.gradient(task, fault.trainable_variables)
    g_dom = tape.gradient(dom, domain.trainable_variables)
    del tape
    opt_main.apply_gradients(zip(g_main, main))
    opt_domain.apply_gradients(zip(g_dom, domain.trainable_variables))
    return task, dom


def accuracy(x, y):
    return float(np.mean(np.argmax(fault(body(x)), 1) == y))


gradwatch.watch(body, fault, domain)
for i in range(STEPS):
    p = i / STEPS
    lam = 0.6 * (2 / (1 + np.exp(-8 * p)) - 1)
    ia, ib = rng.integers(0, 4000, (2, BATCH))
    task, dom = train(tf.constant(xa[ia]), tf.constant(ya[ia]), tf.constant(xb[ib]), tf.constant(lam, tf.float32))
    if i % 40 == 0 or i == STEPS - 1:
        print(
            f"{i:4d} task {float(task):.3f} domain {float(dom):.3f} lam {lam:.2f} "
            f"rig {accuracy(xa[:1000], ya[:1000]):.3f} plant {accuracy(xb, yb):.3f}"
        )
