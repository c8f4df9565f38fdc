import os

import keras
import numpy as np
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))


def load(n=3000, atoms=40, dim=36):
    rng = np.random.default_rng(45)
    dictionary = rng.normal(0, 1, (atoms, dim))
    dictionary /= np.linalg.norm(dictionary, axis=1, keepdims=True)
    use = (rng.random((n, atoms)) < 0.06) * rng.uniform(1, 2.5, (n, atoms))
    return (use @ dictionary + rng.normal(0, 0.02, (n, dim))).astype("float32")


def main():
    keras.utils.set_random_seed(SEED)
    x = load()
    inp = keras.Input((36,))
    code = layers.Dense(
        128,
        activation="relu",
        activity_regularizer=keras.regularizers.L1(2e-3),
        bias_initializer=keras.initializers.Constant(-0.1),
        name="code",
    )(inp)
    out = layers.Dense(36, name="rebuild")(code)
    model = keras.Model(inp, out)
    model.compile(optimizer=keras.optimizers.Adam(2e-3), loss="mse")
    gradwatch.watch(model)
    model.fit(x, x, batch_size=50, epochs=15, verbose=2)


if __name__ == "__main__":
    main()
