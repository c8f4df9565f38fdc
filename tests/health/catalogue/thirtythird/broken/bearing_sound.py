"""Recognise the fault state of a rotating bearing from the log spectrum of its sound."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

RATE, LENGTH = 2000, 256
STATES = ["healthy", "outer_race", "inner_race", "ball"]
FAULT_RATIO = [None, 3.6, 5.4, 2.35]


def clip(state):
    t = np.arange(LENGTH) / RATE
    shaft = rng.uniform(28, 32)
    wave = np.sin(2 * np.pi * shaft * t + rng.uniform(0, 6.28))
    wave += 0.4 * np.sin(2 * np.pi * 2 * shaft * t + rng.uniform(0, 6.28))
    if state:
        f = FAULT_RATIO[state] * shaft
        for k in (1, 2, 3):
            wave += rng.uniform(0.3, 0.8) / k * np.sin(2 * np.pi * k * f * t + rng.uniform(0, 6.28))
    return wave * rng.uniform(0.6, 1.4) + 0.5 * rng.normal(size=LENGTH)


def make(n):
    y = rng.integers(0, len(STATES), n)
    waves = np.stack([clip(s) for s in y]) * np.hanning(LENGTH)
    spec = np.log(np.abs(np.fft.rfft(waves, axis=1))[:, :96] + 1e-2)
    return spec.astype("float32"), y.astype("int32")


x_train, y_train = make(4000)
x_test, y_test = make(1000)
mu, sd = x_train.mean(0), x_train.std(0)
x_train, x_test = (x_train - mu) / sd, (x_test - mu) / sd

model = keras.Sequential([layers.Input((96,))], name="bearing_net")
for units in (96, 96, 64, 64, 48, 48, 32, 32):
    model.add(layers.Dense(units, activation="sigmoid"))
model.add(layers.Dense(len(STATES)))

optimizer = keras.optimizers.SGD(0.05, momentum=0.9)
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
train_ds = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(4000, seed=seed).batch(50)

gradwatch.watch(model)


@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        logits = model(x, training=True)
        loss = loss_fn(y, logits)
    variables = model.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
    return loss


for epoch in range(12):
    mean = keras.metrics.Mean()
    for xb, yb in train_ds:
        mean.update_state(step(xb, yb))
    print(f"epoch {epoch:2d}  loss {float(mean.result()):.4f}")

pred = model.predict(x_test, verbose=0).argmax(1)
print("SCORE accuracy", round(float((pred == y_test).mean()), 4))
