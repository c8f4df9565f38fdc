"""Tune a drone's hover controller on a simulator that cannot be differentiated.

The simulator has stiction, quantised motor commands and random wind, so gradients of
the flight cost are estimated by evolution strategies: antithetic random changes of all
weights, ranked by their cost, averaged, and handed to the optimizer as if they were
gradients.  No tape, eager, and the estimates are mostly noise at every single step.
"""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

PAIRS, SIGMA, STEPS, HORIZON, FLIGHTS = 32, 0.1, 250, 60, 6


def build():
    return keras.Sequential(
        [
            keras.Input((4,), name="offset_and_speed"),
            keras.layers.Dense(12, activation="tanh", name="hidden"),
            keras.layers.Dense(
                2, activation="tanh", name="thrust", kernel_initializer=keras.initializers.RandomNormal(stddev=0.05)
            ),
        ],
        name="hover_controller",
    )


def fly(candidates, shapes, flights):
    """Mean cost of each candidate (rows of flat weights) over the same random flights."""
    n = len(candidates)
    parts = np.split(candidates, np.cumsum([int(np.prod(s)) for s in shapes])[:-1], axis=1)
    k1, b1, k2, b2 = (p.reshape((n,) + tuple(s)) for p, s in zip(parts, shapes))
    place = np.broadcast_to(rng.uniform(-1, 1, (flights, 2)), (n, flights, 2)).copy()
    speed = np.zeros((n, flights, 2))
    wind = rng.normal(size=(flights, 2)) * 0.3
    cost = np.zeros(n)
    for _ in range(HORIZON):
        wind = 0.95 * wind + 0.08 * rng.normal(size=(flights, 2))
        state = np.concatenate([place, speed], axis=2)
        thrust = np.tanh(np.tanh(state @ k1 + b1[:, None]) @ k2 + b2[:, None])
        thrust = np.round(thrust * 8) / 8  # the motors know 17 settings
        thrust = np.where(np.abs(thrust) < 0.1, 0.0, thrust)
        speed = 0.97 * speed + 0.1 * (3.0 * thrust + wind)
        place = np.clip(place + 0.1 * speed, -5.0, 5.0)
        cost += np.mean(np.sum(place**2, axis=2) + 0.02 * np.sum(thrust**2, axis=2), axis=1)
    return cost / HORIZON


def main():
    model = build()
    watch = gradwatch.watch(model)
    optimizer = keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(0.05, STEPS, alpha=0.1))
    shapes = [tuple(w.shape) for w in model.trainable_variables]

    def flat():
        return np.concatenate([np.array(w).ravel() for w in model.trainable_variables])

    for _ in range(STEPS):
        centre = flat()
        noise = rng.normal(size=(PAIRS, centre.size))
        costs = fly(np.concatenate([centre + SIGMA * noise, centre - SIGMA * noise]), shapes, FLIGHTS)
        ranks = costs.argsort().argsort() / (len(costs) - 1.0) - 0.5
        estimate = (ranks[:PAIRS] - ranks[PAIRS:]) @ noise / (2 * PAIRS * SIGMA)
        pieces = np.split(estimate, np.cumsum([int(np.prod(s)) for s in shapes])[:-1])
        grads = [tf.constant(p.reshape(s), tf.float32) for p, s in zip(pieces, shapes)]
        optimizer.apply_gradients(zip(grads, model.trainable_variables))
        watch.log(cost=costs.mean())

    learned = fly(flat()[None], shapes, 500)[0]
    idle = fly(np.zeros((1, flat().size)), shapes, 500)[0]
    print(f"flight cost: motors off {idle:.3f}, learned {learned:.3f}")
    print(f"score cost_saved {1.0 - learned / idle:.4f} chance 0.0")


if __name__ == "__main__":
    main()
