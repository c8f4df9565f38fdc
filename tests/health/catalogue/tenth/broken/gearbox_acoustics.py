"""Wind-turbine gearbox condition from short accelerometer windows.

Five conditions (healthy, tooth crack, bearing race, misalignment, lubrication)
are told apart by a plain 1-D convolutional network on raw 160-sample windows.
"""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)
L = 160
CLASSES = 5


def window(cond):
    t = np.arange(L) / L
    phase = rng.uniform(0, 2 * np.pi, 4)
    s = np.sin(2 * np.pi * 9 * t + phase[0])
    if cond == 1:
        s += 1.2 * (np.sin(2 * np.pi * 4 * t + phase[1]) > 0.9) * rng.normal(1.5, 0.3)
    elif cond == 2:
        s += 0.9 * np.sin(2 * np.pi * 37 * t + phase[1]) * (1 + np.sin(2 * np.pi * 5 * t))
    elif cond == 3:
        s += 0.9 * np.sin(2 * np.pi * 18 * t + phase[2])
    elif cond == 4:
        s += 0.7 * rng.normal(size=L)
    return s + 0.15 * rng.normal(size=L)


y = rng.integers(0, CLASSES, 1600)
x = np.stack([window(c) for c in y]).astype("float32")[..., None]
data = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(1600, seed=SEED).batch(40, drop_remainder=True)


class ConditionNet(keras.Model):
    def __init__(self):
        super().__init__(name="condition_net")
        self.blocks = []
        for i in range(9):
            self.blocks.append(
                layers.Conv1D(
                    24,
                    5,
                    padding="same",
                    activation="relu",
                    strides=2 if i in (2, 4, 6) else 1,
                    kernel_initializer=keras.initializers.RandomNormal(stddev=0.01),
                    name=f"conv{i + 1}",
                )
            )
        self.pool = layers.GlobalAveragePooling1D(name="pool")
        self.head = layers.Dense(CLASSES, name="head")

    def call(self, x, training=None):
        for b in self.blocks:
            x = b(x)
        return self.head(self.pool(x))

    def train_step(self, batch):
        xb, yb = batch
        with tf.GradientTape() as tape:
            logits = self(xb, training=True)
            loss = self.compute_loss(y=yb, y_pred=logits)
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        for m in self.metrics:
            if m.name == "loss":
                m.update_state(loss)
            else:
                m.update_state(yb, logits)
        return {m.name: m.result() for m in self.metrics}


model = ConditionNet()
gradwatch.watch(model)
model(x[:2])
model.compile(
    optimizer=keras.optimizers.Adam(2e-3),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
    jit_compile=False,
)
model.fit(data, epochs=8, verbose=2)
