"""Reads sequences of symbols out of unsegmented spectrogram-like frames by a bidirectional GRU with CTC loss."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

# At most 2 + 6 * (7 + 1) = 50 frames are needed; after the stride of 2 there are 26 for at most 11 CTC states.
N_SYM, BANDS, FRAMES, MAX_LEN = 6, 12, 52, 6  # class 0 is the blank, symbols are 1..N_SYM
templates = np.random.default_rng(7).normal(0, 1, (N_SYM + 1, 2, BANDS))  # onset and offset spectrum of every symbol


def make(n):
    x = rng.normal(0, 0.7, (n, FRAMES, BANDS))
    y = np.zeros((n, MAX_LEN), "int32")
    lengths = rng.integers(3, MAX_LEN + 1, n)
    for i in range(n):
        y[i, : lengths[i]] = rng.integers(1, N_SYM + 1, lengths[i])
        pos = rng.integers(0, 3)
        for k in y[i, : lengths[i]]:
            dur = rng.integers(4, 8)
            ramp = np.linspace(0, 1, dur)[:, None]
            stretch = (1 - ramp) * templates[k, 0] + ramp * templates[k, 1]
            x[i, pos : pos + dur] += rng.uniform(0.8, 1.2) * stretch
            pos += dur + rng.integers(0, 2)
    return x.astype("float32"), y, lengths


x_train, y_train, _ = make(4000)
x_val, y_val, _ = make(300)
x_test, y_test, len_test = make(500)

mean, std = x_train.mean((0, 1)), x_train.std((0, 1))
x_train, x_val, x_test = ((a - mean) / std for a in (x_train, x_val, x_test))

inp = keras.Input((FRAMES, BANDS))
h = layers.Conv1D(48, 5, strides=2, padding="same", activation="relu")(inp)
h = layers.Bidirectional(layers.GRU(32, return_sequences=True))(h)
h = layers.Dropout(0.2)(h)
logits = layers.Dense(N_SYM + 1)(h)
model = keras.Model(inp, logits)
gradwatch.watch(model)

# keras' CTC loss takes 0 both as the blank and as the padding of the labels.
model.compile(optimizer=keras.optimizers.Adam(3e-3, clipnorm=5.0), loss=keras.losses.CTC())


def decode(logits):
    """Greedy decoding: merge repeats, drop blanks."""
    out = []
    for path in logits.argmax(-1):
        merged = path[np.insert(path[1:] != path[:-1], 0, True)]
        out.append(merged[merged != 0].tolist())
    return out


def edit_distance(a, b):
    row = list(range(len(b) + 1))
    for i, ca in enumerate(a, 1):
        prev, row[0] = row[0], i
        for j, cb in enumerate(b, 1):
            prev, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, prev + (ca != cb))
    return row[-1]


def error_rate(guesses):
    dist = sum(edit_distance(g, y_test[i, : len_test[i]].tolist()) for i, g in enumerate(guesses))
    return dist / len_test.sum()


model.fit(
    x_train,
    y_train,
    validation_data=(x_val, y_val),
    batch_size=64,
    epochs=8,
    verbose=2,
    callbacks=[keras.callbacks.ReduceLROnPlateau("val_loss", factor=0.5, patience=2)],
)

random_guess = [rng.integers(1, N_SYM + 1, rng.integers(3, MAX_LEN + 1)).tolist() for _ in len_test]
print("BASELINE symbol_error_rate (random sequences)", round(float(error_rate(random_guess)), 4))
print("SCORE symbol_error_rate", round(float(error_rate(decode(model.predict(x_test, verbose=0)))), 4))
