"""Which bell opened the melody? A GRU reads melodies of different length, padded with zeros at the end."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

BELLS, LONGEST, SHORTEST, KEYS = 24, 22, 12, 6
COUNT = 9600


def melodies(n):
    """Random melodies; the key of the carillon is set by its opening bell."""
    notes = rng.integers(1, BELLS + 1, size=(n, LONGEST))
    length = rng.integers(SHORTEST, LONGEST + 1, n)
    key = notes[:, 0] % KEYS
    notes[np.arange(LONGEST)[None, :] >= length[:, None]] = 0
    return notes.astype("int32"), key.astype("int32")


x_train, y_train = melodies(COUNT)
x_val, y_val = melodies(600)
x_test, y_test = melodies(1500)

inputs = keras.Input((LONGEST,), dtype="int32")
h = layers.Embedding(BELLS + 1, 16, mask_zero=True)(inputs)
h = layers.GRU(40)(h)
outputs = layers.Dense(KEYS, activation="softmax")(h)
model = keras.Model(inputs, outputs, name="carillon")

model.compile(
    optimizer=keras.optimizers.Adam(learning_rate=3e-3, clipnorm=1.0),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)
gradwatch.watch(model)

model.fit(x_train, y_train, batch_size=64, epochs=14, validation_data=(x_val, y_val), verbose=2)

_, accuracy = model.evaluate(x_test, y_test, verbose=0)

guess = model.predict(x_test, batch_size=500, verbose=0).argmax(1)
lengths = (x_test > 0).sum(1)
for low, high in [(12, 14), (15, 17), (18, 20), (21, 22)]:
    chosen = (lengths >= low) & (lengths <= high)
    print(f"melodies of {low}-{high} notes: {np.mean(guess[chosen] == y_test[chosen]):.3f}  ({chosen.sum()})")

print("melodies tested:", len(x_test))
print("SCORE accuracy", round(float(accuracy), 4))
