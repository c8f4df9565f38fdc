"""Mark heart beats in single-lead ECG strips, sample by sample, in mixed precision."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)
keras.mixed_precision.set_global_policy("mixed_float16")

LENGTH, BATCH, STEPS, POS_WEIGHT = 128, 32, 450, 2.0


def strips(n):
    t = np.arange(LENGTH)
    x = 0.2 * rng.normal(size=(n, LENGTH))
    x += 0.4 * np.sin(2 * np.pi * t / rng.uniform(60, 200, (n, 1)) + rng.uniform(0, 6.28, (n, 1)))
    y = np.zeros((n, LENGTH))
    for i in range(n):
        pos = rng.integers(4, 24)
        while pos < LENGTH - 4:
            amp = rng.uniform(0.8, 2.0)
            x[i] += amp * np.exp(-((t - pos) ** 2) / 2.0)
            x[i] -= 0.4 * amp * np.exp(-((t - pos - 3) ** 2) / 3.0)
            x[i] += 0.5 * np.exp(-((t - pos - 11) ** 2) / 12.0)
            y[i, pos - 1 : pos + 2] = 1
            pos += int(rng.normal(28, 4))
    return x[..., None].astype("float32"), y[..., None].astype("float32")


def build():
    inp = keras.Input((LENGTH, 1))
    a = layers.Conv1D(16, 7, padding="same", activation="relu")(inp)
    b = layers.MaxPooling1D(2)(a)
    b = layers.Conv1D(32, 7, padding="same", activation="relu")(b)
    b = layers.Conv1D(32, 7, padding="same", activation="relu")(b)
    up = layers.UpSampling1D(2)(b)
    h = layers.Concatenate()([a, up])
    h = layers.Conv1D(24, 5, padding="same", activation="relu")(h)
    return keras.Model(inp, layers.Conv1D(1, 1, activation="sigmoid")(h))


def weighted_bce(y_true, y_prob):
    y_true = tf.cast(y_true, y_prob.dtype)
    eps = 1e-6
    pos = y_true * tf.math.log(y_prob + eps)
    neg = (1.0 - y_true) * tf.math.log(1.0 - y_prob + eps)
    return -tf.reduce_mean(tf.cast(POS_WEIGHT * pos + neg, tf.float32))


train_x, train_y = strips(2000)
test_x, test_y = strips(300)
data = tf.data.Dataset.from_tensor_slices((train_x, train_y))
data = data.shuffle(2000, seed=seed).repeat().batch(BATCH, drop_remainder=True)

model = build()
optimizer = keras.mixed_precision.LossScaleOptimizer(keras.optimizers.Adam(2e-3))
optimizer.build(model.trainable_variables)
gradwatch.watch(model)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = weighted_bce(y, model(x, training=True))
        scaled = optimizer.scale_loss(loss)
    grads = tape.gradient(scaled, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


running = []
for step, (x, y) in enumerate(data.take(STEPS)):
    running.append(float(train_step(x, y)))
    if (step + 1) % 50 == 0:
        print("step %d  loss %.4f" % (step + 1, np.mean(running[-50:])))

prob = model.predict(test_x, batch_size=100, verbose=0).astype("float32")
pred = prob > 0.5
hit = np.sum(pred & (test_y > 0.5))
f1 = 2 * hit / max(1, pred.sum() + (test_y > 0.5).sum())
print("SCORE sample_f1 %.4f" % f1)
