import os

import keras
import numpy as np
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))


def load(n=2000, classes=10):
    rng = np.random.default_rng(55)
    proto = rng.normal(0, 1, (classes, 64))
    y = rng.integers(0, classes, n)
    x = proto[y] + rng.normal(0, 1.6, (n, 64))
    return x.astype("float32"), y.astype("int32")


def main():
    keras.utils.set_random_seed(SEED)
    x, y = load()
    keras.mixed_precision.set_global_policy("mixed_float16")
    model = keras.Sequential(
        [
            layers.Input((64,)),
            layers.Dense(96, activation="relu", name="h1"),
            layers.BatchNormalization(name="bn1"),
            layers.Dense(48, activation="relu", name="h2"),
            layers.Dense(10, dtype="float32", name="logits"),
        ]
    )
    model.compile(
        optimizer=keras.optimizers.LossScaleOptimizer(
            keras.optimizers.Adam(2e-3), initial_scale=2.0**22, dynamic_growth_steps=60
        ),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    gradwatch.watch(model)
    model.fit(x, y, batch_size=32, epochs=6, verbose=2)
    keras.mixed_precision.set_global_policy("float32")


if __name__ == "__main__":
    main()
