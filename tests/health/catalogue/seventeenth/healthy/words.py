"""Spoken word spotting from 30x20 log-mel patches, half precision compute."""

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

keras.utils.set_random_seed(64)
keras.config.set_dtype_policy("mixed_float16")
FRAMES, BANDS, WORDS = 30, 20, 8
rng = np.random.default_rng(64)
tracks = np.cumsum(rng.normal(0, 1.1, (WORDS, 2, FRAMES)), axis=2) + rng.uniform(4, 15, (WORDS, 2, 1))


def speak(n):
    y = rng.integers(0, WORDS, n)
    bands = np.arange(BANDS)
    x = np.zeros((n, FRAMES, BANDS), "float32")
    for i, k in enumerate(y):
        lag = rng.integers(-3, 4)
        for t in np.clip(np.roll(tracks[k], lag, axis=1), 1, BANDS - 2) + rng.normal(0, 0.7):
            x[i] += np.exp(-0.5 * ((bands[None] - t[:, None]) / 1.2) ** 2)
    return x + 1.1 * rng.standard_normal(x.shape).astype("float32"), y.astype("int32")


net = keras.Sequential(
    [
        keras.Input((FRAMES, BANDS)),
        layers.Dense(24, activation="relu"),
        layers.Flatten(),
        layers.Dense(64, activation="relu"),
        layers.Dropout(0.3),
        layers.Dense(WORDS, dtype="float32"),
    ]
)
opt = keras.optimizers.LossScaleOptimizer(keras.optimizers.Adam(1e-3), initial_scale=2.0**26, dynamic_growth_steps=150)
opt.build(net.trainable_variables)
gradwatch.watch(net, opt)


@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        logits = net(x, training=True)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))
        scaled = opt.scale_loss(loss)
    opt.apply_gradients(zip(tape.gradient(scaled, net.trainable_variables), net.trainable_variables))
    return loss


xtr, ytr = speak(4000)
xte, yte = speak(800)
BATCH = 50
for epoch in range(45):
    order = rng.permutation(len(xtr))
    log = [float(step(tf.constant(xtr[b]), tf.constant(ytr[b]))) for b in order.reshape(-1, BATCH)]
    print(f"epoch {epoch} loss {np.mean(log):.4f}", flush=True)

acc = np.mean(net.predict(xte, verbose=0).argmax(1) == yte)
print(f"final loss {np.mean(log):.4f}  held-out accuracy {acc:.3f} (eight words)")
