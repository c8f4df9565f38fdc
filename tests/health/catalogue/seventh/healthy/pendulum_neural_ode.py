"""Learning a damped pendulum: neural ODE unrolled with the midpoint rule, horizon curriculum."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

DT, POINTS, BATCH = 0.1, 41, 64
CURRICULUM = [(3, 300), (6, 250), (12, 250)]  # horizon, steps


def true_field(state):
    angle, speed = state[..., 0], state[..., 1]
    return np.stack([speed, -2.0 * np.sin(angle) - 0.15 * speed], -1)


def simulate(n):
    state = np.stack([rng.uniform(-1.8, 1.8, n), rng.uniform(-1.2, 1.2, n)], -1)
    path = [state]
    for _ in range(POINTS - 1):
        for _ in range(4):  # fine inner Runge-Kutta steps
            h = DT / 4
            k1 = true_field(state)
            k2 = true_field(state + h / 2 * k1)
            k3 = true_field(state + h / 2 * k2)
            k4 = true_field(state + h * k3)
            state = state + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        path.append(state)
    return np.stack(path, 1)


clean_train, clean_test = simulate(300), simulate(100)
observed = (clean_train + rng.normal(0, 0.01, clean_train.shape)).astype("float32")

field = keras.Sequential(
    [
        keras.Input((2,)),
        layers.Dense(48, activation="tanh"),
        layers.Dense(48, activation="tanh"),
        layers.Dense(2, kernel_initializer=keras.initializers.RandomNormal(stddev=0.02)),
    ],
    name="vector_field",
)
total = sum(steps for _, steps in CURRICULUM)
optimizer = keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(5e-3, total, alpha=0.02), global_clipnorm=1.0)
optimizer.build(field.trainable_variables)


def advance(state):
    middle = state + 0.5 * DT * field(state)
    return state + DT * field(middle)


@tf.function(jit_compile=True)
def train_step(windows):
    with tf.GradientTape() as tape:
        state = windows[:, 0]
        loss = 0.0
        for k in range(1, windows.shape[1]):
            state = advance(state)
            loss += tf.reduce_mean(tf.square(state - windows[:, k]))
        # error accumulated per second of flight
        loss = loss / ((windows.shape[1] - 1) * DT)
    grads = tape.gradient(loss, field.trainable_variables)
    optimizer.apply_gradients(zip(grads, field.trainable_variables))
    return loss


def roll_out_error():
    state = tf.constant(clean_test[:, 0].astype("float32"))
    errors = []
    for k in range(1, POINTS):
        state = advance(state)
        errors.append(np.mean((state.numpy() - clean_test[:, k]) ** 2))
    return np.sqrt(np.mean(errors))


before = roll_out_error()
gradwatch.watch(field)
for horizon, steps in CURRICULUM:
    for step in range(1, steps + 1):
        rows = rng.integers(0, len(observed), BATCH)
        starts = rng.integers(0, POINTS - horizon, BATCH)
        windows = observed[rows[:, None], starts[:, None] + np.arange(horizon + 1)]
        loss = train_step(tf.constant(windows))
        if step == 1 or step % 100 == 0:
            print(f"horizon {horizon:2d} step {step} loss {float(loss):.6f}")
    print(f"horizon {horizon:2d} done, four-second roll-out RMSE {roll_out_error():.4f}")
spread = np.std(clean_test)
print(
    f"FINAL roll-out RMSE {roll_out_error():.4f} over {POINTS - 1} steps (untrained {before:.4f}, spread {spread:.4f})"
)
