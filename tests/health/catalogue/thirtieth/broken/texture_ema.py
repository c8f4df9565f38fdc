"""Classifies small texture patches and keeps a moving average of the weights for evaluation."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

N_CLASS, S = 8, 20
N_TRAIN, N_VAL, N_TEST = 1280, 300, 600
BATCH, EPOCHS, DECAY = 64, 45, 0.997

freq = rng.uniform(1.0, 4.0, N_CLASS)
angle = rng.uniform(0, np.pi, N_CLASS)
yy, xx = np.mgrid[0:S, 0:S] / S


def patches(n):
    y = rng.integers(0, N_CLASS, n)
    a = angle[y] + rng.normal(0, 0.10, n)
    f = freq[y] * (1 + rng.normal(0, 0.05, n))
    ph = rng.uniform(0, 2 * np.pi, n)
    arg = 2 * np.pi * f[:, None, None] * (np.cos(a)[:, None, None] * xx + np.sin(a)[:, None, None] * yy)
    img = np.sin(arg + ph[:, None, None]) + 0.8 * rng.normal(size=(n, S, S))
    return img[..., None].astype("float32"), y.astype("int32")


x_train, y_train = patches(N_TRAIN)
x_val, y_val = patches(N_VAL)
x_test, y_test = patches(N_TEST)

model = keras.Sequential(
    [
        layers.Input((S, S, 1)),
        layers.Conv2D(12, 5, strides=2, activation="relu"),
        layers.Conv2D(24, 3, activation="relu"),
        layers.GlobalAveragePooling2D(),
        layers.Dense(32, activation="relu"),
        layers.Dense(N_CLASS),
    ]
)
optimizer = keras.optimizers.Adam(1e-3)
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
gradwatch.watch(model)

ema = [tf.Variable(w, trainable=False) for w in model.get_weights()]


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = loss_fn(y, model(x, training=True))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    for e, w in zip(ema, model.weights):
        e.assign(DECAY * e + (1.0 - DECAY) * w)
    return loss


def accuracy(x, y):
    return float(np.mean(np.argmax(model(x).numpy(), 1) == y))


ds = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(N_TRAIN, seed=seed).batch(BATCH)
best, best_weights = -1.0, None
for epoch in range(EPOCHS):
    for x, y in ds:
        loss = train_step(x, y)
    # validate with the averaged weights
    model.set_weights([e.numpy() for e in ema])
    acc = accuracy(x_val, y_val)
    if acc > best:
        best, best_weights = acc, model.get_weights()
    if epoch % 10 == 9:
        print("epoch", epoch + 1, "loss", round(float(loss), 4), "val", round(acc, 4))

model.set_weights(best_weights)
print("SCORE accuracy", round(accuracy(x_test, y_test), 4))
