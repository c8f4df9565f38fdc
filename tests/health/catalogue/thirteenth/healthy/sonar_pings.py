"""Tell apart four kinds of sea bed from sonar echoes, in half precision.

The network is to run on a float16 accelerator, so it is trained under mixed_float16.
The loss scale starts far too high on purpose (2^24) and finds its level by itself: the
first steps overflow, are skipped, and halve the scale.  Growth is allowed again every 200
good steps, so now and then one more step is skipped.
"""

import os

import keras
import numpy as np

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)
keras.mixed_precision.set_global_policy("mixed_float16")

LENGTH, KINDS = 64, 4


def make_echoes(n):
    """Mud, sand, gravel, rock: later, sharper and rougher echoes in a noisy trace."""
    kind = rng.integers(0, KINDS, n)
    t = np.arange(LENGTH)[None, :]
    start = rng.integers(8, 30, n)[:, None]
    decay = np.array([12.0, 7.0, 5.0, 3.0])[kind][:, None]
    pitch = np.array([0.5, 0.8, 1.3, 1.8])[kind][:, None]
    envelope = np.where(t >= start, np.exp(-(t - start) / decay), 0.0)
    ring = np.sin(pitch * (t - start) + rng.uniform(0, 2 * np.pi, (n, 1)))
    trace = 2.2 * envelope * ring * rng.uniform(0.6, 1.2, (n, 1)) + 0.35 * rng.normal(size=(n, LENGTH))
    return trace.astype("float32")[..., None], kind


def build():
    trace = keras.Input((LENGTH, 1), name="trace")
    x = keras.layers.Conv1D(16, 9, padding="same", activation="swish", name="matched_filters")(trace)
    x = keras.layers.MaxPooling1D(2)(x)
    x = keras.layers.Conv1D(24, 5, padding="same", activation="swish", name="echo_shapes")(x)
    x = keras.layers.GlobalMaxPooling1D()(x)
    x = keras.layers.Dense(32, activation="swish", name="summary")(x)
    # Probabilities and loss in float32, as half-precision softmax loses the tails.
    kind = keras.layers.Dense(KINDS, activation="softmax", dtype="float32", name="sea_bed")(x)
    return keras.Model(trace, kind, name="sonar_classifier")


def main():
    echoes, kind = make_echoes(3200)
    test_echoes, test_kind = make_echoes(1000)
    model = build()
    inner = keras.optimizers.RMSprop(2e-3)
    optimizer = keras.optimizers.LossScaleOptimizer(inner, initial_scale=2.0**24, dynamic_growth_steps=200)
    model.compile(optimizer=optimizer, loss="sparse_categorical_crossentropy", metrics=["accuracy"])
    gradwatch.watch(model)
    model.fit(echoes, kind, batch_size=64, epochs=12, verbose=0)

    print("scale at the end:", float(optimizer.dynamic_scale), "steps done:", int(inner.iterations))
    accuracy = np.mean(model.predict(test_echoes, verbose=0).argmax(-1) == test_kind)
    print(f"score sea_bed_accuracy {accuracy:.4f} chance {1 / KINDS}")


if __name__ == "__main__":
    main()
