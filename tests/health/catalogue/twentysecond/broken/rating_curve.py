# River discharge: a network gives the stage from rain and soil, a rating curve a*(h-h0)^b turns it into discharge.
import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

n = 4000
rain = rng.gamma(0.6, 1.0, (n, 7))
soil = rng.uniform(0, 1, n)
season = rng.uniform(0, 2 * np.pi, n)
kernel = np.array([0.35, 0.28, 0.18, 0.1, 0.05, 0.03, 0.01])
stage = (rain @ kernel) * (0.5 + soil) + 0.25 * np.sin(season)
flow = np.where(stage > 0.35, 2.2 * np.maximum(stage - 0.35, 0) ** 1.6, 0.0) + rng.normal(0, 0.03, n)
X = np.column_stack([np.log1p(rain), soil, np.sin(season), np.cos(season)])
X = ((X - X.mean(0)) / X.std(0)).astype("float32")
flow = (flow / flow.std()).astype("float32")[:, None]
x_train, x_test = X[:3200], X[3200:]
y_train, y_test = flow[:3200], flow[3200:]


class RatingCurve(layers.Layer):
    def build(self, shape):
        self.h0 = self.add_weight(name="h0", shape=(), initializer=keras.initializers.Constant(0.0))
        self.a = self.add_weight(name="a", shape=(), initializer=keras.initializers.Constant(1.0))
        self.b = self.add_weight(name="b", shape=(), initializer=keras.initializers.Constant(1.5))

    def call(self, h):
        depth = h - self.h0
        return tf.where(depth > 0, self.a * tf.pow(depth, self.b), tf.zeros_like(depth))


inputs = keras.Input((X.shape[1],))
h = layers.Dense(32, activation="tanh")(inputs)
h = layers.Dense(32, activation="tanh")(h)
h = layers.Dense(1, activation="softplus", name="stage")(h)
model = keras.Model(inputs, RatingCurve(name="rating")(h))
optimizer = keras.optimizers.Adam(3e-3)
mse = keras.losses.MeanSquaredError()
gradwatch.watch(model)

train = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(3200, seed=seed).batch(64)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = mse(y, model(x, training=True))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for epoch in range(10):
    losses = [float(train_step(x, y)) for x, y in train]
    print(f"epoch {epoch + 1:2d} mse {np.mean(losses):.4f} h0 {float(model.get_layer('rating').h0):.3f}")

p = model.predict(x_test, verbose=0)
print("test R2", 1 - np.mean((p - y_test) ** 2) / np.var(y_test))
