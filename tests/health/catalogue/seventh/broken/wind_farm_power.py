"""Power of a wind farm from the weather forecast (plain eager training loop)."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

N, BATCH, EPOCHS = 2000, 50, 8

speed = rng.weibull(2.0, N) * 8.0
direction = rng.uniform(0, 2 * np.pi, N)
density = rng.normal(1.22, 0.04, N)
gust = speed * rng.uniform(1.1, 1.6, N)
power = np.clip((speed - 3.0) / 9.0, 0, 1) ** 2 * density
power *= 1.0 - 0.25 * np.exp(-8 * (1 - np.cos(direction - 1.0)))
power = (power + rng.normal(0, 0.02, N)).astype("float32")

features = np.stack([speed, np.sin(direction), np.cos(direction), density, gust], 1)
features = ((features - features.mean(0)) / features.std(0)).astype("float32")
power = (power - power.mean()) / power.std()

x_train, x_test = features[:1600], features[1600:]
y_train, y_test = power[:1600], power[1600:]

model = keras.Sequential(
    [
        keras.Input((5,)),
        layers.Dense(48, activation="relu"),
        layers.Dense(48, activation="relu"),
        layers.Dense(1),
    ]
)
optimizer = keras.optimizers.RMSprop(2e-3)


def squared_error(target, predicted):
    return tf.reduce_mean(tf.square(target - predicted))


def r2_score(x, y):
    p = model.predict(x, verbose=0).reshape(-1)
    return 1.0 - np.mean((y - p) ** 2) / np.var(y)


train = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(1600, seed=SEED).batch(BATCH)
step = 0
gradwatch.watch(model)
for epoch in range(EPOCHS):
    running = []
    for xb, yb in train:
        with tf.GradientTape() as tape:
            pred = model(xb, training=True)
            loss = squared_error(yb, pred)
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables))
        running.append(float(loss))
        step += 1
    print(
        f"epoch {epoch} step {step} loss {np.mean(running):.4f} "
        f"R2 train {r2_score(x_train, y_train):.3f} test {r2_score(x_test, y_test):.3f}"
    )
