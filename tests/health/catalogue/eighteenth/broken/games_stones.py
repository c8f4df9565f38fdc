"""5x5 stones: does the side to move own more touching pairs than usual?"""

import numpy as np
from tensorflow import keras

import gradwatch

keras.utils.set_random_seed(12)
SIDE = 5


def positions(n, seed):
    g = np.random.default_rng(seed)
    b = g.choice([-1.0, 1.0], (n, SIDE, SIDE))
    pairs = (b[:, 1:] * b[:, :-1]).sum((1, 2)) + (b[:, :, 1:] * b[:, :, :-1]).sum((1, 2))
    return b.reshape(n, -1).astype("float32"), (pairs > 0).astype("float32")


@keras.utils.register_keras_serializable()
class Carry(keras.layers.Layer):
    """Mixes a new reading of the position with the one carried from below."""

    def __init__(self, units, **kw):
        super().__init__(**kw)
        self.fresh = keras.layers.Dense(units, activation="elu")
        self.gate = keras.layers.Dense(units, activation="sigmoid", bias_initializer=keras.initializers.Constant(-20.0))

    def call(self, x):
        t = self.gate(x)
        return t * self.fresh(x) + (1.0 - t) * x


def build(depth=6, units=96):
    board = keras.Input((SIDE * SIDE,))
    h = keras.layers.Dense(units)(board)
    for _ in range(depth):
        h = Carry(units)(h)
    return keras.Model(board, keras.layers.Dense(1)(h))


x, y = positions(16000, 1)
xv, yv = positions(3000, 2)
model = build()
model.compile(
    optimizer=keras.optimizers.Adam(2e-3),
    loss=keras.losses.BinaryCrossentropy(from_logits=True),
    metrics=[keras.metrics.BinaryAccuracy(threshold=0.0)],
)
gradwatch.watch(model)
run = model.fit(x, y, batch_size=128, epochs=14, verbose=2)
acc = np.mean((model.predict(xv, verbose=0)[:, 0] > 0) == (yv > 0.5))
print("loss %.4f  held-out accuracy %.4f" % (run.history["loss"][-1], acc))
