import os

import keras
import numpy as np
from keras.layers import Dense, Dropout, Input
from keras.models import Sequential
from sklearn.metrics import balanced_accuracy_score, confusion_matrix
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 5)

n = 5000
df = {
    "tenure": rng.integers(1, 72, n),
    "monthly_charges": rng.uniform(18, 120, n),
    "support_calls": rng.poisson(1.2, n),
    "contract": rng.choice(["month", "one_year", "two_year"], n, p=[0.5, 0.3, 0.2]),
    "internet": rng.choice(["dsl", "fiber", "none"], n),
    "paperless": rng.integers(0, 2, n),
}
logit = (
    -0.06 * (df["tenure"] - 36)
    + 0.03 * (df["monthly_charges"] - 70)
    + 0.9 * (df["support_calls"] - 1.2)
    + np.select([df["contract"] == "month", df["contract"] == "one_year"], [1.2, -0.8], -2.0)
    + np.select([df["internet"] == "dsl", df["internet"] == "fiber"], [0.0, 0.8], -0.6)
)
df["churn"] = (1.6 * logit + rng.logistic(0, 1, n) > 0).astype(int)

numeric = np.column_stack([df[c] for c in ["tenure", "monthly_charges", "support_calls", "paperless"]])
categorical = np.column_stack([df[c] for c in ["contract", "internet"]])
encoder = OneHotEncoder(sparse_output=False)
X = np.hstack([numeric, encoder.fit_transform(categorical)])
y = df["churn"]
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.2, random_state=SEED)

sc = StandardScaler()
X_train = sc.fit_transform(X_train)
X_test = sc.transform(X_test)

classifier = Sequential()
classifier.add(Input(shape=(X_train.shape[1],)))
classifier.add(Dense(32, activation="relu"))
classifier.add(Dropout(0.1))
classifier.add(Dense(16, activation="relu"))
classifier.add(Dense(1, activation="sigmoid"))
classifier.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])
gradwatch.watch(classifier)

classifier.fit(X_train, y_train, batch_size=64, epochs=30, validation_split=0.1, verbose=2)

y_pred = (classifier.predict(X_test, verbose=0)[:, 0] > 0.5).astype(int)
print(confusion_matrix(y_test, y_pred))
print("SCORE", round(balanced_accuracy_score(y_test, y_pred), 4))
