import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

DT, OBS, SUBSTEPS = 0.25, 8, 1


def batches_of_vats(n):
    temp = rng.uniform(-1, 1, (n, 1))
    catalyst = rng.uniform(0, 1, (n, 1))
    y0 = rng.uniform(0.5, 4.9, (n, 1))
    rate = np.exp(1.2 * temp + 0.8 * catalyst)
    t = DT * np.arange(1, OBS + 1)[None, :]
    y = y0 / (1 + rate * y0 * t)
    cond = np.concatenate([temp, catalyst], 1)
    return cond.astype("float32"), y0.astype("float32"), y.astype("float32")


cond_train, y0_train, y_train = batches_of_vats(1500)
cond_test, y0_test, y_test = batches_of_vats(300)

rate_net = keras.Sequential(
    [
        keras.Input((2,)),
        keras.layers.Dense(32, activation="tanh"),
        keras.layers.Dense(32, activation="tanh"),
        keras.layers.Dense(1),
    ]
)
optimizer = keras.optimizers.Adam(2e-3)
watch = gradwatch.watch(rate_net)


def simulate(cond, y0):
    rate = tf.exp(rate_net(cond, training=True))
    y, path = y0, []
    h = DT / SUBSTEPS
    for _ in range(OBS):
        for _ in range(SUBSTEPS):
            y = y - h * rate * y * y
        path.append(y)
    return tf.concat(path, 1)


@tf.function
def step(cond, y0, target):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(simulate(cond, y0) - target))
    grads = tape.gradient(loss, rate_net.trainable_variables)
    optimizer.apply_gradients(zip(grads, rate_net.trainable_variables))
    watch.log(loss=loss)
    return loss


data = tf.data.Dataset.from_tensor_slices((cond_train, y0_train, y_train)).shuffle(1500, seed=SEED).batch(50)
for epoch in range(20):
    for cond, y0, target in data:
        loss = step(cond, y0, target)
    print(epoch, float(loss))

true_rate = 1.2 * cond_test[:, :1] + 0.8 * cond_test[:, 1:]
found = rate_net.predict(cond_test, verbose=0)
print("SCORE", float(1 - np.mean((found - true_rate) ** 2) / np.var(true_rate)))
