import os

import keras
import numpy as np
from sklearn.metrics import roc_auc_score

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)

SENSORS = 12


def make_hours(rng, rows):
    x = rng.normal(size=(rows, SENSORS))
    score = 1.2 * x[:, 0] + 0.9 * x[:, 1] * x[:, 2] - 0.8 * x[:, 3] + 0.3 * rng.normal(size=rows)
    fault = (score > 3.6).astype("float32")
    return x.astype("float32"), fault


rng = np.random.default_rng(SEED)
x, fault = make_hours(rng, 30000)
x_test, fault_test = make_hours(rng, 10000)
rate = float(fault.mean())
print("fault rate", rate)

model = keras.Sequential(
    [
        keras.Input((SENSORS,)),
        keras.layers.Dense(48, activation="relu", name="line_a"),
        keras.layers.Dense(48, activation="relu", name="line_b"),
        keras.layers.Dense(
            1,
            activation="sigmoid",
            bias_initializer=keras.initializers.Constant(float(np.log(rate / (1 - rate)))),
            name="fault",
        ),
    ]
)
model.compile(
    optimizer=keras.optimizers.Adam(1e-3),
    loss="binary_crossentropy",
    metrics=[keras.metrics.AUC(name="auc")],
)
gradwatch.watch(model)
history = model.fit(
    x,
    fault,
    batch_size=128,
    epochs=8,
    class_weight={0: 1.0, 1: 10.0},
    verbose=0,
)
print("auc", [round(v, 3) for v in history.history["auc"]])

prob = model.predict(x_test, verbose=0)[:, 0]
print("SCORE", float(roc_auc_score(fault_test, prob)))
