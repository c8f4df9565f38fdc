import os

import keras
import numpy as np
from keras import layers
from sklearn.metrics import r2_score

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 100)

STEPS = 40
CHANNELS = 3


def make_nights(n):
    pulses = rng.normal(0.0, 1.0, (n, STEPS, CHANNELS))
    rate = rng.uniform(0.05, 0.35, n)
    for i in range(n):
        hits = rng.random(STEPS) < rate[i]
        pulses[i, hits, 0] += 2.5
        pulses[i, hits, 1] -= 1.5
    return pulses.astype("float32"), (rate * 10.0 - 2.0).astype("float32")


def build_regressor():
    return keras.Sequential(
        [
            keras.Input((STEPS, CHANNELS)),
            layers.Conv1D(24, 3, padding="same", activation="relu", name="local"),
            layers.Conv1D(24, 3, padding="same", activation="relu", name="context"),
            layers.GlobalAveragePooling1D(),
            layers.Dense(24, activation="relu", name="blend"),
            layers.Dense(1, name="index"),
        ]
    )


def main():
    train_x, train_y = make_nights(2500)
    test_x, test_y = make_nights(800)

    model = build_regressor()
    model.compile(
        optimizer=keras.optimizers.Adam(2e-3),
        loss="mse",
        metrics=["mae"],
    )
    gradwatch.watch(model)
    model.fit(
        train_x,
        train_y,
        batch_size=50,
        epochs=10,
        validation_split=0.1,
        verbose=2,
    )
    predicted = model.predict(test_x, verbose=0).reshape(len(test_x), -1)[:, -1]
    print("SCORE", round(float(r2_score(test_y, predicted)), 4))


main()
