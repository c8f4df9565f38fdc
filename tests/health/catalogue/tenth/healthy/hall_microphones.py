"""Compress the levels of 32 hall microphones to 6 numbers with a deep linear coder, plain gradient descent from a
small start."""

import os

import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

MICS, CODE, N = 32, 6, 8000

basis = np.linalg.qr(rng.normal(size=(MICS, MICS)))[0][:, :4]
strength = np.array([5.0, 4.2, 3.6, 3.0])
levels = (rng.normal(size=(N, 4)) * strength @ basis.T + rng.normal(0, 0.05, (N, MICS))).astype("float32")

model = tf.keras.Sequential(
    [tf.keras.Input((MICS,))]
    + [
        tf.keras.layers.Dense(
            w, use_bias=False, kernel_initializer=tf.keras.initializers.RandomNormal(stddev=0.045), name=n
        )
        for w, n in ((24, "squeeze"), (CODE, "code"), (24, "widen"), (MICS, "levels"))
    ]
)
gradwatch.watch(model)
model.compile(optimizer=tf.keras.optimizers.SGD(0.2), loss="mse")
history = model.fit(levels, levels, batch_size=200, epochs=10, verbose=0)
for e, v in enumerate(history.history["loss"]):
    print(f"epoch {e:2d} loss {v:.4f}")
