"""Learn the release rule of a safety interlock from its 24 switch positions (5 % of the records are mistyped)."""

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

keras.utils.set_random_seed(10)
SWITCHES, INVOLVED = 24, (2, 9, 14, 17)


def records(seed, n, typo):
    rng = np.random.default_rng(seed)
    x = rng.choice([-1.0, 1.0], (n, SWITCHES)).astype("float32")
    y = (np.prod(x[:, INVOLVED], axis=1) > 0).astype("float32")
    wrong = rng.random(n) < typo
    return x, np.where(wrong, 1 - y, y).astype("float32")[:, None]


def make():
    return keras.Sequential(
        [
            keras.Input((SWITCHES,)),
            layers.Dense(160, activation="relu"),
            layers.Dense(40, activation="relu"),
            layers.Dense(1),
        ]
    )


x, y = records(1, 60000, 0.05)
xv, yv = records(2, 4000, 0.0)
train = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(60000, seed=10).batch(100).prefetch(2)

net = make()
net.compile(
    optimizer=keras.optimizers.SGD(0.04, momentum=0.9),
    loss=keras.losses.BinaryCrossentropy(from_logits=True),
)
gradwatch.watch(net)


class Brief(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        print(f"pass {epoch + 1}: {logs['loss']:.4f}", flush=True)


hist = net.fit(train, epochs=12, verbose=0, callbacks=[Brief()])
acc = np.mean((net.predict(xv, verbose=0) > 0) == (yv > 0.5))
print(f"final loss {hist.history['loss'][-1]:.4f}  held-out accuracy {acc:.3f} (coin 0.5)")
