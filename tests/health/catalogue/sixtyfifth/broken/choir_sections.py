import os

import keras
import numpy as np
from sklearn.preprocessing import StandardScaler

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

BANDS = 20
centers = np.array([3.0, 7.0, 11.0, 15.0])


def sing(n):
    part = rng.integers(0, 4, n)
    peak = centers[part] + rng.normal(0, 0.9, n)
    grid = np.arange(BANDS)[None, :]
    level = np.exp(-0.5 * ((grid - peak[:, None]) / 1.5) ** 2)
    level += 0.4 * np.exp(-0.5 * ((grid - peak[:, None] * 1.5) / 1.5) ** 2)
    return (level + rng.normal(0, 0.25, level.shape)).astype("float32"), part.astype("int32")


x_train, y_train = sing(4000)
x_test, y_test = sing(1000)
scaler = StandardScaler().fit(x_train)
x_train, x_test = scaler.transform(x_train), scaler.transform(x_test)

model = keras.Sequential([keras.Input((BANDS,))])
for i in range(8):
    model.add(keras.layers.Dense(48, activation="sigmoid", name=f"voice_{i}"))
model.add(keras.layers.Dense(4, activation="softmax", name="part"))

model.compile(
    optimizer=keras.optimizers.SGD(learning_rate=0.03, momentum=0.9),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)
gradwatch.watch(model)
model.summary()
model.fit(
    x_train,
    y_train,
    batch_size=32,
    epochs=12,
    verbose=2,
)

guess = model.predict(x_test, verbose=0).argmax(axis=1)
for part in range(4):
    print("section", part, "guessed", int((guess == part).sum()))
print("SCORE", float(model.evaluate(x_test, y_test, verbose=0)[1]))
