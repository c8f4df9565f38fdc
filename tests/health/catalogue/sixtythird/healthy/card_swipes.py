import os

import keras
import numpy as np
from keras import layers
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 13)

n = 40000
features = rng.normal(0, 1, (n, 16))
amount = np.exp(rng.normal(3, 1.2, n))
fraud = rng.random(n) < 0.004
direction = np.sign(rng.normal(0, 1, 8))
features[fraud, :8] += 1.6 * direction * rng.uniform(0.6, 1.4, (fraud.sum(), 8))
features[fraud, 8:] *= 1.8
amount[fraud] *= 2.5
X = np.column_stack([features, np.log(amount + 0.001)])
y = fraud.astype("float32")

X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.25, stratify=y, random_state=SEED)
scaler = StandardScaler()
X_train = np.clip(scaler.fit_transform(X_train), -5, 5)
X_test = np.clip(scaler.transform(X_test), -5, 5)

pos = y_train.sum()
neg = len(y_train) - pos
print(f"Examples: {len(y_train)}  Positive: {int(pos)} ({100 * pos / len(y_train):.2f}%)")

initial_bias = np.log(pos / neg)
model = keras.Sequential(
    [
        layers.Input((X_train.shape[1],)),
        layers.Dense(32, activation="relu"),
        layers.Dropout(0.3),
        layers.Dense(16, activation="relu"),
        layers.Dense(1, activation="sigmoid", bias_initializer=keras.initializers.Constant(initial_bias)),
    ]
)
model.compile(
    optimizer=keras.optimizers.Adam(1e-3),
    loss="binary_crossentropy",
    metrics=[keras.metrics.AUC(name="prc", curve="PR")],
)
gradwatch.watch(model)

class_weight = {0: 0.5 * len(y_train) / neg, 1: 0.5 * len(y_train) / pos}
model.fit(
    X_train,
    y_train,
    batch_size=256,
    epochs=15,
    validation_data=(X_test, y_test),
    class_weight=class_weight,
    verbose=2,
)

proba = model.predict(X_test, batch_size=1024, verbose=0)[:, 0]
print("ROC AUC", round(roc_auc_score(y_test, proba), 4))
print("SCORE", round(average_precision_score(y_test, proba), 4))
