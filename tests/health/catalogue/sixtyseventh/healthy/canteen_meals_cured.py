import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

SITES, DAYS, LOOKBACK = 20, 320, 14


def meal_counts():
    day = np.arange(DAYS)
    week = 1 + 0.35 * np.cos(2 * np.pi * day / 7)
    level = rng.uniform(120, 380, (SITES, 1))
    drift = np.cumsum(rng.normal(0, 0.015, (SITES, DAYS)), axis=1)
    return level * week * np.exp(drift) * (1 + rng.normal(0, 0.05, (SITES, DAYS)))


def to_samples(series):
    past = np.lib.stride_tricks.sliding_window_view(series, LOOKBACK, axis=1)[:, :-1]
    following = series[:, LOOKBACK:]
    return past.reshape(-1, LOOKBACK), following.reshape(-1)


meals = meal_counts()
centre, spread = meals[:, :240].mean(), meals[:, :240].std()
meals = ((meals - centre) / spread).astype("float32")
x_train, y_train = to_samples(meals[:, :260])
x_test, y_test = to_samples(meals[:, 260 - LOOKBACK :])

forecaster = keras.Sequential(
    [
        keras.Input((LOOKBACK, 1)),
        keras.layers.Conv1D(24, 7, activation="relu", name="week_shape"),
        keras.layers.Flatten(name="flat"),
        keras.layers.Dense(32, activation="relu", name="trend"),
        keras.layers.Dense(1, name="meals"),
    ]
)
optimizer = keras.optimizers.Adam(2e-3)
watch = gradwatch.watch(forecaster)


@tf.function
def train_step(past, actual):
    with tf.GradientTape() as tape:
        forecast = forecaster(past, training=True)
        loss = tf.reduce_mean(tf.square(actual[:, None] - forecast))
    variables = forecaster.trainable_variables
    grads = tape.gradient(loss, variables)
    optimizer.apply_gradients(zip(grads, variables))
    return loss


samples = (
    tf.data.Dataset.from_tensor_slices((x_train[..., None], y_train))
    .shuffle(len(x_train), seed=SEED)
    .batch(64)
    .prefetch(2)
)
for epoch in range(6):
    for past, actual in samples:
        loss = train_step(past, actual)
        watch.log(loss=loss)

pred = forecaster.predict(x_test[..., None], batch_size=512, verbose=0)[:, 0]
r2 = 1 - np.mean((pred - y_test) ** 2) / np.var(y_test)
print("SCORE", float(r2))
