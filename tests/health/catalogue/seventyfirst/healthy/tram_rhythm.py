import os

import keras
import numpy as np
from keras import layers
from sklearn.metrics import r2_score

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 100)

STEPS = 20
BATCH = 50
EPOCHS = 16


def ride(n):
    speed = np.cumsum(rng.normal(0, 0.5, (n, STEPS)), axis=1)
    load = rng.uniform(0, 1, (n, STEPS))
    target = 0.6 * speed[:, -1] + 0.8 * (load * np.tanh(speed)).mean(axis=1)
    target = target + rng.normal(0, 0.1, n)
    x = np.stack([speed / 2.0, load], axis=-1)
    return x.astype("float32"), target.astype("float32")


def build_model():
    return keras.Sequential(
        [
            keras.Input((STEPS, 2)),
            layers.GRU(20, name="rhythm"),
            layers.Dense(16, activation="relu", name="mix"),
            layers.Dense(1, name="delay"),
        ]
    )


train_x, train_y = ride(2500)
test_x, test_y = ride(800)

steps = EPOCHS * len(train_x) // BATCH
schedule = keras.optimizers.schedules.CosineDecayRestarts(
    initial_learning_rate=2e-2, first_decay_steps=steps // 4, t_mul=1.0, m_mul=0.9
)
model = build_model()
model.compile(
    optimizer=keras.optimizers.Adam(schedule, clipnorm=5.0),
    loss="mse",
    metrics=["mae"],
)
gradwatch.watch(model)
model.fit(
    train_x,
    train_y,
    batch_size=BATCH,
    epochs=EPOCHS,
    validation_data=(test_x, test_y),
    verbose=2,
)
predicted = model.predict(test_x, verbose=0)[:, 0]
print("SCORE", round(float(r2_score(test_y, predicted)), 4))
