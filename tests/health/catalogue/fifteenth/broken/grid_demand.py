"""Next-hour electricity demand of a small town from the last two days."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", 0))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 50)

HOURS = 24 * 7 * 26
WINDOW = 48
BATCH = 64
STEPS = 800

t = np.arange(HOURS)
temperature = 10 + 8 * np.sin(2 * np.pi * t / (24 * 182)) + 4 * np.sin(2 * np.pi * (t - 9) / 24)
drift = np.zeros(HOURS)
for i in range(1, HOURS):
    drift[i] = 0.97 * drift[i - 1] + 0.25 * rng.normal()
temperature = temperature + drift
weekend = ((t // 24) % 7 >= 5).astype(float)
demand = (
    40.0
    + 9.0 * np.sin(2 * np.pi * (t - 7) / 24)
    + 4.0 * np.sin(4 * np.pi * (t - 3) / 24)
    - 5.0 * weekend
    + 0.6 * np.maximum(15 - temperature, 0)
    + 0.9 * rng.normal(size=HOURS)
)


def standardise(series):
    return (series - series.mean()) / series.std()


channels = np.stack(
    [
        standardise(demand),
        standardise(temperature),
        weekend,
        np.sin(2 * np.pi * t / 24),
        np.cos(2 * np.pi * t / 24),
    ],
    axis=1,
).astype("float32")
target = channels[:, 0]

starts = np.arange(HOURS - WINDOW)
windows = np.stack([channels[s : s + WINDOW] for s in starts])
nexts = target[starts + WINDOW]
split = int(0.8 * len(starts))
x_train, y_train = windows[:split], nexts[:split]
x_test, y_test = windows[split:], nexts[split:]

model = keras.Sequential(
    [
        keras.layers.Input((WINDOW, channels.shape[1])),
        keras.layers.Conv1D(16, 5, strides=2, activation="relu"),
        keras.layers.Conv1D(24, 5, strides=2, activation="relu"),
        keras.layers.Flatten(),
        keras.layers.Dense(32, activation="relu"),
        keras.layers.Dense(1),
    ]
)
optimizer = keras.optimizers.Adam(1e-3)
watch = gradwatch.watch(model, optimizer)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        pred = model(x, training=True)
        loss = tf.reduce_mean(tf.square(y - pred))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


dataset = (
    tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(5000, seed=SEED).repeat().batch(BATCH).prefetch(2)
)
for step, (x, y) in enumerate(dataset.take(STEPS)):
    loss = train_step(x, y)
    watch.log(loss=loss)
    if step % 100 == 0:
        print(f"step {step} mse {float(loss):.4f}")

pred = model.predict(x_test, batch_size=500, verbose=0)[:, 0]
r2 = 1.0 - np.sum((y_test - pred) ** 2) / np.sum((y_test - y_test.mean()) ** 2)
print("score", round(float(r2), 4))
