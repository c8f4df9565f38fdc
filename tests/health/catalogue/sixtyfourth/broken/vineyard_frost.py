import os

import keras
import numpy as np
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)

FIELDS = [
    "temp_sunset",
    "humidity",
    "wind",
    "cloud_cover",
    "dew_point",
    "slope",
    "altitude",
    "soil_temp",
]


def make_nights(rng, rows):
    nights = rng.normal(size=(rows, len(FIELDS)))
    nights[:, 0] = 6 + 4 * nights[:, 0]
    nights[:, 1] = 60 + 15 * nights[:, 1]
    nights[:, 6] = 300 + 80 * nights[:, 6]
    risk = (
        -0.5 * (nights[:, 0] - 6)
        - 0.9 * nights[:, 2]
        - 1.1 * nights[:, 3] * (nights[:, 3] > 0)
        + 0.01 * (nights[:, 6] - 300)
        + 0.7 * nights[:, 4] * nights[:, 5]
    )
    frost = (risk + 0.5 * rng.normal(size=rows) > 0).astype("float32")
    return nights, frost


rng = np.random.default_rng(SEED)
nights, frost = make_nights(rng, 8000)
x_train, x_test, y_train, y_test = train_test_split(nights, frost, test_size=0.25, random_state=SEED)
scaler = StandardScaler().fit(x_train)
x_train = scaler.transform(x_train).astype("float32")
x_test = scaler.transform(x_test).astype("float32")

model = keras.Sequential(
    [
        keras.Input((len(FIELDS),)),
        keras.layers.Dense(48, activation="relu", name="night_a"),
        keras.layers.Dense(24, activation="relu", name="night_b"),
        keras.layers.Dense(1, activation="softmax", name="frost"),
    ]
)
model.compile(
    optimizer=keras.optimizers.Adam(2e-3),
    loss="binary_crossentropy",
    metrics=["accuracy"],
)
gradwatch.watch(model)
history = model.fit(x_train, y_train, validation_split=0.1, batch_size=64, epochs=25, verbose=0)
print("accuracy", [round(v, 3) for v in history.history["accuracy"][::5]])

pred = model.predict(x_test, verbose=0)[:, 0] > 0.5
print("SCORE", float(balanced_accuracy_score(y_test, pred)))
