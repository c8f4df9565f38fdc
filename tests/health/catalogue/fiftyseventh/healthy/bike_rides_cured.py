import os

import keras
import numpy as np

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

n = 5000
hour = rng.integers(0, 24, n)
temp = rng.normal(15, 8, n)
rain = rng.exponential(1.0, n) * (rng.random(n) < 0.3)
weekend = (rng.random(n) < 2 / 7).astype(float)
rush = np.exp(-0.5 * ((hour - 8) / 1.5) ** 2) + np.exp(-0.5 * ((hour - 17.5) / 2) ** 2)
rides = 40 + 160 * rush * (1 - 0.7 * weekend) + 4 * temp - 25 * rain + 10 * rng.normal(size=n)
X = np.stack(
    [
        np.sin(2 * np.pi * hour / 24),
        np.cos(2 * np.pi * hour / 24),
        np.sin(4 * np.pi * hour / 24),
        np.cos(4 * np.pi * hour / 24),
        (temp - 15) / 8,
        rain,
        weekend,
    ],
    axis=1,
).astype("float32")
Y = ((rides - rides.mean()) / rides.std()).astype("float32")[:, None]
X_train, Y_train, X_test, Y_test = X[:4000], Y[:4000], X[4000:], Y[4000:]


class RideBatches(keras.utils.PyDataset):
    def __init__(self, x, y, batch_size=50, **kwargs):
        super().__init__(**kwargs)
        self.x, self.y, self.batch_size = x.copy(), y.copy(), batch_size

    def __len__(self):
        return len(self.x) // self.batch_size

    def __getitem__(self, i):
        rows = slice(i * self.batch_size, (i + 1) * self.batch_size)
        return self.x[rows], self.y[rows]

    def on_epoch_end(self):
        order = np.random.permutation(len(self.x))
        self.x, self.y = self.x[order], self.y[order]


model = keras.Sequential(
    [
        keras.Input((7,)),
        keras.layers.Dense(64, activation="elu"),
        keras.layers.Dense(64, activation="elu"),
        keras.layers.Dense(1),
    ]
)
model.compile(optimizer=keras.optimizers.Nadam(2e-3), loss="huber", metrics=["mae"])
watch = gradwatch.watch(model)
model.fit(RideBatches(X_train, Y_train), epochs=15, validation_data=(X_test, Y_test), verbose=2)

pred = model.predict(X_test, verbose=0)
print("SCORE", float(1.0 - np.mean((pred - Y_test) ** 2) / np.var(Y_test)))
