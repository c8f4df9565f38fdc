import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)

BATCH = 64
EPOCHS = 15


def trips(n, seed):
    rng = np.random.default_rng(seed)
    hour = rng.uniform(5, 23, n)
    rain = rng.exponential(1.0, n) * (rng.uniform(size=n) < 0.3)
    stops = rng.integers(5, 40, n)
    roadworks = rng.integers(0, 2, n)
    rush = np.exp(-(((hour - 8) / 1.5) ** 2)) + np.exp(-(((hour - 17.5) / 1.5) ** 2))
    delay = 1.0 + 4.0 * rush + 0.9 * rain + 0.08 * stops * (1 + roadworks)
    delay = delay + rng.normal(0, 0.5, n)
    x = np.stack([(hour - 14) / 5, rain, (stops - 22) / 10, roadworks], axis=1)
    return x.astype("float32"), delay.astype("float32")


x_train, y_train = trips(5000, SEED)
x_test, y_test = trips(1500, SEED + 77)
dataset = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(5000, seed=SEED).batch(BATCH)


class DelayModel(keras.Model):
    def __init__(self):
        super().__init__()
        self.d1 = layers.Dense(64, activation="relu")
        self.d2 = layers.Dense(64, activation="relu")
        self.out = layers.Dense(1, name="minutes")

    def call(self, x):
        return self.out(self.d2(self.d1(x)))


model = DelayModel()
model(x_train[:1])
optimizer = keras.optimizers.Adam(2e-3)
optimizer.build(model.trainable_variables)
watch = gradwatch.watch(model)


@tf.function(reduce_retracing=True)
def step(x, y):
    with tf.GradientTape() as tape:
        pred = model(x, training=True)
        loss = tf.reduce_mean(tf.square(y - pred))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for epoch in range(EPOCHS):
    total = 0.0
    for x, y in dataset:
        loss = step(x, y)
        watch.log(loss=loss)
        total += float(loss)
    if epoch % 5 == 0:
        print("epoch", epoch, "loss", total / len(dataset))

pred = model.predict(x_test, verbose=0)[:, 0]
print("SCORE", float(1 - np.mean((pred - y_test) ** 2) / np.var(y_test)))
