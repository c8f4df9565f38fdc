# Cross-match of two sky surveys: do two spectra belong to the same object?
import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

import gradwatch

tf.keras.utils.set_random_seed(30)
rng = np.random.default_rng(30)
L = 64
grid = np.linspace(0, 1, L)
lines = rng.uniform(0.1, 0.9, (40, 5))
depth = rng.uniform(0.4, 1.2, (40, 5))


def spectrum(obj):
    s = np.zeros((len(obj), L))
    for k in range(5):
        s -= depth[obj][:, k : k + 1] * np.exp(-(((grid - lines[obj][:, k : k + 1]) / 0.02) ** 2))
    return (s * 2 + 0.6 + 0.35 * rng.normal(size=s.shape) + rng.normal(0, 0.4, (len(obj), 1))).astype("float32")


def pairs(n):
    a = rng.integers(0, 40, n)
    same = rng.random(n) < 0.5
    b = np.where(same, a, (a + rng.integers(1, 40, n)) % 40)
    return spectrum(a), spectrum(b), same.astype("float32")


tower = tf.keras.Sequential(
    [
        tf.keras.Input((L,)),
        layers.Reshape((L, 1)),
        layers.Conv1D(16, 5, padding="same", activation="relu"),
        layers.MaxPooling1D(2),
        layers.Conv1D(32, 5, padding="same", activation="relu"),
        layers.MaxPooling1D(2),
        layers.Flatten(),
        layers.Dense(32),
    ]
)


class Matcher(tf.keras.Model):
    def __init__(self, tower, margin=2.0):
        super().__init__()
        self.tower, self.margin = tower, margin
        self.mean_loss = tf.keras.metrics.Mean(name="loss")

    def call(self, inputs):
        a, b = inputs
        d2 = tf.reduce_sum(tf.square(self.tower(a) - self.tower(b)), axis=-1, keepdims=True)
        return tf.sqrt(d2 + 1e-6)

    def train_step(self, data):
        inputs, same = data
        with tf.GradientTape() as tape:
            d = self(inputs, training=True)
            pull = same * tf.square(d)
            push = (1.0 - same) * tf.square(tf.maximum(self.margin - d, 0.0))
            loss = tf.reduce_mean(pull + push)
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        self.mean_loss.update_state(loss)
        return {"loss": self.mean_loss.result()}


a, b, same = pairs(5000)
at, bt, st = pairs(1000)
model = Matcher(tower)
model((a[:2], b[:2]))
model.compile(optimizer=tf.keras.optimizers.RMSprop(1e-3))
gradwatch.watch(model)
ds = tf.data.Dataset.from_tensor_slices(((a, b), same)).shuffle(5000).batch(50)
hist = model.fit(ds, epochs=10, verbose=0)
dist = model.predict((at, bt), verbose=0).ravel()
acc = np.mean((dist < model.margin / 2) == (st > 0.5))
print(f"loss {hist.history['loss'][-1]:.4f} | match accuracy on new pairs {acc:.3f}")
