import os

import keras
import numpy as np
import tensorflow as tf
from sklearn.metrics import accuracy_score

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)

CHANNELS = ["pressure_pa", "coolant_k", "flow_lph", "valve", "ph", "stir_rpm", "level", "purity"]
STATES = 4


def record(rng, rows):
    z = rng.normal(size=(rows, len(CHANNELS)))
    a = z[:, 0] + 0.8 * z[:, 3] * z[:, 4]
    b = z[:, 1] - 0.7 * z[:, 7] + 0.5 * z[:, 5]
    state = 2 * (a + 0.2 * rng.normal(size=rows) > 0) + (b + 0.2 * rng.normal(size=rows) > 0)
    readings = np.empty_like(z)
    readings[:, 0] = 101325 + 4000 * z[:, 0]
    readings[:, 1] = 340 + 12 * z[:, 1]
    readings[:, 2] = 1800 + 250 * z[:, 2]
    readings[:, 3] = 0.5 + 0.15 * z[:, 3]
    readings[:, 4] = 7 + 0.4 * z[:, 4]
    readings[:, 5] = 900 + 120 * z[:, 5]
    readings[:, 6] = 2 + 0.3 * z[:, 6]
    readings[:, 7] = 0.95 + 0.01 * z[:, 7]
    return readings, state.astype("int32")


class StateModel(keras.Model):
    def __init__(self):
        super().__init__()
        self.first = keras.layers.Dense(64, activation="tanh", name="vessel_a")
        self.second = keras.layers.Dense(32, activation="tanh", name="vessel_b")
        self.head = keras.layers.Dense(STATES, name="state")

    def call(self, x, training=False):
        return self.head(self.second(self.first(x)))

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            logits = self(x, training=True)
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        hit = tf.equal(tf.argmax(logits, axis=1, output_type=y.dtype), y)
        return {"loss": loss, "hit": tf.reduce_mean(tf.cast(hit, "float32"))}


rng = np.random.default_rng(SEED)
readings, state = record(rng, 6000)
x = ((readings - readings[:5000].mean(axis=0)) / readings[:5000].std(axis=0)).astype("float32")
x_train, y_train = x[:5000], state[:5000]
x_test, y_test = x[5000:], state[5000:]

model = StateModel()
model(x_train[:2])
model.compile(optimizer=keras.optimizers.Adam(3e-3))
gradwatch.watch(model)
history = model.fit(x_train, y_train, batch_size=64, epochs=30, verbose=0)
print("hit", [round(float(v), 3) for v in history.history["hit"][::5]])

pred = np.asarray(model(x_test)).argmax(axis=1)
print("SCORE", float(accuracy_score(y_test, pred)))
