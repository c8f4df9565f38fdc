import os

import keras
import numpy as np

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 2)

COINS = ["cent", "five", "ten", "twenty", "fifty"]
DIAMETER = np.array([16.25, 21.25, 19.75, 22.25, 24.25])
WEIGHT = np.array([2.3, 3.92, 4.1, 5.74, 7.8])
CONDUCT = np.array([58.0, 56.0, 16.0, 16.5, 15.0])
THICK = np.array([1.67, 1.67, 1.93, 2.14, 2.38])


def make_coins(n):
    kind = rng.integers(0, len(COINS), n)
    x = np.stack(
        [
            DIAMETER[kind] + rng.normal(0, 0.5, n),
            WEIGHT[kind] + rng.normal(0, 0.35, n),
            CONDUCT[kind] + rng.normal(0, 3.0, n),
            THICK[kind] + rng.normal(0, 0.12, n),
            rng.normal(0, 1, n),
        ],
        axis=1,
    )
    return x.astype("float32"), kind.astype("int32")


x_train, y_train = make_coins(3000)
x_test, y_test = make_coins(800)
mean, std = x_train.mean(axis=0), x_train.std(axis=0)
x_train = (x_train - mean) / std
x_test = (x_test - mean) / std

HIDDEN_LAYERS = 10
UNITS = 32

model = keras.Sequential(name="sorter")
model.add(keras.Input((5,)))
for i in range(HIDDEN_LAYERS):
    model.add(keras.layers.Dense(UNITS, activation="sigmoid", name=f"hidden{i + 1}"))
model.add(keras.layers.Dense(len(COINS), activation="softmax", name="coin"))

model.compile(
    optimizer=keras.optimizers.SGD(learning_rate=0.01, momentum=0.9),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)
gradwatch.watch(model)

history = model.fit(
    x_train,
    y_train,
    epochs=15,
    batch_size=32,
    verbose=0,
)
print("training accuracy", round(history.history["accuracy"][-1], 3))

probs = model.predict(x_test, verbose=0)
correct = np.argmax(probs, axis=1) == y_test
for i, coin in enumerate(COINS):
    print(coin, round(float(np.mean(correct[y_test == i])), 3))
print("SCORE", float(np.mean(correct)))
