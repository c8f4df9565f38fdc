import os

import keras
import numpy as np
from sklearn.metrics import roc_auc_score

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

STEPS = 24


def make_runs(n):
    alarm = rng.random(n) < 0.02
    vibration = rng.normal(0, 1, (n, STEPS, 2))
    onset = rng.integers(4, 16, n)
    ramp = np.maximum(np.arange(STEPS)[None] - onset[:, None], 0) * 0.25
    vibration[..., 0] += np.where(alarm[:, None], ramp, 0.0)
    vibration[..., 1] -= np.where(alarm[:, None], 0.5 * ramp, 0.0)
    return vibration.astype("float32"), alarm.astype("float32")[:, None]


x_train, y_train = make_runs(10000)
x_test, y_test = make_runs(5000)
base_rate = float(y_train.mean())


class PumpModel(keras.Model):
    def __init__(self):
        super().__init__()
        self.conv = keras.layers.Conv1D(16, 5, activation="relu", name="vibration")
        self.pool = keras.layers.GlobalMaxPooling1D()
        self.hidden = keras.layers.Dense(16, activation="relu", name="wear")
        self.out = keras.layers.Dense(
            1,
            activation="sigmoid",
            bias_initializer=keras.initializers.Constant(float(np.log(base_rate / (1 - base_rate)))),
            name="alarm",
        )

    def call(self, x):
        return self.out(self.hidden(self.pool(self.conv(x))))


model = PumpModel()
model(x_train[:1])
model.compile(
    optimizer=keras.optimizers.Adam(2e-3),
    loss=keras.losses.BinaryFocalCrossentropy(gamma=2.0),
    metrics=[keras.metrics.AUC(curve="PR", name="pr")],
)
gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=128, epochs=8, verbose=2)

p = model.predict(x_test, verbose=0)[:, 0]
print("SCORE", roc_auc_score(y_test[:, 0], p))
