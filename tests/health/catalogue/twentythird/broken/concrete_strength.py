"""Compressive strength of concrete mixes; the amounts come in their natural units and are normalised in the network."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

BATCH, EPOCHS = 64, 14


def mixes(count):
    cement = rng.uniform(150, 540, count)
    slag = rng.uniform(0, 220, count)
    water = rng.uniform(130, 230, count)
    plasticiser = rng.uniform(0, 12, count)
    gravel = rng.uniform(800, 1150, count)
    age = rng.choice([3, 7, 14, 28, 56, 90], count)
    humidity = rng.uniform(0.3, 1.0, count)
    face = rng.uniform(15000, 22500, count)
    ratio = water / (cement + 0.7 * slag)
    strength = 95 * np.exp(-1.5 * ratio) * (0.35 + 0.2 * np.log(age)) * (0.6 + 0.4 * humidity)
    strength = (
        strength + 0.6 * plasticiser - 0.0008 * (face - 18000) - 0.01 * (gravel - 970) + rng.normal(0, 1.5, count)
    )
    x = np.stack([cement, slag, water, plasticiser, gravel, age, humidity, face], axis=1)
    return x.astype("float32"), strength.astype("float32")[:, None]


def dense_block(units):
    return [
        keras.layers.Dense(units, use_bias=False),
        keras.layers.BatchNormalization(momentum=0.95),
        keras.layers.Activation("relu"),
    ]


x_train, y_train = mixes(5000)
x_test, y_test = mixes(1000)
middle, spread = y_train.mean(), y_train.std()

model = keras.Sequential(
    [keras.Input((x_train.shape[1],)), keras.layers.BatchNormalization(momentum=0.95, center=False)]
    + dense_block(64)
    + dense_block(32)
    + [keras.layers.Dense(1)]
)
optimizer = keras.optimizers.SGD(
    keras.optimizers.schedules.CosineDecay(0.05, EPOCHS * (5000 // BATCH)), momentum=0.9, clipnorm=1.0
)
batches = (
    tf.data.Dataset.from_tensor_slices((x_train, (y_train - middle) / spread))
    .shuffle(5000, seed=seed)
    .batch(BATCH, drop_remainder=True)
)
loss_fn = keras.losses.Huber()


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = loss_fn(y, model(x))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss


gradwatch.watch(model)
for epoch in range(EPOCHS):
    losses = [float(train_step(x, y)) for x, y in batches]
    print(f"epoch {epoch} loss {np.mean(losses):.4f}")

predicted = model.predict(x_test, verbose=0) * spread + middle
r2 = 1 - np.mean((predicted - y_test) ** 2) / np.var(y_test)
print("SCORE r2", round(float(r2), 4))
