"""Echo state network: a frozen random recurrent reservoir with a trained readout.

Task: regress the lagged, nonlinear response of a valve from its command signal.
"""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

LENGTH = 60
UNITS = 100


def valve_records(n):
    command = rng.uniform(0.0, 0.5, size=(n, LENGTH))
    y = np.zeros((n, LENGTH))
    for t in range(1, LENGTH):
        recent = y[:, max(0, t - 5) : t].sum(axis=1)
        y[:, t] = (
            0.3 * y[:, t - 1] + 0.05 * y[:, t - 1] * recent + 1.5 * command[:, max(0, t - 4)] * command[:, t - 1] + 0.1
        )
    return (4.0 * command - 1.0)[..., None].astype("float32"), ((y - 0.35) / 0.15)[..., None].astype("float32")


def echo_matrix(shape, dtype=None):
    """Sparse random matrix with spectral radius 0.85."""
    w = rng.normal(size=shape) * (rng.random(shape) < 0.1)
    return tf.constant(0.85 * w / np.abs(np.linalg.eigvals(w)).max(), dtype=dtype)


def build_model():
    command = keras.Input((LENGTH, 1), name="command")
    reservoir = layers.SimpleRNN(
        UNITS,
        activation="tanh",
        return_sequences=True,
        kernel_initializer=keras.initializers.RandomUniform(-0.4, 0.4, seed=seed),
        recurrent_initializer=echo_matrix,
        bias_initializer=keras.initializers.RandomUniform(-0.2, 0.2, seed=seed + 1),
        name="reservoir",
    )
    reservoir.trainable = False
    states = reservoir(command)
    x = layers.BatchNormalization(name="scale_states")(states)
    x = layers.Dense(64, activation="tanh", name="readout_hidden")(x)
    return keras.Model(command, layers.Dense(1, name="readout")(x))


x_train, y_train = valve_records(2400)
x_test, y_test = valve_records(400)
# sensor noise on the training records only, some of them with outliers
y_train = y_train + 0.3 * rng.standard_t(3, size=y_train.shape).astype("float32")

model = build_model()
print("trained weights", len(model.trainable_weights), "frozen weights", len(model.non_trainable_weights))
schedule = keras.optimizers.schedules.ExponentialDecay(0.3, decay_steps=100, decay_rate=0.6)
model.compile(
    optimizer=keras.optimizers.SGD(schedule, momentum=0.9, nesterov=True, clipnorm=1.0), loss=keras.losses.Huber(0.5)
)
gradwatch.watch(model)
model.fit(x_train, y_train, validation_data=(x_test, y_test), batch_size=32, epochs=8, verbose=2)

prediction = model.predict(x_test, batch_size=200, verbose=0)[:, 10:]
truth = y_test[:, 10:]
print(f"SCORE r2 {1.0 - np.mean((prediction - truth) ** 2) / truth.var():.4f}")
