"""Add the two marked readings of a meter log with a GRU.

Every log has 20 readings in [0, 1] with two of them flagged; the target is
the sum of those two.  The loss stays near the variance of the target (0.167)
for a while before the recurrent net finds the rule.
The score is the held-out R2.
"""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)
LENGTH = 20


def make_logs(n):
    value = rng.uniform(0, 1, (n, LENGTH))
    flag = np.zeros((n, LENGTH))
    rows = np.arange(n)
    first = rng.integers(0, LENGTH // 2, n)
    second = rng.integers(LENGTH // 2, LENGTH, n)
    flag[rows, first] = flag[rows, second] = 1.0
    y = (value * flag).sum(1, keepdims=True)
    return np.stack([value, flag], -1).astype("float32"), y.astype("float32")


x, y = make_logs(20000)
x_test, y_test = make_logs(2000)
train = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(20000).repeat().batch(32)

model = keras.Sequential(
    [
        keras.layers.Input((LENGTH, 2)),
        keras.layers.GRU(32),
        keras.layers.Dense(1),
    ]
)
model.compile(optimizer=keras.optimizers.Adam(3e-3, clipnorm=1.0), loss="mse")

watch = gradwatch.watch(model)
model.fit(train, steps_per_epoch=100, epochs=9, verbose=2)
err = model.predict(x_test, batch_size=500, verbose=0) - y_test
score = 1 - float(np.mean(err**2) / np.var(y_test))
print(f"score (R2) {score:.3f} chance 0.000")
