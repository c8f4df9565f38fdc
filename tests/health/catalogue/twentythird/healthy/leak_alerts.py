"""Leak alerts in a water net: one window in forty has a leak, warm-up, focal loss, clipping."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
rng = np.random.default_rng(seed)
keras.utils.set_random_seed(seed)

LENGTH, STATIONS = 48, 12


def make_windows(n, share):
    leak = rng.random(n) < share
    station = np.where(rng.random(n) < 0.9, rng.integers(0, 3, n), rng.integers(3, STATIONS, n))
    t = np.arange(LENGTH)
    flow = np.sin(2 * np.pi * (t[None] / 24 + rng.random((n, 1)))) + rng.standard_t(4, (n, LENGTH)) * 0.5
    start = rng.integers(8, 36, n)
    lift = rng.uniform(0.3, 1.4, n)
    step = (t[None] >= start[:, None]) * lift[:, None]
    flow += leak[:, None] * step
    return flow[..., None].astype("float32"), station.astype("int32"), leak.astype("float32")


x_train, s_train, y_train = make_windows(20000, 0.025)
x_test, s_test, y_test = make_windows(4000, 0.1)

window = keras.Input(shape=(LENGTH, 1))
station = keras.Input(shape=(), dtype="int32")
h = layers.Conv1D(16, 7, strides=2, padding="same", activation="relu")(window)
h = layers.Conv1D(24, 5, strides=2, padding="same", activation="relu")(h)
h = layers.Flatten()(h)
h = layers.Concatenate()([h, layers.Embedding(STATIONS, 4)(station)])
h = layers.Dropout(0.3)(layers.Dense(48, activation="relu")(h))
rate = y_train.mean()
logit = layers.Dense(1, bias_initializer=keras.initializers.Constant(np.log(rate / (1 - rate))))(h)
model = keras.Model([window, station], logit)


class WarmupCosine(keras.optimizers.schedules.LearningRateSchedule):
    def __init__(self, peak, warmup, total):
        self.peak, self.warmup, self.total = peak, float(warmup), float(total)

    def __call__(self, step):
        step = tf.cast(step, tf.float32)
        done = tf.clip_by_value((step - self.warmup) / (self.total - self.warmup), 0.0, 1.0)
        return self.peak * tf.minimum(step / self.warmup, 0.5 * (1 + tf.cos(np.pi * done)))


BATCH, EPOCHS = 128, 8
optimizer = keras.optimizers.AdamW(WarmupCosine(4e-3, 150, EPOCHS * (len(x_train) // BATCH)), weight_decay=1e-3)
gradwatch.watch(model)

dataset = tf.data.Dataset.from_tensor_slices((x_train, s_train, y_train))
dataset = dataset.shuffle(len(x_train), seed=seed).batch(BATCH, drop_remainder=True)


@tf.function
def train_step(x, s, y):
    with tf.GradientTape() as tape:
        z = model([x, s], training=True)[:, 0]
        p = tf.sigmoid(z)
        miss = tf.where(y > 0.5, 1.0 - p, p)
        weight = tf.where(y > 0.5, 0.8, 0.2)
        ce = tf.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=z)
        loss = tf.reduce_mean(weight * miss**1.5 * ce)
    grads = tape.gradient(loss, model.trainable_variables)
    grads, norm = tf.clip_by_global_norm(grads, 0.05)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss, norm


for epoch in range(EPOCHS):
    out = np.array([[float(v) for v in train_step(*batch)] for batch in dataset])
    print(f"epoch {epoch + 1} loss {out[:, 0].mean():.5f} gradient norm {out[:, 1].mean():.4f}")

z = model.predict([x_test, s_test], verbose=0)[:, 0]
rank = np.argsort(np.argsort(z)) + 1
pos = y_test > 0.5
auc = (rank[pos].sum() - pos.sum() * (pos.sum() + 1) / 2) / (pos.sum() * (~pos).sum())
print("SCORE auc", round(float(auc), 4))
