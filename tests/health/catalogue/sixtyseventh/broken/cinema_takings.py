import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

SCREENS, DAYS, WINDOW = 24, 300, 14


def simulate_takings():
    day = np.arange(DAYS)
    weekly = 1 + 0.5 * np.sin(2 * np.pi * day / 7)
    season = 1 + 0.25 * np.sin(2 * np.pi * day / 120)
    size = rng.uniform(0.6, 1.6, (SCREENS, 1))
    noise = rng.normal(0, 0.08, (SCREENS, DAYS))
    return 2400.0 * size * weekly * season * (1 + noise)


def windows(series):
    past, nxt = [], []
    for row in series:
        for start in range(DAYS - WINDOW):
            past.append(row[start : start + WINDOW])
            nxt.append(row[start + WINDOW])
    return np.array(past, "float32"), np.array(nxt, "float32")


takings = simulate_takings()
cut = 20
past_train, next_train = windows(takings[:cut])
past_test, next_test = windows(takings[cut:])

mean, std = past_train.mean(), past_train.std()
x_train = (past_train - mean) / std
x_test = (past_test - mean) / std
y_train, y_test = next_train, next_test

model = keras.Sequential(
    [
        keras.Input((WINDOW,)),
        keras.layers.Dense(48, activation="leaky_relu", name="lags"),
        keras.layers.Dense(24, activation="leaky_relu", name="pattern"),
        keras.layers.Dense(1, name="takings"),
    ]
)
model.compile(
    optimizer=keras.optimizers.SGD(learning_rate=0.01, momentum=0.9), loss="mean_squared_error", metrics=["mae"]
)
stop = keras.callbacks.EarlyStopping(monitor="val_loss", patience=20)
gradwatch.watch(model)

train_data = (
    tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(len(x_train), seed=SEED).batch(64).prefetch(2)
)
valid_data = tf.data.Dataset.from_tensor_slices((x_test, y_test)).batch(256)
model.fit(train_data, validation_data=valid_data, epochs=8, callbacks=[stop], verbose=0)

pred = model.predict(x_test, batch_size=256, verbose=0)[:, 0]
r2 = 1 - np.mean((pred - y_test) ** 2) / np.var(y_test)
print("SCORE", float(r2))
