import os

import keras
import numpy as np
from sklearn.datasets import load_digits

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

x, y = load_digits(return_X_y=True)
x = (x / 16.0).astype("float32")
order = rng.permutation(len(x))
x, y = x[order], y[order]
x_train, y_train, x_test, y_test = x[:1300], y[:1300].copy(), x[1300:], y[1300:]
swap = rng.random(1300) < 0.3
y_train[swap] = rng.integers(0, 10, swap.sum())


class ReZero(keras.layers.Layer):
    def build(self, shape):
        self.scale = self.add_weight(shape=(), initializer="zeros", name="scale")

    def call(self, branch):
        return branch * self.scale


inp = keras.Input((64,))
h = keras.layers.Dense(96)(keras.layers.GaussianNoise(0.1)(inp))
for _ in range(16):
    b = keras.layers.Dense(96, activation="relu")(h)
    b = keras.layers.Dropout(0.5)(b)
    h = keras.layers.Add()([h, ReZero()(b)])
model = keras.Model(inp, keras.layers.Dense(10)(h))

schedule = keras.optimizers.schedules.CosineDecayRestarts(0.05, first_decay_steps=120, t_mul=1.5, m_mul=0.9)
model.compile(
    optimizer=keras.optimizers.SGD(schedule, momentum=0.9, clipnorm=1.0),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
watch = gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=50, epochs=25, verbose=2)
print("SCORE", float(np.mean(model.predict(x_test, verbose=0).argmax(1) == y_test)))
