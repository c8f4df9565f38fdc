"""Screening of insurance claims for fraud; few of the claims are fraudulent."""

import os

import keras
import numpy as np

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

FEATURES, REGIONS = 14, 20
direction = rng.normal(size=(FEATURES,))
twist = rng.normal(size=(FEATURES, 3))
regional = rng.normal(0, 0.7, REGIONS)


def claims(count):
    x = rng.normal(size=(count, FEATURES))
    region = rng.integers(0, REGIONS, count)
    risk = 0.6 * x @ direction + 1.2 * np.sin(x @ twist).sum(axis=1) + regional[region]
    risk = risk + rng.logistic(0, 0.4, count)
    fraud = risk > 4.4
    return {"numbers": x.astype("float32"), "region": region.astype("int32")}, fraud.astype("int32")


x_train, y_train = claims(20000)
x_test, y_test = claims(8000)

counts = np.bincount(y_train, minlength=2)
total = counts.sum()
class_weight = {label: 2 * count / total for label, count in enumerate(counts)}
print("claims", counts, "weights", class_weight)

numbers = keras.Input((FEATURES,), name="numbers")
region = keras.Input((), dtype="int32", name="region")
h = keras.layers.Concatenate()([numbers, keras.layers.Embedding(REGIONS, 4)(region)])
h = keras.layers.Dense(64, activation="relu")(h)
h = keras.layers.Dense(32, activation="relu")(h)
h = keras.layers.Dropout(0.2)(h)
flag = keras.layers.Dense(1, activation="sigmoid")(h)
model = keras.Model({"numbers": numbers, "region": region}, flag)
model.compile(
    optimizer=keras.optimizers.Adam(1e-3),
    loss="binary_crossentropy",
    metrics=[keras.metrics.AUC(name="auc")],
)

gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=128, epochs=8, class_weight=class_weight, verbose=2)

flagged = model.predict(x_test, batch_size=500, verbose=0)[:, 0] > 0.5
recalls = [np.mean(flagged[y_test == label] == label) for label in (0, 1)]
print("SCORE balanced_accuracy", round(float(np.mean(recalls)), 4))
