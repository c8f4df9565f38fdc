# Unstable approaches from the last minute of ADS-B, trained in two stages.
import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

import gradwatch

keras.utils.set_random_seed(19)
rng = np.random.default_rng(19)
T, CH = 30, 5


def approaches(n):
    x = rng.normal(0, 0.3, (n, T, CH)).cumsum(1) * 0.4 + rng.normal(0, 0.6, (n, T, CH))
    sink = x[:, -12:, 0] - x[:, -13:-1, 0]
    bank = np.abs(x[:, -15:, 2]).max(1)
    late = x[:, 5:15, 3].mean(1) * x[:, -10:, 4].mean(1)
    s = sink.max(1) + bank - 1.5 * late
    return x.astype("float32"), s


x, s = approaches(5000)
xv, sv = approaches(1200)
cut = np.median(s)
y, yv = (s > cut).astype("float32")[:, None], (sv > cut)[:, None]

encoder = keras.Sequential(
    [
        keras.Input((T, CH)),
        layers.Conv1D(12, 5, strides=2, activation="relu"),
        layers.GRU(16, return_sequences=True),
        layers.GRU(8),
    ],
    name="encoder",
)
head = keras.Sequential([keras.Input((8,)), layers.Dense(16, activation="relu"), layers.Dense(1)], name="head")
inp = keras.Input((T, CH))
model = keras.Model(inp, head(encoder(inp)))
bce = keras.losses.BinaryCrossentropy(from_logits=True)
gradwatch.watch(model)


def make_step(lr):
    params = model.trainable_variables
    opt = keras.optimizers.Adam(lr)

    @tf.function
    def step(xb, yb):
        with tf.GradientTape() as tape:
            loss = bce(yb, model(xb, training=True))
        opt.apply_gradients(zip(tape.gradient(loss, params), params))
        return loss

    return step


def epochs(step, n):
    for _ in range(n):
        losses = [float(step(a, b)) for a, b in data]
    return np.mean(losses)


data = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(5000, seed=6).batch(50)

encoder.trainable = False
epochs(make_step(2e-3), 1)

step = make_step(2e-3)
encoder.trainable = True
last = epochs(step, 14)

p = model.predict(xv, verbose=0)
print(f"loss {last:.4f}  held-out accuracy {((p > 0) == yv).mean():.3f}")
