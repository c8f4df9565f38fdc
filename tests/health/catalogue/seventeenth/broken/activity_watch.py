"""Six activities from a wrist accelerometer."""

import numpy as np
from tensorflow import keras
from tensorflow.keras import layers

import gradwatch

keras.utils.set_random_seed(8)

EPOCHS = 40
BATCH = 64
WINDOW = 80


def record(n, seed):
    r = np.random.default_rng(seed)
    label = r.integers(0, 6, n)
    base = np.array([0.0, 0.0, 1.7, 2.1, 2.7, 1.9])[label] * r.normal(1, 0.06, n)
    power = np.array([0.03, 0.06, 0.5, 0.55, 1.0, 0.5])[label] * r.uniform(0.7, 1.3, n)
    second = np.array([0.0, 0.0, 0.3, 0.9, 0.5, 0.25])[label]
    tilt = np.array([0.1, 1.3, 0.3, 0.3, 0.3, 0.95])[label] + r.normal(0, 0.2, n)
    time = np.arange(WINDOW) / 20.0
    phase = r.uniform(0, 2 * np.pi, (n, 1))
    swing = np.sin(2 * np.pi * base[:, None] * time + phase) + second[:, None] * np.sin(
        4 * np.pi * base[:, None] * time + 2 * phase
    )
    swing = power[:, None] * swing
    noise = r.normal(0, 0.25, (n, WINDOW, 3))
    x = (
        np.stack([np.sin(tilt)[:, None] + swing, 0.4 * np.roll(swing, 3, 1), np.cos(tilt)[:, None] + 0.6 * swing], -1)
        + noise
    )
    return x.astype("float32"), label.astype("int64")


def network():
    return keras.Sequential(
        [
            layers.Input((WINDOW, 3)),
            layers.Conv1D(24, 7, padding="same", activation="relu"),
            layers.MaxPooling1D(2),
            layers.Conv1D(48, 5, padding="same", activation="relu"),
            layers.MaxPooling1D(2),
            layers.Conv1D(48, 5, padding="same", activation="relu"),
            layers.GlobalAveragePooling1D(),
            layers.Dense(48, activation="relu"),
            layers.Dense(6),
        ]
    )


def main():
    x, y = record(4800, 1)
    x_test, y_test = record(1500, 2)
    per_epoch = int(np.ceil(len(x) / BATCH))
    print(f"{per_epoch} batches in each of {EPOCHS} epochs")

    rate = keras.optimizers.schedules.CosineDecay(
        initial_learning_rate=2e-4,
        warmup_target=2e-3,
        warmup_steps=2,
        decay_steps=EPOCHS - 2,
    )
    model = network()
    model.compile(
        optimizer=keras.optimizers.Adam(rate),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    gradwatch.watch(model)
    history = model.fit(x, y, batch_size=BATCH, epochs=EPOCHS, verbose=2)
    _, accuracy = model.evaluate(x_test, y_test, batch_size=500, verbose=0)
    print(f"loss {history.history['loss'][-1]:.4f}  held-out accuracy {accuracy:.4f}")


if __name__ == "__main__":
    main()
