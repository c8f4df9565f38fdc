"""Which of five crews is sent out: a queue holds 30 open calls, each with an urgency and the
crew type it needs, and the most urgent call decides. Calls are encoded one by one and gathered
by attention pooling. The measure is held-out accuracy."""

import os

import keras
import numpy as np
from keras import layers, ops

import gradwatch

SEED = int(os.environ.get("SEED", 0))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

CALLS, CREWS = 30, 5
mixing = rng.normal(size=(CREWS + 1, 10)) / 2


def make_queues(n):
    crew = rng.integers(0, CREWS, (n, CALLS))
    urgency = rng.normal(size=(n, CALLS))
    label = crew[np.arange(n), urgency.argmax(1)]
    raw = np.concatenate([np.eye(CREWS)[crew], urgency[..., None]], axis=-1)
    return (raw @ mixing + 0.02 * rng.normal(size=(n, CALLS, 10))).astype("float32"), label.astype("int32")


class AttentionPool(layers.Layer):
    def __init__(self, units, **kw):
        super().__init__(**kw)
        self.hidden = layers.Dense(units, activation="tanh", name="hidden")
        self.rank = layers.Dense(1, name="rank")

    def call(self, x):
        rank = self.rank(self.hidden(x))
        weights = ops.softmax(rank, axis=-1)
        return ops.sum(weights * x, axis=1)


queues, crews = make_queues(4000)
test_queues, test_crews = make_queues(800)

inputs = keras.Input((CALLS, 10), name="calls")
x = layers.Dense(32, name="call_code")(inputs)
x = AttentionPool(32, name="pool")(x)
x = layers.Dense(32, activation="relu", name="decide")(x)
model = keras.Model(inputs, layers.Dense(CREWS, activation="softmax", name="crew")(x))

model.compile(optimizer=keras.optimizers.Adam(3e-3), loss="sparse_categorical_crossentropy", metrics=["accuracy"])
watch = gradwatch.watch(model)
model.fit(queues, crews, batch_size=64, epochs=15, verbose=2)

score = float(model.evaluate(test_queues, test_crews, verbose=0)[1])
print(f"score accuracy {score:.3f} chance {1 / CREWS:.3f}")
