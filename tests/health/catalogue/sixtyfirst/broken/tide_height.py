import os

import keras
import numpy as np
import tensorflow as tf
from sklearn.metrics import r2_score

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

t = np.arange(6000)
tide = 1.2 * np.sin(2 * np.pi * t / 12.42) + 0.5 * np.sin(2 * np.pi * t / 12.0)
tide = tide + 0.3 * np.sin(2 * np.pi * t / 25.8) + rng.normal(0, 0.08, len(t))
tide = tide.astype("float32")

WINDOW, AHEAD = 30, 3
starts = np.arange(len(t) - WINDOW - AHEAD)
x = np.stack([tide[s : s + WINDOW] for s in starts])[..., None]
y = tide[starts + WINDOW + AHEAD]
split = 5000
x_train, y_train = x[:split], y[:split]
x_test, y_test = x[split:], y[split:]


class TideNet(keras.Model):
    def __init__(self):
        super().__init__()
        self.conv1 = keras.layers.Conv1D(24, 5, activation="relu", name="ripple")
        self.conv2 = keras.layers.Conv1D(24, 5, strides=2, activation="relu", name="swell")
        self.flat = keras.layers.Flatten()
        self.head = keras.layers.Dense(1, name="height")
        self.loss_mean = keras.metrics.Mean(name="loss")

    def call(self, inputs):
        return self.head(self.flat(self.conv2(self.conv1(inputs))))

    def train_step(self, data):
        series, height = data
        with tf.GradientTape() as tape:
            forecast = self(series, training=True)
            loss = tf.reduce_mean(tf.square(forecast - height))
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        self.loss_mean.update_state(loss)
        return {"loss": self.loss_mean.result()}

    @property
    def metrics(self):
        return [self.loss_mean]


model = TideNet()
model.compile(optimizer=keras.optimizers.Adam(1e-3))
model(x_train[:1])
gradwatch.watch(model)
data = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(split, seed=SEED).batch(64)
model.fit(data, epochs=6, verbose=2)

pred = model.predict(x_test, verbose=0)[:, 0]
print("SCORE", r2_score(y_test, pred))
