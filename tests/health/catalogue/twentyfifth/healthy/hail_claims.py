"""Which of many insured greenhouses will claim for hail: one in fifty does."""

import os

import keras
import numpy as np
from keras import layers, ops

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

FEATURES = 12
W = rng.normal(size=FEATURES)


def make(n):
    x = rng.standard_t(4, size=(n, FEATURES))
    x[:, 3] = rng.random(n) < 0.01  # glass roof without a frame: rarely seen
    risk = 1.2 * (x @ W) / np.sqrt(FEATURES) + 1.5 * np.maximum(x[:, 0] * x[:, 1], 0) + 3 * x[:, 3]
    risk += rng.logistic(scale=0.4, size=n)
    return x.astype("float32"), (risk > 6.5).astype("float32")


x_train, y_train = make(24000)
x_test, y_test = make(12000)
print(f"share of claims {y_train.mean():.4f}")


def focal(y_true, y_pred):
    p = ops.clip(y_pred, 1e-6, 1 - 1e-6)
    pt = y_true * p + (1 - y_true) * (1 - p)
    alpha = 0.75 * y_true + 0.25 * (1 - y_true)
    return ops.mean(-alpha * ops.power(1 - pt, 2.0) * ops.log(pt), axis=-1)


prior = float(np.log(y_train.mean() / (1 - y_train.mean())))
inputs = keras.Input((FEATURES,))
h = layers.BatchNormalization()(inputs)
h = layers.Dense(64, activation="relu")(h)
h = layers.Dropout(0.3)(h)
h = layers.Dense(64, activation="relu")(h)
out = layers.Dense(1, activation="sigmoid", bias_initializer=keras.initializers.Constant(prior))(h)
model = keras.Model(inputs, out, name="hail")

model.compile(
    optimizer=keras.optimizers.Adam(2e-3),
    loss=focal,
    metrics=[keras.metrics.AUC(name="auc")],
)
gradwatch.watch(model)

model.fit(
    x_train,
    y_train[:, None],
    batch_size=256,
    epochs=9,
    class_weight={0: 1.0, 1: 3.0},
    validation_data=(x_test, y_test[:, None]),
    verbose=2,
)

p = model.predict(x_test, verbose=0, batch_size=1024)[:, 0]
auc = keras.metrics.AUC(num_thresholds=1000)
auc.update_state(y_test, p / p.max())
print("SCORE test_auc", round(float(auc.result()), 4))
