"""Fog at an airport six hours ahead from station readings in their own units (pressure in Pa,
visibility in m, temperature in K, humidity as a fraction, wind in m/s). Batch normalisation at
the input brings the readings to one scale. The measure is held-out accuracy."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", 0))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

BATCH, EPOCHS = 64, 10
CENTRE = np.array([101300.0, 9000.0, 281.0, 0.75, 4.0, 180.0])
SPREAD = np.array([900.0, 4000.0, 6.0, 0.1, 2.0, 100.0])


def make_readings(n):
    z = rng.normal(size=(n, 6))
    logit = 2.0 * z[:, 3] - 1.5 * z[:, 4] + 1.5 * z[:, 2] * z[:, 3] + z[:, 0] - 0.8 * np.abs(z[:, 2]) + 0.5
    y = (logit + 0.4 * rng.normal(size=n) > 0).astype("float32")
    return (CENTRE + SPREAD * z).astype("float32"), y[:, None]


readings, fog = make_readings(4000)
test_readings, test_fog = make_readings(1000)

model = keras.Sequential(
    [
        keras.Input((6,)),
        layers.BatchNormalization(momentum=0.95, name="scale"),
        layers.Dense(32, activation="relu", name="weather_1"),
        layers.Dense(32, activation="relu", name="weather_2"),
        layers.Dense(1, name="fog"),
    ]
)
optimizer = keras.optimizers.Adam(2e-3)
loss_fn = keras.losses.BinaryCrossentropy(from_logits=True)
watch = gradwatch.watch(model, optimizer)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        logits = model(x)
        loss = loss_fn(y, logits)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


data = tf.data.Dataset.from_tensor_slices((readings, fog)).shuffle(4000, seed=SEED).batch(BATCH)
for epoch in range(EPOCHS):
    for x, y in data:
        loss = train_step(x, y)
        watch.log(loss=loss)
    print(f"epoch {epoch} loss {float(loss):.4f}")

pred = model(test_readings, training=False).numpy() > 0
score = float(np.mean(pred == (test_fog > 0.5)))
print(f"score accuracy {score:.3f} chance {max(test_fog.mean(), 1 - test_fog.mean()):.3f}")
