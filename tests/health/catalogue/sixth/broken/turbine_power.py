"""Power of a wind turbine from sensor readings."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

N = 3000
wind = rng.gamma(4, 2.2, N)
pressure = rng.normal(101300, 800, N)
temp = rng.normal(283, 8, N)
yaw = rng.normal(0, 12, N)
rpm = rng.normal(900, 150, N)
x = np.stack([wind, pressure, temp, yaw, rpm], 1).astype("float32")
power = np.clip((wind / 12) ** 3, 0, 1) * np.cos(np.radians(yaw)) * pressure / temp / 358
y = ((power - power.mean()) / power.std()).astype("float32")[:, None]

model = keras.Sequential(
    [
        layers.Input((5,)),
        layers.BatchNormalization(momentum=0.95),
        layers.Dense(48, activation="relu"),
        layers.BatchNormalization(momentum=0.95),
        layers.Dense(48, activation="relu"),
        layers.Dense(1),
    ]
)
optimizer = keras.optimizers.Adam(3e-3)
mse = keras.losses.MeanSquaredError()
dataset = tf.data.Dataset.from_tensor_slices((x[:2500], y[:2500])).shuffle(2500, seed=seed).batch(50)


@tf.function
def train_step(features, target):
    with tf.GradientTape() as tape:
        prediction = model(features)
        loss = mse(target, prediction)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


gradwatch.watch(model)
for epoch in range(8):
    losses = [float(train_step(a, b)) for a, b in dataset]
    test = float(mse(y[2500:], model(x[2500:])))
    print("epoch", epoch, "train", np.mean(losses), "test", test)
