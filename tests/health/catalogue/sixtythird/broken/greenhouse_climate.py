import os

import keras
import numpy as np

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

n = 6000
hours = np.arange(n)
outside = 12 + 8 * np.sin(2 * np.pi * hours / 24) + rng.normal(0, 0.6, n)
radiation = np.clip(600 * np.sin(2 * np.pi * (hours - 3) / 24), 0, None) + rng.normal(0, 15, n)
humidity = 70 - 0.9 * outside + rng.normal(0, 2, n)
inside = np.zeros(n)
inside[0] = 15
for t in range(1, n):
    inside[t] = 0.8 * inside[t - 1] + 0.2 * outside[t - 1] + 0.004 * radiation[t - 1] + rng.normal(0, 0.15)

columns = ["outside_temp", "radiation", "humidity", "vent_alarm", "inside_temp"]
data = np.stack([outside, radiation, humidity, np.zeros(n), inside], axis=1)

train_df = data[: int(n * 0.7)]
val_df = data[int(n * 0.7) : int(n * 0.85)]
test_df = data[int(n * 0.85) :]

train_mean = train_df.mean(axis=0)
train_std = train_df.std(axis=0)

train_df = (train_df - train_mean) / train_std
val_df = (val_df - train_mean) / train_std
test_df = (test_df - train_mean) / train_std

WINDOW = 24


def make_windows(frame):
    values = frame.astype("float32")
    target = frame[:, columns.index("inside_temp")].astype("float32")
    xs = np.stack([values[i : i + WINDOW] for i in range(len(values) - WINDOW)])
    ys = target[WINDOW:]
    return xs, ys


x_train, y_train = make_windows(train_df)
x_val, y_val = make_windows(val_df)
x_test, y_test = make_windows(test_df)

model = keras.Sequential(
    [
        keras.layers.Input(shape=(WINDOW, x_train.shape[-1])),
        keras.layers.LSTM(24),
        keras.layers.Dense(1),
    ]
)
model.compile(
    loss=keras.losses.MeanSquaredError(),
    optimizer=keras.optimizers.Adam(learning_rate=0.003),
    metrics=["mae"],
)
gradwatch.watch(model)

model.fit(
    x_train,
    y_train,
    epochs=12,
    batch_size=64,
    validation_data=(x_val, y_val),
    verbose=2,
)

pred = model.predict(x_test, verbose=0)[:, 0]
r2 = 1 - np.mean((pred - y_test) ** 2) / np.var(y_test)
print("SCORE", round(float(r2), 4))
