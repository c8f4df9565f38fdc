import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)


def new_task():
    amp, phase = rng.uniform(0.5, 2.0), rng.uniform(0, np.pi)

    def sample(n):
        x = rng.uniform(-3, 3, (n, 1)).astype("float32")
        return x, (amp * np.sin(x + phase)).astype("float32")

    return sample


model = keras.Sequential(
    [
        keras.Input((1,)),
        keras.layers.Dense(48, activation="tanh"),
        keras.layers.Dense(48, activation="tanh"),
        keras.layers.Dense(1),
    ]
)
watch = gradwatch.watch(model)
INNER_LR, INNER_STEPS, META_LR, ROUNDS = 0.05, 10, 0.3, 600


@tf.function
def inner_step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
    for v, g in zip(model.trainable_variables, tape.gradient(loss, model.trainable_variables)):
        v.assign_sub(INNER_LR * g)
    watch.log(loss=loss)
    return loss


def adapt(sample, shots, steps):
    x, y = sample(shots)
    for _ in range(steps):
        loss = inner_step(x, y)
    return loss


for it in range(ROUNDS):
    before = model.get_weights()
    loss = adapt(new_task(), 20, INNER_STEPS)
    model.set_weights(before)
    after = model.get_weights()
    rate = META_LR * (1 - it / ROUNDS)
    model.set_weights([b + rate * (a - b) for b, a in zip(before, after)])
    if it % 100 == 0:
        print(it, float(loss))

meta = model.get_weights()
scores = []
for _ in range(40):
    model.set_weights(meta)
    task = new_task()
    adapt(task, 10, 10)
    xq, yq = task(100)
    pred = model(xq).numpy()
    scores.append(np.mean((pred - yq) ** 2))
model.set_weights(meta)
print("SCORE", float(-np.mean(scores)))
