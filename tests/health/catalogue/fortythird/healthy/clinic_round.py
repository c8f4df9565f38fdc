"""Trains one scar classifier shared by six clinics by averaging the weights they learn at home."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

CLINICS, FEATURES, CLASSES = 6, 20, 6
ROUNDS, LOCAL_STEPS, BATCH = 100, 10, 32
mix = rng.normal(0, 1, (FEATURES, 12)) / np.sqrt(FEATURES)
read = rng.normal(0, 1, (12, CLASSES))


def patients(n, bias):
    x = rng.normal(0, 1, (n, FEATURES)) + bias
    y = (np.tanh(2.0 * (x @ mix)) @ read + rng.gumbel(0, 0.2, (n, CLASSES))).argmax(1)
    return x.astype("float32"), y.astype("int32")


def build(name):
    return keras.Sequential(
        [
            keras.Input((FEATURES,)),
            keras.layers.Dense(64, activation="relu"),
            keras.layers.Dense(64, activation="relu"),
            keras.layers.Dense(CLASSES),
        ],
        name=name,
    )


biases = rng.normal(0, 0.3, (CLINICS, FEATURES))
homes = [patients(int(n), b) for n, b in zip(rng.integers(800, 2000, CLINICS), biases)]
x_test, y_test = (np.concatenate(part) for part in zip(*[patients(400, b) for b in biases]))
shares = np.array([len(y) for _, y in homes], "float64")
shares /= shares.sum()

server = build("server")
locals_ = [build(f"clinic_{k}") for k in range(CLINICS)]
optimizers = [keras.optimizers.SGD(0.1) for _ in range(CLINICS)]
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
gradwatch.watch(*locals_)


def make_step(net, optimizer):
    optimizer.build(net.trainable_variables)

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = loss_fn(y, net(x, training=True))
        grads = tape.gradient(loss, net.trainable_variables)
        optimizer.apply_gradients(zip(grads, net.trainable_variables))
        return loss

    return step


steps = [make_step(net, opt) for net, opt in zip(locals_, optimizers)]
streams = [
    iter(tf.data.Dataset.from_tensor_slices(home).shuffle(2000, seed=SEED + k).repeat().batch(BATCH))
    for k, home in enumerate(homes)
]

for round_ in range(ROUNDS):
    shared = server.get_weights()
    losses, returned = [], []
    for net, step, stream in zip(locals_, steps, streams):
        net.set_weights(shared)
        for _ in range(LOCAL_STEPS):
            losses.append(float(step(*next(stream))))
        returned.append(net.get_weights())
    server.set_weights([sum(s * w for s, w in zip(shares, ws)) for ws in zip(*returned)])
    if round_ % 5 == 0:
        print(f"round {round_} loss {np.mean(losses):.4f}")

guess = server.predict(x_test, verbose=0).argmax(axis=1)
print(f"SCORE accuracy {np.mean(guess == y_test):.4f}")
