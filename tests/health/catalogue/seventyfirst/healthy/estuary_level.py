import os

import keras
import numpy as np
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 100)

BATCH = 32
EPOCHS = 15


def gauge(n):
    tide = rng.uniform(-1, 1, n)
    rain = rng.gamma(1.5, 1.0, n)
    wind = rng.normal(0, 1, n)
    surge = rng.normal(0, 1, (n, 3))
    level = 12 * tide + 4 * np.sqrt(rain) + 3 * wind * tide + 2 * surge[:, 0]
    gust = rng.standard_t(3, n) * 12.0
    x = np.column_stack([tide, rain, wind, surge]).astype("float32")
    return x, (level + gust).astype("float32"), level


def build_model():
    inputs = keras.Input((6,))
    x = layers.Dense(24, activation="relu", name="channel")(inputs)
    x = layers.Dense(12, activation="relu", name="mouth")(x)
    outputs = layers.Dense(1, name="level")(x)
    model = keras.Model(inputs, outputs)
    model.compile(
        optimizer=keras.optimizers.Adam(2e-3),
        loss="mse",
        metrics=["mae"],
    )
    return model


def main():
    train_x, train_y, _ = gauge(6000)
    valid_x, valid_y, _ = gauge(600)
    test_x, _, test_level = gauge(1500)

    model = build_model()
    gradwatch.watch(model)
    model.fit(
        train_x,
        train_y,
        batch_size=BATCH,
        epochs=EPOCHS,
        validation_data=(valid_x, valid_y),
        verbose=2,
    )
    predicted = model.predict(test_x, verbose=0)[:, 0]
    print("SCORE", round(float(np.corrcoef(predicted, test_level)[0, 1]), 4))


main()
