import os

import keras
import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 41)

N = 2500
age = rng.normal(54, 9, N)
pressure = rng.normal(131, 17, N)
cholesterol = rng.normal(246, 50, N)
max_rate = 205 - 0.9 * age + rng.normal(0, 15, N)
smoker = rng.integers(0, 2, N)
pain = rng.integers(0, 4, N)
logit = (
    0.09 * (age - 54)
    + 0.03 * (pressure - 131)
    + 0.012 * (cholesterol - 246)
    - 0.04 * (max_rate - 156)
    + 1.4 * (smoker - 0.5)
    + 1.6 * (pain == 2)
    - 0.4
)
sick = (logit * 1.5 + rng.logistic(0, 1, N) > 0).astype(int)

numeric = np.stack([age, pressure, cholesterol, max_rate, smoker], axis=1)
features = np.concatenate([numeric, np.eye(4)[pain]], axis=1)
X_train, X_test, y_train, y_test = train_test_split(
    features.astype("float32"),
    sick,
    test_size=0.2,
    random_state=SEED,
)
scaler = StandardScaler()
X_train = scaler.fit_transform(X_train)
X_test = scaler.transform(X_test)

model = keras.Sequential()
model.add(keras.Input((X_train.shape[1],)))
model.add(keras.layers.Dense(32, activation="relu"))
model.add(keras.layers.Dense(16, activation="relu"))
model.add(keras.layers.Dense(1, activation="sigmoid"))

model.compile(
    loss="binary_crossentropy",
    optimizer="adam",
    metrics=["accuracy"],
)
gradwatch.watch(model)

history = model.fit(
    X_train,
    y_train,
    validation_split=0.1,
    epochs=20,
    batch_size=32,
    verbose=0,
)
print("accuracy", history.history["accuracy"][-1])

prob = model.predict(X_test, verbose=0)[:, 0]
predicted = (prob > 0.5).astype(int)
recall_sick = np.mean(predicted[y_test == 1] == 1)
recall_well = np.mean(predicted[y_test == 0] == 0)
print("SCORE", float((recall_sick + recall_well) / 2))
