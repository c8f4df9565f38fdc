import os

import keras
import numpy as np

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)
CLASSES, LENGTH = 4, 256


def hum(rng, n):
    y = rng.integers(0, CLASSES, n)
    t = np.arange(LENGTH) / LENGTH
    base = np.array([8, 10, 12, 14])[y][:, None] + rng.uniform(-0.8, 0.8, (n, 1))
    phase = rng.uniform(0, 2 * np.pi, (n, 1))
    x = np.sin(2 * np.pi * base * t + phase) + 0.5 * np.sin(4 * np.pi * base * t + 2 * phase)
    x = x * rng.uniform(0.5, 1.5, (n, 1)) + rng.normal(0, 1.4, (n, LENGTH))
    return x[..., None].astype("float32"), y.astype("int32")


class HiveRecordings(keras.utils.PyDataset):
    def __init__(self, batches, batch_size, seed, **kwargs):
        super().__init__(**kwargs)
        self.batches, self.batch_size, self.seed = batches, batch_size, seed

    def __len__(self):
        return self.batches

    def __getitem__(self, index):
        rng = np.random.default_rng(self.seed)
        return hum(rng, self.batch_size)


train = HiveRecordings(40, 32, seed=SEED)
x_val, y_val = hum(np.random.default_rng(SEED + 1000003), 800)

model = keras.Sequential(
    [
        keras.Input((LENGTH, 1)),
        keras.layers.Conv1D(16, 15, strides=2, activation="relu"),
        keras.layers.Conv1D(32, 9, strides=2, activation="relu"),
        keras.layers.GlobalMaxPooling1D(),
        keras.layers.Dense(32, activation="relu"),
        keras.layers.Dense(CLASSES),
    ]
)
model.compile(
    optimizer=keras.optimizers.Adam(2e-3),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
watch = gradwatch.watch(model)
model.fit(train, validation_data=(x_val, y_val), epochs=15, verbose=2)
print("SCORE", float(model.evaluate(x_val, y_val, verbose=0)[1]))
