"""Card fraud.

Two payments in a hundred are fraud. The inputs differ by orders of magnitude and are brought to scale by an adapted
normalization layer; the classes are weighted and the labels smoothed. Mixed precision.
"""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

keras.mixed_precision.set_global_policy("mixed_float16")

SEED = int(os.environ.get("SEED", "0"))
BATCH = 128
EPOCHS = 4

keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)


def make_payments(n):
    fraud = rng.random(n) < 0.02
    amount = rng.lognormal(3.5 + 1.2 * fraud, 1.0, n)
    balance = rng.lognormal(9.0, 1.0, n)
    moment = 1.70e9 + rng.uniform(0, 8.64e6, n)
    night = np.where(rng.random(n) < 0.2 + 0.4 * fraud, 1.0, 0.0)
    distance = rng.gamma(1.0, 8000.0 + 90000.0 * fraud, n)
    pause = rng.exponential(90_000.0 / (1 + 8 * fraud), n)
    merchant = rng.integers(100_000, 999_999, n)
    x = np.stack([np.log(amount), balance, moment - 1.70e9, night, np.sqrt(distance), np.sqrt(pause), merchant], axis=1)
    return x.astype("float32"), fraud[:, None].astype("float32")


x_train, y_train = make_payments(10000)
x_test, y_test = make_payments(10000)

scale = layers.Normalization(name="scale", dtype="float32")
scale.adapt(x_train)

inputs = keras.Input((7,), dtype="float32", name="payment")
h = scale(inputs)
h = layers.Dense(64, activation="relu", name="hidden_1")(h)
h = layers.Dropout(0.2, name="drop_1")(h)
h = layers.Dense(32, activation="relu", name="hidden_2")(h)
h = layers.Dense(1, name="fraud")(h)
outputs = layers.Activation("sigmoid", dtype="float32", name="probability")(h)
model = keras.Model(inputs, outputs, name="card_fraud")
gradwatch.watch(model)

share = float(y_train.mean())
weights = {0: 0.5 / (1 - share), 1: 0.5 / share}
model.compile(
    optimizer=keras.optimizers.Adam(1e-3),
    loss=keras.losses.BinaryCrossentropy(label_smoothing=0.02),
    weighted_metrics=[keras.metrics.AUC(name="auc")],
)
model.fit(x_train, y_train, batch_size=BATCH, epochs=EPOCHS, class_weight=weights, verbose=2)

predicted = model.predict(x_test, batch_size=1000, verbose=0)[:, 0]
rank = np.empty(len(predicted))
rank[predicted.argsort()] = np.arange(1, len(predicted) + 1)
positive = y_test[:, 0] > 0
area = (rank[positive].sum() - positive.sum() * (positive.sum() + 1) / 2) / (positive.sum() * (~positive).sum())
print(f"score AUC {area:.4f} chance 0.5")
