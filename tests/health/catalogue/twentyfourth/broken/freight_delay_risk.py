"""Risk of late delivery from categorical and numeric shipment fields."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

CARRIERS, DEPOTS = 12, 30
KEEP_PROB = 0.9
carrier_effect = rng.normal(0, 1.0, CARRIERS)
depot_effect = rng.normal(0, 1.0, DEPOTS)
pair_effect = rng.normal(0, 1.0, (CARRIERS, DEPOTS))


def make_shipments(n):
    carrier = rng.integers(0, CARRIERS, n)
    depot = rng.integers(0, DEPOTS, n)
    numeric = rng.normal(0, 1, (n, 6))
    logit = carrier_effect[carrier] + depot_effect[depot] + pair_effect[carrier, depot]
    logit = logit + 1.5 * numeric[:, 0] * numeric[:, 1] + np.abs(numeric[:, 2]) * 2 - 1.6
    logit = logit + 1.2 * np.sin(2 * numeric[:, 3])
    late = rng.random(n) < 1 / (1 + np.exp(-2.0 * logit))
    fields = {
        "carrier": carrier.astype("int32"),
        "depot": depot.astype("int32"),
        "numeric": numeric.astype("float32"),
    }
    return fields, late.astype("float32")


x_train, y_train = make_shipments(9000)
x_test, y_test = make_shipments(2000)

carrier = keras.Input((), dtype="int32", name="carrier")
depot = keras.Input((), dtype="int32", name="depot")
numeric = keras.Input((6,), name="numeric")
h = layers.Concatenate()([layers.Embedding(CARRIERS, 8)(carrier), layers.Embedding(DEPOTS, 8)(depot), numeric])
for units in (64, 64, 32):
    h = layers.Dense(units, activation="relu")(h)
    h = layers.Dropout(KEEP_PROB)(h)
outputs = layers.Dense(1, activation="sigmoid")(h)
model = keras.Model({"carrier": carrier, "depot": depot, "numeric": numeric}, outputs)

model.compile(
    optimizer=keras.optimizers.AdamW(2e-3, weight_decay=1e-4),
    loss="binary_crossentropy",
    metrics=["accuracy", keras.metrics.AUC(name="auc")],
)
gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=128, epochs=12, validation_data=(x_test, y_test), verbose=2)

_, accuracy, auc = model.evaluate(x_test, y_test, verbose=0)
print("SCORE auc", float(auc))
