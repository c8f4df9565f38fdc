import os

import keras
import numpy as np
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 100)

VOCAB = 120
MAX_LEN = 120
KIND = 12


def write_notes(n):
    notes, labels = [], []
    for _ in range(n):
        length = rng.integers(8, 22)
        words = rng.integers(1 + 2 * KIND, VOCAB, length)
        warm = rng.integers(0, 2)
        spots = rng.choice(length, 3, replace=False)
        tone = np.array([warm, warm, rng.integers(0, 2)])
        words[spots] = 1 + tone * KIND + rng.integers(0, KIND, 3)
        notes.append(words.tolist())
        labels.append(warm if tone.sum() not in (0, 3) else tone[0])
    return notes, np.array(labels)


def to_matrix(notes):
    return keras.utils.pad_sequences(notes, maxlen=MAX_LEN, padding="post")


def build_model():
    model = keras.Sequential(
        [
            keras.Input((MAX_LEN,), dtype="int32"),
            layers.Embedding(VOCAB, 16, name="words"),
            layers.LSTM(16, name="reader"),
            layers.Dense(1, activation="sigmoid", name="tone"),
        ]
    )
    model.compile(
        optimizer=keras.optimizers.Adam(5e-3),
        loss="binary_crossentropy",
        metrics=["accuracy"],
    )
    return model


def main():
    train_notes, train_y = write_notes(1600)
    test_notes, test_y = write_notes(600)
    train_x = to_matrix(train_notes)
    test_x = to_matrix(test_notes)

    model = build_model()
    gradwatch.watch(model)
    model.fit(
        train_x,
        train_y,
        batch_size=64,
        epochs=9,
        validation_data=(test_x, test_y),
        verbose=2,
    )
    _, accuracy = model.evaluate(test_x, test_y, verbose=0)
    print("SCORE", round(float(accuracy), 4))


main()
