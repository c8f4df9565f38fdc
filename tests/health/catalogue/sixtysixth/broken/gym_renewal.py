import os

import keras
import numpy as np
from keras import layers
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)


def members(n, seed):
    rng = np.random.default_rng(seed)
    table = {
        "visits_per_month": rng.poisson(6, n),
        "months_joined": rng.integers(1, 60, n),
        "monthly_fee": rng.choice([19.0, 29.0, 49.0], n),
        "classes_booked": rng.poisson(2, n),
        "distance_km": rng.gamma(2.0, 2.0, n),
        "age": rng.integers(16, 75, n),
    }
    z = (
        0.45 * (table["visits_per_month"] - 6)
        + 0.5 * (table["classes_booked"] - 2)
        - 0.05 * (table["monthly_fee"] - 32)
        - 0.30 * (table["distance_km"] - 4)
        + 0.02 * (table["months_joined"] - 30)
    )
    renewed = (rng.uniform(size=n) < 1 / (1 + np.exp(-2 * z))).astype("float32")
    return np.stack(list(table.values()), axis=1).astype("float32"), renewed


X, y = members(5000, SEED)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.2, random_state=SEED)
scaler = StandardScaler().fit(X_train)
X_train, X_test = scaler.transform(X_train), scaler.transform(X_test)

inputs = keras.Input((X_train.shape[1],), name="member")
h = layers.Dense(32, activation="relu", name="dense_a")(inputs)
h = layers.Dropout(0.1)(h)
h = layers.Dense(16, activation="relu", name="dense_b")(h)
outputs = layers.Dense(1, activation="softmax", name="renewed")(h)
model = keras.Model(inputs, outputs)
model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])

gradwatch.watch(model)
model.fit(X_train, y_train, validation_split=0.1, batch_size=64, epochs=15, verbose=0)

pred = (model.predict(X_test, verbose=0)[:, 0] > 0.5).astype(int)
print("SCORE", float(balanced_accuracy_score(y_test, pred)))
