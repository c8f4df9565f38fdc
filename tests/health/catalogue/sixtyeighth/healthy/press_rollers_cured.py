import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

STEPS = 40
CHANNELS = 3
UNITS = 32


def runs(n):
    load = rng.normal(0.0, 1.0, (n, STEPS, CHANNELS)).astype("float32")
    effect = 0.6 * load[:, :, 0] - 0.4 * load[:, :, 1] + 0.3 * np.abs(load[:, :, 2])
    decay = 0.93 ** np.arange(STEPS)[::-1]
    wear = effect @ decay / np.sqrt(np.sum(decay**2))
    return load, (wear + 0.05 * rng.normal(size=n)).astype("float32")[:, None]


x_train, y_train = runs(3000)
x_test, y_test = runs(800)
centre, spread = y_train.mean(), y_train.std()


class RecurrentLayer(keras.layers.Layer):
    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.units = units

    def build(self, input_shape):
        self.w_x = self.add_weight(
            shape=(input_shape[-1], self.units),
            initializer=keras.initializers.RandomNormal(stddev=0.1),
            name="w_x",
        )
        self.w_h = self.add_weight(
            shape=(self.units, self.units),
            initializer=keras.initializers.Identity(),
            name="w_h",
        )
        self.b = self.add_weight(shape=(self.units,), initializer="zeros", name="b")

    def call(self, x):
        state = tf.zeros((tf.shape(x)[0], self.units))
        for t in range(STEPS):
            state = tf.nn.relu(tf.matmul(x[:, t], self.w_x) + tf.matmul(state, self.w_h) + self.b)
        return state


inputs = keras.Input((STEPS, CHANNELS))
h = RecurrentLayer(UNITS, name="recurrent")(inputs)
h = keras.layers.Dense(16, activation="relu", name="mix")(h)
model = keras.Model(inputs, keras.layers.Dense(1, name="wear")(h))
optimizer = keras.optimizers.Adam(1e-3)
watch = gradwatch.watch(model)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


target = (y_train - centre) / spread
for epoch in range(10):
    order = rng.permutation(len(x_train))
    for i in range(0, len(order), 60):
        rows = order[i : i + 60]
        loss = train_step(tf.constant(x_train[rows]), tf.constant(target[rows]))
        watch.log(loss=loss)
    print(epoch, float(loss))

predicted = model.predict(x_test, verbose=0) * spread + centre
print("SCORE", float(1.0 - np.mean((predicted - y_test) ** 2) / np.var(y_test)))
