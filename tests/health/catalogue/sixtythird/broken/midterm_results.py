import os

import keras
import numpy as np
from keras.layers import Dense, Input
from keras.models import Sequential
from sklearn.metrics import mean_absolute_error, r2_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 9)

n = 3000
hours_studied = rng.gamma(3, 4, n)
attendance = rng.uniform(40, 100, n)
previous_score = rng.normal(62, 12, n)
sleep_hours = rng.normal(7, 1.2, n)
tutoring = rng.integers(0, 5, n)
motivation = rng.integers(1, 4, n)

marks = (
    12
    + 1.2 * hours_studied
    + 0.25 * attendance
    + 0.3 * previous_score
    - 1.1 * (sleep_hours - 7.5) ** 2
    + 1.5 * tutoring
    + 2.0 * motivation
    + rng.normal(0, 2.5, n)
)
marks = np.clip(marks, 0, 100)

X = np.column_stack([hours_studied, attendance, previous_score, sleep_hours, tutoring, motivation])
y = marks

X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.2, random_state=SEED)
scaler = StandardScaler()
X_train = scaler.fit_transform(X_train)
X_test = scaler.transform(X_test)
print("marks between", y_train.min().round(1), "and", y_train.max().round(1))

model = Sequential()
model.add(Input(shape=(X_train.shape[1],)))
model.add(Dense(64, activation="relu"))
model.add(Dense(64, activation="relu"))
model.add(Dense(32, activation="relu"))
model.add(Dense(1, activation="sigmoid"))

model.compile(
    optimizer=keras.optimizers.Adam(learning_rate=0.002),
    loss="mean_squared_error",
    metrics=["mae"],
)
gradwatch.watch(model)

history = model.fit(
    X_train,
    y_train,
    epochs=25,
    batch_size=32,
    validation_split=0.15,
    verbose=2,
)

y_pred = model.predict(X_test, verbose=0)[:, 0]
print("MAE", mean_absolute_error(y_test, y_pred))
print("SCORE", round(r2_score(y_test, y_pred), 4))
