import os

import keras
import numpy as np
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 251)

VOCAB, MAXLEN, REGIONS = 12000, 25, 5
zipf = 1.0 / np.arange(1, VOCAB) ** 1.1
zipf /= zipf.sum()
local = [np.arange(200 + 60 * r, 260 + 60 * r) for r in range(REGIONS)]


def messages(n):
    y = rng.integers(0, REGIONS, n)
    x = np.zeros((n, MAXLEN), "int32")
    for i in range(n):
        length = rng.integers(6, MAXLEN + 1)
        words = rng.choice(VOCAB - 1, length, p=zipf) + 1
        spots = rng.choice(length, 3, replace=False)
        words[spots] = rng.choice(local[y[i]], 3)
        x[i, :length] = words
    return x, y


x_train, y_train = messages(6000)
x_test, y_test = messages(1500)

model = keras.Sequential(
    [
        layers.Input((MAXLEN,), dtype="int32"),
        layers.Embedding(VOCAB, 24, mask_zero=True, name="words"),
        layers.Bidirectional(layers.GRU(24), name="reader"),
        layers.Dropout(0.4),
        layers.Dense(REGIONS, activation="softmax", name="region"),
    ]
)
total = 8 * (len(x_train) // 64 + 1)
schedule = keras.optimizers.schedules.CosineDecay(0.0, decay_steps=total, warmup_target=4e-3, warmup_steps=150)
model.compile(
    optimizer=keras.optimizers.Adam(schedule, clipnorm=1.0),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)
gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=64, epochs=9, verbose=2)
print("SCORE", float(model.evaluate(x_test, y_test, verbose=0)[1]))
