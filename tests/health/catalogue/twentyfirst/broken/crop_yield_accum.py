import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

# field-season records: weather aggregates, soil, management
n = 4096
X = rng.normal(0, 1, (n, 12)).astype("float32")
rain, gdd, nitro, clay, ph = X[:, 0], X[:, 1], X[:, 2], X[:, 3], X[:, 4]
y = (
    1.2 * np.tanh(rain + 0.4 * clay)
    - 0.5 * gdd**2
    + 0.8 * nitro
    - 0.4 * nitro * rain
    + 0.3 * np.sin(2 * ph)
    + rng.normal(0, 0.25, n)
)
y = ((y - y.mean()) / y.std()).astype("float32")[:, None]
Xtr, ytr, Xte, yte = X[:3584], y[:3584], X[3584:], y[3584:]

MICRO, ACCUM = 16, 4


class YieldNet(keras.Model):
    def __init__(self):
        super().__init__()
        self.d1 = keras.layers.Dense(48, activation="relu")
        self.d2 = keras.layers.Dense(48, activation="relu")
        self.out = keras.layers.Dense(1)

    def call(self, x):
        return self.out(self.d2(self.d1(x)))


model = YieldNet()
model(Xtr[:1])
opt = keras.optimizers.Adam(3e-3)
mse = keras.losses.MeanSquaredError()
gradwatch.watch(model)

accum = [tf.Variable(tf.zeros_like(v), trainable=False) for v in model.trainable_variables]


@tf.function
def micro_step(x, y):
    with tf.GradientTape() as tape:
        loss = mse(y, model(x, training=True)) / ACCUM
    for a, g in zip(accum, tape.gradient(loss, model.trainable_variables)):
        a.assign_add(g)
    return loss * ACCUM


@tf.function
def apply_accumulated():
    opt.apply_gradients(zip([a.read_value() for a in accum], model.trainable_variables))


for epoch in range(8):
    perm = rng.permutation(len(Xtr))
    losses = []
    for k in range(len(Xtr) // MICRO):
        idx = perm[k * MICRO : (k + 1) * MICRO]
        losses.append(float(micro_step(tf.constant(Xtr[idx]), tf.constant(ytr[idx]))))
        if (k + 1) % ACCUM == 0:
            apply_accumulated()
    print(f"epoch {epoch + 1}: mse {np.mean(losses):.4f}")

pred = model(Xte).numpy()
print(f"test R2 {1 - np.mean((pred - yte) ** 2) / yte.var():.3f}")
