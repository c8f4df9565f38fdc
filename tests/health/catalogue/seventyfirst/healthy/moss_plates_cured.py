import os

import keras
import numpy as np
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 100)

SIDE = 16
CLASSES = 4
TRAIN = 2400
BATCH = 48
EPOCHS = 12
STEPS_PER_EPOCH = TRAIN // BATCH


def grow_plates(n):
    yy, xx = np.mgrid[0:SIDE, 0:SIDE]
    label = rng.integers(0, CLASSES, n)
    phase = rng.uniform(0, 2 * np.pi, (n, 1, 1))
    waves = [xx, yy, xx + yy, xx - yy]
    plates = np.zeros((n, SIDE, SIDE))
    for k, wave in enumerate(waves):
        rows = label == k
        plates[rows] = 0.5 * np.sin(0.9 * wave[None] + phase[rows])
    plates += rng.normal(0, 0.6, plates.shape)
    return plates[..., None].astype("float32"), label


def build_classifier():
    model = keras.Sequential(
        [
            keras.Input((SIDE, SIDE, 1)),
            layers.Conv2D(12, 5, activation="relu", name="texture"),
            layers.MaxPooling2D(),
            layers.Conv2D(24, 3, activation="relu", name="motif"),
            layers.GlobalAveragePooling2D(),
            layers.Dense(CLASSES, name="species"),
        ]
    )
    schedule = keras.optimizers.schedules.CosineDecay(
        initial_learning_rate=3e-3, decay_steps=EPOCHS * STEPS_PER_EPOCH, alpha=0.0005
    )
    model.compile(
        optimizer=keras.optimizers.Adam(schedule),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    return model


train_x, train_y = grow_plates(TRAIN)
test_x, test_y = grow_plates(800)

model = build_classifier()
gradwatch.watch(model)
model.fit(
    train_x,
    train_y,
    batch_size=BATCH,
    epochs=EPOCHS,
    validation_data=(test_x, test_y),
    verbose=2,
)
_, accuracy = model.evaluate(test_x, test_y, verbose=0)
print("SCORE", round(float(accuracy), 4))
