"""Land cover of small satellite tiles: one .npy file per tile, classes in a csv with one row per tile."""

import glob
import os
import tempfile

import keras
import numpy as np

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)
CLASSES = ["water", "forest", "crop", "town"]


def draw_tile(kind):
    yy, xx = np.mgrid[0:20, 0:20] / 20.0
    base = rng.normal(0.0, 0.25, (20, 20, 3))
    phase = rng.uniform(0, 6.28)
    if kind == 0:
        base[..., 2] += 0.5 + 0.1 * np.sin(6 * xx + phase)
    elif kind == 1:
        base[..., 1] += 0.4 + 0.3 * rng.normal(size=(20, 20))
    elif kind == 2:
        angle = rng.uniform(0, 3.14)
        base[..., 1] += 0.3 + 0.5 * np.sin(25 * (xx * np.cos(angle) + yy * np.sin(angle)) + phase)
    else:
        for _ in range(5):
            r, c = rng.integers(0, 16, 2)
            base[r : r + 4, c : c + 4] += 0.7
    return base.astype("float32")


def export_survey(folder, count):
    kinds = rng.integers(0, len(CLASSES), count)
    for i, kind in enumerate(kinds):
        np.save(os.path.join(folder, f"tile_{i}.npy"), draw_tile(kind))
    np.savetxt(os.path.join(folder, "classes.csv"), kinds, fmt="%d")


def load_survey(folder):
    paths = sorted(glob.glob(os.path.join(folder, "tile_*.npy")))
    tiles = np.stack([np.load(p) for p in paths])
    kinds = np.loadtxt(os.path.join(folder, "classes.csv"), dtype="int32")
    assert len(tiles) == len(kinds)
    return tiles, kinds


with tempfile.TemporaryDirectory() as folder:
    export_survey(folder, 3000)
    tiles, kinds = load_survey(folder)

order = rng.permutation(len(tiles))
tiles, kinds = tiles[order], kinds[order]
x_train, y_train = tiles[:2400], kinds[:2400]
x_test, y_test = tiles[2400:], kinds[2400:]

model = keras.Sequential(
    [
        keras.Input((20, 20, 3)),
        keras.layers.Conv2D(16, 3, padding="same", activation="relu"),
        keras.layers.MaxPooling2D(),
        keras.layers.Conv2D(32, 3, padding="same", activation="relu"),
        keras.layers.GlobalAveragePooling2D(),
        keras.layers.Dense(32, activation="relu"),
        keras.layers.Dropout(0.2),
        keras.layers.Dense(len(CLASSES), activation="softmax"),
    ]
)
model.compile(
    optimizer=keras.optimizers.Adam(2e-3),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)

gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=32, epochs=8, validation_split=0.1, verbose=2)

_, accuracy = model.evaluate(x_test, y_test, verbose=0)
print("SCORE accuracy", round(float(accuracy), 4))
