import os

import keras
import numpy as np
from sklearn.datasets import make_classification
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)

x, hybrid = make_classification(
    n_samples=5000,
    n_features=12,
    n_informative=8,
    n_redundant=2,
    n_clusters_per_class=2,
    class_sep=1.4,
    random_state=SEED,
)
x_train, x_test, y_train, y_test = train_test_split(x, hybrid, test_size=0.2, stratify=hybrid, random_state=SEED)
scaler = StandardScaler().fit(x_train)
x_train = scaler.transform(x_train).astype("float32")
x_test = scaler.transform(x_test).astype("float32")


def build():
    petals = keras.Input((8,), name="petals")
    sepals = keras.Input((4,), name="sepals")
    a = keras.layers.Dense(32, activation="relu", name="petal_branch")(petals)
    b = keras.layers.Dense(16, activation="relu", name="sepal_branch")(sepals)
    h = keras.layers.Concatenate()([a, b])
    h = keras.layers.Dense(32, activation="relu", name="joint")(h)
    h = keras.layers.Dropout(0.1)(h)
    out = keras.layers.Dense(1, activation="sigmoid", name="hybrid")(h)
    return keras.Model([petals, sepals], out)


model = build()
model.compile(
    optimizer=keras.optimizers.Adam(1e-3),
    loss=keras.losses.BinaryCrossentropy(),
    metrics=["accuracy"],
)
gradwatch.watch(model)
model.fit(
    [x_train[:, :8], x_train[:, 8:]],
    y_train,
    validation_split=0.1,
    batch_size=32,
    epochs=12,
    verbose=2,
)

p = model.predict([x_test[:, :8], x_test[:, 8:]], verbose=0)[:, 0]
print("SCORE", float(np.mean((p > 0.5) == (y_test > 0))))
