"""Tell from the alarm log of a packing machine whether the shift ends in a stoppage.

A log is a short list of alarm codes (6 to 20 in a shift; the format allows 120). The
supervisor is warned when a stoppage is likely. Judged by accuracy on later shifts.
"""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

CODES, MAX_ALARMS = 30, 120
BATCH, EPOCHS = 64, 5


def shifts(n):
    """A jam code that is not followed by a reset code leads to a stoppage."""
    jam, reset = {3, 7, 11}, {5, 9}
    logs, stopped = [], []
    for _ in range(n):
        length = rng.integers(6, 21)
        log = rng.integers(1, CODES + 1, length)
        want = rng.random() < 0.5
        spot = rng.integers(0, length - 2)
        log[spot] = rng.choice(sorted(jam))
        if not want:
            log[rng.integers(spot + 1, length)] = rng.choice(sorted(reset))
        is_open = False
        for code in log:
            if code in jam:
                is_open = True
            elif code in reset:
                is_open = False
        logs.append(log)
        stopped.append(float(is_open))
    return logs, np.array(stopped, "float32")


def to_matrix(logs):
    return keras.utils.pad_sequences(logs, maxlen=MAX_ALARMS, padding="post", dtype="int32")


def build():
    codes = keras.Input((MAX_ALARMS,), dtype="int32", name="codes")
    x = layers.Embedding(CODES + 1, 16, name="code_embedding")(codes)
    x = layers.GRU(32, name="reader")(x)
    x = layers.Dense(16, activation="relu", name="head")(x)
    out = layers.Dense(1, activation="sigmoid", name="stoppage")(x)
    return keras.Model(codes, out)


train_logs, y_train = shifts(5000)
test_logs, y_test = shifts(1500)
x_train, x_test = to_matrix(train_logs), to_matrix(test_logs)

model = build()
model.compile(optimizer=keras.optimizers.Adam(5e-3), loss="binary_crossentropy", metrics=["accuracy"])
gradwatch.watch(model)
history = model.fit(x_train, y_train, batch_size=BATCH, epochs=EPOCHS, verbose=0)
print("accuracy by epoch", np.round(history.history["accuracy"], 3))

guess = max(y_test.mean(), 1 - y_test.mean())
predicted = model.predict(x_test, batch_size=256, verbose=0)[:, 0] > 0.5
print(f"score accuracy {np.mean(predicted == (y_test > 0.5)):.3f} chance {guess:.3f}")
