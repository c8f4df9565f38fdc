"""Fault polarity from five marker beds among fourteen picks: the product of their signs decides."""

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

keras.utils.set_random_seed(58)
rng = np.random.default_rng(58)
PICKS, MARKERS = 14, (1, 4, 6, 10, 13)


def picks(n):
    x = rng.choice([-1.0, 1.0], (n, PICKS)) * rng.uniform(0.6, 1.4, (n, PICKS))
    y = np.prod(np.sign(x[:, MARKERS]), axis=1) > 0
    flip = rng.random(n) < 0.03
    return x.astype("float32"), (y ^ flip).astype("float32")[:, None]


class Polarity(keras.Model):
    def __init__(self):
        super().__init__()
        self.a = layers.Dense(64, activation="relu")
        self.b = layers.Dense(32, activation="relu")
        self.c = layers.Dense(1)
        self.mean_loss = keras.metrics.Mean(name="loss")

    def call(self, x):
        return self.c(self.b(self.a(x)))

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            z = self(x, training=True)
            loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=z))
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        self.mean_loss.update_state(loss)
        return {"loss": self.mean_loss.result()}


X, y = picks(30000)
Xv, yv = picks(3000)
net = Polarity()
net.compile(optimizer=keras.optimizers.SGD(0.02, momentum=0.9))
gradwatch.watch(net)
h = net.fit(X, y, batch_size=64, epochs=10, verbose=0)
p = net.predict(Xv, verbose=0) > 0
print(f"loss {h.history['loss'][-1]:.4f}  held-out accuracy {(p == (yv > 0.5)).mean():.3f}")
