import os

import keras
import numpy as np
from keras import layers, optimizers
from sklearn.metrics import r2_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

n = 4000
data = dict(
    rooms=rng.integers(2, 8, n),
    land_size=rng.gamma(4, 140, n),
    distance=rng.uniform(1, 40, n),
    year_built=rng.integers(1920, 2020, n),
    bathrooms=rng.integers(1, 4, n),
    car_spots=rng.integers(0, 4, n),
)
data["price"] = (
    250000
    + 95000 * data["rooms"]
    + 260 * data["land_size"]
    - 9500 * data["distance"]
    + 60000 * data["bathrooms"] * (data["distance"] < 15)
    + 18000 * data["car_spots"]
    + rng.normal(0, 30000, n)
)

X = np.column_stack([data[name] for name in data if name != "price"])
y = data["price"]

X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.2, random_state=SEED)

sc = StandardScaler()
X_train = sc.fit_transform(X_train)
X_test = sc.transform(X_test)

model = keras.Sequential()
model.add(layers.Input(shape=(X_train.shape[1],)))
model.add(layers.Dense(64, activation="leaky_relu"))
model.add(layers.Dense(32, activation="leaky_relu"))
model.add(layers.Dense(1))

model.compile(optimizer=optimizers.SGD(learning_rate=0.01), loss="mse", metrics=["mae"])
model.summary()
gradwatch.watch(model)

history = model.fit(
    X_train,
    y_train,
    batch_size=32,
    epochs=50,
    validation_split=0.1,
    verbose=2,
)

y_pred = model.predict(X_test, verbose=0)[:, 0]
score = r2_score(y_test, y_pred) if np.all(np.isfinite(y_pred)) else float("nan")
print("SCORE", score)
