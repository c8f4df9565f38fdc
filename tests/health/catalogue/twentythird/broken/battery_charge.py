"""State of charge of a battery cell from two minutes of current, voltage and temperature."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

STEPS, BATCH, EPOCHS = 24, 64, 12


def simulate(count):
    soc = rng.uniform(0.15, 0.95, count)
    resistance = rng.uniform(0.02, 0.08, count)
    temperature = rng.normal(25, 6, count)
    rows, level = [], soc.copy()
    current = rng.normal(0, 1, count)
    for _ in range(STEPS):
        current = 0.8 * current + rng.normal(0, 0.8, count)
        level = np.clip(level - 0.002 * current, 0.0, 1.0)
        open_circuit = 3.2 + 0.9 * level - 0.12 * np.exp(-12 * level) + 0.002 * (temperature - 25)
        voltage = open_circuit - resistance * current + rng.normal(0, 0.01, count)
        rows.append(np.stack([current, voltage, temperature + rng.normal(0, 0.3, count)], axis=-1))
    return np.stack(rows, axis=1).astype("float32"), level.astype("float32")


x_train, y_train = simulate(4000)
x_test, y_test = simulate(1000)
mean, std = x_train.mean((0, 1)), x_train.std((0, 1))
x_train, x_test = (x_train - mean) / std, (x_test - mean) / std

model = keras.Sequential(
    [
        keras.Input((STEPS, 3)),
        keras.layers.LSTM(32),
        keras.layers.Dense(16, activation="relu"),
        keras.layers.Dense(1),
    ]
)
optimizer = keras.optimizers.Adam(3e-3)
batches = (
    tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(4000, seed=seed).batch(BATCH, drop_remainder=True)
)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        prediction = model(x, training=True)
        loss = tf.reduce_mean(tf.square(prediction - y))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss


gradwatch.watch(model)
for epoch in range(EPOCHS):
    losses = [float(train_step(x, y)) for x, y in batches]
    print(f"epoch {epoch} loss {np.mean(losses):.5f}")

predicted = model.predict(x_test, batch_size=500, verbose=0)[:, 0]
r2 = 1 - np.mean((predicted - y_test) ** 2) / np.var(y_test)
print("SCORE r2", round(float(r2), 4))
