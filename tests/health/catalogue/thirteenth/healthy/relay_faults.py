"""Learn which three relays of a signal box together decide whether a route locks.

The route locks when an odd number of three (unknown) relays out of 30 are closed, so no
single relay and no pair says anything about it.  A network sees no slope at first: the
loss rests on its starting level for long, then drops once the three stand out.  Hinge
loss, so most samples give no gradient by the end; a few logged locks are wrong.
"""

import os

import keras
import numpy as np

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

RELAYS, BATCH, STEPS_PER_EPOCH, EPOCHS = 30, 128, 100, 13


def logged_states(n, wired, wrong=0.0):
    """Relay positions as -1 / +1 and the lock as -1 / +1, some of them logged wrongly."""
    states = rng.choice([-1.0, 1.0], size=(n, RELAYS)).astype("float32")
    locks = np.prod(states[:, wired], axis=1, keepdims=True).astype("float32")
    locks = np.where(rng.random((n, 1)) < wrong, -locks, locks)
    return states, locks


def build():
    return keras.Sequential(
        [
            keras.Input((RELAYS,), name="relays"),
            keras.layers.Dense(
                192, activation="relu", name="patterns", bias_initializer=keras.initializers.RandomUniform(-0.5, 0.5)
            ),
            keras.layers.Dense(1, name="lock"),
        ],
        name="lock_logic",
    )


def main():
    wired = rng.choice(RELAYS, 3, replace=False)
    states, locks = logged_states(BATCH * STEPS_PER_EPOCH, wired, wrong=0.03)
    test_states, test_locks = logged_states(4000, wired)

    model = build()
    model.compile(
        optimizer=keras.optimizers.SGD(0.008, momentum=0.9, nesterov=True, weight_decay=1e-3),
        loss="hinge",
        jit_compile=True,
    )
    gradwatch.watch(model)
    model.fit(states, locks, batch_size=BATCH, epochs=EPOCHS, verbose=0)

    margin = model.predict(test_states, batch_size=1000, verbose=0)
    accuracy = np.mean(np.sign(margin) == test_locks)
    importance = np.linalg.norm(model.get_layer("patterns").get_weights()[0], axis=1)
    print("wired:", sorted(wired.tolist()), "found:", sorted(np.argsort(-importance)[:3].tolist()))
    print(f"score lock_accuracy {accuracy:.4f} chance 0.5")


if __name__ == "__main__":
    main()
