import os

import keras
import numpy as np
from keras import layers
from sklearn.metrics import balanced_accuracy_score

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 100)

LENGTH = 64
FAULT_SHARE = 0.02


def windows(n, share):
    t = np.arange(LENGTH)
    phase = rng.uniform(0, 2 * np.pi, (n, 1))
    signal = np.sin(0.35 * t + phase) + rng.normal(0, 0.6, (n, LENGTH))
    faulty = (rng.random(n) < share).astype("int32")
    ring_phase = rng.uniform(0, 2 * np.pi, (n, 1))
    ring = 0.42 * np.sin(1.9 * t + ring_phase)
    signal += faulty[:, None] * ring
    return signal[..., None].astype("float32"), faulty


def build_detector():
    model = keras.Sequential(
        [
            keras.Input((LENGTH, 1)),
            layers.Conv1D(16, 7, activation="relu", name="filters"),
            layers.MaxPooling1D(2),
            layers.Conv1D(16, 5, activation="relu", name="patterns"),
            layers.GlobalAveragePooling1D(),
            layers.Dense(16, activation="relu", name="merge"),
            layers.Dense(1, activation="sigmoid", name="fault"),
        ]
    )
    model.compile(
        optimizer=keras.optimizers.Adam(3e-3),
        loss="binary_crossentropy",
        metrics=["accuracy"],
    )
    return model


def main():
    train_x, train_y = windows(6000, FAULT_SHARE)
    valid_x, valid_y = windows(1000, FAULT_SHARE)
    test_x, test_y = windows(4000, FAULT_SHARE)

    model = build_detector()
    gradwatch.watch(model)
    model.fit(
        train_x,
        train_y,
        batch_size=64,
        epochs=8,
        class_weight={0: 1.0, 1: 25.0},
        validation_data=(valid_x, valid_y),
        verbose=2,
    )
    flagged = model.predict(test_x, verbose=0)[:, 0] > 0.5
    score = balanced_accuracy_score(test_y, flagged.astype("int32"))
    print("SCORE", round(float(score), 4))


main()
