import os

import keras
import numpy as np
from keras.layers import Dense, Input
from keras.models import Sequential
from sklearn.metrics import classification_report, roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 17)

n = 5000
feature_names = ["debt_ratio", "age_scaled", "late_payments", "utilisation", "annual_income", "open_accounts"]
debt_ratio = rng.beta(2, 4, n)
age = rng.normal(0, 1, n)
late = rng.poisson(0.8, n).astype(float)
utilisation = rng.beta(2, 2, n)
income = np.exp(rng.normal(11.0, 0.6, n))
accounts = rng.normal(0, 1, n)

score = (
    5.0 * (debt_ratio - 0.33)
    - 0.8 * age
    + 1.1 * (late - 0.8)
    + 4.0 * (utilisation - 0.5)
    - 0.6 * (np.log(income) - 11.0)
    + 0.5 * accounts
)
default = (1.5 * score + rng.logistic(0, 1, n) > 0).astype(int)

X = np.column_stack([debt_ratio, age, late, utilisation, income, accounts])
for name, column in zip(feature_names, X.T):
    print(f"{name:>15}  mean {column.mean():12.3f}")

X_train, X_test, y_train, y_test = train_test_split(X, default, test_size=0.2, stratify=default, random_state=SEED)

scaler = StandardScaler()
X_train = scaler.fit_transform(X_train)
X_test = scaler.transform(X_test)

model = Sequential()
model.add(Input(shape=(len(feature_names),)))
model.add(Dense(32, activation="relu"))
model.add(Dense(16, activation="relu"))
model.add(Dense(1, activation="sigmoid"))
model.compile(loss="binary_crossentropy", optimizer="adam", metrics=["accuracy"])
gradwatch.watch(model)

model.fit(
    X_train,
    y_train,
    epochs=12,
    batch_size=32,
    validation_data=(X_test, y_test),
    verbose=2,
)

proba = model.predict(X_test, verbose=0)[:, 0]
print(classification_report(y_test, proba > 0.5, zero_division=0))
print("SCORE", round(float(roc_auc_score(y_test, proba)), 4))
