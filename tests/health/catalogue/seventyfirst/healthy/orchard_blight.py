import os

import keras
import numpy as np
from keras import layers
from sklearn.metrics import roc_auc_score

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 100)

SHARE = 0.015
BATCH = 128
EPOCHS = 12


def survey(n):
    leaf = rng.normal(0, 1, (n, 10))
    sick = (rng.random(n) < SHARE).astype("int32")
    shift = np.zeros(10)
    shift[:4] = [1.3, -1.1, 1.0, 0.8]
    leaf += sick[:, None] * shift
    leaf[:, 7] += sick * leaf[:, 8]
    return leaf.astype("float32"), sick


train_x, train_y = survey(12000)
test_x, test_y = survey(6000)
weights = {0: 0.5 / (1.0 - SHARE), 1: 0.5 / SHARE}

model = keras.Sequential(
    [
        keras.Input((10,)),
        layers.Dense(24, activation="relu", name="leaf"),
        layers.Dense(12, activation="relu", name="branch"),
        layers.Dense(1, activation="sigmoid", name="blight"),
    ]
)
model.compile(
    optimizer=keras.optimizers.Adam(1e-3),
    loss="binary_crossentropy",
    metrics=[keras.metrics.AUC(name="auc")],
)
gradwatch.watch(model)
model.fit(
    train_x,
    train_y,
    batch_size=BATCH,
    epochs=EPOCHS,
    class_weight=weights,
    validation_data=(test_x, test_y),
    verbose=2,
)
chance = model.predict(test_x, batch_size=512, verbose=0)[:, 0]
print("SCORE", round(float(roc_auc_score(test_y, chance)), 4))
