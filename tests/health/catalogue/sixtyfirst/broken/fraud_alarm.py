import os

import keras
import numpy as np
from sklearn.metrics import balanced_accuracy_score

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)


def make_payments(n):
    fraud = rng.random(n) < 0.05
    amount = rng.lognormal(3.5, 1.0, n) * np.where(fraud, 2.5, 1.0)
    hour = np.where(fraud, rng.normal(3, 2.5, n), rng.normal(14, 5, n)) % 24
    distance = rng.exponential(10, n) * np.where(fraud, 3.0, 1.0)
    velocity = rng.poisson(np.where(fraud, 3.5, 1.0))
    table = np.stack(
        [np.log(amount), np.sin(hour * np.pi / 12), np.cos(hour * np.pi / 12), np.log1p(distance), velocity],
        axis=1,
    )
    return table.astype("float32"), fraud.astype("float32")


x_train, y_train = make_payments(8000)
x_test, y_test = make_payments(4000)

normalise = keras.layers.Normalization(name="normalise")
normalise.adapt(x_train)

model = keras.Sequential(
    [
        keras.Input((5,)),
        normalise,
        keras.layers.Dense(32, activation="relu", name="payment"),
        keras.layers.Dense(16, activation="relu", name="pattern"),
        keras.layers.Dense(1, activation="sigmoid", name="fraud"),
    ]
)
model.compile(
    optimizer=keras.optimizers.Adam(1e-3),
    loss="binary_crossentropy",
    metrics=[keras.metrics.Recall(name="recall"), keras.metrics.Precision(name="precision")],
)
gradwatch.watch(model)

share = float(y_train.mean())
class_weight = {0: 0.5 / share, 1: 0.5 / (1.0 - share)}
model.fit(
    x_train,
    y_train,
    batch_size=128,
    epochs=8,
    class_weight=class_weight,
    verbose=2,
)

p = model.predict(x_test, verbose=0)[:, 0]
print("SCORE", balanced_accuracy_score(y_test, p > 0.5))
