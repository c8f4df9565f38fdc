"""Rare leaks (3 in 100) in pipeline pressure windows: conv1d, focal loss, class weights."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)
LENGTH, CHANNELS = 80, 4


def windows(n, leak_rate):
    leak = rng.random(n) < leak_rate
    base = np.cumsum(rng.normal(0, 0.15, (n, LENGTH, 1)), axis=1)
    x = base * rng.uniform(0.5, 1.5, (n, 1, CHANNELS)) + rng.normal(0, 0.5, (n, LENGTH, CHANNELS))
    t = np.arange(LENGTH)
    for i in np.flatnonzero(leak):
        onset = rng.integers(10, 50)
        shape = np.where(t > onset, np.exp(-(t - onset) / 12) * np.cos((t - onset) / 2.0), 0)
        lag = rng.integers(2, 7)
        x[i, :, 1] += 1.8 * shape
        x[i, lag:, 2] += 1.5 * shape[:-lag]
    # a valve position that is almost always zero
    valve = (rng.random((n, LENGTH, 1)) < 0.003).astype(float)
    x = np.concatenate([x, valve], axis=2)
    return x.astype("float32"), leak.astype("float32")


x_train, y_train = windows(10000, 0.03)
x_test, y_test = windows(4000, 0.03)
print("leaks in training: %d of %d" % (y_train.sum(), len(y_train)))

prior = y_train.mean()
model = keras.Sequential(
    [
        layers.Input((LENGTH, CHANNELS + 1)),
        layers.Conv1D(16, 7, strides=2, use_bias=False),
        layers.BatchNormalization(momentum=0.95),
        layers.Activation("relu"),
        layers.Conv1D(32, 5, strides=2, use_bias=False),
        layers.BatchNormalization(momentum=0.95),
        layers.Activation("relu"),
        layers.Conv1D(32, 3, activation="relu"),
        layers.GlobalMaxPooling1D(),
        layers.Dropout(0.4),
        layers.Dense(1, bias_initializer=keras.initializers.Constant(np.log(prior / (1 - prior)))),
    ]
)
model.compile(
    optimizer=keras.optimizers.SGD(
        keras.optimizers.schedules.ExponentialDecay(0.1, 157, 0.75), momentum=0.9, nesterov=True, clipnorm=0.5
    ),
    loss=keras.losses.BinaryFocalCrossentropy(gamma=2.0, from_logits=True),
    metrics=[keras.metrics.AUC(curve="PR", from_logits=True, name="pr_auc")],
)
gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=64, epochs=8, class_weight={0: 1.0, 1: 8.0}, verbose=2)

score = model.predict(x_test, batch_size=500, verbose=0)[:, 0]
order = np.argsort(-score)
hits = np.cumsum(y_test[order])
precision = hits / np.arange(1, len(order) + 1)
ap = np.sum(precision * y_test[order]) / y_test.sum()
print("average precision by chance %.3f" % y_test.mean())
print("SCORE average_precision %.4f" % ap)
