"""Sort returned battery cells into five fault groups from their bench measurements.

The service centre measures 32 quantities per cell (impedance sweep, capacity, self-discharge)
and sends each cell to the line for its fault. Accuracy on a second lot of cells is reported.
"""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

N_GROUPS, N_MEAS = 5, 32
BATCH, EPOCHS = 64, 10


class Bench:
    """The measuring bench: each fault moves the measurements in its own, nonlinear way."""

    def __init__(self):
        self.centres = rng.normal(0, 1.0, (N_GROUPS, 2, 6))
        self.mix = rng.normal(0, 1.0, (6, N_MEAS))
        self.gain = rng.uniform(0.5, 20.0, N_MEAS)
        self.offset = rng.normal(0, 30.0, N_MEAS)

    def measure(self, n):
        group = rng.integers(0, N_GROUPS, n)
        mode = rng.integers(0, 2, n)
        latent = 1.3 * self.centres[group, mode] + rng.normal(0, 0.4, (n, 6))
        raw = np.tanh(latent @ self.mix) + rng.normal(0, 0.1, (n, N_MEAS))
        return (raw * self.gain + self.offset).astype("float32"), group.astype("int32")


def build(x):
    norm = layers.Normalization()
    norm.adapt(x)
    return keras.Sequential(
        [
            keras.Input((N_MEAS,)),
            norm,
            layers.Dense(64, activation="relu", name="features"),
            layers.Dense(64, activation="relu", name="features_2"),
            layers.Dense(N_GROUPS, name="fault"),
        ]
    )


bench = Bench()
x_train, y_train = bench.measure(6000)
x_test, y_test = bench.measure(2000)

model = build(x_train)
# weight averaging steadies the result from one lot to the next
optimizer = keras.optimizers.Adam(
    learning_rate=1e-3,
    use_ema=True,
    ema_momentum=0.999,
    ema_overwrite_frequency=1,
)
model.compile(
    optimizer=optimizer,
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
    jit_compile=True,
)
gradwatch.watch(model)
history = model.fit(x_train, y_train, batch_size=BATCH, epochs=EPOCHS, verbose=0)
print("training loss by epoch", np.round(history.history["loss"], 3))

optimizer.finalize_variable_values(model.trainable_variables)
predicted = model.predict(x_test, verbose=0).argmax(1)
print(f"score accuracy {np.mean(predicted == y_test):.3f} chance {1 / N_GROUPS:.3f}")
